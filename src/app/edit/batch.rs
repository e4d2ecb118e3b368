//! Parses many tasks from one text: TOML with `[[task]]`, or a JSON object per line.

use serde::Deserialize;

use crate::app::{Code, Failure, Hint, NewTask};
use crate::task::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRow {
    title: String,
    #[serde(rename = "ref")]
    reference: Option<String>,
    id: Option<String>,
    #[serde(alias = "body")]
    description: Option<String>,
    kind: Option<String>,
    state: Option<String>,
    priority: Option<String>,
    estimate: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    owner: Option<String>,
    parent: Option<String>,
    #[serde(default)]
    blocked_by: Vec<String>,
    #[serde(default)]
    atomic: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    #[serde(default)]
    task: Vec<BatchRow>,
}

/// `file` appears only in messages.
pub fn parse(file: &str, text: &str) -> Result<Vec<NewTask>, Failure> {
    let rows = if text.trim_start().starts_with('{') { json_lines(file, text)? } else { toml_tables(file, text)? };
    let place = |number: usize, failure: Failure| Failure {
        message: format!("{file}: task {}: {}", number + 1, failure.message),
        ..failure
    };
    rows.into_iter()
        .enumerate()
        .map(|(number, row)| NewTask::try_from(row).map_err(|failure| place(number, failure)))
        .collect()
}

fn json_lines(file: &str, text: &str) -> Result<Vec<BatchRow>, Failure> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parsed = lines.map(|(number, line)| {
        serde_json::from_str(line)
            .map_err(|error| bad_input(Problem { line: number as u32 + 1, ..json_problem(file, &error) }))
    });
    parsed.collect()
}

/// A problem has its own line and column, so the position that serde_json appends to the message is removed.
pub(in crate::app) fn json_problem(file: &str, error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = whole.strip_suffix(&place).unwrap_or(&whole).to_owned();
    Problem { file: file.to_owned(), line: line as u32, column: column as u32, message, hint: None }
}

fn toml_tables(file: &str, text: &str) -> Result<Vec<BatchRow>, Failure> {
    let rows: Result<Rows, _> = toml::from_str(text);
    rows.map(|rows| rows.task).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        bad_input(Problem::at(file, text, offset, error.message().trim()))
    })
}

fn bad_input(problem: Problem) -> Failure {
    Failure::usage(Code::BadInput, problem.to_string()).hint(Hint::step(
        "write [[task]] tables with a title, or one JSON object with a \"title\" per line; nothing was added",
    ))
}

impl TryFrom<BatchRow> for NewTask {
    type Error = Failure;
    fn try_from(row: BatchRow) -> Result<Self, Failure> {
        Ok(Self {
            reference: row.reference,
            id: row.id,
            title: row.title,
            description: row.description.unwrap_or_default(),
            kind: row.kind.map(|text| text.parse()).transpose()?,
            state: row.state,
            priority: row.priority.map(|text| text.parse()).transpose()?,
            estimate: row.estimate.map(|text| text.parse()).transpose()?,
            labels: row.labels,
            owner: row.owner,
            parent: row.parent,
            blocked_by: row.blocked_by,
            atomic: row.atomic,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_say_the_same() {
        let toml = parse(
            "f",
            "[[task]]\ntitle = 'A'\nref = 'a'\n[[task]]\ntitle = 'B'\nblocked_by = ['a']\npriority = 'p1'\n",
        )
        .unwrap();
        let json = parse(
            "f",
            "{\"title\":\"A\",\"ref\":\"a\"}\n\n{\"title\":\"B\",\"blocked_by\":[\"a\"],\"priority\":\"p1\"}\n",
        )
        .unwrap();
        assert_eq!(format!("{toml:?}"), format!("{json:?}"));
        assert_eq!(toml[1].blocked_by, ["a"]);
    }

    #[test]
    fn a_bad_row_is_placed() {
        let error = |text: &str| parse("in", text).unwrap_err().message;
        assert!(error("{\"title\":\"A\"}\n{\"titel\":\"B\"}\n").starts_with("in:2:"), "{}", error("{\"titel\":1}"));
        assert!(error("[[task]]\ntitle = 3\n").starts_with("in:2:"));
    }
}

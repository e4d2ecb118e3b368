//! Parses a task file: lenient with invalid values, and exact about each problem and its position.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::task::{GithubLink, Kind, Problem, StateName, Step, Task, TaskId, Worker};
use crate::workflow::Workflow;

/// Larger files are refused as task files, so that a wrong file cannot fill the memory.
pub const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// The maximum number of entries of a list, and of keys of a table.
pub const MOST_ENTRIES: usize = 1000;
/// The maximum number of problems that are reported for one file.
const MOST_PROBLEMS: usize = 20;

/// A task as it is in its file, with the description borrowed from the text.
pub struct Read<'a> {
    pub task: Task,
    pub description: Cow<'a, str>,
}

pub fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        Problem::at(file, &valid, valid.len(), "invalid UTF-8").hint("save the file as UTF-8")
    })
}

/// The position of conflict markers: all three in order, each at the start of a line. The text need not be valid TOML.
pub fn has_conflict_markers(text: &str) -> Option<usize> {
    let at_line = |marker: &str, from: usize| {
        text[from..]
            .match_indices(marker)
            .map(|(at, _)| from + at)
            .find(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n')
    };
    let ours = at_line("<<<<<<< ", 0)?;
    let middle = at_line("=======", ours)?;
    at_line(">>>>>>> ", middle).map(|_| ours)
}

/// Parses a task file. An error means that the file is not a task; invalid values become problems of the task.
pub fn read<'a>(id: &TaskId, file: &str, text: &'a str, flow: &Workflow) -> Result<Read<'a>, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::whole(file, "the file is empty").hint("write `title = \"…\"` into it, or delete it"));
    }
    if let Some(at) = has_conflict_markers(text) {
        let problem = Problem::at(file, text, at, "unresolved merge conflict");
        return Err(
            problem.hint("keep one side, remove the lines with <<<<<<<, ======= and >>>>>>>, then `git add` it")
        );
    }
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Problem::at(file, text, offset, error.message().lines().next().unwrap_or("not TOML").trim().to_owned())
    })?;
    refuse_endless(file, text, table.get_ref())?;
    let mut reader = Reader { file, text, problems: Vec::new() };
    Ok(reader.task(id, table.get_ref(), flow))
}

/// Refuses too many keys or entries, because links and labels are read often and must be fast.
fn refuse_endless(file: &str, text: &str, table: &DeTable<'_>) -> Result<(), Problem> {
    let refuse = |offset: usize, what: String| {
        Err(Problem::at(file, text, offset, what).hint("move the excess into a document, and link that"))
    };
    if table.len() > MOST_ENTRIES {
        return refuse(0, format!("the file has {} keys; the limit is {MOST_ENTRIES}", table.len()));
    }
    for (key, value) in table {
        let count = match value.get_ref() {
            DeValue::Array(list) => list.len(),
            DeValue::Table(table) => table.len(),
            _ => 0,
        };
        if count > MOST_ENTRIES {
            let what = format!("{} has {count} entries; the limit is {MOST_ENTRIES}", key.get_ref());
            return refuse(value.span().start, what);
        }
    }
    Ok(())
}

struct Reader<'f> {
    file: &'f str,
    text: &'f str,
    problems: Vec<Problem>,
}

type TomlField<'a> = Spanned<DeValue<'a>>;

/// The keys of a task, against which misspelled keys are compared.
pub const KEYS: [&str; 16] = [
    "title",
    "state",
    "kind",
    "priority",
    "estimate",
    "labels",
    "owner",
    "parent",
    "blocked_by",
    "atomic",
    "created",
    "description",
    "artifacts",
    "attention",
    "review",
    "github",
];

/// The known key of which this is a misspelling. Custom keys are allowed, so a plural is not considered one.
fn mistyped(key: &str) -> Option<&'static str> {
    let near = |known: &&&str| {
        let plural = key.strip_suffix('s') == Some(**known);
        let step_keys = ["result", "step", "team", "of", "command"].contains(&key);
        !plural
            && !step_keys
            && known.len() > 3
            && matches!(strsim::osa_distance(key, known), 1 | 2)
            && key.len() + 1 >= known.len()
    };
    KEYS.iter().find(near).copied()
}

impl Reader<'_> {
    fn task<'t>(&mut self, id: &TaskId, table: &DeTable<'t>, flow: &Workflow) -> Read<'t> {
        let mut task = Task::new(id.clone(), "", flow.initial(Kind::Issue).clone());
        let mut state: Option<&TomlField<'_>> = None;
        let mut description = Cow::Borrowed("");
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "title" => task.title = self.title(value),
                "state" => state = Some(value),
                "kind" => task.kind = self.parsed(key.get_ref(), value).unwrap_or(Kind::Issue),
                "priority" => task.priority = self.parsed("priority", value),
                "estimate" => task.estimate = self.parsed("estimate", value),
                "labels" => task.labels = self.texts("labels", value),
                "owner" => task.owner = self.owner(value),
                "parent" => task.parent = self.parsed("parent", value),
                "blocked_by" => task.blocked_by = self.ids("blocked_by", value),
                "atomic" => task.atomic = self.boolean("atomic", value),
                "created" => task.created = self.time(value),
                "description" => description = self.description(value),
                "artifacts" => task.artifacts = self.artifacts(value),
                "attention" => task.attention = self.text_of("attention", value).map(str::to_owned),
                "review" => task.rejections = rejections(value),
                "github" => task.github = self.github(value),
                "id" if self.text_of("id", value).is_some_and(|text| text != id.as_str()) => {
                    self.wrong(
                        value,
                        format!("the id here differs from the file name, {id}"),
                        "the file name is used: make them equal",
                    );
                }
                other => {
                    if let Some(near) = mistyped(other) {
                        let problem = Problem::at(
                            self.file,
                            self.text,
                            key.span().start,
                            format!("{other:?} is not a field of a task"),
                        );
                        self.problems.push(problem.hint(format!("did you mean {near:?}?")));
                    }
                }
            }
        }
        if task.kind == Kind::Step {
            task.step = self.step(table).map(Box::new);
        }
        if task.title.is_empty() {
            self.problems.push(Problem::whole(self.file, "the task has no title").hint("add a line `title = \"…\"`"));
            "(no title)".clone_into(&mut task.title);
        }
        task.state = state.map_or_else(|| flow.initial(task.kind).clone(), |value| self.state(task.kind, value, flow));
        task.problems = std::mem::take(&mut self.problems);
        Read { task, description }
    }

    fn wrong(&mut self, value: &TomlField<'_>, message: impl Into<String>, hint: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::at(self.file, self.text, value.span().start, message).hint(hint));
        }
    }

    fn text_of<'v>(&mut self, key: &str, value: &'v TomlField<'_>) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            let found = value.get_ref().type_str();
            self.wrong(value, format!("{key} must be a string, not {found}"), format!("write it as {key} = \"…\""));
        }
        text
    }

    fn title(&mut self, value: &TomlField<'_>) -> String {
        self.text_of("title", value)
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .unwrap_or_default()
    }

    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, key: &str, value: &TomlField<'_>) -> Option<T> {
        let text = self.text_of(key, value)?;
        match text.parse() {
            Ok(parsed) => Some(parsed),
            Err(_) if text.is_empty() => None,
            Err(error) => {
                self.wrong(value, error.to_string(), format!("correct {key}, or remove the line"));
                None
            }
        }
    }

    fn owner(&mut self, value: &TomlField<'_>) -> Option<Worker> {
        let text = self.text_of("owner", value)?;
        Worker::new(text).ok()
    }

    fn state(&mut self, kind: Kind, value: &TomlField<'_>, flow: &Workflow) -> StateName {
        let Some(text) = self.text_of("state", value) else { return flow.initial(kind).clone() };
        let name = StateName::new(text);
        if flow.state(kind, &name).is_some() || flow.is_guess {
            return name;
        }
        match flow.find_state(kind, text) {
            Ok(state) => state.name.clone(),
            Err(error) => {
                self.wrong(value, error.to_string(), "correct the state");
                name
            }
        }
    }

    fn texts(&mut self, key: &str, value: &TomlField<'_>) -> Vec<String> {
        let Some(array) = value.get_ref().as_array() else {
            self.wrong(value, format!("{key} must be a list"), format!("write it as {key} = [\"…\"]"));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in array {
            match item.get_ref().as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => {
                    self.wrong(
                        item,
                        format!("{key} must be a list of strings"),
                        format!("write it as {key} = [\"…\"]"),
                    );
                }
            }
        }
        texts
    }

    fn ids(&mut self, key: &str, value: &TomlField<'_>) -> Vec<TaskId> {
        let mut ids = Vec::new();
        for text in self.texts(key, value) {
            match TaskId::new(text) {
                Ok(id) if ids.contains(&id) => {}
                Ok(id) => ids.push(id),
                Err(error) => self.wrong(value, error.to_string(), "name a task by its id"),
            }
        }
        ids
    }

    fn boolean(&mut self, key: &str, value: &TomlField<'_>) -> bool {
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.wrong(value, format!("{key} must be true or false"), format!("write it as {key} = true"));
            false
        })
    }

    /// Parses a time. A date without a time zone is taken as UTC, which ralph writes.
    fn time(&mut self, value: &TomlField<'_>) -> Option<Timestamp> {
        let text = match value.get_ref() {
            DeValue::Datetime(datetime) => datetime.to_string(),
            DeValue::String(text) => text.to_string(),
            _ => String::new(),
        };
        let parsed = text.parse::<Timestamp>().ok().or_else(|| {
            let civil = text.parse::<jiff::civil::DateTime>().ok()?;
            Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
        });
        if parsed.is_none() {
            self.wrong(value, "created must be a date with a time", "write it as created = 2026-11-15T09:30:00Z");
        }
        parsed
    }

    fn description<'t>(&mut self, value: &TomlField<'t>) -> Cow<'t, str> {
        match value.get_ref() {
            DeValue::String(text) => text.clone(),
            other => {
                let message = format!("description must be a string, not {}", other.type_str());
                self.wrong(value, message, "write it as description = \"\"\"…\"\"\"");
                Cow::Borrowed("")
            }
        }
    }

    fn artifacts(&mut self, value: &TomlField<'_>) -> BTreeMap<String, String> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(value, "artifacts must be a table", "write it as [artifacts]");
            return BTreeMap::new();
        };
        table.iter().filter_map(|(k, v)| Some((k.get_ref().to_string(), v.get_ref().as_str()?.to_owned()))).collect()
    }

    /// The step in a table; none without a team, a command or the tasks that it serves.
    fn step(&mut self, table: &DeTable<'_>) -> Option<Step> {
        let field = |name: &str| table.get(name);
        let text = |name: &str| field(name).and_then(|value| value.get_ref().as_str()).map(str::to_owned);
        let round = field("round").and_then(|value| value.get_ref().as_integer()?.as_str().parse().ok());
        Some(Step {
            team: TaskId::new(text("team")?).ok()?,
            command: text("command")?,
            of: field("of").map(|value| self.ids("of", value)).filter(|of| !of.is_empty())?,
            active_form: text("active_form").unwrap_or_default(),
            round: round.unwrap_or(0),
            result: text("result").filter(|result| !result.trim().is_empty()),
        })
    }

    fn github(&mut self, value: &TomlField<'_>) -> Option<GithubLink> {
        let table = value.get_ref().as_table()?;
        let number = table.get("number")?.get_ref().as_integer()?.as_str().parse().ok()?;
        Some(GithubLink { number, url: table.get("url").and_then(|url| url.get_ref().as_str()).map(str::to_owned) })
    }
}

fn rejections(value: &TomlField<'_>) -> u32 {
    let number = value.get_ref().as_table().and_then(|table| table.get("rejections")?.get_ref().as_integer());
    number.and_then(|n| n.as_str().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Task, String), Problem> {
        let id = TaskId::new("t-x7kq").unwrap();
        read(&id, "t-x7kq.toml", text, &Workflow::builtin()).map(|r| (r.task, r.description.into_owned()))
    }

    #[test]
    fn a_file_with_only_a_title_is_a_task() {
        let (task, _) = parse("title = 'Fix it'").unwrap();
        assert_eq!((task.title.as_str(), task.state.as_str(), task.kind), ("Fix it", "Backlog", Kind::Issue));
        assert!(task.problems.is_empty() && task.priority.is_none());
    }

    #[test]
    fn every_field_is_read() {
        let text = r#"
            id = "t-x7kq"
            title = "Sync drops labels"
            kind = "epic"
            state = "ready-for-plan"
            priority = "p1"
            estimate = "S"
            labels = ["github", "bug"]
            owner = "builder-2"
            parent = "t-9f2m"
            blocked_by = ["t-3hqd"]
            atomic = true
            created = 2026-11-15T09:30:00Z
            description = """
            text
            """
            [artifacts]
            research = "thoughts/x.md"
            [review]
            rejections = 2
            [github]
            number = 44
            url = "https://x/44"
        "#;
        let (task, description) = parse(text).unwrap();
        assert_eq!(task.problems, []);
        assert_eq!(
            (task.kind, task.state.as_str(), task.atomic, task.rejections),
            (Kind::Epic, "Ready for Plan", true, 2)
        );
        assert_eq!(task.created.unwrap().to_string(), "2026-11-15T09:30:00Z");
        assert_eq!((task.github.unwrap().number, task.artifacts["research"].as_str()), (44, "thoughts/x.md"));
        assert_eq!(description.trim(), "text");
    }

    #[test]
    fn a_wrong_value_is_a_problem_with_its_place_and_the_task_stays() {
        let (task, _) =
            parse("title = \"x\"\npriority = \"P9\"\nlabels = \"bug\"\nstate = 3\ncreated = 2026-11-15\n").unwrap();
        let told: Vec<String> = task.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(
            told.iter().any(|t| t == r#"t-x7kq.toml:2:12: "P9" is not a priority: use P0, P1, P2, P3"#),
            "{told:?}"
        );
        assert!(told.iter().any(|t| t == "t-x7kq.toml:3:10: labels must be a list"), "{told:?}");
        assert_eq!(task.created.unwrap().to_string(), "2026-11-15T00:00:00Z");
    }

    #[test]
    fn what_is_no_task_says_where() {
        let problem = |text: &str| parse(text).unwrap_err().to_string();
        assert!(problem("title = \"x\"\npriority = = 1\n").starts_with("t-x7kq.toml:2:12: "));
        assert_eq!(problem(" \n"), "t-x7kq.toml: the file is empty");
        let conflict = "title = \"x\"\n<<<<<<< ours\npriority = \"P1\"\n=======\npriority = \"P2\"\n>>>>>>> theirs\n";
        assert_eq!(problem(conflict), "t-x7kq.toml:2:1: unresolved merge conflict");
    }

    #[test]
    fn a_conflict_inside_a_text_is_a_conflict_too() {
        let text = "title = \"x\"\ndescription = \"\"\"\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n\"\"\"\n";
        assert!(parse(text).is_err());
        assert!(parse("title = \"x\"\ndescription = \"\"\"\nuse ======= as a rule\n\"\"\"\n").is_ok());
    }

    #[test]
    fn bytes_that_are_not_utf8_are_placed() {
        assert_eq!(utf8("f", b"title = \"\xff\"").unwrap_err().to_string(), "f:1:10: invalid UTF-8");
    }
}

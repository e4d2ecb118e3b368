//! Refusals and standings in the words of the terminal board.

use super::model::Tone;
use crate::app::{FieldChange, Hint, Meaning, TaskView};
use crate::task::Value;

/// The next step, as keys of this board where there is one.
pub fn hint(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::Init => vec!["`ralph init` makes a board".into()],
        Hint::GitInit => vec!["`ralph init --git` makes a repository and a board".into()],
        Hint::DidYouMean { candidates } => {
            candidates.iter().map(|found| format!("did you mean {} ({})?", found.id, found.title)).collect()
        }
        Hint::Edit { file, line } if *line > 0 => vec![format!("put it right in {file}, line {line}")],
        Hint::Edit { file, .. } => vec![format!("put it right in {file}")],
        Hint::Retry => vec!["try again".into()],
        Hint::List | Hint::Ready => vec!["R reads the board again".into()],
        Hint::Workflow => vec![MENU.into()],
        Hint::Wait { task } => vec![format!("w shows who has {task}, and until when")],
        Hint::Why { .. } => vec!["g shows the chain".into()],
        Hint::Claim { command, .. } => vec![format!("c claims it, for {command}")],
        Hint::Advice { text } => {
            let before = text.split(INSIST).next().unwrap_or_default().trim_end_matches([';', ' ']);
            if before.is_empty() { Vec::new() } else { vec![before.to_owned()] }
        }
    }
}

pub const MENU: &str = "m shows where it may go";

/// How the command line words it; here that is a key.
const INSIST: &str = "a person may insist";
pub const INSISTING: &str = "F insists; the journal tells who did";

/// One character for where a task stands, and what it means.
pub fn mark(task: &TaskView, meaning: Meaning) -> (&'static str, Tone) {
    match meaning {
        Meaning::Done => ("✓", Tone::Dim),
        Meaning::Canceled => ("✗", Tone::Dim),
        Meaning::Person => ("!", Tone::Warn),
        _ if task.claim.is_some() => ("▶", Tone::Work),
        _ if task.blocked => ("⊘", Tone::Blocked),
        _ if task.ready => ("●", Tone::Ready),
        _ if task.owner.is_some() => ("▷", Tone::Work),
        _ => ("○", Tone::Dim),
    }
}

pub fn of_meaning(meaning: Meaning) -> Tone {
    match meaning {
        Meaning::Waiting => Tone::Accent,
        Meaning::Working => Tone::Work,
        Meaning::Person => Tone::Warn,
        Meaning::Done => Tone::Ready,
        Meaning::Canceled => Tone::Dim,
    }
}

/// `priority P2 → P1`.
pub fn field(change: &FieldChange) -> String {
    let one_line = |value: &Value| value.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), one_line);
    match (change.key.as_str(), &change.old, &change.new) {
        ("task" | "archive", None, Some(text)) | ("task" | "archive", Some(text), None) => one_line(text),
        ("note", None, Some(text)) => format!("“{}”", one_line(text)),
        (key, old, new) => format!("{key} {} → {}", shown(old), shown(new)),
    }
}

pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_keeps_what_it_says_beside_insisting() {
        let advice = |text: &str| hint(&Hint::Advice { text: text.into() });
        assert_eq!(advice("link the plan; a person may insist with `--force`"), ["link the plan"]);
        assert_eq!(advice("a person may insist with `--force`"), [""; 0]);
        assert_eq!(advice("split it first"), ["split it first"]);
    }
}

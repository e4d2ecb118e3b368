//! Refusals and marks of tasks in the words of the terminal board.

use super::model::Tone;
use crate::app::{FieldChange, Hint, Meaning, TaskView};
use crate::task::Value;

/// The next step as keys of this board, if there are any; options of the command line have none.
pub fn hint(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::List | Hint::Ready => vec!["R reloads the board".into()],
        Hint::Workflow | Hint::Move => vec!["m shows the states that it can be moved to".into()],
        Hint::Wait { task } => vec![format!("w shows who holds {task}, and until when")],
        Hint::Why { .. } => vec!["g shows what blocks it".into()],
        Hint::Claim { command: Some(command), .. } => vec![format!("c claims it for {command}")],
        Hint::Claim { command: None, .. } => vec!["c claims it".into()],
        Hint::Unblock => vec!["u removes one of these links".into()],
        Hint::SayWho => vec!["set RALPH_WORKER, or git's user.name, and start again".into()],
        // These have keys, which are shown where they work.
        Hint::Force
        | Hint::CustomKey
        | Hint::SayCommand { .. }
        | Hint::SayRole { .. }
        | Hint::Option { .. }
        | Hint::Omit { .. } => Vec::new(),
        Hint::Init
        | Hint::GitInit
        | Hint::DidYouMean { .. }
        | Hint::Edit { .. }
        | Hint::Retry
        | Hint::Artifact { .. }
        | Hint::CheckArtifact { .. }
        | Hint::Result { .. }
        | Hint::Worktree { .. }
        | Hint::Trust
        | Hint::Run { .. }
        | Hint::Shell { .. }
        | Hint::Set { .. }
        | Hint::Variable { .. }
        | Hint::Open { .. }
        | Hint::Do { .. } => hint.for_shell(),
    }
}

pub const FORCING: &str = "F forces the move; the journal records it";

/// The character and the color for a task.
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
        Meaning::Waiting => Tone::Plain,
        Meaning::Review => Tone::Label,
        Meaning::Working => Tone::Work,
        Meaning::Person => Tone::Warn,
        Meaning::Done => Tone::Ready,
        Meaning::Canceled => Tone::Dim,
    }
}

/// A changed field, such as `priority P2 → P1`.
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
    fn a_hint_is_a_key_or_nothing_but_never_an_option() {
        assert_eq!(hint(&Hint::Workflow), ["m shows the states that it can be moved to"]);
        assert_eq!(hint(&Hint::Force), [""; 0]);
        assert_eq!(hint(&Hint::option("--local", "to claim it here")), [""; 0]);
        assert_eq!(hint(&Hint::step("split it first")), ["split it first"]);
    }
}

//! The example board of `init --demo`.

use crate::app::{Code, Failure, Hint, Workspace, add, note, parse_batch};
use crate::task::StateName;
use crate::workflow::Workflow;

const TASKS: &str = include_str!("demo.toml");
const NOTES: [(&str, &str); 2] = [
    ("card", "The bank's sandbox answers 504 about once in ten calls: retry with the same idempotency key."),
    ("leak", "Seen in the log of the reverse proxy too, not only in ours."),
];

pub(in crate::app) fn refuse_unless_empty(ws: &Workspace) -> Result<(), Failure> {
    if ws.board()?.tasks().is_empty() {
        return Ok(());
    }
    let message = "the board already has tasks; the demo needs an empty board";
    Err(Failure::refused(Code::NotEmpty, message).hint(Hint::run("init --demo", "in an empty repository")))
}

/// Adds the example tasks and returns their number.
pub(in crate::app) fn fill(ws: &Workspace) -> Result<usize, Failure> {
    let mut wanted = parse_batch("demo.toml", TASKS)?;
    let full = Workflow::builtin();
    for state in wanted.iter_mut().filter_map(|task| task.state.as_mut()) {
        *state = full.counterpart(&StateName::new(state.as_str()), ws.flow()).to_string();
    }
    let added = add(ws, &wanted)?;
    for (new, task) in wanted.iter().zip(&added.tasks) {
        if let Some((_, text)) = NOTES.iter().find(|(name, _)| new.reference.as_deref() == Some(*name)) {
            note(ws, &task.id, text)?;
        }
    }
    Ok(added.tasks.len())
}

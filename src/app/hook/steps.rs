//! What a step of a team says of itself, as far as the gates ask.

use crate::app::Workspace;
use crate::task::Task;

/// The command that it stands for.
pub fn command_of(ws: &Workspace, step: &Task) -> Option<String> {
    key(ws, step, "command")
}

/// What came of it.
pub fn result_of(ws: &Workspace, step: &Task) -> Option<String> {
    key(ws, step, "result")
}

fn key(ws: &Workspace, step: &Task, key: &str) -> Option<String> {
    let file = ws.store.load(&step.id).ok()?;
    let table: toml::Table = file.text.parse().ok()?;
    table.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

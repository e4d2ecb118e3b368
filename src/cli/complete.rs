//! Live candidates for the shell: ids, states, labels, roles, settings.

use clap_complete::CompletionCandidate;

use crate::app::{Board, GATES, Options, SPECS, SortKey, Workspace};

fn workspace() -> Option<Workspace> {
    let board = std::env::var_os("RALPH_BOARD").filter(|b| !b.is_empty()).map(Into::into);
    Workspace::open(&Options { dir: std::env::current_dir().ok()?, board, ..Options::default() }).ok()
}

fn board() -> Option<(Workspace, Board)> {
    let ws = workspace()?;
    let board = ws.board().ok()?;
    Some((ws, board))
}

/// Open tasks, with their titles as descriptions.
pub fn tasks() -> Vec<CompletionCandidate> {
    let Some((ws, board)) = board() else { return Vec::new() };
    let open = board.tasks().iter().filter(|task| !ws.flow().is_terminal(task.kind, &task.state));
    open.map(|task| CompletionCandidate::new(task.id.as_str()).help(Some(task.title.clone().into()))).collect()
}

pub fn states() -> Vec<CompletionCandidate> {
    let Some(ws) = workspace() else { return Vec::new() };
    let names = ws.flow().states().iter().map(|state| state.name.to_string().to_lowercase().replace(' ', "-"));
    names.map(CompletionCandidate::new).collect()
}

pub fn roles() -> Vec<CompletionCandidate> {
    let Some(ws) = workspace() else { return Vec::new() };
    ws.flow().roles().iter().map(|role| CompletionCandidate::new(&role.name)).collect()
}

pub fn commands() -> Vec<CompletionCandidate> {
    let Some(ws) = workspace() else { return Vec::new() };
    ws.flow().commands().iter().map(|command| CompletionCandidate::new(&command.name)).collect()
}

pub fn documents() -> Vec<CompletionCandidate> {
    ["research", "plan", "review", "report"].map(CompletionCandidate::new).into()
}

pub fn labels() -> Vec<CompletionCandidate> {
    let Some((_, board)) = board() else { return Vec::new() };
    let mut labels: Vec<&String> = board.tasks().iter().flat_map(|task| &task.labels).collect();
    labels.sort();
    labels.dedup();
    labels.into_iter().map(CompletionCandidate::new).collect()
}

pub fn sorts() -> Vec<CompletionCandidate> {
    SortKey::NAMES.iter().map(CompletionCandidate::new).collect()
}

pub fn settings() -> Vec<CompletionCandidate> {
    SPECS.iter().map(|spec| CompletionCandidate::new(spec.key).help(Some(spec.about.into()))).collect()
}

pub fn gates() -> Vec<CompletionCandidate> {
    GATES.iter().map(|gate| CompletionCandidate::new(gate.name).help(Some(gate.about.into()))).collect()
}

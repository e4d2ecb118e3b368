//! `workflow use`: converts a board and its tasks to another workflow.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::app::read::schema::schema;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Change, Op};
use crate::fs;
use crate::task::{Key, Kind, StateName, TaskId, Value, Worker};
use crate::workflow::{TABLES, Workflow};

/// The effect of a change of the workflow on the tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkflowChange {
    pub from: String,
    pub to: String,
    /// Every state of the old workflow in its order, then unknown states that tasks are in.
    pub states: Vec<StateChange>,
    /// The path of the saved old table, if it had been edited.
    pub kept: Option<String>,
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateChange {
    pub from: StateName,
    pub to: StateName,
    /// The number of tasks in `from`.
    pub tasks: usize,
}

const FILE: &str = ".ralph/workflow.toml";
const KEPT: &str = ".ralph/workflow.previous.toml";

/// Changes nothing yet. `wanted` overrides the target of a state: `Old state=New state`.
pub fn plan_workflow(ws: &Workspace, name: &str, wanted: &[String]) -> Result<WorkflowChange, Failure> {
    let to = named(name)?;
    let board = ws.board()?;
    let own = overrides(ws, &to, wanted)?;
    let mut counts: BTreeMap<StateName, usize> = BTreeMap::new();
    for task in board.tasks().iter().filter(|task| task.kind != Kind::Step) {
        *counts.entry(task.state.clone()).or_default() += 1;
    }
    let known = ws.flow().states().iter().map(|state| state.name.clone());
    let unknown = counts.keys().filter(|name| ws.flow().state(Kind::Issue, name).is_none()).cloned();
    let states = known.chain(unknown).map(|from| StateChange {
        to: own.get(&from).unwrap_or_else(|| ws.flow().counterpart(&from, &to)).clone(),
        tasks: counts.get(&from).copied().unwrap_or(0),
        from,
    });
    let changed = *ws.flow() != to;
    let kept = edited_table(ws)?.filter(|_| changed).map(|_| KEPT.to_owned());
    Ok(WorkflowChange { from: ws.flow().name.clone(), to: to.name.clone(), states: states.collect(), kept, changed })
}

/// Moves every task and replaces the table, as planned.
pub fn use_workflow(ws: &Workspace, planned: &WorkflowChange) -> Result<(), Failure> {
    ws.refuse_programs("change the workflow")?;
    let lock = ws.lock()?;
    let board = ws.board()?;
    refuse_claimed(&board, &ws.me()?)?;
    let goal = |state: &StateName| planned.states.iter().find(|row| row.from == *state).map(|row| &row.to);
    let to = named(&planned.to)?;
    let mut changes = Vec::new();
    for task in board.tasks().iter().filter(|task| task.kind != Kind::Step) {
        if let Some(to) = goal(&task.state).filter(|to| **to != task.state) {
            changes.push(Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(to))));
        }
        // A worker whose role no longer exists would count as a person.
        let gone = |owner: &&Worker| ws.flow().role_of(owner).is_some() && to.role_of(owner).is_none();
        if task.owner.as_ref().filter(gone).is_some() {
            changes.push(Change::set(&task.id, "owner", task.value(&Key::new("owner")), None));
        }
    }
    if !changes.is_empty() {
        // The table on disk does not have the new states yet.
        ws.without_problems(|| ws.commit(&lock, Op::new(format!("workflow use {}", planned.to), changes)))?;
    }
    // If the process is killed before this, running the same command again continues: converted tasks stay as they are.
    write_table(ws, &planned.to)?;
    // Editors use this schema to complete the new states.
    let text = format!("{:#}\n", schema("task", &to)?);
    let path = ws.store.board_dir().join("schema/task.json");
    if path.exists() {
        fs::replace(&path, text.as_bytes(), false)?;
    }
    Ok(ws.store.drop_index()?)
}

/// Writes the table of a new board; the default workflow needs no file.
pub(in crate::app) fn write_table(ws: &Workspace, name: &str) -> Result<(), Failure> {
    let path = path(ws);
    if let Some(text) = edited_table(ws)? {
        fs::replace(&ws.store.root().join(KEPT), text.as_bytes(), true)?;
    }
    match named(name)? == Workflow::builtin() {
        true => {
            fs::remove(&last_known(ws))?;
            Ok(fs::remove(&path)?)
        }
        false => Ok(fs::replace(&path, shipped_table(name)?.as_bytes(), true)?),
    }
}

/// The text of the board's own workflow table, or of the shipped one. A shell that redirects the output of this command
/// into the file has already emptied it; an empty file therefore counts as the last table that could be read.
pub fn workflow_text(ws: &Workspace) -> Result<String, Failure> {
    let own = fs::read_text(&path(ws))?;
    let own = match own {
        Some(text) if text.trim().is_empty() => fs::read_text(&last_known(ws))?,
        other => other,
    };
    own.map_or_else(|| shipped_table("full").map(str::to_owned), Ok)
}

/// The path of the last table that this clone could read.
fn last_known(ws: &Workspace) -> PathBuf {
    ws.store.local().join("workflow.toml")
}

/// Finds a workflow that ralph ships.
pub fn named(name: &str) -> Result<Workflow, Failure> {
    Workflow::shipped(name).ok_or_else(|| unknown(name))
}

/// The text of a workflow table that ralph ships.
pub fn shipped_table(name: &str) -> Result<&'static str, Failure> {
    let found = TABLES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
    found.map(|(_, _, text)| *text).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TABLES.iter().map(|(known, ..)| *known).collect();
    Failure::usage(Code::UnknownWorkflow, format!("unknown workflow {name:?}: use {}", names.join(", ")))
}

fn path(ws: &Workspace) -> PathBuf {
    ws.store.root().join(FILE)
}

/// The text of the board's table, if it differs from all shipped ones.
fn edited_table(ws: &Workspace) -> Result<Option<String>, Failure> {
    let text = fs::read_text(&path(ws))?;
    Ok(text.filter(|text| TABLES.iter().all(|(.., shipped)| shipped != text)))
}

fn overrides(ws: &Workspace, to: &Workflow, wanted: &[String]) -> Result<BTreeMap<StateName, StateName>, Failure> {
    let pair = |text: &String| {
        let (old, new) = text.split_once('=').ok_or_else(|| {
            Failure::usage(Code::BadValue, format!("{text:?} is not of the form OLD=NEW"))
                .hint(Hint::step("write the old state, an equals sign, and the new state"))
        })?;
        let old = ws.flow().find_state(Kind::Issue, old).map(|state| state.name.clone());
        Ok((old?, to.find_state(Kind::Issue, new)?.name.clone()))
    };
    wanted.iter().map(pair).collect()
}

/// Other workers and running programs would find their tasks in an unexpected state.
fn refuse_claimed(board: &Board, me: &Worker) -> Result<(), Failure> {
    let others = board.claims().iter().filter(|(_, claim)| claim.live && (claim.held || claim.worker != *me));
    let live: Vec<&TaskId> = others.map(|(id, _)| id).collect();
    match live.first() {
        None => Ok(()),
        Some(first) => {
            let more = if live.len() > 1 { format!(" and {} more", live.len() - 1) } else { String::new() };
            Err(Failure::refused(
                Code::Held,
                format!("cannot change the workflow while tasks are claimed: {first}{more}"),
            )
            .hint(Hint::run("claims ls", "to list the claims"))
            .hint(Hint::step("wait until the work is done, or release the claims")))
        }
    }
}

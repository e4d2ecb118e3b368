//! The steps of a team on disk: updates them to the board in one commit.

use std::collections::{BTreeMap, BTreeSet};

use super::streams::touches;
use crate::app::edit::add::{file, fresh_id};
use crate::app::{Failure, Workspace};
use crate::board::{Board, Change, Op, Place, StepPlan, TeamAsk};
use crate::task::{Key, Task, TaskId, Value};

/// Updates the steps; returns the number of new ones, and the board.
pub fn restep(ws: &Workspace, asked: &TeamAsk) -> Result<(usize, Board), Failure> {
    // Usually nothing changes, and this check needs no lock.
    let board = ws.board()?;
    match planned(ws, asked, &board)?.is_empty() {
        true => Ok((0, board)),
        false => Ok((restep_now(ws, asked)?, ws.board()?)),
    }
}

/// Updates the steps without checking first.
pub fn restep_now(ws: &Workspace, asked: &TeamAsk) -> Result<usize, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let plan = planned(ws, asked, &board)?;
    if plan.is_empty() {
        return Ok(0);
    }
    let new = plan.new.len();
    let changes = written(ws, &board, plan);
    ws.commit(&lock, Op::new("steps", changes))?;
    Ok(new)
}

/// The board as it would be with updated steps; writes nothing.
pub(super) fn foreseen(ws: &Workspace, asked: &TeamAsk) -> Result<Board, Failure> {
    let board = ws.board()?;
    let plan = planned(ws, asked, &board)?;
    let ids = minted(ws, &plan);
    Ok(plan.applied(&board, &ids, ws.rules()))
}

fn planned(ws: &Workspace, asked: &TeamAsk, board: &Board) -> Result<StepPlan, Failure> {
    let asked = TeamAsk { touches: touches(ws, board), ..asked.clone() };
    Ok(board.plan_steps(&asked, ws.rules())?)
}

fn minted(ws: &Workspace, plan: &StepPlan) -> Vec<TaskId> {
    let mut ids: Vec<TaskId> = Vec::new();
    for _ in &plan.new {
        ids.push(fresh_id(ws, &ids));
    }
    ids
}

/// The plan as changes of files, with ids for new steps.
fn written(ws: &Workspace, board: &Board, plan: StepPlan) -> Vec<Change> {
    let ids = minted(ws, &plan);
    let mut changes = plan.changes;
    for (step, after) in &plan.rewired {
        let old = board.get(step).and_then(|task| task.value(&Key::new("blocked_by")));
        let after: BTreeSet<TaskId> = after.iter().map(|step| step.id(&ids)).collect();
        let new = (!after.is_empty()).then(|| Value::texts(&after));
        changes.push(Change::set(step, "blocked_by", old, new));
    }
    let now = ws.now();
    for (new, id) in plan.new.iter().zip(&ids) {
        let mut task = new.task(id, &ids, ws.rules());
        task.created = Some(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now));
        changes.push(Change::File { task: id.clone(), file: Place::Task, old: None, new: Some(file(&task, "")) });
    }
    changes
}

/// The steps of each team, in the order of the pipeline.
pub(super) fn by_team<'b>(ws: &Workspace, board: &'b Board, teams: &[TaskId]) -> BTreeMap<TaskId, Vec<&'b Task>> {
    let mut all: BTreeMap<TaskId, Vec<&Task>> = BTreeMap::new();
    for task in board.tasks() {
        if let Some(step) = task.step.as_ref().filter(|step| teams.contains(&step.team)) {
            all.entry(step.team.clone()).or_default().push(task);
        }
    }
    let order = |task: &Task| {
        let command = task.step.as_ref().map(|step| step.command.as_str()).unwrap_or_default();
        ws.flow().commands().iter().position(|known| known.name == command)
    };
    for steps in all.values_mut() {
        steps.sort_by_key(|task| (task.created, order(task), task.step.as_ref().map(|step| step.of.clone())));
    }
    all
}

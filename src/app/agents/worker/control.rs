//! `runs stop` and `runs retry`: a person stops a run, or allows a task to be tried again.

use serde::Serialize;

use super::attempts;
use crate::app::records::runs::{Run, RunOutcome, find_run, list_runs};
use crate::app::work::ask::{answer, open_question};
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::task::{StateName, Task, TaskId};

#[derive(Debug, Serialize)]
pub struct StopAsked {
    pub run: String,
    pub task: TaskId,
}

/// Asks the worker process to stop a run. The task is then handed to a person.
pub fn stop_run(ws: &Workspace, run: &Run) -> Result<StopAsked, Failure> {
    ws.refuse_programs("stop a run")?;
    // Read again under the lock: while a program starts, the lock of its claim is free for a moment, and the run looks
    // lost.
    let _lock = ws.lock()?;
    let run = &find_run(ws, &run.id)?;
    if run.outcome != RunOutcome::Running {
        let message = format!("{} is not running: it is {}", run.id, run.outcome.words());
        return Err(Failure::refused(Code::NothingToDo, message).hint(Hint::run("runs ls", "to list the runs")));
    }
    run.ask_to_stop(ws, &ws.me()?)?;
    Ok(StopAsked { run: run.id.clone(), task: run.task.clone() })
}

#[derive(Debug, Serialize)]
pub struct RetryDone {
    pub task: TaskId,
    /// The state of the task now.
    pub state: StateName,
}

/// Forgets the failures of a task. If it was handed to a person, it returns to its previous state.
pub fn retry(ws: &Workspace, id: &TaskId) -> Result<RetryDone, Failure> {
    ws.refuse_programs("retry a task")?;
    // Checked under the lock, as above; it is released because `answer` takes it again.
    let lock = ws.lock()?;
    if !can_retry(ws, id)? {
        return Err(nothing_to_retry(ws, id)?);
    }
    drop(lock);
    attempts::forget(ws, id)?;
    let task = task(ws, id)?;
    let state = if ws.rules().needs_person(&task) { answer(ws, id, "Try again.")?.to } else { task.state };
    Ok(RetryDone { task: id.clone(), state })
}

fn task(ws: &Workspace, id: &TaskId) -> Result<Task, Failure> {
    let board = ws.around(id)?;
    board.get(id).cloned().ok_or_else(|| missing(ws, &board, id))
}

/// Whether the task was handed to a person without a question, or its last run failed, so that workers leave it alone.
pub fn can_retry(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    let Some(last) = list_runs(ws, Some(id), 1)?.pop() else { return Ok(false) };
    if ws.rules().needs_person(&task(ws, id)?) {
        return Ok(open_question(ws, id)?.is_none());
    }
    Ok(last.outcome.is_failure() || last.outcome == RunOutcome::Lost)
}

fn nothing_to_retry(ws: &Workspace, id: &TaskId) -> Result<Failure, Failure> {
    Ok(match open_question(ws, id)? {
        Some(question) => Failure::refused(Code::NothingToDo, format!("{id} has an open question: {}", question.text))
            .hint(Hint::run(&format!("answer {id} WORDS"), "to answer it and continue the work")),
        None => Failure::refused(Code::NothingToDo, format!("no run of {id} has failed"))
            .hint(Hint::run(&format!("team {id}"), "to start workers on it")),
    })
}

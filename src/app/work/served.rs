//! Hands a task to a person if `next` gave it to agents several times without progress.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::app::repo::worktree::place;
use crate::app::work::moves::move_with_note;
use crate::app::{Claimed, Failure, Workspace};
use crate::board::{Goal, Request};
use crate::fs;
use crate::store::BoardLock;
use crate::task::{TaskId, Worker};
use crate::workflow::Intent;

/// How often a task may be given out without progress.
const MOST: u32 = 5;
/// If the holder asks again within this time, that does not count.
const ASKED_AGAIN: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Served {
    /// When it was last counted.
    at: Timestamp,
    /// The progress of the task at that time.
    mark: String,
    count: u32,
    workers: Vec<Worker>,
}

fn path(ws: &Workspace, id: &TaskId) -> PathBuf {
    ws.store.local().join(format!("served/{id}.toml"))
}

/// A hash that changes with any progress: a new state, note, document or commit.
fn mark(ws: &Workspace, id: &TaskId) -> Result<String, Failure> {
    let board = ws.family(id)?;
    let mut hasher = DefaultHasher::new();
    if let Some(task) = board.get(id) {
        // A claim and its release do not change the hash.
        let state = ws.flow().state(task.kind, &task.state);
        state.and_then(|state| state.release.as_ref()).unwrap_or(&task.state).hash(&mut hasher);
        format!("{:?}", task.artifacts).hash(&mut hasher);
    }
    ws.notes(id)?.len().hash(&mut hasher);
    let branch = place(ws, &board, id).map(|place| place.branch).unwrap_or_default();
    ws.repository.tip_of(&branch).ok().hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Counts one more claim, and returns whether there were too many.
pub(super) fn is_once_too_often(ws: &Workspace, claimed: &Claimed) -> Result<bool, Failure> {
    let path = path(ws, &claimed.task);
    let known: Option<Served> = fs::read_text(&path)?.and_then(|text| toml::from_str(&text).ok());
    let mark = mark(ws, &claimed.task)?;
    let mut served = known.filter(|served| served.mark == mark).unwrap_or_default();
    // The holder may ask for its task more than once.
    if claimed.renewed && ws.now().duration_since(served.at) < ASKED_AGAIN {
        return Ok(false);
    }
    (served.mark, served.count, served.at) = (mark, served.count + 1, ws.now());
    if !served.workers.contains(&claimed.worker) {
        served.workers.push(claimed.worker.clone());
    }
    fs::make_dir(&ws.store.local().join("served"))?;
    fs::replace(&path, toml::to_string(&served).expect("counts are text").as_bytes(), false)?;
    Ok(served.count > MOST)
}

/// Escalates the task, with the reason.
pub(super) fn call_a_person(ws: &Workspace, lock: &BoardLock, claimed: &Claimed) -> Result<(), Failure> {
    let path = path(ws, &claimed.task);
    let served: Served = fs::read_text(&path)?.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default();
    let workers: Vec<&str> = served.workers.iter().map(Worker::as_str).collect();
    let note = format!(
        "`ralph next` claimed this task {MOST} times (for {}) without progress: no note, no document, no commit, no new state.",
        workers.join(", ")
    );
    let board = ws.family(&claimed.task)?;
    let request =
        Request { command: claimed.command.as_deref(), ..Request::new(&claimed.task, Goal::Intent(Intent::Escalate)) };
    move_with_note(ws, lock, &board, &request, "escalate", &note)?;
    fs::remove(&path)?;
    ws.notice(format!("{} was claimed {MOST} times without progress, and was handed to a person", claimed.task));
    Ok(())
}

//! Everything that a person needs for a decision about a task, for faces that show it on one screen.

use serde::Serialize;

use crate::app::agents::team::can_start_team;
use crate::app::agents::worker::can_retry;
use crate::app::read::show::show_without_moves;
use crate::app::records::artifact::{Document, linked_artifact};
use crate::app::records::checks::{CheckView, list_checks};
use crate::app::records::runs::{Run, list_runs};
use crate::app::repo::task_diff::{TaskChanges, task_changes};
use crate::app::work::ask::{Question, open_question};
use crate::app::work::review::{Decisions, decisions};
use crate::app::{Failure, TaskView, Workspace};
use crate::store::Note;
use crate::task::TaskId;
use crate::workflow::Meaning;

/// How many runs are shown, newest first.
const RUNS: usize = 20;

#[derive(Debug, Serialize)]
pub struct Review {
    pub task: TaskView,
    pub description: String,
    pub notes: Vec<Note>,
    pub plan: Option<Document>,
    pub changes: Option<TaskChanges>,
    /// Why there are no changes to show.
    pub unchanged: Option<String>,
    pub checks: Vec<CheckView>,
    pub runs: Vec<Run>,
    pub question: Option<Question>,
    /// Why the task was handed to a person, if there is no question.
    pub waits: Option<String>,
    pub can: ReviewActions,
}

/// The possible decisions of the person.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ReviewActions {
    #[serde(flatten)]
    pub decide: Decisions,
    pub retry: bool,
    /// A team can be started on the task.
    pub team: bool,
}

pub fn review(ws: &Workspace, id: &TaskId) -> Result<Review, Failure> {
    let shown = show_without_moves(ws, id)?;
    let question = open_question(ws, id)?;
    let needed = needs_person(ws, id)?;
    let last = shown.notes.last().map_or_else(|| "Handed to a person.".to_owned(), |note| note.text.clone());
    let open = !matches!(shown.task.meaning, Meaning::Done | Meaning::Canceled);
    let (changes, unchanged) = match task_changes(ws, id) {
        Ok(changes) => (Some(changes), None),
        Err(failure) => (None, Some(failure.message)),
    };
    let mut decide = decisions(ws, id)?;
    // People may merge work in any open state.
    let has_work = changes.as_ref().is_some_and(|changes: &TaskChanges| !changes.files.is_empty());
    decide.merge |= has_work && open && !decide.approve;
    Ok(Review {
        task: shown.task,
        description: shown.description,
        notes: shown.notes,
        plan: linked_artifact(ws, "plan", id).ok(),
        changes,
        unchanged,
        checks: list_checks(ws, id)?,
        runs: list_runs(ws, Some(id), RUNS)?,
        waits: (needed && question.is_none()).then_some(last),
        question,
        can: ReviewActions { decide, retry: can_retry(ws, id)?, team: !needed && can_start_team(ws, id)? },
    })
}

fn needs_person(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    Ok(ws.around(id)?.get(id).is_some_and(|task| ws.rules().needs_person(task)))
}

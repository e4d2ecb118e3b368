//! The plan of a sync, as rows for people and programs.

use serde::Serialize;

use super::calls::PlannedCall;
use super::compare::{Comparison, Loss, NoteMove, Pair};
use super::local::Locals;
use super::pull::note_conflict;
use crate::github::{BATCH, Decision, Field, Item, Names, RemoteIssue, remote_values};
use crate::task::{Kind, TaskId, Value};
use crate::workflow::Workflow;

/// A planned action on one field of one task.
#[derive(Debug, Clone, Serialize)]
pub struct PlanRow {
    pub task: Option<TaskId>,
    pub number: Option<u64>,
    pub what: String,
    pub way: Way,
    pub local: Option<Value>,
    pub remote: Option<Value>,
}

/// The kind of action, in the order of the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    Create,
    /// An earlier sync or another clone created the issue.
    Found,
    Adopt,
    Pull,
    Push,
    /// Both sides have changed, and the changes can be merged.
    Merge,
    Comment,
    /// The task was deleted here, so its issue is closed.
    Retire,
    /// The issue no longer exists in the project.
    Lost,
    Conflict,
}

#[derive(Debug, Default, Serialize)]
pub struct Plan {
    pub rows: Vec<PlanRow>,
    /// Requests that the plan needs, without those for reading.
    pub requests: usize,
    pub seconds: u64,
}

/// The rows of a comparison, grouped by action.
pub fn rows(all: &Comparison<'_>, flow: &Workflow) -> Vec<PlanRow> {
    let plain = |task: Option<&TaskId>, number: Option<u64>, what: &str, way: Way, title: &str| PlanRow {
        task: task.cloned(),
        number,
        what: what.to_owned(),
        way,
        local: matches!(way, Way::Create | Way::Lost | Way::Found).then(|| Value::text(title)),
        remote: matches!(way, Way::Adopt | Way::Retire).then(|| Value::text(title)),
    };
    let mut rows = Vec::new();
    rows.extend(all.creates.iter().map(|local| plain(Some(&local.id), None, "issue", Way::Create, &local.title)));
    rows.extend(
        all.found
            .iter()
            .map(|(local, item)| plain(Some(&local.id), Some(item.number), "issue", Way::Found, &local.title)),
    );
    rows.extend(all.adopts.iter().map(|(item, issue)| PlanRow {
        // The state that the task will have.
        local: Some(Value::text(state_of(item, issue, flow))),
        ..plain(None, Some(item.number), "task", Way::Adopt, &item.title)
    }));
    rows.extend(all.pairs.iter().flat_map(pair_rows));
    rows.extend(all.retire.iter().map(|item| plain(None, Some(item.number), "close", Way::Retire, &item.title)));
    rows.extend(all.lost.iter().map(|(local, loss)| PlanRow {
        remote: Some(Value::text(if *loss == Loss::Gone {
            "deleted, or not accessible with this token"
        } else {
            "no longer in the project"
        })),
        ..plain(Some(&local.id), local.link.number, "link", Way::Lost, &local.title)
    }));
    rows.sort_by(|a, b| (a.way, &a.task, a.number).cmp(&(b.way, &b.task, b.number)));
    rows
}

/// The state that an adopted issue gets.
fn state_of(item: &Item, issue: &RemoteIssue, flow: &Workflow) -> String {
    let state = remote_values(item, issue, &Names::default(), None, flow).remove(&Field::State);
    state.map_or_else(|| flow.initial(Kind::Issue).to_string(), |state| state.to_string())
}

fn pair_rows(pair: &Pair<'_>) -> Vec<PlanRow> {
    let row = |what: String, way: Way, local: Option<Value>, remote: Option<Value>| PlanRow {
        task: Some(pair.local.id.clone()),
        number: Some(pair.issue.number),
        what,
        way,
        local,
        remote,
    };
    let fields = pair.decisions.iter().filter_map(|(field, decision)| {
        let way = match decision {
            Decision::Settled | Decision::Agreed => return None,
            Decision::Pull => Way::Pull,
            // Only once the item is restored.
            Decision::Push if Field::OF_ROW.contains(field) && pair.is_asleep() => return None,
            Decision::Push => Way::Push,
            Decision::Both(_) => Way::Merge,
            Decision::Conflict => Way::Conflict,
        };
        Some(row(field.name().to_owned(), way, pair.here.get(field).cloned(), pair.remote.get(field).cloned()))
    });
    let text = |file: &str| pair.local.notes.iter().find(|note| note.file == file).map(|note| Value::text(&note.text));
    let comment = |body: &str| Some(Value::Text(crate::github::read_comment(body).0));
    let notes = pair.notes.iter().filter_map(|note| match note {
        NoteMove::Tie { .. } | NoteMove::Double { .. } => None,
        NoteMove::Post { file } => Some(row("comment".into(), Way::Comment, text(file), None)),
        NoteMove::Take { comment: there } => Some(row("comment".into(), Way::Comment, None, comment(&there.body))),
        NoteMove::Edit { file, comment: there } => {
            Some(row("comment".into(), Way::Push, text(file), comment(&there.body)))
        }
        NoteMove::Rewrite { file, comment: there } => {
            Some(row("comment".into(), Way::Pull, text(file), comment(&there.body)))
        }
        NoteMove::Conflict { file, comment: there } => {
            Some(row(note_conflict(file), Way::Conflict, text(file), comment(&there.body)))
        }
    });
    fields.chain(notes).collect()
}

/// The approximate time for one request, in seconds.
const ANSWER: f64 = 0.5;

/// The number of requests, and their duration at this pace. Further values of new issues are sent along with the next
/// create.
pub fn estimate(all: &Comparison<'_>, calls: &[PlannedCall], pace: jiff::SignedDuration) -> (usize, u64) {
    let posts =
        all.pairs.iter().flat_map(|pair| &pair.notes).filter(|note| matches!(note, NoteMove::Post { .. })).count();
    let new_notes: usize = all.creates.iter().map(|local| local.notes.len()).sum();
    let creates = all.creates.len() + posts + new_notes;
    let merged = all
        .pairs
        .iter()
        .flat_map(|pair| &pair.decisions)
        .filter(|(_, decision)| matches!(decision, Decision::Both(_)))
        .count();
    let batches = (calls.len() + merged + all.retire.len() * 2).div_ceil(BATCH);
    let requests = creates + batches;
    (requests, (requests as f64 * (pace.as_secs_f64() + ANSWER)).ceil() as u64)
}

/// What a person has to resolve: conflicts of the comparison, and values from GitHub that could not be applied.
pub fn conflict_rows(all: &Comparison<'_>, locals: &Locals, flow: &Workflow) -> Vec<PlanRow> {
    let mut open: Vec<PlanRow> =
        rows(all, flow).into_iter().filter(|row| matches!(row.way, Way::Conflict | Way::Lost)).collect();
    for local in locals.tasks.values() {
        for (name, remote) in local.link.conflicts.iter().filter(|(name, _)| *name != "link") {
            let told = open.iter().any(|row| row.task.as_ref() == Some(&local.id) && row.what == *name);
            if !told {
                open.push(PlanRow {
                    task: Some(local.id.clone()),
                    number: local.link.number,
                    what: name.clone(),
                    way: Way::Conflict,
                    local: Field::parse(name).and_then(|field| local.value(field)).cloned(),
                    remote: remote.clone(),
                });
            }
        }
    }
    open
}

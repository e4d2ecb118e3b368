//! `inbox`: lists what waits for a person's decision; what blocks the most tasks comes first, then the oldest.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::edit::fields::conflicts_of;
use crate::app::records::budgets::{stopped_team, task_budget};
use crate::app::records::failed_merges;
use crate::app::records::runs::list_runs;
use crate::app::repo::worktree::place;
use crate::app::work::ask::{Question, open_question};
use crate::app::workspace::trust::look_at_trust;
use crate::app::{Failure, Hint, Workspace};
use crate::board::{Board, Claim, FlowTimes, Links};
use crate::task::{Kind, StateName, Task, TaskId, Worker};
use crate::workflow::{Meaning, Phase, ReviewMode};

use super::status::steps;

#[derive(Debug, Serialize)]
pub struct Inbox {
    pub items: Vec<InboxItem>,
    pub now: Timestamp,
}

/// One thing that a person has to decide or check.
#[derive(Debug, Clone, Serialize)]
pub struct InboxItem {
    pub kind: InboxKind,
    pub task: Option<TaskId>,
    pub title: Option<String>,
    pub state: Option<StateName>,
    pub meaning: Option<Meaning>,
    /// How long it has been waiting, if known.
    pub since: Option<Timestamp>,
    /// How many open tasks it blocks, directly or indirectly.
    pub blocks: usize,
    /// A short reason.
    pub why: String,
    pub question: Option<Question>,
    /// The possible decisions.
    pub hints: Vec<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InboxKind {
    /// An agent asked something.
    Question,
    /// A task that an agent handed to a person.
    HumanNeeded,
    /// A plan to approve or reject.
    Plan,
    /// Finished work that waits to be merged.
    Work,
    /// A merge that failed or conflicts.
    Merge,
    /// A move outside the workflow that a person should check.
    Attention,
    /// A task with a sync conflict.
    Conflict,
    /// A claim whose holder is gone.
    StaleClaim,
    /// A team that stopped because a budget is used up.
    Budget,
    /// Programs of the board that have changed since they were trusted.
    Trust,
    /// A file of the board with a problem.
    Problem,
}

impl InboxKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::HumanNeeded => "handed to you",
            Self::Plan => "plan to review",
            Self::Work => "work to review",
            Self::Merge => "merge failed",
            Self::Attention => "flagged",
            Self::Conflict => "sync conflict",
            Self::StaleClaim => "stale claim",
            Self::Budget => "team stopped",
            Self::Trust => "not trusted",
            Self::Problem => "problem",
        }
    }
}

pub fn inbox(ws: &Workspace) -> Result<Inbox, Failure> {
    let board = ws.board()?;
    let times = FlowTimes::new(&steps(&ws.journal()?));
    let links = Links::new(&board);
    let mut failed = failed_merges(ws, &board)?;
    let mut items = Vec::new();
    for (at, task) in board.tasks().iter().enumerate() {
        let claimed = board.claim(&task.id).is_some_and(|claim| claim.live);
        let found = of_task(ws, task, failed.remove(&task.id), claimed)?;
        items.extend(found.into_iter().map(|item| InboxItem {
            since: item.since.or_else(|| times.since(&task.id, &task.state).or(task.created)),
            meaning: Some(ws.flow().meaning_of(task.kind, &task.state)),
            blocks: board.freed_by(at, ws.rules(), &links),
            ..item
        }));
    }
    let me = ws.me().ok();
    let stale = board.claims().iter().filter(|(_, claim)| !claim.live && !claim.foreign);
    items.extend(stale.map(|(id, claim)| stale_claim(ws, &board, id, claim, me.as_ref())));
    items.extend(stopped(ws, &board)?);
    items.extend(changed_programs(ws));
    items.extend(ws.problems().into_iter().map(|problem| {
        let why = problem.to_string();
        let hint = Hint::Edit { file: problem.file, line: problem.line, change: problem.hint };
        of_board(InboxKind::Problem, why, vec![hint])
    }));
    items.sort_by_key(|item| (Reverse(item.blocks), item.since.is_none(), item.since, item.kind, item.task.clone()));
    Ok(Inbox { items, now: ws.now() })
}

/// An item that is about no task.
fn of_board(kind: InboxKind, why: String, hints: Vec<Hint>) -> InboxItem {
    InboxItem {
        kind,
        task: None,
        title: None,
        state: None,
        meaning: None,
        since: None,
        blocks: 0,
        why,
        question: None,
        hints,
    }
}

/// The last team, if a budget stopped it and one of its tasks is still open.
fn stopped(ws: &Workspace, board: &Board) -> Result<Option<InboxItem>, Failure> {
    let Some((mut teams, failure)) = stopped_team(ws)? else { return Ok(None) };
    teams.retain(|id| board.get(id).is_some_and(|task| !ws.flow().is_terminal(task.kind, &task.state)));
    if teams.is_empty() {
        return Ok(None);
    }
    let ids: Vec<&str> = teams.iter().map(TaskId::as_str).collect();
    let mut hints = failure.hints.clone();
    hints.push(Hint::run(&format!("team {}", ids.join(" ")), "to continue after that"));
    let why = format!("the team on {} stopped: {}", ids.join(", "), failure.message);
    Ok(Some(of_board(InboxKind::Budget, why, hints)))
}

/// Trust that has ended because a program changed. A board that was never trusted is not listed.
fn changed_programs(ws: &Workspace) -> Option<InboxItem> {
    let trust = look_at_trust(ws).ok().filter(|trust| !trust.trusted)?;
    let why = trust.changed?;
    Some(of_board(InboxKind::Trust, why, vec![Hint::Trust]))
}

/// How many tasks wait for a person. Does not read the journal or runs, so the number is only approximate.
pub fn waiting_count(ws: &Workspace, board: &Board) -> usize {
    let reviews = |task: &Task| {
        let phase = ws.flow().state(task.kind, &task.state).and_then(|state| state.phase);
        phase == Some(Phase::Review) && ws.rules().mode == ReviewMode::Interactive
    };
    let finished = |task: &Task| is_finished_work(ws, task) && !board.claim(&task.id).is_some_and(|claim| claim.live);
    let waits =
        |task: &&Task| ws.rules().needs_person(task) || task.attention.is_some() || reviews(task) || finished(task);
    board.tasks().iter().filter(waits).count()
}

/// The inbox items of one task; at most one of each kind.
fn of_task(ws: &Workspace, task: &Task, failed: Option<String>, claimed: bool) -> Result<Vec<InboxItem>, Failure> {
    let mut items = Vec::new();
    let id = &task.id;
    if ws.rules().needs_person(task) {
        items.push(for_person(ws, task)?);
    } else if let Some(why) = &task.attention {
        items
            .push(InboxItem { hints: vec![answer_hint(id, "WORDS")], ..item(InboxKind::Attention, task, why.clone()) });
    }
    let phase = ws.flow().state(task.kind, &task.state).and_then(|state| state.phase);
    if phase == Some(Phase::Review) && ws.rules().mode == ReviewMode::Interactive {
        let planned = task.artifacts.contains_key("plan") || task.parent.is_some();
        let mut hints = vec![
            Hint::run(&format!("approve {id}"), "to approve it"),
            Hint::run(&format!("reject {id} WHY"), "to reject it"),
        ];
        if planned {
            hints.insert(0, Hint::run(&format!("plan show {id}"), "to read it"));
        }
        let why = if planned { "its plan needs your approval" } else { "it needs your approval, but has no plan" };
        items.push(InboxItem { hints, ..item(InboxKind::Plan, task, why.into()) });
    }
    if failed.is_none() && !claimed && is_finished_work(ws, task) {
        let back = Hint::run(&format!("reject {id} WHY"), "to reject it");
        let (why, hints) = match has_branch(ws, id)? {
            true => (
                "its work is ready to merge",
                vec![
                    Hint::run(&format!("diff {id}"), "to see the work"),
                    Hint::run(&format!("merge {id}"), "to merge it"),
                    back,
                ],
            ),
            false => (
                "it is ready to merge, but has no branch",
                vec![Hint::run(&format!("done {id}"), "to close it, if its work is already merged"), back],
            ),
        };
        items.push(InboxItem { hints, ..item(InboxKind::Work, task, why.into()) });
    }
    if let Some(why) = failed {
        let hints = vec![
            Hint::run(&format!("diff {id}"), "to see the work"),
            Hint::run(&format!("merge {id}"), "to try again"),
        ];
        items.push(InboxItem { hints, ..item(InboxKind::Merge, task, why) });
    }
    let conflicts = if task.github.is_some() { conflicts_of(ws, id) } else { Vec::new() };
    if !conflicts.is_empty() {
        let why = format!("both sides changed {}", conflicts.join(", "));
        let hints = vec![Hint::run(&format!("sync resolve {id} --take local"), "to keep the local values")];
        items.push(InboxItem { hints, ..item(InboxKind::Conflict, task, why) });
    }
    Ok(items)
}

fn has_branch(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    Ok(ws.repository.has_branch(&place(ws, &ws.family(id)?, id)?.branch))
}

/// The item of a task that was handed to a person, with its question if there is one.
fn for_person(ws: &Workspace, task: &Task) -> Result<InboxItem, Failure> {
    let id = &task.id;
    let answer = |text: &str| answer_hint(id, text);
    let question = open_question(ws, id)?;
    let budget = if question.is_none() { task_budget(ws, id)? } else { None };
    if let Some(failure) = budget {
        let retry = Hint::run(&format!("runs retry {id}"), "to continue after that");
        let hints = failure.hints.last().cloned().into_iter().chain([retry]).collect();
        return Ok(InboxItem { hints, ..item(InboxKind::HumanNeeded, task, failure.message) });
    }
    let why = match &question {
        Some(question) => first_line(&question.text),
        None => ws.notes(id)?.last().map_or_else(|| "it was handed to a person".into(), |note| first_line(&note.text)),
    };
    let kind = if question.is_some() { InboxKind::Question } else { InboxKind::HumanNeeded };
    let stopped = || list_runs(ws, Some(id), 1).is_ok_and(|runs| runs.first().is_some_and(|run| run.to.is_some()));
    let hints = match &question {
        Some(question) if !question.options.is_empty() => {
            let is_it = |option: &String| Some(option) == question.recommend.as_ref();
            vec![answer(&(question.options.iter().position(is_it).unwrap_or(0) + 1).to_string())]
        }
        None if stopped() => {
            vec![answer("WORDS"), Hint::run(&format!("runs retry {id}"), "to let workers try it again")]
        }
        _ => vec![answer("WORDS")],
    };
    Ok(InboxItem { question, hints, ..item(kind, task, why) })
}

fn answer_hint(id: &TaskId, text: &str) -> Hint {
    Hint::run(&format!("answer {id} {text}"), "to answer it and continue the work")
}

/// Whether the task is in the state from which a merge starts.
fn is_finished_work(ws: &Workspace, task: &Task) -> bool {
    ws.rules().pending_merge(task).is_some() && task.kind == Kind::Issue
}

fn item(kind: InboxKind, task: &Task, why: String) -> InboxItem {
    InboxItem {
        kind,
        task: Some(task.id.clone()),
        title: Some(task.title.clone()),
        state: Some(task.state.clone()),
        meaning: None,
        since: None,
        blocks: 0,
        why,
        question: None,
        hints: Vec::new(),
    }
}

fn stale_claim(ws: &Workspace, board: &Board, id: &TaskId, claim: &Claim, me: Option<&Worker>) -> InboxItem {
    let task = board.get(id);
    let mine = me == Some(&claim.worker);
    InboxItem {
        kind: InboxKind::StaleClaim,
        task: Some(id.clone()),
        title: task.map(|task| task.title.clone()),
        state: task.map(|task| task.state.clone()),
        meaning: task.map(|task| ws.flow().meaning_of(task.kind, &task.state)),
        since: Some(claim.until),
        blocks: 0,
        why: if mine {
            "your claim has expired".into()
        } else {
            format!("the claim of {} expired or its process ended", claim.worker)
        },
        question: None,
        hints: match mine {
            true => vec![
                Hint::run(&format!("claim {id}"), "to claim it again"),
                Hint::run(&format!("release {id}"), "to release it"),
            ],
            false => vec![Hint::run("reap", "to release the claims of dead workers")],
        },
    }
}

/// Tasks whose last merge on this machine failed, with the reason.
fn failed_merges(ws: &Workspace, board: &Board) -> Result<HashMap<TaskId, String>, Failure> {
    let mut failed = failed_runs(ws, board)?;
    let open = |id: &TaskId| board.get(id).is_some_and(|task| !ws.flow().is_terminal(task.kind, &task.state));
    failed.extend(failed_merges::failed_merges(ws)?.into_iter().filter(|(id, _)| open(id)));
    Ok(failed)
}

fn failed_runs(ws: &Workspace, board: &Board) -> Result<HashMap<TaskId, String>, Failure> {
    // If the merge is part of an agent's own work, a failed run is not a failed merge.
    let Some(merging) = ws.flow().merging().filter(|command| command.lock.is_none()) else { return Ok(HashMap::new()) };
    let waits = |id: &TaskId| board.get(id).is_some_and(|task| merging.from.contains(&task.state));
    if !board.tasks().iter().any(|task| merging.from.contains(&task.state)) {
        return Ok(HashMap::new());
    }
    let mut last = HashMap::new();
    for run in list_runs(ws, None, usize::MAX)?.into_iter().filter(|run| waits(&run.task)) {
        last.entry(run.task.clone()).or_insert(run);
    }
    let failed = last.into_iter().filter(|(_, run)| run.command == merging.name && run.outcome.is_failure());
    Ok(failed.map(|(id, run)| (id, run.message.unwrap_or_else(|| "the merge failed".into()))).collect())
}

/// A summary of a text: its first line, or the first point of its list.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next().and_then(|line| line.strip_prefix("- ")).filter(|_| first.ends_with(':')) {
        Some(point) => format!("{first} {point}"),
        None => first.to_owned(),
    }
}

//! What a worker's word is worth: the documents and commits that its command yields are looked at before the task moves.

use super::artifact::{linked, subject};
use super::merge::refuse_unmergeable;
use super::moves::missing;
use super::worker::refuse_strays;
use super::worktree::{main_branch, place};
use super::{Code, Failure, Hint, Workspace};
use crate::agent::document::{DocumentKind, FrontMatter, Status, check, phases};
use crate::board::{Actor, Board, Refusal, Verdict};
use crate::task::TaskId;
use crate::workflow::Command;

/// Refuses a worker's end of a command that has nothing, or the wrong thing, to show. A person is believed.
pub(super) fn refuse_unproven(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    id: &TaskId,
    verdict: &Verdict,
) -> Result<(), Failure> {
    if ws.rules().role_of(&actor.worker).is_none() {
        return Ok(());
    }
    let named = verdict.command.as_deref().and_then(|name| ws.flow().command(name).ok());
    let Some(command) = named else { return Ok(()) };
    let Some(end) = End::of(command, verdict) else { return Ok(()) };
    if command.worktree {
        refuse_unbuilt(ws, board, id)?;
        refuse_strays(ws, id)?;
    }
    if command.yields_in.contains(&ws.rules().mode) {
        for kind in command.yields.iter().filter_map(|kind| kind.parse().ok()) {
            refuse_unwritten(ws, board, id, kind, end)?;
        }
    }
    Ok(())
}

/// How a command ends, where it has something to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Rejected,
}

impl End {
    fn of(command: &Command, verdict: &Verdict) -> Option<Self> {
        // The last rejection ends with a person, and is one all the same.
        if verdict.is_rejection() {
            return Some(Self::Rejected);
        }
        (command.complete.as_ref() == Some(&verdict.to) && verdict.from != verdict.to).then_some(Self::Complete)
    }
}

fn refuse_unwritten(ws: &Workspace, board: &Board, id: &TaskId, kind: DocumentKind, end: End) -> Result<(), Failure> {
    let subject = subject(ws, board, kind, id)?;
    let Some(path) = linked(board, kind, &subject) else {
        return Err(Refusal::Lacks { task: subject.task, kind: kind.to_string() }.into());
    };
    let Some(text) = ws.store.text_of(&ws.store.root().join(&path))? else {
        return Err(Failure::refused(Code::MissingArtifact, format!("the {kind} of {id}, {path}, does not exist"))
            .hint(Hint::step("restore the file, or correct the link")));
    };
    if let Some(finding) = check(kind, &text, &subject).first() {
        return Err(Failure::refused(
            Code::UnreadyDocument,
            format!("the {kind} of {id} is not complete: {path}:{finding}"),
        )
        .hint(Hint::CheckArtifact { kind: kind.to_string(), task: id.clone() }));
    }
    let status = FrontMatter::read(&text).get("status").and_then(Status::parse);
    let wanted = if end == End::Complete { Status::Approved } else { Status::NeedsIteration };
    if kind == DocumentKind::Review && status != Some(wanted) {
        let message = format!("{path} says {}, which is not where this move leads", status.map_or("", Status::as_str));
        return Err(Failure::refused(Code::OtherVerdict, message).hint(Hint::step(
            "follow the review: move the task to __COMPLETE__ if it is approved, else back to planning",
        )));
    }
    Ok(())
}

/// The work must be in the task's own worktree, on its branch, committed.
pub(super) fn refuse_unbuilt(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    if board.get(id).is_none() {
        return Err(missing(ws, board, id));
    }
    let place = place(ws, board, id)?;
    if ws.repository.worktree_at(&place.path)?.is_none_or(|there| there.missing) {
        return Err(Failure::refused(
            Code::NoWorktree,
            format!("{id} has no worktree {}", ws.store.shown(&place.path)),
        )
        .hint(Hint::Worktree { task: id.clone() }));
    }
    refuse_open_boxes(ws, board, id)?;
    refuse_unmergeable(ws, &place, &main_branch(ws))
}

/// A plan is carried out when every box of it is ticked.
fn refuse_open_boxes(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    let kind = DocumentKind::Plan;
    let subject = subject(ws, board, kind, id)?;
    let Some(path) = linked(board, kind, &subject) else { return Ok(()) };
    let text = ws.store.text_of(&ws.store.root().join(&path))?.unwrap_or_default();
    let Some(open) = phases(&text).into_iter().find(|phase| phase.done < phase.total) else { return Ok(()) };
    let message = format!("phase {} of the plan has boxes that are not ticked: {path}:{}", open.number, open.line);
    Err(Failure::refused(Code::OpenBoxes, message).hint(Hint::step("do what they say, then tick them")))
}

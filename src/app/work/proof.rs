//! Checks the documents and commits that a command must produce before its task moves.

use crate::agent::document::{DocumentKind, FrontMatter, Status, check, phases};
use crate::app::records::artifact::{linked, subject};
use crate::app::records::strays::refuse_strays;
use crate::app::repo::branch::refuse_unmergeable;
use crate::app::repo::worktree::{main_branch, place};
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Ending, Proof, Refusal};
use crate::task::TaskId;

/// Checks one piece of a worker's evidence; an error says what is wrong with it.
pub(in crate::app) fn show(ws: &Workspace, board: &Board, id: &TaskId, proof: &Proof) -> Result<(), Failure> {
    match proof {
        Proof::Merged => {
            Err(Failure::refused(Code::Unmerged, format!("{id} can only be finished by merging its branch"))
                .hint(Hint::run(&format!("merge {id}"), "to merge and close it")))
        }
        Proof::Build => {
            refuse_unbuilt(ws, board, id)?;
            refuse_strays(ws, id)
        }
        Proof::Document { kind, ending } => match kind.parse() {
            Ok(kind) => {
                refuse_unwritten(ws, board, id, kind, *ending)?;
                refuse_strays(ws, id)
            }
            // ralph knows no format for this kind of document, so only its link is required.
            Err(_) => Ok(()),
        },
    }
}

fn refuse_unwritten(
    ws: &Workspace,
    board: &Board,
    id: &TaskId,
    kind: DocumentKind,
    ending: Ending,
) -> Result<(), Failure> {
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
    let wanted = if ending == Ending::Complete { Status::Approved } else { Status::NeedsIteration };
    if kind == DocumentKind::Review && status != Some(wanted) {
        let message =
            format!("{path} has the status {}, which does not match this move", status.map_or("", Status::as_str));
        return Err(Failure::refused(Code::OtherVerdict, message).hint(Hint::step(
            "follow the review: move the task to __COMPLETE__ if it is approved, else back to planning",
        )));
    }
    Ok(())
}

/// Refuses unless the work is committed on the task's branch, in its worktree.
pub(in crate::app) fn refuse_unbuilt(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
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

/// Refuses if the plan has open checkboxes.
fn refuse_open_boxes(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    let kind = DocumentKind::Plan;
    let subject = subject(ws, board, kind, id)?;
    let Some(path) = linked(board, kind, &subject) else { return Ok(()) };
    let text = ws.store.text_of(&ws.store.root().join(&path))?.unwrap_or_default();
    let Some(open) = phases(&text).into_iter().find(|phase| phase.done < phase.total) else { return Ok(()) };
    let message = format!("phase {} of the plan has open checkboxes: {path}:{}", open.number, open.line);
    Err(Failure::refused(Code::OpenBoxes, message).hint(Hint::step("complete these items, then tick their boxes")))
}

//! One push: claims that have ended, the board, and a new claim. The remote takes all of it, or nothing.

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::git::{RefAnswer, RefUpdate};
use crate::store::{FileLock, Outgoing};
use crate::task::TaskId;

use super::exchange;
use super::outbox::Ending;

/// What travels together.
pub(super) struct Round<'a> {
    ws: &'a Workspace,
    remote: &'a str,
    /// The branch of the board: new commits, or that it has to be as it was last seen.
    branch: Option<Branch>,
    endings: Vec<Ending>,
    _holds: Vec<FileLock>,
}

struct Branch {
    update: RefUpdate,
    /// It has commits that the remote does not have.
    publishes: bool,
}

/// What came of it.
pub(super) enum Settled {
    All,
    /// The new claim alone: the remote cannot take several changes in one step.
    Claim(RefAnswer),
    /// Something was not as this clone last saw it.
    Stale,
}

impl<'a> Round<'a> {
    /// A renewal travels alone: what others have done to the board is nothing to it.
    pub fn alone(ws: &'a Workspace, remote: &'a str) -> Self {
        Self { ws, remote, branch: None, endings: Vec::new(), _holds: Vec::new() }
    }

    /// All that the remote has yet to hear. `own` is the task whose claim the caller is about to publish.
    pub fn gather(ws: &'a Workspace, remote: &'a str, own: Option<&TaskId>) -> Result<Self, Failure> {
        ws.withdraw_lost(&ws.lock()?)?;
        let publishes = ws.exchanges().then(|| exchange::outgoing(ws, remote)).transpose()?.flatten();
        let branch = match publishes {
            Some(update) => Some(Branch { update, publishes: true }),
            None => exchange::guard(ws, remote).map(|update| Branch { update, publishes: false }),
        };
        let board_goes = branch.as_ref().is_some_and(|branch| branch.publishes)
            || (ws.exchanges() && exchange::is_published(ws, remote));
        let (mut endings, mut holds) = (Vec::new(), Vec::new());
        for outgoing in ws.store.outbox()?.into_iter().filter(|outgoing| Some(&outgoing.task) != own) {
            // A program still works on it, or somebody is just publishing it.
            if ws.store.is_held(&outgoing.task) {
                continue;
            }
            let Some(hold) = hold_once(ws, &outgoing, &endings)? else { continue };
            if let Some(ending) = ws.ending(remote, outgoing, board_goes)? {
                endings.push(ending);
                holds.extend(hold);
            }
        }
        Ok(Self { ws, remote, branch, endings, _holds: holds })
    }

    pub fn is_empty(&self) -> bool {
        self.endings.is_empty() && !self.branch.as_ref().is_some_and(|branch| branch.publishes)
    }

    pub fn push(self) -> Result<Settled, Failure> {
        self.send(None)
    }

    pub fn push_with(self, claim: RefUpdate) -> Result<Settled, Failure> {
        self.send(Some(claim))
    }

    fn send(self, claim: Option<RefUpdate>) -> Result<Settled, Failure> {
        let mut updates: Vec<RefUpdate> = self.branch.iter().map(|branch| branch.update.clone()).collect();
        updates.extend(self.endings.iter().map(|ending| ending.update.clone()));
        updates.extend(claim.clone());
        let answers = self.ws.repository.push_refs(self.remote, &updates)?;
        let is_done = |answer: &RefAnswer| matches!(answer, RefAnswer::Done | RefAnswer::Same);
        let (of_branch, rest) = answers.split_at(usize::from(self.branch.is_some()));
        for (ending, _) in self.endings.iter().zip(rest).filter(|(_, answer)| is_done(answer)) {
            self.ws.note_ended(ending)?;
        }
        if let Some(RefAnswer::Denied(reason)) = of_branch.first() {
            // Claims go on without the board.
            self.ws.keep_board_back(&format!("{} rejected the push of the board: {reason}", self.remote));
            return Ok(Settled::Stale);
        }
        if let Some(RefAnswer::Denied(reason)) = rest.iter().find(|answer| matches!(answer, RefAnswer::Denied(_))) {
            return Err(denied(self.remote, reason));
        }
        Ok(match (answers.iter().all(is_done), claim.is_some(), answers.last()) {
            (true, true, Some(RefAnswer::Same)) => Settled::Stale,
            (true, ..) => Settled::All,
            (false, true, Some(RefAnswer::Done)) => Settled::Claim(RefAnswer::Done),
            _ => Settled::Stale,
        })
    }
}

/// The lock under which a task's claim is changed on the remote, once for all that is outgoing of it. `None` where somebody else has it.
fn hold_once(ws: &Workspace, outgoing: &Outgoing, endings: &[Ending]) -> Result<Option<Option<FileLock>>, Failure> {
    if endings.iter().any(|ending| ending.outgoing.task == outgoing.task) {
        return Ok(None);
    }
    Ok(ws.store.try_hold_remote(&outgoing.task)?.map(Some))
}

fn denied(remote: &str, reason: &str) -> Failure {
    let message = format!("{remote} rejected the push: {reason}");
    Failure::new(FailureKind::Offline, Code::Denied, message)
        .hint(Hint::step("check your permissions there, and the hooks of that repository"))
}

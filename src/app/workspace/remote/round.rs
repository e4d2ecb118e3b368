//! One atomic push: ended claims, the board, and a new claim.

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::git::{RefAnswer, RefUpdate};
use crate::store::{FileLock, Outgoing};
use crate::task::TaskId;

use super::exchange;
use super::outbox::Ending;

/// The contents of one push.
pub(super) struct Round<'a> {
    ws: &'a Workspace,
    remote: &'a str,
    /// The branch of the board: new commits, or only the condition that it has not changed since the last fetch.
    branch: Option<Branch>,
    endings: Vec<Ending>,
    _holds: Vec<FileLock>,
}

struct Branch {
    update: RefUpdate,
    /// This clone has commits that the remote does not have.
    publishes: bool,
}

/// The result of a push.
pub(super) enum Settled {
    All,
    /// Only the new claim was accepted or refused: this remote cannot push atomically.
    Claim(RefAnswer),
    /// Something on the remote has changed since this clone last fetched.
    Stale,
}

impl<'a> Round<'a> {
    /// A push with nothing else in it, for a renewal: it does not depend on the state of the board.
    pub fn alone(ws: &'a Workspace, remote: &'a str) -> Self {
        Self { ws, remote, branch: None, endings: Vec::new(), _holds: Vec::new() }
    }

    /// Everything that is outgoing. `own` is the task whose claim the caller is about to publish.
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
            // A program is still running under it.
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
            // Claims are still exchanged, without the board.
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

/// Takes the lock for changing a task's claim on the remote, once per task. `None` if another process has it, or if it is already
/// taken.
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

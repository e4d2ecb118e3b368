//! The outbox: claims that ended here and are still on the remote, and pushes whose outcome is unknown.

use crate::app::{Failure, Workspace};
use crate::board::Claim;
use crate::git::RefUpdate;
use crate::store::{Outgoing, Why};
use crate::task::TaskId;

use super::entry::ClaimEntry;
use super::exchange;
use super::round::{Round, Settled};

/// How long a push with an unknown outcome may still take effect, in seconds: a hook of the server may be slow.
const LATEST: u64 = 24 * 60 * 60;
const TRIES: usize = 5;

/// A change on the remote that the outbox asks for.
pub(super) struct Ending {
    pub outgoing: Outgoing,
    pub update: RefUpdate,
    /// The object that says that the task was moved, if the board is not in the same push.
    told: Option<String>,
}

impl Workspace {
    /// Sends the outbox, together with the board if this command exchanges it.
    pub(super) fn send_outbox(&self) -> Result<(), Failure> {
        match self.store.outbox()?.is_empty() {
            true => Ok(()),
            false => self.send_all(),
        }
    }

    /// The same, but also sends the board if no claim has ended.
    pub(super) fn send_all(&self) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote() else { return Ok(()) };
        if self.waits_for_a_push()? {
            self.look()?;
        }
        for _ in 0..TRIES {
            let round = Round::gather(self, remote, None)?;
            if round.is_empty() {
                return Ok(());
            }
            match round.push()? {
                Settled::All => return Ok(()),
                Settled::Stale | Settled::Claim(_) => self.look()?,
            }
        }
        Ok(())
    }

    /// Whether the outcome of a push is unknown, and the last fetch was too early to show it.
    fn waits_for_a_push(&self) -> Result<bool, Failure> {
        let sightings = self.store.sightings();
        let now = self.ticks().as_secs();
        let waits =
            |outgoing: &Outgoing| outgoing.note.why == Why::Unsettled && !self.is_being_published(&outgoing.task);
        Ok(!self.fresh.get()
            && self.store.outbox()?.iter().any(waits)
            && now.saturating_sub(sightings.last / 1000) >= 2)
    }

    fn is_being_published(&self, id: &TaskId) -> bool {
        self.store.try_hold_remote(id).is_ok_and(|hold| hold.is_none())
    }

    /// The change that an entry needs now; `None` if it needs none, or none yet.
    pub(super) fn ending(&self, remote: &str, outgoing: Outgoing, board_goes: bool) -> Result<Option<Ending>, Failure> {
        let there = self.object_of(remote, &outgoing.task)?;
        let is_there = there.as_ref() == Some(&outgoing.object);
        let take_away = |outgoing: Outgoing| {
            let update = RefUpdate::claim(outgoing.task.as_str(), Some(outgoing.object.clone()), None);
            Ok(Some(Ending { outgoing, update, told: None }))
        };
        match (outgoing.note.why, is_there) {
            (Why::Unsettled | Why::GivenUp, true) => take_away(outgoing),
            (Why::Unsettled, false) if self.ticks().as_secs().saturating_sub(outgoing.note.since) < LATEST => Ok(None),
            (Why::Moved, true) if board_goes => take_away(outgoing),
            (Why::Moved, true) => self.tell_moved(outgoing, there).map(Some),
            (Why::Told, true) => match &outgoing.note.line {
                Some(line) if !exchange::upstream_has(self, remote, line)? && !board_goes => Ok(None),
                _ => take_away(outgoing),
            },
            // It is kept until a look shows whether the claim was lost.
            (Why::Moved, false) if !self.has_looked_since(outgoing.note.looks) => Ok(None),
            (_, false) => {
                self.store.drop_from_outbox(&outgoing.task, &outgoing.object)?;
                Ok(None)
            }
        }
    }

    /// Replaces the claim with a note that the task was moved: other machines leave it alone until they have that move.
    fn tell_moved(&self, outgoing: Outgoing, expected: Option<String>) -> Result<Ending, Failure> {
        let line = outgoing.note.line.clone().unwrap_or_default();
        let entry = ClaimEntry::moved(self.me()?, crate::os::process::host_name(), self.now(), line);
        let object = self.repository.object_of(&entry.text())?;
        let update = RefUpdate::claim(outgoing.task.as_str(), expected, Some(object.clone()));
        Ok(Ending { outgoing, update, told: Some(object) })
    }

    /// The remote has accepted the change.
    pub(super) fn note_ended(&self, ending: &Ending) -> Result<(), Failure> {
        let Outgoing { task, object, note } = &ending.outgoing;
        if let Some(told) = &ending.told {
            self.put_out(task, told.clone(), Why::Told, note.line.clone())?;
        }
        Ok(self.store.drop_from_outbox(task, object)?)
    }

    /// The claim of another clone on a task, even if this clone has one, too.
    pub(super) fn others_claim(&self, remote: &str, id: &TaskId) -> Result<Option<Claim>, Failure> {
        let sightings = self.store.sightings();
        let Some(seen) = self.seen(remote)?.remove(id).filter(|seen| seen.entry.moved.is_none()) else {
            return Ok(None);
        };
        let left = self.left_of(&sightings, &seen.object, &seen.entry);
        Ok(Some(seen.entry.claim(seen.object, self.now(), left)))
    }
}

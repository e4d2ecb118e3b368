//! The steps before and after every change of the board: lock, permission and commit.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::workspace::board_files::BoardFiles;
use crate::app::{Failure, Workspace};
use crate::board::{Actor, Claim, Op, Refusal};
use crate::store::merge::Side;
use crate::store::{BoardLock, Committed};
use crate::task::TaskId;

impl Workspace {
    /// Locks the board. A process that died while it updated main may have left only a part of the new board; that
    /// update is completed first.
    pub(in crate::app) fn lock(&self) -> Result<BoardLock, Failure> {
        let held = || self.actor().is_ok_and(|actor| actor.is_held(self.rules()));
        if self.unusable || (!self.setup.is_empty() && held()) {
            self.refuse_broken_setup()?;
        }
        self.lock_to_repair()
    }

    /// Like `lock`, for commands that correct the settings.
    pub(in crate::app) fn lock_to_repair(&self) -> Result<BoardLock, Failure> {
        let lock = self.store.lock()?;
        if self.repository.needs_care() {
            // If a person saved a file in the meantime, that version wins.
            self.repository.complete(&BoardFiles::taking(Some(Side::Ours)))?;
        }
        Ok(lock)
    }

    /// Refuses changes by agents and automatic reactions while the settings or the workflow are broken.
    pub(in crate::app) fn refuse_broken_setup(&self) -> Result<(), Failure> {
        self.setup.first().map_or(Ok(()), |problem| Err(problem.clone().into()))
    }

    /// Refuses agents, whatever worker name they give: only people can do this.
    pub(in crate::app) fn refuse_programs(&self, what: &'static str) -> Result<(), Failure> {
        let actor = self.actor()?;
        match actor.is_held(self.rules()) {
            true => Err(Refusal::PeopleOnly { worker: actor.worker, what }.into()),
            false => Ok(()),
        }
    }

    pub(in crate::app) fn commit(&self, lock: &BoardLock, op: Op) -> Result<Committed, Failure> {
        self.commit_as(lock, op, &self.actor()?)
    }

    pub(in crate::app) fn commit_as(&self, lock: &BoardLock, op: Op, actor: &Actor) -> Result<Committed, Failure> {
        let committed = self.commit_part(lock, op, actor)?;
        self.commit_to_git(lock);
        Ok(committed)
    }

    /// Commits the board to git after a verb, if the settings say so.
    pub(in crate::app) fn commit_to_git(&self, lock: &BoardLock) {
        if self.settings.text("git.commit") == "each" {
            // The verb is already done, so a failed git commit is only reported.
            if let Err(failure) = crate::app::workspace::git_commit::commit_board(self, lock, None) {
                self.notice(format!("the board was not committed: {}", failure.message));
            }
        }
    }

    /// Commits one of several writes of a single command; `commit_to_git` follows after the last one.
    pub(in crate::app) fn commit_part(&self, lock: &BoardLock, op: Op, actor: &Actor) -> Result<Committed, Failure> {
        let touched: BTreeSet<TaskId> = op.changes.iter().map(|change| change.task().clone()).collect();
        let claims = self.claims()?;
        refuse_lost(actor, &claims, &touched)?;
        let committed = self.store.commit(lock, op, &actor.worker, self.now(), &mut self.rng())?;
        self.own_lines.borrow_mut().push(committed.id.clone());
        // Reports problems of the changed files, but not for commands that change many.
        for file in touched.iter().take(3).filter_map(|id| self.store.load(id).ok()) {
            self.problems.borrow_mut().extend(file.task.problems);
        }
        // Any command of the holder renews its leases.
        for (id, claim) in
            claims.into_iter().filter(|(id, claim)| touched.contains(id) && claim.live && claim.is_of(&actor.worker))
        {
            // The renewal of a claim on a remote has to be published; the end of the command does that.
            if claim.remote.is_some() {
                self.touched.borrow_mut().insert(id);
                continue;
            }
            let until = self.now().checked_add(self.lease()).unwrap_or(claim.until);
            self.store.write_claim(&id, &Claim { until, ..claim })?;
        }
        Ok(committed)
    }
}

/// Refuses a worker whose claim on a touched task is no longer valid.
fn refuse_lost(actor: &Actor, claims: &BTreeMap<TaskId, Claim>, touched: &BTreeSet<TaskId>) -> Result<(), Failure> {
    for id in touched {
        let Some(proof) = actor.proof_for(id) else { continue };
        if !claims.get(id).is_some_and(|claim| claim.live && claim.proof(id) == proof) {
            return Err(Refusal::Lost { task: id.clone() }.into());
        }
    }
    Ok(())
}

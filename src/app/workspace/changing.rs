//! The steps before and after every change of the board: lock, permission and commit.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::workspace::board_files::BoardFiles;
use crate::app::{Failure, Workspace};
use crate::board::{Actor, Claim, Op, Refusal};
use crate::store::merge::Side;
use crate::store::{BoardLock, Committed};
use crate::task::TaskId;

impl Workspace {
    /// The board's lock. A process that died while it brought main forward may have left half of the board the new one, and
    /// nothing may build on that: it is completed first.
    pub(in crate::app) fn lock(&self) -> Result<BoardLock, Failure> {
        let held = || self.actor().is_ok_and(|actor| actor.is_held(self.rules()));
        if self.unusable || (!self.setup.is_empty() && held()) {
            self.refuse_broken_setup()?;
        }
        self.lock_to_repair()
    }

    /// The same for what corrects the settings.
    pub(in crate::app) fn lock_to_repair(&self) -> Result<BoardLock, Failure> {
        let lock = self.store.lock()?;
        if self.repository.needs_care() {
            // A save by a person in between wins.
            self.repository.complete(&BoardFiles::taking(Some(Side::Ours)))?;
        }
        Ok(lock)
    }

    /// Programs, and what works by itself, change nothing by settings or a workflow that are not what their author wrote.
    pub(in crate::app) fn refuse_broken_setup(&self) -> Result<(), Failure> {
        self.setup.first().map_or(Ok(()), |problem| Err(problem.clone().into()))
    }

    /// Some things only people do, whatever name a program gives.
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

    /// After each verb, if that is set.
    pub(in crate::app) fn commit_to_git(&self, lock: &BoardLock) {
        if self.settings.text("git.commit") == "each" {
            // The verb is done; that git does not have it yet is no reason to fail.
            if let Err(failure) = crate::app::workspace::git_commit::commit_board(self, lock, None) {
                self.notice(format!("the board was not committed: {}", failure.message));
            }
        }
    }

    /// One of many writes that are one verb to a person: git has them all at the end, with `commit_to_git`.
    pub(in crate::app) fn commit_part(&self, lock: &BoardLock, op: Op, actor: &Actor) -> Result<Committed, Failure> {
        let touched: BTreeSet<TaskId> = op.changes.iter().map(|change| change.task().clone()).collect();
        let claims = self.claims()?;
        refuse_lost(actor, &claims, &touched)?;
        let committed = self.store.commit(lock, op, &actor.worker, self.now(), &mut self.rng())?;
        self.own_lines.borrow_mut().push(committed.id.clone());
        // Whoever changes a file hears what is wrong with it; a verb on many is no place to list that.
        for file in touched.iter().take(3).filter_map(|id| self.store.load(id).ok()) {
            self.problems.borrow_mut().extend(file.task.problems);
        }
        // Any command of the holder renews its leases.
        for (id, claim) in
            claims.into_iter().filter(|(id, claim)| touched.contains(id) && claim.live && claim.is_of(&actor.worker))
        {
            // One that others see is renewed where they see it.
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

/// A worker that shows a claim which is no longer its own has lost it, and does nothing more to that task.
fn refuse_lost(actor: &Actor, claims: &BTreeMap<TaskId, Claim>, touched: &BTreeSet<TaskId>) -> Result<(), Failure> {
    for id in touched {
        let Some(proof) = actor.proof_for(id) else { continue };
        if !claims.get(id).is_some_and(|claim| claim.live && claim.proof(id) == proof) {
            return Err(Refusal::Lost { task: id.clone() }.into());
        }
    }
    Ok(())
}

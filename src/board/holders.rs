//! The holders of tasks, their limits, and the state to which a task returns when its holder is gone.

use super::{Actor, Board, Change, Claim, Links, Refusal, Rules};
use crate::task::{Key, Kind, StateName, Step, Task, TaskId, Value, Worker};

/// A task that returns to the state before its lock state, because it no longer has a holder.
#[derive(Debug, Clone, PartialEq)]
pub struct Return {
    pub task: TaskId,
    pub worker: Option<Worker>,
    pub from: StateName,
    pub to: StateName,
    pub changes: Vec<Change>,
}

impl Board {
    pub fn refuse_too_many(&self, rules: &Rules, worker: &Worker) -> Result<(), Refusal> {
        let Some(role) = rules.role_of(worker) else { return Ok(()) };
        let live = || self.claims().iter().filter(|(_, claim)| claim.live);
        let own: Vec<TaskId> = live().filter(|(_, claim)| claim.is_of(worker)).map(|(id, _)| id.clone()).collect();
        if own.len() >= rules.per_worker {
            return Err(Refusal::WorkerFull { worker: worker.clone(), tasks: own });
        }
        let others = live().filter(|(_, claim)| !claim.is_of(worker) && rules.role_of(&claim.worker) == Some(role));
        let mut machines: Vec<(bool, &str, &Worker)> =
            others.map(|(_, claim)| (claim.foreign, claim.host.as_str(), &claim.worker)).collect();
        machines.sort();
        machines.dedup();
        let holders: Vec<Worker> = machines.into_iter().map(|(_, _, worker)| worker.clone()).collect();
        let limit = rules.limits.get(role).copied().unwrap_or(usize::MAX);
        if holders.len() >= limit {
            return Err(Refusal::RoleFull { role: role.to_owned(), limit, holders });
        }
        Ok(())
    }

    /// Why a worker cannot get a task in the near future, if it cannot: as many tasks are claimed under its name, or in
    /// its role, as may be, and no process holds these claims. A claim that a process holds ends with its run.
    pub fn kept_out(&self, rules: &Rules, worker: &Worker) -> Option<Refusal> {
        let refusal = self.refuse_too_many(rules, worker).err()?;
        let role = rules.role_of(worker);
        let is_held = |claim: &Claim| claim.live && claim.held && rules.role_of(&claim.worker) == role;
        (!self.claims().values().any(is_held)).then_some(refusal)
    }

    /// The changes that release a task: it leaves its lock state together with the members of its group that were locked with it,
    /// and it loses its owner.
    pub fn give_back(&self, id: &TaskId, worker: Option<&Worker>, rules: &Rules) -> Option<Return> {
        let at = self.index_of(id)?;
        let task = &self.tasks()[at];
        let state = rules.flow.state(task.kind, &task.state);
        let to = state.and_then(|state| state.release.clone()).unwrap_or_else(|| task.state.clone());
        let mut changes = Vec::new();
        if to != task.state {
            for place in std::iter::once(at).chain(self.locked_along(at, rules)) {
                let task = &self.tasks()[place];
                changes.push(Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(&to))));
            }
        }
        let owned = task.owner.is_some() && worker.is_none_or(|worker| task.owner.as_ref() == Some(worker));
        if owned && !state.is_some_and(|state| state.terminal) {
            changes.push(Change::set(id, "owner", task.value(&Key::new("owner")), None));
        }
        let worker = worker.or(task.owner.as_ref()).cloned();
        Some(Return { task: id.clone(), worker, from: task.state.clone(), to, changes })
    }

    /// The other members of its group in the same lock state that have no claim of their own.
    fn locked_along(&self, at: usize, rules: &Rules) -> Vec<usize> {
        if !self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic) {
            return Vec::new();
        }
        let Ok(group) = self.group_of(at, &Links::new(self), rules) else { return Vec::new() };
        let along = |&&other: &&usize| {
            let task = &self.tasks()[other];
            other != at && task.state == self.tasks()[at].state && self.claim(&task.id).is_none()
        };
        group.members.iter().filter(along).copied().collect()
    }

    /// The claim that applies to a task: its own, or that of another member of its group which locked both.
    pub fn binding_claim(&self, at: usize) -> Option<(&TaskId, &Claim)> {
        let task = &self.tasks()[at];
        if let Some(step) = &task.step {
            let own = self.claims.get_key_value(&task.id).filter(|(_, claim)| claim.live);
            return own.or_else(|| self.claim_behind(step, task.owner.as_ref()));
        }
        let own = self.claims.get_key_value(&task.id).filter(|(_, claim)| claim.live);
        own.or_else(|| {
            let parent = self.parent_of(at).filter(|&parent| self.tasks()[parent].atomic)?;
            let mut live = self.claims.iter().filter(|(_, claim)| claim.live);
            live.find(|(id, _)| {
                let other = self.index_of(id).filter(|&other| other != at && self.parent_of(other) == Some(parent));
                other.is_some_and(|other| self.tasks()[other].state == task.state)
            })
        })
    }

    /// The claim of the step's owner on one of the step's tasks or on a member of their groups.
    fn claim_behind(&self, step: &Step, owner: Option<&Worker>) -> Option<(&TaskId, &Claim)> {
        let group = step.of.iter().flat_map(|id| {
            let at = self.index_of(id);
            let parent = at.and_then(|at| self.parent_of(at)).filter(|&parent| self.tasks()[parent].atomic);
            let claims = self.claims.iter().filter(move |(other, _)| {
                *other == id
                    || parent
                        .is_some_and(|parent| self.index_of(other).and_then(|at| self.parent_of(at)) == Some(parent))
            });
            claims.filter(|(_, claim)| claim.live)
        });
        let mut live = group;
        live.find(|(_, claim)| owner.is_some_and(|owner| claim.is_of(owner)))
    }

    /// Every task whose holder is gone: with a dead claim, or in a lock state with a worker as owner and without any claim.
    ///
    /// A person's task in a lock state is kept. One without an owner was not left by a worker, because a claim and the owner are
    /// committed together: somebody put the task there by hand, see [`Board::unowned_locks`].
    pub fn orphans(&self, rules: &Rules) -> Vec<Return> {
        let dead = self.claims().iter().filter(|(_, claim)| !claim.live);
        let mut found: Vec<Return> =
            dead.filter_map(|(id, claim)| self.give_back(id, Some(&claim.worker), rules)).collect();
        for (at, task) in self.tasks().iter().enumerate() {
            let lock = rules.flow.state(task.kind, &task.state).is_some_and(|state| state.lock);
            // A step that is over needs no worker: its team completes it.
            let over = lock && self.is_step_over(task, rules);
            if !lock || over || self.claim(&task.id).is_some() || self.binding_claim(at).is_some() {
                continue;
            }
            let returned = |back: &Return| back.changes.iter().any(|change| *change.task() == task.id);
            let workers = task.owner.as_ref().is_some_and(|owner| rules.role_of(owner).is_some());
            let left = workers || (task.owner.is_none() && task.kind == Kind::Step);
            if left && !found.iter().any(returned) {
                found.extend(self.give_back(&task.id, None, rules).filter(|back| !back.changes.is_empty()));
            }
        }
        found
    }

    /// Tasks without an owner that somebody put into a lock state outside of ralph. Lock states that a release does not leave
    /// are not counted, because reviews and releases leave tasks there without an owner.
    pub fn unowned_locks(&self, rules: &Rules) -> Vec<&TaskId> {
        let is_lock = |task: &Task| {
            rules.flow.state(task.kind, &task.state).is_some_and(|state| state.lock && state.release.is_some())
        };
        let free = |at: usize| self.claim(&self.tasks()[at].id).is_none() && self.binding_claim(at).is_none();
        let tasks = self.tasks().iter().enumerate().filter(|(_, task)| task.kind != Kind::Step && task.owner.is_none());
        tasks.filter(|(at, task)| is_lock(task) && free(*at)).map(|(_, task)| &task.id).collect()
    }

    /// The board after these returns, to choose tasks from it.
    #[must_use]
    pub fn with_returned(mut self, returned: &[Return]) -> Self {
        for back in returned {
            self.claims.remove(&back.task);
            self = self.with(&back.changes);
        }
        self
    }

    /// Refuses an agent the task, and the documents, that another worker holds. A person is not refused.
    pub fn refuse_held(&self, rules: &Rules, actor: &Actor, id: &TaskId) -> Result<(), Refusal> {
        let claim = self.claim(id).filter(|claim| claim.live && !claim.is_of(&actor.worker));
        match claim.filter(|_| actor.is_held(rules)) {
            Some(claim) => Err(Refusal::held(id, claim)),
            None => Ok(()),
        }
    }

    /// Whether a live claim applies to it, or a person owns it.
    pub fn is_kept(&self, at: usize, rules: &Rules) -> bool {
        let owner = self.tasks()[at].owner.as_ref();
        self.binding_claim(at).is_some() || owner.is_some_and(|owner| rules.role_of(owner).is_none())
    }
}

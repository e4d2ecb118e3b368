//! Who may have a task: granting a claim, and what becomes of a task whose holder is gone.

use super::{Actor, Board, Change, Claim, Links, Move, Refusal, Rules, Target};
use crate::task::{Key, Kind, StateName, Step, Task, TaskId, Value, Worker};
use crate::workflow::{Command, Intent, Sizes};

/// A claim as it is asked for.
#[derive(Debug, Clone)]
pub struct ClaimAsk<'a> {
    pub task: &'a TaskId,
    pub command: Option<&'a str>,
    /// The step of a team that it serves.
    pub step: Option<&'a TaskId>,
    /// Take it over from its holder.
    pub force: bool,
}

/// A claim that may be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub changes: Vec<Change>,
    pub command: Option<String>,
    pub state: StateName,
    /// The claim was this worker's already.
    pub renewed: bool,
}

/// A task that comes back because nobody holds it any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Return {
    pub task: TaskId,
    pub worker: Option<Worker>,
    pub from: StateName,
    pub to: StateName,
    pub changes: Vec<Change>,
}

impl Board {
    pub fn grant(&self, rules: &Rules, actor: &Actor, asked: &ClaimAsk<'_>) -> Result<Grant, Refusal> {
        let at = self.index_of(asked.task).ok_or_else(|| Refusal::Missing(asked.task.clone()))?;
        let task = &self.tasks()[at];
        let claim = self.claim(&task.id).filter(|claim| claim.live);
        let others = self.binding_claim(at).filter(|(_, claim)| !claim.is_of(&actor.worker));
        if let Some((held, claim)) = others.filter(|_| !asked.force) {
            return Err(Refusal::held(held, claim));
        }
        let mine = claim.is_some_and(|claim| claim.is_of(&actor.worker));
        if rules.flow.is_terminal(task.kind, &task.state) {
            return Err(Refusal::Finished { task: task.id.clone(), state: task.state.clone() });
        }
        if !mine {
            self.refuse_too_many(rules, &actor.worker)?;
        }
        let own = claim.filter(|_| mine);
        let command = self.claimed_for(at, rules, actor, asked, own)?;
        let renews = own.is_some_and(|own| own.command.as_deref() == command.map(|command| command.name.as_str()));
        let mut changes = match command {
            // What is in hand stays so, whatever has come to stand in its way since.
            _ if renews => Vec::new(),
            Some(command) => self.take_up(at, command, rules, actor, asked)?,
            None => self.plain_claim(task, rules),
        };
        let owner = Key::new("owner");
        let (old, new) = (task.value(&owner), Some(Value::text(&actor.worker)));
        changes
            .retain(|change| !matches!(change, Change::Set { task: of, key, .. } if *of == task.id && *key == owner));
        if old != new {
            changes.push(Change::Set { task: task.id.clone(), key: owner, old, new });
        }
        changes.extend(
            asked.step.and_then(|step| self.get(step)).into_iter().flat_map(|step| taken_up(step, actor, rules)),
        );
        let state = new_state(&changes, task);
        Ok(Grant { changes, command: command.map(|command| command.name.clone()), state, renewed: mine })
    }

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

    /// The command a claim is for: named, that of the claim being renewed, or the only one that the role leaves.
    fn claimed_for<'r>(
        &self,
        at: usize,
        rules: &'r Rules,
        actor: &Actor,
        asked: &ClaimAsk<'_>,
        own: Option<&Claim>,
    ) -> Result<Option<&'r Command>, Refusal> {
        let flow = &rules.flow;
        if let Some(name) = asked.command.or_else(|| own.and_then(|claim| claim.command.as_deref())) {
            return Ok(Some(flow.command(name)?));
        }
        let task = &self.tasks()[at];
        let Some(role) =
            rules.role_of(&actor.worker).filter(|_| task.kind != Kind::Step && !flow.commands().is_empty())
        else {
            return Ok(None);
        };
        let Some(state) = flow.state(task.kind, &task.state) else { return Ok(None) };
        let oversized = task.estimate.is_some_and(|estimate| estimate.is_oversized());
        let sized = |command: &Command| command.sizes != Sizes::Oversized || oversized;
        let fits = |command: &&Command| {
            (command.takes(state, rules.mode) && sized(command)) || command.lock.as_ref() == Some(&state.name)
        };
        let found: Vec<&Command> = flow.commands_of(role, rules.mode).filter(fits).collect();
        match found.as_slice() {
            [] => Err(Refusal::NotIntake { task: task.id.clone(), role: role.to_owned(), state: state.name.clone() }),
            [one] => Ok(Some(one)),
            many => Err(Refusal::NeedsCommand {
                task: task.id.clone(),
                choices: many.iter().map(|command| command.name.clone()).collect(),
            }),
        }
    }

    /// The move into the command's lock state, or just the check that the command could be done.
    fn take_up(
        &self,
        at: usize,
        command: &Command,
        rules: &Rules,
        actor: &Actor,
        asked: &ClaimAsk<'_>,
    ) -> Result<Vec<Change>, Refusal> {
        let task = &self.tasks()[at];
        let role = rules.role_of(&actor.worker);
        if let Some(role) = role.filter(|role| !command.is_for(role, rules.mode)) {
            let roles =
                rules.flow.roles().iter().map(|r| r.name.clone()).filter(|r| command.is_for(r, rules.mode)).collect();
            return Err(Refusal::NotYourCommand { command: command.name.clone(), role: role.to_owned(), roles });
        }
        let force = rules.insists(actor, asked.force);
        if command.lock.as_ref() == Some(&task.state) {
            return match self.unfit(at, command, rules, &Links::new(self)).filter(|_| !force) {
                Some(refusal) => Err(refusal),
                None => Ok(Vec::new()),
            };
        }
        if command.lock.is_some() {
            let asked = Move { task: &task.id, to: Target::Intent(Intent::Lock), command: Some(&command.name), force };
            return Ok(self.judge_taking(rules, actor, &asked)?.changes);
        }
        let starts = rules.flow.state(task.kind, &task.state).is_some_and(|state| command.takes(state, rules.mode));
        if !starts && !force {
            let allowed = command.from.clone();
            return Err(Refusal::NotStart {
                task: task.id.clone(),
                state: task.state.clone(),
                command: command.name.clone(),
                from: allowed,
            });
        }
        match self.unfit(at, command, rules, &Links::new(self)).filter(|_| !force) {
            Some(refusal) => Err(refusal),
            None => Ok(Vec::new()),
        }
    }

    /// A person's claim leaves the state, unless the workflow says where a claim leads.
    fn plain_claim(&self, task: &Task, rules: &Rules) -> Vec<Change> {
        let leads = rules.flow.state(task.kind, &task.state).and_then(|state| state.claim.clone());
        let state =
            leads.map(|to| Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(to))));
        state.into_iter().collect()
    }

    /// What giving a task back changes: its lock state returns, and with it the members of its group that were locked along;
    /// its owner goes.
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

    /// The other members of a group that stand in the same lock state and that nobody holds for themselves.
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

    /// Whose claim binds a task: its own, or that of another member of its group with which it was locked.
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

    /// A step is held by whoever holds one of its tasks for it.
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

    /// Every task whose holder is gone: a dead claim, or a worker's lock without any. A person's lock is theirs.
    pub fn orphans(&self, rules: &Rules) -> Vec<Return> {
        let dead = self.claims().iter().filter(|(_, claim)| !claim.live);
        let mut found: Vec<Return> =
            dead.filter_map(|(id, claim)| self.give_back(id, Some(&claim.worker), rules)).collect();
        for (at, task) in self.tasks().iter().enumerate() {
            let lock = rules.flow.state(task.kind, &task.state).is_some_and(|state| state.lock);
            // What is over needs nobody: its team completes it.
            let over = lock && self.is_step_over(task, rules);
            if !lock || over || self.claim(&task.id).is_some() || self.binding_claim(at).is_some() {
                continue;
            }
            let returned = |back: &Return| back.changes.iter().any(|change| *change.task() == task.id);
            let workers = task.owner.as_ref().is_none_or(|owner| rules.role_of(owner).is_some());
            if workers && !found.iter().any(returned) {
                found.extend(self.give_back(&task.id, None, rules).filter(|back| !back.changes.is_empty()));
            }
        }
        found
    }

    /// The board as it is once these have come back, for whoever chooses from it.
    #[must_use]
    pub fn with_returned(mut self, returned: &[Return]) -> Self {
        for back in returned {
            self.claims.remove(&back.task);
            self = self.with(&back.changes);
        }
        self
    }

    /// Held by somebody alive, or set aside by a person who owns it.
    pub fn is_kept(&self, at: usize, rules: &Rules) -> bool {
        let owner = self.tasks()[at].owner.as_ref();
        self.binding_claim(at).is_some() || owner.is_some_and(|owner| rules.role_of(owner).is_none())
    }
}

/// The step in hand, with its worker.
fn taken_up(step: &Task, actor: &Actor, rules: &Rules) -> Vec<Change> {
    let lock = rules.flow.states_of(step.kind).iter().find(|state| state.lock);
    let mut changes: Vec<Change> = lock
        .filter(|lock| lock.name != step.state)
        .map(|lock| Change::set(&step.id, "state", Some(Value::text(&step.state)), Some(Value::text(&lock.name))))
        .into_iter()
        .collect();
    let (old, new) = (step.value(&Key::new("owner")), Some(Value::text(&actor.worker)));
    if old != new {
        changes.push(Change::set(&step.id, "owner", old, new));
    }
    changes
}

fn new_state(changes: &[Change], task: &Task) -> StateName {
    let set = changes.iter().find_map(|change| match change {
        Change::Set { task: of, key, new: Some(new), .. } if *of == task.id && key.as_str() == "state" => {
            Some(StateName::new(new.to_string()))
        }
        _ => None,
    });
    set.unwrap_or_else(|| task.state.clone())
}

//! The steps of a team: what remains of the pipeline for its tasks, as tasks of kind `step`, kept up to date with the board.

use std::collections::{BTreeMap, BTreeSet};

use super::pipeline::{Unit, Want};
use crate::board::position::analysts_for;
use crate::board::{Board, Change, Links, Refusal, Roster, Rules, Scope, StepPlan, StepRef, TeamAsk};
use crate::task::{Kind, StateName, Step, TaskId, Value, Worker};
use crate::workflow::{Phase, ReviewMode};

impl Board {
    /// The steps of some teams that are not completed.
    pub fn open_steps<'b>(&'b self, teams: &'b [TaskId], rules: &'b Rules) -> impl Iterator<Item = (usize, &'b Step)> {
        self.tasks().iter().enumerate().filter_map(|(at, task)| {
            let step = task.step.as_deref().filter(|step| teams.contains(&step.team))?;
            (!rules.flow.is_terminal(task.kind, &task.state)).then_some((at, step))
        })
    }

    /// How many workers of each role would help these teams, within the limits.
    pub fn crew_for(&self, teams: &[TaskId], rules: &Rules) -> Result<Roster, Refusal> {
        let links = Links::new(self);
        let (mut to_read, mut streams, mut reviews, mut open) = (0, 0, 0, 0);
        let there = teams.iter().filter(|team| self.get(team).is_some());
        for unit in there.map(|team| self.units(team, &links, rules)).collect::<Result<Vec<_>, _>>()?.concat() {
            let phases = unit.members.iter().filter_map(|&at| self.phase_at(at, rules));
            let phases: Vec<Phase> = phases.collect();
            let Some(least) = phases.iter().min() else { continue };
            to_read += phases.iter().filter(|phase| **phase <= Phase::Research).count();
            streams += usize::from(*least <= Phase::Implement);
            reviews += usize::from(rules.mode == ReviewMode::Interactive && *least <= Phase::Review);
            open += 1;
        }
        let most = |role: &str, wanted: usize| wanted.min(rules.limits.get(role).copied().unwrap_or(0));
        Ok(Roster {
            analyst: most("analyst", analysts_for(to_read)),
            builder: most("builder", streams.min(3)),
            validator: most("validator", reviews.min(1)),
            integrator: most("integrator", open.min(1)),
        })
    }

    /// The tasks that have open steps.
    pub fn teams(&self, rules: &Rules) -> Vec<TaskId> {
        let open = self.tasks().iter().filter(|task| !rules.flow.is_terminal(task.kind, &task.state));
        let teams: BTreeSet<&TaskId> = open.filter_map(|task| Some(&task.step.as_ref()?.team)).collect();
        teams.into_iter().cloned().collect()
    }

    /// The changes that bring the steps up to date with their tasks.
    pub fn plan_steps(&self, asked: &TeamAsk, rules: &Rules) -> Result<StepPlan, Refusal> {
        let links = Links::new(self);
        let mut builder = Builder {
            board: self,
            links: &links,
            rules,
            asked,
            plan: StepPlan::default(),
            open: Vec::new(),
            turns: BTreeMap::new(),
        };
        builder.settle_open();
        let mut units = Vec::new();
        // The steps of a removed task are completed, too.
        for team in asked.teams.iter().filter(|team| self.get(team).is_some()) {
            units.extend(self.units(team, &links, rules)?);
        }
        let placed: Vec<PlacedStep> = units.iter().map(|unit| builder.place(unit)).collect();
        builder.wire(&units, &placed);
        Ok(builder.plan)
    }
}

/// The steps that a unit needs, each with the existing step for it, if there is one.
struct PlacedStep {
    wants: Vec<Want>,
    steps: Vec<Option<StepRef>>,
}

impl PlacedStep {
    fn last(&self) -> Option<&StepRef> {
        self.steps.iter().rev().flatten().next()
    }
}

struct Builder<'a> {
    board: &'a Board,
    links: &'a Links<'a>,
    rules: &'a Rules,
    asked: &'a TeamAsk,
    plan: StepPlan,
    /// The places of the steps that stay open.
    open: Vec<usize>,
    /// How many steps each role's workers were given, to give them out in turn.
    turns: BTreeMap<String, usize>,
}

impl Builder<'_> {
    /// Completes steps that are over, with their results, and returns steps without a live worker.
    fn settle_open(&mut self) {
        let everybodys = self.board.teams(self.rules);
        let steps: Vec<(usize, &Step)> = self.board.open_steps(&everybodys, self.rules).collect();
        let states = self.rules.flow.states_of(Kind::Step);
        for (at, step) in steps {
            // A step that is over is completed for every team; everything else is done for the requested teams only.
            let ours = self.asked.teams.contains(&step.team);
            let task = &self.board.tasks()[at];
            let to = |name: &StateName| {
                Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(name)))
            };
            if let Some(result) = self.board.step_result(step, self.links, self.rules) {
                self.plan.changes.extend(states.iter().find(|state| state.terminal).map(|state| to(&state.name)));
                let old = step.result.as_ref().map(Value::text);
                self.plan.changes.push(Change::set(&task.id, "result", old, Some(Value::text(result))));
                continue;
            }
            if !ours {
                continue;
            }
            let lock = states.iter().find(|state| state.name == task.state && state.lock);
            if let Some(back) =
                lock.and_then(|state| state.release.as_ref()).filter(|_| self.board.binding_claim(at).is_none())
            {
                self.plan.changes.push(to(back));
                let owner = task.owner.as_ref().map(Value::text);
                self.plan.changes.extend(owner.map(|owner| Change::set(&task.id, "owner", Some(owner), None)));
            } else if lock.is_none() && self.is_strangers(task.owner.as_ref()) {
                let owner = task.owner.as_ref().map(Value::text);
                self.plan.changes.push(Change::set(&task.id, "owner", owner, None));
            }
            self.open.push(at);
        }
    }

    /// Whether the owner is a worker outside this crew; its name may belong to another team by now.
    fn is_strangers(&self, owner: Option<&Worker>) -> bool {
        let ours = |owner: &Worker| self.asked.crew.values().flatten().any(|worker| worker == owner);
        let works = |owner: &Worker| self.rules.role_of(owner).is_some();
        !self.asked.crew.is_empty() && owner.is_some_and(|owner| works(owner) && !ours(owner))
    }

    /// The steps of a unit: existing ones, and new ones for the rest.
    fn place(&mut self, unit: &Unit) -> PlacedStep {
        let wants = self.board.wants(unit, self.links, self.rules);
        let mut steps: Vec<Option<StepRef>> = Vec::new();
        for want in &wants {
            let there = self.open.iter().find(|&&at| self.stands_for(at, unit, want));
            let later = self.asked.bough && !want.after.is_empty();
            steps.push(match there {
                Some(&at) => Some(StepRef::There(self.board.tasks()[at].id.clone())),
                None if later => None,
                None => {
                    self.plan.new.push(self.board.new_step(unit, want));
                    Some(StepRef::New(self.plan.new.len() - 1))
                }
            });
        }
        PlacedStep { wants, steps }
    }

    fn stands_for(&self, at: usize, unit: &Unit, want: &Want) -> bool {
        let Some(step) = self.board.tasks()[at].step.as_deref() else { return false };
        // If a member has left the group, the step continues with the first remaining one.
        let first = self.board.first_open(step, self.rules);
        step.team == unit.team && step.command == want.command && first.is_some_and(|first| want.of.contains(&first))
    }

    /// The blockers of steps: earlier steps of the unit, tasks that block it, and units that change the same files.
    fn wire(&mut self, units: &[Unit], placed: &[PlacedStep]) {
        let order = self.stream_order(units);
        for (number, place) in placed.iter().enumerate() {
            let outer = self.outer(units, placed, number);
            let shared = self.shared(units, placed, number, &order);
            for (want, step) in place.wants.iter().zip(&place.steps) {
                let Some(step) = step else { continue };
                let mut after: BTreeSet<StepRef> =
                    want.after.iter().filter_map(|&before| place.steps[before].clone()).collect();
                let starts = want.command == "research"
                    || (!matches!(want.command, "triage" | "split")
                        && !want.after.iter().any(|&before| place.wants[before].command == "research")
                        && after.is_empty());
                if starts {
                    after.extend(outer.iter().cloned());
                }
                if want.command == "implement" {
                    after.extend(shared.iter().cloned());
                }
                self.connect(step, after.into_iter().collect());
            }
        }
    }

    fn connect(&mut self, step: &StepRef, after: Vec<StepRef>) {
        match step {
            StepRef::New(number) => {
                let free = after.is_empty();
                let command = self.plan.new[*number].step.command.clone();
                self.plan.new[*number].after = after;
                if free {
                    self.plan.new[*number].owner = self.owner(&command);
                }
            }
            StepRef::There(id) => {
                let Some(at) = self.board.index_of(id) else { return };
                // Blockers that a person added stay, and so do completed ones; the rest is computed again.
                let stays = |id: &&TaskId| {
                    let Some(at) = self.board.index_of(id) else { return false };
                    let task = &self.board.tasks()[at];
                    let is_ours = |step: &Step| self.asked.teams.contains(&step.team) && !self.open.contains(&at);
                    let over = self.rules.flow.is_terminal(task.kind, &task.state);
                    task.step.as_ref().is_none_or(|step| over || is_ours(step))
                };
                let kept = self.board.tasks()[at].blocked_by.iter().filter(stays).cloned().map(StepRef::There);
                let mut wanted: Vec<StepRef> = kept.chain(after).collect();
                wanted.sort();
                wanted.dedup();
                let mut now: Vec<StepRef> =
                    self.board.tasks()[at].blocked_by.iter().cloned().map(StepRef::There).collect();
                now.sort();
                if wanted != now {
                    self.plan.rewired.push((id.clone(), wanted));
                }
            }
        }
    }

    /// A worker of the role that runs the command; the workers take turns.
    fn owner(&mut self, command: &str) -> Option<Worker> {
        let command = self.rules.flow.command(command).ok()?;
        let (role, crew) = self.asked.crew.iter().find(|(role, _)| command.is_for(role, self.rules.mode))?;
        let turn = self.turns.entry(role.clone()).or_default();
        *turn += 1;
        crew.get((*turn - 1) % crew.len().max(1)).cloned()
    }

    /// The last steps of the units that this unit is blocked by.
    fn outer(&self, units: &[Unit], placed: &[PlacedStep], number: usize) -> Vec<StepRef> {
        let members = &units[number].members;
        let blockers: BTreeSet<TaskId> =
            members.iter().flat_map(|&at| self.board.open_blockers(at, self.rules)).collect();
        let holds = |unit: &Unit| unit.members.iter().any(|&at| self.is_under(at, &blockers));
        let others = units.iter().enumerate().filter(|(other, unit)| *other != number && holds(unit));
        others.filter_map(|(other, _)| placed[other].last().cloned()).collect()
    }

    /// Whether a task or one of its parents is among these.
    fn is_under(&self, at: usize, ids: &BTreeSet<TaskId>) -> bool {
        let mut next = Some(at);
        let mut steps = 0;
        while let Some(here) = next.filter(|_| steps < self.board.tasks().len()) {
            if ids.contains(&self.board.tasks()[here].id) {
                return true;
            }
            next = self.board.parent_of(here);
            steps += 1;
        }
        false
    }

    /// The order in which units that change the same files are built: first those that have begun, then the others with blockers
    /// first.
    fn stream_order(&self, units: &[Unit]) -> Vec<usize> {
        let begun = |unit: &Unit| {
            let phase = unit.members.iter().filter_map(|&at| self.board.phase_at(at, self.rules)).min();
            phase.is_some_and(|phase| phase >= Phase::Implement)
                && unit.members.iter().any(|&at| {
                    let task = &self.board.tasks()[at];
                    self.rules.flow.state(task.kind, &task.state).is_some_and(|state| state.lock || state.human)
                })
        };
        let mut left: Vec<usize> = (0..units.len()).collect();
        left.sort_by_key(|&unit| (!begun(&units[unit]), unit));
        let mut order: Vec<usize> = Vec::new();
        while !left.is_empty() {
            let free = left.iter().position(|&unit| {
                let blockers: BTreeSet<TaskId> =
                    units[unit].members.iter().flat_map(|&at| self.board.open_blockers(at, self.rules)).collect();
                !left
                    .iter()
                    .any(|&other| other != unit && units[other].members.iter().any(|&at| self.is_under(at, &blockers)))
            });
            order.push(left.remove(free.unwrap_or(0)));
        }
        order
    }

    /// The last steps of the units that come before this one and whose plans change some of the same files. Units that cannot
    /// continue are left out, so that they do not block this one.
    fn shared(&self, units: &[Unit], placed: &[PlacedStep], number: usize, order: &[usize]) -> Vec<StepRef> {
        let Some(own) = self.touched(&units[number]) else { return Vec::new() };
        let before = order.iter().take_while(|&&unit| unit != number);
        let meets = |unit: &usize| {
            let goes_on = !units[*unit].members.iter().any(|&at| self.is_stuck(at, units));
            goes_on && self.touched(&units[*unit]).is_some_and(|other| other.overlap(own).is_some())
        };
        before.copied().filter(meets).filter_map(|unit| placed[unit].last().cloned()).collect()
    }

    /// Whether a person owns it or must decide, or it has a blocker outside of the teams.
    fn is_stuck(&self, at: usize, units: &[Unit]) -> bool {
        let task = &self.board.tasks()[at];
        let persons = task.owner.as_ref().is_some_and(|owner| self.rules.role_of(owner).is_none());
        let blockers: BTreeSet<TaskId> = self.board.open_blockers(at, self.rules).into_iter().collect();
        let mut ours = units.iter().flat_map(|unit| &unit.members);
        let outside = !blockers.is_empty() && !ours.any(|&at| self.is_under(at, &blockers));
        self.rules.needs_person(task) || persons || outside
    }

    fn touched(&self, unit: &Unit) -> Option<&Scope> {
        self.asked.touches.get(&self.board.tasks()[*unit.members.first()?].id)
    }
}

#[cfg(test)]
mod tests;

//! The steps of a team: what remains of the pipeline of its tasks, as tasks of their own, brought up to date with the board.

use std::collections::{BTreeMap, BTreeSet};

use super::position::analysts_for;
use super::{Board, Change, Links, Refusal, Roster, Rules};
use crate::task::{Kind, StateName, Step, Task, TaskId, Value, Worker};
use crate::workflow::{Phase, ReviewMode};

/// For whom, and how, steps are built.
#[derive(Debug, Clone, Default)]
pub struct TeamAsk {
    /// The tasks that are worked on, each a team of its own.
    pub teams: Vec<TaskId>,
    /// Only what can be done now; the rest when it comes to that.
    pub bough: bool,
    /// The workers of each role, for steps that can be taken up at once.
    pub crew: BTreeMap<String, Vec<Worker>>,
    /// The files that each task's plan touches.
    pub touches: BTreeMap<TaskId, BTreeSet<String>>,
}

/// What brings the steps up to date.
#[derive(Debug, Clone, Default)]
pub struct StepPlan {
    pub changes: Vec<Change>,
    pub new: Vec<NewStep>,
    /// Steps that wait for others than before.
    pub rewired: Vec<(TaskId, Vec<StepRef>)>,
}

impl StepPlan {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.new.is_empty() && self.rewired.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStep {
    pub title: String,
    pub step: Step,
    pub owner: Option<Worker>,
    pub after: Vec<StepRef>,
}

/// A step that is there, or the one that is made at this place of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepRef {
    There(TaskId),
    New(usize),
}

/// Tasks that go through the pipeline together: one, or an atomic group in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub team: TaskId,
    pub members: Vec<usize>,
}

/// One step that a unit still needs, and those of its own that come before it.
struct Want {
    command: &'static str,
    of: Vec<usize>,
    after: Vec<usize>,
}

impl Board {
    /// The leaves of a task's tree, as they go through the pipeline; finished ones too, where they stand alone.
    pub fn units(&self, team: &TaskId, links: &Links<'_>, rules: &Rules) -> Result<Vec<Unit>, Refusal> {
        let root = self.index_of(team).ok_or_else(|| Refusal::Missing(team.clone()))?;
        let mut units: Vec<Unit> = Vec::new();
        let mut open = vec![root];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            let children = self.issues_under(at, links);
            if !seen.insert(at) {
                continue;
            }
            if !children.is_empty() && !self.tasks()[at].atomic {
                open.extend(children.into_iter().rev());
                continue;
            }
            let members = self.group_of(at, links, rules)?.members;
            // Below an atomic parent, what is itself a parent goes its own way.
            open.extend(children.into_iter().filter(|child| !self.issues_under(*child, links).is_empty()).rev());
            if !units.iter().any(|unit| unit.members == members) {
                units.push(Unit { team: team.clone(), members });
            }
        }
        Ok(units)
    }

    fn issues_under(&self, at: usize, links: &Links<'_>) -> Vec<usize> {
        links.children(at).iter().copied().filter(|&child| self.tasks()[child].kind != Kind::Step).collect()
    }

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
        for unit in teams.iter().map(|team| self.units(team, &links, rules)).collect::<Result<Vec<_>, _>>()?.concat() {
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

    /// Everything that has come to be true of the tasks, and is not yet of their steps.
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
        for team in &asked.teams {
            units.extend(self.units(team, &links, rules)?);
        }
        let placed: Vec<Placed> = units.iter().map(|unit| builder.place(unit)).collect();
        builder.wire(&units, &placed);
        Ok(builder.plan)
    }
}

/// A unit's wants, each with the step that stands for it; none where it is not made yet.
struct Placed {
    wants: Vec<Want>,
    steps: Vec<Option<StepRef>>,
}

impl Placed {
    fn step(&self, command: &str) -> Option<&StepRef> {
        self.wants.iter().position(|want| want.command == command).and_then(|at| self.steps[at].as_ref())
    }
}

struct Builder<'a> {
    board: &'a Board,
    links: &'a Links<'a>,
    rules: &'a Rules,
    asked: &'a TeamAsk,
    plan: StepPlan,
    /// Steps that stay open, by their places.
    open: Vec<usize>,
    /// Whose turn it is, by role.
    turns: BTreeMap<String, usize>,
}

impl Builder<'_> {
    /// What is over is completed with what came of it; what nobody is at any more waits again.
    fn settle_open(&mut self) {
        let steps: Vec<(usize, &Step)> = self.board.open_steps(&self.asked.teams, self.rules).collect();
        let states = self.rules.flow.states_of(Kind::Step);
        for (at, step) in steps {
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
            let lock = states.iter().find(|state| state.name == task.state && state.lock);
            if let Some(back) =
                lock.and_then(|state| state.release.as_ref()).filter(|_| self.board.binding_claim(at).is_none())
            {
                self.plan.changes.push(to(back));
                let owner = task.owner.as_ref().map(Value::text);
                self.plan.changes.extend(owner.map(|owner| Change::set(&task.id, "owner", Some(owner), None)));
            }
            self.open.push(at);
        }
    }

    /// The steps of a unit: those that are there, and new ones for what has none.
    fn place(&mut self, unit: &Unit) -> Placed {
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
        Placed { wants, steps }
    }

    fn stands_for(&self, at: usize, unit: &Unit, want: &Want) -> bool {
        let Some(step) = self.board.tasks()[at].step.as_deref() else { return false };
        let serves = |place: &usize| step.of.contains(&self.board.tasks()[*place].id);
        step.team == unit.team && step.command == want.command && want.of.iter().any(serves)
    }

    /// Who waits for whom: within a unit, for tasks that block it, and for units that touch the same files.
    fn wire(&mut self, units: &[Unit], placed: &[Placed]) {
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
                let ours = |id: &TaskId| self.open.iter().any(|&open| self.board.tasks()[open].id == *id);
                let kept = self.board.tasks()[at].blocked_by.iter().filter(|id| !ours(id)).cloned().map(StepRef::There);
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

    /// A worker of the role that runs the command, each in turn.
    fn owner(&mut self, command: &str) -> Option<Worker> {
        let command = self.rules.flow.command(command).ok()?;
        let (role, crew) = self.asked.crew.iter().find(|(role, _)| command.is_for(role, self.rules.mode))?;
        let turn = self.turns.entry(role.clone()).or_default();
        *turn += 1;
        crew.get((*turn - 1) % crew.len().max(1)).cloned()
    }

    /// The last steps of the units that this one's tasks wait for.
    fn outer(&self, units: &[Unit], placed: &[Placed], number: usize) -> Vec<StepRef> {
        let members = &units[number].members;
        let blockers: BTreeSet<TaskId> =
            members.iter().flat_map(|&at| self.board.open_blockers(at, self.rules)).collect();
        let holds = |unit: &Unit| unit.members.iter().any(|&at| self.is_under(at, &blockers));
        let others = units.iter().enumerate().filter(|(other, unit)| *other != number && holds(unit));
        others.filter_map(|(other, _)| placed[other].steps.iter().rev().flatten().next().cloned()).collect()
    }

    /// A task or one of its parents is among these.
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

    /// Units in the order in which those that touch the same files are built: what has begun first, then as the tasks wait
    /// for each other.
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

    /// The last steps of the units before this one whose plans touch what its own touches. One that needs a person holds
    /// nobody up.
    fn shared(&self, units: &[Unit], placed: &[Placed], number: usize, order: &[usize]) -> Vec<StepRef> {
        let Some(own) = self.touched(&units[number]) else { return Vec::new() };
        let before = order.iter().take_while(|&&unit| unit != number);
        let meets = |unit: &usize| {
            let stuck = units[*unit]
                .members
                .iter()
                .any(|&at| Some(&self.board.tasks()[at].state) == self.rules.flow.escalation());
            !stuck && self.touched(&units[*unit]).is_some_and(|other| !other.is_disjoint(own))
        };
        before.copied().filter(meets).filter_map(|unit| placed[unit].step("merge").cloned()).collect()
    }

    fn touched(&self, unit: &Unit) -> Option<&BTreeSet<String>> {
        self.asked.touches.get(&self.board.tasks()[*unit.members.first()?].id)
    }
}

impl Board {
    /// The part of the pipeline that a task stands in; none for one that is over or needs a person.
    fn phase_at(&self, at: usize, rules: &Rules) -> Option<Phase> {
        let task = &self.tasks()[at];
        rules.flow.state(task.kind, &task.state)?.phase
    }

    fn is_oversized_leaf(&self, at: usize, links: &Links<'_>) -> bool {
        let large = self.tasks()[at].estimate.is_some_and(|estimate| estimate.is_oversized());
        large && self.issues_under(at, links).is_empty()
    }

    /// What a unit still has to go through.
    fn wants(&self, unit: &Unit, links: &Links<'_>, rules: &Rules) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        let mut whole = true;
        let mut least = None;
        for &at in &unit.members {
            let task = &self.tasks()[at];
            if rules.flow.is_terminal(task.kind, &task.state) {
                continue;
            }
            let Some(phase) = self.phase_at(at, rules) else {
                whole = false;
                continue;
            };
            least = Some(least.map_or(phase, |least: Phase| least.min(phase)));
            if phase <= Phase::Research && self.is_oversized_leaf(at, links) {
                wants.push(Want { command: "split", of: vec![at], after: Vec::new() });
                whole = false;
            } else if phase == Phase::Triage && rules.is_left(task, "triage") {
                whole = false;
            } else if phase <= Phase::Research {
                let triage = (phase == Phase::Triage).then(|| {
                    wants.push(Want { command: "triage", of: vec![at], after: Vec::new() });
                    wants.len() - 1
                });
                wants.push(Want { command: "research", of: vec![at], after: triage.into_iter().collect() });
            }
        }
        let Some(least) = least.filter(|_| whole) else { return wants };
        let mut after: Vec<usize> = (0..wants.len()).filter(|&at| wants[at].command == "research").collect();
        let opened = self.is_past(unit.members[0], "pr", links, rules);
        for command in together(least, rules.mode).filter(|command| *command != "pr" || !opened) {
            wants.push(Want { command, of: unit.members.clone(), after });
            after = vec![wants.len() - 1];
        }
        wants
    }

    fn new_step(&self, unit: &Unit, want: &Want) -> NewStep {
        let tasks: Vec<&Task> = want.of.iter().map(|&at| &self.tasks()[at]).collect();
        let name = |task: &Task| match &task.github {
            Some(link) => format!("GH-{}", link.number),
            None => task.id.to_string(),
        };
        let first = name(tasks[0]);
        let whom = if tasks.len() > 1 { format!("group {first}") } else { first };
        let (does, doing) = wording(want.command);
        let step = Step {
            team: unit.team.clone(),
            command: want.command.to_owned(),
            of: tasks.iter().map(|task| task.id.clone()).collect(),
            active_form: format!("{doing} {whom}"),
            round: tasks[0].rejections,
            result: None,
        };
        NewStep { title: format!("{does} {whom}: {}", tasks[0].title), step, owner: None, after: Vec::new() }
    }

    /// What came of a step, if it is over: each of its tasks has got past it, or its plan was rejected.
    fn step_result(&self, step: &Step, links: &Links<'_>, rules: &Rules) -> Option<String> {
        let there: Vec<usize> = step.of.iter().filter_map(|id| self.index_of(id)).collect();
        let Some(&first) = there.first() else { return Some("its task is gone".into()) };
        let task = &self.tasks()[first];
        let decides =
            matches!(step.command.as_str(), "review") || (step.command == "plan" && rules.mode == ReviewMode::Auto);
        if decides && task.rejections > step.round {
            return Some(format!("needs-iteration: rejection {} of {}", task.rejections, rules.max_rejections));
        }
        there.iter().all(|&at| self.is_past(at, &step.command, links, rules)).then(|| self.came_of(first, step, rules))
    }

    pub(super) fn is_step_over(&self, task: &Task, rules: &Rules) -> bool {
        task.step.as_ref().is_some_and(|step| self.step_result(step, &Links::new(self), rules).is_some())
    }

    /// Whether a task has got to where a command of the pipeline brings it, or beyond.
    pub fn is_past(&self, at: usize, command: &str, links: &Links<'_>, rules: &Rules) -> bool {
        let task = &self.tasks()[at];
        let flow = &rules.flow;
        if flow.is_terminal(task.kind, &task.state) {
            return true;
        }
        let Some(phase) = self.phase_at(at, rules) else { return false };
        let rank = |state: &StateName| flow.position(task.kind, state);
        match command {
            "triage" => phase > Phase::Triage || rules.is_left(task, command),
            "split" => !self.is_oversized_leaf(at, links),
            // Without an issue on GitHub there is nothing to open.
            "pr" => phase == Phase::Integrate && (task.github.is_none() || task.artifacts.contains_key("pr")),
            "merge" => false,
            // Its own review is part of it.
            "plan" if rules.mode == ReviewMode::Auto => phase > Phase::Review,
            other => flow
                .command(other)
                .is_ok_and(|command| command.complete.as_ref().is_some_and(|goal| rank(&task.state) >= rank(goal))),
        }
    }

    fn came_of(&self, at: usize, step: &Step, rules: &Rules) -> String {
        let task = &self.tasks()[at];
        let document = |kind: &str| task.artifacts.get(kind).cloned();
        let state = || task.state.to_string();
        match step.command.as_str() {
            "triage" if rules.is_left(task, "triage") => format!("left in {}", task.state),
            "pr" => document("pr").unwrap_or_else(|| "nothing to do: no issue on GitHub".into()),
            "research" | "plan" => document(&step.command).unwrap_or_else(state),
            "review" => document("review").map_or_else(|| "approved".into(), |path| format!("approved: {path}")),
            "split" => {
                let children = self.tasks().iter().filter(|child| child.parent.as_ref() == Some(&task.id));
                let ids: Vec<&str> =
                    children.filter(|child| child.kind != Kind::Step).map(|child| child.id.as_str()).collect();
                if ids.is_empty() { state() } else { ids.join(", ") }
            }
            _ => state(),
        }
    }
}

/// What the members of a unit go through as one, from the part of the pipeline that the last of them stands in.
fn together(least: Phase, mode: ReviewMode) -> impl Iterator<Item = &'static str> {
    let plans = least <= Phase::Plan || (mode == ReviewMode::Auto && least <= Phase::Review);
    let reviews = mode == ReviewMode::Interactive && least <= Phase::Review;
    let implements = least <= Phase::Implement;
    let all = [("plan", plans), ("review", reviews), ("implement", implements), ("pr", true), ("merge", true)];
    all.into_iter().filter(|(_, wanted)| *wanted).map(|(command, _)| command)
}

fn wording(command: &str) -> (&'static str, &'static str) {
    match command {
        "triage" => ("Triage", "Triaging"),
        "split" => ("Split", "Splitting"),
        "research" => ("Research", "Researching"),
        "plan" => ("Plan", "Planning"),
        "review" => ("Review plan of", "Reviewing the plan of"),
        "implement" => ("Implement", "Implementing"),
        "pr" => ("Create PR for", "Creating the PR of"),
        _ => ("Merge PR for", "Merging the PR of"),
    }
}

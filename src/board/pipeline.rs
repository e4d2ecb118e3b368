//! What remains of the pipeline for some tasks: who goes through it together, what each still needs, what came of a step.

use std::collections::BTreeSet;

use super::{Board, Links, NewStep, Refusal, Rules};
use crate::task::{Kind, StateName, Step, Task, TaskId};
use crate::workflow::{Phase, ReviewMode};

/// Tasks that go through the pipeline together: one, or an atomic group in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub team: TaskId,
    pub members: Vec<usize>,
}

/// One step that a unit still needs, and those of its own that come before it.
pub(super) struct Want {
    pub command: &'static str,
    pub of: Vec<usize>,
    pub after: Vec<usize>,
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
}

impl Board {
    /// The part of the pipeline that a task stands in; none for one that is over or needs a person.
    pub(super) fn phase_at(&self, at: usize, rules: &Rules) -> Option<Phase> {
        let task = &self.tasks()[at];
        rules.flow.state(task.kind, &task.state)?.phase
    }

    /// Large, or an epic: what small ones are made of, and has none yet.
    fn is_oversized_leaf(&self, at: usize, links: &Links<'_>) -> bool {
        let task = &self.tasks()[at];
        let large = task.kind == Kind::Epic || task.estimate.is_some_and(|estimate| estimate.is_oversized());
        large && self.issues_under(at, links).is_empty()
    }

    /// What a unit still has to go through.
    pub(super) fn wants(&self, unit: &Unit, links: &Links<'_>, rules: &Rules) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        let mut whole = true;
        let mut least = None;
        for &at in &unit.members {
            let task = &self.tasks()[at];
            // A parent moves with its children.
            if rules.flow.is_terminal(task.kind, &task.state) || !self.issues_under(at, links).is_empty() {
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

    pub(super) fn new_step(&self, unit: &Unit, want: &Want) -> NewStep {
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
    pub(super) fn step_result(&self, step: &Step, links: &Links<'_>, rules: &Rules) -> Option<String> {
        let there: Vec<usize> = step.of.iter().filter_map(|id| self.index_of(id)).collect();
        // A file that cannot be read is a problem, not a missing task.
        if step.of.iter().any(|id| self.broken_file(id).is_some()) {
            return None;
        }
        let Some(&first) = there.first() else { return Some("its task is gone".into()) };
        let first = self.first_open(step, rules).unwrap_or(first);
        // Who has left the group since goes its own way.
        let group = self.group_of(first, links, rules).map(|group| group.members).unwrap_or_default();
        let there = there.into_iter().filter(|at| *at == first || group.contains(at));
        let there: Vec<usize> = there.collect();
        let task = &self.tasks()[first];
        let decides =
            matches!(step.command.as_str(), "review") || (step.command == "plan" && rules.mode == ReviewMode::Auto);
        if decides && task.rejections > step.round {
            return Some(format!("needs-iteration: rejection {} of {}", task.rejections, rules.max_rejections));
        }
        there.iter().all(|&at| self.is_past(at, &step.command, links, rules)).then(|| self.came_of(first, step, rules))
    }

    /// The first of a step's tasks that is not over.
    pub(super) fn first_open(&self, step: &Step, rules: &Rules) -> Option<usize> {
        let open = |at: &usize| !rules.flow.is_terminal(self.tasks()[*at].kind, &self.tasks()[*at].state);
        step.of.iter().filter_map(|id| self.index_of(id)).find(open)
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

//! The remaining pipeline of some tasks: which tasks go through it together, the steps they still need, and the results of steps.

use std::collections::BTreeSet;

use crate::board::{Board, Links, NewStep, Refusal, Rules};
use crate::task::{Kind, StateName, Step, Task, TaskId};
use crate::workflow::{Phase, ReviewMode};

/// Tasks that go through the pipeline together: a single task, or an atomic group in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub team: TaskId,
    pub members: Vec<usize>,
}

/// One step that a unit still needs, and those of the unit's steps that must come before it.
pub(super) struct Want {
    pub command: &'static str,
    pub of: Vec<usize>,
    pub after: Vec<usize>,
}

impl Board {
    /// The leaves below a task as units of the pipeline, including finished tasks that are not in a group.
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
            // Below an atomic parent, a task with children is a unit of its own.
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
    /// The phase of a task; `None` if it is finished or was handed to a person.
    pub(in crate::board) fn phase_at(&self, at: usize, rules: &Rules) -> Option<Phase> {
        let task = &self.tasks()[at];
        rules.flow.state(task.kind, &task.state)?.phase
    }

    /// Whether the task must be split: it is large or an epic, and has no children.
    fn is_oversized_leaf(&self, at: usize, links: &Links<'_>) -> bool {
        let task = &self.tasks()[at];
        let large = task.kind == Kind::Epic || task.estimate.is_some_and(|estimate| estimate.is_oversized());
        large && self.issues_under(at, links).is_empty()
    }

    /// The steps that a unit still needs.
    pub(super) fn wants(&self, unit: &Unit, links: &Links<'_>, rules: &Rules) -> Vec<Want> {
        let has = |name: &str| rules.flow.command(name).is_ok_and(|command| !command.people);
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
            if phase <= Phase::Research && self.is_oversized_leaf(at, links) && has("split") {
                wants.push(Want { command: "split", of: vec![at], after: Vec::new() });
                whole = false;
            } else if phase == Phase::Triage && rules.is_left(task, "triage") {
                whole = false;
            } else if phase <= Phase::Research {
                let triage = (phase == Phase::Triage && has("triage")).then(|| {
                    wants.push(Want { command: "triage", of: vec![at], after: Vec::new() });
                    wants.len() - 1
                });
                if has("research") {
                    wants.push(Want { command: "research", of: vec![at], after: triage.into_iter().collect() });
                }
            }
        }
        let Some(least) = least.filter(|_| whole) else { return wants };
        // The shared steps come after the last steps of the single tasks.
        let followed = |at: &usize| wants.iter().any(|other| other.after.contains(at));
        let mut after: Vec<usize> = (0..wants.len()).filter(|at| !followed(at)).collect();
        let opened = self.is_past(unit.members[0], "pr", links, rules);
        let commands = together(least, rules.mode).filter(|command| has(command));
        for command in commands.filter(|command| *command != "pr" || !opened) {
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

    /// The result of a step, if it is over: each of its tasks is past it, or its plan was rejected.
    pub(in crate::board) fn step_result(&self, step: &Step, links: &Links<'_>, rules: &Rules) -> Option<String> {
        let there: Vec<usize> = step.of.iter().filter_map(|id| self.index_of(id)).collect();
        // A file that cannot be read is a problem, not a missing task.
        if step.of.iter().any(|id| self.broken_file(id).is_some()) {
            return None;
        }
        let Some(&first) = there.first() else { return Some("its task was removed".into()) };
        let first = self.first_open(step, rules).unwrap_or(first);
        // A task that has left the group no longer counts.
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

    /// The first of a step's tasks that is not finished.
    pub(in crate::board) fn first_open(&self, step: &Step, rules: &Rules) -> Option<usize> {
        let open = |at: &usize| !rules.flow.is_terminal(self.tasks()[*at].kind, &self.tasks()[*at].state);
        step.of.iter().filter_map(|id| self.index_of(id)).find(open)
    }

    pub(in crate::board) fn is_step_over(&self, task: &Task, rules: &Rules) -> bool {
        task.step.as_ref().is_some_and(|step| self.step_result(step, &Links::new(self), rules).is_some())
    }

    /// Whether a task is in the state that a command of the pipeline leads to, or beyond it.
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
            // A task without an issue on GitHub needs no pull request.
            "pr" => phase == Phase::Integrate && (task.github.is_none() || task.artifacts.contains_key("pr")),
            "merge" => false,
            // In this mode, the plan step includes its review.
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
            // A task without the document was moved by hand, so no worker did this step.
            "research" | "plan" if !rules.flow.is_terminal(task.kind, &task.state) => document(&step.command)
                .unwrap_or_else(|| format!("skipped: moved to {} without a document", task.state)),
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

/// The steps that the members of a unit share, from the phase of the least advanced member on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, at, id, ids, names, rules, rules_in};
    use crate::task::Estimate;

    fn units(sample: Sample, team: &str) -> Vec<String> {
        let board = sample.build();
        let units = board.units(&id(team), &Links::new(&board), &rules()).unwrap();
        assert!(units.iter().all(|unit| unit.team == id(team)));
        units.iter().map(|unit| names(&board, &unit.members).join(" ")).collect()
    }

    #[test]
    fn each_leaf_is_a_unit_and_each_group_is_one() {
        let tree = Sample::board()
            .task("top", "Backlog")
            .children("top", &[("alone", "Done"), ("group", "Backlog")])
            .atomic()
            .children("group", &[("a", "Backlog"), ("b", "Backlog"), ("nested", "Backlog"), ("over", "Done")])
            .children("nested", &[("x", "Backlog"), ("y", "Backlog")]);
        assert_eq!(units(tree.clone(), "top"), ["alone", "a b", "x", "y"]);
        assert_eq!(units(tree.clone(), "group"), ["a b", "x", "y"]);
        assert_eq!(units(tree.clone(), "b"), ["a b"]);
        assert_eq!(units(tree.step("s", "Pending", "alone", "plan", &["alone"]).parent("alone"), "alone"), ["alone"]);
    }

    #[test]
    fn the_units_of_a_ring_end_and_a_missing_team_has_none() {
        let ring = Sample::board().task("a", "Backlog").parent("b").task("b", "Backlog").parent("a");
        assert_eq!(units(ring, "a"), [""; 0]);
        let board = Sample::board().build();
        assert_eq!(board.units(&id("x"), &Links::new(&board), &rules()), Err(Refusal::Missing(id("x"))));
    }

    /// The remaining steps of the first unit of `p`, or of `a` if there is no `p`: `command task<previous step`.
    fn wants(sample: Sample, mode: ReviewMode) -> String {
        let (board, rules) = (sample.build(), rules_in(mode));
        let links = Links::new(&board);
        let team = if board.get(&id("p")).is_some() { id("p") } else { id("a") };
        let unit = board.units(&team, &links, &rules).unwrap().remove(0);
        let wants = board.wants(&unit, &links, &rules);
        let line = |want: &Want| {
            let after: Vec<String> = want.after.iter().map(|&before| format!("<{}", wants[before].command)).collect();
            format!("{} {}{}", want.command, names(&board, &want.of).join("+"), after.concat())
        };
        wants.iter().map(line).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_task_needs_the_rest_of_the_pipeline_from_where_it_stands() {
        use ReviewMode::{Auto, Interactive, Skip};
        const BUILD: &str = "implement a<plan, pr a<implement, merge a<pr";
        let from_plan = format!("plan a, {BUILD}");
        let from_research = format!("research a, plan a<research, {BUILD}");
        let whole = format!("triage a, research a<triage, plan a<research, {BUILD}");
        let reviewed = "plan a, review a<plan, implement a<review, pr a<implement, merge a<pr";
        for (state, mode, expected) in [
            ("Backlog", Skip, whole.as_str()),
            ("Research in Progress", Skip, &from_research),
            ("Ready for Plan", Skip, &from_plan),
            ("Ready for Plan", Auto, &from_plan),
            ("Ready for Plan", Interactive, reviewed),
            ("Plan in Review", Skip, "implement a, pr a<implement, merge a<pr"),
            ("Plan in Review", Auto, &from_plan),
            ("Plan in Review", Interactive, "review a, implement a<review, pr a<implement, merge a<pr"),
            ("In Progress", Auto, "implement a, pr a<implement, merge a<pr"),
            ("In Progress", Interactive, "implement a, pr a<implement, merge a<pr"),
            ("In Review", Skip, "merge a"),
            ("Done", Skip, ""),
            ("Canceled", Skip, ""),
            ("Human Needed", Skip, ""),
        ] {
            assert_eq!(wants(Sample::board().task("a", state), mode), expected, "{state} {mode:?}");
        }
        let mirrored = Sample::board().task("a", "In Review").issue(4);
        assert_eq!(wants(mirrored.clone(), Skip), "pr a, merge a<pr");
        assert_eq!(wants(mirrored.document("pr", "https://x/1"), Skip), "merge a");
    }

    #[test]
    fn a_merge_that_is_reserved_for_people_is_no_step() {
        let mut rules = rules();
        rules.flow.reserve_merging();
        let wants = |state: &str| {
            let board = Sample::board().task("a", state).build();
            let links = Links::new(&board);
            let unit = board.units(&id("a"), &links, &rules).unwrap().remove(0);
            board.wants(&unit, &links, &rules).iter().map(|want| want.command).collect::<Vec<_>>()
        };
        assert_eq!((wants("In Progress"), wants("In Review")), (vec!["implement", "pr"], vec![]));
    }

    #[test]
    fn a_large_task_needs_a_split_and_one_left_by_triage_needs_nothing() {
        let wants = |sample: Sample| wants(sample, ReviewMode::Skip);
        let task = |state: &str| Sample::board().task("a", state);
        assert_eq!(wants(task("Backlog").epic()), "split a");
        assert_eq!(wants(task("Backlog").estimate(Estimate::M)), "split a");
        assert_eq!(wants(task("Research Needed").estimate(Estimate::M)), "split a");
        assert!(wants(task("Ready for Plan").estimate(Estimate::M)).starts_with("plan a"));
        assert_eq!(wants(task("Backlog").labels(&["ralph-triage"])), "");
        assert!(wants(task("Research Needed").labels(&["ralph-triage"])).starts_with("research a"));
    }

    #[test]
    fn a_group_is_planned_only_if_every_member_can_reach_the_plan() {
        let group = |rows: &[(&str, &str)]| Sample::board().task("p", "Backlog").atomic().children("p", rows);
        let wants = |sample: Sample| wants(sample, ReviewMode::Skip);
        let rest = "implement a+b<plan, pr a+b<implement, merge a+b<pr";
        let rows = [("a", "Research Needed"), ("b", "Ready for Plan")];
        assert_eq!(wants(group(&rows)), format!("research a, plan a+b<research, {rest}"));
        let rows = [("a", "Research Needed"), ("b", "Research Needed")];
        assert_eq!(wants(group(&rows)), format!("research a, research b, plan a+b<research<research, {rest}"));
        assert_eq!(wants(group(&rows).estimate(Estimate::L)), "research a, split b");
        assert_eq!(wants(group(&[("a", "Research Needed"), ("b", "Human Needed")])), "research a");
    }

    #[test]
    fn a_step_is_titled_by_its_command_and_task() {
        let step = |sample: Sample, command: &'static str, of: &[&str]| {
            let board = sample.build();
            let of = of.iter().map(|name| at(&board, name)).collect::<Vec<_>>();
            let unit = Unit { team: id("a"), members: of.clone() };
            board.new_step(&unit, &Want { command, of, after: Vec::new() })
        };
        let tasks = || Sample::board().task("b", "Backlog").task("a", "Backlog").titled("Draw").rejections(2);
        for (command, title, active) in [
            ("triage", "Triage a: Draw", "Triaging a"),
            ("split", "Split a: Draw", "Splitting a"),
            ("research", "Research a: Draw", "Researching a"),
            ("plan", "Plan a: Draw", "Planning a"),
            ("review", "Review plan of a: Draw", "Reviewing the plan of a"),
            ("implement", "Implement a: Draw", "Implementing a"),
            ("pr", "Create PR for a: Draw", "Creating the PR of a"),
            ("merge", "Merge PR for a: Draw", "Merging the PR of a"),
        ] {
            let new = step(tasks(), command, &["a"]);
            assert_eq!((new.title.as_str(), new.step.active_form.as_str()), (title, active));
            assert_eq!((new.step.command.as_str(), new.step.round), (command, 2));
        }
        let new = step(tasks().issue(44), "plan", &["a", "b"]);
        assert_eq!((new.title.as_str(), new.step.of), ("Plan group GH-44: Draw", ids(&["a", "b"])));
    }

    /// The result of a step for `a`, if it is over.
    fn result(sample: Sample, command: &str, mode: ReviewMode) -> Option<String> {
        let board = sample.step("s", "In Progress", "a", command, &["a"]).build();
        let (rules, step) = (rules_in(mode), board.get(&id("s")).unwrap());
        let result = board.step_result(step.step.as_ref().unwrap(), &Links::new(&board), &rules);
        assert_eq!(board.is_step_over(step, &rules), result.is_some());
        result
    }

    #[test]
    fn a_step_is_over_when_its_task_has_got_past_it_and_has_what_came_of_it() {
        use ReviewMode::{Auto, Interactive, Skip};
        let task = |state: &str| Sample::board().task("a", state);
        let large = || task("Backlog").estimate(Estimate::L);
        for (sample, command, mode, expected) in [
            (task("Backlog"), "triage", Skip, None),
            (task("Research Needed"), "triage", Skip, Some("Research Needed")),
            (task("Backlog").labels(&["ralph-triage"]), "triage", Skip, Some("left in Backlog")),
            (task("Research in Progress"), "research", Skip, None),
            (task("Ready for Plan"), "research", Skip, Some("skipped: moved to Ready for Plan without a document")),
            (task("In Review").document("research", "r.md"), "research", Skip, Some("r.md")),
            (task("Plan in Progress"), "plan", Skip, None),
            (task("Plan in Review").document("plan", "p.md"), "plan", Skip, Some("p.md")),
            (task("Plan in Review"), "plan", Interactive, Some("skipped: moved to Plan in Review without a document")),
            (task("Plan in Review"), "plan", Auto, None),
            (task("In Progress"), "plan", Auto, Some("skipped: moved to In Progress without a document")),
            (task("Plan in Review"), "review", Auto, None),
            (task("In Progress"), "review", Auto, Some("approved")),
            (task("In Progress").document("review", "c.md"), "review", Auto, Some("approved: c.md")),
            (task("In Progress"), "implement", Skip, None),
            (task("In Review"), "implement", Skip, Some("In Review")),
            (task("In Progress"), "pr", Skip, None),
            (task("In Review"), "pr", Skip, Some("nothing to do: no issue on GitHub")),
            (task("In Review").issue(4), "pr", Skip, None),
            (task("In Review").issue(4).document("pr", "https://x/1"), "pr", Skip, Some("https://x/1")),
            (task("In Review"), "merge", Skip, None),
            (task("Done"), "merge", Skip, Some("Done")),
            (large(), "split", Skip, None),
            (task("Backlog").epic(), "split", Skip, None),
            (task("Backlog"), "split", Skip, Some("Backlog")),
            (large().children("a", &[("b", "Backlog"), ("c", "Done")]), "split", Skip, Some("b, c")),
            (task("Canceled"), "research", Skip, Some("Canceled")),
            (task("Human Needed"), "research", Skip, None),
            (Sample::board(), "research", Skip, Some("its task was removed")),
            (Sample::board().broken("a"), "research", Skip, None),
            (task("In Review"), "dance", Skip, None),
        ] {
            assert_eq!(result(sample.clone(), command, mode).as_deref(), expected, "{command} {mode:?} {sample:?}");
        }
    }

    #[test]
    fn a_rejection_ends_what_decides_about_a_plan() {
        use ReviewMode::{Auto, Interactive, Skip};
        let rejected = || Sample::board().task("a", "Ready for Plan").rejections(1);
        let iteration = Some("needs-iteration: rejection 1 of 3");
        for (command, mode, expected) in [
            ("review", Auto, iteration),
            ("review", Interactive, iteration),
            ("plan", Auto, iteration),
            ("plan", Interactive, None),
            ("plan", Skip, None),
            ("implement", Auto, None),
        ] {
            assert_eq!(result(rejected(), command, mode).as_deref(), expected, "{command} {mode:?}");
        }
        let again = Sample::board().task("a", "Ready for Plan");
        assert_eq!(result(again, "review", Auto), None, "the rejection before it is not its own");
    }

    #[test]
    fn the_step_of_a_group_is_over_when_all_who_are_still_in_it_are_past() {
        let over = |atomic: bool, states: [&str; 2]| {
            let parent = Sample::board().task("p", "Backlog").with(|task| task.atomic = atomic);
            let sample = parent.children("p", &[("a", states[0]), ("b", states[1])]);
            let board = sample.step("s", "In Progress", "p", "implement", &["a", "b", "gone"]).build();
            board.is_step_over(board.get(&id("s")).unwrap(), &rules())
        };
        for (atomic, states, expected) in [
            (true, ["In Review", "In Review"], true),
            (true, ["In Review", "In Progress"], false),
            (true, ["In Review", "Done"], true),
            (true, ["Done", "In Progress"], false),
            (true, ["Done", "Canceled"], true),
            (false, ["In Review", "In Progress"], true),
        ] {
            assert_eq!(over(atomic, states), expected, "{atomic} {states:?}");
        }
    }
}

//! The steps of a team: what remains of the pipeline of its tasks, as tasks of their own, brought up to date with the board.

use std::collections::{BTreeMap, BTreeSet};

use super::pipeline::{Unit, Want};
use super::position::analysts_for;
use super::{Board, Change, Links, Refusal, Roster, Rules, StepPlan, StepRef, TeamAsk};
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
        // Steps of a task that is gone are still completed.
        for team in asked.teams.iter().filter(|team| self.get(team).is_some()) {
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
    /// Steps that stay open, by their places.
    open: Vec<usize>,
    /// Whose turn it is, by role.
    turns: BTreeMap<String, usize>,
}

impl Builder<'_> {
    /// What is over is completed with what came of it; what nobody is at any more waits again.
    fn settle_open(&mut self) {
        let everybodys = self.board.teams(self.rules);
        let steps: Vec<(usize, &Step)> = self.board.open_steps(&everybodys, self.rules).collect();
        let states = self.rules.flow.states_of(Kind::Step);
        for (at, step) in steps {
            // What is over is over for every team; the rest is its own business.
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

    /// A worker that is none of the crew, whose name another team may have by now.
    fn is_strangers(&self, owner: Option<&Worker>) -> bool {
        let ours = |owner: &Worker| self.asked.crew.values().flatten().any(|worker| worker == owner);
        let works = |owner: &Worker| self.rules.role_of(owner).is_some();
        !self.asked.crew.is_empty() && owner.is_some_and(|owner| works(owner) && !ours(owner))
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
        // A member may have left the group since: the step goes on with the first that is still there.
        let first = self.board.first_open(step, self.rules);
        step.team == unit.team && step.command == want.command && first.is_some_and(|first| want.of.contains(&first))
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
                // What a person made it wait for stays, and so does what is over; the rest is worked out anew.
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
        others.filter_map(|(other, _)| placed[other].last().cloned()).collect()
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

    /// The last steps of the units before this one whose plans touch what its own touches. One that cannot go on holds
    /// nobody up.
    fn shared(&self, units: &[Unit], placed: &[Placed], number: usize, order: &[usize]) -> Vec<StepRef> {
        let Some(own) = self.touched(&units[number]) else { return Vec::new() };
        let before = order.iter().take_while(|&&unit| unit != number);
        let meets = |unit: &usize| {
            let goes_on = !units[*unit].members.iter().any(|&at| self.is_stuck(at, units));
            goes_on && self.touched(&units[*unit]).is_some_and(|other| !other.is_disjoint(own))
        };
        before.copied().filter(meets).filter_map(|unit| placed[unit].last().cloned()).collect()
    }

    /// A person is needed, or has it, or it waits for something that is none of the teams'.
    fn is_stuck(&self, at: usize, units: &[Unit]) -> bool {
        let task = &self.board.tasks()[at];
        let persons = task.owner.as_ref().is_some_and(|owner| self.rules.role_of(owner).is_none());
        let blockers: BTreeSet<TaskId> = self.board.open_blockers(at, self.rules).into_iter().collect();
        let mut ours = units.iter().flat_map(|unit| &unit.members);
        let outside = !blockers.is_empty() && !ours.any(|&at| self.is_under(at, &blockers));
        Some(&task.state) == self.rules.flow.escalation() || persons || outside
    }

    fn touched(&self, unit: &Unit) -> Option<&BTreeSet<String>> {
        self.asked.touches.get(&self.board.tasks()[*unit.members.first()?].id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::workflow::Workflow;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn task(name: &str, state: &str) -> Task {
        Task::new(id(name), name, StateName::new(state))
    }

    /// A board with its steps, which have ids in the order in which they are made.
    struct Scene {
        tasks: Vec<Task>,
        rules: Rules,
        asked: TeamAsk,
    }

    impl Scene {
        fn new(tasks: Vec<Task>, teams: &[&str], mode: ReviewMode) -> Self {
            let asked = TeamAsk { teams: teams.iter().map(|team| id(team)).collect(), ..TeamAsk::default() };
            Self { tasks, rules: Rules { mode, ..Rules::of(Workflow::builtin()) }, asked }
        }

        fn go(&mut self, name: &str, state: &str) {
            self.tasks
                .iter_mut()
                .filter(|task| task.id == id(name))
                .for_each(|task| task.state = StateName::new(state));
        }

        /// Brings the steps up to date, as the store would.
        fn restep(&mut self) {
            let board = Board::new(self.tasks.clone(), Vec::new(), Vec::new());
            let plan = board.plan_steps(&self.asked, &self.rules).unwrap();
            let count = self.tasks.iter().filter(|task| task.step.is_some()).count();
            let ids: Vec<TaskId> = (count..count + plan.new.len()).map(|number| id(&format!("s{number:02}"))).collect();
            self.tasks = plan.applied(&board, &ids, &self.rules).into_tasks();
            let board = Board::new(self.tasks.clone(), Vec::new(), Vec::new());
            assert!(board.plan_steps(&self.asked, &self.rules).unwrap().is_empty(), "once is enough");
        }

        /// Open steps as `command of < what they wait for`.
        fn open(&self) -> Vec<String> {
            let called = |id: &TaskId| {
                let step = self.tasks.iter().find(|task| task.id == *id).unwrap().step.as_ref().unwrap();
                format!("{} {}", step.command, step.of[0])
            };
            let is_open =
                |id: &&TaskId| self.tasks.iter().any(|task| task.id == **id && task.state.as_str() != "Completed");
            let steps = self.tasks.iter().filter(|task| task.step.is_some() && is_open(&&task.id));
            let line = |task: &Task| {
                let after: Vec<String> = task.blocked_by.iter().filter(is_open).map(called).collect();
                if after.is_empty() { called(&task.id) } else { format!("{} < {}", called(&task.id), after.join(", ")) }
            };
            steps.map(line).collect()
        }

        fn result(&self, command: &str) -> Vec<String> {
            let steps = self.tasks.iter().filter_map(|task| task.step.as_ref());
            steps.filter(|step| step.command == command).filter_map(|step| step.result.clone()).collect()
        }
    }

    #[test]
    fn a_task_has_the_rest_of_its_pipeline_and_nothing_twice() {
        let mut scene = Scene::new(vec![task("a", "Backlog")], &["a"], ReviewMode::Skip);
        scene.restep();
        let whole = [
            "triage a",
            "research a < triage a",
            "plan a < research a",
            "implement a < plan a",
            "pr a < implement a",
            "merge a < pr a",
        ];
        assert_eq!(scene.open(), whole);
        scene.go("a", "Plan in Review");
        scene.restep();
        assert_eq!(scene.open(), ["implement a", "pr a < implement a", "merge a < pr a"]);
        scene.go("a", "Done");
        scene.restep();
        assert!(scene.open().is_empty() && scene.tasks.len() == 7);
        assert_eq!(
            (scene.result("pr"), scene.result("merge")),
            (vec!["nothing to do: no issue on GitHub".to_owned()], vec!["Done".to_owned()])
        );
    }

    #[test]
    fn a_rejection_ends_the_review_and_makes_a_new_plan_and_review_before_the_rest() {
        let mut scene = Scene::new(vec![task("a", "Plan in Review")], &["a"], ReviewMode::Interactive);
        scene.restep();
        assert_eq!(scene.open()[..2], ["review a", "implement a < review a"]);
        scene.go("a", "Ready for Plan");
        scene.tasks[0].rejections = 1;
        scene.restep();
        assert_eq!(scene.result("review"), ["needs-iteration: rejection 1 of 3"]);
        assert_eq!(
            scene.open(),
            ["implement a < review a", "pr a < implement a", "merge a < pr a", "plan a", "review a < plan a"]
        );
    }

    #[test]
    fn work_that_a_merge_sends_back_is_implemented_again_before_it_is_merged() {
        let mut scene = Scene::new(vec![task("a", "In Review")], &["a"], ReviewMode::Skip);
        scene.restep();
        assert_eq!(scene.open(), ["merge a"]);
        scene.go("a", "In Progress");
        scene.restep();
        assert_eq!(scene.open(), ["merge a < pr a", "implement a", "pr a < implement a"]);
    }

    #[test]
    fn a_group_is_researched_by_member_and_planned_as_one() {
        let mut parent = task("p", "Backlog");
        parent.atomic = true;
        let child = |name: &str, after: &[&str]| {
            let mut child = task(name, "Research Needed");
            (child.parent, child.blocked_by) = (Some(id("p")), after.iter().map(|after| id(after)).collect());
            child
        };
        let mut scene = Scene::new(vec![parent, child("b", &[]), child("a", &["b"])], &["p"], ReviewMode::Skip);
        scene.restep();
        let wanted = [
            "research b",
            "research a",
            "plan b < research b, research a",
            "implement b < plan b",
            "pr b < implement b",
            "merge b < pr b",
        ];
        assert_eq!(scene.open(), wanted);
    }

    #[test]
    fn a_task_that_waits_for_another_begins_after_its_merge() {
        let mut second = task("b", "Backlog");
        second.blocked_by = vec![id("a")];
        let mut scene = Scene::new(vec![task("a", "In Review"), second], &["a", "b"], ReviewMode::Skip);
        scene.restep();
        assert_eq!(scene.open()[..3], ["merge a", "triage b", "research b < merge a, triage b"]);
    }

    #[test]
    fn plans_that_touch_the_same_file_wait_for_each_other_unless_one_needs_a_person() {
        let tasks = vec![task("a", "Plan in Review"), task("b", "Plan in Review"), task("c", "Plan in Review")];
        let mut scene = Scene::new(tasks, &["a", "b", "c"], ReviewMode::Skip);
        let file = |name: &str| BTreeSet::from([name.to_owned()]);
        scene.asked.touches = BTreeMap::from([(id("a"), file("x")), (id("b"), file("x")), (id("c"), file("y"))]);
        scene.restep();
        let implement = |scene: &Scene| -> Vec<String> {
            scene.open().into_iter().filter(|line| line.starts_with("implement")).collect()
        };
        assert_eq!(implement(&scene), ["implement a", "implement b < merge a", "implement c"]);
        // Who has begun comes first.
        scene.go("b", "In Progress");
        scene.restep();
        assert_eq!(implement(&scene), ["implement a < merge b", "implement b", "implement c"]);
        scene.go("b", "Human Needed");
        scene.restep();
        assert_eq!(implement(&scene), ["implement a", "implement b", "implement c"]);
    }

    #[test]
    fn a_step_whose_worker_is_gone_waits_for_another() {
        let mut scene = Scene::new(vec![task("a", "Research Needed")], &["a"], ReviewMode::Skip);
        scene.restep();
        scene.go("s00", "In Progress");
        scene.restep();
        assert_eq!(scene.tasks.iter().find(|task| task.id == id("s00")).unwrap().state.as_str(), "Pending");
    }

    #[test]
    fn a_member_that_leaves_its_group_holds_nobody_up_and_goes_its_own_way() {
        let mut parent = task("p", "Ready for Plan");
        parent.atomic = true;
        let child = |name: &str| {
            let mut child = task(name, "Ready for Plan");
            child.parent = Some(id("p"));
            child
        };
        let mut scene = Scene::new(vec![parent, child("a"), child("b")], &["p"], ReviewMode::Skip);
        scene.restep();
        assert_eq!(scene.open()[0], "plan a");
        // The group is no group any more: each goes alone, the steps that are there with the first.
        scene.tasks.iter_mut().for_each(|task| task.atomic = false);
        scene.restep();
        assert_eq!(scene.open().iter().filter(|line| line.starts_with("plan")).count(), 2, "{:?}", scene.open());
        scene.go("a", "Plan in Review");
        scene.restep();
        assert!(scene.open().contains(&"implement a".to_owned()), "{:?}", scene.open());
    }

    #[test]
    fn the_steps_of_a_task_that_is_gone_are_completed() {
        let mut scene = Scene::new(vec![task("a", "Backlog"), task("b", "Backlog")], &["a", "b"], ReviewMode::Skip);
        scene.restep();
        scene.tasks.retain(|task| task.id != id("a"));
        scene.restep();
        assert!(scene.open().iter().all(|line| line.contains(" b")), "{:?}", scene.open());
        assert!(scene.result("triage").contains(&"its task is gone".to_owned()));
    }

    #[test]
    fn a_bough_grows_one_phase_at_a_time() {
        let mut scene = Scene::new(vec![task("a", "Research Needed")], &["a"], ReviewMode::Skip);
        scene.asked.bough = true;
        scene.restep();
        assert_eq!(scene.open(), ["research a"]);
        scene.go("a", "Ready for Plan");
        scene.restep();
        assert_eq!(scene.open(), ["plan a"]);
    }

    #[test]
    fn an_epic_is_split_before_anything_else_and_a_canceled_task_needs_nothing() {
        let mut epic = task("e", "Backlog");
        epic.kind = Kind::Epic;
        let mut scene = Scene::new(vec![epic], &["e"], ReviewMode::Skip);
        scene.restep();
        assert_eq!(scene.open(), ["split e"]);
        let mut child = task("f", "Backlog");
        child.parent = Some(id("e"));
        scene.tasks.push(child);
        scene.restep();
        assert_eq!((scene.result("split"), scene.open()[0].as_str()), (vec!["f".to_owned()], "triage f"));
        scene.go("f", "Canceled");
        scene.restep();
        assert!(scene.open().is_empty(), "{:?}", scene.open());
    }
}

//! Chooses the step of a team that a worker takes next, and decides from the board how a run has ended.

use std::cmp::Reverse;

use crate::board::{Board, Links, Rules, Standings};
use crate::task::{Kind, StateName, Step, Task, TaskId, Worker};
use crate::workflow::{Command, ReviewMode};

/// A step to start, the task to claim for it, and the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepChoice {
    pub step: TaskId,
    pub task: TaskId,
    pub command: String,
}

/// The effect of a run on its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The task is in the state that the command leads to, or beyond.
    Done,
    /// The plan was rejected.
    Iterated,
    /// The task was handed to a person.
    Escalated,
    /// The task is in the same state as before.
    Unmoved,
}

impl Board {
    /// The best step of these teams for a role: by priority, then by progress, then the worker's own.
    pub fn choose_step(
        &self,
        teams: &[TaskId],
        role: &str,
        worker: &Worker,
        is_taken: &dyn Fn(&Worker) -> bool,
        is_left_out: &dyn Fn(&TaskId) -> bool,
        rules: &Rules,
    ) -> Option<StepChoice> {
        let links = Links::new(self);
        let standings = Standings::new(self, rules);
        let mut best = None;
        for (at, step) in self.open_steps(teams, rules) {
            let task = &self.tasks()[at];
            let lock = rules.flow.state(Kind::Step, &task.state).is_none_or(|state| state.lock);
            let own = task.owner.as_ref() == Some(worker);
            let others = task.owner.as_ref().is_some_and(|owner| owner != worker && is_taken(owner));
            if lock || others || standings.is_blocked(at) {
                continue;
            }
            let Some((place, command)) = self.work_of(step, role, &links, rules) else { continue };
            let issue = &self.tasks()[place];
            if is_left_out(&issue.id) {
                continue;
            }
            let priority = issue.priority.map_or(usize::MAX, |priority| priority as usize);
            let rank = rules.flow.position(issue.kind, &issue.state);
            let order = (priority, Reverse(rank), !own, issue.created.is_none(), issue.created, issue.id.clone());
            let choice = StepChoice { step: task.id.clone(), task: issue.id.clone(), command: command.name.clone() };
            if best.as_ref().is_none_or(|(other, _)| order < *other) {
                best = Some((order, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// The task of a step to work on now, and the command for it, if the role can take it.
    fn work_of<'r>(
        &self,
        step: &Step,
        role: &str,
        links: &Links<'_>,
        rules: &'r Rules,
    ) -> Option<(usize, &'r Command)> {
        let first = self.first_open(step, rules)?;
        let covers = |command: &&Command| {
            let reviews = step.command == "plan" && rules.mode == ReviewMode::Auto && command.name == "review";
            command.name == step.command || reviews
        };
        for command in rules.flow.commands_of(role, rules.mode).filter(covers) {
            let at = if command.group { self.group_of(first, links, rules).ok()?.primary() } else { first };
            let task = &self.tasks()[at];
            let takes = rules.flow.state(task.kind, &task.state).is_some_and(|state| command.takes(state, rules.mode));
            let free = task.problems.is_empty() && task.attention.is_none() && !self.is_kept(at, rules);
            let apart = self.overlap_of(at, command, rules).is_none();
            if takes && free && apart && self.unfit(at, command, rules, links).is_none() {
                return Some((at, command));
            }
        }
        None
    }

    /// How a run of a command on a task has ended, compared with the task before the run.
    pub fn ended(&self, before: &Task, command: &str, rules: &Rules) -> Ended {
        // An unreadable file proves nothing; a removed task needs no more work.
        if self.broken_file(&before.id).is_some() {
            return Ended::Unmoved;
        }
        let Some(at) = self.index_of(&before.id) else { return Ended::Done };
        let task = &self.tasks()[at];
        if rules.needs_person(task) {
            return Ended::Escalated;
        }
        let iterate = rules.flow.command(command).ok().and_then(|command| command.iterate.as_ref());
        if task.rejections > before.rejections && iterate == Some(&task.state) {
            return Ended::Iterated;
        }
        let reviewed = command == "plan"
            && self.is_at_least(task, rules.flow.command("plan").ok().and_then(|c| c.complete.as_ref()), rules);
        match reviewed || self.is_past(at, command, &Links::new(self), rules) {
            true => Ended::Done,
            false => Ended::Unmoved,
        }
    }

    fn is_at_least(&self, task: &Task, goal: Option<&StateName>, rules: &Rules) -> bool {
        let rank = |state: &StateName| rules.flow.position(task.kind, state);
        goal.is_some_and(|goal| rank(&task.state) >= rank(goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, at, id, rules, rules_in, worker};
    use crate::task::{Estimate, Priority};

    /// The next step of the teams `a` and `b` for `who`, as `step task command`; `builder-9` is another live worker.
    fn next(sample: Sample, who: &str, mode: ReviewMode) -> Option<String> {
        let (board, rules) = (sample.build(), rules_in(mode));
        let role = rules.role_of(&worker(who)).unwrap().to_owned();
        let lives = |other: &Worker| other.as_str() == "builder-9";
        let choice = board.choose_step(&[id("a"), id("b")], &role, &worker(who), &lives, &|_| false, &rules)?;
        Some(format!("{} {} {}", choice.step, choice.task, choice.command))
    }

    fn planned() -> Sample {
        Sample::board().task("a", "Ready for Plan").step("s", "Pending", "a", "plan", &["a"])
    }

    #[test]
    fn a_step_is_taken_by_its_role_when_it_is_free_and_so_is_its_task() {
        let task = |change: fn(Sample) -> Sample| {
            change(Sample::board().task("a", "Ready for Plan")).step("s", "Pending", "a", "plan", &["a"])
        };
        let step = |state: &str| Sample::board().task("a", "Ready for Plan").step("s", state, "a", "plan", &["a"]);
        let free = Some("s a plan");
        for (sample, expected) in [
            (planned(), free),
            (step("In Progress"), None),
            (step("Completed"), None),
            (step("Nowhere"), None),
            (planned().owner("builder-9"), None),
            (planned().owner("builder-8"), free),
            (planned().owner("builder"), free),
            (planned().blocked_by(&["a"]), None),
            (Sample::board().task("a", "Ready for Plan").step("s", "Pending", "elsewhere", "plan", &["a"]), None),
            (Sample::board().task("a", "Ready for Plan").step("s", "Pending", "a", "merge", &["a"]), None),
            (Sample::board().step("s", "Pending", "a", "plan", &["a"]), None),
            (task(|task| task.owner("anna")), None),
            (task(|task| task.claimed_by("builder-2")), None),
            (task(|task| task.problem("no title")), None),
            (task(|task| task.blocked_by(&["gone"])), None),
            (Sample::board().task("a", "Research Needed").step("s", "Pending", "a", "plan", &["a"]), None),
            (Sample::board().task("a", "Done").step("s", "Pending", "a", "plan", &["a"]), None),
        ] {
            assert_eq!(next(sample.clone(), "builder", ReviewMode::Skip).as_deref(), expected, "{sample:?}");
        }
        assert_eq!(next(planned(), "analyst", ReviewMode::Skip), None);
        let large = Sample::board().task("a", "Research Needed").estimate(Estimate::M);
        assert_eq!(next(large.step("s", "Pending", "a", "research", &["a"]), "analyst", ReviewMode::Skip), None);
    }

    #[test]
    fn the_step_for_a_plan_is_its_review_too_where_the_builder_reviews() {
        let reviewed = || Sample::board().task("a", "Plan in Review").step("s", "Pending", "a", "plan", &["a"]);
        assert_eq!(next(reviewed(), "builder", ReviewMode::Auto).as_deref(), Some("s a review"));
        assert_eq!(next(reviewed(), "builder", ReviewMode::Skip), None);
        assert_eq!(next(reviewed(), "validator", ReviewMode::Interactive), None);
    }

    #[test]
    fn a_step_whose_task_is_excluded_is_not_chosen() {
        let left_out = |task: &TaskId| *task == id("a");
        let got =
            planned().build().choose_step(&[id("a")], "builder", &worker("builder"), &|_| false, &left_out, &rules());
        assert_eq!(got, None);
    }

    #[test]
    fn the_step_of_a_group_is_done_on_its_first_member_that_is_open() {
        let group = |one: &str, of: &[&str]| {
            let children = [("a", one), ("b", "Ready for Plan"), ("c", "Ready for Plan")];
            Sample::board().task("p", "Backlog").atomic().children("p", &children).step("s", "Pending", "a", "plan", of)
        };
        let got = |sample| next(sample, "builder", ReviewMode::Skip);
        assert_eq!(got(group("Ready for Plan", &["b", "c"])).as_deref(), Some("s a plan"));
        assert_eq!(got(group("Done", &["a", "c"])).as_deref(), Some("s b plan"));
        let research = Sample::board()
            .task("p", "Backlog")
            .atomic()
            .children("p", &[("a", "Research Needed"), ("b", "Research Needed")])
            .step("s", "Pending", "a", "research", &["b"]);
        assert_eq!(next(research, "analyst", ReviewMode::Skip).as_deref(), Some("s b research"));
    }

    #[test]
    fn of_several_steps_priority_decides_then_progress_then_ones_own_then_age_then_id() {
        let two = |one: fn(Sample) -> Sample, other: fn(Sample) -> Sample, own: &str| {
            let sample = other(one(Sample::board().task("a", "Ready for Plan")).task("b", "Ready for Plan"));
            let sample = sample.step("sa", "Pending", "a", "plan", &["a"]).step("sb", "Pending", "b", "plan", &["b"]);
            let sample =
                sample.step("sc", "Pending", "b", "implement", &["b"]).step("sd", "Pending", "a", "implement", &["a"]);
            let mine = |task: &mut Task| {
                if task.id.as_str() == own {
                    task.owner = Some(worker("builder"));
                }
            };
            let mut tasks = sample.build().into_tasks();
            tasks.iter_mut().for_each(mine);
            let board = Board::new(tasks, Vec::new(), Vec::new());
            let teams = [id("a"), id("b")];
            board.choose_step(&teams, "builder", &worker("builder"), &|_| false, &|_| false, &rules()).unwrap().task
        };
        let plain: fn(Sample) -> Sample = |task| task;
        let further: fn(Sample) -> Sample = |task| task.with(|task| task.state = StateName::new("Plan in Review"));
        let urgent: fn(Sample) -> Sample = |task| task.priority(Priority::P3);
        for (one, other, own, expected) in [
            (plain, plain, "", "a"),
            (plain, |task: Sample| task.created(0), "", "b"),
            (|task: Sample| task.created(1), |task: Sample| task.created(0), "", "b"),
            (plain, plain, "sb", "b"),
            (|task: Sample| task.created(0), plain, "sb", "b"),
            (further, plain, "sb", "a"),
            (plain, further, "sa", "b"),
            (further, urgent, "sa", "b"),
            (|task: Sample| task.priority(Priority::P1), |task: Sample| task.priority(Priority::P0), "", "b"),
        ] {
            assert_eq!(two(one, other, own), id(expected), "{own} {expected}");
        }
    }

    #[test]
    fn of_two_steps_for_one_task_the_first_is_taken() {
        let both = planned().step("t", "Pending", "b", "plan", &["a"]);
        assert_eq!(next(both, "builder", ReviewMode::Skip).as_deref(), Some("s a plan"));
    }

    #[test]
    fn how_a_run_has_ended_is_read_from_the_board() {
        use Ended::{Done, Escalated, Iterated, Unmoved};
        use ReviewMode::{Auto, Skip};
        let task = |state: &str| Sample::board().task("a", state);
        for (before, after, command, mode, ended) in [
            (task("Research in Progress"), task("Ready for Plan"), "research", Skip, Done),
            (task("Research in Progress"), task("Plan in Review"), "research", Skip, Done),
            (task("Research in Progress"), task("Research Needed"), "research", Skip, Unmoved),
            (task("Research in Progress"), task("Human Needed"), "research", Skip, Escalated),
            (task("Research in Progress"), task("Canceled"), "research", Skip, Done),
            (task("Plan in Progress"), task("Plan in Review"), "plan", Skip, Done),
            // The plan exists; its review is a separate run.
            (task("Plan in Progress"), task("Plan in Review"), "plan", Auto, Done),
            (task("Plan in Progress"), task("Ready for Plan"), "plan", Auto, Unmoved),
            (task("Plan in Review"), task("Ready for Plan").rejections(1), "review", Auto, Iterated),
            (task("Plan in Review").rejections(1), task("Ready for Plan").rejections(1), "review", Auto, Unmoved),
            (task("Plan in Review"), task("In Progress").rejections(1), "review", Auto, Done),
            (task("Plan in Review"), task("Plan in Review"), "review", Auto, Unmoved),
            (task("In Progress"), Sample::board(), "implement", Skip, Done),
            (task("In Progress"), Sample::board().broken("a"), "implement", Skip, Unmoved),
        ] {
            let (before, after) = (before.build(), after.build());
            let got = after.ended(&before.tasks()[at(&before, "a")], command, &rules_in(mode));
            assert_eq!(got, ended, "{command} {:?}", after.tasks());
        }
    }
}

//! Which step of a team a worker takes next; and how a run of a command on a task has ended, by the board.

use std::cmp::Reverse;

use super::{Board, Links, Rules, Standings};
use crate::task::{Kind, StateName, Step, Task, TaskId, Worker};
use crate::workflow::{Command, ReviewMode};

/// A step to take up, the task that is claimed for it, and the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepChoice {
    pub step: TaskId,
    pub task: TaskId,
    pub command: String,
}

/// What a run has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The task is where the command brings it, or further.
    Done,
    /// The plan is to be made anew.
    Iterated,
    /// A person is needed.
    Escalated,
    /// The task is where it was.
    Unmoved,
}

impl Board {
    /// The best step of these teams for a role: by priority, then the further along, then one's own.
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

    /// The task that a step is done on, and the command that it needs now, if a role can take it up.
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
            let free = task.problems.is_empty() && !self.is_kept(at, rules);
            if takes && free && self.unfit(at, command, rules, links).is_none() {
                return Some((at, command));
            }
        }
        None
    }

    /// How a run of a command on a task has ended, from how the task was before.
    pub fn ended(&self, before: &Task, command: &str, rules: &Rules) -> Ended {
        // A file that cannot be read says nothing; one that is gone needs nothing more.
        if self.broken_file(&before.id).is_some() {
            return Ended::Unmoved;
        }
        let Some(at) = self.index_of(&before.id) else { return Ended::Done };
        let task = &self.tasks()[at];
        if Some(&task.state) == rules.flow.escalation() {
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

//! Choosing work: what a worker should take next, and as what.

use std::cmp::Reverse;

use super::{Board, Links, Rules, Standings};
use crate::task::{Estimate, Kind, StateName, Task, TaskId, Worker};
use crate::workflow::{Command, Sizes};

/// A task to take up, and the command to take it up for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub task: TaskId,
    /// None on a board whose workflow has no commands.
    pub command: Option<String>,
    /// The worker holds it already.
    pub resume: bool,
}

/// The command of a role for a task as it stands: the one that makes small ones of a large one, else the furthest along.
pub fn command_for<'r>(task: &Task, has_children: bool, role: &str, rules: &'r Rules) -> Option<&'r Command> {
    let state = rules.flow.state(task.kind, &task.state)?;
    let oversized = !has_children && task.estimate.is_some_and(|estimate| estimate.is_oversized());
    let fits = |command: &&Command| {
        command.takes(state, rules.mode)
            && !rules.is_left(task, &command.name)
            && match command.sizes {
                Sizes::Oversized => oversized,
                Sizes::Small => !oversized,
                Sizes::Any => true,
            }
    };
    let found: Vec<&Command> = rules.flow.commands_of(role, rules.mode).filter(fits).collect();
    let splits = found.iter().find(|command| command.sizes == Sizes::Oversized);
    splits.or_else(|| unopened(task, &found)).or(found.last()).copied()
}

/// The command that left a task where it is, where no other takes it from there; and the label that says so.
pub fn left_by<'r>(task: &Task, rules: &'r Rules) -> Option<(&'r Command, &'r str)> {
    let state = rules.flow.state(task.kind, &task.state)?;
    let left = |command: &&Command| command.takes(state, rules.mode) && rules.is_left(task, &command.name);
    let command = rules.flow.commands().iter().find(left)?;
    let taken = rules.flow.roles().iter().any(|role| command_for(task, false, &role.name, rules).is_some());
    command.stay.as_deref().filter(|_| !taken).map(|mark| (command, mark))
}

/// A mirrored task without a pull request gets one before it is merged: of two commands that start at the same place, the
/// one that ends there comes first.
fn unopened<'a, 'r>(task: &Task, found: &'a [&'r Command]) -> Option<&'a &'r Command> {
    let mirrored = task.github.is_some() && !task.artifacts.contains_key("pr");
    found.iter().find(|command| mirrored && command.complete.as_ref() == Some(&task.state))
}

impl Board {
    /// The best task for a role: what the worker holds, then by priority, then the further along, then the oldest.
    pub fn choose(&self, role: Option<&str>, worker: Option<&Worker>, rules: &Rules) -> Option<Choice> {
        self.choose_but(role, worker, &|_| false, rules)
    }

    /// The same without some.
    pub fn choose_but(
        &self,
        role: Option<&str>,
        worker: Option<&Worker>,
        is_left_out: &dyn Fn(&TaskId) -> bool,
        rules: &Rules,
    ) -> Option<Choice> {
        let links = Links::new(self);
        let standings = Standings::new(self, rules);
        let mut best: Option<(Order<'_>, Choice)> = None;
        for (at, task) in self.tasks().iter().enumerate().filter(|(_, task)| !is_left_out(&task.id)) {
            let own = worker
                .is_some_and(|worker| self.claim(&task.id).is_some_and(|claim| claim.live && claim.is_of(worker)));
            let Some(choice) = self.candidate(at, role, own, &links, &standings, rules) else { continue };
            let order = Order::of(task, own, standings.rank(at));
            if best.as_ref().is_none_or(|(other, _)| order < *other) {
                best = Some((order, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// The places of all that could be taken up in a state, the best first: what the worker has there, then what nobody has
    /// and nothing holds back. Without an estimate, a task is taken to be small.
    pub fn takeable(
        &self,
        state: &StateName,
        most: Estimate,
        worker: Option<&Worker>,
        rules: &Rules,
    ) -> Vec<(usize, bool)> {
        let (links, standings) = (Links::new(self), Standings::new(self, rules));
        let held =
            |at: usize| self.binding_claim(at).map(|(_, claim)| worker.is_some_and(|worker| claim.is_of(worker)));
        let mut found: Vec<(Order<'_>, usize)> = Vec::new();
        for (at, task) in self.tasks().iter().enumerate().filter(|(_, task)| task.state == *state) {
            let issue = task.kind != Kind::Step && task.problems.is_empty() && links.children(at).is_empty();
            let fits = issue && !standings.is_finished(at) && task.estimate.is_none_or(|size| size <= most);
            // What is in hand is gone on with, whatever has come to stand in its way since.
            let owned = || worker.is_some() && task.owner.as_ref() == worker && !standings.is_blocked(at);
            let mine = held(at).unwrap_or_else(owned);
            if fits && (mine || standings.is_ready(at)) {
                found.push((Order::of(task, mine, standings.rank(at)), at));
            }
        }
        found.sort();
        found.into_iter().map(|(order, at)| (at, !order.other)).collect()
    }

    fn candidate(
        &self,
        at: usize,
        role: Option<&str>,
        own: bool,
        links: &Links<'_>,
        standings: &Standings,
        rules: &Rules,
    ) -> Option<Choice> {
        let task = &self.tasks()[at];
        if standings.is_finished(at) || !task.problems.is_empty() || task.kind == Kind::Step {
            return None;
        }
        if own {
            let command = self.claim(&task.id)?.command.clone();
            return Some(Choice { task: task.id.clone(), command, resume: true });
        }
        // A parent moves with its children; an epic without any is still to be split.
        if !links.children(at).is_empty() || self.is_kept(at, rules) {
            return None;
        }
        let Some(role) = role else {
            let ready = standings.is_ready(at);
            return ready.then(|| Choice { task: task.id.clone(), command: None, resume: false });
        };
        let command = command_for(task, false, role, rules)?;
        // Nobody is handed work that they could not begin, nor what a person has yet to look at.
        let lacking = command.lock.is_some() && rules.lacking(task, command).is_some();
        if task.attention.is_some() || lacking {
            return None;
        }
        let unfit = standings.is_blocked(at) && !command.on_blocked;
        let grouped = command.group && self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic);
        if unfit || (grouped && self.unfit(at, command, rules, links).is_some()) {
            return None;
        }
        Some(Choice { task: task.id.clone(), command: Some(command.name.clone()), resume: false })
    }
}

/// Smaller comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order<'a> {
    other: bool,
    priority: usize,
    progress: Reverse<usize>,
    created: (bool, Option<jiff::Timestamp>),
    id: &'a TaskId,
}

impl<'a> Order<'a> {
    fn of(task: &'a Task, own: bool, rank: usize) -> Self {
        let priority = task.priority.map_or(usize::MAX, |priority| priority as usize);
        Self {
            other: !own,
            priority,
            progress: Reverse(rank),
            created: (task.created.is_none(), task.created),
            id: &task.id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Actor, Change, ClaimEffect, Goal, Request};
    use crate::task::Value;
    use crate::workflow::Workflow;

    fn board(labels: &[&str], estimate: Estimate) -> Board {
        let mut task = Task::new(TaskId::new("a").unwrap(), "A", StateName::new("Backlog"));
        task.labels = labels.iter().map(ToString::to_string).collect();
        task.estimate = Some(estimate);
        Board::new(vec![task], Vec::new(), Vec::new())
    }

    fn chosen(board: &Board) -> Option<String> {
        board.choose(Some("analyst"), None, &Rules::of(Workflow::builtin())).and_then(|choice| choice.command)
    }

    fn triaged(board: &Board, who: &str, to: &str, command: Option<&str>) -> (Vec<Change>, bool) {
        let actor = Actor::named(Worker::new(who).unwrap());
        let task = TaskId::new("a").unwrap();
        let request = Request { command, ..Request::new(&task, Goal::State(StateName::new(to))) };
        let admission = board.admit(&Rules::of(Workflow::builtin()), &actor, &request).unwrap();
        (admission.changes, admission.claim == ClaimEffect::Ended)
    }

    fn labels(old: &[&str], new: &[&str]) -> Change {
        let value = |all: &[&str]| (!all.is_empty()).then(|| Value::texts(all));
        Change::set(&TaskId::new("a").unwrap(), "labels", value(old), value(new))
    }

    #[test]
    fn what_triage_leaves_is_marked_and_not_taken_up_for_ever() {
        let fresh = board(&["bug"], Estimate::S);
        assert_eq!(chosen(&fresh).as_deref(), Some("triage"));
        let (changes, hands_off) = triaged(&fresh, "analyst", "Backlog", Some("triage"));
        assert_eq!((changes, hands_off), (vec![labels(&["bug"], &["bug", "ralph-triage"])], true));
        let left = board(&["bug", "ralph-triage"], Estimate::S);
        assert_eq!(chosen(&left), None);
        assert!(!Standings::new(&left, &Rules::of(Workflow::builtin())).is_ready(0));
        assert_eq!(chosen(&board(&["ralph-triage"], Estimate::L)).as_deref(), Some("split"), "too large is too large");
    }

    #[test]
    fn the_mark_goes_with_the_first_move() {
        let left = board(&["ralph-triage"], Estimate::S);
        for who in ["analyst", "anna"] {
            let (changes, _) = triaged(&left, who, "Research Needed", None);
            assert!(changes.contains(&labels(&["ralph-triage"], &[])), "{changes:?}");
        }
    }

    #[test]
    fn what_somebody_else_has_or_is_blocked_or_too_large_is_not_takeable_and_ones_own_comes_first() {
        let task = |name: &str, change: &dyn Fn(&mut Task)| {
            let mut task = Task::new(TaskId::new(name).unwrap(), name, StateName::new("In Progress"));
            change(&mut task);
            task
        };
        let worker = |name: &str| Worker::new(name).unwrap();
        let tasks = vec![
            task("free", &|_| {}),
            task("urgent", &|t| t.priority = Some(crate::task::Priority::P0)),
            task("mine", &|t| t.owner = Some(worker("anna"))),
            task("theirs", &|t| t.owner = Some(worker("ben"))),
            task("large", &|t| t.estimate = Some(Estimate::M)),
            task("waits", &|t| t.blocked_by = vec![TaskId::new("free").unwrap()]),
            task("parent", &|_| {}),
            task("child", &|t| t.parent = Some(TaskId::new("parent").unwrap())),
            task("elsewhere", &|t| t.state = StateName::new("Backlog")),
        ];
        let board = Board::new(tasks, Vec::new(), Vec::new());
        let taken = |most: Estimate, who: Option<&Worker>| {
            let (state, rules) = (StateName::new("In Progress"), Rules::of(Workflow::builtin()));
            let found = board.takeable(&state, most, who, &rules);
            found.iter().map(|(at, own)| (board.tasks()[*at].id.to_string(), *own)).collect::<Vec<_>>()
        };
        let row = |name: &str, own: bool| (name.to_owned(), own);
        let all = vec![row("mine", true), row("urgent", false), row("child", false), row("free", false)];
        assert_eq!(taken(Estimate::S, Some(&worker("anna"))), all);
        assert!(taken(Estimate::M, Some(&worker("anna"))).contains(&row("large", false)));
        assert!(!taken(Estimate::S, None).iter().any(|(name, own)| *own || name == "mine"));
    }

    #[test]
    fn a_person_who_moves_a_task_to_where_it_is_marks_nothing() {
        assert_eq!(triaged(&board(&[], Estimate::S), "anna", "Backlog", None), (Vec::new(), false));
    }
}

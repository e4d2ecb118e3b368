//! Groups of siblings, for callers that treat all open children of one parent as one piece of work and name each of them.
//!
//! The board has only declared groups ([`Board::group_of`]). This module decides which children of a parent can be declared
//! as a group, and what a request about one member means for its group.

use super::{Board, Change, Goal, Links, Refusal, Rules};
use crate::task::{Key, Kind, StateName, TaskId, Value};
use crate::workflow::{Command, Sizes};

/// Which tasks count as a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// The children of a parent that is marked atomic.
    #[default]
    Declared,
    /// The children of any parent, if they can be declared as a group.
    Siblings,
}

/// Children of one parent that become a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub parent: TaskId,
    pub members: Vec<TaskId>,
    pub changes: Vec<Change>,
}

/// Which task a request about a member of a group applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The task itself.
    Own,
    /// The member that acts as primary: the command runs once for all that are in its state.
    Primary(TaskId),
    /// None: the task is already in the requested state, or its group has gone on from there.
    Along,
}

impl Board {
    /// Declares the open children of a parent as one group; `at` is the parent or one of them. `None` if they are a group
    /// already, if fewer than two are open, or if some are too far ahead of the others to be planned together.
    pub fn declaration(&self, at: usize, links: &Links<'_>, rules: &Rules) -> Option<Declaration> {
        let parent = if links.children(at).is_empty() { self.parent_of(at)? } else { at };
        let task = &self.tasks()[parent];
        if task.atomic || task.kind == Kind::Step {
            return None;
        }
        let members = self.open_leaves(parent, links, rules);
        let asked = parent == at || members.contains(&at);
        if !asked || members.len() < 2 || !self.are_together(&members, rules) {
            return None;
        }
        let key = Key::new("atomic");
        let change = Change::set(&task.id, key.as_str(), task.value(&key), Some(Value::Bool(true)));
        Some(Declaration { parent: task.id.clone(), members: links.ids(&members), changes: vec![change] })
    }

    fn open_leaves(&self, parent: usize, links: &Links<'_>, rules: &Rules) -> Vec<usize> {
        let open = |&at: &usize| {
            let task = &self.tasks()[at];
            let over = rules.flow.is_terminal(task.kind, &task.state);
            task.kind != Kind::Step && links.children(at).is_empty() && !over
        };
        links.children(parent).iter().copied().filter(open).collect()
    }

    /// Whether no member has started a shared command alone: all are before the first such command, or in the same state.
    fn are_together(&self, members: &[usize], rules: &Rules) -> bool {
        let flow = &rules.flow;
        let place = |state: &StateName| flow.position(Kind::Issue, state);
        let shared = flow.commands().iter().filter(|command| command.group).flat_map(|command| &command.from);
        let Some(start) = shared.map(place).min() else { return false };
        let on_way = |&at: &usize| flow.state(Kind::Issue, &self.tasks()[at].state).is_some_and(|state| !state.off);
        let states: Vec<&StateName> =
            members.iter().copied().filter(on_way).map(|at| &self.tasks()[at].state).collect();
        states.iter().all(|state| place(state) <= start) || states.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The board with the group of one task declared, if this grouping declares it.
    #[must_use]
    pub fn seen_as(self, grouping: Grouping, at: usize, rules: &Rules) -> Self {
        let declared = match grouping {
            Grouping::Declared => None,
            Grouping::Siblings => self.declaration(at, &Links::new(&self), rules),
        };
        match declared {
            Some(declaration) => self.with(&declaration.changes),
            None => self,
        }
    }

    /// The board with the groups of all tasks declared, if this grouping declares them.
    #[must_use]
    pub fn all_seen_as(self, grouping: Grouping, rules: &Rules) -> Self {
        if grouping == Grouping::Declared {
            return self;
        }
        let links = Links::new(&self);
        let parents = (0..self.tasks().len()).filter(|&at| !links.children(at).is_empty());
        let changes: Vec<Change> =
            parents.filter_map(|at| self.declaration(at, &links, rules)).flat_map(|found| found.changes).collect();
        self.with(&changes)
    }

    /// Which task a request applies to: for a command that runs once for a group, the member that acts as its primary.
    pub fn turn(&self, at: usize, goal: &Goal, command: Option<&Command>, rules: &Rules) -> Result<Turn, Refusal> {
        let (flow, task) = (&rules.flow, &self.tasks()[at]);
        let target = |command: &Command| match goal {
            Goal::State(state) => Some(state.clone()),
            Goal::Intent(intent) => command.intend(*intent, flow),
            Goal::Claim => command.lock.clone(),
        };
        let leads = |command: &&Command| {
            target(command).is_some_and(|to| to == task.state || command.leads(&task.state, &to, rules.mode, flow))
        };
        let command = command.or_else(|| flow.commands().iter().filter(|command| command.group).find(leads));
        let Some((command, to)) = command.and_then(|command| Some((command, target(command)?))) else {
            return Ok(Turn::Own);
        };
        let links = Links::new(self);
        let grouped = command.group && self.is_grouped(at, &links);
        if self.is_along(at, command, &to, grouped, rules) {
            return Ok(Turn::Along);
        }
        if !grouped || flow.escalation() == Some(&to) {
            return Ok(Turn::Own);
        }
        let group = self.group_of(at, &links, rules)?;
        // A member that has moved on alone is handled alone.
        let primary = self.acting_primary(at, &group);
        if primary == at {
            return Ok(Turn::Own);
        }
        // The refusal is about the task that was asked for, not about the one that would make the move.
        if command.from.contains(&task.state)
            && let Some(behind) = self.not_converged(at, &group, rules)
        {
            return Err(behind);
        }
        Ok(Turn::Primary(self.tasks()[primary].id.clone()))
    }

    fn is_grouped(&self, at: usize, links: &Links<'_>) -> bool {
        let grouped = self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic);
        grouped && links.children(at).is_empty()
    }

    /// Whether a command has nothing to do because somebody else was first: the task is where the command ends, or its group has
    /// gone on from where the command completes. A command that can still make the move is not answered for it.
    fn is_along(&self, at: usize, command: &Command, to: &StateName, grouped: bool, rules: &Rules) -> bool {
        let (flow, task) = (&rules.flow, &self.tasks()[at]);
        if flow.escalation() == Some(to) || command.lock.as_ref() == Some(to) {
            return false;
        }
        let moves = command.leads(&task.state, to, rules.mode, flow);
        if task.state == *to && command.may_end_in(flow).contains(to) {
            return grouped || !moves || self.is_part_of_split(at, command);
        }
        let place = |state: &StateName| flow.position(task.kind, state);
        let on_way = flow.state(task.kind, &task.state).is_some_and(|state| !state.off);
        grouped && !moves && on_way && command.complete.as_ref() == Some(to) && place(&task.state) > place(to)
    }

    /// Whether a split only reports that a small part stays in its state.
    fn is_part_of_split(&self, at: usize, command: &Command) -> bool {
        let oversized = self.tasks()[at].estimate.is_some_and(|estimate| estimate.is_oversized());
        command.sizes == Sizes::Oversized && !oversized
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, at, id, ids, names, rules, state};
    use crate::workflow::Intent;

    fn declared(board: &Board, of: &str) -> Option<(TaskId, Vec<TaskId>)> {
        let found = board.declaration(at(board, of), &Links::new(board), &rules());
        found.map(|found| (found.parent, found.members))
    }

    #[test]
    fn the_open_children_of_a_parent_are_declared_from_whichever_is_asked() {
        let children = [("a", "Research Needed"), ("b", "Backlog"), ("c", "Ready for Plan"), ("d", "Done")];
        let board = Sample::board().task("p", "Backlog").children("p", &children).build();
        for asked in ["p", "a", "b", "c"] {
            assert_eq!(declared(&board, asked), Some((id("p"), ids(&["a", "b", "c"]))), "{asked}");
        }
        assert_eq!(declared(&board, "d"), None, "what is finished is in no group");
        let seen = board.seen_as(Grouping::Siblings, 0, &rules());
        let group = seen.group_of(at(&seen, "b"), &Links::new(&seen), &rules()).unwrap();
        assert_eq!(names(&seen, &group.members), ["a", "b", "c"]);
    }

    #[test]
    fn children_are_not_declared_when_one_has_gone_on_alone() {
        for (states, together) in [
            (["Backlog", "Ready for Plan"], true),
            (["Research in Progress", "Human Needed"], true),
            (["Plan in Review", "Plan in Review"], true),
            (["In Review", "In Review"], true),
            (["Backlog", "Plan in Progress"], false),
            (["In Progress", "In Review"], false),
        ] {
            let children = [("a", states[0]), ("b", states[1])];
            let board = Sample::board().task("p", "Backlog").children("p", &children).build();
            assert_eq!(declared(&board, "a").is_some(), together, "{states:?}");
        }
    }

    #[test]
    fn a_lone_child_a_chain_without_a_parent_and_a_declared_group_need_no_declaration() {
        let lone = Sample::board().task("p", "Backlog").children("p", &[("a", "Backlog")]).build();
        assert_eq!((declared(&lone, "a"), declared(&lone, "p")), (None, None));
        let chain = Sample::board().task("a", "Backlog").task("b", "Backlog").blocked_by(&["a"]).build();
        assert_eq!(declared(&chain, "b"), None);
        let group = Sample::board().task("p", "Backlog").atomic().children("p", &[("a", "Backlog"), ("b", "Backlog")]);
        assert_eq!(declared(&group.build(), "a"), None);
    }

    #[test]
    fn the_primary_answers_for_its_group_and_what_came_along_is_done() {
        let turn = |states: [&str; 2], of: &str, goal: Goal, command: Option<&str>| {
            let children = [("a", states[0]), ("b", states[1])];
            let board = Sample::board().task("p", "Backlog").atomic().children("p", &children).build();
            let rules = rules();
            let command = command.map(|name| rules.flow.command(name).unwrap());
            board.turn(at(&board, of), &goal, command, &rules).unwrap()
        };
        let (lock, complete) = (Goal::Intent(Intent::Lock), Goal::Intent(Intent::Complete));
        let primary = Turn::Primary(id("a"));
        assert_eq!(turn(["Ready for Plan"; 2], "b", lock.clone(), Some("plan")), primary);
        assert_eq!(turn(["Ready for Plan"; 2], "a", lock.clone(), Some("plan")), Turn::Own);
        assert_eq!(turn(["Plan in Progress"; 2], "b", lock.clone(), Some("plan")), primary, "the lock is renewed");
        assert_eq!(turn(["Plan in Progress"; 2], "b", complete.clone(), Some("plan")), primary);
        assert_eq!(turn(["Plan in Review"; 2], "b", complete.clone(), Some("plan")), Turn::Along);
        assert_eq!(turn(["Done"; 2], "b", complete, Some("merge")), Turn::Along);
        assert_eq!(turn(["In Review"; 2], "b", Goal::State(state("Done")), None), primary);
        // Research and escalation are done for each member separately.
        assert_eq!(turn(["Research Needed"; 2], "b", lock, Some("research")), Turn::Own);
        assert_eq!(turn(["In Progress"; 2], "b", Goal::Intent(Intent::Escalate), Some("implement")), Turn::Own);
        assert_eq!(turn(["Backlog"; 2], "b", Goal::Intent(Intent::Complete), Some("split")), Turn::Along);
    }

    #[test]
    fn a_primary_that_is_elsewhere_answers_for_nobody() {
        for elsewhere in ["Human Needed", "Backlog", "In Review"] {
            let children = [("a", elsewhere), ("b", "Plan in Review"), ("c", "Plan in Review")];
            let board = Sample::board().task("p", "Backlog").atomic().children("p", &children).build();
            let rules = rules();
            let turn = |of: &str| {
                board.turn(at(&board, of), &Goal::Intent(Intent::Complete), rules.flow.command("review").ok(), &rules)
            };
            assert_eq!(turn("b"), Ok(Turn::Own), "{elsewhere}");
            match elsewhere {
                "In Review" => assert_eq!(turn("c"), Ok(Turn::Primary(id("b")))),
                _ => assert!(matches!(turn("c"), Err(Refusal::NotConverged { task, .. }) if task == id("c"))),
            }
        }
    }

    #[test]
    fn a_member_whose_group_has_gone_on_is_answered_and_a_move_back_is_not() {
        let complete = || Goal::Intent(Intent::Complete);
        let turn = |atomic: bool, here: &str, goal: Goal, command: &str| {
            let sample = Sample::board().task("p", "Backlog");
            let sample = if atomic { sample.atomic() } else { sample };
            let board = sample.children("p", &[("a", here), ("b", here)]).build();
            let rules = rules();
            let turn = |of: &str| board.turn(at(&board, of), &goal, rules.flow.command(command).ok(), &rules).unwrap();
            [turn("a"), turn("b")].map(|turn| turn == Turn::Along)
        };
        for (command, here, along) in [
            ("plan", "Plan in Review", true),
            ("plan", "In Progress", true),
            ("plan", "Done", true),
            ("implement", "Done", true),
            ("review", "In Review", true),
            // It is behind, beside the pipeline, or still to be completed.
            ("plan", "Ready for Plan", false),
            ("plan", "Plan in Progress", false),
            ("implement", "Plan in Review", false),
            ("plan", "Human Needed", false),
            ("plan", "Canceled", false),
        ] {
            assert_eq!(turn(true, here, complete(), command), [along; 2], "{command} in {here}");
        }
        // A rejection, and changes that a merge asks for, are not a completion.
        assert_eq!(turn(true, "In Progress", Goal::State(state("Ready for Plan")), "review"), [false; 2]);
        assert_eq!(turn(true, "In Review", Goal::State(state("In Progress")), "merge"), [false; 2]);
        // A task of its own has only its own state: a second review of it finds that done, nothing else is.
        assert_eq!(turn(false, "In Progress", complete(), "review"), [true; 2]);
        assert_eq!(turn(false, "In Review", complete(), "pr"), [false; 2], "it can still make the move");
        assert_eq!(turn(false, "In Review", complete(), "plan"), [false; 2]);
    }
}

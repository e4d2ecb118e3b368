//! Explains why a task cannot start.

use std::collections::{HashMap, HashSet};

use super::{Board, DEEPEST_PARENTS, Links, Rules};
use crate::task::TaskId;

/// A task in the chain, with its own blockers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub task: TaskId,
    /// The ancestor that has this blocker.
    pub through: Option<TaskId>,
    /// Why it can never be finished in its current state.
    pub dead: Option<String>,
    /// How many open tasks it blocks, directly or through others.
    pub frees: usize,
    pub causes: Vec<Cause>,
    /// Whether its blockers were listed before.
    pub again: bool,
}

/// The state of the search.
struct Trail {
    path: Vec<usize>,
    opened: HashSet<usize>,
    /// For each task that was visited, how many tasks it blocks; and how many links may still be followed to count them.
    frees: HashMap<usize, usize>,
    left: usize,
}

const DEEPEST: usize = 60;
/// The maximum number of tasks in the chain.
const MOST_OPENED: usize = 500;
/// The limit of links that are followed to count blocked tasks, for the whole chain. Beyond it, the count is a lower bound.
const MOST_FOLLOWED: usize = 2_000_000;

impl Board {
    /// The blockers of a task, each with its own chain; a cycle ends where it closes.
    pub fn causes(&self, at: usize, rules: &Rules) -> Vec<Cause> {
        let links = Links::new(self);
        let mut trail = Trail { path: vec![at], opened: HashSet::new(), frees: HashMap::new(), left: MOST_FOLLOWED };
        self.causes_of(at, rules, &links, &mut trail)
    }

    fn causes_of(&self, at: usize, rules: &Rules, links: &Links<'_>, trail: &mut Trail) -> Vec<Cause> {
        let mut found: Vec<Cause> = Vec::new();
        let mut next = Some(at);
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        while let Some(here) = next.filter(|here| seen.len() < DEEPEST_PARENTS && seen.insert(*here)) {
            for (id, place) in self.blockers_of(here) {
                let over = place.map_or_else(
                    || self.archived(id).is_some(),
                    |other| {
                        rules.flow.is_terminal(self.tasks()[other].kind, &self.tasks()[other].state)
                            || self.are_phases(here, other)
                    },
                );
                if !over && told.insert(id) {
                    let through = (here != at).then(|| self.tasks()[here].id.clone());
                    found.push(self.cause(id, place, through, rules, links, trail));
                }
            }
            next = self.parent_of(here);
        }
        found
    }

    fn cause(
        &self,
        id: &TaskId,
        place: Option<usize>,
        through: Option<TaskId>,
        rules: &Rules,
        links: &Links<'_>,
        trail: &mut Trail,
    ) -> Cause {
        let mut cause = Cause {
            task: id.clone(),
            through,
            dead: self.dead(id, place, rules),
            frees: 0,
            causes: Vec::new(),
            again: false,
        };
        let Some(at) = place else { return cause };
        let (known, left) = (trail.frees.get(&at).copied(), &mut trail.left);
        cause.frees = known.unwrap_or_else(|| self.freed_within(at, rules, links, left));
        trail.frees.insert(at, cause.frees);
        if trail.path.contains(&at) {
            cause.dead = Some("it is blocked by itself".into());
            return cause;
        }
        // Deep chains are cut, and shared blockers are opened once, so that the output is no longer than the board.
        if trail.path.len() > DEEPEST || trail.opened.len() > MOST_OPENED || !trail.opened.insert(at) {
            cause.again = self.blockers_of(at).next().is_some();
            return cause;
        }
        trail.path.push(at);
        cause.causes = self.causes_of(at, rules, links, trail);
        trail.path.pop();
        cause
    }

    /// Why a blocker can never be finished without intervention.
    fn dead(&self, id: &TaskId, place: Option<usize>, rules: &Rules) -> Option<String> {
        let Some(at) = place else {
            return Some(
                if self.broken_file(id).is_some() { "its file is invalid" } else { "it does not exist" }.into(),
            );
        };
        let task = &self.tasks()[at];
        let state = rules.flow.state(task.kind, &task.state);
        let canceled =
            self.parent_of(at).map(|parent| &self.tasks()[parent]).filter(|p| Some(&p.state) == rules.flow.canceling());
        match state {
            None => Some(format!("its state {:?} is unknown", task.state.as_str())),
            Some(_) if rules.needs_person(task) => Some("it was handed to a person".into()),
            Some(_) => canceled.map(|parent| format!("its parent {} is {}", parent.id, parent.state)),
        }
    }

    /// How many open tasks this one blocks, directly or through others.
    pub fn freed_by(&self, at: usize, rules: &Rules, links: &Links<'_>) -> usize {
        let mut left = MOST_FOLLOWED;
        self.freed_within(at, rules, links, &mut left)
    }

    fn freed_within(&self, at: usize, rules: &Rules, links: &Links<'_>, left: &mut usize) -> usize {
        let mut seen = HashSet::from([at]);
        let mut queue = vec![at];
        while let Some(here) = queue.pop() {
            // The tasks that it blocks directly are always counted.
            let steps = links.dependents(here).len() + links.children(here).len();
            if *left < steps && here != at {
                break;
            }
            *left = left.saturating_sub(steps);
            for &next in links.dependents(here).iter().chain(links.children(here)) {
                let task = &self.tasks()[next];
                if !rules.flow.is_terminal(task.kind, &task.state) && seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        seen.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::testing::{Sample, any_board, at, id, laws, rules};

    /// The chain as one line: `task(blockers)`, `!` for a task that cannot be finished, `^` for one that was shown before.
    fn told(causes: &[Cause]) -> String {
        let one = |cause: &Cause| {
            let mark = [(cause.dead.is_some(), "!"), (cause.again, "^")];
            let marks: String = mark.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
            let inner = if cause.causes.is_empty() { String::new() } else { format!("({})", told(&cause.causes)) };
            format!("{}{marks}{inner}", cause.task)
        };
        causes.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn why(sample: Sample, name: &str) -> Vec<Cause> {
        let board = sample.build();
        board.causes(at(&board, name), &rules())
    }

    #[test]
    fn a_chain_is_shown_down_to_its_roots_and_each_part_once() {
        let sample = Sample::board()
            .task("a", "Backlog")
            .blocked_by(&["b", "c", "done", "old"])
            .task("b", "Backlog")
            .blocked_by(&["d"])
            .task("c", "Backlog")
            .blocked_by(&["d"])
            .task("d", "Backlog")
            .blocked_by(&["e"])
            .tasks(&[("e", "Backlog"), ("done", "Done")])
            .archived("old", "Done");
        assert_eq!(told(&why(sample.clone(), "a")), "b(d(e)) c(d^)");
        assert_eq!(told(&why(sample, "e")), "");
    }

    #[test]
    fn a_shared_blocker_without_blockers_is_not_marked_as_shown_before() {
        let sample = Sample::board()
            .task("a", "Backlog")
            .blocked_by(&["b", "c"])
            .task("b", "Backlog")
            .blocked_by(&["c"])
            .task("c", "Backlog");
        assert_eq!(told(&why(sample, "a")), "b(c) c");
    }

    #[test]
    fn what_an_ancestor_waits_for_names_the_ancestor() {
        let sample = Sample::board()
            .tasks(&[("x", "Backlog"), ("y", "Backlog")])
            .task("p", "Backlog")
            .blocked_by(&["x", "y"])
            .task("a", "Backlog")
            .parent("p")
            .blocked_by(&["x"]);
        let through: Vec<(TaskId, Option<TaskId>)> =
            why(sample, "a").into_iter().map(|cause| (cause.task, cause.through)).collect();
        assert_eq!(through, [(id("x"), None), (id("y"), Some(id("p")))]);
    }

    #[test]
    fn phases_of_a_group_are_no_cause() {
        let group = Sample::board().task("p", "Backlog").atomic().children("p", &[("a", "Backlog"), ("b", "Backlog")]);
        assert_eq!(told(&why(group.blocked_by(&["a"]), "b")), "");
    }

    #[test]
    fn a_blocker_that_cannot_complete_by_itself_says_why() {
        let waits = || Sample::board().task("a", "Backlog").blocked_by(&["b"]);
        for (sample, reason) in [
            (waits(), Some("it does not exist")),
            (waits().broken("b"), Some("its file is invalid")),
            (waits().task("b", "Nowhere"), Some("its state \"Nowhere\" is unknown")),
            (waits().task("b", "Human Needed"), Some("it was handed to a person")),
            (waits().task("p", "Canceled").children("p", &[("b", "Backlog")]), Some("its parent p is Canceled")),
            (waits().task("p", "Backlog").children("p", &[("b", "Backlog")]), None),
            (waits().task("b", "Backlog").blocked_by(&["b"]), None),
        ] {
            let causes = why(sample, "a");
            assert_eq!(causes[0].dead.as_deref(), reason);
        }
    }

    #[test]
    fn a_ring_is_shown_up_to_where_it_closes() {
        let ring = Sample::board().task("a", "Backlog").blocked_by(&["b"]).task("b", "Backlog").blocked_by(&["a"]);
        let causes = why(ring, "a");
        assert_eq!(told(&causes), "b(a!)");
        assert_eq!(causes[0].causes[0].dead.as_deref(), Some("it is blocked by itself"));
    }

    #[test]
    fn a_very_long_chain_is_cut() {
        let name = |number: usize| format!("t{number:03}");
        let link =
            |sample: Sample, number: usize| sample.task(&name(number), "Backlog").blocked_by(&[&name(number + 1)]);
        let sample = (0..100).fold(Sample::board(), link).task(&name(100), "Backlog");
        let mut depth = 0;
        let mut causes = why(sample, &name(0));
        while let Some(cause) = causes.pop() {
            (depth, causes) = (depth + 1, cause.causes);
        }
        assert_eq!(depth, DEEPEST + 1);
    }

    #[test]
    fn what_a_task_frees_is_counted_once_through_blockers_and_children() {
        let board = Sample::board()
            .tasks(&[("a", "Backlog"), ("e", "Backlog")])
            .task("b", "Backlog")
            .blocked_by(&["a"])
            .task("c", "Backlog")
            .blocked_by(&["a", "b"])
            .children("c", &[("d", "Backlog"), ("over", "Done")])
            .task("f", "Backlog")
            .blocked_by(&["over"])
            .build();
        let frees = |name: &str| board.freed_by(at(&board, name), &rules(), &Links::new(&board));
        assert_eq!([frees("a"), frees("b"), frees("c"), frees("d")], [3, 2, 1, 0]);
        let waits = board.causes(at(&board, "d"), &rules());
        assert_eq!(waits.iter().map(|cause| cause.frees).collect::<Vec<_>>(), [3, 2]);
    }

    proptest! {
        #![proptest_config(laws(400))]

        #[test]
        fn the_causes_of_a_task_are_its_open_blockers(board in any_board()) {
            for at in 0..board.tasks().len() {
                let causes: Vec<TaskId> = board.causes(at, &rules()).into_iter().map(|cause| cause.task).collect();
                prop_assert_eq!(causes, board.open_blockers(at, &rules()));
            }
        }
    }
}

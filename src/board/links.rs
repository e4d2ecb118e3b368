//! Links between tasks in both directions, and the search for cycles.

use std::collections::HashSet;

use super::{Board, Refusal};
use crate::task::TaskId;

/// The children of each task and the tasks that it blocks, by its place on the board.
pub struct Links<'a> {
    board: &'a Board,
    children: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
}

/// Tasks of which each one is blocked by the next, and the last by the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(pub Vec<TaskId>);

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 12;
        for id in self.0.iter().take(MOST) {
            write!(f, "{id} → ")?;
        }
        if self.0.len() > MOST {
            write!(f, "… {} more → ", self.0.len() - MOST)?;
        }
        write!(f, "{}", self.0[0])
    }
}

/// A task cannot start before its blockers are finished and its parent can start, nor finish before its children do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Visit {
    Start(usize),
    Finish(usize),
}

impl Visit {
    fn task(self) -> usize {
        match self {
            Self::Start(task) | Self::Finish(task) => task,
        }
    }
}

impl<'a> Links<'a> {
    pub fn new(board: &'a Board) -> Self {
        let mut links = Self {
            board,
            children: vec![Vec::new(); board.tasks().len()],
            dependents: vec![Vec::new(); board.tasks().len()],
        };
        for at in 0..board.tasks().len() {
            if let Some(parent) = board.parent_of(at) {
                links.children[parent].push(at);
            }
            for blocker in board.blockers_of(at).filter_map(|(_, place)| place) {
                links.dependents[blocker].push(at);
            }
        }
        links
    }

    pub fn children(&self, at: usize) -> &[usize] {
        &self.children[at]
    }

    pub fn dependents(&self, at: usize) -> &[usize] {
        &self.dependents[at]
    }

    pub fn ids(&self, places: &[usize]) -> Vec<TaskId> {
        places.iter().map(|&at| self.board.tasks()[at].id.clone()).collect()
    }

    /// A cycle through this task, because of which it can never start or finish, if there is one.
    pub fn cycle_through(&self, id: &TaskId) -> Option<Cycle> {
        let start = Visit::Start(self.board.index_of(id)?);
        self.path_back_to(start).or_else(|| self.path_back_to(Visit::Finish(start.task())))
    }

    /// Every cycle, each once.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut seen: HashSet<TaskId> = HashSet::new();
        let mut found = Vec::new();
        for at in self.never_done() {
            let id = &self.board.tasks()[at].id;
            if seen.contains(id) {
                continue;
            }
            if let Some(cycle) = self.cycle_through(id) {
                seen.extend(cycle.0.iter().cloned());
                found.push(cycle);
            }
        }
        found
    }

    /// Refuses links that put one of these tasks into a cycle.
    pub fn refuse_cycles(&self, ids: &[TaskId]) -> Result<(), Refusal> {
        let Some((task, cycle)) = self.cycle_through_any(ids) else { return Ok(()) };
        let blocked = |id: &TaskId| {
            self.board.get(id).is_some_and(|task| task.blocked_by.iter().any(|other| cycle.0.contains(other)))
        };
        Err(match cycle.0.iter().any(blocked) {
            true => Refusal::Cycle { task, cycle },
            false => Refusal::ParentCycle { task, cycle },
        })
    }

    /// A cycle through one of these tasks. Takes one pass over the board if there is none.
    pub fn cycle_through_any(&self, ids: &[TaskId]) -> Option<(TaskId, Cycle)> {
        let never = self.never_done();
        let hit = |id: &&TaskId| self.board.index_of(id).is_some_and(|at| never.binary_search(&at).is_ok());
        ids.iter().filter(hit).find_map(|id| Some((id.clone(), self.cycle_through(id)?)))
    }

    /// The tasks that can never be finished, because they are in a cycle or blocked by one.
    fn never_done(&self) -> Vec<usize> {
        let count = self.board.tasks().len();
        let number = |event: Visit| match event {
            Visit::Start(at) => at,
            Visit::Finish(at) => count + at,
        };
        let event = |number: usize| if number < count { Visit::Start(number) } else { Visit::Finish(number - count) };
        let mut waits: Vec<usize> = (0..2 * count).map(|n| self.waits_for(event(n)).len()).collect();
        let mut free: Vec<usize> = (0..2 * count).filter(|&n| waits[n] == 0).collect();
        while let Some(done) = free.pop() {
            for next in self.waited_for_by(event(done)) {
                let next = number(next);
                waits[next] -= 1;
                if waits[next] == 0 {
                    free.push(next);
                }
            }
        }
        (0..count).filter(|&at| waits[at] > 0 || waits[count + at] > 0).collect()
    }

    /// The reverse of `waits_for`.
    fn waited_for_by(&self, event: Visit) -> Vec<Visit> {
        match event {
            Visit::Start(at) => {
                let children = self.children[at].iter().map(|&child| Visit::Start(child));
                std::iter::once(Visit::Finish(at)).chain(children).collect()
            }
            Visit::Finish(at) => {
                let dependents = self.dependents[at].iter().map(|&next| Visit::Start(next));
                self.board.parent_of(at).map(Visit::Finish).into_iter().chain(dependents).collect()
            }
        }
    }

    fn path_back_to(&self, goal: Visit) -> Option<Cycle> {
        let mut visited = HashSet::new();
        // Each frame is an event with the events that must come before it; the stack is the current path.
        let mut stack = vec![(goal, self.waits_for(goal))];
        while let Some((_, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if next == goal => return Some(self.name(stack.iter().map(|(event, _)| *event))),
                Some(next) if visited.insert(next) => stack.push((next, self.waits_for(next))),
                Some(_) => {}
                None => {
                    stack.pop();
                }
            }
        }
        None
    }

    fn waits_for(&self, event: Visit) -> Vec<Visit> {
        match event {
            Visit::Start(at) => {
                let blockers = self.board.blockers_of(at).filter_map(|(_, place)| place).map(Visit::Finish);
                self.board.parent_of(at).map(Visit::Start).into_iter().chain(blockers).collect()
            }
            Visit::Finish(at) => {
                std::iter::once(Visit::Start(at)).chain(self.children[at].iter().map(|&c| Visit::Finish(c))).collect()
            }
        }
    }

    fn name(&self, events: impl Iterator<Item = Visit>) -> Cycle {
        let mut path: Vec<usize> = events.map(Visit::task).collect();
        path.dedup();
        if path.len() > 1 && path.first() == path.last() {
            path.pop();
        }
        // Starts with the smallest, so that a cycle is always shown in the same way.
        let first = path.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
        path.rotate_left(first);
        Cycle(self.ids(&path))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::testing::{Sample, any_board, id, ids, laws};

    fn board(rows: &[(&str, Option<&str>, &[&str])]) -> Board {
        let add = |sample: Sample, (name, parent, blockers): &(&str, Option<&str>, &[&str])| {
            let task = sample.task(name, "Backlog").blocked_by(blockers);
            parent.map_or(task.clone(), |parent| task.parent(parent))
        };
        rows.iter().fold(Sample::board(), add).build()
    }

    fn cycles(rows: &[(&str, Option<&str>, &[&str])]) -> Vec<String> {
        Links::new(&board(rows)).cycles().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_chain_is_not_a_cycle_and_a_ring_is_one() {
        assert!(cycles(&[("a", None, &["b"]), ("b", None, &["c"]), ("c", None, &[])]).is_empty());
        assert_eq!(cycles(&[("a", None, &["b"]), ("b", None, &["c"]), ("c", None, &["a"])]), ["a → b → c → a"]);
        assert_eq!(cycles(&[("a", None, &["a"])]), ["a → a"]);
    }

    #[test]
    fn a_parent_that_waits_for_its_child_can_never_start() {
        assert_eq!(cycles(&[("p", None, &["c"]), ("c", Some("p"), &[])]), ["c → p → c"]);
        assert_eq!(cycles(&[("p", None, &[]), ("c", Some("p"), &["p"])]), ["c → p → c"]);
        assert!(cycles(&[("p", None, &[]), ("c", Some("p"), &["d"]), ("d", Some("p"), &[])]).is_empty());
    }

    #[test]
    fn parents_in_a_ring_are_found() {
        assert_eq!(cycles(&[("a", Some("b"), &[]), ("b", Some("a"), &[])]), ["a → b → a"]);
    }

    #[test]
    fn a_ring_of_parents_alone_is_told_apart_because_no_blocker_can_be_removed_from_it() {
        let refusal = |rows: &[(&str, Option<&str>, &[&str])]| Links::new(&board(rows)).refuse_cycles(&ids(&["a"]));
        let parents = refusal(&[("a", Some("b"), &["x"]), ("b", Some("a"), &[]), ("x", None, &[])]);
        assert!(matches!(parents, Err(Refusal::ParentCycle { .. })), "{parents:?}");
        let mixed = refusal(&[("a", Some("b"), &[]), ("b", None, &["a"])]);
        assert!(matches!(mixed, Err(Refusal::Cycle { .. })), "{mixed:?}");
        assert_eq!(refusal(&[("a", Some("b"), &[]), ("b", None, &[])]), Ok(()));
    }

    #[test]
    fn a_ring_names_who_is_in_it_and_not_who_waits_behind_it() {
        let rows: [(&str, Option<&str>, &[&str]); 4] =
            [("a", None, &["b"]), ("b", None, &["c"]), ("c", None, &["b"]), ("d", Some("a"), &[])];
        assert_eq!(cycles(&rows), ["b → c → b"]);
        let board = board(&rows);
        let links = Links::new(&board);
        assert_eq!((links.cycle_through(&id("a")), links.cycle_through(&id("x"))), (None, None));
        assert_eq!(links.cycle_through_any(&ids(&["a", "d", "x"])), None);
        assert_eq!(links.cycle_through_any(&ids(&["a", "c"])), Some((id("c"), Cycle(ids(&["b", "c"])))));
    }

    #[test]
    fn a_long_ring_is_abbreviated() {
        let ring = |count: usize| Cycle((0..count).map(|n| id(&format!("t{n:02}"))).collect()).to_string();
        assert!(ring(12).ends_with("t10 → t11 → t00"), "{}", ring(12));
        assert!(ring(14).ends_with("t11 → … 2 more → t00"), "{}", ring(14));
    }

    /// Whether each task can start, and whether it can be finished, if all other work that can be done is done.
    fn can_be_done(board: &Board) -> Vec<(bool, bool)> {
        let mut can = vec![(false, false); board.tasks().len()];
        for _ in 0..=2 * can.len() {
            for at in 0..can.len() {
                let parent = board.parent_of(at).is_none_or(|parent| can[parent].0);
                let blockers = board.blockers_of(at).filter_map(|(_, place)| place).all(|blocker| can[blocker].1);
                let children =
                    (0..can.len()).filter(|&child| board.parent_of(child) == Some(at)).all(|child| can[child].1);
                can[at].0 = parent && blockers;
                can[at].1 = can[at].0 && children;
            }
        }
        can
    }

    proptest! {
        #![proptest_config(laws(500))]

        #[test]
        fn links_read_backwards_are_the_links(board in any_board()) {
            let links = Links::new(&board);
            for at in 0..board.tasks().len() {
                let id = &board.tasks()[at].id;
                let pointing = |is: &dyn Fn(&crate::task::Task) -> bool| -> Vec<TaskId> {
                    board.tasks().iter().filter(|task| is(task)).map(|task| task.id.clone()).collect()
                };
                prop_assert_eq!(links.ids(links.children(at)), pointing(&|task| task.parent.as_ref() == Some(id)));
                prop_assert_eq!(links.ids(links.dependents(at)), pointing(&|task| task.blocked_by.contains(id)));
            }
        }

        #[test]
        fn there_is_a_ring_exactly_where_not_everything_can_be_done(board in any_board()) {
            let links = Links::new(&board);
            let can = can_be_done(&board);
            let never: Vec<usize> = (0..can.len()).filter(|&at| can[at] != (true, true)).collect();
            prop_assert_eq!(&links.never_done(), &never);
            let cycles = links.cycles();
            prop_assert_eq!(cycles.is_empty(), never.is_empty());
            for cycle in &cycles {
                prop_assert_eq!(cycle.0.iter().min(), cycle.0.first());
                for id in &cycle.0 {
                    prop_assert!(never.contains(&board.index_of(id).unwrap()));
                    prop_assert!(links.cycle_through(id).is_some_and(|cycle| cycle.0.contains(id)));
                }
            }
            for task in board.tasks() {
                let through = links.cycle_through(&task.id);
                prop_assert_eq!(links.cycle_through_any(std::slice::from_ref(&task.id)).map(|(_, cycle)| cycle), through.clone());
                prop_assert!(through.is_none() || cycles.iter().flat_map(|cycle| &cycle.0).any(|id| *id == task.id));
            }
        }
    }
}

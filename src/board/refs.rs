//! The references between tasks, resolved once to places on the board.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::task::{Task, TaskId};

const NOWHERE: u32 = u32::MAX;

/// In flat arrays, because separate lists would need an allocation per task, up to a hundred thousand.
#[derive(Debug, Clone, Default)]
pub struct Refs {
    parents: Vec<u32>,
    blockers: Vec<u32>,
    /// The start of each task's blockers, and the end of the last one's.
    starts: Vec<u32>,
}

impl Refs {
    pub fn new(tasks: &[Task]) -> Self {
        // A search per link would be too slow for a million links; without links, the table is not built.
        let places = OnceCell::new();
        let table = || tasks.iter().enumerate().map(|(at, task)| (&task.id, at as u32)).collect::<HashMap<_, _>>();
        let find = |id: &TaskId| places.get_or_init(table).get(id).copied().unwrap_or(NOWHERE);
        let mut refs = Self { parents: Vec::with_capacity(tasks.len()), blockers: Vec::new(), starts: vec![0] };
        for task in tasks {
            refs.parents.push(task.parent.as_ref().map_or(NOWHERE, find));
            refs.blockers.extend(task.blocked_by.iter().map(find));
            refs.starts.push(refs.blockers.len() as u32);
        }
        refs
    }

    pub fn parent(&self, at: usize) -> Option<usize> {
        place(self.parents[at])
    }

    pub fn blockers(&self, at: usize) -> impl Iterator<Item = Option<usize>> {
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        self.blockers[range].iter().map(|&at| place(at))
    }
}

fn place(at: u32) -> Option<usize> {
    (at != NOWHERE).then_some(at as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::board::testing::{any_board, laws};

    proptest! {
        #![proptest_config(laws(200))]

        #[test]
        fn a_reference_is_the_place_of_the_task_it_names(board in any_board()) {
            for (at, task) in board.tasks().iter().enumerate() {
                prop_assert_eq!(board.parent_of(at), task.parent.as_ref().and_then(|id| board.index_of(id)));
                let expected: Vec<_> = task.blocked_by.iter().map(|id| (id, board.index_of(id))).collect();
                prop_assert_eq!(board.blockers_of(at).collect::<Vec<_>>(), expected);
            }
        }
    }
}

//! Tasks that were deleted here, as the journal has it: their issues are to be closed, not taken for new.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::{Failure, Workspace};
use crate::board::{Change, Place};
use crate::github::{Link, Node};
use crate::store::codec::Doc;
use crate::task::{Key, TaskId};

#[derive(Debug, Default)]
pub struct Deleted {
    tasks: BTreeMap<TaskId, Option<Node>>,
}

impl Deleted {
    pub fn read(ws: &Workspace) -> Result<Self, Failure> {
        let mut deleted = Self::default();
        for line in ws.store.journal()?.0 {
            let files = line.changes.iter().filter_map(|change| match change {
                Change::File { task, file: Place::Task | Place::Archive, old, new } => Some((task, old, new)),
                _ => None,
            });
            let files: Vec<_> = files.collect();
            // What goes to the archive, or comes from it, goes and comes in one line.
            let alive: BTreeSet<&TaskId> =
                files.iter().filter(|(_, _, new)| new.is_some()).map(|(task, _, _)| *task).collect();
            alive.iter().for_each(|task| drop(deleted.tasks.remove(*task)));
            for (task, old, _) in files.iter().filter(|(task, _, new)| new.is_none() && !alive.contains(task)) {
                deleted.tasks.insert((*task).clone(), old.as_deref().and_then(node_in));
            }
        }
        deleted.tasks.retain(|task, _| !ws.store.exists(task) && !ws.store.is_archived(task));
        Ok(deleted)
    }

    pub fn has(&self, task: Option<&TaskId>, issue: &Node) -> bool {
        task.is_some_and(|task| self.tasks.contains_key(task))
            || self.tasks.values().flatten().any(|node| node == issue)
    }
}

fn node_in(text: &str) -> Option<Node> {
    Link::read(Doc::new(text).ok()?.get(&Key::new("github")).as_ref()).node
}

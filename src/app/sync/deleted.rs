//! Deleted tasks, from the journal: their issues are closed, not imported as new tasks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::app::{Failure, Workspace};
use crate::board::{Change, Place};
use crate::github::{Link, Marker, Node};
use crate::store::codec::Doc;
use crate::task::{Key, TaskId};

#[derive(Debug, Default)]
pub struct Deleted {
    tasks: BTreeMap<TaskId, LastSeen>,
}

/// The last content of a deleted task file.
#[derive(Debug, Default)]
struct LastSeen {
    node: Option<Node>,
    created: Option<Timestamp>,
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
            // Moves between the board and the archive are recorded in one journal line.
            let alive: BTreeSet<&TaskId> =
                files.iter().filter(|(_, _, new)| new.is_some()).map(|(task, _, _)| *task).collect();
            alive.iter().for_each(|task| drop(deleted.tasks.remove(*task)));
            for (task, old, _) in files.iter().filter(|(task, _, new)| new.is_none() && !alive.contains(task)) {
                deleted.tasks.insert((*task).clone(), old.as_deref().map(last_seen).unwrap_or_default());
            }
        }
        deleted.tasks.retain(|task, _| !ws.store.exists(task) && !ws.store.is_archived(task));
        Ok(deleted)
    }

    pub fn has(&self, task: Option<&TaskId>, issue: &Node) -> bool {
        task.is_some_and(|task| self.tasks.contains_key(task))
            || self.tasks.values().any(|seen| seen.node.as_ref() == Some(issue))
    }

    /// The marker of the deleted task that an issue was linked to.
    pub fn marker(&self, issue: &Node) -> Option<Marker> {
        let (task, seen) = self.tasks.iter().find(|(_, seen)| seen.node.as_ref() == Some(issue))?;
        Some(Marker { deleted: true, ..Marker::of(task, seen.created) })
    }
}

fn last_seen(text: &str) -> LastSeen {
    let Ok(doc) = Doc::new(text) else { return LastSeen::default() };
    let created = doc.get(&Key::new("created")).and_then(|at| at.to_string().parse().ok());
    LastSeen { node: Link::read(doc.get(&Key::new("github")).as_ref()).node, created }
}

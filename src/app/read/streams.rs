//! `streams`: which tasks can be implemented in parallel, according to their blockers and the files in their research.

use crate::agent::document::files_modified;
use crate::app::records::artifact::linked_artifact;
use crate::app::{Failure, Workspace};
use crate::board::{Footprint, Stream, streams as cluster};
use crate::task::TaskId;

/// A task to consider; missing values are read from its research and from the board.
#[derive(Debug, Clone)]
pub struct StreamAsk {
    pub task: TaskId,
    pub files: Option<Vec<String>>,
    pub blocked_by: Option<Vec<TaskId>>,
}

pub fn streams(ws: &Workspace, asked: &[StreamAsk]) -> Result<Vec<Stream>, Failure> {
    let mut prints = Vec::new();
    for StreamAsk { task, files, blocked_by } in asked {
        let files = match files {
            Some(files) => files.clone(),
            // Without research, its files are unknown.
            None => linked_artifact(ws, "research", task).map(|found| files_modified(&found.text)).unwrap_or_default(),
        };
        let blocked_by = match blocked_by {
            Some(ids) => ids.clone(),
            None => ws.family(task)?.get(task).map(|task| task.blocked_by.clone()).unwrap_or_default(),
        };
        prints.push(Footprint { task: task.clone(), files, blocked_by });
    }
    Ok(cluster(&prints))
}

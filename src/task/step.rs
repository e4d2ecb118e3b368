//! The fields of a step beyond those of other tasks: its team, its command, its tasks and its result.

use serde::{Deserialize, Serialize};

use super::TaskId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The task that the team works on.
    pub team: TaskId,
    /// The command that it runs.
    pub command: String,
    /// The tasks that it serves; the primary of a group comes first.
    pub of: Vec<TaskId>,
    /// Its title while a worker works on it.
    pub active_form: String,
    /// The number of rejections when the step was made. A later rejection completes the step.
    pub round: u32,
    /// Its result, once it is completed.
    pub result: Option<String>,
}

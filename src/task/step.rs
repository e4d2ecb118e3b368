//! What a step of a team knows beyond other tasks: whose it is, what it does to which tasks, and what came of it.

use serde::{Deserialize, Serialize};

use super::TaskId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The task that the team works on.
    pub team: TaskId,
    /// The command that it runs.
    pub command: String,
    /// The tasks that it serves, the first of a group first.
    pub of: Vec<TaskId>,
    /// What it is called while somebody is at it.
    pub active_form: String,
    /// How often the plan had been rejected when the step was made: a later rejection ends it.
    pub round: u32,
    /// What came of it, once it is completed.
    pub result: Option<String>,
}

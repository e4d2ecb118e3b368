//! The next step after a failure, as a value that each face words for its reader.

use serde::{Deserialize, Serialize};

use crate::board::Candidate;
use crate::task::TaskId;

/// The next step, as a value that each face puts into its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Hint {
    Init,
    GitInit,
    DidYouMean { candidates: Vec<Candidate> },
    Edit { file: String, line: u32 },
    Retry,
    List,
    Workflow,
    Ready,
    Wait { task: TaskId },
    Why { task: TaskId },
    Claim { task: TaskId, command: String },
    Advice { text: String },
}

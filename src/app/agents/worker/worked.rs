//! What a worker tells while it works, and its result.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::Failure;
use crate::app::records::runs::Run;
use crate::task::{TaskId, Worker};

/// The events of a worker, for a person or the team that started it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum WorkerEvent {
    Began {
        run: Box<Run>,
        title: String,
    },
    Ended {
        run: Box<Run>,
        title: String,
    },
    /// There is no work now.
    Idle,
    /// The agent program has reached its usage limit; the worker continues at `until`.
    Paused {
        said: String,
        until: Timestamp,
    },
    Note {
        text: String,
    },
    /// The worker ends with this failure.
    Failed {
        failure: Box<Failure>,
    },
}

#[derive(Debug, Serialize)]
pub struct Worked {
    pub worker: Worker,
    pub role: String,
    pub runs: Vec<Run>,
    /// The job that a dry run would start.
    pub next: Option<Next>,
    pub stopped: WorkEnd,
}

/// Why a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkEnd {
    /// A person or the team stopped it.
    Stopped,
    NoWork,
    DryRun,
    /// It has made as many runs as were asked for.
    AsRequested,
}

impl WorkEnd {
    pub fn words(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::NoWork => "no work",
            Self::DryRun => "dry run",
            Self::AsRequested => "stopped, as requested",
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Next {
    pub task: TaskId,
    pub title: String,
    pub command: String,
    pub step: Option<TaskId>,
    /// The program that would run; ralph itself if the command needs no agent.
    pub program: Vec<String>,
}

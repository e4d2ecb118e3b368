//! `sync`: the board and a GitHub project mirror each other, field by field.
//!
//! ```text
//! run        one sync: read GitHub, pull, push
//! target     the repository and project on GitHub
//! local      the board's side                        compare   compares both sides                   pure
//! pull       GitHub's changes to the board           calls     from decisions to mutations           pure
//! adopt      issues that were created there          plan      what a sync would do, for people      pure
//! ties       links that are found or lost            deleted   tasks that were deleted here
//! bring      one value with its consequences         edits     how sync writes task files
//! push       idempotent mutations                   creating  creates, which must happen once
//! memory     intents and texts of this machine       waiter    `--watch`
//! feedback   reviews and failed checks of pull requests, and the replies to them
//! columns    suggests states for unknown columns     init · status · resolve · doctor     the other commands
//! ```

mod adopt;
mod bring;
mod calls;
mod columns;
mod compare;
mod copies;
mod creating;
mod deleted;
mod doctor;
mod edits;
pub(super) mod feedback;
mod init;
mod local;
mod look;
mod memory;
#[cfg(test)]
mod one_issue;
mod outgoing;
mod plan;
mod pull;
mod push;
mod resolve;
mod run;
mod status;
pub(super) mod target;
mod ties;
#[cfg(test)]
mod two_clones;
mod waiter;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::Failure;
use crate::github::Wait;
use crate::task::TaskId;

pub use columns::ForeignColumn;
pub use doctor::{SyncFinding, sync_doctor};
pub use feedback::fetch_feedback;
pub use init::{InitAsk, InitStep, SyncInit, sync_init};
pub use plan::{Plan, PlanRow, Way};
pub use push::Failed;
pub use resolve::{Resolved, TakeSide, sync_resolve};
pub use run::sync;
pub use status::{SyncStatus, sync_status};
pub use waiter::BoardWaiter;

/// The options of a sync.
#[derive(Debug, Clone, Default)]
pub struct SyncAsk {
    /// Only these tasks, if any.
    pub only: BTreeSet<TaskId>,
    pub directions: Directions,
    pub dry_run: bool,
    /// Read everything, including issues that seem unchanged.
    pub full: bool,
    /// Continue even if many issues would disappear or be closed.
    pub force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Directions {
    #[default]
    Both,
    Pull,
    Push,
}

impl Directions {
    /// The rows of a plan that apply to these directions.
    fn of(self, mut rows: Vec<PlanRow>) -> Vec<PlanRow> {
        rows.retain(|row| match (self, row.way) {
            (Self::Pull, Way::Push | Way::Create | Way::Retire) | (Self::Push, Way::Pull | Way::Adopt | Way::Merge) => {
                false
            }
            (Self::Pull, Way::Comment) => row.local.is_none(),
            (Self::Push, Way::Comment) => row.local.is_some(),
            _ => true,
        });
        rows
    }
}

/// Progress, for display.
#[derive(Debug)]
pub enum SyncStep<'a> {
    Scanning { done: usize, of: usize },
    Reading { done: usize, of: usize },
    Taking { done: usize, of: usize },
    Creating { done: usize, of: usize, task: &'a TaskId },
    Changing { done: usize, of: usize },
    Commenting { done: usize, of: usize, task: &'a TaskId },
    Waiting(&'a Wait),
}

/// The result of a sync.
#[derive(Debug, Default, Serialize)]
pub struct Synced {
    pub dry_run: bool,
    pub plan: Plan,
    pub created: Vec<Mirrored>,
    pub adopted: Vec<Mirrored>,
    /// Issues that earlier syncs or other clones had created.
    pub found: usize,
    pub pulled: usize,
    pub pushed: usize,
    pub comments_in: usize,
    pub comments_out: usize,
    /// Issues whose column or GitHub Status did not show their state, and was corrected.
    pub tidied: usize,
    /// Issues that were closed because their tasks were deleted here.
    pub retired: Vec<u64>,
    pub conflicts: Vec<PlanRow>,
    pub failed: Vec<Failed>,
    /// Tasks whose files cannot be read.
    pub left_out: Vec<TaskId>,
    /// Tasks whose issue or comment may have been created, with the seconds after which it counts as not created.
    pub unknown: BTreeMap<TaskId, u64>,
    pub requests: usize,
    /// Changes that a sync in one direction leaves out.
    #[serde(skip)]
    pub unpulled: usize,
    #[serde(skip)]
    pub unpushed: usize,
    /// Fields that were merged.
    #[serde(skip)]
    pub done: BTreeSet<(TaskId, &'static str)>,
}

/// A task and its issue.
#[derive(Debug, Clone, Serialize)]
pub struct Mirrored {
    pub task: TaskId,
    pub number: u64,
}

impl Synced {
    pub fn did_something(&self) -> bool {
        let counts = [
            self.created.len(),
            self.adopted.len(),
            self.found,
            self.pulled,
            self.pushed,
            self.comments_in,
            self.comments_out,
            self.tidied,
        ];
        counts.iter().any(|count| *count > 0) || !self.retired.is_empty()
    }

    /// Records a task that is left for the next sync, with the reason.
    fn unsettled(&mut self, task: &TaskId, failure: Failure) {
        let what = "task".to_owned();
        self.failed.push(Failed { task: Some(task.clone()), what, message: failure.message });
    }

    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty() && self.failed.is_empty() && self.unknown.is_empty() && self.left_out.is_empty()
    }
}

//! `sync`: the board and a GitHub project mirror each other, field by field.
//!
//! ```text
//! run        one sync: look (read GitHub), pull, push (outgoing)
//! target     the repository and project on GitHub
//! local      the board's side                        compare   both sides side by side              pure
//! pull       GitHub's changes onto the board         calls     from decisions to mutations           pure
//! adopt      issues that were made there             plan      what a run would do, for people       pure
//! ties       links found again, and lost             deleted   tasks that were deleted here
//! bring      one value, with what follows from it    edits     how sync writes task files
//! push       idempotent mutations                   creating  creates, which must happen once
//! memory     intents and texts of this machine       waiter    `--watch`
//! feedback   reviews and failed checks of pull requests, and the replies to them
//! columns    what unknown columns probably mean      init · status · resolve · doctor     the other commands
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

/// What is asked of a run.
#[derive(Debug, Clone, Default)]
pub struct SyncAsk {
    /// Only these tasks, if any.
    pub only: BTreeSet<TaskId>,
    pub directions: Directions,
    pub dry_run: bool,
    /// Read everything, also what seems unchanged.
    pub full: bool,
    /// Go on though much would vanish or close.
    pub anyway: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Directions {
    #[default]
    Both,
    Pull,
    Push,
}

impl Directions {
    /// The rows that a run in these directions is about.
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

/// What is going on, for whoever waits.
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

/// What a run came to.
#[derive(Debug, Default, Serialize)]
pub struct Synced {
    pub dry_run: bool,
    pub plan: Plan,
    pub created: Vec<Mirrored>,
    pub adopted: Vec<Mirrored>,
    /// Issues that earlier runs, or other clones, had made.
    pub found: usize,
    pub pulled: usize,
    pub pushed: usize,
    pub comments_in: usize,
    pub comments_out: usize,
    /// Issues that did not look like their state (their column, or GitHub's own Status), put right.
    pub tidied: usize,
    /// Issues of tasks that were deleted here, closed there.
    pub retired: Vec<u64>,
    pub conflicts: Vec<PlanRow>,
    pub failed: Vec<Failed>,
    /// Tasks whose files cannot be read.
    pub left_out: Vec<TaskId>,
    /// Whether their issue or comment was made is not known yet: the seconds after which it is taken for not made.
    pub unknown: BTreeMap<TaskId, u64>,
    pub requests: usize,
    /// Changes that a run in one direction leaves to the other one.
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

    /// A task that is left for the next run, and why.
    fn unsettled(&mut self, task: &TaskId, failure: Failure) {
        let what = "task".to_owned();
        self.failed.push(Failed { task: Some(task.clone()), what, message: failure.message });
    }

    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty() && self.failed.is_empty() && self.unknown.is_empty() && self.left_out.is_empty()
    }
}

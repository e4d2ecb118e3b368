//! The verbs, one file each. Only here is anything committed; every face parses, calls one of these, and shows what it
//! returns.

mod add;
mod advance;
mod archive;
mod artifact;
mod batch;
mod block;
mod board_files;
mod claim;
mod commit;
mod demo;
mod diff;
mod doctor;
mod edit;
mod failure;
mod graph;
mod history;
mod hook;
mod init;
mod list;
mod merge;
mod merge_driver;
mod moves;
mod next;
mod note;
mod on;
mod past;
mod place;
mod plan_sync;
mod pr;
mod proof;
mod reap;
mod remote_claims;
mod remove;
mod run;
mod search;
mod set;
mod settings;
mod setup;
mod share;
mod show;
mod split;
mod status;
mod sync;
mod trust;
mod view;
mod wait;
mod watch;
mod why;
mod workspace;
mod worktree;

pub use crate::agent::{GATES, GateSpec, HookInput};
pub use crate::store::merge::Side;
pub use add::{Added, NewTask, add};
pub use advance::{Advanced, advance};
pub use archive::{Archived, archive};
pub use artifact::{Artifact, check_artifact, link_artifact, new_artifact};
pub use batch::parse as parse_batch;
pub use block::{Linked, block, unblock};
pub use claim::{Claimed, Released, claim, release, renew};
pub use commit::{BoardCommit, commit};
pub use diff::{TaskDiff, diff};
pub use doctor::{Diagnosis, DoctorFinding, doctor};
pub use edit::{Edited, Editing, begin_edit, check as check_edit, finish_edit};
pub use failure::{Failure, FailureKind, Hint};
pub use graph::{GraphNode, Graphed, TreeNode, graph, tree};
pub use history::{LogLine, LogQuery, Undone, log, undo};
pub use hook::{Answered, Gate, Left, answer_hook, find_gate, hook, left_for};
pub use init::{InitOptions, Initialised, init};
pub use list::{Listed, list, list_archived};
pub use merge::{MergeStep, Merged, merge};
pub use merge_driver::{DriverOutcome, merge_driver};
pub use moves::{Along, Moved, move_task};
pub use next::{Chosen, NextAsk, next, next_or_wait};
pub use note::{Noted, note};
pub use place::{GroupView, PositionView, group, position};
pub use plan_sync::{Edge, PlanSynced, plan_sync};
pub use pr::{PrStep, PullRequested, pull_request};
pub use reap::{Reaped, reap};
pub use remote_claims::{ClaimLine, ClaimList, Reach, list_claims};
pub use remove::{Removed, remove};
pub use run::{Running, hold_lock, living_processes, start_run};
pub use search::{Hit, search};
pub use set::{FieldChange, SetDone, set};
pub use settings::{SettingView, get_setting, list_settings, set_setting};
pub use setup::{Done, GENERIC, SetUp, SetUpFile, SetUpHow, setup_claude};
pub use share::{Shared, pull, push};
pub use show::{Shown, show};
pub use split::{SplitChild, SplitDone, split};
pub use status::{Brief, Status, status};
pub use sync::{
    BoardWaiter, Directions, Failed, InitAsk, InitStep, Mirrored, Plan, PlanRow, Resolved, SyncAsk, SyncFinding,
    SyncInit, SyncStatus, SyncStep, Synced, TakeSide, Way, sync, sync_doctor, sync_init, sync_resolve, sync_status,
};
pub use trust::{Trust, look_at_trust, trust};
pub use view::{ClaimView, GithubView, TaskView};
pub use wait::{WaitFor, Waited, wait, wait_for, wait_is_over};
pub use watch::{Watch, WatchOptions};
pub use why::{Reason, Why, why};
pub use workspace::{Options, Workspace};
pub use worktree::{
    Start, WorktreeAdded, WorktreeRemoved, WorktreeView, add_worktree, list_worktrees, lock_worktree, prune_worktrees,
    remove_worktree, worktree_path,
};

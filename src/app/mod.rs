//! The verbs, one file each. Only this module commits changes. Every face parses its input, calls a verb, and shows the
//! result.
//!
//! The submodules, lowest first. Each uses only those above it in this list; `tests/it/architecture.rs` enforces this:
//!
//! ```text
//! failure     the error type: code, message, hints
//! workspace   the open board: settings, worker, claims, trust, commits
//! view        a task as every face shows it, and the columns
//! repo        worktrees and branches of tasks, pull and push, the merge driver
//! records     documents, runs, costs, and changes outside of worktrees
//! edit        changes other than moves: add, set, block, note, remove, archive
//! work        changes of state and claims: move, claim, next, run, reap, edit, save, split, undo
//! read        list, show, status, why, graph, search, log, trends
//! sync        GitHub Issues and Projects
//! deliver     merge and pull requests
//! watch       events of the board, and reactions to them
//! agents      workers, teams, prompts, hooks, setup
//! admin       init, doctor, demo, the server's token
//! ```

mod admin;
mod agents;
mod deliver;
mod edit;
mod failure;
mod read;
mod records;
mod repo;
mod sync;
mod view;
mod watch;
mod work;
mod workspace;

// The part of the core that faces may use: they import nothing else from it.
pub use crate::agent::host::{AgentEvent, Usage};
pub use crate::agent::{GATES, GateSpec, HookInput};
pub use crate::board::{
    Board, Candidate, Change, Convergence, Day, Event, EventKind, Grouping, ParentHold, Position, Query, Request,
    SortKey, Stream, Via, command_for,
};
pub use crate::config::{SPECS, duration};
pub use crate::os::confine::{enter as confine, is_supported as can_confine};
pub use crate::os::{ConfineError, Confinement};
pub use crate::store::Note;
pub use crate::store::merge::Side;
pub use crate::workflow::{Command, Intent, Meaning, Phase, ReviewMode, Role, State, TABLES as WORKFLOWS, Workflow};

pub use crate::git::start_git_through;
pub use crate::git::{DiffLine, FileDiff};
pub use admin::agent_test::{AgentCheck, AgentTest, test_agent};
pub use admin::change_workflow::{
    StateChange, WorkflowChange, named, plan_workflow, shipped_table, use_workflow, workflow_text,
};
pub use admin::doctor::{Diagnosis, DoctorFinding, doctor};
pub use admin::init::{InitOptions, Initialised, has_board, init};
pub use admin::revision::{RevisionCheck, RevisionFinding, Severity, check_revision};
pub use admin::token::{fresh_token, is_same_token, serve_token};
pub use admin::uninstall::{Uninstalled, uninstall};
pub use agents::hook::{Answered, Gate, Left, answer_hook, find_gate, hook, left_for};
pub use agents::programs::{AgentProgram, list_agents};
pub use agents::prompt::{Prompt, prompt};
pub use agents::relay::{RELAYED, SOCKET as RELAY_SOCKET, relay_call};
pub use agents::review::{Review, ReviewActions, review};
pub use agents::setup::{Done, GENERIC, SetUp, SetUpFile, SetUpHost, SetUpHow, set_up};
pub use agents::team::{
    CrewView, Doing, StepView, TeamDone, TeamNews, TeamStarted, TeamView, TeamWanted, can_start_team, hero, start_team,
    team,
};
pub use agents::worker::{
    Launch, RetryDone, StopAsked, WorkEnd, Worked, WorkerAsk, WorkerEvent, can_retry, retry, stop_run, work,
};
pub use deliver::merge::{MergeStep, Merged, merge};
pub use deliver::pr::{PrStep, PullRequested, pull_request};
pub use edit::add::{Added, NewTask, add};
pub use edit::archive::{Archived, archive};
pub use edit::batch::parse as parse_batch;
pub use edit::block::{Linked, block, unblock};
pub use edit::draft::Draft;
pub use edit::expected::Expected;
pub use edit::note::{Noted, edit_note, note, note_text, remove_note};
pub use edit::plan_sync::{Edge, PlanSynced, plan_sync};
pub use edit::remove::{Removed, remove};
pub use edit::set::{FieldChange, SetDone, check_fields, set};
pub use failure::{Code, Consequence, Failure, FailureKind, Hint};
pub use read::claim_list::{ClaimLine, ClaimList, list_claims};
pub use read::diff::{DiffSide, TaskDiff, diff};
pub use read::graph::{GraphNode, Graphed, TreeNode, graph, tree};
pub use read::inbox::{Inbox, InboxItem, InboxKind, inbox, waiting_count};
pub use read::list::{ListAsk, Listed, list, list_archived};
pub use read::position::{ConvergedView, GroupView, PositionView, converged, group, position, position_of};
pub use read::schema::{SCHEMAS, schema};
pub use read::search::{Hit, search};
pub use read::show::{Shown, show, show_listed, show_without_moves};
pub use read::status::{Brief, Held, RoleQueue, Root, StateCount, Status, Stuck, status};
pub use read::streams::{StreamAsk, streams};
pub use read::targets::targets;
pub use read::timeline::{Stay, timeline, timelines};
pub use read::trends::{StateTime, Trends, trends};
pub use read::upkeep::{Upkeep, UpkeepAsk, untouched, upkeep};
pub use read::who::{ChangingWorktree, Who, who};
pub use read::why::{Reason, Why, why};
pub use read::workflow::describe_workflow;
pub use records::artifact::{
    Artifact, Document, check_artifact, link_artifact, linked_artifact, new_artifact, read_artifact, write_artifact,
};
pub use records::checks::{CheckResult, CheckView};
pub use records::costs::{CostRow, Costs, CostsBy, MergedCosts, Spent, costs, costs_of_days};
pub use records::runs::{Run, RunOutcome, RunShown, find_run, follow_run, list_runs, run_text, show_run};
pub use records::status_update::{StatusUpdate, post_status};
pub use repo::bootstrap::{Included, Setup, WorktreeStep};
pub use repo::merge_driver::{DriverOutcome, merge_driver};
pub use repo::pull_push::{pull, push};
pub use repo::task_diff::{TaskChanges, show_changes, task_changes};
pub use repo::worktree::{
    Start, WorktreeAdded, WorktreeRemoved, WorktreeView, add_worktree, list_worktrees, lock_worktree, prune_worktrees,
    remove_worktree, worktree_path,
};
pub use sync::{
    BoardWaiter, Directions, Failed, ForeignColumn, InitAsk, InitStep, Mirrored, Plan, PlanRow, Resolved, SyncAsk,
    SyncFinding, SyncInit, SyncStatus, SyncStep, Synced, TakeSide, Way, fetch_feedback, sync, sync_doctor, sync_init,
    sync_resolve, sync_status,
};
pub use view::columns::{Column, columns};
pub use view::span::{ago, span};
pub use view::task::{ClaimView, GithubView, MoveView, TaskView};
pub use watch::{Watch, WatchOptions, follow_board};
pub use work::advance::{Advanced, ParentAdvance, advance, advance_hold, advance_parent};
pub use work::ask::{Question, QuestionAnswer, QuestionAsk, answer, ask, open_question};
pub use work::claim::{Claimed, Released, claim, release, renew};
pub use work::edit::{Doubts, Edited, Editing, begin_edit, finish_edit, resume_edit};
pub use work::feedback::{Feedback, Point, PointReply, Replied, feedback, reply};
pub use work::history::{LogLine, LogQuery, Undone, log, undo};
pub use work::moves::{Along, DeclaredGroup, Moved, move_task};
pub use work::next::{Chosen, NextAsk, next, next_or_wait};
pub use work::program_name::{ProgramAction, program_name, release_session};
pub use work::reap::{Reaped, reap};
pub use work::review::{Decisions, LineComment, approve, decisions, reject};
pub use work::run::{Running, hold_lock, start_run};
pub use work::save::{SaveAsk, Saved, save, save_over};
pub use work::split::{SplitChild, SplitDone, split};
pub use work::takeable::{TakeableTask, TakeableTasks, takeable};
pub use work::wait::{WaitFor, Waited, wait, wait_for, wait_is_over};
pub use workspace::git_commit::{BoardCommit, commit};
pub use workspace::open::{Options, Workspace};
pub use workspace::remote::Reach;
pub use workspace::remote::exchange::Shared;
pub use workspace::session::{ClientSession, HeldLocks, TakenFor, is_of_session};
pub use workspace::settings::{SettingView, get_setting, list_settings, set_setting};
pub use workspace::stop::Stop;
pub use workspace::trust::{Trust, look_at_trust, require_trust, trust};

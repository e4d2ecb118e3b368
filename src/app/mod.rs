//! The verbs, one file each. Only here is anything committed; every face parses, calls one of these, and shows what it
//! returns.

mod add;
mod archive;
mod batch;
mod block;
mod demo;
mod doctor;
mod edit;
mod failure;
mod graph;
mod history;
mod init;
mod list;
mod merge_driver;
mod note;
mod remove;
mod search;
mod set;
mod settings;
mod show;
mod view;
mod workspace;

pub use add::{Added, NewTask, add};
pub use archive::{Archived, archive};
pub use batch::parse as parse_batch;
pub use block::{Linked, block, unblock};
pub use doctor::{Diagnosis, DoctorFinding, doctor};
pub use edit::{Edited, Editing, begin_edit, check as check_edit, finish_edit};
pub use failure::{Failure, FailureKind, Hint};
pub use graph::{GraphNode, Graphed, TreeNode, graph, tree};
pub use history::{LogLine, LogQuery, Undone, log, undo};
pub use init::{InitOptions, Initialised, init};
pub use list::{Listed, list};
pub use merge_driver::{DriverOutcome, merge_driver};
pub use note::{Noted, note};
pub use remove::{Removed, remove};
pub use search::{Hit, search};
pub use set::{FieldChange, SetDone, set};
pub use settings::{SettingView, get_setting, list_settings, set_setting};
pub use show::{Shown, show};
pub use view::{GithubView, TaskView};
pub use workspace::{Options, Workspace};

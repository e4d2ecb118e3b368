//! Changes other than moves: tasks, their fields, links and notes.

pub(super) mod add;
pub(super) mod archive;
pub(super) mod batch;
pub(super) mod block;
pub(super) mod draft;
pub(super) mod expected;
pub(super) mod fields;
pub(super) mod note;
pub(super) mod plan_sync;
pub(super) mod remove;
pub(super) mod set;

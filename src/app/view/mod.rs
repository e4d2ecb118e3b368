//! A task as every face shows it, and the columns it is shown in.

pub(super) mod columns;
pub(super) mod span;
pub(super) mod task;

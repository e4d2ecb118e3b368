//! A task and the columns, as every face shows them.

pub(super) mod columns;
pub(super) mod span;
pub(super) mod task;

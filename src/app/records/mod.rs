//! What work leaves behind: documents, runs and their costs, and files in the wrong place.

pub(super) mod artifact;
pub(super) mod checks;
pub(super) mod costs;
pub(super) mod failed_merges;
pub(super) mod runs;
pub(super) mod status_update;
pub(super) mod strays;

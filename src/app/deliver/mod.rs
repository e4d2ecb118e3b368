//! Finished work into the main branch: merges and pull requests.

pub(super) mod merge;
pub(super) mod pr;

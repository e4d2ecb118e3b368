//! Delivers finished work: merges and pull requests.

pub(super) mod merge;
pub(super) mod pr;

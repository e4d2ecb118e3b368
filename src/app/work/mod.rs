//! Moves and claims: the board checks each one before it is committed.

pub(super) mod admit;
pub(super) mod advance;
pub(super) mod ask;
pub(super) mod claim;
pub(super) mod edit;
pub(super) mod feedback;
pub(super) mod held_claim;
pub(super) mod history;
pub(super) mod moves;
pub(super) mod next;
pub(super) mod program_name;
pub(super) mod proof;
pub(super) mod reap;
pub(super) mod review;
pub(super) mod run;
pub(super) mod save;
pub(super) mod scope;
mod served;
pub(super) mod split;
pub(super) mod takeable;
pub(super) mod wait;

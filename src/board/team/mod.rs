//! Teams: what remains of the pipeline, the steps that carry it, and which step a worker takes next.

pub(super) mod pipeline;
pub(super) mod step_choice;
pub(super) mod step_plan;
pub(super) mod steps;

//! The board under the names and shapes of ralph-hero's tools, so that its agents and skills work on it.
//!
//! ```text
//! read.rs       list_issues, get_issue, list_project_items, pick_actionable_issue
//! write.rs      create_issue, save_issue; setters.rs the older ones; state.rs moves; comment.rs create_comment
//! relations.rs  sub-issues, dependencies, groups; advance.rs advance_children
//! pipeline.rs   detect_pipeline_position, check_convergence
//! project.rs    what a project is here: the board, its fields and views
//! filter.rs     what a list is asked for; keeps.rs which tasks that is; dates.rs its dates
//! shape.rs      issues as those tools show them; words.rs the next step after a refusal, as calls of these tools
//! ```

mod advance;
mod comment;
mod dates;
mod filter;
mod keeps;
mod pipeline;
mod project;
mod read;
mod relations;
mod setters;
mod shape;
mod state;
mod words;
mod write;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::Call;
use super::tool::{Nature, Tool};
use crate::app::Failure;

pub const ABOUT: &str = "\
A task board in this repository's own files, under the names of ralph-hero's tools. `number` is the number of an issue, or the id \
of a task that no issue mirrors. owner, repo and projectNumber mean nothing here. To take a task, move it with state __LOCK__ and \
your command: whoever comes second is told who has it. What refuses names a code and the next step. Read ralph://workflow for \
states and commands.";

pub fn all() -> Vec<Tool> {
    vec![
        read::list_issues(),
        read::get_issue(),
        write::create_issue(),
        write::save_issue(),
        setters::update_issue(),
        state::update_workflow_state(),
        setters::update_estimate(),
        setters::update_priority(),
        comment::create_comment(),
        pipeline::detect_pipeline_position(),
        pipeline::check_convergence(),
        read::pick_actionable_issue(),
        project::setup_project(),
        project::get_project(),
        read::list_project_items(),
        relations::add_sub_issue(),
        relations::list_sub_issues(),
        relations::add_dependency(),
        relations::remove_dependency(),
        relations::list_dependencies(),
        relations::detect_group(),
        advance::advance_children(),
        project::list_views(),
        project::update_field_options(),
    ]
}

/// A tool whose refusals name the tools that there are here.
fn tool<A, F>(name: &'static str, nature: Nature, about: &'static str, output: &[(&str, &str)], run: F) -> Tool
where
    A: DeserializeOwned + JsonSchema,
    F: Fn(&Call<'_>, A) -> Result<Value, Failure> + Send + Sync + 'static,
{
    Tool::new(name, nature, about, output, move |call: &Call<'_>, args: A| run(call, args).map_err(words::here))
}

//! The board under the names and shapes of ralph-hero's tools, so that its agents and skills work on it.
//!
//! ```text
//! read.rs       list_issues, get_issue, list_project_items, pick_actionable_issue
//! write.rs      create_issue, save_issue; setters.rs the older ones; state.rs moves; comment.rs create_comment
//! relations.rs  sub-issues, dependencies, groups; advance.rs advance_children, advance_parent; streams.rs detect_work_streams
//! pipeline.rs   detect_pipeline_position, check_convergence
//! dashboard.rs  pipeline_dashboard; hygiene.rs project_hygiene; archive.rs archive_item, bulk_archive
//! project.rs    the project: the board, its fields and views; setup.rs health, routing, status updates
//! filter.rs     the filter of a list; keeps.rs conditions that the board's own list lacks; dates.rs its dates
//! shape.rs      issues as those tools show them; words.rs the hints of refusals, as calls of these tools
//! ```

mod advance;
mod archive;
mod comment;
mod dashboard;
mod dates;
mod filter;
mod hygiene;
mod keeps;
mod pipeline;
mod project;
mod read;
mod relations;
mod setters;
mod setup;
mod shape;
mod state;
mod streams;
mod words;
mod write;

use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::caller::Call;
use super::reply::refusal_of;
use super::tool::{Nature, Tool};
use crate::app::{Failure, Grouping};

pub const ABOUT: &str = "\
A task board in this repository's own files, under the names of ralph-hero's tools. `number` is the number of an issue, or the \
whole id of a task that no issue mirrors, as a text; 44, #44, GH-44 and GH-t-x7kq are understood. owner, repo and projectNumber \
are ignored. To claim a task, move it with state __LOCK__ and your command; if another worker holds it, the error says who. A \
refusal contains a code and the next step. Read ralph://workflow for states and commands.";

/// ralph-hero's skills treat the children of any parent as one piece of work.
const GROUPING: Grouping = Grouping::Siblings;

/// Arguments that name the project, of which there is one here; the skills pass them everywhere.
const PROJECT: [&str; 4] = ["owner", "repo", "projectNumber", "projectOwner"];

/// No arguments that mean anything here.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

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
        streams::detect_work_streams(),
        advance::advance_parent(),
        dashboard::pipeline_dashboard(),
        setup::create_status_update(),
        hygiene::project_hygiene(),
        archive::archive_item(),
        archive::bulk_archive(),
        setup::health_check(),
        setup::configure_routing(),
        advance::advance_issue(),
        archive::archive_items(),
        streams::detect_stream_positions(),
    ]
}

pub fn refusal(failure: &Failure) -> CallToolResult {
    refusal_of(words::told(failure))
}

/// A tool whose refusals name only tools of this profile.
fn tool<A, F>(name: &'static str, nature: Nature, about: &'static str, output: &[(&str, &str)], run: F) -> Tool
where
    A: DeserializeOwned + JsonSchema,
    F: Fn(&Call<'_>, A) -> Result<Value, Failure> + Send + Sync + 'static,
{
    Tool::new(name, nature, about, output, move |call: &Call<'_>, args: A| run(call, args).map_err(words::here))
        .telling_ignored(&PROJECT)
}

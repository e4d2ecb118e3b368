//! The prompts of the eight commands, for hosts that offer them to their user.

use rmcp::model::{CompletionInfo, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::caller::{Call, TaskRef};
use crate::app::{self, Code, Failure, Hint, Query, Workspace};

const ABOUT: [(&str, &str); 8] = [
    ("triage", "Triage a task: research, plan, split, close or leave it"),
    ("split", "Split a large task into small ones"),
    ("research", "Research a task before it is planned"),
    ("plan", "Write the plan of a task or of its group"),
    ("review", "Review a plan and approve or reject it"),
    ("implement", "Implement the plan in the task's worktree"),
    ("pr", "Open the pull request of a finished task"),
    ("merge", "Merge a task's branch and close the task"),
];

pub fn all() -> Vec<Prompt> {
    let task = || {
        PromptArgument::new("task").with_description("The task's id, or the number of its issue").with_required(true)
    };
    ABOUT.iter().map(|(name, about)| Prompt::new(*name, Some(*about), Some(vec![task()]))).collect()
}

/// A note for clients, because the prompts name commands for a shell.
const TOOLS: &str = "\
Where this names a command, use the tool that does the same: `ralph task set` and `ralph move` are save (with state, and command for \
`--for`), `ralph note` is note, `ralph artifact` is artifact, `ralph split` is split, `ralph block` is relate, `ralph task show` is \
get. What is done in a worktree, and `ralph pr` and `ralph merge`, needs a shell.\n\n";

pub fn get(call: &Call<'_>, name: &str, given: &JsonObject) -> Result<GetPromptResult, Failure> {
    call.ws.flow().command(name)?;
    let typed = given.get("task").cloned().ok_or_else(|| {
        Failure::usage(Code::BadArguments, "the prompt needs a task")
            .hint(Hint::step("pass the id of a task in the argument task"))
    })?;
    let task: TaskRef =
        serde_json::from_value(typed).map_err(|error| Failure::usage(Code::BadArguments, error.to_string()))?;
    let told = app::prompt(call.ws, name, &call.find(&task)?)?;
    if told.template.is_some() {
        app::require_trust(call.ws)?;
    }
    let about = ABOUT.iter().find(|(command, _)| *command == name).map_or("", |(_, about)| about);
    let message = PromptMessage::new_text(Role::User, format!("{TOOLS}{}", told.text));
    Ok(GetPromptResult::new(vec![message]).with_description(about))
}

/// Tasks whose id or title contains the text.
pub fn complete(ws: &Workspace, typed: &str) -> Result<CompletionInfo, Failure> {
    let query = Query { search: Some(typed.to_owned()).filter(|typed| !typed.is_empty()), ..Query::default() };
    let mut tasks = app::list(ws, &query)?.tasks;
    // Tasks with the text in their ids come before those with the text in their titles.
    tasks.sort_by_key(|task| !task.id.as_str().contains(typed));
    let ids = tasks.iter().map(|task| task.id.to_string()).take(CompletionInfo::MAX_VALUES).collect();
    let total = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    CompletionInfo::with_pagination(ids, Some(total), tasks.len() > CompletionInfo::MAX_VALUES)
        .map_err(|message| Failure::broken(Code::Bug, message))
}

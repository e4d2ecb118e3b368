//! `update_workflow_state`, and the function that carries out moves with fields.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::{GROUPING, tool};
use crate::app::{self, DeclaredGroup, Failure, Hint, Intent, Moved, SaveAsk, Saved};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::{Kind, TaskId};

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    /// A workflow state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    #[serde(alias = "workflowState")]
    state: String,
    /// The command to act for: ralph_triage, ralph_split, ralph_research, ralph_plan, ralph_review, ralph_impl, ralph_pr, ralph_merge
    command: Option<String>,
    #[schemars(skip)]
    #[serde(default)]
    force: bool,
}

pub fn update_workflow_state() -> Tool {
    tool(
        "ralph_hero__update_workflow_state",
        Nature::Writes,
        "Move an issue as the workflow allows. __LOCK__ claims it for you; __COMPLETE__ completes your part.",
        &[("previousState", "string"), ("newState", "string")],
        |call: &Call<'_>, args: Args| {
            let id = call.find_exact(&args.number)?;
            let asked = SaveAsk { to: Some(args.state.clone()), command: args.command.clone(), ..SaveAsk::default() };
            let saved = carry_out(call, &id, asked, args.force)?;
            let around = Around::of(call.ws, &id)?;
            let mut reply = json!({ "number": around.number(&id) });
            if let Some(moved) = &saved.moved {
                reply["previousState"] = json!(moved.from);
                reply["newState"] = json!(moved.to);
                reply["command"] = json!(args.command.as_ref().or(moved.command.as_ref()));
                tell_along(&mut reply, moved, &around);
                reply_reason(call, &mut reply, moved, &args.state);
            }
            if let Some(intent) = Intent::parse(&args.state) {
                reply["resolvedFrom"] = json!(intent.as_str());
            }
            Ok(reply)
        },
    )
}

/// Adds the parents and group members that moved along, and the group if this move declared it.
pub fn tell_along(reply: &mut Value, moved: &Moved, around: &Around<'_>) {
    if let Some(DeclaredGroup { parent, members }) = &moved.declared {
        let members: Vec<Value> = members.iter().map(|id| around.number(id)).collect();
        reply["groupDeclared"] = json!({ "parent": around.number(parent), "members": members });
    }
    let along = moved.along.iter().map(|other| json!({ "number": around.number(&other.task), "toState": other.to }));
    if !moved.along.is_empty() {
        reply["alsoMoved"] = along.collect();
    }
}

/// Adds why the new state is another one than the call asked for: the task stays, or too many rejections hand it to a person.
pub fn reply_reason(call: &Call<'_>, reply: &mut Value, moved: &Moved, typed: &str) {
    let flow = call.ws.flow();
    let asked = flow.find_state(Kind::Issue, typed).ok().map(|state| &state.name);
    if !moved.changed {
        reply["reason"] = json!(format!("it is already in {}", moved.to));
    } else if asked.is_some_and(|asked| *asked != moved.to) && flow.escalation() == Some(&moved.to) {
        let most = call.ws.rules().max_rejections;
        reply["reason"] = json!(format!("it was rejected {most} times, so a person has to decide"));
    }
}

/// Saves fields and a move for a task or its group; the command may have any of its names.
pub fn carry_out(call: &Call<'_>, id: &TaskId, asked: SaveAsk, force: bool) -> Result<Saved, Failure> {
    let saved = translated(call, asked).and_then(|asked| app::save(call.ws, id, &asked));
    saved.map_err(|failure| match force {
        true => {
            failure.hint(Hint::step("force has no effect here: only a person can force a move, on the command line"))
        }
        false => failure,
    })
}

fn translated(call: &Call<'_>, asked: SaveAsk) -> Result<SaveAsk, Failure> {
    let typed = asked.command.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let command = match typed.map(|typed| call.ws.flow().find_command(typed)).transpose() {
        Ok(found) => found.map(|command| command.name.clone()),
        // An unknown command does not matter for escalation, which needs no command.
        Err(_) if asked.to.as_deref().and_then(Intent::parse) == Some(Intent::Escalate) => None,
        Err(unknown) => return Err(unknown.into()),
    };
    Ok(SaveAsk { command, grouping: GROUPING, ..asked })
}

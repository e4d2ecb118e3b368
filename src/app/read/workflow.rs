//! The workflow as one document, for programs.

use serde_json::{Value, json};

use crate::workflow::Workflow;

pub fn describe_workflow(flow: &Workflow) -> Value {
    let states = flow.states().iter().map(|state| {
        json!({
            "name": state.name, "lock": state.lock, "terminal": state.terminal, "human": state.human, "gate": state.gate,
            "off": state.off, "release": state.release, "claim": state.claim, "leave": state.leave, "phase": state.phase,
            "github": state.github,
        })
    });
    let commands = flow.commands().iter().map(|command| {
        json!({
            "name": command.name, "roles": command.roles, "interactive": command.interactive, "from": command.from,
            "lock": command.lock, "complete": command.complete, "ends": command.ends, "intents": command.intents(flow),
            "on_blocked": command.on_blocked, "needs": command.needs, "yields": command.yields,
            "stay": command.stay, "group": command.group,
        })
    });
    let roles =
        flow.roles().iter().map(|role| json!({ "name": role.name, "limit": role.limit, "hands_off": role.hands_off }));
    json!({
        "name": flow.name,
        "states": states.collect::<Vec<_>>(),
        "commands": commands.collect::<Vec<_>>(),
        "roles": roles.collect::<Vec<_>>(),
    })
}

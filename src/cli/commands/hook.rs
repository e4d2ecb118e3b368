//! `ralph hook`.

use std::io::{IsTerminal as _, Read as _};

use serde::Serialize;

use crate::app::{self, GATES, Gate};
use crate::cli::args::HookArgs;
use crate::cli::{Answer, Outcome, Session};

/// The exit code that agent hosts treat as a refusal; they only show other failures to the person.
const BLOCKED: u8 = 2;

pub fn run(session: &Session<'_>, args: &HookArgs) -> Answer {
    let Some(name) = &args.name else { return list(session) };
    let answered = match app::answer_hook(&session.options, name, &input()) {
        Ok(answered) => answered,
        Err(failure) if failure.code == app::Code::UnknownGate => return Err(failure),
        // Without an answer, the tool call is refused.
        Err(failure) => {
            session.out.failure(&failure);
            return Ok(Outcome::Code(BLOCKED));
        }
    };
    if let Some(note) = &answered.note {
        session.out.notices(std::slice::from_ref(note));
    }
    if session.out.json {
        session.out.json(&answered);
    } else if let Gate::Block { why, instead } = &answered.gate {
        session.out.say(&format!("{why}\n{instead}"));
    } else if let Some(arguments) = &answered.arguments {
        // The format in which the host expects changed arguments.
        let output = serde_json::json!({ "hookEventName": "PreToolUse", "updatedInput": arguments });
        session.out.text(&format!("{}\n", serde_json::json!({ "hookSpecificOutput": output })));
    }
    Ok(if answered.gate.is_block() { Outcome::Code(BLOCKED) } else { Outcome::Done })
}

/// Unreadable input counts as missing input: the policy check reports it.
fn input() -> String {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let _ = stdin.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Serialize)]
struct GateRow {
    name: &'static str,
    events: &'static [&'static str],
    tools: Option<&'static str>,
    about: &'static str,
}

fn list(session: &Session<'_>) -> Answer {
    if session.out.json {
        let row = |gate: &app::GateSpec| GateRow {
            name: gate.name,
            events: gate.events,
            tools: gate.matcher,
            about: gate.about,
        };
        session.out.json(&GATES.iter().map(row).collect::<Vec<_>>());
    } else {
        let lines: String = GATES.iter().map(|gate| format!("{:<23} {}\n", gate.name, gate.about)).collect();
        session.out.text(&lines);
    }
    Ok(Outcome::Done)
}

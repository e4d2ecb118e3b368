//! `ralph workflow`: shows the workflow, and converts the board to another.

use crate::app;
use crate::app::{Code, Command, Failure, Hint, ReviewMode, Role, State, Workflow};
use crate::cli::args;
use crate::cli::input::confirm;
use crate::cli::style;
use crate::cli::table::{self, Cell, cell};
use crate::cli::{Answer, Outcome, Session};
use crate::task::StateName;

pub fn run(session: &Session<'_>, args: &args::WorkflowArgs) -> Answer {
    if let Some(args::WorkflowCommand::Use(wanted)) = &args.command {
        return change(session, wanted);
    }
    if args.toml {
        let text = match &args.of {
            Some(name) => app::shipped_table(name)?.to_owned(),
            None => session.with(app::workflow_text)?,
        };
        session.out.text(&text);
        return Ok(Outcome::Done);
    }
    let (flow, mode) = session.with(|ws| {
        let flow = args.of.as_deref().map_or_else(|| Ok(ws.flow().clone()), app::named);
        Ok((flow?, ws.rules().mode))
    })?;
    if session.out.json {
        session.out.json(&app::describe_workflow(&flow));
    } else if args.mermaid {
        session.out.text(&mermaid(&flow, mode));
    } else {
        let width = session.out.width();
        let tables = [states(&flow, mode, width), commands(&flow, width), roles(&flow, mode, width)];
        let filled: Vec<&str> =
            tables.iter().map(|table| table.trim_end()).filter(|table| table.lines().count() > 1).collect();
        session.out.text(&format!("{}\n", filled.join("\n\n")));
    }
    Ok(Outcome::Done)
}

pub fn schema(session: &Session<'_>, args: &args::SchemaArgs) -> Answer {
    let schema = session.with(|ws| app::schema(&args.name, ws.flow()))?;
    session.out.text(&format!("{schema:#}\n"));
    Ok(Outcome::Done)
}

/// Shows where each state goes, then asks.
fn change(session: &Session<'_>, wanted: &args::WorkflowUseArgs) -> Answer {
    let mut planned = session.with(|ws| app::plan_workflow(ws, &wanted.name, &wanted.maps))?;
    if !planned.changed {
        return unchanged(session, &planned);
    }
    if !session.out.json {
        let row = |state: &app::StateChange| {
            let tasks = if state.tasks == 0 { String::new() } else { state.tasks.to_string() };
            vec![
                cell(state.from.as_str(), style::PLAIN),
                cell("→", style::DIM),
                cell(state.to.as_str(), style::PLAIN),
                cell(tasks, style::HEAD),
            ]
        };
        let rows: Vec<Vec<Cell>> = planned.states.iter().map(row).collect();
        let heads = [planned.from.to_uppercase(), String::new(), planned.to.to_uppercase(), "TASKS".into()];
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let shown = table::render(&heads, 2, &[], &rows, session.out.width());
        if wanted.dry_run { session.out.text(&shown) } else { session.out.say(shown.trim_end()) }
    }
    let agreed = match (wanted.dry_run, wanted.yes) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => confirm(session.out, "Convert the board?"),
    };
    if agreed.is_none() {
        return Err(Failure::usage(Code::NobodyToAsk, "not a terminal: cannot ask whether to convert the board")
            .hint(Hint::option("--yes", "to convert it")));
    }
    planned.changed = agreed == Some(true);
    if planned.changed {
        session.with(|ws| app::use_workflow(ws, &planned))?;
    }
    match (session.out.json, planned.changed) {
        (true, _) => session.out.json(&planned),
        (false, true) => session.out.say(&format!("this board now uses the workflow {}", planned.to)),
        (false, false) => session.out.say("nothing changed"),
    }
    if let Some(kept) = planned.kept.filter(|_| planned.changed && !session.out.json) {
        session.out.say(&format!("the old workflow was saved as {kept}"));
    }
    Ok(Outcome::Done)
}

fn unchanged(session: &Session<'_>, planned: &app::WorkflowChange) -> Answer {
    match session.out.json {
        true => session.out.json(planned),
        false => session.out.say(&format!("nothing to do: this board already uses the workflow {}", planned.to)),
    }
    Ok(Outcome::Done)
}

fn names(list: &[StateName]) -> String {
    list.iter().map(StateName::as_str).collect::<Vec<_>>().join(", ")
}

fn states(flow: &Workflow, mode: ReviewMode, width: Option<usize>) -> String {
    let row = |state: &State| -> Vec<Cell> {
        let flags = [
            ("lock", state.lock),
            ("terminal", state.terminal),
            ("human", state.human),
            ("gate", state.gate),
            ("off", state.off),
        ];
        let set: Vec<&str> = flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
        let roles: Vec<&str> =
            flow.roles().iter().map(|r| r.name.as_str()).filter(|role| flow.takes(role, state, mode)).collect();
        vec![
            cell(state.name.as_str(), style::state(&state.name)),
            cell(set.join(" "), style::DIM),
            cell(roles.join(" "), style::OWNER),
            cell(state.release.as_ref().map(StateName::as_str).unwrap_or_default(), style::PLAIN),
            cell(state.github.as_deref().unwrap_or_default(), style::DIM),
        ]
    };
    let rows: Vec<Vec<Cell>> = flow.states().iter().map(row).collect();
    table::render(&["STATE", "IS", "STARTED BY", "RETURNS TO", "ON GITHUB"], 0, &[4], &rows, width)
}

fn commands(flow: &Workflow, width: Option<usize>) -> String {
    let row = |command: &Command| -> Vec<Cell> {
        let name = |state: &Option<StateName>| state.as_ref().map(ToString::to_string).unwrap_or_default();
        let who: Vec<&str> = command.roles.iter().chain(&command.interactive).map(String::as_str).collect();
        vec![
            cell(&command.name, style::HEAD),
            cell(who.join(" "), style::OWNER),
            cell(names(&command.from), style::PLAIN),
            cell(name(&command.lock), style::PLAIN),
            cell(name(&command.complete), style::PLAIN),
            cell(names(&command.ends), style::DIM),
        ]
    };
    let rows: Vec<Vec<Cell>> = flow.commands().iter().map(row).collect();
    table::render(&["COMMAND", "BY", "STARTS FROM", "LOCKS", "COMPLETES TO", "OTHER ENDS"], 5, &[], &rows, width)
}

fn roles(flow: &Workflow, mode: ReviewMode, width: Option<usize>) -> String {
    let row = |role: &Role| -> Vec<Cell> {
        let commands: Vec<&str> = flow.commands_of(&role.name, mode).map(|command| command.name.as_str()).collect();
        vec![
            cell(&role.name, style::OWNER),
            cell(role.limit.to_string(), style::PLAIN),
            cell(commands.join(" "), style::PLAIN),
            cell(role.hands_off.as_ref().map(StateName::as_str).unwrap_or_default(), style::PLAIN),
        ]
    };
    let rows: Vec<Vec<Cell>> = flow.roles().iter().map(row).collect();
    table::render(&["ROLE", "AT MOST", "COMMANDS", "HANDS OFF AT"], 2, &[], &rows, width)
}

fn mermaid(flow: &Workflow, mode: ReviewMode) -> String {
    let name = |state: &StateName| state.as_str().replace(' ', "_");
    let mut text = String::from("stateDiagram-v2\n");
    for state in flow.states() {
        text.push_str(&format!("  {} : {}\n", name(&state.name), state.name));
    }
    for from in flow.states() {
        for to in flow.states().iter().filter(|to| to.name != from.name && Some(&to.name) != flow.escalation()) {
            let plain = flow.commands().is_empty() && [&from.claim, &from.release].contains(&&Some(to.name.clone()));
            if plain {
                text.push_str(&format!("  {} --> {}\n", name(&from.name), name(&to.name)));
            }
            let by: Vec<&str> = flow
                .commands()
                .iter()
                .filter(|c| c.leads(&from.name, &to.name, mode, flow))
                .map(|c| c.name.as_str())
                .collect();
            if !by.is_empty() {
                text.push_str(&format!("  {} --> {} : {}\n", name(&from.name), name(&to.name), by.join(", ")));
            }
        }
    }
    text
}

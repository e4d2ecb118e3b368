//! The policy checks for moves and claims, with the same rules as the commands.

use super::scene::Scene;
use super::{Failure, Gate};
use crate::agent::{Ask, Wish, asks};
use crate::app::work::admit::admit;
use crate::app::work::moves::goal;
use crate::board::Request;
use crate::task::{Task, TaskId};
use crate::workflow::Command;

/// convergence-gate: a group is only planned once all of its members have been researched.
pub fn converged(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let flow = scene.ws.flow();
    let Ok(plan) = flow.command("plan") else { return Ok(Gate::Allow) };
    let Some(gate) = plan.from.first() else { return Ok(Gate::Allow) };
    let asks = match asks(scene.input, &scene.cwd) {
        Ok(asks) => asks,
        Err(why) => return Ok(Gate::unreadable(why)),
    };
    for ask in asks {
        let Some(task) = named(scene, &ask) else { continue };
        let begins = match &ask.wish {
            Wish::Claim => {
                ask.command.as_deref() == Some("plan") || (ask.command.is_none() && plan.from.contains(&task.state))
            }
            Wish::Move(to) => {
                let locks = to.eq_ignore_ascii_case("__LOCK__")
                    || flow.find_state(task.kind, to).is_ok_and(|s| plan.lock.as_ref() == Some(&s.name));
                locks
                    && ask.command.as_deref().is_none_or(|name| name == "plan")
                    && plan.lock.as_ref() != Some(&task.state)
            }
        };
        let members = scene.members(&task.id);
        let places: Vec<usize> = members.iter().filter_map(|task| scene.board.index_of(&task.id)).collect();
        let convergence = scene.board.converged(&places, gate, scene.ws.rules());
        if begins && convergence.required && !convergence.met {
            let waiting: Vec<&str> = convergence.waiting_for.iter().map(TaskId::as_str).collect();
            let why =
                format!("the group of {} is planned together, and these are behind: {}", task.id, waiting.join(", "));
            return Ok(Gate::block(
                why,
                format!("work on another task until then; `ralph position {}` shows what is missing", task.id),
            ));
        }
    }
    Ok(Gate::Allow)
}

/// plan-, review- and impl-state-gate: check the moves of one command before they are made.
pub fn legal(scene: &Scene<'_>, name: &str) -> Result<Gate, Failure> {
    let Ok(command) = scene.ws.flow().command(name) else { return Ok(Gate::Allow) };
    let asks = match asks(scene.input, &scene.cwd) {
        Ok(asks) => asks,
        Err(why) => return Ok(Gate::unreadable(why)),
    };
    for ask in asks {
        let Some(task) = named(scene, &ask) else { continue };
        let doing = scene.doing(task).map(|doing| doing.name.as_str());
        let Wish::Move(to) = &ask.wish else { continue };
        let gate = match ask.command.as_deref() {
            Some(other) if other != name => wrong_command(scene, task, command, other),
            Some(_) => judge(scene, task, to, &ask, command)?,
            None if doing == Some(name) => judge(scene, task, to, &ask, command)?,
            None => Gate::Allow,
        };
        if gate.is_block() {
            return Ok(gate);
        }
    }
    Ok(Gate::Allow)
}

/// Blocks a worker that claimed a task for one command and moves it for another.
fn wrong_command(scene: &Scene<'_>, task: &Task, command: &Command, other: &str) -> Gate {
    let mine = scene.held().iter().any(|held| scene.is_grouped(&held.id, &task.id));
    if !mine || !scene.is_doing(task, &command.name) {
        return Gate::Allow;
    }
    let ends: Vec<String> = command.may_end_in(scene.ws.flow()).iter().map(|state| format!("{state:?}")).collect();
    Gate::block(
        format!("{} is claimed for {}, not for {other}", task.id, command.name),
        format!("use `--for {}`; it can end in {}", command.name, ends.join(", ")),
    )
}

fn judge(scene: &Scene<'_>, task: &Task, to: &str, ask: &Ask, command: &Command) -> Result<Gate, Failure> {
    let Some(actor) = scene.actor(ask.worker.as_deref()) else { return Ok(Gate::Allow) };
    let admitted = goal(scene.ws, &scene.board, &task.id, to).and_then(|goal| {
        let request = Request { command: Some(&command.name), force: ask.force, ..Request::new(&task.id, goal) };
        admit(scene.ws, &scene.board, &actor, &request)
    });
    match admitted {
        Ok(_) => Ok(Gate::Allow),
        Err(failure) => {
            let flow = scene.ws.flow();
            let ends: Vec<String> = command.may_end_in(flow).iter().map(ToString::to_string).collect();
            let otherwise = format!(
                "{} supports {}, and can end in {}",
                command.name,
                command.intents(flow).join(", "),
                ends.join(", ")
            );
            Ok(Gate::refused(&failure, &otherwise))
        }
    }
}

/// Finds the task of a request. Commands of ralph accept any form of an id; other tools must name an exact id or issue.
fn named<'a>(scene: &'a Scene<'_>, ask: &Ask) -> Option<&'a Task> {
    if !ask.foreign {
        return scene.board.get(&scene.ws.find(&ask.task).ok()?);
    }
    let digits = ask.task.trim_start_matches("GH-").trim_start_matches('#');
    let number = digits.parse::<u64>().ok();
    let mirrored = |task: &&Task| number.is_some() && task.github.as_ref().map(|link| link.number) == number;
    scene.board.tasks().iter().find(|task| task.id.as_str() == ask.task || mirrored(task))
}

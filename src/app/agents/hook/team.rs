//! The policy checks for open work: of a worker that stops, an idle teammate, and the lead of a team.

use super::documents::lacking;
use super::scene::Scene;
use super::{Failure, Gate};
use crate::agent::document::DocumentKind;
use crate::app::Workspace;
use crate::app::agents::worker::is_at_work;
use crate::app::sync::target::Target;
use crate::app::work::next::as_reaped;
use crate::board::{Board, Standings};
use crate::task::{Kind, Task, TaskId, Worker};
use crate::workflow::ReviewMode;

/// Work that would be left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub task: TaskId,
    pub title: String,
    pub command: Option<String>,
    /// Whether the worker already holds the task.
    pub own: bool,
}

/// The work that this worker should do before it stops: its claimed task, or else ready work for its role.
pub fn left_for(ws: &Workspace, board: &Board, worker: &Worker) -> Result<Option<Left>, Failure> {
    let Some(role) = ws.rules().role_of(worker) else { return Ok(None) };
    let board = as_reaped(ws, board.clone());
    let standings = Standings::new(&board, ws.rules());
    let open = |at: &usize| !standings.is_finished(*at) && !standings.is_blocked(*at);
    let all = || (0..board.tasks().len()).filter(open).map(|at| (at, &board.tasks()[at]));
    let claimed = |task: &Task| board.claim(&task.id).is_some_and(|claim| claim.live && claim.is_of(worker));
    if let Some((_, task)) = all().find(|(_, task)| claimed(task)) {
        let command = board.claim(&task.id).and_then(|claim| claim.command.clone());
        return Ok(Some(Left { task: task.id.clone(), title: task.title.clone(), command, own: true }));
    }
    // If the limit of the role is reached, there is no work for this worker.
    if board.refuse_too_many(ws.rules(), worker).is_err() {
        return Ok(None);
    }
    let taken = |owner: &Worker| is_at_work(ws, owner);
    if let Some(step) = board.choose_step(&board.teams(ws.rules()), role, worker, &taken, &|_| false, ws.rules()) {
        let title = board.get(&step.step).map(|step| step.title.clone()).unwrap_or_default();
        return Ok(Some(Left { task: step.task, title, command: Some(step.command), own: false }));
    }
    let choice = board.choose(Some(role), Some(worker), ws.rules());
    Ok(choice.and_then(|choice| {
        let title = board.get(&choice.task)?.title.clone();
        Some(Left { task: choice.task, title, command: choice.command, own: choice.resume })
    }))
}

/// worker-stop-gate and team-teammate-idle: a worker should not stop while there is work for it.
pub fn worker_left(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(worker) = &scene.worker else { return Ok(Gate::Allow) };
    let Some(left) = left_for(scene.ws, &scene.board, worker)? else { return Ok(Gate::Allow) };
    // Started by a worker process for a single task: the process takes the next task, not the agent.
    if !left.own && std::env::var_os("RALPH_TASK").is_some_and(|task| !task.is_empty()) {
        return Ok(Gate::Allow);
    }
    let Left { task, title, command, own } = &left;
    let why = match own {
        true => format!("{worker} still holds {task} ({title})"),
        false => format!("{task} is ready for {worker} ({title})"),
    };
    let instead = match command {
        Some(command) if *own => format!("ralph prompt {command} {task}"),
        Some(command) => format!("ralph claim {task} --for {command} --as {worker}"),
        None if *own => format!("ralph task show {task}"),
        None => format!("ralph claim {task} --as {worker}"),
    };
    Ok(Gate::block(why, format!("continue with `{instead}`")))
}

/// team-stop-gate: the same for all open work. Sessions that lead no team may stop, because people use the host for
/// other things too.
pub fn lead_left(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let leads = scene.input.team.is_some()
        || [&scene.input.agent_type, &scene.input.teammate].into_iter().flatten().any(|name| name.ends_with("lead"));
    if scene.worker.is_some() || !leads {
        return Ok(Gate::Allow);
    }
    let ws = scene.ws;
    let board = as_reaped(ws, scene.board.clone());
    let standings = Standings::new(&board, ws.rules());
    let steps: Vec<usize> = (0..board.tasks().len())
        .filter(|&at| board.tasks()[at].kind == Kind::Step && !standings.is_finished(at))
        .collect();
    let nobody = Worker::new("lead")?;
    let taken = |owner: &Worker| is_at_work(ws, owner);
    let free = |role: &str| board.choose_step(&board.teams(ws.rules()), role, &nobody, &taken, &|_| false, ws.rules());
    if let Some((role, choice)) = ws.flow().roles().iter().find_map(|role| Some((&role.name, free(&role.name)?))) {
        let title = board.get(&choice.step).map_or("", |step| step.title.as_str());
        let why = format!("step {} ({title}) has no worker, and {} steps are open", choice.step, steps.len());
        let claim = format!("`ralph claim {} --for {} --as {role}`", choice.task, choice.command);
        return Ok(Gate::block(why, format!("assign it to {role}: {claim}")));
    }
    if !steps.is_empty() {
        return Ok(Gate::Allow);
    }
    for role in ws.flow().roles() {
        if let Some(choice) = board.choose(Some(&role.name), None, ws.rules()) {
            let role = &role.name;
            let command = choice.command.map(|command| format!(" --for {command}")).unwrap_or_default();
            let title = board.get(&choice.task).map_or("", |task| task.title.as_str());
            let why = format!("{} is ready, and no worker has claimed it ({title})", choice.task);
            return Ok(Gate::block(
                why,
                format!("assign it to {role}: `ralph claim {}{command} --as {role}`", choice.task),
            ));
        }
    }
    Ok(Gate::Allow)
}

/// team-task-completed: a completed step needs a result, a completed task the document of its command.
pub fn completed(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let subject = scene.input.task_subject.clone().unwrap_or_default();
    if let Some(step) = step_called(scene, &subject) {
        return Ok(match step.step.as_ref().and_then(|step| step.result.as_ref()) {
            Some(_) => Gate::Allow,
            None => Gate::block(
                format!("step {} ({}) has no result", step.id, step.title),
                format!("record the result: `ralph task set {} result=TEXT`", step.id),
            ),
        });
    }
    let (Some(task), Some(kind)) = (named_in(scene, &subject), kind_of(&subject)) else { return Ok(Gate::Allow) };
    let mode = scene.ws.rules().mode;
    match kind {
        Made::Document(DocumentKind::Review) if mode == ReviewMode::Skip => Ok(Gate::Allow),
        Made::Document(kind) => Ok(lacking(scene, kind, &task.id)?.unwrap_or(Gate::Allow)),
        Made::PullRequest => {
            let linked = scene.members(&task.id).iter().any(|task| task.artifacts.contains_key("pr"));
            if linked || Target::of(scene.ws)?.is_none() {
                return Ok(Gate::Allow);
            }
            let why = format!("{} has no pull request linked", task.id);
            Ok(Gate::block(why, format!("`ralph pr {}` creates it", task.id)))
        }
    }
}

enum Made {
    Document(DocumentKind),
    PullRequest,
}

/// The expected result for a subject such as `Research GH-14`.
fn kind_of(subject: &str) -> Option<Made> {
    let lower = subject.to_lowercase();
    match lower.split(|c: char| !c.is_ascii_alphanumeric()).next()? {
        "research" => Some(Made::Document(DocumentKind::Research)),
        "plan" => Some(Made::Document(DocumentKind::Plan)),
        "review" => Some(Made::Document(DocumentKind::Review)),
        "pr" => Some(Made::PullRequest),
        "create" if lower.contains("pr") || lower.contains("pull request") => Some(Made::PullRequest),
        _ => None,
    }
}

fn step_called<'a>(scene: &'a Scene<'_>, subject: &str) -> Option<&'a Task> {
    let id = scene.input.task_id.as_deref().unwrap_or_default();
    let steps = || scene.board.tasks().iter().filter(|task| task.kind == Kind::Step);
    let by_id = steps().find(|step| step.id.as_str() == id || words(subject).any(|word| word == step.id.as_str()));
    by_id.or_else(|| steps().find(|step| !subject.trim().is_empty() && step.title.trim() == subject.trim()))
}

/// The task that a text names as a whole word, by its id or its issue.
fn named_in<'a>(scene: &'a Scene<'_>, subject: &str) -> Option<&'a Task> {
    words(subject).find_map(|word| {
        let digits = word.strip_prefix("GH-").or_else(|| word.strip_prefix('#'));
        let number = digits.and_then(|digits| digits.parse::<u64>().ok());
        let is_it = |task: &&Task| {
            task.id.as_str() == word || (number.is_some() && task.github.as_ref().map(|link| link.number) == number)
        };
        scene.board.tasks().iter().find(is_it)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_.#".contains(c);
    text.split(move |c| !inside(c)).map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}

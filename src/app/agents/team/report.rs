//! The report of a team: its tasks, its workers, and what remains for a person.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Left, TeamDone};
use crate::app::records::budgets::{raise_task_budget, task_budget};
use crate::app::records::costs::Spent;
use crate::app::records::runs::{Run, RunOutcome, list_runs};
use crate::app::work::ask::open_question;
use crate::app::{Failure, Workspace};
use crate::board::{Board, Change, Links, Op, Refusal};
use crate::fs;
use crate::task::{StateName, Task, TaskId, Value, Worker};

const FOLDER: &str = "thoughts/shared/reports";

/// Every task of the teams that is still open, with the reason.
pub(super) fn left(ws: &Workspace, board: &Board, teams: &[TaskId]) -> Result<Vec<Left>, Failure> {
    let links = Links::new(board);
    let mut found: Vec<Left> = Vec::new();
    for (id, problem) in teams.iter().filter_map(|id| Some((id, board.broken_file(id)?))) {
        let why = problem.to_string();
        found.push(Left {
            task: id.clone(),
            title: String::new(),
            state: StateName::new("unreadable"),
            person: true,
            why,
        });
    }
    for team in teams.iter().filter(|team| board.get(team).is_some()) {
        for at in board.units(team, &links, ws.rules())?.into_iter().flat_map(|unit| unit.members) {
            let task = &board.tasks()[at];
            let known = found.iter().any(|left| left.task == task.id);
            if known || ws.flow().is_terminal(task.kind, &task.state) {
                continue;
            }
            let why = why(ws, board, at);
            let person = ws.rules().needs_person(task) || is_for_review(ws, task);
            found.push(Left {
                task: task.id.clone(),
                title: task.title.clone(),
                state: task.state.clone(),
                person,
                why,
            });
        }
    }
    Ok(found)
}

/// Whether the work is built, and only a person can merge it.
fn is_for_review(ws: &Workspace, task: &Task) -> bool {
    ws.rules().pending_merge(task).is_some_and(|command| command.people)
}

fn why(ws: &Workspace, board: &Board, at: usize) -> String {
    let task = &board.tasks()[at];
    let last = list_runs(ws, Some(&task.id), 1).ok().and_then(|mut runs| runs.pop());
    let said = last.and_then(|run| run.message);
    let blockers = board.open_blockers(at, ws.rules());
    if ws.rules().needs_person(task) {
        if let Ok(Some(question)) = open_question(ws, &task.id) {
            return format!("{} (`ralph inbox` to answer it)", question.reported());
        }
        if let Ok(Some(failure)) = task_budget(ws, &task.id) {
            return raise_task_budget(&task.id, &failure);
        }
        return said.map_or_else(|| "handed to a person".into(), |said| format!("handed to a person: {said}"));
    }
    if is_for_review(ws, task) {
        return format!("to be reviewed and merged by a person: `ralph diff {0}`, then `ralph merge {0}`", task.id);
    }
    if !blockers.is_empty() {
        let ids: Vec<&str> = blockers.iter().map(TaskId::as_str).collect();
        return format!("blocked by {}", ids.join(", "));
    }
    if let Some((held, claim)) = board.binding_claim(at) {
        return Refusal::held(held, claim).to_string();
    }
    if let Some(owner) = task.owner.as_ref().filter(|owner| ws.rules().role_of(owner).is_none()) {
        return format!("owned by {owner}");
    }
    if let Some(waiting) = board.not_its_turn(at, ws.rules()) {
        return waiting.to_string();
    }
    if ws.rules().is_left(task, "triage") {
        return "triage left it in its state".into();
    }
    said.unwrap_or_else(|| "not done yet".into())
}

/// Writes the report and links it to the teams' tasks. Without runs, keeps an existing report; `None` if there is
/// nothing to report.
pub(super) fn write(ws: &Workspace, board: &Board, done: &TeamDone) -> Result<Option<String>, Failure> {
    let Some(first) = done.teams.first().and_then(|team| board.get(team)) else { return Ok(None) };
    let linked = first.artifacts.get("report");
    if done.runs.is_empty() && (linked.is_some() || done.steps.is_empty()) {
        return Ok(linked.cloned());
    }
    let lock = ws.lock()?;
    let path = free_path(ws, board, done);
    fs::make_dir(&ws.store.root().join(FOLDER))?;
    fs::replace(&ws.store.root().join(&path), text(ws, board, done).as_bytes(), true)?;
    let link = |task: &Task| {
        let old = task.artifacts.get("report").map(Value::text);
        Change::set(&task.id, "artifacts.report", old, Some(Value::text(&path)))
    };
    let changes = done.teams.iter().filter_map(|team| board.get(team)).map(link).collect();
    ws.commit(&lock, Op::new("report", changes))?;
    Ok(Some(path))
}

fn name(task: &Task) -> String {
    task.github.as_ref().map_or_else(|| task.id.to_string(), |link| format!("GH-{:04}", link.number))
}

/// The first unused file name for today.
fn free_path(ws: &Workspace, board: &Board, done: &TeamDone) -> String {
    let date = ws.now().strftime("%Y-%m-%d");
    let first = done.teams.first().and_then(|team| board.get(team)).map(name).unwrap_or_default();
    let more = match done.teams.len() {
        0 | 1 => String::new(),
        many => format!("-and-{}-more", many - 1),
    };
    let path = |number: usize| {
        let round = if number == 1 { String::new() } else { format!("-{number}") };
        format!("{FOLDER}/{date}-ralph-team-{first}{more}{round}.md")
    };
    (1..).map(path).find(|path| !ws.store.root().join(path).exists()).unwrap_or_default()
}

fn text(ws: &Workspace, board: &Board, done: &TeamDone) -> String {
    let mut text = head(ws, board, done);
    let _ = writeln!(text, "## Tasks\n\n| task | state | title |\n|---|---|---|");
    for task in tasks(board, done) {
        let _ = writeln!(text, "| {} | {} | {} |", task.id, task.state, cell(&task.title));
    }
    let _ = writeln!(text, "\n## Steps\n\n| step | task | state | by | result |\n|---|---|---|---|---|");
    for step in &done.steps {
        let of: Vec<&str> = step.of.iter().map(TaskId::as_str).collect();
        let by = step.owner.as_ref().map(Worker::as_str).unwrap_or_default();
        let result = cell(step.result.as_deref().unwrap_or_default());
        let _ = writeln!(text, "| {} | {} | {} | {by} | {result} |", step.command, of.join(", "), step.state);
    }
    artifacts(&mut text, board, done);
    workers(&mut text, done);
    let _ = writeln!(text, "\n## Blockers\n");
    for left in &done.left {
        let _ = writeln!(text, "- {} ({}): {}", left.task, left.state, left.why);
    }
    if done.left.is_empty() {
        text.push_str("None.\n");
    }
    impediments(&mut text, done);
    text
}

fn head(ws: &Workspace, board: &Board, done: &TeamDone) -> String {
    let status = if done.left.is_empty() { "complete" } else { "incomplete" };
    let names: Vec<String> = done.teams.iter().filter_map(|team| board.get(team)).map(name).collect();
    let issues: Vec<String> =
        done.teams.iter().filter_map(|team| Some(board.get(team)?.github.as_ref()?.number.to_string())).collect();
    let mut text = format!(
        "---\ndate: {}\ntype: report\nstatus: {status}\nteam_name: {}\n",
        ws.now().strftime("%Y-%m-%d"),
        names.join(", ")
    );
    if let [only] = issues.as_slice() {
        let _ = writeln!(text, "github_issue: {only}");
    } else if !issues.is_empty() {
        let _ = writeln!(text, "github_issues: [{}]", issues.join(", "));
    }
    let took = done.ended.duration_since(done.started).as_secs();
    let finished = done.steps.iter().filter(|step| step.completed).count();
    let runs = match done.spent.runs {
        1 => "1 agent run".to_owned(),
        many => format!("{many} agent runs"),
    };
    let _ = writeln!(text, "---\n\n# Team on {}\n", names.join(", "));
    let _ = writeln!(text, "{finished} of {} steps completed, {runs}, {took} s.\n", done.steps.len());
    if let Some(failure) = &done.out_of_budget {
        let _ = writeln!(text, "It stopped before it was done: {}.\n", failure.message);
    }
    for why in &done.kept_out {
        let _ = writeln!(text, "Its workers got no task: {why}.\n");
    }
    costs(&mut text, done);
    text
}

fn costs(text: &mut String, done: &TeamDone) {
    let Spent { cost_usd, without_cost, without_tokens, runs, .. } = done.spent;
    if runs == 0 {
        return;
    }
    let lacking = |count: usize| match count {
        0 => String::new(),
        count => format!(" (not reported by {count} of {runs} runs)"),
    };
    let dollars = |cost: Option<f64>| cost.map_or_else(|| "unknown".into(), |cost| format!("${cost:.2}"));
    let tokens = done.spent.tokens().map_or_else(|| "unknown".into(), |count| count.to_string());
    let _ = writeln!(text, "- Tokens: {tokens}{}", lacking(without_tokens));
    let _ = writeln!(text, "- Cost: {}{}", dollars(cost_usd), lacking(without_cost));
    if done.merged.tasks > 0 {
        let each = dollars(done.merged.cost_per_task);
        let _ = writeln!(text, "- Cost per merged task: {each} ({} merged)", done.merged.tasks);
    }
    text.push('\n');
}

/// The tasks of the steps, in the order of the steps.
fn tasks<'b>(board: &'b Board, done: &TeamDone) -> Vec<&'b Task> {
    let mut found: Vec<&Task> = Vec::new();
    for id in done.teams.iter().chain(done.steps.iter().flat_map(|step| &step.of)) {
        if let Some(task) = board.get(id).filter(|task| !found.iter().any(|known| known.id == task.id)) {
            found.push(task);
        }
    }
    found
}

fn artifacts(text: &mut String, board: &Board, done: &TeamDone) {
    let _ = writeln!(text, "\n## Artifacts\n");
    let mut any = false;
    for task in tasks(board, done) {
        for (kind, path) in task.artifacts.iter().filter(|(kind, _)| *kind != "report") {
            let _ = writeln!(text, "- {} {kind}: {path}", task.id);
            any = true;
        }
    }
    if !any {
        text.push_str("None.\n");
    }
}

fn workers(text: &mut String, done: &TeamDone) {
    let mut by: BTreeMap<&Worker, (usize, i64)> = BTreeMap::new();
    for run in &done.runs {
        let took = run.ended.map_or(0, |ended| ended.duration_since(run.started).as_secs());
        let (runs, seconds) = by.entry(&run.worker).or_default();
        (*runs, *seconds) = (*runs + 1, *seconds + took);
    }
    let _ = writeln!(text, "\n## Workers\n\n| worker | runs | time |\n|---|---|---|");
    for (worker, (runs, seconds)) in by {
        let _ = writeln!(text, "| {worker} | {runs} | {seconds} s |");
    }
}

fn impediments(text: &mut String, done: &TeamDone) {
    let _ = writeln!(text, "\n## Impediments\n");
    let mut any = false;
    let hindered = |run: &&Run| {
        run.outcome.is_failure()
            || matches!(run.outcome, RunOutcome::Strayed | RunOutcome::Lost)
            || !run.strays.is_empty()
    };
    for run in done.runs.iter().filter(hindered) {
        let mut said = run.message.clone().unwrap_or_default();
        if !run.strays.is_empty() && run.outcome != RunOutcome::Strayed {
            let strays = format!("files changed in the main worktree during the run: {}", run.strays.join(", "));
            said = if said.is_empty() { strays } else { format!("{said}; {strays}") };
        }
        let (what, attempt, how) = (&run.command, run.attempt, run.outcome.words());
        let _ =
            writeln!(text, "- {what} of {}, attempt {attempt}: {how}{} ({})", run.task, because(said.trim()), run.id);
        any = true;
    }
    if !any {
        text.push_str("None.\n");
    }
}

fn because(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// A text, escaped for one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

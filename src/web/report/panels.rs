//! The dashboard of the report: charts and lists.

use std::fmt::Write as _;

use super::super::charts::Charts;
use super::super::markdown::escape;
use crate::app::{Brief, Costs, RoleQueue, Run, Status, span};
use crate::task::{Problem, TaskId};

const LEGEND: &str = "<ul class=\"legend\"><li class=\"open\"><span class=\"swatch\"></span>open</li>\
     <li class=\"ready\"><span class=\"swatch\"></span>ready</li>\
     <li class=\"blocked\"><span class=\"swatch\"></span>blocked</li></ul>";
const TIMES: &str = "<p class=\"dim\">dark: 50% of the tasks left the state within this time; light: 90%</p>";

pub fn write(out: &mut String, status: &Status, runs: &[Run], charts: &Charts, costs: &Costs) {
    out.push_str("<section id=\"dashboard\"><h2>Dashboard</h2><div class=\"panels\">");
    list(out, "Problems", status.problem_list.iter().map(problem));
    panel(out, "Done per day", &charts.finished);
    panel(out, "Open, ready and blocked", &format!("{}{LEGEND}", charts.standing));
    panel(out, "Time in state", &format!("{}{TIMES}", charts.times));
    spending(out, costs);
    work(out, status, runs);
    trouble(out, status);
    out.push_str("</div></section>");
}

/// The usage of agents. A value that a program did not report is unknown, not zero.
fn spending(out: &mut String, costs: &Costs) {
    let (total, merged) = (&costs.total, &costs.merged);
    let dollars = |amount: Option<f64>| amount.map_or_else(|| "unknown".into(), |amount| format!("${amount:.2}"));
    let at_least = |missing: usize| if missing > 0 { "at least " } else { "" };
    let cost = match total.cost_usd {
        Some(_) => format!("{}{}", at_least(total.without_cost), dollars(total.cost_usd)),
        None => "unknown".into(),
    };
    let tokens = match total.tokens() {
        Some(count) => format!("{}{count}", at_least(total.without_tokens)),
        None => "unknown".into(),
    };
    let mut lines = vec![
        if total.runs == 1 { "1 run".into() } else { format!("{} runs", total.runs) },
        format!("tokens: {tokens}"),
        format!("cost: {cost}"),
    ];
    if merged.tasks > 0 {
        lines.push(format!("cost per merged task: {} ({} merged)", dollars(merged.cost_per_task), merged.tasks));
    }
    list(out, "Agents in 30 days", lines.into_iter().filter(|_| total.runs > 0));
}

fn work(out: &mut String, status: &Status, runs: &[Run]) {
    let at_work = status.claims.iter().map(|held| {
        format!(
            "{} <span class=\"owner live\">{}</span>",
            link(&held.task, &held.title),
            escape(held.claim.by.as_str())
        )
    });
    match status.claims.is_empty() {
        true => panel(out, "Active workers", "<p class=\"dim\">none</p>"),
        false => list(out, "Active workers", at_work),
    }
    list(out, "Roles", status.ready.iter().map(role));
    list(out, "Runs", runs.iter().map(run));
}

fn trouble(out: &mut String, status: &Status) {
    let roots = status.roots.iter().map(|root| {
        let by = root.by.as_ref().map(|by| format!(", claimed by {by}")).unwrap_or_default();
        brief(&root.task, &format!("unblocks {}{by}", root.frees))
    });
    list(out, "Blockers", roots);
    list(out, "Handed to a person", status.waiting_for_person.iter().map(|task| brief(task, "")));
    let stuck = status.stuck.iter().take(STUCK);
    let stuck = stuck.map(|stuck| brief(&stuck.task, &format!("{} for {} h", stuck.task.state, stuck.hours)));
    list(out, "Stuck", stuck);
    list(out, "Too large", status.oversized.iter().map(|task| brief(task, task.state.as_str())));
}

/// The same number as on the page.
const STUCK: usize = 12;

fn panel(out: &mut String, title: &str, html: &str) {
    let _ = write!(out, "<section class=\"panel\"><h3>{title}</h3>{html}</section>");
}

/// Writes a list, unless it is empty.
fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.map(|line| format!("<li>{line}</li>")).collect();
    if !lines.is_empty() {
        panel(out, title, &format!("<ul class=\"plain\">{lines}</ul>"));
    }
}

fn problem(problem: &Problem) -> String {
    let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
    format!("<span class=\"id\">{}{line}</span> {}", escape(&problem.file), escape(&problem.message))
}

fn role(queue: &RoleQueue) -> String {
    let limit = queue.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let first: String = queue.first.iter().map(|task| format!("<li>{}</li>", brief(task, ""))).collect();
    format!(
        "<strong>{}</strong> <span class=\"dim\">{}{limit} claimed, {} ready</span><ul class=\"plain small\">{first}</ul>",
        escape(&queue.role),
        queue.at_work,
        queue.count
    )
}

fn run(run: &Run) -> String {
    let took = run.ended.map(|ended| span(ended.duration_since(run.started)));
    format!(
        "<a class=\"id\" href=\"#{id}\">{id}</a> {} · {} <span class=\"dim\">{}, {}</span>",
        escape(run.worker.as_str()),
        escape(&run.command),
        run.outcome.words(),
        took.unwrap_or_else(|| "running".into()),
        id = run.task,
    )
}

fn brief(task: &Brief, told: &str) -> String {
    format!("{} <span class=\"dim\">{}</span>", link(&task.task, &task.title), escape(told))
}

fn link(id: &TaskId, title: &str) -> String {
    format!("<a href=\"#{id}\"><span class=\"id\">{id}</span> {}</a>", escape(title))
}

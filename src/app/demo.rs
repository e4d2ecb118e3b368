//! The board that `init --demo` makes: an epic, a blocking chain, every state, so that each command has something to show.

use super::{Failure, NewTask, Workspace, add, note};
use crate::task::{Estimate, Kind, Priority};

struct Row {
    name: &'static str,
    title: &'static str,
    state: &'static str,
    priority: Option<Priority>,
    estimate: Estimate,
    labels: &'static [&'static str],
    owner: Option<&'static str>,
    parent: Option<&'static str>,
    blocked_by: &'static [&'static str],
    body: &'static str,
}

const fn row(name: &'static str, title: &'static str, state: &'static str, estimate: Estimate) -> Row {
    Row {
        name,
        title,
        state,
        priority: None,
        estimate,
        labels: &[],
        owner: None,
        parent: None,
        blocked_by: &[],
        body: "",
    }
}

fn rows() -> Vec<Row> {
    use Estimate::{L, M, S, Xs};
    use Priority::{P0, P1, P2, P3};
    vec![
        Row {
            priority: Some(P1),
            labels: &["checkout"],
            body: "Customers can pay with a saved card, by invoice, or with a voucher.\n\nWe ship when all three work in the sandbox.",
            ..row("pay", "Payments that people finish", "Backlog", L)
        },
        Row {
            priority: Some(P1),
            labels: &["checkout", "api"],
            parent: Some("pay"),
            ..row("schema", "Agree on the payment schema", "Done", S)
        },
        Row {
            priority: Some(P1),
            labels: &["api", "checkout"],
            parent: Some("pay"),
            owner: Some("builder-2"),
            blocked_by: &["schema"],
            body: "The endpoint accepts a token, never a card number.\n\n- [x] happy path\n- [ ] declined card\n- [ ] timeout of the bank",
            ..row("card", "Charge a saved card", "In Progress", S)
        },
        Row {
            priority: Some(P1),
            labels: &["checkout", "web"],
            parent: Some("pay"),
            blocked_by: &["card"],
            ..row("form", "Payment form with inline errors", "Ready for Plan", S)
        },
        Row {
            priority: Some(P2),
            labels: &["docs"],
            parent: Some("pay"),
            blocked_by: &["form", "card"],
            ..row("docs", "Write the payment guide", "Backlog", Xs)
        },
        Row {
            priority: Some(P0),
            labels: &["bug"],
            ..row("leak", "Session token appears in the access log", "Research Needed", Xs)
        },
        Row {
            priority: Some(P1),
            labels: &["bug", "search"],
            owner: Some("analyst"),
            ..row("slow", "Search takes nine seconds on large catalogues", "Research in Progress", S)
        },
        Row {
            priority: Some(P2),
            labels: &["search"],
            owner: Some("builder"),
            ..row("facet", "Facets for the search page", "Plan in Progress", S)
        },
        Row {
            priority: Some(P2),
            labels: &["web"],
            ..row("dark", "Dark mode follows the system", "Plan in Review", S)
        },
        Row { priority: Some(P2), labels: &["api"], ..row("limit", "Rate limits per key", "In Review", S) },
        Row {
            priority: Some(P1),
            labels: &["legal"],
            body: "Two readings of the contract are possible; somebody has to ask the lawyers.",
            ..row("gdpr", "How long may we keep invoices?", "Human Needed", Xs)
        },
        Row { priority: Some(P3), labels: &["web"], ..row("carousel", "Carousel on the landing page", "Canceled", M) },
        Row { priority: Some(P3), labels: &["build"], ..row("ci", "Cache the dependencies in CI", "Done", Xs) },
        Row {
            priority: Some(P3),
            labels: &["search"],
            blocked_by: &["slow"],
            ..row("typo", "Forgive typing errors in search", "Backlog", M)
        },
    ]
}

/// How many tasks it made.
pub(super) fn fill(ws: &Workspace) -> Result<usize, Failure> {
    if !ws.board()?.tasks().is_empty() {
        let message = "the board has tasks already, and a demo would stand between them";
        return Err(Failure::refused("not-empty", message).advice("run `ralph init --demo` in an empty repository"));
    }
    let rows = rows();
    let wanted: Vec<NewTask> = rows.iter().map(new_task).collect();
    let added = add(ws, &wanted)?;
    let named = |name: &str| rows.iter().position(|row| row.name == name).map(|at| &added.tasks[at].id);
    if let (Some(card), Some(leak)) = (named("card"), named("leak")) {
        note(ws, card, "The bank's sandbox answers 504 about once in ten calls: retry with the same idempotency key.")?;
        note(ws, leak, "Seen in the log of the reverse proxy too, not only in ours.")?;
    }
    Ok(added.tasks.len())
}

fn new_task(row: &Row) -> NewTask {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    NewTask {
        reference: Some(row.name.into()),
        title: row.title.into(),
        description: row.body.into(),
        kind: (row.name == "pay").then_some(Kind::Epic),
        state: Some(row.state.into()),
        priority: row.priority,
        estimate: Some(row.estimate),
        labels: texts(row.labels),
        owner: row.owner.map(Into::into),
        parent: row.parent.map(Into::into),
        blocked_by: texts(row.blocked_by),
        ..NewTask::default()
    }
}

//! `ralph who`.

use crate::app::{self, ChangingWorktree, ClaimLine, Who};
use crate::cli::args::WhoArgs;
use crate::cli::style;
use crate::cli::table::{self, Cell, cell};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &WhoArgs) -> Answer {
    let who = session.with(|ws| app::who(ws, &session.options.dir, &args.path))?;
    if session.out.json {
        session.out.json(&who);
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<Cell>> = rows(&who);
    if rows.is_empty() {
        session.out.say(&format!("nobody works on {}: no claim covers it, and no worktree changes it", who.path));
        return Ok(Outcome::Done);
    }
    let heads = ["ID", "WHO", "HOW", "PATH", "TITLE"];
    session.out.text(&table::render(&heads, 4, &[], &rows, session.out.width()));
    Ok(Outcome::Done)
}

fn rows(who: &Who) -> Vec<Vec<Cell>> {
    let claims = who.claims.iter().flat_map(|claim| claimed(claim, &who.path));
    claims.chain(who.worktrees.iter().map(changed)).collect()
}

/// The paths of the claim that cover the file.
fn claimed(claim: &ClaimLine, path: &str) -> Vec<Vec<Cell>> {
    let row = |own: &String| {
        let command = claim.command.as_deref().map(|command| format!(" for {command}")).unwrap_or_default();
        vec![
            cell(claim.task.as_str(), style::ID),
            cell(claim.worker.as_str(), style::OWNER),
            cell(format!("claimed{command}"), style::PLAIN),
            cell(own.as_str(), style::PLAIN),
            cell(claim.title.as_str(), style::PLAIN),
        ]
    };
    claim.bearing_on(path).iter().map(row).collect()
}

fn changed(worktree: &ChangingWorktree) -> Vec<Cell> {
    let more = worktree.files.len().saturating_sub(1);
    let first = worktree.files.first().map(String::as_str).unwrap_or_default();
    let files = if more == 0 { first.to_owned() } else { format!("{first} and {more} more") };
    vec![
        cell(worktree.task.as_ref().map(ToString::to_string).unwrap_or_default(), style::ID),
        cell(worktree.owner.as_ref().map(ToString::to_string).unwrap_or_default(), style::OWNER),
        cell(format!("changed on {}", worktree.branch), style::PLAIN),
        cell(files, style::PLAIN),
        cell(worktree.title.clone().unwrap_or_default(), style::PLAIN),
    ]
}

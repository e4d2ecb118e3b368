//! `ralph claim`, `renew`, `release`, `claims` and `reap`.

use crate::app::{self, ClaimLine, Claimed, Reaped};
use crate::cli::args::{ClaimArgs, ClaimsCommand, OneArgs, ReleaseArgs};
use crate::cli::style::{self, paint};
use crate::cli::table::{self, Cell, cell};
use crate::cli::{Answer, Outcome, Session};

pub fn claim(session: &Session<'_>, args: &ClaimArgs) -> Answer {
    let claimed = super::moves::or_ask(session, args.force, |force| {
        let command = args.acting.command.as_deref();
        session.with(|ws| app::claim(ws, &ws.find(&args.task)?, command, force, args.reach.reach()))
    })?;
    tell(session, &claimed)
}

pub fn renew(session: &Session<'_>, args: &OneArgs) -> Answer {
    let claimed = session.with(|ws| app::renew(ws, &ws.find(&args.task)?))?;
    tell(session, &claimed)
}

fn tell(session: &Session<'_>, claimed: &Claimed) -> Answer {
    if session.out.json {
        session.out.json(claimed);
    } else {
        session.out.text(&line(claimed));
    }
    Ok(Outcome::Done)
}

/// `t-x7kq claimed by builder-2 for plan until 10:40Z  Plan in Progress`.
pub fn line(claimed: &Claimed) -> String {
    let command = claimed.command.as_ref().map(|command| format!(" for {command}")).unwrap_or_default();
    let verb = if claimed.renewed { "claim renewed" } else { "claimed" };
    let from = claimed.taken_from.as_ref().map(|worker| format!(", taken over from {worker}")).unwrap_or_default();
    let until = claimed.until.strftime("%H:%MZ");
    format!(
        "{} {verb} by {}{command} until {until}{from}  {}\n",
        paint(style::ID, &claimed.task),
        paint(style::OWNER, &claimed.worker),
        paint(style::state(&claimed.state), &claimed.state)
    )
}

pub fn release(session: &Session<'_>, args: &ReleaseArgs) -> Answer {
    let released = session.with(|ws| app::release(ws, &ws.find(&args.task)?, args.force))?;
    if session.out.json {
        session.out.json(&released);
    } else {
        let moved = if released.from == released.to {
            released.to.to_string()
        } else {
            format!("{} → {}", released.from, released.to)
        };
        session.out.text(&format!("{} released  {moved}\n", paint(style::ID, &released.task)));
    }
    Ok(Outcome::Done)
}

pub fn list(session: &Session<'_>, command: &ClaimsCommand) -> Answer {
    let ClaimsCommand::Ls { remote, paths } = command;
    let claims = session.with(|ws| app::list_claims(ws, *remote))?;
    if session.out.json {
        session.out.json(&claims.claims);
        return Ok(Outcome::Done);
    }
    if let Some(seen) = claims.seen.filter(|_| !*remote) {
        session.out.say(&format!(
            "claims of other machines were fetched at {}; `--remote` fetches them again",
            seen.strftime("%H:%MZ")
        ));
    }
    let claims = claims.claims;
    if claims.is_empty() {
        session.out.say("no claims");
        return Ok(Outcome::Done);
    }
    if *paths {
        let heads = ["ID", "WORKER", "FOR", "UNTIL", "PATH"];
        let rows: Vec<Vec<Cell>> = claims.iter().flat_map(path_rows).collect();
        session.out.text(&table::render(&heads, 4, &[], &rows, session.out.width()));
        return Ok(Outcome::Done);
    }
    let heads = ["ID", "WORKER", "FOR", "UNTIL", "HOST", "PLACE", "TITLE"];
    let rows: Vec<Vec<Cell>> = claims.iter().map(row).collect();
    session.out.text(&table::render(&heads, 6, &[4, 5], &rows, session.out.width()));
    Ok(Outcome::Done)
}

fn row(claim: &ClaimLine) -> Vec<Cell> {
    let rest = [
        cell(claim.host.as_str(), style::DIM),
        cell(claim.place, if claim.place == "not published" { style::WARN } else { style::DIM }),
        cell(claim.title.as_str(), style::PLAIN),
    ];
    holder(claim).into_iter().chain(rest).collect()
}

/// One row for each file or folder; a claim without a scope has one row.
fn path_rows(claim: &ClaimLine) -> Vec<Vec<Cell>> {
    let row = |path: Cell| holder(claim).into_iter().chain([path]).collect();
    match claim.paths.is_empty() {
        true => vec![row(cell("no scope", style::DIM))],
        false => claim.paths.paths().iter().map(|path| row(cell(path.as_str(), style::PLAIN))).collect(),
    }
}

/// The first cells of a row: task, holder, command and end.
pub fn holder(claim: &ClaimLine) -> [Cell; 4] {
    let until = match (claim.live, claim.held) {
        (false, _) => "dead".to_owned(),
        (true, true) => "process ends".to_owned(),
        (true, false) => claim.until.strftime("%H:%MZ").to_string(),
    };
    [
        cell(claim.task.as_str(), style::ID),
        cell(claim.worker.as_str(), style::OWNER),
        cell(claim.command.clone().unwrap_or_default(), style::PLAIN),
        cell(until, if claim.live { style::PLAIN } else { style::WARN }),
    ]
}

pub fn reap(session: &Session<'_>) -> Answer {
    let reaped = session.with(app::reap)?;
    if session.out.json {
        session.out.json(&reaped);
    } else if reaped.is_empty() {
        session.out.say("nothing to do: all claims are live");
    } else {
        session.out.text(&reaped.iter().map(reaped_line).collect::<String>());
    }
    Ok(Outcome::Done)
}

pub fn reaped_line(reaped: &Reaped) -> String {
    let from = reaped.worker.as_ref().map_or_else(|| "its holder".into(), ToString::to_string);
    format!(
        "{} released, because the claim of {from} ended  {} → {}\n",
        paint(style::ID, &reaped.task),
        reaped.from,
        reaped.to
    )
}

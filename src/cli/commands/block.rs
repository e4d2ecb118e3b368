//! `ralph block` and `ralph unblock`.

use crate::app::{self, Linked};
use crate::cli::args::{BlockArgs, UnblockArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn block(session: &Session<'_>, args: &BlockArgs) -> Answer {
    tell(session, &session.with(|ws| app::block(ws, &ws.find(&args.task)?, &ws.find_all(&args.on)?))?)
}

pub fn unblock(session: &Session<'_>, args: &UnblockArgs) -> Answer {
    let linked = session.with(|ws| {
        let from: Result<Vec<_>, _> = args.from.iter().map(|typed| ws.find_or_literal(typed)).collect();
        app::unblock(ws, &ws.find(&args.task)?, &from?)
    })?;
    tell(session, &linked)
}

fn tell(session: &Session<'_>, linked: &Linked) -> Answer {
    if session.out.json {
        session.out.json(linked);
    } else if linked.changed {
        let ids: Vec<String> = linked.blocked_by.iter().map(|id| paint(style::ID, id)).collect();
        let on = if ids.is_empty() { "nothing".into() } else { ids.join(", ") };
        session.out.text(&format!("{} is blocked by {on}\n", paint(style::ID, &linked.task)));
    } else {
        session.out.say("nothing to do: these blockers are already set");
    }
    Ok(Outcome::Done)
}

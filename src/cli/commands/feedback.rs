//! `ralph feedback` and `ralph reply`.

use crate::app::{self, Point};
use crate::cli::args::{FeedbackArgs, ReplyArgs};
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session};

pub fn list(session: &Session<'_>, args: &FeedbackArgs) -> Answer {
    let found = session.with(|ws| {
        let id = ws.find(&args.task)?;
        if args.fetch {
            app::fetch_feedback(ws, &id)?;
        }
        app::feedback(ws, &id)
    })?;
    let out = session.out;
    if out.json {
        out.json(&found);
    } else if found.points.is_empty() {
        out.say(&format!("{} has no open feedback", found.task));
    } else {
        out.text(&found.points.iter().map(shown).collect::<Vec<_>>().join("\n"));
    }
    Ok(Outcome::Done)
}

fn shown(point: &Point) -> String {
    let place = match (&point.path, point.line) {
        (Some(path), Some(line)) => format!(" {path}:{line}"),
        (Some(path), None) => format!(" {path}"),
        _ => String::new(),
    };
    let by = point.by.as_ref().filter(|_| !point.local).map(|by| format!(" by {by}")).unwrap_or_default();
    let kind = if point.local { "merge check" } else { point.kind };
    let standing = match (&point.reply, point.waiting) {
        (_, true) => paint(style::WARN, "open"),
        (Some(reply), _) if reply.declined => paint(style::DIM, "declined"),
        _ => paint(style::READY, "answered"),
    };
    let number = paint(style::ID, format!("{:>2}", point.number));
    let mut text = format!("{number} {standing}: {kind}{}{}\n", clean(&place), clean(&by));
    text.extend(point.text.lines().map(|line| format!("   {}\n", clean(line))));
    if let Some(reply) = &point.reply {
        let by = reply.by.as_deref().unwrap_or("somebody");
        text.extend(
            reply.text.lines().map(|line| format!("   {}\n", paint(style::DIM, format!("{by}: {}", clean(line))))),
        );
    }
    text
}

pub fn reply(session: &Session<'_>, args: &ReplyArgs) -> Answer {
    let done =
        session.with(|ws| app::reply(ws, &ws.find(&args.task)?, args.number, &args.words.join(" "), args.declined))?;
    let out = session.out;
    if out.json {
        out.json(&done);
        return Ok(Outcome::Done);
    }
    let left = match done.left {
        0 => "no points are open".to_owned(),
        1 => "1 point is still open".to_owned(),
        many => format!("{many} points are still open"),
    };
    out.text(&format!("{} replied to point {}; {left}\n", paint(style::ID, &done.task), done.point));
    Ok(Outcome::Done)
}

//! `ralph why`.

use crate::app::{self, Reason, Why};
use crate::cli::args::OneArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::{clean, cut};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &OneArgs) -> Answer {
    let why = session.with(|ws| app::why(ws, &ws.find(&args.task)?))?;
    if session.out.json {
        session.out.json(&why);
    } else {
        session.out.text(&page(&why, session.out.width()));
    }
    Ok(Outcome::Done)
}

fn page(why: &Why, width: Option<usize>) -> String {
    let mut text = format!("{}\n{}\n", super::tree::line(&why.task, width), why.verdict);
    for (at, reason) in why.reasons.iter().enumerate() {
        draw(reason, "", at + 1 == why.reasons.len(), &mut text);
    }
    text
}

fn draw(reason: &Reason, below: &str, last: bool, text: &mut String) {
    let (branch, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    text.push_str(&format!("{}{}\n", paint(style::DIM, format!("{below}{branch}")), line(reason)));
    for (at, next) in reason.reasons.iter().enumerate() {
        draw(next, &format!("{below}{rest}"), at + 1 == reason.reasons.len(), text);
    }
}

fn line(reason: &Reason) -> String {
    let title = cut(&clean(reason.title.as_deref().unwrap_or("?")), 60);
    let state =
        reason.state.as_ref().map(|state| format!(" · {}", paint(style::state(state), state))).unwrap_or_default();
    let holder = match (&reason.claim, &reason.owner) {
        (Some(claim), _) => format!(" {}", paint(style::OWNER, format!("@{}", claim.by))),
        (None, Some(owner)) => format!(" {}", paint(style::DIM, format!("@{owner}, no claim"))),
        (None, None) => String::new(),
    };
    let through = reason.through.as_ref().map(|id| paint(style::DIM, format!(" through {id}"))).unwrap_or_default();
    let dead =
        reason.dead.as_ref().map(|why| format!("  {}", paint(style::BLOCKED, format!("✗ {why}")))).unwrap_or_default();
    let again = if reason.again { paint(style::DIM, "  (see above)") } else { String::new() };
    let root = reason.reasons.is_empty() && !reason.again;
    let frees = if root && reason.frees > 0 {
        paint(style::READY, format!("  unblocks {}", words::count(reason.frees, "task")))
    } else {
        String::new()
    };
    format!("{} {title}{state}{holder}{through}{dead}{frees}{again}", paint(style::ID, &reason.task))
}

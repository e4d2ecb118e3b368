//! `ralph pull` and `push`.

use crate::app::{self, Shared, Side};
use crate::cli::args::{ShareArgs, TakeCommand};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn pull(session: &Session<'_>, args: &ShareArgs) -> Answer {
    let shared = session.with(|ws| app::pull(ws, args.remote.as_deref(), side(args)))?;
    tell(session, &shared, "has no changes to the board")
}

pub fn push(session: &Session<'_>, args: &ShareArgs) -> Answer {
    let shared = session.with(|ws| app::push(ws, args.remote.as_deref(), side(args)))?;
    tell(session, &shared, "already has this board")
}

fn side(args: &ShareArgs) -> Option<Side> {
    args.take.map(|take| if take == TakeCommand::Ours { Side::Ours } else { Side::Theirs })
}

fn tell(session: &Session<'_>, shared: &Shared, idle: &str) -> Answer {
    if session.out.json {
        session.out.json(shared);
        return Ok(Outcome::Done);
    }
    let Shared { remote, upstream, committed, pulled, changed, removed, pushed, .. } = shared;
    let short = |id: &String| paint(style::ID, &id[..8.min(id.len())]);
    let mut text = String::new();
    if let Some(id) = committed {
        text.push_str(&format!("committed the board  {}\n", short(id)));
    }
    if let Some(id) = pulled {
        let files = if changed.len() == 1 { "1 file".to_owned() } else { format!("{} files", changed.len()) };
        text.push_str(&format!("pulled {remote}/{upstream}: {files}  {}\n", short(id)));
    }
    for path in removed {
        text.push_str(&format!("  removed {}\n", path.trim_start_matches(".ralph/")));
    }
    if *pushed {
        text.push_str(&format!("pushed to {remote}/{upstream}\n"));
    }
    if text.is_empty() {
        session.out.say(&format!("nothing to do: {remote}/{upstream} {idle}"));
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

//! `ralph pr`.

use crate::app::{self, PrStep, PullRequested};
use crate::cli::args::PrArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &PrArgs) -> Answer {
    let mut tell = |step: PrStep<'_>| {
        if !session.out.json {
            session.out.say(&match step {
                PrStep::Pushing(branch) => format!("pushing {branch}"),
                PrStep::Creating(branch) => format!("creating a pull request for {branch}"),
                PrStep::Waiting(wait) => format!("waiting {} s: {}", wait.seconds, wait.why),
            });
        }
    };
    let done = session.with(|ws| app::pull_request(ws, &ws.find(&args.task)?, args.draft, args.force, &mut tell))?;
    if session.out.json {
        session.out.json(&done);
    } else {
        session.out.text(&words(&done));
    }
    Ok(Outcome::Done)
}

fn words(done: &PullRequested) -> String {
    let (Some(url), Some(number)) = (&done.url, done.number) else {
        return format!(
            "nothing to do: this repository has no GitHub remote; `ralph merge {}` merges {} locally\n",
            done.task, done.branch
        );
    };
    let how = match (done.created, done.pushed) {
        (true, _) => "made",
        (false, true) => "has new commits",
        (false, false) => "already exists",
    };
    let mut text = format!("{} into {}: #{number} {how}  {url}\n", done.branch, done.base);
    if !done.closes.is_empty() {
        let list: Vec<String> = done.closes.iter().map(|number| format!("#{number}")).collect();
        text.push_str(&format!("its merge closes {}\n", list.join(", ")));
    }
    match done.replies {
        0 => {}
        1 => text.push_str("posted 1 reply to its review\n"),
        many => text.push_str(&format!("posted {many} replies to its review\n")),
    }
    text.push_str(&format!("{} {}\n", paint(style::ID, &done.task), paint(style::state(&done.state), &done.state)));
    text
}

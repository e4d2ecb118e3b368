//! `ralph merge`.

use super::moves::consequences;
use crate::app::{self, MergeStep, Merged};
use crate::cli::args::MergeArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &MergeArgs) -> Answer {
    let mut tell = |step: MergeStep<'_>| {
        if session.out.json {
            return;
        }
        session.out.say(&match step {
            MergeStep::Updating(branch) => format!("merging main into {branch}, to run the checks on the result"),
            MergeStep::Check(program) => format!("check: {}", program.join(" ")),
            MergeStep::Landing(branch) => format!("merging {branch}"),
            MergeStep::Waiting(wait) => format!("waiting {} s: {}", wait.seconds, wait.why),
        });
    };
    let merged = session.with(|ws| app::merge(ws, &ws.find(&args.task)?, args.force, &mut tell))?;
    if session.out.json {
        session.out.json(&merged);
    } else {
        session.out.text(&words(&merged));
    }
    for hook in merged.hooks_not_run.iter().filter(|_| !session.out.json) {
        session.out.say(&format!("note: the git hook {hook} was not run: ralph does not run hooks when it merges"));
    }
    Ok(Outcome::Done)
}

fn words(merged: &Merged) -> String {
    let how = match merged.style.as_str() {
        "squash" => "squash-merged",
        "ff" => "fast-forwarded",
        _ => "merged",
    };
    let commit = paint(style::ID, &merged.commit[..8]);
    let mut text = format!("{how} {} into {}  {commit}\n", merged.branch, merged.into);
    match &merged.kept {
        Some(why) => text.push_str(&format!("{}\n", paint(style::WARN, why))),
        None if merged.worktree_removed && merged.branch_deleted => text.push_str("removed its worktree and branch\n"),
        None if merged.branch_deleted => text.push_str("removed its branch\n"),
        None => {}
    }
    let state = |name: &crate::task::StateName| paint(style::state(name), name);
    text.push_str(&format!("{} → {}\n", paint(style::ID, &merged.task), state(&merged.to)));
    text.push_str(&consequences(merged.outside.as_deref(), &merged.unblocked));
    for along in &merged.along {
        text.push_str(&format!("{} → {}  moved with it\n", paint(style::ID, &along.task), state(&along.to)));
    }
    text
}

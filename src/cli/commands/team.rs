//! `ralph team` and `ralph hero`: progress while they run, and a summary at the end.

use std::io::IsTerminal as _;

use super::costs::{cost, merged_line};
use super::worker::{guard, line, stop_on_signals, worker};
use crate::app::{self, Code, Failure, Launch, TeamDone, TeamNews, TeamView, TeamWanted};
use crate::cli::args::{HeroArgs, TeamArgs};
use crate::cli::input::program_from;
use crate::cli::live::Live;
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, words};

pub fn team(session: &Session<'_>, args: &TeamArgs) -> Answer {
    let wanted = TeamWanted {
        tasks: args.tasks.clone(),
        ready: args.ready,
        bough: args.how.bough,
        dry_run: args.how.dry_run,
        program: program_from(&session.options.dir, &args.how.program),
    };
    let mut screen = TeamScreen::new(session);
    let stop = stop_on_signals(screen.live.is_none())?;
    let start = |role: &str, name: &crate::task::Worker, teams: &[crate::task::TaskId]| {
        worker(session, role, name, teams, args.how.bough, &wanted.program)
    };
    let launch = Launch { guard: &guard, worker: &start };
    let done = app::team(&session.options, &wanted, &launch, &stop, &mut |news, view| screen.show(news, view))?;
    screen.end(&done, args.how.dry_run)
}

pub fn hero(session: &Session<'_>, args: &HeroArgs) -> Answer {
    let wanted = TeamWanted {
        tasks: vec![args.task.clone()],
        ready: false,
        bough: args.how.bough,
        dry_run: args.how.dry_run,
        program: program_from(&session.options.dir, &args.how.program),
    };
    let mut screen = TeamScreen::new(session);
    let stop = stop_on_signals(screen.live.is_none())?;
    let launch =
        Launch { guard: &guard, worker: &|_, _, _| Err(Failure::broken(Code::NoCrew, "a hero starts no workers")) };
    let mut show = |news: &TeamNews, view: &TeamView| screen.show(news, view);
    let done = app::hero(&session.options, &wanted, &launch, &stop, &mut show)?;
    screen.end(&done, args.how.dry_run)
}

/// A live view on a terminal; elsewhere, a line for each run.
struct TeamScreen<'a> {
    session: &'a Session<'a>,
    live: Option<Live>,
}

impl<'a> TeamScreen<'a> {
    fn new(session: &'a Session<'a>) -> Self {
        let terminal = session.out.terminal && std::io::stderr().is_terminal() && !session.out.json;
        Self { session, live: terminal.then(Live::default) }
    }

    fn show(&mut self, news: &TeamNews, view: &TeamView) {
        let out = self.session.out;
        if out.json {
            return;
        }
        let text = match news {
            TeamNews::Worker { event, .. } => line(event),
            TeamNews::Died { message } => Some(format!("{} {}", paint(style::WARN, "note:"), clean(message))),
            TeamNews::Steps { new } if self.live.is_none() => Some(opening(view, *new)),
            TeamNews::Steps { .. } | TeamNews::Tick => None,
        };
        match &mut self.live {
            Some(live) => live.draw(out, view, text.as_deref()),
            None => text.into_iter().for_each(|text| _ = out.line(&text)),
        }
    }

    fn end(&mut self, done: &TeamDone, dry_run: bool) -> Answer {
        let out = self.session.out;
        if let Some(live) = &mut self.live {
            live.clear();
        }
        if out.json {
            out.json(done);
        } else if dry_run {
            out.text(&crate::cli::live::plan(&done.steps, out.width()));
        } else {
            out.text(&summary(done));
            if let Some(failure) = &done.out_of_budget {
                return Err(failure.clone());
            }
        }
        Ok(if dry_run || (done.left.is_empty() && !done.stopped) { Outcome::Done } else { Outcome::Negative })
    }
}

fn opening(view: &TeamView, new: usize) -> String {
    let teams: Vec<String> = view.teams.iter().take(5).map(ToString::to_string).collect();
    let more = view.teams.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let open = view.steps.iter().filter(|step| !step.completed).count();
    let workers: Vec<&str> = view.workers.iter().map(|seen| seen.worker.as_str()).collect();
    let steps = if open == 1 { "1 step".into() } else { format!("{open} steps") };
    let crew = if workers.is_empty() { "no workers".into() } else { workers.join(", ") };
    format!("working on {}{more}: {steps} to do, {new} new; {crew}", teams.join(", "))
}

fn summary(done: &TeamDone) -> String {
    let finished = done.steps.iter().filter(|step| step.completed).count();
    let took = words::span(done.ended.duration_since(done.started));
    let runs = words::count(done.spent.runs, "agent run");
    let mut text = format!("{finished} of {} steps completed in {took}, {runs}\n", done.steps.len());
    if done.spent.runs > 0 {
        let used = done.spent.tokens().map_or_else(|| "unknown".into(), words::tokens);
        let merged = if done.merged.tasks > 0 { format!("; {}", merged_line(&done.merged)) } else { String::new() };
        text.push_str(&paint(style::DIM, format!("tokens {used}, cost {}{merged}\n", cost(&done.spent))));
    }
    for left in &done.left {
        let mark = if left.person { paint(style::WARN, "!") } else { paint(style::DIM, "○") };
        text.push_str(&format!("{mark} {} {}: {}\n", paint(style::ID, &left.task), left.state, clean(&left.why)));
    }
    for why in &done.kept_out {
        text.push_str(&format!("{} {}\n", paint(style::WARN, "!"), clean(why)));
    }
    if done.stopped {
        text.push_str("stopped; run the same command to continue\n");
    }
    if let Some(report) = &done.report {
        text.push_str(&format!("report: {report}\n"));
    }
    text
}

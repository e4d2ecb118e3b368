//! `ralph sync` and its subcommands.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::app::{
    self, Code, Directions, ForeignColumn, InitAsk, InitStep, PlanRow, SyncAsk, SyncFinding, SyncInit, SyncStatus,
    SyncStep, Synced, TakeSide, Way,
};
use crate::cli::args::{self, SyncArgs, SyncCommand, SyncRunArgs};
use crate::cli::style::{self, paint};
use crate::cli::table::{clean, cut};
use crate::cli::{Answer, Outcome, Session};
use crate::task::Value;

pub fn run(session: &Session<'_>, args: SyncArgs) -> Answer {
    match args.command {
        None => sync(session, &args.run),
        Some(SyncCommand::Init(args)) => init(session, args),
        Some(SyncCommand::Status { remote }) => status(session, remote),
        Some(SyncCommand::Resolve(args)) => resolve(session, &args),
        Some(SyncCommand::Doctor) => doctor(session),
    }
}

fn ask(session: &Session<'_>, args: &SyncRunArgs) -> Result<SyncAsk, app::Failure> {
    let directions = match (args.pull, args.push) {
        (true, _) => Directions::Pull,
        (_, true) => Directions::Push,
        _ => Directions::Both,
    };
    let only = session.with(|ws| ws.find_all(&args.tasks))?.into_iter().collect();
    Ok(SyncAsk { only, directions, dry_run: args.dry_run, full: args.full, force: args.force })
}

fn sync(session: &Session<'_>, args: &SyncRunArgs) -> Answer {
    let ask = ask(session, args)?;
    if args.watch {
        return watch(session, &ask, args);
    }
    let progress = Progress::new(session);
    let synced = session.with(|ws| progress.over(app::sync(ws, &ask, &mut |step| progress.tell(&step))))?;
    tell(session, &synced);
    Ok(if synced.is_clean() || synced.dry_run { Outcome::Done } else { Outcome::Negative })
}

/// Syncs again whenever the board changes and at a regular interval, with a minimum pause.
fn watch(session: &Session<'_>, ask: &SyncAsk, args: &SyncRunArgs) -> Answer {
    let every = args.every.unsigned_abs().max(Duration::from_secs(1));
    let mut waiter = session.with(app::BoardWaiter::new)?;
    loop {
        let began = Instant::now();
        let progress = Progress::new(session);
        let synced = session.with(|ws| progress.over(app::sync(ws, ask, &mut |step| progress.tell(&step))));
        match synced {
            Ok(synced) => {
                if synced.did_something() || !synced.is_clean() {
                    tell(session, &synced);
                }
            }
            // Being offline is temporary; a refusal is not.
            Err(failure) if failure.kind == app::FailureKind::Offline && failure.code != Code::BadToken => {
                session.out.failure(&failure);
            }
            Err(failure) if failure.kind == app::FailureKind::Raced && failure.code != Code::Stopped => {}
            Err(failure) if failure.code == Code::Stopped => return Ok(Outcome::Done),
            Err(failure) => return Err(failure),
        }
        if !waiter.wait(every.saturating_sub(began.elapsed())) {
            return Ok(Outcome::Done);
        }
    }
}

/// A status line on a terminal. Elsewhere, a line every few seconds while GitHub is written to, and one for each wait.
struct Progress<'a> {
    session: &'a Session<'a>,
    terminal: bool,
    phase: Cell<(&'static str, Instant)>,
    said: Cell<Option<Instant>>,
}

/// How often progress is printed if standard error is not a terminal.
const EVERY: Duration = Duration::from_secs(5);

impl<'a> Progress<'a> {
    fn new(session: &'a Session<'a>) -> Self {
        let terminal = !session.out.json && std::io::IsTerminal::is_terminal(&std::io::stderr());
        Self { session, terminal, phase: Cell::new(("", Instant::now())), said: Cell::new(None) }
    }

    fn tell(&self, step: &SyncStep<'_>) {
        if self.session.out.json {
            return;
        }
        let (phase, text, done, of) = match step {
            SyncStep::Scanning { done, of } => {
                ("scan", format!("reading the project: {done} of {of} items"), *done, *of)
            }
            SyncStep::Reading { done, of } => ("read", format!("reading issues: {done} of {of}"), *done, *of),
            SyncStep::Taking { done, of } => ("take", format!("comparing: {done} of {of}"), *done, *of),
            SyncStep::Creating { done, of, task } => {
                ("create", format!("creating issues: {} of {of}  {task}", done + 1), *done, *of)
            }
            SyncStep::Changing { done, of } => ("change", format!("updating issues: {done} of {of}"), *done, *of),
            SyncStep::Commenting { done, of, task } => {
                ("comment", format!("posting comments: {} of {of}  {task}", done + 1), *done, *of)
            }
            SyncStep::Waiting(wait) => return self.show(&format!("waiting {} s: {}", wait.seconds, wait.why)),
        };
        if self.phase.get().0 != phase {
            self.phase.set((phase, Instant::now()));
            self.said.set(None);
        }
        let left = eta(done, of, self.phase.get().1.elapsed()).map(|left| format!("  {left} left")).unwrap_or_default();
        let is_due = self.said.get().is_none_or(|at| at.elapsed() >= EVERY);
        if self.terminal || (is_due && matches!(phase, "create" | "change" | "comment")) {
            self.said.set(Some(Instant::now()));
            self.show(&format!("{text}{left}"));
        }
    }

    fn show(&self, text: &str) {
        match self.terminal {
            true => self.session.out.status(Some(text)),
            false => self.session.out.say(text),
        }
    }

    /// Clears the status line before other output.
    fn over<T>(&self, result: T) -> T {
        if self.terminal {
            self.session.out.status(None);
        }
        result
    }
}

/// The estimated remaining time, once it can be estimated.
fn eta(done: usize, of: usize, elapsed: Duration) -> Option<String> {
    if done == 0 || elapsed < Duration::from_secs(3) {
        return None;
    }
    let left = elapsed.mul_f64(of.saturating_sub(done) as f64 / done as f64).as_secs();
    Some(if left < 90 { format!("{left} s") } else { format!("{} min", left.div_ceil(60)) })
}

fn tell(session: &Session<'_>, synced: &Synced) {
    if session.out.json {
        session.out.json(synced);
        return;
    }
    let text = if synced.dry_run { planned(synced, session.out.width()) } else { summary(synced, session.out.width()) };
    session.out.text(&text);
}

fn planned(synced: &Synced, width: Option<usize>) -> String {
    if synced.plan.rows.is_empty() {
        return "nothing to do: already in sync\n".into();
    }
    let mut text = String::new();
    let mut last = None;
    for row in &synced.plan.rows {
        if last.replace(row.way) != Some(row.way) {
            let count = synced.plan.rows.iter().filter(|other| other.way == row.way).count();
            text.push_str(&format!("{} {count}\n", paint(style::HEAD, heading(row.way))));
        }
        text.push_str(&line(row, width));
    }
    let time = match synced.plan.seconds {
        0..=90 => format!("{} s", synced.plan.seconds),
        more => format!("{} min", more.div_ceil(60)),
    };
    let requests =
        if synced.plan.requests == 1 { "1 request".to_owned() } else { format!("{} requests", synced.plan.requests) };
    text.push_str(&format!("about {requests}, {time}\n"));
    text
}

fn heading(way: Way) -> &'static str {
    match way {
        Way::Create => "create on GitHub",
        Way::Found => "already created, to be linked",
        Way::Adopt => "new from GitHub",
        Way::Pull => "from GitHub",
        Way::Push => "to GitHub",
        Way::Merge => "both changed, can be merged",
        Way::Comment => "comments",
        Way::Retire => "deleted here, to be closed on GitHub",
        Way::Lost => "deleted on GitHub",
        Way::Conflict => "conflicts",
    }
}

/// `  t-x7kq #44  priority  P2 → P1`, from old to new value. A conflict has a line for each side.
fn line(row: &PlanRow, width: Option<usize>) -> String {
    let value = |value: &Option<Value>| {
        value.as_ref().map_or_else(|| "nothing".into(), |value| clean(&value.to_string().trim_end().replace('\n', " ")))
    };
    let value = |side: &Option<Value>| match row.what.as_str() {
        "archived" => if side.is_some() { "archived" } else { "not archived" }.to_owned(),
        _ => value(side),
    };
    let (here, there) = (value(&row.local), value(&row.remote));
    let task = row.task.as_ref().map(|task| format!("{} ", paint(style::ID, task))).unwrap_or_default();
    let number = row.number.map(|number| format!("#{number} ")).unwrap_or_default();
    let used = 2 + row.task.as_ref().map_or(0, |task| task.as_str().len() + 1) + number.len() + row.what.len() + 2;
    let fit = |text: &str, used: usize| {
        width.map_or_else(|| text.to_owned(), |width| cut(text, width.saturating_sub(used).max(20)))
    };
    let said = match row.way {
        Way::Create | Way::Found => here,
        Way::Lost | Way::Retire => there,
        Way::Adopt => format!("{there} → {here}"),
        Way::Pull => format!("{here} → {there}"),
        Way::Push => format!("{there} → {here}"),
        Way::Merge => format!("{here} and {there}"),
        Way::Comment if row.local.is_some() => format!("to GitHub: {here}"),
        Way::Comment => format!("from GitHub: {there}"),
        Way::Conflict => {
            let sides = [("local", here), ("remote", there)];
            let lines: String =
                sides.iter().map(|(side, text)| format!("    {side:<6}  {}\n", fit(text, 12))).collect();
            return format!("  {task}{number}{}\n{lines}", paint(style::DIM, &row.what));
        }
    };
    format!("  {task}{number}{}  {}\n", paint(style::DIM, &row.what), fit(&said, used))
}

/// The maximum number of lines; the rest is in `ralph log`.
const MOST: usize = 20;

fn summary(synced: &Synced, width: Option<usize>) -> String {
    let mut text = counts(synced);
    let is_done = |row: &&PlanRow| {
        let task = row.task.as_ref();
        task.is_some_and(|task| synced.done.iter().any(|(other, field)| other == task && *field == row.what))
    };
    let done = synced.plan.rows.iter().filter(|row| matches!(row.way, Way::Pull | Way::Push | Way::Merge));
    let done: Vec<&PlanRow> = done.filter(is_done).collect();
    done.iter().take(MOST).for_each(|row| text.push_str(&line(row, width)));
    if done.len() > MOST {
        text.push_str(&format!("  and {} more: `ralph log` shows all of them\n", done.len() - MOST));
    }
    for (made, what) in [(&synced.created, "created"), (&synced.adopted, "imported")] {
        for one in made.iter().take(MOST) {
            text.push_str(&format!("  {} #{} {}\n", paint(style::ID, &one.task), one.number, paint(style::DIM, what)));
        }
    }
    text.push_str(&left(synced, width));
    text
}

fn counts(synced: &Synced) -> String {
    let mut parts = Vec::new();
    let mut count = |n: usize, one: &str, many: &str| {
        if n > 0 {
            parts.push(format!("{n} {}", if n == 1 { one } else { many }));
        }
    };
    count(synced.created.len(), "issue created", "issues created");
    count(synced.adopted.len(), "issue imported", "issues imported");
    count(synced.found, "issue found again", "issues found again");
    count(synced.pulled, "change from GitHub", "changes from GitHub");
    count(synced.pushed, "change to GitHub", "changes to GitHub");
    count(synced.comments_in, "comment imported", "comments imported");
    count(synced.comments_out, "comment posted or edited", "comments posted or edited");
    count(synced.tidied, "column or Status corrected", "columns or Statuses corrected");
    count(synced.retired.len(), "issue closed", "issues closed");
    let text = if parts.is_empty() { idle(synced) } else { parts.join(", ") };
    let requests = if synced.requests == 1 { "1 request".to_owned() } else { format!("{} requests", synced.requests) };
    format!("{text}  {}\n", paint(style::DIM, format!("({requests})")))
}

/// Why a run changed nothing.
fn idle(synced: &Synced) -> String {
    match (synced.unpushed, synced.unpulled) {
        _ if !synced.is_clean() => "nothing changed".to_owned(),
        (0, 0) => "already in sync".to_owned(),
        (0, 1) => "nothing to push; 1 change on GitHub is not on the board yet".to_owned(),
        (0, many) => format!("nothing to push; {many} changes on GitHub are not on the board yet"),
        (1, _) => "nothing to pull; 1 local change is not on GitHub yet".to_owned(),
        (many, _) => format!("nothing to pull; {many} local changes are not on GitHub yet"),
    }
}

/// Conflicts, failures and other work that remains.
fn left(synced: &Synced, width: Option<usize>) -> String {
    let mut text = String::new();
    if !synced.conflicts.is_empty() {
        text.push_str(&format!("{}\n", paint(style::WARN, "conflicts:")));
        synced.conflicts.iter().for_each(|row| text.push_str(&line(row, width)));
        text.push_str("`ralph sync resolve TASK --take local|remote` resolves them\n");
        if synced.conflicts.iter().any(|row| row.way == Way::Lost) {
            text.push_str(
                "  for a deleted issue: local adds it again or creates a new one, remote stops mirroring the task\n",
            );
        }
    }
    for failed in &synced.failed {
        let task = failed.task.as_ref().map(|task| format!("{} ", paint(style::ID, task))).unwrap_or_default();
        let message = clean(&failed.message);
        text.push_str(&format!("{} {task}{}: {message}\n", paint(style::ERROR, "failed:"), failed.what));
    }
    for task in &synced.left_out {
        let why = "cannot read its file";
        text.push_str(&format!("{} {}: {why}\n", paint(style::WARN, "skipped:"), paint(style::ID, task)));
    }
    for (task, seconds) in &synced.unknown {
        let minutes = seconds.div_ceil(60);
        let then = format!(
            "the next sync checks whether the issue was created; if it is still missing in {minutes} min, it is created"
        );
        text.push_str(&format!("{} {}: {then}\n", paint(style::WARN, "outcome unknown:"), paint(style::ID, task)));
    }
    text
}

fn init(session: &Session<'_>, args: args::SyncInitArgs) -> Answer {
    let ask = InitAsk { repo: args.repo, owner: args.owner, project: args.project, title: args.title };
    let mut tell = |step: InitStep<'_>| {
        if !session.out.json {
            session.out.say(&match step {
                InitStep::Creating(title) => format!("creating the project {title:?}"),
                InitStep::Field(name) => format!("creating field {name}"),
                InitStep::Waiting(wait) => format!("waiting {} s: {}", wait.seconds, wait.why),
            });
        }
    };
    let done = session.with(|ws| app::sync_init(ws, &ask, &mut tell))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let SyncInit { repo, project, title, url, viewer, created, fields, workflows, dependencies, unmapped, .. } = &done;
    let how = if *created { "created" } else { "found" };
    let mut text = format!("{how} project {project}, {title:?}, for {repo}, as {viewer}\n{url}\n");
    if !fields.is_empty() {
        text.push_str(&format!("added {}\n", fields.join("; ")));
    }
    text.push_str("the settings are in .ralph/config.toml; `ralph sync --dry-run` shows what would happen\n");
    session.out.text(&text);
    if !unmapped.is_empty() {
        session.out.say(&mapping(unmapped));
    }
    if !workflows.is_empty() {
        session.out.say(&format!(
            "note: GitHub's built-in workflows ({}) also change the Status field; ralph sets it from the state and never reads it",
            workflows.join(", ")
        ));
    }
    if !dependencies {
        session.out.say("note: this GitHub has no issue dependencies: blocked_by is not mirrored");
    }
    Ok(Outcome::Done)
}

/// The settings that map columns with other names, to be copied into the settings file.
fn mapping(unmapped: &[ForeignColumn]) -> String {
    let mut text = "note: cards in these columns are ignored, because the columns are not states of this board; to map them, add to .ralph/config.toml:\n[github.states]".to_owned();
    for ForeignColumn { column, proposal } in unmapped {
        let line = match proposal {
            Some(state) => format!("{column:?} = {:?}", state.as_str()),
            None => format!("# {column:?} = \"STATE\""),
        };
        text.push_str(&format!("\n{}", clean(&line)));
    }
    text
}

fn status(session: &Session<'_>, remote: bool) -> Answer {
    let progress = Progress::new(session);
    let status = session.with(|ws| progress.over(app::sync_status(ws, remote, &mut |step| progress.tell(&step))))?;
    if session.out.json {
        session.out.json(&status);
        return Ok(Outcome::Done);
    }
    let SyncStatus {
        repo,
        project,
        seen,
        linked,
        new_here,
        new_there,
        changed_here,
        changed_there,
        conflicts,
        lost,
        unknown,
    } = &status;
    let seen = seen.map_or_else(|| "never synced".to_owned(), |at| format!("last synced {at}"));
    let mut text = format!("{repo}, project {project}  {}\n", paint(style::DIM, &seen));
    for (count, what) in [
        (*linked, "mirrored"),
        (*new_here, "new on the board"),
        (*new_there, "new on GitHub"),
        (changed_here.len(), "changed on the board"),
        (changed_there.len(), "changed on GitHub"),
        (conflicts.len(), if conflicts.len() == 1 { "conflict" } else { "conflicts" }),
        (lost.len(), "deleted on GitHub"),
        (unknown.len(), "outcome unknown"),
    ] {
        // A count of zero needs no line.
        if count > 0 || what == "mirrored" {
            text.push_str(&format!("{count:>6}  {what}\n"));
        }
    }
    if [*new_here, *new_there, changed_here.len(), changed_there.len(), conflicts.len(), lost.len()]
        .iter()
        .all(|n| *n == 0)
    {
        text.push_str("  in sync, as of the last sync\n");
    }
    for row in [changed_here, changed_there, conflicts, lost].into_iter().flatten() {
        text.push_str(&line(row, session.out.width()));
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

fn resolve(session: &Session<'_>, args: &args::SyncResolveArgs) -> Answer {
    let side = if args.take == args::SideArg::Local { TakeSide::Local } else { TakeSide::Remote };
    let done = session.with(|ws| app::sync_resolve(ws, &ws.find(&args.task)?, args.field.as_deref(), side))?;
    if session.out.json {
        session.out.json(&done);
    } else {
        let (whose, then) = match side {
            TakeSide::Local => ("local", "; `ralph sync` will push it"),
            TakeSide::Remote => ("GitHub", ""),
        };
        let fields = done.fields.join(", ");
        session.out.text(&format!("{}: keeping the {whose} value of {fields}{then}\n", paint(style::ID, &done.task)));
    }
    Ok(Outcome::Done)
}

fn doctor(session: &Session<'_>) -> Answer {
    let progress = Progress::new(session);
    let found: Vec<SyncFinding> =
        session.with(|ws| progress.over(app::sync_doctor(ws, &mut |step| progress.tell(&step))))?;
    if session.out.json {
        session.out.json(&found);
    } else if found.is_empty() {
        session.out.text("no problems\n");
    } else {
        let lines =
            found.iter().map(|f| format!("{} {}\n  {}\n", paint(style::WARN, f.kind), clean(&f.message), f.advice));
        session.out.text(&lines.collect::<String>());
    }
    Ok(if found.is_empty() { Outcome::Done } else { Outcome::Negative })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_once_it_can_be() {
        let after = Duration::from_secs;
        assert_eq!(eta(0, 200, after(10)), None);
        assert_eq!(eta(1, 200, after(1)), None);
        assert_eq!(eta(10, 200, after(15)).as_deref(), Some("5 min"));
        assert_eq!(eta(190, 200, after(285)).as_deref(), Some("15 s"));
    }
}

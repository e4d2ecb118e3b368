//! `ralph watch`: the events of the board, one per line, until it is stopped.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::app::{
    Change, Code, Event, EventKind, Failure, FailureKind, Hint, Via, WaitFor, Watch, WatchOptions, wait_for,
    wait_is_over,
};
use crate::cli::args::WatchArgs as Args;
use crate::cli::door::shown;
use crate::cli::notify::Notifier;
use crate::cli::style::{self, paint};
use crate::cli::table::{clean, cut};
use crate::cli::{Answer, Outcome, Session, words};
use crate::os::Signal;
use crate::os::terminal;
use crate::task::TaskId;

/// Which events are shown.
struct EventFilter {
    tasks: Vec<TaskId>,
    kinds: Vec<EventKind>,
    role: Option<String>,
}

pub fn run(session: &Session<'_>, args: &Args) -> Answer {
    let wanted = WatchOptions { enforce: args.enforce, poll: args.poll, idle: args.idle, documents: false };
    let mut watch = Watch::open(&session.options, &wanted)?;
    session.out.set_color(watch.workspace().settings.text("ui.color"));
    let filter = filter(&watch, args)?;
    let until = args.until.as_deref().map(|text| condition(&watch, text)).transpose()?;
    let end = args.timeout.map(|limit| Instant::now() + Duration::from_secs(limit.as_secs().unsigned_abs()));
    let stop = stopped(&watch)?;
    let mut screen = WatchScreen {
        session,
        live: session.out.terminal && std::io::stderr().is_terminal() && !session.out.json,
        shown: false,
        notifier: args.notify.then(Notifier::find).transpose()?,
    };
    if let Some(why) = watch.polling().filter(|_| !args.poll) {
        let message = format!("cannot watch the files ({why}); checking them twice a second instead");
        session.out.notices(&[
            message,
            "to fix this, raise fs.inotify.max_user_instances or fs.inotify.max_user_watches".into(),
        ]);
    }
    if !watch.reacts() && !args.idle {
        let enforce = if args.enforce { ", and nothing is enforced until it ends" } else { "" };
        session.out.notices(&[format!(
            "another `ralph watch` journals, reaps and runs rules{enforce}; this one only reports"
        )]);
    }
    if let Some(age) = args.since {
        let since = watch.workspace().now().checked_sub(age).unwrap_or(jiff::Timestamp::MIN);
        screen.tell(&watch, &filter, watch.replay(since)?)?;
    }
    let events = watch.begin()?;
    screen.tell(&watch, &filter, events)?;
    loop {
        if let Some((task, state)) = &until
            && wait_is_over(watch.workspace(), watch.board(), task, state)?
        {
            screen.clear();
            return Ok(Outcome::Done);
        }
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        let signal = stop.load(Ordering::Relaxed);
        if signal != 0 {
            screen.clear();
            return Ok(if signal == HUNG_UP { Outcome::Done } else { Outcome::Code(signal) });
        }
        if left.is_zero() {
            screen.clear();
            return Err(Failure::new(FailureKind::Nothing, Code::Timeout, "timed out"));
        }
        let events = watch.next(left)?;
        if !screen.tell(&watch, &filter, events)? {
            return Ok(Outcome::Done);
        }
    }
}

/// Exit code if the reader of the output is gone.
const HUNG_UP: u8 = 1;

/// A flag that a signal or a closed output sets. Setting it also ends the wait.
fn stopped(watch: &Watch) -> Result<Arc<AtomicU8>, Failure> {
    let stop = Arc::new(AtomicU8::new(0));
    let signals = super::run::listen(&[Signal::Interrupt, Signal::Terminate])?;
    let (flag, wake) = (Arc::clone(&stop), watch.waker());
    std::thread::spawn(move || {
        for signal in signals {
            flag.store(128 + signal.number(), Ordering::Relaxed);
            wake();
        }
    });
    let (flag, wake) = (Arc::clone(&stop), watch.waker());
    std::thread::spawn(move || {
        if terminal::wait_for_closed_stdout() {
            flag.store(HUNG_UP, Ordering::Relaxed);
            wake();
        }
    });
    Ok(stop)
}

fn filter(watch: &Watch, args: &Args) -> Result<EventFilter, Failure> {
    let ws = watch.workspace();
    let kinds = args.event.iter().map(|text| text.parse()).collect::<Result<_, crate::task::ParseError>>()?;
    let unknown = |name: &String| {
        let names: Vec<&str> = ws.flow().roles().iter().map(|role| role.name.as_str()).collect();
        Failure::usage(Code::UnknownRole, format!("{name:?} is not a role: use {}", names.join(", ")))
    };
    if let Some(name) = args.role.as_ref().filter(|name| ws.flow().role(name).is_none()) {
        return Err(unknown(name));
    }
    Ok(EventFilter { tasks: ws.find_all(&args.task)?, kinds, role: args.role.clone() })
}

/// Parses `TASK STATE`, `TASK ready` or `TASK free`.
fn condition(watch: &Watch, text: &str) -> Result<(TaskId, WaitFor), Failure> {
    let usage = || Failure::usage(Code::BadUntil, format!("{text:?} is not of the form `TASK STATE`"));
    let (task, state) = text.trim().split_once(char::is_whitespace).ok_or_else(|| {
        usage().hint(Hint::option(
            "--until 't-x7 done'",
            "as an example; besides a state, `ready` and `free` are possible",
        ))
    })?;
    let ws = watch.workspace();
    let id = ws.find(task)?;
    let wanted = wait_for(ws, &id, state.trim())?;
    Ok((id, wanted))
}

impl EventFilter {
    fn shows(&self, watch: &Watch, event: &Event) -> bool {
        let task = event.task.as_ref();
        let of_task = self.tasks.is_empty() || task.is_some_and(|task| self.tasks.contains(task));
        let of_kind = self.kinds.is_empty() || self.kinds.contains(&event.event);
        of_task && of_kind && self.role.as_ref().is_none_or(|role| concerns(watch, event, role))
    }
}

/// Whether an event was caused by the role, is addressed to it, or is about a task that it could start.
fn concerns(watch: &Watch, event: &Event, role: &str) -> bool {
    let rules = watch.workspace().rules();
    if event.role.is_some() {
        return event.role.as_deref() == Some(role);
    }
    let by = event.by.as_ref().and_then(|worker| rules.role_of(worker));
    let task = event.task.as_ref().and_then(|id| watch.board().get(id));
    let takes = task.is_some_and(|task| crate::app::command_for(task, false, role, rules).is_some());
    by == Some(role) || takes
}

/// Permanent lines, and a summary line below them.
struct WatchScreen<'s, 'a> {
    session: &'s Session<'a>,
    live: bool,
    shown: bool,
    /// Shows desktop notifications, if requested.
    notifier: Option<Notifier>,
}

impl WatchScreen<'_, '_> {
    /// `false` once the reader is gone.
    fn tell(&mut self, watch: &Watch, filter: &EventFilter, events: Vec<Event>) -> Result<bool, Failure> {
        self.clear();
        let mut read = true;
        for event in events.iter().filter(|event| filter.shows(watch, event)) {
            let text = match self.session.out.json {
                true => serde_json::to_string(event).unwrap_or_default(),
                false => line(event, self.session.out.width()),
            };
            read &= self.session.out.line(&text);
            if let Some(notifier) = self.notifier {
                notifier.tell(watch.workspace(), event);
            }
        }
        if self.live {
            let [ready, work, blocked, problems] = watch.counts();
            let wait = if watch.reacts() { "watching" } else { "watching; another `ralph watch` runs rules" };
            let problems = words::count(problems, "problem");
            let sum = format!("● {ready} ready  ▶ {work} claimed  ⊘ {blocked} blocked  ! {problems}  {wait}");
            let room = self.session.out.width().map_or(usize::MAX, |width| width.saturating_sub(1));
            self.session.out.status(Some(&paint(style::DIM, cut(&sum, room))));
            self.shown = true;
        }
        Ok(read)
    }

    fn clear(&mut self) {
        if std::mem::replace(&mut self.shown, false) {
            self.session.out.status(None);
        }
    }
}

/// One line; its title, the least important part, is cut to the width.
fn line(event: &Event, width: Option<usize>) -> String {
    let at = event.at.strftime("%H:%M:%S");
    let name = format!("{:<10}", event.event.name());
    let id = event.task.as_ref().map_or_else(|| " ".repeat(7), |id| format!("{id:<7}"));
    let who = match (event.via, &event.by) {
        _ if event.verb.as_deref() == Some("enforce") => paint(style::DIM, "  reverted"),
        (Via::Hand, _) => paint(style::DIM, "  by hand"),
        (Via::Git, Some(by)) => paint(style::DIM, format!("  by {by}, through git")),
        (Via::Git, None) => paint(style::DIM, "  through git"),
        (Via::Verb, Some(by)) => paint(style::DIM, format!("  by {by}")),
        _ => String::new(),
    };
    let title = event.title.as_deref().filter(|_| event.event != EventKind::Created).unwrap_or_default();
    let first = (paint(style::DIM, at), paint(color(event.event), name), paint(style::ID, id));
    let length = |text: &str| shown(text, false).chars().count();
    let head = format!("{}  {}  {}  ", first.0, first.1, first.2);
    let space = width.map_or(usize::MAX, |width| width.saturating_sub(length(&head) + length(&who)));
    let what = what(event);
    let what = if length(&what) > space { cut(&shown(&what, false), space) } else { what };
    let text = format!("{head}{what}{who}");
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(length(&text) + 2));
    if title.is_empty() || room < 8 {
        return text.trim_end().to_owned();
    }
    format!("{text}  {}", paint(style::DIM, cut(&clean(title), room)))
}

fn color(kind: EventKind) -> anstyle::Style {
    match kind {
        EventKind::Ready | EventKind::Unblocked | EventKind::Converged | EventKind::Solved => style::READY,
        EventKind::Claimed | EventKind::Released => style::OWNER,
        EventKind::Asked | EventKind::Illegal | EventKind::Problem | EventKind::RuleFailed => style::ERROR,
        EventKind::Reaped | EventKind::Rescanned | EventKind::Removed => style::WARN,
        _ => style::HEAD,
    }
}

fn what(event: &Event) -> String {
    let moved = || {
        let name = |state: &Option<crate::task::StateName>| state.as_ref().map(ToString::to_string).unwrap_or_default();
        let to = event.to.as_ref().map(|to| paint(style::state(to), to)).unwrap_or_default();
        format!("{} → {to}", name(&event.from))
    };
    let command = event.command.as_ref().map(|command| format!(" for {command}")).unwrap_or_default();
    let by = event.by.as_ref().map(ToString::to_string).unwrap_or_default();
    let message = clean(event.message.as_deref().unwrap_or_default());
    match event.event {
        EventKind::Created => clean(event.title.as_deref().unwrap_or("a new task")),
        EventKind::Moved | EventKind::Reaped if event.to.is_some() => join(&[moved(), fields(event)]),
        EventKind::Changed | EventKind::Reaped if event.changes.is_empty() => "comments or layout".into(),
        EventKind::Moved | EventKind::Changed | EventKind::Reaped => fields(event),
        EventKind::Removed => "removed".into(),
        EventKind::Archived => "archived".into(),
        EventKind::Noted => "note added".into(),
        EventKind::Asked => format!("{by} asks: {}", message.lines().next().unwrap_or_default()),
        EventKind::Claimed => {
            let until = event.until.map(|until| format!(", until {}", until.strftime("%H:%MZ"))).unwrap_or_default();
            format!("claimed by {by}{command}{until}")
        }
        EventKind::Released => format!("released by {by}"),
        EventKind::Unblocked => "no longer blocked".into(),
        EventKind::Ready => event.role.as_ref().map_or("ready".into(), |role| {
            let command = event.command.as_ref().map(|command| format!(": {command}")).unwrap_or_default();
            format!("for {role}{command}")
        }),
        EventKind::Converged => {
            format!("all tasks of its group are in {}", event.to.as_ref().map(ToString::to_string).unwrap_or_default())
        }
        EventKind::Illegal => format!("{}: {message}", moved()),
        EventKind::Problem | EventKind::Solved | EventKind::Rescanned | EventKind::RuleFailed => message,
    }
}

fn join(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

/// The changed fields, except the state, which has its own text.
fn fields(event: &Event) -> String {
    let of = |change: &Change| match change {
        Change::Set { task, key, old, new } if key.as_str() != "state" => {
            Some(words::field(&crate::app::FieldChange {
                task: task.clone(),
                key: key.clone(),
                old: old.clone(),
                new: new.clone(),
            }))
        }
        _ => None,
    };
    event.changes.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

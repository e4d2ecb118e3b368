//! `[[on]]` rules: runs trusted programs on events; their failures are reported but not fatal.

use std::collections::{HashMap, VecDeque};
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::app::workspace::trust::look_at_trust;
use crate::app::{Code, Failure, Workspace};
use crate::board::{Board, Event, EventKind, Via};
use crate::config::{OnRule, Source};
use crate::os::{Signal, process};
use crate::task::Task;
use crate::watch::Alarm;

/// A program to run for an event that matched a rule.
struct RuleRun {
    shown: String,
    program: Vec<String>,
    input: String,
    environment: Vec<(&'static str, String)>,
    timeout: Duration,
}

/// Runs the programs of rules, a limited number at a time.
pub(in crate::app) struct Runner {
    rules: Vec<OnRule>,
    at_once: usize,
    waiting: VecDeque<RuleRun>,
    running: usize,
    ended: Receiver<Option<String>>,
    sender: Sender<Option<String>>,
    alarm: Alarm,
    /// Whether missing trust was reported: only once, not for each event.
    told: bool,
    /// When each rule recently matched, per task: stops a rule that causes its own event from running forever.
    met: HashMap<(usize, String), VecDeque<Instant>>,
}

/// A rule that matches more often than this for one task within this time is paused.
const OFTEN: usize = 20;
const WHILE: Duration = Duration::from_secs(20);

impl Runner {
    pub fn new(ws: &Workspace, alarm: Alarm) -> Self {
        let (sender, ended) = channel();
        let (rules, at_once) = (ws.settings.rules.clone(), at_once(ws));
        Self {
            rules,
            at_once,
            waiting: VecDeque::new(),
            running: 0,
            ended,
            sender,
            alarm,
            told: false,
            met: HashMap::new(),
        }
    }

    pub fn reload(&mut self, ws: &Workspace) {
        (self.rules, self.at_once, self.told) = (ws.settings.rules.clone(), at_once(ws), false);
    }

    /// Starts the programs for these events, and returns events for programs that failed.
    pub fn take_up(&mut self, ws: &Workspace, acts: bool, events: &[Event], board: &Board) -> Vec<Event> {
        let mut failed = Vec::new();
        for end in self.ended.try_iter() {
            self.running -= 1;
            failed.extend(end);
        }
        if acts {
            failed.extend(self.meet(ws, events, board));
        }
        while self.running < self.at_once {
            let Some(job) = self.waiting.pop_front() else { break };
            self.running += 1;
            let (sender, alarm, root) = (self.sender.clone(), self.alarm.clone(), ws.store.root().to_owned());
            std::thread::spawn(move || {
                let end = run(&job, &root).err().map(|why| format!("`{}` {why}", job.shown));
                let _ = sender.send(end);
                alarm.ring();
            });
        }
        let tell = |message| Event::new(EventKind::RuleFailed, ws.now(), Via::Board, None).saying(message);
        failed.into_iter().map(tell).collect()
    }

    /// Queues the programs of matching rules. Untrusted programs are not queued; the returned message names the
    /// problem.
    fn meet(&mut self, ws: &Workspace, events: &[Event], board: &Board) -> Option<String> {
        let mut jobs = Vec::new();
        let mut ours = false;
        let mut endless = None;
        for event in events {
            let task = event.task.as_ref().and_then(|id| board.get(id));
            for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| is_met(rule, event, task, ws)) {
                let key = (number, event.task.as_ref().map(ToString::to_string).unwrap_or_default());
                let times = self.met.entry(key).or_default();
                times.retain(|at| at.elapsed() < WHILE);
                times.push_back(Instant::now());
                if times.len() > OFTEN {
                    // Only the first time is reported.
                    let message = format!("`{}` runs too often, and is paused for a while", rule.run.join(" "));
                    endless = endless.or((times.len() == OFTEN + 1).then_some(message));
                    times.truncate(OFTEN + 2);
                    continue;
                }
                ours |= matches!(rule.source, Source::Board(_));
                jobs.push((matches!(rule.source, Source::Board(_)), job(rule, event, task, ws)));
            }
        }
        let trusted = !ours || look_at_trust(ws).is_ok_and(|trust| trust.trusted);
        self.waiting.extend(jobs.into_iter().filter(|(board, _)| trusted || !board).map(|(_, job)| job));
        if trusted || std::mem::replace(&mut self.told, true) {
            return endless;
        }
        Some("the board's rules are not trusted yet: run `ralph trust` to review them".into())
    }
}

fn at_once(ws: &Workspace) -> usize {
    ws.settings.number("watch.programs").unwrap_or(4) as usize
}

/// The fields of an event that a rule can match.
const FIELDS: [&str; 10] = ["task", "state", "label", "priority", "kind", "role", "by", "owner", "parent", "via"];

/// Refuses rules that can never match, when a board is watched.
pub(in crate::app) fn check_rules(ws: &Workspace) -> Result<(), Failure> {
    for rule in &ws.settings.rules {
        rule.event.parse::<EventKind>()?;
        if let Some(field) = rule.when.keys().find(|field| !FIELDS.contains(&field.as_str())) {
            let message = format!("{}: a rule cannot match {field:?}: use {}", rule.source, FIELDS.join(", "));
            return Err(Failure::usage(Code::BadRule, message));
        }
    }
    Ok(())
}

fn is_met(rule: &OnRule, event: &Event, task: Option<&Task>, ws: &Workspace) -> bool {
    let meets = |(field, wanted): (&String, &String)| {
        let state = |task: &Task| {
            let meant = ws.flow().find_state(task.kind, wanted).ok().map(|state| &state.name);
            meant == Some(&task.state)
        };
        match field.as_str() {
            "label" => task.is_some_and(|task| task.labels.contains(wanted)),
            "state" => task.is_some_and(state),
            other => field_of(event, task, other).is_some_and(|value| value.eq_ignore_ascii_case(wanted)),
        }
    };
    rule.event == event.event.name() && rule.when.iter().all(meets)
}

fn field_of(event: &Event, task: Option<&Task>, field: &str) -> Option<String> {
    match field {
        "task" => event.task.as_ref().map(ToString::to_string),
        "title" => event.title.clone(),
        "event" => Some(event.event.name()),
        "state" => task.map(|task| task.state.to_string()),
        "from" => event.from.as_ref().map(ToString::to_string),
        "to" => event.to.as_ref().map(ToString::to_string),
        "priority" => task.and_then(|task| task.priority).map(|value| value.to_string()),
        "kind" => task.map(|task| task.kind.to_string()),
        "role" => event.role.clone(),
        "command" => event.command.clone(),
        "by" => event.by.as_ref().map(ToString::to_string),
        "owner" => task.and_then(|task| task.owner.as_ref()).map(ToString::to_string),
        "parent" => task.and_then(|task| task.parent.as_ref()).map(ToString::to_string),
        "message" => event.message.clone(),
        "via" => Some(format!("{:?}", event.via).to_lowercase()),
        _ => None,
    }
}

/// The placeholders in arguments, with their environment variables.
const PLACES: [(&str, &str); 12] = [
    ("task", "RALPH_TASK"),
    ("title", "RALPH_TITLE"),
    ("event", "RALPH_EVENT"),
    ("state", "RALPH_STATE"),
    ("from", "RALPH_FROM"),
    ("to", "RALPH_TO"),
    ("role", "RALPH_ROLE"),
    ("command", "RALPH_COMMAND"),
    ("by", "RALPH_BY"),
    ("owner", "RALPH_OWNER"),
    ("message", "RALPH_MESSAGE"),
    ("via", "RALPH_VIA"),
];

/// Each argument stays a single one, whatever its value contains, because no shell splits it.
fn job(rule: &OnRule, event: &Event, task: Option<&Task>, ws: &Workspace) -> RuleRun {
    let values: Vec<(&str, &'static str, String)> = PLACES
        .iter()
        .map(|(field, variable)| (*field, *variable, field_of(event, task, field).unwrap_or_default()))
        .collect();
    let program = rule.run.iter().map(|word| filled(word, &values)).collect();
    let mut environment: Vec<(&'static str, String)> =
        values.into_iter().filter(|(.., value)| !value.is_empty()).map(|(_, name, value)| (name, value)).collect();
    environment.push(("RALPH_BOARD", ws.store.root().display().to_string()));
    let input = serde_json::to_string(event).unwrap_or_default();
    let timeout = Duration::from_secs(rule.timeout.as_secs().unsigned_abs().max(1));
    RuleRun { shown: rule.run.join(" "), program, input, environment, timeout }
}

/// Replaces all placeholders in one pass, so that values are not expanded again.
fn filled(word: &str, values: &[(&str, &'static str, String)]) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let place = values.iter().find(|(field, ..)| rest[1..].strip_prefix(field).is_some_and(|r| r.starts_with('}')));
        match place {
            Some((field, _, value)) => {
                text.push_str(value);
                rest = &rest[field.len() + 2..];
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn run(job: &RuleRun, root: &std::path::Path) -> Result<(), String> {
    let mut command = process::program(&job.program[0]);
    process::own_group(command.args(&job.program[1..]).current_dir(root));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().map_err(|error| format!("cannot start: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // The program may exit without reading its input.
        let _ = pipe.write_all(format!("{}\n", job.input).as_bytes());
    }
    let said = child.stderr.take().map(|pipe| std::thread::spawn(move || last_line(pipe)));
    let status = wait(&mut child, job.timeout)?;
    let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match status.success() {
        true => Ok(()),
        false if said.is_empty() => Err(format!("failed ({status})")),
        false => Err(format!("failed ({status}): {said}")),
    }
}

fn last_line(pipe: impl std::io::Read) -> String {
    use std::io::BufRead as _;
    let lines = std::io::BufReader::new(pipe).lines().map_while(Result::ok).filter(|line| !line.trim().is_empty());
    lines.last().unwrap_or_default()
}

/// Waits for the program; kills it with all of its child processes when it times out.
fn wait(child: &mut Child, timeout: Duration) -> Result<std::process::ExitStatus, String> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("cannot wait for it to exit: {error}"))? {
            return Ok(status);
        }
        if start.elapsed() > timeout {
            process::send_signal_to_group(child.id(), Signal::Kill);
            let _ = child.wait();
            return Err(format!("timed out after {}s", timeout.as_secs()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

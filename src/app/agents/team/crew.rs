//! The worker processes of a team: starts them, reads their events, and restarts them a limited number of times.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::app::agents::worker::{Launch, WorkerEvent, free_name, is_at_work};
use crate::app::{Code, Consequence, Failure, Workspace};
use crate::fs;
use crate::os::Signal;
use crate::os::process::{send_signal, spawn_bound};
use crate::task::{TaskId, Worker};

/// How often in a row a worker process may end without having done anything.
const MOST_DEATHS: u32 = 3;

/// An event of a worker process, or the end of the process.
pub(super) enum Heard {
    Said(usize, WorkerEvent),
    Gone(usize),
}

/// A worker of the crew and its current process.
pub(super) struct Slot {
    pub role: String,
    pub worker: Worker,
    child: Option<Child>,
    /// How often the process ended since it last finished a run.
    deaths: u32,
    /// The failure that the process reported before it ended.
    failure: Option<Failure>,
    /// Why it is not restarted.
    pub given_up: Option<String>,
    /// After a failed setup, it is not restarted before this time.
    not_before: Option<Instant>,
}

impl Slot {
    /// Decides whether to restart the process after a failure that it reported, and returns a message about it.
    fn count(&mut self, ws: &Workspace, failure: &Failure) -> Option<String> {
        let mut message = format!("{} stopped: {}", self.worker, failure.message);
        let retries = ws.settings.number("agent.retries").unwrap_or(0);
        let has_failed = self.deaths > if failure.code == Code::SetupFailed { retries } else { MOST_DEATHS };
        match failure.code {
            // Another team took the name first.
            Code::NameTaken => self.deaths -= 1,
            // The end of the team says this.
            Code::BudgetReached | Code::BudgetUnknown => {
                self.given_up = Some(message);
                return None;
            }
            _ if has_failed || failure.for_worker() == Consequence::Approval => self.given_up = Some(message.clone()),
            Code::SetupFailed => {
                let factor = 1 << self.deaths.saturating_sub(1).min(6);
                let pause = ws.settings.duration("agent.backoff").as_secs().unsigned_abs().saturating_mul(factor);
                self.not_before = Instant::now().checked_add(Duration::from_secs(pause));
                message.push_str(&format!("; it is tried again in {pause}s"));
            }
            _ => {}
        }
        Some(message)
    }

    fn is_resting(&self) -> bool {
        self.not_before.is_some_and(|time| Instant::now() < time)
    }
}

pub(super) struct Crew<'a> {
    ws: &'a Workspace,
    launch: &'a Launch<'a>,
    teams: &'a [TaskId],
    pub slots: Vec<Slot>,
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
}

impl<'a> Crew<'a> {
    pub fn new(ws: &'a Workspace, launch: &'a Launch<'a>, teams: &'a [TaskId]) -> Self {
        let (sender, heard) = channel();
        Self { ws, launch, teams, slots: Vec::new(), sender, heard }
    }

    /// Adds a worker to a role; `start` starts its process.
    pub fn add(&mut self, role: &str) -> Result<(), Failure> {
        let worker = self.free_name(role)?;
        self.slots.push(Slot {
            role: role.to_owned(),
            worker,
            child: None,
            deaths: 0,
            failure: None,
            given_up: None,
            not_before: None,
        });
        Ok(())
    }

    fn free_name(&self, role: &str) -> Result<Worker, Failure> {
        let ours: Vec<Worker> = self.slots.iter().map(|slot| slot.worker.clone()).collect();
        free_name(self.ws, role, &ours)
    }

    /// The workers of each role.
    pub fn by_role(&self) -> BTreeMap<String, Vec<Worker>> {
        let mut all: BTreeMap<String, Vec<Worker>> = BTreeMap::new();
        for slot in &self.slots {
            all.entry(slot.role.clone()).or_default().push(slot.worker.clone());
        }
        all
    }

    pub fn start(&mut self, number: usize) -> Result<(), Failure> {
        let slot = &self.slots[number];
        let mut command = (self.launch.worker)(&slot.role, &slot.worker, self.teams)?;
        let log = self.ws.store.local().join(format!("logs/worker-{}.log", slot.worker));
        fs::make_dir(&self.ws.store.local().join("logs"))?;
        fs::write_over(&log, b"", false)?;
        let errors = fs::open_log(&log)?;
        let broken = |error| Failure::broken(Code::CannotStart, format!("cannot start {}: {error}", slot.worker));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let mut child = spawn_bound(&mut command).map_err(broken)?;
        let (sender, out) = (self.sender.clone(), child.stdout.take());
        std::thread::spawn(move || {
            let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok);
            for event in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
                let _ = sender.send(Heard::Said(number, event));
            }
            let _ = sender.send(Heard::Gone(number));
        });
        self.slots[number].child = Some(child);
        Ok(())
    }

    pub fn listen(&self, patience: Duration) -> Option<Heard> {
        self.heard.recv_timeout(patience).ok()
    }

    /// The worker has finished a run, so earlier ends of its process no longer count.
    pub fn forgive(&mut self, number: usize) {
        self.slots[number].deaths = 0;
    }

    /// Records the failure that the process reported before its end.
    pub fn failed(&mut self, number: usize, failure: &Failure) {
        self.slots[number].failure = Some(failure.clone());
    }

    /// Cleans up after a process that ended, and returns a message if it failed.
    pub fn bury(&mut self, number: usize) -> Option<String> {
        let slot = &mut self.slots[number];
        let status: ExitStatus = slot.child.take()?.wait().ok()?;
        if status.success() {
            return None;
        }
        slot.deaths += 1;
        let Some(failure) = slot.failure.take() else {
            let log = self.ws.store.local().join(format!("logs/worker-{}.log", slot.worker));
            // A killed process reports no failure, so the end of its log is used.
            let why = fs::tail(&log, 3).unwrap_or_default();
            let message = format!("{} ended ({status}) {}", slot.worker, why.trim()).trim_end().to_owned();
            slot.given_up = (slot.deaths > MOST_DEATHS).then(|| message.clone());
            return Some(message);
        };
        slot.count(self.ws, &failure)
    }

    /// Starts a process for each worker without one, if its role is needed.
    pub fn fill(&mut self, is_needed: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        for number in 0..self.slots.len() {
            let slot = &self.slots[number];
            if slot.child.is_some() || slot.given_up.is_some() || slot.is_resting() || !is_needed(&slot.role) {
                continue;
            }
            if is_at_work(self.ws, &slot.worker) {
                self.slots[number].worker = self.free_name(&self.slots[number].role.clone())?;
            }
            self.start(number)?;
        }
        Ok(())
    }

    pub fn living(&self) -> usize {
        self.slots.iter().filter(|slot| slot.child.is_some()).count()
    }

    /// Asks all processes to stop, after their current run or at once.
    pub fn signal(&self, signal: Signal) {
        for child in self.slots.iter().filter_map(|slot| slot.child.as_ref()) {
            send_signal(child.id(), signal);
        }
    }
}

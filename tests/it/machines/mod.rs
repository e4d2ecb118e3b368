//! Machines that share a board through a real git server: each has a clone, a home, and a network that can fail.
//!
//! `servers` starts sshd and nginx, `proxy` is the network, `ways` lists how it can fail. The tests are in `kit` (the
//! servers and the proxy themselves), `once` (each task is done once), `clocks`, `deadlines`, `prompts`, `cost`, `late`
//! (pushes that arrive after their sender timed out) and `fencing`.

mod clocks;
mod cost;
mod deadlines;
mod fencing;
mod kit;
mod late;
mod once;
mod processes;
mod prompts;
mod proxy;
mod servers;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use self::processes::{Ended, within};
use self::proxy::Proxy;
use self::servers::{Server, Transport, can_serve};
use crate::sandbox::{Output, RALPH, Sandbox, finish};
use crate::system::make_program;

/// A board where one command completes a task, and many machines may do so at once.
const WORKFLOW: &str = r#"
format = 1
name = "machines"
initial = "Todo"

[[state]]
name = "Todo"
claim = "Doing"

[[state]]
name = "Doing"
lock = true
release = "Todo"

[[state]]
name = "Help"
human = true

[[state]]
name = "Done"
terminal = true
gate = true

[targets]
close = "Done"
escalate = "Help"

[[command]]
name = "triage"
roles = ["builder"]
from = ["Todo"]
lock = "Doing"
complete = "Done"
sizes = "any"

[[role]]
name = "builder"
limit = 50
"#;

/// Logs that it has started, sleeps for a moment, and completes the task.
const AGENT: &str = r#"#!/bin/sh
echo "$RALPH_TASK $MACHINE" >> "$LOG"
sleep "${PACE:-0.05}"
exec "$RALPH" move "$RALPH_TASK" __COMPLETE__ --for triage
"#;

/// The settings of a fleet.
pub struct Plan {
    pub transport: Transport,
    pub machines: usize,
    pub tasks: usize,
    /// `claims.lease` of the board.
    pub lease: &'static str,
    /// `net.timeout` of each machine; the default if empty.
    pub timeout: &'static str,
    /// `claims.exchange` of each machine; the default if empty.
    pub exchange: &'static str,
}

impl Plan {
    pub fn of(transport: Transport) -> Self {
        Self { transport, machines: 2, tasks: 3, lease: "60m", timeout: "20s", exchange: "" }
    }

    /// `None`, with the reason on stderr, if the server is not installed.
    pub fn fleet(self) -> Option<Fleet> {
        can_serve(self.transport).then(|| Fleet::new(&self))
    }
}

/// Machines that share one server.
pub struct Fleet {
    // Dropped before the folder that they use.
    pub machines: Vec<Machine>,
    pub server: Server,
    pub sandbox: Sandbox,
}

/// A clone with its own home, connected to the server by its own proxy.
pub struct Machine {
    pub name: String,
    pub clone: PathBuf,
    pub home: PathBuf,
    pub proxy: Proxy,
    log: PathBuf,
}

/// The clocks of a machine. `ticks` are seconds of the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    pub now: jiff::Timestamp,
    pub ticks: u64,
}

impl Time {
    pub const fn start() -> Self {
        Self { now: jiff::Timestamp::constant(1_794_823_200, 0), ticks: 10_000 }
    }

    /// Later on both clocks.
    pub fn later(self, seconds: u32) -> Self {
        Self { now: self.off(i64::from(seconds)).now, ticks: self.ticks + u64::from(seconds) }
    }

    /// The same instant on a machine whose wall clock is wrong.
    pub fn off(self, seconds: i64) -> Self {
        Self { now: self.now + jiff::SignedDuration::from_secs(seconds), ..self }
    }
}

impl Fleet {
    fn new(plan: &Plan) -> Self {
        let sandbox = Sandbox::new();
        sandbox.git(&["init", "-q", "--bare", "-b", "main", "../hub.git"]);
        let hub = sandbox.outside("hub.git");
        sandbox.git_in(&hub, &["config", "http.receivepack", "true"]).ok();
        sandbox.git(&["remote", "add", "origin", hub.to_str().unwrap()]);
        std::fs::write(sandbox.root().join(".ralph/workflow.toml"), WORKFLOW.trim_start()).unwrap();
        for number in 0..plan.tasks {
            sandbox.write_task(&format!("t-{number}"), format!("title = \"Task {number}\"\n"));
        }
        sandbox.ralph(&["config", "set", "claims.remote", "origin"]).ok();
        sandbox.ralph(&["config", "set", "claims.lease", plan.lease]).ok();
        sandbox.ralph(&["push"]).ok();
        let agent = sandbox.outside("agent.sh");
        std::fs::write(&agent, AGENT).unwrap();
        make_program(&agent);
        let server = Server::new(&sandbox, plan.transport);
        let machines = (0..plan.machines).map(|number| Machine::new(&sandbox, &server, plan, number)).collect();
        Self { machines, server, sandbox }
    }

    fn in_hub(&self, args: &[&str]) -> String {
        self.sandbox.git_in(&self.sandbox.outside("hub.git"), args).ok()
    }

    /// The tasks that have a claim on the server, live or ended, read from its repository.
    pub fn claims(&self) -> Vec<String> {
        let said = self.in_hub(&["for-each-ref", "--format=%(refname)", "refs/ralph/claims/"]);
        said.lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect()
    }

    /// The content of a claim on the server.
    pub fn claim(&self, task: &str) -> String {
        self.in_hub(&["cat-file", "-p", &format!("refs/ralph/claims/{task}")])
    }

    /// The states of the tasks on the server's main, without those in the first state.
    pub fn states(&self) -> BTreeMap<String, String> {
        let hub = self.sandbox.outside("hub.git");
        let said = self.sandbox.git_in(&hub, &["grep", "-E", "^state = ", "main", "--", ".ralph/tasks"]).stdout;
        let state = |line: &str| {
            let (file, state) = line.split_once(".toml:state = ")?;
            Some((file.rsplit('/').next()?.to_owned(), state.trim_matches('"').to_owned()))
        };
        said.lines().filter_map(state).collect()
    }

    pub fn done(&self) -> usize {
        self.states().values().filter(|state| *state == "Done").count()
    }

    /// The tasks that agents have started, each with the machine.
    pub fn begun(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.sandbox.outside("begun")).unwrap_or_default();
        text.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    /// What each machine and the server know of each task, for the message of a failed test.
    pub fn histories(&self) -> String {
        let mut text = String::new();
        let hub = self.in_hub(&["grep", "-h", "", "main", "--", ".ralph/journal"]);
        text.extend(hub.lines().map(|line| format!("hub {line}\n")));
        for machine in &self.machines {
            text.extend(machine.journal().iter().map(|line| format!("{} {line}\n", machine.name)));
        }
        text
    }

    /// Sets a hook of the server; `None` removes it.
    pub fn hook(&self, name: &str, script: Option<&str>) {
        let file = self.sandbox.outside("hub.git/hooks").join(name);
        match script {
            Some(script) => {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
                make_program(&file);
            }
            None => std::fs::remove_file(file).unwrap(),
        }
    }
}

impl Machine {
    fn new(sandbox: &Sandbox, server: &Server, plan: &Plan, number: usize) -> Self {
        let name = format!("machine-{number}");
        let (clone, home) = (sandbox.outside(&format!("{name}/repo")), sandbox.outside(&format!("{name}/home")));
        std::fs::create_dir_all(home.join(".config/ralph")).unwrap();
        let proxy = Proxy::to(server.port);
        let machine = Self { name, clone, home, proxy, log: sandbox.outside("begun") };
        machine.settings(server, plan, &sandbox.outside("agent.sh"));
        let hub = sandbox.outside("hub.git");
        finish(machine.program("git", sandbox.root().as_path()).args(["clone", "-q"]).arg(hub).arg(&machine.clone))
            .ok();
        machine.go_to(&server.url_through(machine.proxy.port));
        machine.ralph(&["init"]).ok();
        machine
    }

    fn settings(&self, server: &Server, plan: &Plan, agent: &Path) {
        let user = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
        std::fs::write(self.home.join(".gitconfig"), format!("{user}{}", server.settings())).unwrap();
        let mut text = format!("[agent]\ncommand = [{agent:?}]\nsandbox = \"off\"\nbackoff = \"0s\"\n");
        if !plan.exchange.is_empty() {
            text += &format!("[claims]\nexchange = {:?}\n", plan.exchange);
        }
        // Each command opens its own connection, so that the proxy sees it.
        text += "[net]\nssh_sharing = \"off\"\n";
        if !plan.timeout.is_empty() {
            text += &format!("timeout = {:?}\n", plan.timeout);
        }
        std::fs::write(self.home.join(".config/ralph/config.toml"), text).unwrap();
    }

    /// A program in the environment of this machine, with the real clock and random seed.
    pub fn program(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("HOME", &self.home).env("LC_ALL", "C.UTF-8").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("RALPH", RALPH).env("MACHINE", &self.name).env("LOG", &self.log).stdin(Stdio::null());
        command
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(RALPH, &self.clone);
        command.args(args);
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// Runs a command with the clocks that the test sets.
    pub fn at(&self, time: Time, args: &[&str]) -> Output {
        let mut command = self.command(args);
        finish(command.env("RALPH_NOW", time.now.to_string()).env("RALPH_TICKS", time.ticks.to_string()))
    }

    /// Kills the command if it does not end within the limit.
    pub fn within(&self, limit: Duration, args: &[&str]) -> Ended {
        within(limit, &mut self.command(args))
    }

    pub fn git(&self, args: &[&str]) -> String {
        finish(self.program("git", &self.clone).args(args)).ok()
    }

    /// Adds to the machine's git configuration.
    pub fn configure(&self, text: &str) {
        let file = self.home.join(".gitconfig");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, before + text).unwrap();
    }

    pub fn go_to(&self, url: &str) {
        self.git(&["remote", "set-url", "origin", url]);
    }

    /// The state in the file of a task. A `ralph` command would record what it saw, with clocks that the test has not
    /// set.
    pub fn state(&self, task: &str) -> String {
        let text = std::fs::read_to_string(self.clone.join(format!(".ralph/tasks/{task}.toml"))).unwrap();
        let state = text.lines().find_map(|line| line.strip_prefix("state = "));
        state.map_or("Todo", |state| state.trim_matches('"')).to_owned()
    }

    /// The committed board.
    pub fn board(&self) -> String {
        self.git(&["rev-parse", "HEAD:.ralph"])
    }

    fn journal(&self) -> Vec<serde_json::Value> {
        let files = std::fs::read_dir(self.clone.join(".ralph/journal")).into_iter().flatten();
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        texts
            .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
            .collect()
    }

    /// The lines of the journal about a task.
    pub fn journal_of(&self, task: &str) -> Vec<String> {
        self.journal().iter().map(ToString::to_string).filter(|line| line.contains(&format!("{task:?}"))).collect()
    }

    /// How often each task was finished according to the journal, without changes that were undone.
    pub fn finished(&self) -> BTreeMap<String, usize> {
        let journal = self.journal();
        let undone: BTreeSet<&str> = journal.iter().filter_map(|line| line["undoes"].as_str()).collect();
        let mut finished = BTreeMap::new();
        // A pull takes the state from the server, where another machine has finished the task.
        let counts = |line: &&serde_json::Value| {
            line["verb"] != "pull" && !line["id"].as_str().is_some_and(|id| undone.contains(id))
        };
        for line in journal.iter().filter(counts) {
            let closes = |change: &&serde_json::Value| change["key"] == "state" && change["new"] == "Done";
            for change in line["changes"].as_array().unwrap().iter().filter(closes) {
                *finished.entry(change["task"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        finished
    }
}

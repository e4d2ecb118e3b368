//! A sandbox whose board is mirrored to a fake GitHub, or to a real one that the environment names.

mod chaos;
mod documents;
mod faults;
mod feedback;
mod healing;
mod kills;
mod live;
mod mirroring;
mod model;
mod pair;
mod pulls;
mod quiet;
mod setup;
mod stories;
mod volume;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::fake::{Fake, Fault, Level, World};
use crate::sandbox::{Output, RALPH, Sandbox, finish};

/// For manual tests of ralph: prints its address and runs until it is stopped.
#[test]
#[ignore = "a server, not a check"]
#[allow(clippy::print_stderr)]
fn serve() {
    let fake = Fake::start();
    eprintln!("export RALPH_GITHUB_API={} GH_TOKEN={}", fake.url(), fake.token());
    loop {
        std::thread::park();
    }
}

pub struct Mirror {
    pub sandbox: Sandbox,
    pub fake: Fake,
}

impl Mirror {
    /// Set up, with an empty project.
    pub fn new() -> Self {
        let mirror = Self::unset(Level::Dotcom);
        mirror.ralph(&["sync", "init"]).ok();
        mirror
    }

    /// A board and a GitHub that are connected only by the git remote.
    pub fn unset(level: Level) -> Self {
        let sandbox = Sandbox::new();
        sandbox.git(&["remote", "add", "origin", "git@github.com:acme/app.git"]);
        Self { sandbox, fake: Fake::start_at(level) }
    }

    pub fn command(&self, folder: &Path) -> Command {
        let mut command = self.sandbox.command(RALPH, folder);
        command
            .env("GH_TOKEN", self.fake.token())
            .env("RALPH_GITHUB_API", self.fake.url())
            .env("RALPH_GITHUB_PACE", "0s");
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Output {
        finish(self.command(&self.sandbox.root()).args(args))
    }

    /// A sync that must succeed.
    #[track_caller]
    pub fn sync(&self) -> serde_json::Value {
        self.ralph(&["sync", "--json"]).json()
    }

    #[track_caller]
    pub fn add(&self, args: &[&str]) -> String {
        self.sandbox.add(args)
    }

    /// The number of a task's issue.
    #[track_caller]
    pub fn number(&self, task: &str) -> u32 {
        let shown = self.ralph(&["task", "show", task, "--json"]).json();
        u32::try_from(shown["github"]["number"].as_u64().unwrap_or_else(|| panic!("{task} is not mirrored: {shown}")))
            .unwrap()
    }

    #[track_caller]
    pub fn field(&self, task: &str, field: &str) -> String {
        let shown = self.ralph(&["task", "show", task, "--json"]).json();
        match &shown[field] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    pub fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.fake.world())
    }

    /// A sync that blocks at its first request until the caller ends it.
    pub fn held(&self) -> Child {
        self.fake.plan([(0, Fault::HoldBefore)]);
        let mut command = self.command(&self.sandbox.root());
        let child = command.arg("sync").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(self.fake.wait_held(Duration::from_secs(30)));
        child
    }

    /// The names of the requests since the last call, in order.
    pub fn requests(&self) -> Vec<String> {
        let names = self.fake.log().iter().map(|logged| logged.operation.clone().unwrap_or_default()).collect();
        self.fake.clear_log();
        names
    }
}

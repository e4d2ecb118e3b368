//! Workers and teams with scripted agents: small programs that use ralph as an agent would.

mod badly;
mod budgets;
mod pipeline;
mod resumed;
mod side_by_side;
mod working;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Output, RALPH, Sandbox, eventually, finish};
use crate::system::make_program;

/// A board whose agent is `agent.sh`, set in the user's settings.
pub struct Squad {
    pub sandbox: Sandbox,
}

impl Squad {
    pub fn new() -> Self {
        let sandbox = Sandbox::new();
        let agent = sandbox.outside("agent.sh");
        std::fs::write(&agent, include_str!("agent.sh")).unwrap();
        make_program(&agent);
        std::fs::create_dir_all(sandbox.outside("ctl")).unwrap();
        std::fs::create_dir_all(sandbox.home().join(".config/ralph")).unwrap();
        let squad = Self { sandbox };
        squad.settings("");
        std::fs::write(squad.sandbox.root().join("README.md"), "readme\n").unwrap();
        squad.sandbox.git(&["add", "-A"]);
        squad.sandbox.git(&["commit", "-q", "-m", "base"]);
        squad
    }

    /// Runs agents without the sandbox, so that they can do what is forbidden.
    pub fn unconfined() -> Self {
        let squad = Self::new();
        squad.settings("sandbox = \"off\"");
        squad
    }

    /// Writes the user's settings; `more` is added to `[agent]`.
    pub fn settings(&self, more: &str) {
        let [agent, ctl] = ["agent.sh", "ctl"].map(|name| self.sandbox.outside(name).display().to_string());
        let text = format!("[agent]\ncommand = [{agent:?}]\nwrite = [{ctl:?}]\nbackoff = \"0s\"\n{more}\n");
        std::fs::write(self.sandbox.home().join(".config/ralph/config.toml"), text).unwrap();
    }

    /// Sets how the agent behaves for a task with this title.
    pub fn behave(&self, title: &str, command: &str, how: &str) {
        std::fs::write(self.sandbox.outside("ctl").join(format!("{title}.{command}")), how).unwrap();
    }

    /// With the real clock and random seed, since agents run side by side.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(RALPH, &self.sandbox.root());
        command.env_remove("RALPH_NOW").env_remove("RALPH_SEED");
        command.env("RALPH", RALPH).env("CTL", self.sandbox.outside("ctl")).args(args);
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// Adds a task; `agent.sh` identifies it by its title.
    pub fn add(&self, title: &str, more: &[&str]) -> String {
        let mut args = vec!["task", "add", "--json", title];
        args.extend(more);
        self.ralph(&args).json()["tasks"][0]["id"].as_str().unwrap().to_owned()
    }

    pub fn task(&self, id: &str) -> Value {
        self.ralph(&["task", "show", id, "--json"]).json()
    }

    pub fn state(&self, id: &str) -> String {
        self.task(id)["state"].as_str().unwrap().to_owned()
    }

    /// All tasks, including steps.
    pub fn all(&self) -> Vec<Value> {
        let args = ["task", "ls", "--all", "--kind", "issue", "--kind", "epic", "--kind", "step", "--json"];
        self.ralph(&args).json().as_array().unwrap().clone()
    }

    pub fn by_title(&self, title: &str) -> Value {
        self.all().into_iter().find(|task| task["title"] == title).unwrap_or_else(|| panic!("no task {title:?}"))
    }

    pub fn steps(&self) -> Vec<Value> {
        self.all().into_iter().filter(|task| task["kind"] == "step").collect()
    }

    pub fn journal(&self) -> Vec<Value> {
        let folder = self.sandbox.root().join(".ralph/journal");
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The moves of a task in the journal: the command, the worker and the state.
    pub fn moves(&self, id: &str) -> Vec<(String, String, String)> {
        let mut moves = Vec::new();
        for line in self.journal() {
            for change in line["changes"].as_array().unwrap() {
                if change["task"] == id && change["key"] == "state" {
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    moves.push((text(&line["verb"]), text(&line["by"]), text(&change["new"])));
                }
            }
        }
        moves
    }

    /// The time at which the journal has the task closed.
    pub fn done_at(&self, id: &str) -> jiff::Timestamp {
        let closes = |change: &Value| change["task"] == id && change["key"] == "state" && change["new"] == "Done";
        let line = self.journal().into_iter().find(|line| line["changes"].as_array().unwrap().iter().any(closes));
        line.unwrap()["at"].as_str().unwrap().parse().unwrap()
    }

    pub fn states(&self, id: &str) -> Vec<String> {
        self.moves(id).into_iter().map(|(_, _, to)| to).collect()
    }

    pub fn runs(&self) -> Vec<Value> {
        self.ralph(&["runs", "ls", "-n", "1000", "--json"]).json().as_array().unwrap().clone()
    }

    /// The outcomes of a task's runs, oldest first, as `command outcome`.
    pub fn outcomes(&self, id: &str) -> Vec<String> {
        let runs = self.runs();
        let of = runs.iter().rev().filter(|run| run["task"] == id);
        of.map(|run| format!("{} {}", run["command"].as_str().unwrap(), run["outcome"].as_str().unwrap())).collect()
    }

    /// The text of all notes of a task.
    pub fn notes(&self, id: &str) -> String {
        let notes = self.task(id)["notes"].clone();
        notes
            .as_array()
            .unwrap()
            .iter()
            .map(|note| note["text"].as_str().unwrap_or_default().to_owned() + "\n")
            .collect()
    }

    /// The files of main and their content, without the board and its documents.
    pub fn main(&self) -> BTreeMap<String, String> {
        let listed = self.sandbox.git(&["ls-tree", "-r", "--name-only", "main"]);
        let ours =
            |name: &&str| !name.starts_with(".ralph/") && !name.starts_with("thoughts/") && !name.starts_with(".git");
        let names = listed.lines().filter(ours);
        names.map(|name| (name.to_owned(), self.sandbox.git(&["show", &format!("main:{name}")]))).collect()
    }

    /// Asserts that no claim, lock, worktree or branch remains, and that git and the doctor find no problems.
    #[track_caller]
    pub fn is_clean(&self) {
        assert_eq!(self.ralph(&["claims", "ls", "--json"]).json(), serde_json::json!([]));
        assert_eq!(self.sandbox.git(&["branch", "--list", "feature/*"]), "");
        assert_eq!(self.sandbox.git(&["worktree", "list"]).lines().count(), 1);
        self.sandbox.git(&["fsck", "--strict"]);
        let doctor = self.ralph(&["doctor"]);
        assert_eq!(doctor.code, 0, "{doctor}");
    }

    /// Starts a command without waiting for it.
    pub fn start(&self, args: &[&str]) -> std::process::Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

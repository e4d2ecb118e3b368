//! A git repository with a board, its own home, and a clock and random seed that advance with each command.

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const RALPH: &str = env!("CARGO_BIN_EXE_ralph");

pub struct Sandbox {
    folder: tempfile::TempDir,
    step: Cell<i64>,
}

/// The output of a command on both streams, and its exit code.
#[must_use]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        write!(f, "--- exit {}", self.code)
    }
}

impl Output {
    /// The stdout of a command that must succeed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self}");
        self.stdout
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// The stderr of a command that must end with this code.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self}");
        assert_eq!(self.stdout, "", "a failure prints nothing on stdout");
        self.stderr
    }
}

impl Sandbox {
    /// A repository with an empty board.
    pub fn new() -> Self {
        let sandbox = Self::bare();
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.ralph(&["init"]).ok();
        sandbox
    }

    /// An empty folder.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("repo")).unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder, step: Cell::new(0) }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn task_file(&self, id: &str) -> PathBuf {
        self.root().join(format!(".ralph/tasks/{id}.toml"))
    }

    /// A program in the sandbox's environment.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        let step = self.step.replace(self.step.get() + 1);
        let now = jiff::Timestamp::from_second(1_794_823_200 + step * 60).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("PATH", path).env("HOME", self.home()).env("LC_ALL", "C.UTF-8");
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org");
        command.env("GIT_COMMITTER_NAME", "Ada").env("GIT_COMMITTER_EMAIL", "ada@example.org");
        command.env("RALPH_NOW", now.to_string()).env("RALPH_SEED", (step + 1).to_string());
        command.stdin(Stdio::null());
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Output {
        self.ralph_in(&self.root(), args)
    }

    pub fn ralph_in(&self, folder: &Path, args: &[&str]) -> Output {
        finish(self.command(RALPH, folder).args(args))
    }

    pub fn ralph_with(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(RALPH, &self.root());
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        output(child.wait_with_output().unwrap())
    }

    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args).ok()
    }

    pub fn git_in(&self, folder: &Path, args: &[&str]) -> Output {
        finish(self.command("git", folder).args(args))
    }

    /// Adds a task and returns its id.
    #[track_caller]
    pub fn add(&self, args: &[&str]) -> String {
        let mut all = vec!["task", "add", "--json"];
        all.extend(args);
        self.ralph(&all).json()["tasks"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Creates a document of a task, fills it in, and links it, as a person; returns its path.
    #[track_caller]
    pub fn hand_in(&self, kind: &str, task: &str) -> String {
        let made = self.ralph(&["artifact", "new", kind, task, "--json"]).json();
        let path = made["path"].as_str().unwrap().to_owned();
        self.fill(&path);
        self.ralph(&["artifact", "link", kind, task]).ok();
        path
    }

    /// Fills in a template; a review approves.
    pub fn fill(&self, path: &str) {
        let file = self.root().join(path);
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| match line.split_once("TO BE WRITTEN") {
            Some((front, _)) if front.contains('`') => "- `src/a.rs`: it".to_owned(),
            Some((front, _)) if front.starts_with("VERDICT") => "VERDICT: APPROVED".to_owned(),
            Some((front, _)) if front.starts_with("status") => "status: approved".to_owned(),
            Some((front, _)) => format!("{front}done"),
            None => line.to_owned(),
        });
        std::fs::write(file, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    }

    /// Ticks every box in the plan of a task.
    pub fn tick(&self, task: &str) {
        let shown = self.ralph(&["task", "show", task, "--json"]).json();
        let file = self.root().join(shown["artifacts"]["plan"].as_str().unwrap());
        let text = std::fs::read_to_string(&file).unwrap().replace("- [ ]", "- [x]");
        std::fs::write(file, text).unwrap();
    }

    pub fn write_task(&self, id: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.task_file(id), content).unwrap();
    }

    #[track_caller]
    pub fn read_task(&self, id: &str) -> String {
        std::fs::read_to_string(self.task_file(id)).unwrap()
    }

    /// The ids in the order of `task ls --all --sort id`.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        let listed = self.ralph(&["task", "ls", "--all", "--sort", "id", "--json"]).json();
        listed.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// How long a test waits at most, on a busy machine.
pub const SOON: Duration = Duration::from_secs(60);

/// Returns as soon as the condition holds.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < SOON, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process has an inotify instance.
pub fn is_watching(pid: u32) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(Result::ok);
    files.into_iter().any(|file| std::fs::read_link(file.path()).is_ok_and(|to| to.ends_with("anon_inode:inotify")))
}

pub fn finish(command: &mut Command) -> Output {
    output(command.output().unwrap())
}

fn output(raw: std::process::Output) -> Output {
    Output {
        stdout: String::from_utf8(raw.stdout).unwrap(),
        stderr: String::from_utf8(raw.stderr).unwrap(),
        code: crate::system::exit_code(raw.status),
    }
}

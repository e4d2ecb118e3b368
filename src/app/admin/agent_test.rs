//! `agent test`: runs the real agent program on one small task in a temporary repository, with the settings of the
//! workers of this board. The task needs a file and a commit in a worktree, a document, and calls of the board.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::agent::host::{AgentEvent, Host, denied_paths};
use crate::app::admin::init::{InitOptions, init};
use crate::app::agents::programs::refuse_outdated;
use crate::app::agents::worker::{Launch, WorkerAsk, work};
use crate::app::records::runs::{Run, show_run};
use crate::app::{Code, Failure, Hint, Options, Stop, Workspace};
use crate::config::Source;
use crate::fs;
use crate::task::TaskId;

const TASK: &str = "t-test";
const PLAN: &str = "thoughts/shared/plans/2026-01-01-t-test-say-hello.md";
const TASK_FILE: &str = "\
title = \"Say hello\"
state = \"In Progress\"
estimate = \"XS\"
description = \"\"\"
This task only tests that an agent can work here. Write a file hello.txt with the word hello, commit it in the worktree, tick the
box of the plan, note on the task that it worked, and complete the task.
\"\"\"

[artifacts]
plan = \"thoughts/shared/plans/2026-01-01-t-test-say-hello.md\"
";
const PLAN_FILE: &str = "\
---
date: 2026-01-01
task: t-test
status: draft
type: plan
---

# Plan: Say hello (t-test)

## Overview

It writes one file.

## Phase 1: Say hello

Write `hello.txt` with the word hello.

### Files

- `hello.txt`

### Success Criteria

- [ ] Automated: `cat hello.txt` prints hello
";

#[derive(Debug, Serialize)]
pub struct AgentTest {
    pub profile: String,
    pub passed: bool,
    /// Whether the kernel sandboxed the agent.
    pub confined: bool,
    pub checks: Vec<AgentCheck>,
    /// Tools that the program refused, each with its reason.
    pub refused: Vec<(String, String)>,
    /// Paths that the agent was not allowed to write.
    pub denied: Vec<String>,
    pub seconds: f64,
    /// The end of the agent's output, if a check failed.
    pub said: String,
}

#[derive(Debug, Serialize)]
pub struct AgentCheck {
    pub what: &'static str,
    pub ok: bool,
}

/// Runs the test with `profile`, or with the configured one.
pub fn test_agent(
    options: &Options,
    profile: Option<&str>,
    launch: &Launch<'_>,
    stop: &Stop,
) -> Result<AgentTest, Failure> {
    let (profile, settings) = settings(options, profile)?;
    if let Some(host) = Host::find(&profile) {
        refuse_outdated(host)?;
    }
    let scratch = Scratch::new()?;
    let options = Options { dir: scratch.0.clone(), board: Some(scratch.0.clone()), settings, ..Options::default() };
    prepare(&options, &scratch.0)?;
    let asked = WorkerAsk { role: "builder".into(), most: Some(1), ..WorkerAsk::default() };
    let start = std::time::Instant::now();
    let worked = work(&options, &asked, launch, stop, &mut |_| {})?;
    let run =
        worked.runs.into_iter().next().ok_or_else(|| Failure::broken(Code::NoRun, "the agent was not started"))?;
    let ws = Workspace::open(&options)?;
    let mut tested = look_at(&ws, profile, run)?;
    tested.seconds = start.elapsed().as_secs_f64();
    Ok(tested)
}

/// The agent profile, and the agent settings of this board and this person for the test board.
fn settings(options: &Options, profile: Option<&str>) -> Result<(String, Vec<String>), Failure> {
    let ws = Workspace::open(options)?;
    let set = |name: &str| name.starts_with("agent.") && name != "agent.retries";
    let mut all: Vec<String> = ws
        .settings
        .all()
        .filter(|(spec, setting)| set(spec.key) && setting.source != Source::Default)
        .map(|(spec, setting)| format!("{}={}", spec.key, setting.value))
        .collect();
    // Report a failure instead of handing the task to a person.
    all.push("agent.retries=9".into());
    let own = ws.settings.text("agent.profile").to_owned();
    match profile {
        Some(name) if Host::find(name).is_some() => {
            all.push(format!("agent.profile={name}"));
            all.push("agent.command=".into());
            Ok((name.to_owned(), all))
        }
        Some(name) => Err(Failure::usage(Code::NoAgent, format!("{name:?} is not a profile"))
            .hint(Hint::run("agent ls", "to see the profiles"))),
        None => Ok((own, all)),
    }
}

/// A folder that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let tail: String = std::iter::repeat_with(fastrand::alphanumeric).take(8).collect();
        let path = std::env::temp_dir().join(format!("ralph-agent-test-{tail}"));
        fs::make_private_dir(&path)?;
        Ok(Self(path.canonicalize().unwrap_or(path)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_tree(&self.0);
    }
}

fn prepare(options: &Options, root: &Path) -> Result<(), Failure> {
    git(root, &["init", "-q", "-b", "main"])?;
    // The user's identity may be set only in their own repositories.
    git(root, &["config", "user.name", "ralph agent test"])?;
    git(root, &["config", "user.email", "agent-test@localhost"])?;
    init(options, &InitOptions::default())?;
    fs::make_dir(&root.join("src"))?;
    fs::write_new(&root.join("src/README.md"), b"A place for code.\n", false)?;
    fs::make_dir(root.join(PLAN).parent().unwrap_or(root))?;
    fs::write_new(&root.join(PLAN), PLAN_FILE.as_bytes(), false)?;
    fs::write_new(&root.join(format!(".ralph/tasks/{TASK}.toml")), TASK_FILE.as_bytes(), false)?;
    git(root, &["add", "-A"])?;
    git(root, &["commit", "-q", "-m", "A board to test an agent"])
}

fn git(root: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let out = Command::new("git").arg("-C").arg(root).args(arguments).output();
    let out = out.map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start git: {error}")))?;
    match out.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
            Err(Failure::broken(Code::Git, format!("git {} failed: {said}", arguments.join(" "))))
        }
    }
}

/// Whether a worktree has files that are not committed.
fn has_changes(worktree: &Path) -> bool {
    let out = Command::new("git").arg("-C").arg(worktree).args(["status", "--porcelain"]).output();
    out.is_ok_and(|out| !out.stdout.is_empty())
}

fn look_at(ws: &Workspace, profile: String, run: Run) -> Result<AgentTest, Failure> {
    let id = TaskId::new(TASK)?;
    let task = ws.store.load(&id)?.task;
    let plan = fs::read_text(&ws.store.root().join(PLAN))?.unwrap_or_default();
    let branch = ws.repository.tip_of(&format!("feature/{TASK}")).ok();
    let committed = branch.is_some() && branch != ws.repository.tip_of("main").ok();
    let checks = vec![
        AgentCheck { what: "write a file in its worktree", ok: committed || has_changes(&run.dir) },
        AgentCheck { what: "commit it on its branch", ok: committed },
        AgentCheck { what: "write a document", ok: !plan.contains("- [ ]") },
        AgentCheck { what: "run ralph", ok: task.state.as_str() == "In Review" || !ws.notes(&id)?.is_empty() },
        AgentCheck { what: "complete the task", ok: task.state.as_str() == "In Review" },
    ];
    let (refused, confined) = (run.refused.clone(), run.confined);
    let shown = show_run(ws, run)?;
    let answers = shown.events.iter().filter_map(|event| match event {
        AgentEvent::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let denied = denied_paths(answers);
    let passed = checks.iter().all(|check| check.ok);
    let said = if passed { String::new() } else { shown.tail };
    Ok(AgentTest { profile, passed, confined, checks, refused, denied, seconds: 0.0, said })
}

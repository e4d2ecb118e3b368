//! Everything that one run of an agent needs: its folder, prompt, permissions and environment.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::program::{Agent, AgentStart, Filling, filled};
use super::{Job, Launch, health};
use crate::agent::document::DocumentKind;
use crate::agent::host::{Grant, Invocation};
use crate::app::agents::prompt::{Prompt, prompt};
use crate::app::records::runs::Run;
use crate::app::records::strays::dirty;
use crate::app::repo::worktree::{Start, add_worktree, place};
use crate::app::work::held_claim::HeldClaim;
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Workspace};
use crate::config::Source;
use crate::fs;
use crate::task::TaskId;
use crate::workflow::Command as Workflowed;

/// The main worktree, or the task's own where its code is written.
fn directory(ws: &Workspace, job: &Job, command: &Workflowed) -> Result<PathBuf, Failure> {
    match command.worktree {
        true => Ok(add_worktree(ws, &job.task, &Start::Main)?.path),
        false => Ok(ws.store.root().to_owned()),
    }
}

pub(super) fn tip(ws: &Workspace, id: &TaskId) -> Option<String> {
    let place = place(ws, &ws.family(id).ok()?, id).ok()?;
    ws.repository.tip_of(&place.branch).ok()
}

/// Starts the program. Also returns where the task's branch was before.
pub(super) fn start(
    ws: &Workspace,
    job: &Job,
    run: &mut Run,
    agent: &Agent,
    launch: &Launch<'_>,
    tenure: &mut HeldClaim,
) -> Result<(Child, Option<String>), Failure> {
    let (board, command) = (ws.family(&job.task)?, ws.flow().command(&job.command)?);
    if let Some(task) = board.get(&job.task) {
        ws.rules().refuse_lacking(task, command, &ws.actor()?, false)?;
    }
    run.dir = directory(ws, job, command)?;
    let tip = tip(ws, &job.task).filter(|_| command.worktree);
    if command.worktree {
        run.dirty = dirty(ws)?;
    }
    let Prompt { text, template, .. } = prompt(ws, &job.command, &job.task)?;
    if template.is_some() {
        // Somebody else's words to one's own agent.
        require_trust(ws)?;
    }
    let prompt_file = run.path(ws, "prompt.md");
    fs::write_new(&prompt_file, text.as_bytes(), false)?;
    if let Some(host) = agent.host() {
        run.resumed = health::session_to_resume(ws, job, host)?;
    }
    let ready = prepared(ws, job, run, agent, &text)?;
    run.program.clone_from(&ready.invocation.words);
    run.write(ws)?;
    let mut guard = (launch.guard)()?;
    let log = open(&run.path(ws, "output.log"), true)?;
    let second = log.try_clone().map_err(|error| Failure::broken(Code::Io, format!("cannot open the log: {error}")))?;
    let input = if ready.has_prompt { Stdio::null() } else { Stdio::from(open(&prompt_file, false)?) };
    // A group of its own: Ctrl-C at the terminal is for the worker, which lets its agent finish.
    guard.current_dir(&run.dir).process_group(0).stdin(input).stdout(log).stderr(second);
    environment(&mut guard, ws, job, run);
    guard.envs(ready.invocation.env.iter().map(|(name, value)| (*name, value)));
    Ok((tenure.lend(ws, guard, &ready.invocation.words)?, tip))
}

fn open(path: &Path, write: bool) -> Result<std::fs::File, Failure> {
    let file = std::fs::File::options().read(!write).append(write).open(path);
    file.map_err(|error| Failure::broken(Code::Io, format!("cannot open {}: {error}", path.display())))
}

/// A command line that is complete.
struct Prepared {
    invocation: Invocation,
    /// The prompt is in its arguments; otherwise it is given on standard input.
    has_prompt: bool,
}

fn prepared(ws: &Workspace, job: &Job, run: &Run, agent: &Agent, prompt: &str) -> Result<Prepared, Failure> {
    let command = ws.flow().command(&job.command)?;
    let writes = document_folders(ws, command)?;
    match &agent.start {
        AgentStart::Words(words) => {
            let role = ws.rules().role_of(&job.worker).unwrap_or_default().to_owned();
            let filling = Filling {
                prompt,
                prompt_file: &run.path(ws, "prompt.md"),
                task: job.task.as_str(),
                command: &job.command,
                worker: job.worker.as_str(),
                role: &role,
                dir: &run.dir,
                board: ws.store.root(),
                git_dir: &ws.repository.common,
                documents: writes.first().map_or(ws.store.root(), PathBuf::as_path),
            };
            let (words, has_prompt) = filled(words, &filling)?;
            Ok(Prepared { invocation: Invocation { words, ..Invocation::default() }, has_prompt })
        }
        AgentStart::Host { host, model, args } => {
            let policy = run.path(ws, "policy.toml");
            let grant = Grant {
                dir: &run.dir,
                git_dir: &ws.repository.common,
                writes: &writes,
                code: command.worktree,
                confined: false,
                policy: &policy,
                model: model.as_deref(),
                resume: run.resumed.as_deref(),
                args,
            };
            let invocation = (host.invoke)(&grant);
            if let Some(text) = &invocation.policy {
                fs::write_new(&policy, text.as_bytes(), false)?;
            }
            Ok(Prepared { invocation, has_prompt: false })
        }
    }
}

/// Where the documents of a command lie: those that it leaves behind and, for code, the plan whose boxes it ticks.
fn document_folders(ws: &Workspace, command: &Workflowed) -> Result<Vec<PathBuf>, Failure> {
    let yielded = command.yields.iter().filter_map(|kind| kind.parse::<DocumentKind>().ok());
    let kinds = yielded.chain(command.worktree.then_some(DocumentKind::Plan));
    let folders: Vec<PathBuf> = kinds.map(|kind| ws.store.root().join(kind.folder())).collect();
    for folder in &folders {
        fs::make_dir(folder)?;
    }
    Ok(folders)
}

fn environment(guard: &mut Command, ws: &Workspace, job: &Job, run: &Run) {
    guard.env("RALPH_RUN", &run.id).env("GIT_TRACE2_EVENT", run.path(ws, "git.jsonl"));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        guard.env_remove(name);
    }
    // Some programs believe this rather than the folder in which they were started.
    guard.env("PWD", &run.dir);
    // Some give their shells no git configuration.
    if let Some((name, email)) = ws.repository.identity() {
        for role in ["AUTHOR", "COMMITTER"] {
            guard.env(format!("GIT_{role}_NAME"), &name).env(format!("GIT_{role}_EMAIL"), &email);
        }
    }
    if let (Some(step), Some(team)) = (&job.step, &job.team) {
        guard.env("RALPH_STEP", step.as_str()).env("RALPH_TEAM", team.as_str());
    }
    if run.dir != ws.store.root() {
        guard.env("RALPH_WORKTREE", &run.dir);
    }
    // What was set for this run alone holds for what its agents do, too.
    for (spec, setting) in ws.settings.all().filter(|(_, setting)| setting.source == Source::Flag) {
        guard.env(spec.variable(), &setting.value);
    }
}

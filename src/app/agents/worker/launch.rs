//! Everything that one run of an agent needs: directory, prompt, permissions and environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::confinement::{Temporary, confinement, git_entry, is_wanted};
use super::program::{Agent, AgentStart, Filling, filled};
use super::{Job, Launch, health};
use crate::agent::document::DocumentKind;
use crate::agent::host::{Grant, Invocation};
use crate::app::agents::prompt::{Prompt, prompt_for};
use crate::app::agents::relay::{self, Relay};
use crate::app::records::runs::Run;
use crate::app::records::strays::{dirty, tips};
use crate::app::repo::bootstrap::{Setup, before_run};
use crate::app::repo::worktree::{Start, add_worktree, place};
use crate::app::work::held_claim::HeldClaim;
use crate::app::work::run::claim_environment;
use crate::app::workspace::drafts::{self, Drafts};
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Workspace};
use crate::config::Source;
use crate::fs;
use crate::os::process::own_group;
use crate::task::TaskId;
use crate::workflow::Command as Workflowed;

/// The directory of the run: the task's worktree for code, otherwise the main worktree.
fn directory(ws: &Workspace, job: &Job, run: &Run, command: &Workflowed) -> Result<PathBuf, Failure> {
    if !command.worktree {
        return Ok(ws.store.root().to_owned());
    }
    let log = run.path(ws, "output.log");
    let setup = Setup::Full { log: Some(log.clone()) };
    let added = add_worktree(ws, &job.task, &Start::Main, &setup, &mut |_| {})?;
    before_run(ws, &job.task, &added.path, &log)?;
    Ok(added.path)
}

pub(super) fn tip(ws: &Workspace, id: &TaskId) -> Option<String> {
    let place = place(ws, &ws.family(id).ok()?, id).ok()?;
    ws.repository.tip_of(&place.branch).ok()
}

/// A running program, with the resources that it needs until it ends.
pub(super) struct Started {
    pub child: Child,
    /// The tip of the task's branch before the run.
    pub tip: Option<String>,
    enclosure: Option<Enclosure>,
}

/// The environment of a sandboxed program: the relay, drafts of its documents, and temporary files.
struct Enclosure {
    relay: Relay,
    drafts: Drafts,
    temporary: Temporary,
}

impl Started {
    /// Ends the relay after the program has ended, and writes changed drafts to their documents.
    pub fn close(self, ws: &Workspace) -> Result<Option<String>, Failure> {
        if let Some(Enclosure { relay, drafts, temporary }) = self.enclosure {
            drop(relay);
            drafts.take_in(ws)?;
            drop(temporary);
        }
        Ok(self.tip)
    }
}

/// Starts the program of a run.
pub(super) fn start(
    ws: &Workspace,
    job: &Job,
    run: &mut Run,
    agent: &Agent,
    launch: &Launch<'_>,
    tenure: &mut HeldClaim,
) -> Result<Started, Failure> {
    let (board, command) = (ws.family(&job.task)?, ws.flow().command(&job.command)?);
    if let Some(task) = board.get(&job.task) {
        ws.rules().refuse_lacking(task, command)?;
    }
    run.dir = directory(ws, job, run, command)?;
    let tip = tip(ws, &job.task).filter(|_| command.worktree);
    run.confined = is_wanted(ws)?;
    if !run.confined {
        run.dirty = dirty(ws)?;
        run.tips = tips(ws)?;
    }
    let kinds = document_kinds(command);
    let enclosure = match run.confined {
        true => Some(enclose(ws, job, run, launch, tenure, &kinds)?),
        false => None,
    };
    let drafts = enclosure.as_ref().map(|around| &around.drafts);
    let Prompt { text, template, plan, .. } = prompt_for(ws, &job.command, &job.task, drafts)?;
    if template.is_some() {
        // A template of the board is not the user's own text, so it must be trusted.
        require_trust(ws)?;
    }
    let prompt_file = run.path(ws, "prompt.md");
    fs::write_new(&prompt_file, text.as_bytes(), false)?;
    if let Some(host) = agent.host() {
        run.resumed = health::session_to_resume(ws, job, host)?;
    }
    let writes = match &enclosure {
        Some(around) => vec![around.temporary.docs()],
        None => document_folders(ws, &kinds)?,
    };
    let ready = prepared(ws, job, run, agent, &text, &writes)?;
    run.program.clone_from(&ready.invocation.words);
    run.write(ws)?;
    let mut guard = (launch.guard)()?;
    let log = fs::open_log(&run.path(ws, "output.log"))?;
    let second = log.try_clone().map_err(|error| Failure::broken(Code::Io, format!("cannot open the log: {error}")))?;
    let input = if ready.has_prompt { Stdio::null() } else { Stdio::from(fs::open_file(&prompt_file)?) };
    // Use a separate process group: Ctrl-C at the terminal only reaches the worker process, which lets its agent
    // finish.
    own_group(guard.current_dir(&run.dir).stdin(input).stdout(log).stderr(second));
    guard.envs(environment(ws, job, run));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        guard.env_remove(name);
    }
    guard.envs(ready.invocation.env.iter().map(|(name, value)| (*name, value)));
    guard.envs(plan.map(|plan| ("RALPH_PLAN", plan)));
    if let Some(around) = &enclosure {
        confine(ws, job, run, &ready.invocation.words[0], around, &mut guard)?;
    }
    Ok(Started { child: tenure.lend(ws, guard, &ready.invocation.words)?, tip, enclosure })
}

/// Opens a relay to the board for a program that cannot write to it.
fn enclose(
    ws: &Workspace,
    job: &Job,
    run: &Run,
    launch: &Launch<'_>,
    tenure: &HeldClaim,
    kinds: &[DocumentKind],
) -> Result<Enclosure, Failure> {
    let folder = run.path(ws, "");
    let temporary = Temporary::new(ws)?;
    let drafts = Drafts::begin(&folder, temporary.docs(), &job.task, kinds.iter().map(ToString::to_string).collect())?;
    let ralph = (launch.guard)()?.get_program().to_owned();
    let mut variables = environment(ws, job, run);
    variables.extend(claim_environment(ws, &tenure.claimed).into_iter().map(|(name, value)| (name.to_owned(), value)));
    variables.push((drafts::VARIABLE.to_owned(), drafts.ledger().into()));
    let runner = move || {
        let mut command = Command::new(&ralph);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    };
    let relay = Relay::open(&folder, std::sync::Arc::new(runner))?;
    Ok(Enclosure { relay, drafts, temporary })
}

fn confine(
    ws: &Workspace,
    job: &Job,
    run: &Run,
    program: &str,
    around: &Enclosure,
    guard: &mut Command,
) -> Result<(), Failure> {
    let confinement = confinement(ws, job, program, &run.dir, &around.temporary.0)?;
    let file = run.path(ws, "confine.json");
    let text = serde_json::to_string_pretty(&confinement).expect("paths are text");
    fs::write_new(&file, text.as_bytes(), false)?;
    guard.arg("--confine").arg(file);
    guard.env(relay::SOCKET, around.relay.socket());
    for name in ["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"] {
        guard.env(name, &around.temporary.0);
    }
    // Git's housekeeping writes to paths that the sandbox forbids.
    if std::env::var_os("GIT_CONFIG_COUNT").is_none() {
        let values = [("GIT_CONFIG_KEY_0", "gc.auto"), ("GIT_CONFIG_VALUE_0", "0")];
        let more = [("GIT_CONFIG_KEY_1", "maintenance.auto"), ("GIT_CONFIG_VALUE_1", "false")];
        guard.env("GIT_CONFIG_COUNT", "2").envs(values).envs(more);
    }
    Ok(())
}

/// A complete command line.
struct Prepared {
    invocation: Invocation,
    /// Whether the arguments contain the prompt; otherwise it is passed on standard input.
    has_prompt: bool,
}

fn prepared(
    ws: &Workspace,
    job: &Job,
    run: &Run,
    agent: &Agent,
    prompt: &str,
    writes: &[PathBuf],
) -> Result<Prepared, Failure> {
    let command = ws.flow().command(&job.command)?;
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
            let entry = git_entry(&run.dir);
            let grant = Grant {
                dir: &run.dir,
                git_dirs: &[&[ws.repository.common.clone()][..], entry.as_slice()].concat(),
                writes,
                code: command.worktree,
                confined: run.confined,
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

/// The documents that a command produces, and for code also the plan, whose boxes it ticks.
fn document_kinds(command: &Workflowed) -> Vec<DocumentKind> {
    let yielded = command.yields.iter().filter_map(|kind| kind.parse().ok());
    yielded.chain(command.worktree.then_some(DocumentKind::Plan)).collect()
}

fn document_folders(ws: &Workspace, kinds: &[DocumentKind]) -> Result<Vec<PathBuf>, Failure> {
    let folders: Vec<PathBuf> = kinds.iter().map(|kind| ws.store.root().join(kind.folder())).collect();
    for folder in &folders {
        fs::make_dir(folder)?;
    }
    Ok(folders)
}

/// The environment variables of an agent, and of commands that the worker process runs for it.
fn environment(ws: &Workspace, job: &Job, run: &Run) -> Vec<(String, OsString)> {
    let mut found: Vec<(String, OsString)> = vec![
        ("RALPH_RUN".into(), run.id.clone().into()),
        ("GIT_TRACE2_EVENT".into(), run.path(ws, "git.jsonl").into()),
        // Some programs use this instead of their current directory.
        ("PWD".into(), run.dir.clone().into()),
    ];
    // Some agent programs start their shells without git configuration.
    if let Some((name, email)) = ws.repository.identity() {
        for role in ["AUTHOR", "COMMITTER"] {
            found.push((format!("GIT_{role}_NAME"), name.clone().into()));
            found.push((format!("GIT_{role}_EMAIL"), email.clone().into()));
        }
    }
    if let (Some(step), Some(team)) = (&job.step, &job.team) {
        found.push(("RALPH_STEP".into(), step.as_str().into()));
        found.push(("RALPH_TEAM".into(), team.as_str().into()));
    }
    if run.dir != ws.store.root() {
        found.push(("RALPH_WORKTREE".into(), run.dir.clone().into()));
    }
    // Settings from options apply to commands of the agent too.
    let flags = ws.settings.all().filter(|(_, setting)| setting.source == Source::Flag);
    found.extend(flags.map(|(spec, setting)| (spec.variable(), setting.value.clone().into())));
    found
}

//! The programs of the settings that run in a worktree: after it is created, before each run, and before it is removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{WorktreeStep, port_of, ports};
use crate::app::repo::worktree::Place;
use crate::app::workspace::trust::{look_at_trust, require_trust};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::os::process::{adopt_orphans, kill_descendants, leave_orphans, program};
use crate::task::TaskId;

/// How many lines of a failed program's output a failure shows.
const SHOWN: usize = 20;

/// Runs `worktree.setup`.
pub(super) fn set_up(
    ws: &Workspace,
    place: &Place,
    port: Option<u16>,
    log: Option<&Path>,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<(), Failure> {
    run_all(ws, "worktree.setup", &site(ws, &place.task, &place.path, port), log, tell)
}

/// Runs `worktree.before_run`, before an agent works in a worktree.
pub(in crate::app) fn before_run(ws: &Workspace, task: &TaskId, worktree: &Path, log: &Path) -> Result<(), Failure> {
    let site = site(ws, task, worktree, port_of(ws, worktree));
    run_all(ws, "worktree.before_run", &site, Some(log), &mut |_| {})
}

/// Runs `worktree.before_remove`. A failure is reported, but does not keep the worktree.
pub(in crate::app) fn before_remove(ws: &Workspace, task: Option<&TaskId>, worktree: &Path) {
    let programs = ws.settings.programs("worktree.before_remove");
    if programs.is_empty() || !worktree.is_dir() {
        return;
    }
    let shown = ws.store.shown(worktree);
    match look_at_trust(ws) {
        Ok(trust) if trust.trusted => {}
        _ => {
            return ws
                .notice(format!("worktree.before_remove was not run in {shown}: it is not trusted (`ralph trust`)"));
        }
    }
    let name = worktree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let site = Site { name, ..site_of(ws, task, worktree, port_of(ws, worktree)) };
    if let Err(failure) = run_all(ws, "worktree.before_remove", &site, None, &mut |_| {}) {
        ws.notice(format!("{}; removing {shown} anyway", failure.message));
    }
}

/// The directory and environment of a program.
struct Site<'a> {
    /// The name of the log.
    name: String,
    worktree: &'a Path,
    variables: Vec<(&'static str, OsString)>,
}

fn site<'a>(ws: &Workspace, task: &TaskId, worktree: &'a Path, port: Option<u16>) -> Site<'a> {
    site_of(ws, Some(task), worktree, port)
}

fn site_of<'a>(ws: &Workspace, task: Option<&TaskId>, worktree: &'a Path, port: Option<u16>) -> Site<'a> {
    let mut variables = ports::variables(ws, port);
    variables.push(("RALPH_BOARD", ws.store.root().into()));
    variables.push(("RALPH_WORKTREE", worktree.into()));
    variables.extend(task.map(|task| ("RALPH_TASK", task.as_str().into())));
    Site { name: task.map(ToString::to_string).unwrap_or_default(), worktree, variables }
}

fn run_all(
    ws: &Workspace,
    setting: &'static str,
    site: &Site<'_>,
    log: Option<&Path>,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<(), Failure> {
    let programs = ws.settings.programs(setting);
    if programs.is_empty() {
        return Ok(());
    }
    require_trust(ws)?;
    let log = log.map_or_else(|| own_log(ws, &site.name), |log| Ok(log.to_owned()))?;
    let limit = Duration::from_secs(ws.settings.duration("worktree.timeout").as_secs().unsigned_abs());
    for words in &programs {
        tell(WorktreeStep::Running { program: words });
        run(site, setting, words, &log, limit)?;
    }
    Ok(())
}

/// Creates an empty log for a setup that was started by hand.
fn own_log(ws: &Workspace, name: &str) -> Result<PathBuf, Failure> {
    let folder = ws.store.local().join("logs");
    fs::make_dir(&folder)?;
    let log = folder.join(format!("worktree-{name}.log"));
    fs::write_over(&log, b"", false)?;
    Ok(log)
}

fn run(site: &Site<'_>, setting: &str, words: &[String], log: &Path, limit: Duration) -> Result<(), Failure> {
    let shown = words.join(" ");
    let failed = |how: String| {
        Failure::broken(Code::SetupFailed, format!("{setting} {how}: `{shown}`"))
            .hint(Hint::step(format!("see {} for the full output", log.display())))
    };
    let file = fs::open_log(log)?;
    let second = file.try_clone().map_err(|error| failed(format!("failed (cannot open its log: {error})")))?;
    let mut command = program(&words[0]);
    command.args(&words[1..]).current_dir(site.worktree).stdin(Stdio::null()).stdout(file).stderr(second);
    command.envs(site.variables.iter().map(|(name, value)| (*name, value)));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    // Adopt processes that outlive their parent, so that they are killed too.
    adopt_orphans();
    let ended = command.spawn().map_err(|error| format!("failed (cannot start: {error})")).and_then(|mut child| {
        wait(&mut child, limit).map_err(|error| format!("failed (cannot wait for it to exit: {error})"))
    });
    leave_orphans();
    let status = ended.map_err(&failed)?;
    let mut failure = match status {
        Some(status) if status.success() => return Ok(()),
        Some(status) => failed(format!("failed ({})", exit_words(&status))),
        None => failed(format!("timed out after {}s", limit.as_secs())).hint(Hint::set(
            "worktree.timeout",
            "30m",
            "to give it more time",
        )),
    };
    failure.causes = fs::tail(log, SHOWN)?.lines().map(str::to_owned).collect();
    Err(failure)
}

/// How a program ended, for people: `exit status 7`, or the signal.
pub(in crate::app) fn exit_words(status: &ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}

/// Waits for a program; if it times out, kills it with all of its descendants and returns `None`.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            // During the setup of a worktree, this process has no other descendants.
            kill_descendants();
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(if start.elapsed() < Duration::from_secs(1) { 2 } else { 50 }));
    }
}

//! A team in its own process, which outlives the face that started it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::preflight;
use crate::app::agents::worker::check_agents;
use crate::app::workspace::open::missing;
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::os::process::own_group;
use crate::task::{Kind, TaskId};

/// A team that cannot start exits within this time.
const EARLY: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize)]
pub struct TeamStarted {
    pub task: TaskId,
    /// The file with all of its output.
    pub log: String,
}

/// Whether a team could be started on a task now.
pub fn can_start_team(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    let board = ws.around(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let pipeline = ws.flow().command("implement").is_ok() && ws.flow().merging().is_some();
    let open = task.kind != Kind::Step && !ws.flow().is_terminal(task.kind, &task.state);
    Ok(pipeline && open)
}

/// Runs `program`, which is `ralph team ID`. Refuses first what a person would have to decide, because a background
/// process cannot ask.
pub fn start_team(ws: &Workspace, id: &TaskId, mut program: Command) -> Result<TeamStarted, Failure> {
    ws.refuse_programs("start a team in the background")?;
    ws.refuse_broken_setup()?;
    require_trust(ws)?;
    preflight(ws)?;
    check_agents(ws, &[])?;
    fs::make_dir(&ws.store.local().join("teams"))?;
    let log = ws.store.local().join(format!("teams/{id}.log"));
    fs::write_over(&log, b"", false)?;
    let output = || Ok::<_, Failure>(Stdio::from(fs::open_log(&log)?));
    own_group(program.stdin(Stdio::null()).stdout(output()?).stderr(output()?));
    let started = program.spawn();
    let mut child =
        started.map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start ralph: {error}")))?;
    let since = Instant::now();
    while since.elapsed() < EARLY {
        match child.try_wait() {
            Ok(Some(status)) if !status.success() => {
                let said = fs::tail(&log, 5)?;
                let message = format!("the team on {id} ended at once: {}", said.trim());
                return Err(Failure::refused(Code::CannotStart, message)
                    .hint(Hint::run(&format!("team {id}"), "to see its full output")));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            _ => break,
        }
    }
    // The child has to be reaped by this process.
    std::thread::spawn(move || child.wait());
    Ok(TeamStarted { task: id.clone(), log: log.display().to_string() })
}

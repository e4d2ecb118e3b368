//! Git hooks in the shells of a session. They refuse what a policy check cannot see in the command line, such as a
//! program that calls git.
//!
//! When a session of Claude Code starts, the environment of its shells gets a folder of hooks (`core.hooksPath`). The
//! hook for reference transactions asks ralph; all others call the repository's own hooks. Nothing in the repository
//! changes.

use std::path::{Path, PathBuf};

use super::{Gate, Scene};
use crate::agent::HookInput;
use crate::app::records::strays::tips;
use crate::app::repo::worktree::place;
use crate::app::{Failure, Workspace};
use crate::fs;

/// Names the file to which hooks append variables for the shells of the session.
const ENV_FILE: &str = "CLAUDE_ENV_FILE";
const REFERENCES: &str = "reference-transaction";
/// The name under which the git hook calls `ralph hook`.
pub(super) const REFS: &str = "refs";

/// session-start: adds these git hooks to the environment of the session's shells.
pub(super) fn begin(ws: &Workspace) -> Result<Gate, Failure> {
    let Some(file) = std::env::var_os(ENV_FILE).map(PathBuf::from) else { return Ok(Gate::Allow) };
    let folder = ws.repository.common.join("ralph/hooks");
    let own = ws.repository.hooks_dir();
    if own != folder {
        write_hooks(&folder, &own)?;
    }
    let count: usize = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    let folder = shlex::try_quote(&folder.to_string_lossy()).map(|text| text.into_owned()).unwrap_or_default();
    let text = format!(
        "export GIT_CONFIG_COUNT={} GIT_CONFIG_KEY_{count}=core.hooksPath GIT_CONFIG_VALUE_{count}={folder}\n",
        count + 1
    );
    fs::append(&file, &text)?;
    Ok(Gate::Allow)
}

fn write_hooks(folder: &Path, own: &Path) -> Result<(), Failure> {
    fs::make_dir(folder)?;
    for name in fs::names(folder)? {
        fs::remove(&folder.join(name))?;
    }
    let names = fs::names(own)?.into_iter().filter(|name| !name.ends_with(".sample") && name != REFERENCES);
    let quoted =
        |path: PathBuf| shlex::try_quote(&path.to_string_lossy()).map(|text| text.into_owned()).unwrap_or_default();
    for name in names {
        let script = format!("#!/bin/sh\nexec {} \"$@\"\n", quoted(own.join(&name)));
        fs::write_program(&folder.join(name), script.as_bytes())?;
    }
    let next = quoted(own.join(REFERENCES));
    let script = format!(
        "#!/bin/sh\n# Written by ralph for the sessions of agents.\nlines=$(cat)\n\
         if [ \"$1\" = prepared ] && [ -z \"${{RALPH_GIT:-}}\" ] && command -v ralph >/dev/null; then\n\
         \x20 printf '%s\\n' \"$lines\" | ralph hook {REFS} || exit 1\nfi\n\
         if [ -x {next} ]; then printf '%s\\n' \"$lines\" | exec {next} \"$@\"; fi\n"
    );
    Ok(fs::write_program(&folder.join(REFERENCES), script.as_bytes())?)
}

/// Whether a session may move these branches; each line is `old new ref`.
pub(super) fn refs(ws: &Workspace, text: &str) -> Result<Gate, Failure> {
    let kept = tips(ws)?;
    let of = |line: &str| Some(line.split_whitespace().nth(2)?.strip_prefix("refs/heads/")?.to_owned());
    let Some(branch) = text.lines().filter_map(of).find(|branch| kept.contains_key(branch)) else {
        return Ok(Gate::Allow);
    };
    let Some(session) = std::env::var("CLAUDE_CODE_SESSION_ID").ok() else { return Ok(Gate::Allow) };
    let Some((task, worker)) = Scene::new(ws, &HookInput::default())?.claimed_in(&session) else {
        return Ok(Gate::Allow);
    };
    let why = format!("{branch} must not be changed while {worker} works on {task} in this session");
    let place = place(ws, &ws.family(&task)?, &task)?;
    Ok(Gate::block(why, format!("commit code in its worktree, on {}: {}", place.branch, place.path.display())))
}

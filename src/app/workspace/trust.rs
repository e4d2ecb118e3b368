//! `trust`: the programs that a board's settings name run, and its own prompts are used, only after somebody has agreed to
//! exactly these.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::app::workspace::layers::user_config;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::store::FileLock;

#[derive(Debug, Serialize)]
pub struct Trust {
    /// What the board's settings want to run, a line each.
    pub programs: Vec<String>,
    pub trusted: bool,
}

/// In the user's own folder, never in a repository: what was agreed to, by the place of the repository.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustRecord {
    #[serde(default)]
    board: Vec<Agreement>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Agreement {
    repository: PathBuf,
    programs: String,
}

pub fn look_at_trust(ws: &Workspace) -> Result<Trust, Failure> {
    let wanted = wanted(ws)?;
    let trusted = wanted.is_empty() || read()?.board.iter().any(|there| is_for(ws, there) && there.programs == wanted);
    Ok(Trust { programs: wanted.lines().map(str::to_owned).collect(), trusted })
}

/// Agrees to what the board wants to run now, or takes every agreement back.
pub fn trust(ws: &Workspace, agree: bool) -> Result<Trust, Failure> {
    let path = path()?;
    if let Some(folder) = path.parent() {
        fs::make_dir(folder)?;
    }
    let _lock = FileLock::take(&path.with_extension("lock"))?;
    let mut agreed = read()?;
    agreed.board.retain(|there| !is_for(ws, there));
    if agree {
        let programs = wanted(ws)?;
        agreed.board.push(Agreement { repository: ws.repository.common.clone(), programs });
    }
    let text = toml::to_string(&agreed).expect("agreements are text");
    fs::replace(&path, text.as_bytes(), true)?;
    look_at_trust(ws)
}

/// The programs that the board's file names, and the words of its own that agents would be told.
fn wanted(ws: &Workspace) -> Result<String, Failure> {
    use std::fmt::Write as _;
    let mut text = ws.settings.untrusted();
    let folder = ws.store.board_dir().join("prompts");
    for name in fs::names(&folder)?.into_iter().filter(|name| name.ends_with(".md")) {
        let bytes = fs::read(&folder.join(&name))?.unwrap_or_default();
        let digest: String = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "tell agents .ralph/prompts/{name} ({digest})");
    }
    Ok(text)
}

/// Refuses unless everything that the board wants to run has been agreed to.
pub fn require_trust(ws: &Workspace) -> Result<(), Failure> {
    let trust = look_at_trust(ws)?;
    if trust.trusted {
        return Ok(());
    }
    let message =
        "the board wants to run programs, or to tell agents things, that nobody here has agreed to".to_owned();
    let mut failure = Failure::refused(Code::NotTrusted, message);
    failure.causes = trust.programs;
    Err(failure.hint(Hint::Trust))
}

fn is_for(ws: &Workspace, agreement: &Agreement) -> bool {
    agreement.repository == ws.repository.common
}

fn path() -> Result<PathBuf, Failure> {
    let config = user_config().ok_or_else(|| {
        Failure::broken(Code::NoHome, "there is no folder for what you trust")
            .hint(Hint::variable("HOME", "to your home directory"))
    })?;
    Ok(config.with_file_name("trust.toml"))
}

fn read() -> Result<TrustRecord, Failure> {
    let path = path()?;
    let Some(text) = fs::read_text(&path)? else { return Ok(TrustRecord::default()) };
    toml::from_str(&text).map_err(|error| {
        let message = format!("{} cannot be read: {}", path.display(), error.message());
        Failure::broken(Code::UnreadableFile, message).hint(Hint::step("move it away, then approve the programs again"))
    })
}

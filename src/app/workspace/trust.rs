//! `trust`: a board's programs are only run, and its own prompts only used, after a person has trusted exactly these.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::app::workspace::layers::user_config;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::store::FileLock;

#[derive(Debug, Serialize)]
pub struct Trust {
    /// The programs in the board's settings, one per line, with the hash of every file of the repository that they
    /// name.
    pub programs: Vec<String>,
    pub trusted: bool,
    /// What has changed since a person trusted this board, if they did.
    pub changed: Option<String>,
}

/// Between a file and its digest.
const DIGEST: &str = " (sha256 ";

/// The trusted programs by repository. Stored in the user's own folder, never in a repository.
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
    let agreed = if wanted.is_empty() { None } else { read()?.board.into_iter().find(|there| is_for(ws, there)) };
    let trusted = wanted.is_empty() || agreed.as_ref().is_some_and(|there| there.programs == text(&wanted));
    let changed = agreed.filter(|_| !trusted).map(|there| changes(&there.programs, &wanted));
    Ok(Trust { programs: wanted, trusted, changed })
}

/// Says what differs from the trusted programs: files by name, other programs as a whole.
fn changes(agreed: &str, wanted: &[String]) -> String {
    let file = |line: &str| line.rsplit_once(DIGEST).map(|(name, _)| name.to_owned());
    let is_new = |line: &&String| !agreed.lines().any(|old| old == *line);
    let known: Vec<String> = agreed.lines().filter_map(file).collect();
    let is_changed = |name: &String| known.contains(name);
    let new: Vec<Option<String>> = wanted.iter().filter(is_new).map(|line| file(line).filter(is_changed)).collect();
    let files: Vec<String> = new.iter().flatten().map(|name| named(name).to_owned()).collect();
    match new.iter().all(Option::is_some) && !files.is_empty() {
        true => format!("{} changed since you trusted this board's programs", files.join(", ")),
        false => "this board's programs changed since you trusted them".to_owned(),
    }
}

/// The path in a line about a file.
fn named(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix("with ").or_else(|| line.strip_prefix("prompt ")).unwrap_or(line)
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Trusts exactly the programs that were shown, or removes all trust.
pub fn trust(ws: &Workspace, agreed_to: Option<&Trust>) -> Result<Trust, Failure> {
    if agreed_to.is_some() {
        ws.refuse_programs("trust programs")?;
    }
    let path = path()?;
    if let Some(folder) = path.parent() {
        fs::make_dir(folder)?;
    }
    let _lock = FileLock::take(&path.with_extension("lock"))?;
    let mut agreed = read()?;
    agreed.board.retain(|there| !is_for(ws, there));
    if let Some(shown) = agreed_to {
        let programs = text(&shown.programs);
        agreed.board.push(Agreement { repository: ws.repository.common.clone(), programs });
    }
    let text = toml::to_string(&agreed).expect("agreements are text");
    fs::replace(&path, text.as_bytes(), true)?;
    look_at_trust(ws)
}

/// What needs trust: the programs in the board's settings, files of the repository that they name, and the board's own
/// prompts. Files count by content, so that a changed script needs to be trusted again.
fn wanted(ws: &Workspace) -> Result<Vec<String>, Failure> {
    let mut lines: Vec<String> = ws.settings.untrusted().lines().map(str::to_owned).collect();
    for path in named_files(ws) {
        lines.push(format!("  with {}", digested(ws, &path)?));
    }
    let prompts = fs::names(&ws.store.board_dir().join("prompts"))?;
    for name in prompts.into_iter().filter(|name| name.ends_with(".md")) {
        lines.push(format!("prompt {}", digested(ws, &Path::new(".ralph/prompts").join(name))?));
    }
    Ok(lines)
}

/// A file of the repository with its digest.
fn digested(ws: &Workspace, path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(&ws.store.root().join(path))?.unwrap_or_default();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}{DIGEST}{digest})", path.to_string_lossy().escape_debug()))
}

/// Files of the repository that programs name, as a word or within a shell command.
fn named_files(ws: &Workspace) -> BTreeSet<PathBuf> {
    let root = ws.store.root();
    let file = |word: &str| {
        let word =
            ["{board}", "{dir}", "{worktree}"].iter().fold(word.to_owned(), |word, name| word.replace(name, "."));
        let path = fs::settled(&root.join(word));
        path.is_file().then(|| path.strip_prefix(root).ok().map(Path::to_owned))?
    };
    let words = ws.settings.untrusted_words();
    let parts = |word: &String| {
        let split = |c: char| c.is_whitespace() || ";&|()<>\"'`=$".contains(c);
        word.split(split).map(str::to_owned).chain([word.clone()]).collect::<Vec<_>>()
    };
    words.iter().flat_map(parts).filter(|part| !part.is_empty()).filter_map(|part| file(&part)).collect()
}

/// Refuses unless everything that the board wants to run is trusted.
pub fn require_trust(ws: &Workspace) -> Result<(), Failure> {
    let trust = look_at_trust(ws)?;
    if trust.trusted {
        return Ok(());
    }
    let message = trust.changed.unwrap_or_else(|| "this board's programs and prompts are not trusted yet".to_owned());
    let mut failure = Failure::refused(Code::NotTrusted, message);
    failure.causes = trust.programs;
    Err(failure.hint(Hint::Trust))
}

fn is_for(ws: &Workspace, agreement: &Agreement) -> bool {
    agreement.repository == ws.repository.common
}

fn path() -> Result<PathBuf, Failure> {
    let config = user_config().ok_or_else(|| {
        Failure::broken(Code::NoHome, "no home directory for the list of trusted programs")
            .hint(Hint::variable("HOME", "to your home directory"))
    })?;
    Ok(config.with_file_name("trust.toml"))
}

fn read() -> Result<TrustRecord, Failure> {
    let path = path()?;
    let Some(text) = fs::read_text(&path)? else { return Ok(TrustRecord::default()) };
    toml::from_str(&text).map_err(|error| {
        let message = format!("cannot read {}: {}", path.display(), error.message());
        Failure::broken(Code::UnreadableFile, message)
            .hint(Hint::step("move it away first"))
            .hint(Hint::run("trust", "to trust the programs again"))
    })
}

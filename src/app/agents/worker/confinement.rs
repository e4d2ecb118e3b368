//! The paths that a sandboxed agent may write to: its worktree and git's files for its branch if it writes code,
//! otherwise only drafts of its documents. In addition, its own state, caches and a temporary folder.

use std::path::{Path, PathBuf};

use super::Job;
use crate::agent::host::{HOSTS, Host};
use crate::app::repo::worktree::place;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::os::Confinement;
use crate::os::confine::is_supported;

/// Caches of build tools, relative to the home directory. None of them contains programs or settings.
const CACHES: [&str; 14] = [
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".npm",
    ".local/share/pnpm/store",
    ".yarn/berry",
    ".bun/install/cache",
    ".gradle/caches",
    ".m2/repository",
    "go/pkg",
    ".local/share/uv",
];

/// Whether agents are sandboxed, according to `agent.sandbox`.
pub(super) fn is_wanted(ws: &Workspace) -> Result<bool, Failure> {
    match ws.settings.text("agent.sandbox") {
        "off" => Ok(false),
        "strict" if !is_supported() => {
            let message = "cannot sandbox agents: Landlock is missing or disabled in this kernel";
            Err(Failure::refused(Code::NoSandbox, message).hint(Hint::set(
                "agent.sandbox",
                "auto",
                "to run agents without a sandbox",
            )))
        }
        _ => Ok(is_supported()),
    }
}

/// The folder for temporary files of one run; removed when dropped.
pub(super) struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(ws: &Workspace) -> Result<Self, Failure> {
        let tail: String = (0..8).map(|_| ws.rng().alphanumeric()).collect();
        let path = std::env::temp_dir().join(format!("ralph-{tail}"));
        fs::make_private_dir(&path)?;
        Ok(Self(path))
    }

    /// The folder for drafts of documents.
    pub fn docs(&self) -> PathBuf {
        self.0.join("docs")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_tree(&self.0);
    }
}

/// All paths that the agent of this job may write to.
pub(super) fn confinement(
    ws: &Workspace,
    job: &Job,
    program: &str,
    dir: &Path,
    temporary: &Path,
) -> Result<Confinement, Failure> {
    let mut write = vec![temporary.to_owned()];
    if ws.flow().command(&job.command)?.worktree {
        write.push(dir.to_owned());
        write.extend(git_places(ws, job, dir)?);
    }
    if let Some(home) = std::env::home_dir() {
        let state = states(program).inspect(|state| _ = make_state(&home.join(state)));
        write.extend(state.chain(CACHES).map(|path| home.join(path)));
    }
    let more = ws.settings.program("agent.write").unwrap_or_default();
    write.extend(more.iter().map(|path| expanded(path)));
    Ok(Confinement { write: write.into_iter().flat_map(|path| around(ws, path)).collect() })
}

/// The state folders of the program, if ralph knows it.
fn states(program: &str) -> impl Iterator<Item = &'static str> {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    HOSTS.into_iter().filter(move |host: &&Host| host.name == name).flat_map(|host| host.state.iter().copied())
}

/// Creates a state folder, because a sandboxed program cannot. Files are left to the program.
fn make_state(path: &Path) -> Result<(), Failure> {
    if path.extension().is_none() && !path.exists() {
        fs::make_dir(path)?;
    }
    Ok(())
}

fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The paths that git writes for a commit on the task's branch, without those of other branches.
fn git_places(ws: &Workspace, job: &Job, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let common = &ws.repository.common;
    let branch = place(ws, &ws.family(&job.task)?, &job.task)?.branch;
    let mut places = vec![common.join("objects"), common.join("lfs")];
    places.extend(git_entry(dir));
    // The folder of the branch, because git creates a lock file beside the ref.
    let folder = Path::new(&branch).parent().unwrap_or(Path::new("")).to_owned();
    for refs in ["refs/heads", "logs/refs/heads"] {
        let folder = common.join(refs).join(&folder);
        fs::make_dir(&folder)?;
        places.push(folder);
    }
    Ok(places)
}

/// The git directory of a linked worktree.
pub(super) fn git_entry(dir: &Path) -> Option<PathBuf> {
    let text = fs::read_text(&dir.join(".git")).ok()??;
    Some(PathBuf::from(text.trim().strip_prefix("gitdir: ")?))
}

/// Access to a folder that contains the board would include the board, so its other entries are returned instead.
fn around(ws: &Workspace, path: PathBuf) -> Vec<PathBuf> {
    let path = path.canonicalize().unwrap_or(path);
    let kept = [ws.store.root(), ws.repository.common.as_path()];
    if !kept.iter().any(|kept| kept.starts_with(&path)) {
        return vec![path];
    }
    if kept.contains(&path.as_path()) {
        return Vec::new();
    }
    let names = fs::names(&path).unwrap_or_default();
    names.into_iter().flat_map(|name| around(ws, path.join(name))).collect()
}

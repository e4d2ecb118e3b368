//! Moves ignored files out of a worktree before it is removed.

use std::path::{Path, PathBuf};

use crate::app::{Failure, Workspace};
use crate::fs;
use crate::git::Worktree;

/// Folders that a build can recreate.
const CACHES: [&str; 20] = [
    "target",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    "dist",
    "build",
    "out",
    ".next",
    ".turbo",
    ".gradle",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".cache",
    "coverage",
    ".parcel-cache",
    "vendor",
    "_build",
];

/// Whether ralph created the worktree, by its folder; any other belongs to a person.
pub(in crate::app) fn is_ours(ws: &Workspace, worktree: &Worktree) -> bool {
    worktree.path.parent() == Some(ws.store.root().join("worktrees").as_path())
}

/// The folder of rescued files, in `.git/ralph`.
pub(in crate::app) fn rescued_dir(ws: &Workspace) -> PathBuf {
    ws.store.local().join("rescued")
}

/// Moves files that would be lost with a worktree, and returns their new folder.
pub(in crate::app) fn rescue(ws: &Workspace, worktree: &Worktree) -> Result<Option<PathBuf>, Failure> {
    if worktree.missing {
        return Ok(None);
    }
    let ignored = ws.repository.ignored_in(&worktree.path)?;
    let lost: Vec<&String> = ignored.iter().filter(|path| is_somebodys(ws, &worktree.path, path)).collect();
    if lost.is_empty() {
        return Ok(None);
    }
    let name = worktree.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stamp = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let place = fs::make_new_dir(&rescued_dir(ws), &format!("{name}-{stamp}"))?;
    for path in &lost {
        let to = place.join(path.trim_end_matches('/'));
        fs::make_dir(to.parent().unwrap_or(&place))?;
        fs::move_tree(&worktree.path.join(path.trim_end_matches('/')), &to)?;
    }
    let named: Vec<&str> = lost.iter().take(5).map(|path| path.as_str()).collect();
    let more = if lost.len() > 5 { format!(" and {} more", lost.len() - 5) } else { String::new() };
    ws.notice(format!(
        "ignored files of {} were moved to {}: {}{more}",
        ws.store.shown(&worktree.path),
        place.display(),
        named.join(", ")
    ));
    Ok(Some(place))
}

/// Whether a person may need a file: neither a build cache, nor a copy of a file of the main worktree.
fn is_somebodys(ws: &Workspace, worktree: &Path, path: &str) -> bool {
    let bare = path.trim_end_matches('/');
    let cache = |part: &str| CACHES.contains(&part);
    let (here, there) = (worktree.join(bare), ws.store.root().join(bare));
    if bare.split('/').any(cache) || here.join("CACHEDIR.TAG").exists() {
        return false;
    }
    !(there.exists() && fs::holds_nothing_new(&here, &there))
}

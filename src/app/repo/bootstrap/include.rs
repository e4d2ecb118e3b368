//! `.worktreeinclude`: ignored files of the main worktree that a new worktree needs, in the format that other tools
//! share. A path is copied if a pattern of the file matches it *and* git ignores it. Files that the worktree already
//! has are kept.

use std::path::{Path, PathBuf};

use super::{Included, WorktreeStep};
use crate::app::{Failure, Workspace};
use crate::fs;

const FILE: &str = ".worktreeinclude";
/// Never copied, whatever the patterns say.
const OWN: [&str; 3] = ["worktrees/", ".ralph/", ".git/"];

/// Copies or links the files that the main worktree's `.worktreeinclude` names.
pub(super) fn include(
    ws: &Workspace,
    worktree: &Path,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<Included, Failure> {
    let (file, how) = (ws.store.root().join(FILE), ws.settings.text("worktree.include"));
    if how == "off" || !file.is_file() {
        return Ok(Included::default());
    }
    let patterns = ws.repository.patterns(&fs::read(&file)?.unwrap_or_default());
    let whole = |folder: &str| patterns.match_folder(folder) && ws.repository.is_ignored(folder);
    let mut paths = Vec::new();
    for path in both(&ws.repository.matching(&file)?, &ws.repository.ignored_in(ws.store.root())?) {
        unfold(ws.store.root(), path, &whole, &mut paths)?;
    }
    let (main, link) = (ws.store.root(), how == "link");
    let mut mover = Mover { main, worktree, staging: staging(ws, worktree)?, paths: &paths, link, files: 0, linked: 0 };
    for path in &paths {
        tell(WorktreeStep::Including { path });
        mover.bring(Path::new(path.trim_end_matches('/')))?;
    }
    fs::remove_tree(&mover.staging)?;
    let Mover { files, linked, .. } = mover;
    Ok(Included { paths, files, linked })
}

/// Adds a path, or the matching paths below it. git names a folder although no pattern matches it, if everything in it
/// is matched: without this, the folder above a `node_modules` would be brought along, or linked.
fn unfold(main: &Path, path: String, whole: &dyn Fn(&str) -> bool, found: &mut Vec<String>) -> Result<(), Failure> {
    let folder = path.trim_end_matches('/');
    if folder == path || whole(folder) {
        found.push(path);
        return Ok(());
    }
    for name in fs::names(&main.join(folder))? {
        let inner = format!("{folder}/{name}");
        let there = main.join(&inner);
        let is_dir = there.is_dir() && !there.is_symlink();
        if is_dir && fs::is_repository(&there) {
            continue;
        }
        unfold(main, if is_dir { inner + "/" } else { inner }, whole, found)?;
    }
    Ok(())
}

/// Creates an empty folder for partial copies: if ralph were killed while copying into the worktree, the worktree would
/// keep half of a folder.
fn staging(ws: &Workspace, worktree: &Path) -> Result<PathBuf, Failure> {
    let name = worktree.file_name().unwrap_or_default();
    let folder = ws.store.local().join("staging").join(name);
    fs::remove_tree(&folder)?;
    fs::make_dir(&folder)?;
    Ok(folder)
}

/// The paths that one list has and that the other covers, itself or by a folder; only the outermost ones.
fn both(matched: &[String], ignored: &[String]) -> Vec<String> {
    let within = |path: &&String, folders: &[String]| folders.iter().any(|folder| covers(folder, path));
    let of = |paths: &[String], others: &[String]| -> Vec<String> {
        paths.iter().filter(|path| within(path, others)).cloned().collect()
    };
    let mut all = [of(matched, ignored), of(ignored, matched)].concat();
    all.retain(|path| !OWN.iter().any(|own| path.starts_with(own)));
    all.sort();
    all.dedup();
    // After sorting, a folder precedes its content.
    let mut outermost: Vec<String> = Vec::new();
    for path in all {
        if !outermost.last().is_some_and(|folder| covers(folder, &path)) {
            outermost.push(path);
        }
    }
    outermost
}

/// Whether a path is in a list, itself or by a folder.
fn covers(folder: &str, path: &str) -> bool {
    folder == path || (folder.ends_with('/') && path.starts_with(folder))
}

struct Mover<'a> {
    main: &'a Path,
    worktree: &'a Path,
    staging: PathBuf,
    /// Everything that is brought along.
    paths: &'a [String],
    /// Make folders of links instead of copying folders.
    link: bool,
    /// How many files and links were copied.
    files: usize,
    /// How many folders were linked.
    linked: usize,
}

impl Mover<'_> {
    /// Adds one file or folder unless it exists; completes a folder that exists.
    fn bring(&mut self, path: &Path) -> Result<(), Failure> {
        let (from, to) = (self.main.join(path), self.worktree.join(path));
        let folder = from.is_dir() && !from.is_symlink();
        if folder && fs::is_repository(&from) {
            return Ok(());
        }
        match fs::itself(&to)? {
            Some(there) if there.is_dir() && folder => {
                return fs::names(&from)?.into_iter().try_for_each(|name| self.bring(&path.join(name)));
            }
            Some(_) => return Ok(()),
            None => {}
        }
        let parent = to.parent().unwrap_or(self.worktree);
        fs::make_dir(parent)?;
        let staged = self.staging.join(format!("{:016x}", fastrand::u64(..)));
        match self.link && folder {
            true => self.link_content(&from, &staged)?,
            false => self.copy(&from, &staged)?,
        }
        if fs::itself(&staged)?.is_some() && fs::rename(&staged, &to).is_err() {
            // The git directory is on another file system than the worktree.
            fs::copy_tree(&staged, &to)?;
            fs::remove_tree(&staged).or_else(|_| fs::remove(&staged))?;
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        self.files += fs::copy_linked(from, to, &|target| self.is_in_worktree(target))?;
        Ok(())
    }

    /// Whether the target of a relative link is in the worktree too: it is tracked, brought along, or missing here as well.
    fn is_in_worktree(&self, target: &Path) -> bool {
        let Ok(inside) = target.strip_prefix(self.main) else { return false };
        let text = inside.to_string_lossy().replace('\\', "/");
        let brought = self.paths.iter().any(|path| covers(path, &text) || *path == format!("{text}/"));
        let exists = |path: &Path| fs::itself(path).is_ok_and(|meta| meta.is_some());
        brought || exists(&self.worktree.join(inside)) || !exists(target)
    }

    /// Creates a folder whose entries link to the folders of another. The folder itself is not a link: patterns such as
    /// `node_modules/` match only folders, so git would show a link as a new file. Everything below a folder that git
    /// ignores is ignored too, whatever its type.
    fn link_content(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        fs::make_dir(to)?;
        for name in fs::names(from)? {
            let (target, path) = (from.join(&name), to.join(&name));
            let folder = target.is_dir() && !target.is_symlink();
            if folder && fs::has_repository(&target) {
                if !fs::is_repository(&target) {
                    self.link_content(&target, &path)?;
                }
            } else if folder && fs::link_to(&target, &path).is_ok() {
                self.linked += 1;
            } else {
                self.copy(&target, &path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_of(matched: &[&str], ignored: &[&str]) -> Vec<String> {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        both(&owned(matched), &owned(ignored))
    }

    #[test]
    fn only_what_matches_and_is_ignored_is_brought_along() {
        assert_eq!(both_of(&[".env", "new.txt"], &[".env", "other"]), [".env"]);
        assert_eq!(both_of(&["config/secrets/", "config/secrets/k"], &["config/"]), ["config/secrets/"]);
        assert_eq!(both_of(&["src/new/", "src/new/a"], &["src/new/.env"]), ["src/new/.env"]);
        assert_eq!(both_of(&["node_modules/"], &["node_modules/"]), ["node_modules/"]);
        assert_eq!(both_of(&["a"], &["ab", "a/"]), [] as [&str; 0]);
    }

    #[test]
    fn the_board_and_other_worktrees_stay_where_they_are() {
        let all = ["worktrees/", "worktrees/t-x/.env", ".ralph/local", ".env"];
        assert_eq!(both_of(&all, &all), [".env"]);
    }
}

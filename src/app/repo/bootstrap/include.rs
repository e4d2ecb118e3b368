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
    let paths = both(&ws.repository.matching(&file)?, &ws.repository.ignored_in(ws.store.root())?);
    let mover = Mover { main: ws.store.root(), worktree, staging: staging(ws, worktree)?, link: how == "link" };
    let mut files = 0;
    for path in &paths {
        tell(WorktreeStep::Including { path });
        files += mover.bring(Path::new(path.trim_end_matches('/')))?;
    }
    fs::remove_tree(&mover.staging)?;
    Ok(Included { paths, files })
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
    let covers = |folder: &str, path: &str| folder == path || (folder.ends_with('/') && path.starts_with(folder));
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

struct Mover<'a> {
    main: &'a Path,
    worktree: &'a Path,
    staging: PathBuf,
    /// Make folders of links instead of copying folders.
    link: bool,
}

impl Mover<'_> {
    /// Adds one file or folder unless it exists; completes a folder that exists. Returns the number of files and links.
    fn bring(&self, path: &Path) -> Result<usize, Failure> {
        let (from, to) = (self.main.join(path), self.worktree.join(path));
        let folder = from.is_dir() && !from.is_symlink();
        if folder && from.join(".git").exists() {
            return Ok(0);
        }
        match fs::itself(&to)? {
            Some(there) if there.is_dir() && folder => {
                let mut count = 0;
                for name in fs::names(&from)? {
                    count += self.bring(&path.join(name))?;
                }
                return Ok(count);
            }
            Some(_) => return Ok(0),
            None => {}
        }
        let parent = to.parent().unwrap_or(self.worktree);
        fs::make_dir(parent)?;
        let staged = self.staging.join(format!("{:016x}", fastrand::u64(..)));
        let count = if self.link && folder { links(&from, &staged)? } else { fs::copy_tree(&from, &staged)? };
        if fs::itself(&staged)?.is_some() && fs::rename(&staged, &to).is_err() {
            // The git directory is on another file system than the worktree.
            fs::copy_tree(&staged, &to)?;
            fs::remove_tree(&staged).or_else(|_| fs::remove(&staged))?;
        }
        Ok(count)
    }
}

/// Creates a folder whose entries link to the folders of another. The folder itself is not a link: patterns such as
/// `node_modules/` match only folders, so git would show a link as a new file.
fn links(from: &Path, to: &Path) -> Result<usize, Failure> {
    fs::make_dir(to)?;
    let names = fs::names(from)?;
    for name in &names {
        let (target, path) = (from.join(name), to.join(name));
        if !target.is_dir() || target.is_symlink() || fs::link_to(&target, &path).is_err() {
            fs::copy_tree(&target, &path)?;
        }
    }
    Ok(names.len())
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

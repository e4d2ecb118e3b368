//! Finding the repository, its main worktree and its common directory, and refusing what gix would read wrongly.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{} is not inside a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{} is a bare repository, which has no files for a board", .0.display())]
    Bare(PathBuf),
    #[error("{} keeps its refs in reftable, which ralph cannot read yet", .0.display())]
    Reftable(PathBuf),
    #[error("{0}, which ralph cannot check out")]
    Unsupported(String),
    #[error("git knows no revision {0:?}")]
    NoRevision(String),
    #[error("{} belongs to another user", .0.display())]
    ForeignOwner(PathBuf),
    #[error("cannot {doing}: {message}")]
    Other { doing: &'static str, message: String },
}

pub struct Repository {
    pub(super) inner: gix::Repository,
    /// The main worktree: the board of every linked worktree is here.
    pub root: PathBuf,
    /// What all worktrees share: `.git` of the main one.
    pub common: PathBuf,
}

impl Repository {
    /// The repository around `start`, or the one that `GIT_DIR` names.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        Self::open(
            gix::discover_with_environment_overrides(start).map_err(|_| GitError::NoRepository(start.to_owned()))?,
        )
    }

    /// The repository around `start`, whatever the environment says.
    pub fn at(start: &Path) -> Result<Self, GitError> {
        Self::open(gix::discover(start).map_err(|_| GitError::NoRepository(start.to_owned()))?)
    }

    fn open(inner: gix::Repository) -> Result<Self, GitError> {
        let common = gix::path::realpath(inner.common_dir()).map_err(|e| other("find the common directory", &e))?;
        refuse_unreadable(&inner, &common)?;
        let main = inner.main_repo().map_err(|e| other("open the main worktree", &e))?;
        let root = main.workdir().ok_or_else(|| GitError::Bare(common.clone()))?;
        let root = gix::path::realpath(root).map_err(|e| other("find the main worktree", &e))?;
        Ok(Self { inner, root, common })
    }

    /// `git init`.
    pub fn create(path: &Path) -> Result<(), GitError> {
        gix::init(path).map(|_| ()).map_err(|e| other("make a repository", &e))
    }

    /// git's `user.name`, or its environment's.
    pub fn user_name(&self) -> Option<String> {
        let author = std::env::var("GIT_AUTHOR_NAME").ok().filter(|name| !name.is_empty());
        author.or_else(|| self.inner.config_snapshot().string("user.name").map(|name| name.to_string()))
    }
}

fn refuse_unreadable(repo: &gix::Repository, common: &Path) -> Result<(), GitError> {
    let storage = repo.config_snapshot().string("extensions.refStorage");
    if storage.is_some_and(|storage| storage != "files") {
        return Err(GitError::Reftable(common.to_owned()));
    }
    if repo.git_dir_trust() != gix::sec::Trust::Full {
        return Err(GitError::ForeignOwner(common.to_owned()));
    }
    Ok(())
}

pub(super) fn other(doing: &'static str, error: &dyn std::fmt::Display) -> GitError {
    GitError::Other { doing, message: error.to_string() }
}

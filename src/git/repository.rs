//! Finds the repository, its main worktree and its common directory, and refuses formats that gix does not support.

use std::path::{Path, PathBuf};

use super::network::Network;
use super::said::NetTrouble;

const ROOT: &str = "ralph/root";

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{} is not inside a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{} is a bare repository; a board needs a main worktree", .0.display())]
    Bare(PathBuf),
    #[error("{} keeps its refs in reftable, which ralph cannot read yet", .0.display())]
    Reftable(PathBuf),
    #[error("{0}, which ralph does not support")]
    Unsupported(String),
    #[error("unknown revision {0:?}")]
    NoRevision(String),
    #[error("{} is owned by another user", .0.display())]
    ForeignOwner(PathBuf),
    #[error("git's index is locked by another program: {} exists", .0.display())]
    IndexBusy(PathBuf),
    #[error("git's references are locked by another program: {} exists", .0.display())]
    RefBusy(PathBuf),
    #[error("a {0} is in progress in this repository")]
    Underway(String),
    #[error("{0} has changed since; try again")]
    Moved(String),
    #[error("uncommitted changes would be overwritten: {}", .0.join(", "))]
    InTheWay(Vec<String>),
    #[error("{1} cannot be fast-forwarded to {0}")]
    NotForward(String, String),
    #[error("HEAD is detached in the main worktree: there is no branch for the board")]
    Detached,
    #[error("{}", .0.as_ref().map_or("this repository has no remote".to_owned(), |name| format!("no remote {name:?}")))]
    NoRemote(Option<String>),
    #[error("{remote}{}{message}", .trouble.words())]
    Remote { remote: String, trouble: NetTrouble, message: String },
    #[error("{remote} rejected the push: {message}")]
    Denied { remote: String, message: String },
    #[error("{0} is a symbolic link that leads out of this repository")]
    LinkedFolder(String),
    #[error("cannot sign the commit: {0}")]
    Signing(String),
    #[error("{0} and {1} have unrelated histories")]
    Unrelated(String, String),
    #[error("there are several remotes: {}", .0.join(", "))]
    ManyRemotes(Vec<String>),
    #[error("git has no identity for the commit: user.name or user.email is not set")]
    Nobody,
    #[error("git refused the commit: {0}")]
    Hook(String),
    #[error("cannot {doing}: {message}")]
    Other { doing: &'static str, message: String },
}

pub struct Repository {
    /// The main worktree, with its HEAD and its index.
    pub(super) inner: gix::Repository,
    /// The worktree in which ralph was started; typed revisions are resolved here.
    pub(super) here: gix::Repository,
    /// The root of the main worktree, where the board is, also for all linked worktrees.
    pub root: PathBuf,
    /// The common directory of all worktrees: `.git` of the main one.
    pub common: PathBuf,
    pub(super) network: Network,
}

impl Repository {
    /// The repository around `start`, or the one that `GIT_DIR` names.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        Self::open(
            gix::discover_with_environment_overrides(start).map_err(|_| GitError::NoRepository(start.to_owned()))?,
        )
    }

    /// The repository around `start`, regardless of the environment.
    pub fn at(start: &Path) -> Result<Self, GitError> {
        Self::open(gix::discover(start).map_err(|_| GitError::NoRepository(start.to_owned()))?)
    }

    fn open(inner: gix::Repository) -> Result<Self, GitError> {
        let common = gix::path::realpath(inner.common_dir()).map_err(|e| other("find the common directory", &e))?;
        refuse_unreadable(&inner, &common)?;
        let main = inner.main_repo().map_err(|e| other("open the main worktree", &e))?;
        let own = inner.workdir().filter(|_| inner.kind() != gix::repository::Kind::LinkedWorkTree);
        let root = main.workdir().or(own).map(Path::to_owned).or_else(|| remembered(&common));
        let root = root.ok_or_else(|| GitError::Bare(common.clone()))?;
        let root = gix::path::realpath(root).map_err(|e| other("find the main worktree", &e))?;
        let main = match main.workdir() {
            Some(_) => main,
            None => gix::open(&root).map_err(|e| other("open the main worktree", &e))?,
        };
        Ok(Self { inner: main, here: inner, root, common, network: Network::default() })
    }

    /// The main worktree with its own index and HEAD, wherever ralph was started.
    pub(super) fn main(&self) -> Result<gix::Repository, GitError> {
        gix::open(&self.root)
            .or_else(|_| Ok::<_, gix::Error>(self.inner.clone()))
            .map_err(|e| other("open the main worktree", &e))
    }

    /// Stores the path of the main worktree if its `.git` is a file: git does not, but linked worktrees need it.
    pub fn remember_root(&self) -> Result<(), crate::fs::FsError> {
        if !self.root.join(".git").is_file() {
            return Ok(());
        }
        crate::fs::make_dir(&self.common.join("ralph"))?;
        crate::fs::replace(&self.common.join(ROOT), self.root.to_string_lossy().as_bytes(), true)
    }

    /// `git init`.
    pub fn create(path: &Path) -> Result<(), GitError> {
        gix::init(path).map(|_| ()).map_err(|e| other("create a repository", &e))
    }

    /// The name and e-mail address that a commit would have.
    pub fn identity(&self) -> Option<(String, String)> {
        let who = self.inner.author()?.ok()?;
        Some((who.name.to_string(), who.email.to_string()))
            .filter(|(name, email)| !name.is_empty() && !email.is_empty())
    }

    /// git's `user.name`, or the name from the environment.
    pub fn user_name(&self) -> Option<String> {
        let author = std::env::var("GIT_AUTHOR_NAME").ok().filter(|name| !name.is_empty());
        author.or_else(|| self.inner.config_snapshot().string("user.name").map(|name| name.to_string()))
    }
}

/// The path that `remember_root` wrote, if it is still valid.
fn remembered(common: &Path) -> Option<PathBuf> {
    let root = PathBuf::from(crate::fs::read_text(&common.join(ROOT)).ok()??);
    let found = gix::open(&root).ok()?;
    let same = gix::path::realpath(found.common_dir()).is_ok_and(|there| there == common);
    same.then_some(root)
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

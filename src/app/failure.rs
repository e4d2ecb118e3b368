//! What a verb says when it cannot be done: all that faces see of any error below.

use serde::Serialize;

use crate::board::{Candidate, RefError};
use crate::config::ConfigError;
use crate::fs::{FsError, causes};
use crate::git::GitError;
use crate::github::GithubError;
use crate::store::StoreError;
use crate::store::codec::EditError;
use crate::task::{InvalidId, ParseError, Problem, TaskId};
use crate::watch::WatchError;
use crate::workflow::WorkflowError;

#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    /// Kebab-case and stable.
    pub code: &'static str,
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<Hint>,
    /// A person may do it all the same; how that is said is a matter of each face.
    #[serde(skip)]
    pub insist: bool,
}

/// What the caller can do about it; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A rule says no.
    Refused,
    /// The call itself is wrong.
    Usage,
    /// Somebody else was first: try again.
    Raced,
    /// Something cannot be read or written.
    Broken,
    /// There is no work, or what was waited for did not come.
    Nothing,
    /// A remote cannot be reached, or does not let us in.
    Offline,
}

/// The next step, as a value that each face puts into its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Hint {
    Init,
    GitInit,
    DidYouMean { candidates: Vec<Candidate> },
    Edit { file: String, line: u32 },
    Retry,
    List,
    Workflow,
    Ready,
    Wait { task: TaskId },
    Why { task: TaskId },
    Claim { task: TaskId, command: String },
    Advice { text: String },
}

impl Failure {
    pub fn new(kind: FailureKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), causes: Vec::new(), hints: Vec::new(), insist: false }
    }

    pub fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Refused, code, message)
    }

    pub fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, code, message)
    }

    pub fn broken(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Broken, code, message)
    }

    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    #[must_use]
    pub fn advice(self, text: impl Into<String>) -> Self {
        self.hint(Hint::Advice { text: text.into() })
    }

    pub(super) fn insistable(self) -> Self {
        Self { insist: true, ..self }
    }

    /// The task that was chosen has changed since, or somebody else has it: there is other work.
    pub fn is_overtaken(&self) -> bool {
        const CODES: [&str; 13] = [
            "unknown-task",
            "archived",
            "finished",
            "blocked",
            "not-converged",
            "not-primary",
            "oversized",
            "small-enough",
            "not-allowed",
            "not-your-command",
            "needs-person",
            "worker-full",
            "cycle",
        ];
        self.kind == FailureKind::Raced || CODES.contains(&self.code)
    }

    fn caused_by(mut self, error: &dyn std::error::Error) -> Self {
        self.causes = causes(error);
        self
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let failure = Self::broken("unreadable-file", problem.to_string());
        let failure = match &problem.hint {
            Some(hint) => failure.advice(hint.clone()),
            None => failure,
        };
        failure.hint(Hint::Edit { file: problem.file, line: problem.line })
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        let failure = Self::broken("io", error.to_string()).caused_by(&error);
        if error.is_read_only() && error.doing != "read" {
            return failure
                .advice("the board lies in the main worktree and git's own folder, where this program may not write: use the tools of `ralph mcp`, which your host starts outside your sandbox");
        }
        failure
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Fs(error) => error.into(),
            StoreError::Broken(problem) => problem.into(),
            StoreError::Busy { .. } => Self::new(FailureKind::Raced, "busy", message).hint(Hint::Retry),
            StoreError::Raced { .. } => Self::new(FailureKind::Raced, "raced", message).hint(Hint::Retry),
            StoreError::Missing(_) => Self::refused("unknown-task", message).hint(Hint::List),
            StoreError::Archived(_) => {
                Self::refused("archived", message).advice("`ralph undo` of its archiving brings it back")
            }
            StoreError::Unwritable(problem) => {
                let failure = Self::refused("unreadable-result", message);
                problem.hint.map_or_else(|| failure.clone(), |hint| failure.clone().advice(hint))
            }
            StoreError::Edit { source: EditError::Syntax { .. }, .. } => Self::broken("cannot-edit", message),
            StoreError::Edit { .. } => {
                Self::refused("cannot-edit", message).advice("change the file itself with `ralph task edit`")
            }
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        match error {
            GitError::NoRepository(_) => Self::broken("no-repository", message).hint(Hint::GitInit),
            GitError::Bare(_) => {
                Self::broken("bare-repository", message).advice("run ralph in a clone that has a worktree")
            }
            GitError::Reftable(_) => Self::broken("reftable", message)
                .advice("`git refs migrate --ref-format=files` turns it into what ralph reads"),
            GitError::ForeignOwner(_) => {
                Self::broken("foreign-owner", message).advice("work in a repository of your own user")
            }
            GitError::Unsupported(_) => {
                Self::refused("unsupported", message).advice("make this worktree with `git worktree add`")
            }
            GitError::NoRevision(_) => Self::usage("no-revision", message).advice("name a branch, a tag or a commit"),
            GitError::IndexBusy(_) | GitError::RefBusy(_) => Self::new(FailureKind::Raced, "git-busy", message)
                .hint(Hint::Retry)
                .advice("if no git runs, one has died: its lock file is to be removed by hand"),
            GitError::Underway(_) => Self::refused("underway", message).advice("finish or abort it first"),
            GitError::Moved(_) => Self::new(FailureKind::Raced, "moved", message).hint(Hint::Retry),
            GitError::InTheWay(paths) => {
                let board = paths.iter().all(|path| super::commit::is_board(path));
                let how = if board { "`ralph commit` first" } else { "commit, stash or move them first" };
                Self::refused("in-the-way", message).advice(how)
            }
            GitError::NotForward(..) => Self::refused("not-forward", message)
                .advice("rebase the branch, or set `merge.style` to merge or squash"),
            GitError::Detached => Self::refused("detached", message).advice("check a branch out first"),
            GitError::NoRemote(_) => Self::refused("no-remote", message).advice("`git remote -v` shows what there is"),
            GitError::Remote { .. } => Self::new(FailureKind::Offline, "offline", message).hint(Hint::Retry),
            GitError::Denied { .. } => Self::new(FailureKind::Offline, "denied", message)
                .advice("look at your rights there, and at the hooks of that repository"),
            GitError::LinkedFolder(_) => Self::refused("linked-folder", message).advice("put a folder in its place"),
            GitError::Signing(_) => {
                Self::broken("signing", message).advice("look at commit.gpgSign, user.signingKey and gpg.program")
            }
            GitError::Unrelated(..) => Self::refused("unrelated", message)
                .advice("`git pull --allow-unrelated-histories` joins them, if that is what you want"),
            GitError::ManyRemotes(_) => Self::usage("which-remote", message).advice("name one"),
            GitError::Nobody => Self::refused("nobody", message).advice("set both with `git config`"),
            GitError::Hook(_) => Self::refused("hook", message).advice("do what the hook asks for, then try again"),
            GitError::Other { .. } => Self::broken("git", message),
        }
    }
}

impl From<GithubError> for Failure {
    fn from(error: GithubError) -> Self {
        let message = error.to_string();
        let offline = |code, message: String| Self::new(FailureKind::Offline, code, message);
        let saved = "what was done is saved: `ralph sync` goes on from there";
        match error {
            GithubError::NoToken { host, variable } => offline("no-token", message)
                .advice(format!("`gh auth login --hostname {host} -s project` gets one, or set {variable}")),
            GithubError::OddToken => offline("bad-token", message).advice("look at the variable that it comes from"),
            GithubError::Unsafe(_) => Self::refused("unsafe-endpoint", message).advice("use https"),
            GithubError::BadToken(_) => offline("bad-token", message)
                .advice("it has expired or was revoked: `gh auth login -s project` gets a new one, or set GH_TOKEN"),
            GithubError::Scopes { wanted, .. } => {
                let wanted = wanted.first().map_or("project", |scope| scope.trim_start_matches("read:")).to_owned();
                offline("no-scope", message).advice(format!("`gh auth refresh -s {wanted}` grants what is missing"))
            }
            GithubError::Forbidden(_) => offline("forbidden", message).advice(
                "a fine-grained token needs Issues, Pull requests and the organization's Projects with read and write",
            ),
            GithubError::Unreachable(why) if why.contains("certificate") => offline("untrusted", message)
                .advice("put your company's root certificate among the system's, or name it with SSL_CERT_FILE"),
            GithubError::Unreachable(_) => offline("offline", message).hint(Hint::Retry).advice(saved),
            GithubError::Outage(_) => offline("outage", message).hint(Hint::Retry).advice(saved),
            GithubError::Limited { seconds, .. } => {
                offline("limited", message).advice(format!("try again in {seconds} s; {saved}"))
            }
            GithubError::NotFound(_) => Self::refused("not-found", message)
                .advice("it may have been deleted or renamed, or the token may not see it; nothing was changed here"),
            GithubError::Ambiguous(_) => offline("unknown-outcome", message).advice("`ralph sync` looks for it"),
            GithubError::Refused(_) => Self::refused("refused", message),
            GithubError::Odd(_) => offline("odd-answer", message).hint(Hint::Retry).advice(saved),
            GithubError::Stopped => Self::new(FailureKind::Raced, "stopped", message).advice(saved),
        }
    }
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        Self::broken("cannot-watch", error.to_string()).caused_by(&error)
    }
}

impl From<RefError> for Failure {
    fn from(error: RefError) -> Self {
        let message = error.to_string();
        match error {
            RefError::Unknown { near, .. } if near.is_empty() => {
                Self::refused("unknown-task", message).hint(Hint::List)
            }
            RefError::Unknown { near, .. } => {
                Self::refused("unknown-task", message).hint(Hint::DidYouMean { candidates: near })
            }
            RefError::Ambiguous { candidates, .. } => {
                Self::refused("ambiguous-task", message).hint(Hint::DidYouMean { candidates })
            }
        }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::usage("bad-value", error.to_string())
    }
}

impl From<InvalidId> for Failure {
    fn from(error: InvalidId) -> Self {
        Self::usage("bad-id", error.to_string())
    }
}

impl From<WorkflowError> for Failure {
    fn from(error: WorkflowError) -> Self {
        let code = match error {
            WorkflowError::NoSuchCommand { .. } => "unknown-command",
            _ => "unknown-state",
        };
        Self::usage(code, error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Syntax(problem) => problem.into(),
            ConfigError::Format { .. } => Self::broken("newer-format", message).advice("update ralph"),
            ConfigError::UnknownKey { .. } | ConfigError::NotAssignment(_) => {
                Self::usage("unknown-setting", message).advice("`ralph config list` shows what there is")
            }
            ConfigError::BadValue { source_name, .. } if source_name.is_empty() => Self::usage("bad-value", message),
            ConfigError::BadValue { source_name, .. } => {
                Self::usage("bad-value", message).advice(format!("it comes from {source_name}"))
            }
        }
    }
}

//! The errors of the layers below as failures, each with its code and what to do next.

use super::{Code, Failure, FailureKind, Hint};
use crate::board::RefError;
use crate::config::ConfigError;
use crate::fs::FsError;
use crate::git::GitError;
use crate::github::GithubError;
use crate::store::StoreError;
use crate::store::codec::EditError;
use crate::task::{InvalidId, ParseError, Problem};
use crate::watch::WatchError;
use crate::workflow::WorkflowError;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let failure = Self::broken(Code::UnreadableFile, problem.to_string());
        let failure = match &problem.hint {
            Some(hint) => failure.advice(hint.clone()),
            None => failure,
        };
        failure.hint(Hint::Edit { file: problem.file, line: problem.line })
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        let failure = Self::broken(Code::Io, error.to_string()).caused_by(&error);
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
            StoreError::Busy { .. } => Self::new(FailureKind::Raced, Code::Busy, message).hint(Hint::Retry),
            StoreError::Raced { .. } => Self::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry),
            StoreError::Missing(_) => Self::refused(Code::UnknownTask, message).hint(Hint::List),
            StoreError::Archived(_) => {
                Self::refused(Code::Archived, message).advice("`ralph undo` of its archiving brings it back")
            }
            StoreError::Unwritable(problem) => {
                let failure = Self::refused(Code::UnreadableResult, message);
                problem.hint.map_or_else(|| failure.clone(), |hint| failure.clone().advice(hint))
            }
            StoreError::Edit { source: EditError::Syntax { .. }, .. } => Self::broken(Code::CannotEdit, message),
            StoreError::Edit { .. } => {
                Self::refused(Code::CannotEdit, message).advice("change the file itself with `ralph task edit`")
            }
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        match error {
            GitError::NoRepository(_) => Self::broken(Code::NoRepository, message).hint(Hint::GitInit),
            GitError::Bare(_) => {
                Self::broken(Code::BareRepository, message).advice("run ralph in a clone that has a worktree")
            }
            GitError::Reftable(_) => Self::broken(Code::Reftable, message)
                .advice("`git refs migrate --ref-format=files` turns it into what ralph reads"),
            GitError::ForeignOwner(_) => {
                Self::broken(Code::ForeignOwner, message).advice("work in a repository of your own user")
            }
            GitError::Unsupported(_) => {
                Self::refused(Code::Unsupported, message).advice("make this worktree with `git worktree add`")
            }
            GitError::NoRevision(_) => {
                Self::usage(Code::NoRevision, message).advice("name a branch, a tag or a commit")
            }
            GitError::IndexBusy(_) | GitError::RefBusy(_) => Self::new(FailureKind::Raced, Code::GitBusy, message)
                .hint(Hint::Retry)
                .advice("if no git runs, one has died: its lock file is to be removed by hand"),
            GitError::Underway(_) => Self::refused(Code::Underway, message).advice("finish or abort it first"),
            GitError::Moved(_) => Self::new(FailureKind::Raced, Code::Moved, message).hint(Hint::Retry),
            GitError::InTheWay(paths) => {
                let board = paths.iter().all(|path| crate::app::commit::is_board(path));
                let how = if board { "`ralph commit` first" } else { "commit, stash or move them first" };
                Self::refused(Code::InTheWay, message).advice(how)
            }
            GitError::NotForward(..) => Self::refused(Code::NotForward, message)
                .advice("rebase the branch, or set `merge.style` to merge or squash"),
            GitError::Detached => Self::refused(Code::Detached, message).advice("check a branch out first"),
            GitError::NoRemote(_) => {
                Self::refused(Code::NoRemote, message).advice("`git remote -v` shows what there is")
            }
            GitError::Remote { .. } => Self::new(FailureKind::Offline, Code::Offline, message).hint(Hint::Retry),
            GitError::Denied { .. } => Self::new(FailureKind::Offline, Code::Denied, message)
                .advice("look at your rights there, and at the hooks of that repository"),
            GitError::LinkedFolder(_) => Self::refused(Code::LinkedFolder, message).advice("put a folder in its place"),
            GitError::Signing(_) => {
                Self::broken(Code::Signing, message).advice("look at commit.gpgSign, user.signingKey and gpg.program")
            }
            GitError::Unrelated(..) => Self::refused(Code::Unrelated, message)
                .advice("`git pull --allow-unrelated-histories` joins them, if that is what you want"),
            GitError::ManyRemotes(_) => Self::usage(Code::WhichRemote, message).advice("name one"),
            GitError::Nobody => Self::refused(Code::Nobody, message).advice("set both with `git config`"),
            GitError::Hook(_) => Self::refused(Code::Hook, message).advice("do what the hook asks for, then try again"),
            GitError::Other { .. } => Self::broken(Code::Git, message),
        }
    }
}

impl From<GithubError> for Failure {
    fn from(error: GithubError) -> Self {
        let message = error.to_string();
        let offline = |code, message: String| Self::new(FailureKind::Offline, code, message);
        let saved = "what was done is saved: `ralph sync` goes on from there";
        match error {
            GithubError::NoToken { host, variable } => offline(Code::NoToken, message)
                .advice(format!("`gh auth login --hostname {host} -s project` gets one, or set {variable}")),
            GithubError::OddToken => offline(Code::BadToken, message).advice("look at the variable that it comes from"),
            GithubError::Unsafe(_) => Self::refused(Code::UnsafeEndpoint, message).advice("use https"),
            GithubError::BadToken(_) => offline(Code::BadToken, message)
                .advice("it has expired or was revoked: `gh auth login -s project` gets a new one, or set GH_TOKEN"),
            GithubError::Scopes { wanted, .. } => {
                let wanted = wanted.first().map_or("project", |scope| scope.trim_start_matches("read:")).to_owned();
                offline(Code::NoScope, message).advice(format!("`gh auth refresh -s {wanted}` grants what is missing"))
            }
            GithubError::Forbidden(_) => offline(Code::Forbidden, message).advice(
                "a fine-grained token needs Issues, Pull requests and the organization's Projects with read and write",
            ),
            GithubError::Unreachable(why) if why.contains("certificate") => offline(Code::Untrusted, message)
                .advice("put your company's root certificate among the system's, or name it with SSL_CERT_FILE"),
            GithubError::Unreachable(_) => offline(Code::Offline, message).hint(Hint::Retry).advice(saved),
            GithubError::Outage(_) => offline(Code::Outage, message).hint(Hint::Retry).advice(saved),
            GithubError::Limited { seconds, .. } => {
                offline(Code::Limited, message).advice(format!("try again in {seconds} s; {saved}"))
            }
            GithubError::NotFound(_) => Self::refused(Code::NotFound, message)
                .advice("it may have been deleted or renamed, or the token may not see it; nothing was changed here"),
            GithubError::Ambiguous(_) => offline(Code::UnknownOutcome, message).advice("`ralph sync` looks for it"),
            GithubError::Refused(_) => Self::refused(Code::Refused, message),
            GithubError::Odd(_) => offline(Code::OddAnswer, message).hint(Hint::Retry).advice(saved),
            GithubError::Stopped => Self::new(FailureKind::Raced, Code::Stopped, message).advice(saved),
        }
    }
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        Self::broken(Code::CannotWatch, error.to_string()).caused_by(&error)
    }
}

impl From<RefError> for Failure {
    fn from(error: RefError) -> Self {
        let message = error.to_string();
        match error {
            RefError::Unknown { near, .. } if near.is_empty() => {
                Self::refused(Code::UnknownTask, message).hint(Hint::List)
            }
            RefError::Unknown { near, .. } => {
                Self::refused(Code::UnknownTask, message).hint(Hint::DidYouMean { candidates: near })
            }
            RefError::Ambiguous { candidates, .. } => {
                Self::refused(Code::AmbiguousTask, message).hint(Hint::DidYouMean { candidates })
            }
        }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::usage(Code::BadValue, error.to_string())
    }
}

impl From<InvalidId> for Failure {
    fn from(error: InvalidId) -> Self {
        Self::usage(Code::BadId, error.to_string())
    }
}

impl From<WorkflowError> for Failure {
    fn from(error: WorkflowError) -> Self {
        let code = match error {
            WorkflowError::NoSuchCommand { .. } => Code::UnknownCommand,
            _ => Code::UnknownState,
        };
        Self::usage(code, error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Syntax(problem) => problem.into(),
            ConfigError::Format { .. } => Self::broken(Code::NewerFormat, message).advice("update ralph"),
            ConfigError::UnknownKey { .. } | ConfigError::NotAssignment(_) => {
                Self::usage(Code::UnknownSetting, message).advice("`ralph config list` shows what there is")
            }
            ConfigError::BadValue { source_name, .. } if source_name.is_empty() => Self::usage(Code::BadValue, message),
            ConfigError::BadValue { source_name, .. } => {
                Self::usage(Code::BadValue, message).advice(format!("it comes from {source_name}"))
            }
        }
    }
}

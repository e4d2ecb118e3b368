//! Converts the errors of the layers below into failures, each with a code and hints.

use super::{Code, Failure, FailureKind, Hint};
use crate::board::RefError;
use crate::config::ConfigError;
use crate::fs::FsError;
use crate::git::{GitError, NetTrouble};
use crate::github::GithubError;
use crate::store::StoreError;
use crate::store::codec::EditError;
use crate::task::{InvalidId, ParseError, Problem};
use crate::watch::WatchError;
use crate::workflow::WorkflowError;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let failure = Self::broken(Code::UnreadableFile, problem.to_string());
        failure.hint(Hint::Edit { file: problem.file, line: problem.line, change: problem.hint })
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        let failure = Self::broken(Code::Io, error.to_string()).caused_by(&error);
        if error.is_read_only() && error.doing != "read" {
            return failure
                .hint(Hint::step(
                    "this program cannot write to the main worktree or the git directory, which contain the board",
                ))
                .hint(Hint::run(
                    "mcp",
                    "to change the board from a sandbox; the agent host runs it outside the sandbox",
                ));
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
            StoreError::Archived(_) => Self::refused(Code::Archived, message)
                .hint(Hint::run("undo", "to restore it, if archiving it was the last change")),
            StoreError::Unwritable(problem) => {
                let failure = Self::refused(Code::UnreadableResult, message);
                problem.hint.into_iter().fold(failure, |failure, hint| failure.hint(Hint::step(hint)))
            }
            StoreError::Edit { source: EditError::Syntax { .. }, .. } => Self::broken(Code::CannotEdit, message),
            StoreError::Edit { .. } => {
                Self::refused(Code::CannotEdit, message).hint(Hint::run("task edit TASK", "to edit the file directly"))
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
                Self::broken(Code::BareRepository, message).hint(Hint::step("run ralph in a clone that has a worktree"))
            }
            GitError::Reftable(_) => Self::broken(Code::Reftable, message)
                .hint(Hint::shell("git refs migrate --ref-format=files", "to convert it to a format that ralph reads")),
            GitError::ForeignOwner(_) => {
                Self::broken(Code::ForeignOwner, message).hint(Hint::step("use a repository that your own user owns"))
            }
            GitError::Unsupported(_) => Self::refused(Code::Unsupported, message)
                .hint(Hint::shell("git worktree add PATH", "to create this worktree")),
            GitError::NoRevision(_) => {
                Self::usage(Code::NoRevision, message).hint(Hint::step("use a branch, a tag or a commit"))
            }
            GitError::IndexBusy(_) | GitError::RefBusy(_) => Self::new(FailureKind::Raced, Code::GitBusy, message)
                .hint(Hint::Retry)
                .hint(Hint::step("if no git process is running, delete this lock file")),
            GitError::Underway(_) => {
                Self::refused(Code::Underway, message).hint(Hint::step("finish or abort it first"))
            }
            GitError::Moved(_) => Self::new(FailureKind::Raced, Code::Moved, message).hint(Hint::Retry),
            GitError::InTheWay(paths) => {
                let board = paths.iter().all(|path| crate::store::is_board(path));
                Self::refused(Code::InTheWay, message).hint(match board {
                    true => Hint::run("commit", "to commit the board first"),
                    false => Hint::step("commit, stash or move them first"),
                })
            }
            GitError::NotForward(..) => Self::refused(Code::NotForward, message)
                .hint(Hint::step("rebase the branch first"))
                .hint(Hint::set("merge.style", "squash", "to merge without a rebase")),
            GitError::Detached => Self::refused(Code::Detached, message).hint(Hint::step("check out a branch first")),
            GitError::NoRemote(_) => {
                Self::refused(Code::NoRemote, message).hint(Hint::shell("git remote -v", "to list the remotes"))
            }
            GitError::Remote { remote, trouble, .. } => unreached(&remote, trouble, message),
            GitError::Denied { .. } => Self::new(FailureKind::Offline, Code::Denied, message)
                .hint(Hint::step("check your permissions there, and the hooks of that repository")),
            GitError::LinkedFolder(_) => {
                Self::refused(Code::LinkedFolder, message).hint(Hint::step("replace it with a folder"))
            }
            GitError::Signing(_) => Self::broken(Code::Signing, message)
                .hint(Hint::step("check commit.gpgSign, user.signingKey and gpg.program in the git configuration")),
            GitError::Unrelated(..) => Self::refused(Code::Unrelated, message)
                .hint(Hint::shell("git pull --allow-unrelated-histories", "to merge them anyway")),
            GitError::ManyRemotes(_) => {
                Self::usage(Code::WhichRemote, message).hint(Hint::step("give its name on the command line"))
            }
            GitError::Nobody => Self::refused(Code::Nobody, message)
                .hint(Hint::shell("git config user.name NAME", "to set the name; user.email is set the same way")),
            GitError::Hook(_) => {
                Self::refused(Code::Hook, message).hint(Hint::step("fix what the hook reports, then try again"))
            }
            GitError::Other { .. } => Self::broken(Code::Git, message),
        }
    }
}

fn unreached(remote: &str, trouble: NetTrouble, message: String) -> Failure {
    let offline = |code| Failure::new(FailureKind::Offline, code, message);
    let url = Hint::shell(&format!("git remote get-url {remote}"), "to see its address");
    match trouble {
        NetTrouble::UnknownHost | NetTrouble::NoRepository => offline(Code::Offline).hint(url),
        NetTrouble::Refused | NetTrouble::TimedOut | NetTrouble::Other => offline(Code::Offline).hint(Hint::Retry),
        NetTrouble::Unauthorized => offline(Code::Unauthorized).hint(Hint::shell(
            &format!("git ls-remote {remote}"),
            "to log in, and to check that git does not ask for a password",
        )),
        NetTrouble::Forbidden => offline(Code::Forbidden)
            .hint(Hint::step(format!("ask the owner of {remote} for write access, or log in with another account"))),
    }
}

impl From<GithubError> for Failure {
    fn from(error: GithubError) -> Self {
        let message = error.to_string();
        let offline = |code, message: String| Self::new(FailureKind::Offline, code, message);
        let resume = || Hint::run("sync", "to continue where it stopped");
        match error {
            GithubError::NoToken { host, variable } => offline(Code::NoToken, message)
                .hint(Hint::shell(&format!("gh auth login --hostname {host} -s project"), "to get one"))
                .hint(Hint::variable(variable, "to a token of your own")),
            GithubError::OddToken => offline(Code::BadToken, message).hint(Hint::step("check the environment variable that contains it")),
            GithubError::Unsafe(_) => Self::refused(Code::UnsafeEndpoint, message).hint(Hint::step("use https")),
            GithubError::BadToken(_) => offline(Code::BadToken, message)
                .hint(Hint::shell("gh auth login -s project", "to get a new one, if it has expired or was revoked"))
                .hint(Hint::variable("GH_TOKEN", "to a valid token")),
            GithubError::Scopes { wanted, .. } => {
                let wanted = wanted.first().map_or("project", |scope| scope.trim_start_matches("read:")).to_owned();
                offline(Code::NoScope, message).hint(Hint::shell(&format!("gh auth refresh -s {wanted}"), "to add the missing scope"))
            }
            GithubError::Forbidden(_) => offline(Code::Forbidden, message).hint(Hint::step(
                "a fine-grained token needs read and write access to Issues, Pull requests and the organization's Projects",
            )),
            GithubError::Untrusted(_) => offline(Code::Untrusted, message)
                .hint(Hint::step("add your company's root certificate to those of the system"))
                .hint(Hint::variable("SSL_CERT_FILE", "to the path of that certificate")),
            GithubError::Unreachable(_) => offline(Code::Offline, message).hint(Hint::Retry).hint(resume()),
            GithubError::Outage(_) => offline(Code::Outage, message).hint(Hint::Retry).hint(resume()),
            GithubError::Limited { seconds, .. } => {
                offline(Code::Limited, message).hint(Hint::step(format!("try again in {seconds} seconds"))).hint(resume())
            }
            GithubError::NotFound(_) => Self::refused(Code::NotFound, message)
                .hint(Hint::step("it may have been deleted or renamed, or the token has no access to it; nothing was changed here")),
            GithubError::Ambiguous(_) => offline(Code::UnknownOutcome, message).hint(Hint::run("sync", "to check whether it was done")),
            GithubError::Refused(_) | GithubError::BaseMoved(_) => Self::refused(Code::Refused, message),
            GithubError::Odd(_) => offline(Code::OddAnswer, message).hint(Hint::Retry).hint(resume()),
            GithubError::Stopped => Self::new(FailureKind::Raced, Code::Stopped, message).hint(resume()),
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
            ConfigError::Format { .. } => Self::broken(Code::NewerFormat, message)
                .hint(Hint::step("install the newest ralph; nothing was changed")),
            ConfigError::UnknownKey { .. } | ConfigError::NotAssignment(_) => {
                Self::usage(Code::UnknownSetting, message).hint(Hint::run("config list", "to list the settings"))
            }
            ConfigError::BadValue { source_name, .. } if source_name.is_empty() => Self::usage(Code::BadValue, message),
            ConfigError::BadValue { source_name, .. } => {
                Self::usage(Code::BadValue, message).hint(Hint::step(format!("check {source_name}, which sets it")))
            }
        }
    }
}

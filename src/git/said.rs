//! The output of the git program. Only this module parses it; `LC_ALL=C` keeps it in English.

use super::remote::RefAnswer;

/// The output of git, and whether it succeeded.
pub(super) struct GitSaid {
    pub stdout: String,
    pub stderr: String,
    pub ok: bool,
}

/// Failures for which git has no exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The remote has no such reference.
    NoRemoteRef,
    /// A local reference is locked by another process.
    RefBusy,
    /// The remote cannot change several references in one step.
    NotAtomic,
    Other,
}

/// Why a remote gave no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetTrouble {
    UnknownHost,
    Refused,
    TimedOut,
    /// The host answers, but has no such repository.
    NoRepository,
    /// Not logged in, or with a wrong password or key.
    Unauthorized,
    /// The user is logged in but has no permission.
    Forbidden,
    Other,
}

/// The words of git, ssh and curl for each kind of trouble.
const TROUBLES: [(NetTrouble, &[&str]); 6] = [
    (
        NetTrouble::UnknownHost,
        &[
            "could not resolve",
            "name or service not known",
            "temporary failure in name resolution",
            "nodename nor servname",
            "unable to look up",
        ],
    ),
    (
        NetTrouble::TimedOut,
        &["timed out", "timeout was reached", "operation too slow", "not responding", "less than 1 bytes/sec"],
    ),
    (NetTrouble::Refused, &["connection refused", "couldn't connect to server"]),
    (
        NetTrouble::Unauthorized,
        &[
            "authentication failed",
            "could not read username",
            "could not read password",
            "permission denied (",
            "host key verification failed",
            "returned error: 401",
        ],
    ),
    (NetTrouble::Forbidden, &["returned error: 403", "permission to ", "access denied", "access rights denied"]),
    (
        NetTrouble::NoRepository,
        &["repository not found", "does not appear to be a git repository", "returned error: 404", "' not found"],
    ),
];

impl NetTrouble {
    /// The text between the name of the remote and the reason.
    pub fn words(self) -> &'static str {
        match self {
            Self::UnknownHost => " cannot be reached: unknown host: ",
            Self::Refused => " cannot be reached: connection refused: ",
            Self::TimedOut | Self::Other => " cannot be reached: ",
            Self::NoRepository => " cannot be reached: no such repository: ",
            Self::Unauthorized => ": unauthorized: ",
            Self::Forbidden => ": forbidden: ",
        }
    }
}

/// Why a remote rejected a reference.
pub(super) enum PushRefused {
    Behind,
    Denied(String),
}

impl GitSaid {
    pub fn trouble(&self) -> Trouble {
        let has = |words: &str| self.stderr.contains(words);
        if has("couldn't find remote ref") || has("remote ref does not exist") {
            Trouble::NoRemoteRef
        } else if has("cannot lock ref") {
            Trouble::RefBusy
        } else if has("does not support --atomic") {
            Trouble::NotAtomic
        } else {
            Trouble::Other
        }
    }

    /// Why a remote gave no usable answer.
    pub fn net_trouble(&self) -> NetTrouble {
        let said = self.stderr.to_lowercase();
        let found = TROUBLES.iter().find(|(_, words)| words.iter().any(|word| said.contains(word)));
        found.map_or(NetTrouble::Other, |(trouble, _)| *trouble)
    }

    /// Whether git failed because of a lock file, which a killed process may have left.
    pub fn met_a_lock_file(&self) -> bool {
        !self.ok && self.stderr.contains("File exists")
    }

    /// Why a remote rejected a reference, if it did.
    pub fn refused(&self) -> Option<PushRefused> {
        let Some(line) = self.stdout.lines().find(|line| line.starts_with('!')) else {
            // The user's pre-push hook refused before the remote was contacted.
            let hook = self.stderr.contains("failed to push some refs");
            return hook.then(|| PushRefused::Denied(self.told("your pre-push hook refuses")));
        };
        // Another clone changed or removed the reference at the same time.
        if is_stale(line) || self.stderr.contains("cannot lock ref") {
            return Some(PushRefused::Behind);
        }
        Some(PushRefused::Denied(self.told(line.rsplit('\t').next().unwrap_or(line))))
    }

    /// The answer for one reference.
    pub fn answer(&self, name: &str) -> RefAnswer {
        let is_it = |line: &&str| {
            let mut parts = line.split('\t');
            parts.next().is_some_and(|flag| flag.len() == 1)
                && parts.next().and_then(|names| names.rsplit(':').next()).is_some_and(|there| there == name)
        };
        let Some(line) = self.stdout.lines().find(is_it) else { return RefAnswer::NotTold };
        match line.as_bytes().first() {
            Some(b'=') => RefAnswer::Same,
            Some(b'!') if line.contains("atomic push failed") || line.contains("atomic transaction failed") => {
                RefAnswer::Dropped
            }
            Some(b'!') if is_stale(line) => RefAnswer::Stale,
            Some(b'!') => RefAnswer::Denied(self.told(line.rsplit('\t').next().unwrap_or(line))),
            _ => RefAnswer::Done,
        }
    }

    /// The reason, followed by the output of a hook on either side.
    fn told(&self, reason: &str) -> String {
        let noise = |line: &&str| !["error:", "fatal:", "To ", "hint:"].iter().any(|start| line.starts_with(start));
        let lines = self.stderr.lines().map(|line| line.trim_start_matches("remote:").trim());
        let words: Vec<&str> = lines.filter(|line| !line.is_empty()).filter(noise).take(5).collect();
        if words.is_empty() { reason.to_owned() } else { format!("{reason}: {}", words.join("; ")) }
    }

    /// The line with the reason, without git's own prefix.
    pub fn reason(&self) -> String {
        let lines = || self.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
        let telling = lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
        // The reason is in the output of ssh.
        let helpless = telling.is_none_or(|line| line.contains("Could not read from remote"));
        let of_git = |line: &&str| {
            line.starts_with("fatal:") || line.starts_with("Please make sure") || line.starts_with("and the repository")
        };
        let line = match helpless {
            true => lines().rfind(|line| !of_git(line)).or(telling),
            false => telling,
        };
        let line = line.unwrap_or("a hook refused, and gave no reason");
        line.trim_start_matches("fatal:").trim_start_matches("error:").trim().to_owned()
    }
}

/// Whether a line of git's answer says that a reference was not as expected.
fn is_stale(line: &str) -> bool {
    let words = ["[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "atomic transaction"];
    words.iter().any(|word| line.contains(word))
}

/// The signing program's own message, without the rest of the error.
pub(super) fn said_by_signer(error: &str) -> String {
    let words = error.split_once("stderr=\"").map(|(_, rest)| rest.trim_end_matches('"'));
    words.map_or_else(|| error.to_owned(), |words| words.replace("\\n", "; ").trim_end_matches("; ").to_owned())
}

/// A failed commit or push, found in the output of an agent's git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedVerb {
    Commit,
    Push,
}

/// The first line of an output that reports a failed commit or push, if one of them was run.
pub fn failure_in(output: &str, commits: bool, pushes: bool) -> Option<(FailedVerb, &str)> {
    let line = output.lines().find(|line| says_failed(&line.to_lowercase(), commits, pushes))?;
    let lower = line.to_lowercase();
    let of_commit = lower.contains("commit") && !lower.contains("push");
    Some((if pushes && !of_commit { FailedVerb::Push } else { FailedVerb::Commit }, line))
}

fn says_failed(line: &str, commits: bool, pushes: bool) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let any =
        has(&["fatal:", "hook declined", "error: failed"]) || (line.contains("hook") && has(&["failed", "rejected"]));
    let commit = commits
        && has(&[
            "no changes added to commit",
            "nothing added to commit",
            "aborting commit",
            "unable to create",
            "committing is not possible",
        ]);
    let push = pushes && has(&["[rejected]", "[remote rejected]", "failed to push", "non-fast-forward"]);
    any || commit || push
}

//! The `git` program, for tasks that gix cannot do, such as running hooks. `network.rs` talks to remotes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::repository::{GitError, Repository, other};
use super::said::GitSaid;

use crate::os::{self, files};

/// Variables that git sets for its hooks. Another git process would use the wrong repository because of them.
const HOOK_ENVIRONMENT: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/// Marks ralph's own git processes, to distinguish them from those of an agent.
const OWN: &str = "RALPH_GIT";

impl Repository {
    /// git in the main worktree, for commands without network access.
    pub(super) fn program(&self) -> Command {
        let mut git = plain_git(&self.root);
        git.arg("--git-dir").arg(&self.common).arg("--work-tree").arg(&self.root);
        quiet(&mut git);
        git
    }

    /// Those of these hooks that exist.
    pub fn hooks(&self, names: &[&str]) -> Vec<String> {
        let folder = self.hooks_dir();
        names.iter().filter(|name| files::is_hook(&folder.join(name))).map(|name| (*name).to_owned()).collect()
    }

    /// The folder in which git looks for hooks.
    pub fn hooks_dir(&self) -> PathBuf {
        let configured = self.inner.config_snapshot().string("core.hooksPath").map(|path| path.to_string());
        configured.map_or_else(|| self.common.join("hooks"), |path| self.root.join(home_of(&path)))
    }

    /// The ignored paths of a worktree; a folder that is ignored as a whole ends with a slash.
    pub fn ignored_in(&self, worktree: &Path) -> Result<Vec<String>, GitError> {
        untracked(worktree, "--exclude-standard")
    }

    /// The untracked paths of the main worktree that match the patterns in a file, in the same form.
    pub fn matching(&self, patterns: &Path) -> Result<Vec<String>, GitError> {
        untracked(&self.root, &format!("--exclude-from={}", patterns.display()))
    }

    /// Whether git ignores a path of the main worktree.
    pub fn is_ignored(&self, path: &str) -> bool {
        let mut git = plain_git(&self.root);
        git.args(["check-ignore", "-q", "--", path]).stdout(Stdio::null()).stderr(Stdio::null());
        git.status().is_ok_and(|status| status.success())
    }

    /// Runs a hook in a worktree if it exists; its output is discarded.
    pub fn run_hook(&self, worktree: &Path, name: &str, arguments: &[&str]) {
        let mut git = plain_git(worktree);
        git.args(["hook", "run", "--ignore-missing", name, "--"]).args(arguments);
        let _ = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Makes git print English and never prompt.
pub(super) fn quiet(git: &mut Command) {
    git.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").env(OWN, "1");
}

/// Untracked paths that patterns match.
fn untracked(worktree: &Path, patterns: &str) -> Result<Vec<String>, GitError> {
    let mut git = plain_git(worktree);
    git.args(["ls-files", "-z", "--others", "--ignored", "--directory", patterns]);
    let output = git.output().map_err(|e| other("look for ignored files", &e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(other("look for ignored files", &std::io::Error::other(said)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// git in a folder, without the variables that a hook may have set.
pub(super) fn plain_git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for name in HOOK_ENVIRONMENT {
        git.env_remove(name);
    }
    git.current_dir(folder);
    git
}

fn home_of(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), os::terminal::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Runs a command to its end, with `input` on its standard input.
pub(super) fn run(git: &mut Command, input: &[u8]) -> Result<GitSaid, GitError> {
    let doing = "run git";
    git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = git.spawn().map_err(|e| other(doing, &e))?;
    let mut stdin = child.stdin.take();
    let input = input.to_vec();
    // In a thread, because git may fill its output before it has read all of its input.
    let writer = std::thread::spawn(move || stdin.take().map(|mut stdin| stdin.write_all(&input)));
    let output = child.wait_with_output().map_err(|e| other(doing, &e))?;
    let _ = writer.join();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(GitSaid { stdout: text(&output.stdout), stderr: text(&output.stderr), ok: output.status.success() })
}

//! The agent programs that ralph knows: how each is started for one run, what it is allowed to do, and what it reports.
//!
//! ```text
//! claude.rs codex.rs gemini.rs opencode.rs   one program each: its command line, permissions and output format
//! event.rs     the events of a run, in one format for all programs
//! trouble.rs   why an agent could not work at all: not logged in, out of credit, at its limit, offline
//! ```
//!
//! Every flag used here was tried with the program itself; `tests/hosts` runs them.

mod claude;
mod codex;
mod event;
mod gemini;
mod opencode;
mod trouble;

use std::path::{Path, PathBuf};

pub use event::{AgentEvent, Report, Usage};
pub use trouble::{LONGEST_LIMIT, Trouble, denied_paths, trouble_in};

/// A program that a profile starts.
pub struct Host {
    /// The name of the profile, and of the program on the PATH.
    pub name: &'static str,
    pub title: &'static str,
    /// The npm package that contains it.
    pub package: &'static str,
    /// Environment variables that it sets for its agent's shells and programs; any of them shows that the host runs.
    pub variables: &'static [&'static str],
    /// Arguments that print the help of the subcommand that is used, and the flags that this help must name.
    pub help: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub invoke: fn(&Grant<'_>) -> Invocation,
    /// Reads one line of its output.
    pub read: fn(&serde_json::Value) -> Vec<AgentEvent>,
    /// The paths of its own state, from the home directory.
    pub state: &'static [&'static str],
}

pub static HOSTS: [&Host; 4] = [&claude::HOST, &codex::HOST, &gemini::HOST, &opencode::HOST];

/// The agent host inside which this process runs, if any, and the environment variable that shows it.
pub fn running_in() -> Option<(&'static Host, &'static str)> {
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    HOSTS.into_iter().find_map(|host| host.variables.iter().find(is_set).map(|name| (host, *name)))
}

impl Host {
    pub fn find(name: &str) -> Option<&'static Self> {
        HOSTS.into_iter().find(|host| host.name == name)
    }

    /// The events of one line of output. A line that is not JSON is the program's own text.
    pub fn events(&self, line: &str) -> Vec<AgentEvent> {
        match serde_json::from_str(line) {
            Ok(value @ serde_json::Value::Object(_)) => (self.read)(&value),
            _ if line.trim().is_empty() => Vec::new(),
            _ => vec![AgentEvent::Text { text: line.to_owned() }],
        }
    }
}

/// What one run may do, and where. The prompt is always on standard input.
pub struct Grant<'a> {
    /// The working directory: the task's worktree, or the main one.
    pub dir: &'a Path,
    /// git's directories: the repository's own, and that of the worktree.
    pub git_dirs: &'a [PathBuf],
    /// Folders outside `dir` that it may write to.
    pub writes: &'a [PathBuf],
    /// It changes the code in `dir`; otherwise it only writes documents.
    pub code: bool,
    /// Landlock limits its writes to these places, whatever its shell runs.
    pub confined: bool,
    /// The path of the policy file, for programs that read one.
    pub policy: &'a Path,
    pub model: Option<&'a str>,
    /// The session to continue.
    pub resume: Option<&'a str>,
    /// The user's own arguments.
    pub args: &'a [String],
}

/// A command line with its environment and policy.
#[derive(Debug, Default)]
pub struct Invocation {
    pub words: Vec<String>,
    pub env: Vec<(&'static str, String)>,
    /// The text of the file at `Grant::policy`, if the program reads one.
    pub policy: Option<String>,
}

impl Invocation {
    fn new(words: &[&str]) -> Self {
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), ..Self::default() }
    }

    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
    }
}

/// Programs that only read: all that a shell may run if nothing else keeps it from writing. Of `git`, some subcommands only.
const LOOKING: [&str; 22] = [
    "ralph",
    "git log",
    "git show",
    "git diff",
    "git status",
    "git blame",
    "git grep",
    "git ls-files",
    "git branch --show-current",
    "git rev-parse",
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "rg",
    "pwd",
    "echo",
    "stat",
    "file",
    "diff",
];

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A grant to implement in `/w`, with the documents of the run in `/r/docs`.
    pub fn grant<'a>(code: bool, confined: bool, writes: &'a [PathBuf]) -> Grant<'a> {
        Grant {
            dir: Path::new("/w"),
            git_dirs: &[],
            writes,
            code,
            confined,
            policy: Path::new("/r/policy.toml"),
            model: Some("small"),
            resume: None,
            args: &[],
        }
    }

    #[test]
    fn every_profile_can_be_found_and_passes_what_the_user_set() {
        for host in HOSTS {
            assert_eq!(Host::find(host.name).map(|found| found.name), Some(host.name));
            let args = ["--extra".to_owned()];
            let writes = [PathBuf::from("/r/docs")];
            let started = (host.invoke)(&Grant { args: &args, ..grant(true, false, &writes) });
            assert_eq!(started.words[0], host.name);
            assert!(started.words.contains(&"--extra".into()), "{:?}", started.words);
            let all = format!("{:?} {:?} {:?}", started.words, started.env, started.policy);
            assert!(all.contains("small") && all.contains("/r/docs"), "{all}");
            for flag in started.words.iter().filter(|word| word.starts_with("--") && *word != "--extra") {
                assert!(
                    host.flags.contains(&flag.as_str()),
                    "{}: {flag} is used and not looked for in its help",
                    host.name
                );
            }
        }
    }

    #[test]
    fn no_profile_bypasses_permissions_unless_the_kernel_confines_it() {
        let writes = [PathBuf::from("/r/docs")];
        for host in HOSTS {
            for code in [true, false] {
                let words = (host.invoke)(&grant(code, false, &writes)).words.join(" ");
                for bypass in ["dangerously", "danger-full-access", "yolo", "bypassPermissions", "--auto"] {
                    assert!(!words.contains(bypass), "{words}");
                }
            }
        }
    }

    #[test]
    fn lines_that_are_not_json_are_kept_as_text() {
        for host in HOSTS {
            assert_eq!(host.events("warning: old"), [AgentEvent::Text { text: "warning: old".into() }]);
            assert_eq!(host.events("  "), []);
            assert_eq!(host.events("{\"type\":\"something new\"}"), []);
        }
    }
}

//! Programs that run another program, and prefixes of a command.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::into;

/// A command without prefixes and without programs that only run it.
pub(super) struct Bare {
    pub words: VecDeque<String>,
    pub dir: Option<PathBuf>,
    /// Command lines that were arguments of a runner.
    pub scripts: Vec<String>,
    /// The commands that follow use another repository than that of their folder.
    pub moves_repository: bool,
}

const GRAMMAR: &[&str] =
    &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done", "esac", "function", "coproc"];

struct Runner {
    name: &'static str,
    /// Options that take a value.
    valued: &'static [&'static str],
    /// Options whose value is a folder to run in.
    chdir: &'static [&'static str],
    /// Options whose value is a command line.
    script: &'static [&'static str],
    /// The number of arguments before the command.
    before: usize,
}

const fn runner(name: &'static str, valued: &'static [&'static str], before: usize) -> Runner {
    Runner { name, valued, chdir: &[], script: &[], before }
}

const RUNNERS: &[Runner] = &[
    runner("command", &[], 0),
    runner("builtin", &[], 0),
    runner("exec", &["-a"], 0),
    runner("nohup", &[], 0),
    Runner { chdir: &["-C", "--chdir"], script: &["-S", "--split-string"], ..runner("env", &["-u", "--unset"], 0) },
    Runner { chdir: &["-D", "--chdir"], ..runner("sudo", &["-u", "-g", "-h", "-p", "-C", "-R", "-T", "-U"], 0) },
    runner("doas", &["-u", "-C"], 0),
    Runner { script: &["-c", "--command"], ..runner("su", &["-g", "-G", "-s", "-w"], 1) },
    Runner { script: &["-c", "--command"], ..runner("runuser", &["-u", "-g", "-G", "-s"], 0) },
    Runner { script: &["-c", "--command"], ..runner("script", &["-I", "-O", "-B", "-T", "-E", "-o"], 1) },
    Runner { script: &["-c", "--command"], ..runner("flock", &["-w", "--timeout", "-E"], 1) },
    runner("nice", &["-n"], 0),
    runner("ionice", &["-c", "-n", "-p"], 0),
    runner("chrt", &["-T", "-P", "-D"], 1),
    runner("taskset", &[], 1),
    runner("time", &["-f", "-o", "--format", "--output"], 0),
    runner("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    runner("xargs", &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"], 0),
    runner("parallel", &["-j", "-a", "-I", "-n", "-N"], 0),
    runner("stdbuf", &["-i", "-o", "-e"], 0),
    runner("setsid", &[], 0),
    runner("unshare", &[], 0),
    runner("nsenter", &["-t"], 0),
    runner("chroot", &[], 1),
    runner("setpriv", &[], 0),
    runner("prlimit", &[], 0),
    runner("strace", &["-e", "-o", "-p", "-s", "-u"], 0),
    runner("ltrace", &["-e", "-o", "-p", "-s", "-u"], 0),
    runner("unbuffer", &[], 0),
    runner("chronic", &[], 0),
    runner("caffeinate", &["-t", "-w"], 0),
    runner("busybox", &[], 0),
    runner("watch", &["-n", "--interval"], 0),
    runner("systemd-run", &["-p", "-u", "-M"], 0),
];

/// Removes shell keywords, assignments, and programs that only run another one.
pub(super) fn bare(words: VecDeque<String>, dir: Option<&Path>) -> Bare {
    let mut bare = Bare { words, dir: dir.map(Path::to_owned), scripts: Vec::new(), moves_repository: false };
    let mut declares = true;
    loop {
        let Some(first) = bare.words.front().cloned() else {
            // Assignments without a command apply to all commands that follow.
            bare.moves_repository = declares && bare.dir.is_none() && dir.is_some();
            return bare;
        };
        let name = first.rsplit('/').next().unwrap_or(&first);
        if let Some((variable, value)) = assignment(&first) {
            match variable {
                "GIT_DIR" | "GIT_COMMON_DIR" => bare.dir = None,
                "GIT_WORK_TREE" => bare.dir = into(bare.dir.as_deref(), value),
                _ => {}
            }
            bare.words.pop_front();
        } else if GRAMMAR.contains(&first.as_str()) || ["export", "declare", "typeset"].contains(&name) {
            bare.words.pop_front();
        } else if let Some(runner) = RUNNERS.iter().find(|runner| runner.name == name) {
            declares = false;
            bare.words.pop_front();
            bare.skip_options(runner);
            if ["xargs", "parallel"].contains(&name) && !bare.words.is_empty() {
                // The program gets more arguments, which are unknown.
                bare.words.push_back("$_".into());
            }
            if name == "watch" && bare.words.len() == 1 {
                bare.scripts.extend(bare.words.drain(..));
            }
        } else {
            return bare;
        }
    }
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then_some((name, value))
}

impl Bare {
    /// Skips the options of a runner, with their values, and its arguments before the command.
    fn skip_options(&mut self, runner: &Runner) {
        self.options(runner);
        for _ in 0..runner.before {
            self.words.pop_front();
            self.options(runner);
        }
    }

    fn options(&mut self, runner: &Runner) {
        while let Some(option) = self.words.front().filter(|word| word.len() > 1 && word.starts_with('-')).cloned() {
            self.words.pop_front();
            if option == "--" {
                return;
            }
            let (name, joined) = match option.split_once('=').filter(|_| option.starts_with("--")) {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => joined_short(runner, &option),
            };
            let name = name.as_str();
            let takes = |list: &[&str]| list.contains(&name);
            if takes(runner.chdir) {
                let to = joined.or_else(|| self.words.pop_front()).unwrap_or_default();
                self.dir = into(self.dir.as_deref(), &to);
            } else if takes(runner.script) {
                self.scripts.extend(joined.or_else(|| self.words.pop_front()));
            } else if takes(runner.valued) && joined.is_none() {
                self.words.pop_front();
            }
        }
    }
}

/// Parses `-Cfolder`, a short option with its value in the same word, and `-qc`, several of which the last takes a value.
fn joined_short(runner: &Runner, option: &str) -> (String, Option<String>) {
    let special = || runner.chdir.iter().chain(runner.script).filter(|name| name.len() == 2);
    if let Some(name) = special().find(|name| option.len() > 2 && option.starts_with(**name)) {
        return ((*name).to_owned(), Some(option[2..].to_owned()));
    }
    let last = special().find(|name| !option.starts_with("--") && option.ends_with(&name[1..]));
    (last.map_or_else(|| option.to_owned(), |name| (*name).to_owned()), None)
}

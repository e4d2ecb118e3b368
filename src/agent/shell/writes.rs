//! The files that a call writes, judged by its arguments.

use std::path::{Path, PathBuf};

use super::{Call, into};

/// The name of the program in the call that represents a redirection.
const INTO: &str = ">";

impl Call {
    pub(super) fn write(dir: Option<&Path>, target: &str) -> Self {
        Self { dir: dir.map(Path::to_owned), words: vec![INTO.into(), target.into()] }
    }

    /// The paths that it writes, moves or removes; paths that depend on values that only the shell knows are left out.
    pub fn writes(&self) -> Vec<PathBuf> {
        let args = || self.words[1..].iter().filter(|word| !word.starts_with('-'));
        let has = |letter: char, long: &str| {
            self.words[1..].iter().any(|word| {
                (word.starts_with('-') && !word.starts_with("--") && word.contains(letter)) || word.starts_with(long)
            })
        };
        let found: Vec<&String> = match self.program() {
            INTO | "tee" | "touch" | "truncate" | "rm" | "rmdir" | "unlink" | "shred" | "mkdir" | "mv" => {
                args().collect()
            }
            "cp" | "install" | "ln" | "rsync" => args().next_back().into_iter().collect(),
            "chmod" | "chown" => args().skip(1).collect(),
            "sed" | "perl" | "ruby" if has('i', "--in-place") => self.edited(),
            "dd" => return args().filter_map(|word| self.at(word.strip_prefix("of=")?)).collect(),
            _ => Vec::new(),
        };
        found.into_iter().filter_map(|word| self.at(word)).collect()
    }

    /// The files that `sed -i` or a similar program edits: the first argument is its script unless an option contains the script.
    fn edited(&self) -> Vec<&String> {
        let (mut files, mut scripted, mut words) = (Vec::new(), false, self.words[1..].iter());
        while let Some(word) = words.next() {
            let valued = word.starts_with('-') && !word.starts_with("--") && word.ends_with(['e', 'f']);
            if valued {
                words.next();
            }
            scripted |= valued || word.starts_with("--expression") || word.starts_with("--file");
            if !word.starts_with('-') {
                files.push(word);
            }
        }
        if !scripted && !files.is_empty() {
            files.remove(0);
        }
        files
    }

    fn at(&self, path: &str) -> Option<PathBuf> {
        into(self.dir.as_deref(), path)
    }
}

//! Parses a call of git: its global options, its command and its arguments.

use std::path::PathBuf;

use super::{Call, into};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    pub dir: Option<PathBuf>,
    pub verb: String,
    pub args: Vec<String>,
}

impl Call {
    pub fn git(&self) -> Option<GitCall> {
        if self.program() != "git" {
            return None;
        }
        let mut dir = self.dir.clone();
        let mut words = self.words[1..].iter();
        while let Some(word) = words.next() {
            let (name, joined) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value.to_owned())));
            let mut value = || joined.clone().or_else(|| words.next().cloned()).unwrap_or_default();
            match name {
                "-C" => dir = into(dir.as_deref(), words.next().map_or("", String::as_str)),
                // The option may name another repository than the folder's; only git can tell which.
                "--git-dir" => _ = (value(), dir = None),
                "--work-tree" => dir = into(self.dir.as_deref(), &value()),
                "-c" => {
                    // Hooks also protect branches, so another path of hooks is treated like another repository.
                    let setting = words.next().map(|setting| setting.to_lowercase()).unwrap_or_default();
                    if setting.starts_with("core.hookspath") || setting.starts_with("alias.") {
                        dir = None;
                    }
                }
                "--config-env" => _ = (value(), dir = None),
                "--namespace" | "--exec-path" | "--super-prefix" if joined.is_none() => _ = words.next(),
                _ if word.starts_with('-') => {}
                _ => return Some(GitCall { dir, verb: word.clone(), args: words.cloned().collect() }),
            }
        }
        None
    }
}

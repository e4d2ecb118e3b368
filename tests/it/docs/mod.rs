//! The book and the other pages: their commands run, their links work, and their references are current.

// The pages are run only on Linux.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod agents;
mod commands;
mod links;
mod markdown;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod pages;
mod reference;
mod versions;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    std::fs::read_to_string(checkout().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Whether to update pages instead of comparing them.
fn blesses() -> bool {
    std::env::var_os("RALPH_BLESS").is_some()
}

/// Every page for people and agents, with its path in the repository.
fn all_pages() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![checkout().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "md") {
                found.push(shown(&path));
            }
        }
    }
    let others =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "llms.txt", "examples/README.md", "packaging/README.md"];
    found.extend(others.map(str::to_owned));
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(checkout()).unwrap().components().collect();
    path.to_str().unwrap().replace('\\', "/")
}

//! The arrows of `src/lib.rs`: who may import whom.

use std::path::Path;

/// Each module and what it may name with `crate::`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("task", &[]),
    ("fs", &[]),
    ("config", &["task"]),
    ("workflow", &["task"]),
    ("board", &["task", "workflow"]),
    ("store", &["task", "workflow", "board", "fs"]),
    ("git", &["fs"]),
    ("github", &["task", "workflow", "fs"]),
    ("agent", &["task", "workflow", "board", "config", "fs"]),
    ("watch", &[]),
    ("app", &["task", "workflow", "board", "store", "git", "github", "agent", "watch", "config", "fs"]),
    ("mcp", &["app", "task", "workflow", "board"]),
    ("tui", &["app", "task", "workflow", "board", "config"]),
    ("web", &["app", "task", "workflow", "board"]),
    // It starts the other faces.
    ("cli", &["mcp", "tui", "web", "app", "task", "workflow", "board", "config", "fs"]),
];

fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "rs") {
                let name = entry.path().strip_prefix(&src).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    found
}

fn module(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The code without its tests and comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn nobody_imports_against_the_arrows() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module(&file)) else {
            assert!(["lib", "main"].contains(&module(&file)), "{file} is in no module of the map");
            continue;
        };
        for line in code(&text) {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name != module(&file) && !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{file}: {}", line.trim()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_pure_modules_touch_neither_disk_nor_clock_nor_environment() {
    let banned =
        ["std::fs", "std::env", "std::process", "std::io", "Timestamp::now", "Instant::now", "SystemTime", "Rng::new"];
    for (file, text) in sources().iter().filter(|(file, _)| ["task", "workflow", "board"].contains(&module(file))) {
        for line in code(text) {
            assert!(!banned.iter().any(|word| line.contains(word)), "{file}: {line}");
        }
    }
}

#[test]
fn only_the_store_writes_and_only_app_commits() {
    for (file, text) in sources() {
        for line in code(&text) {
            assert!(!line.contains("std::fs::write(") || module(&file) == "fs", "{file}: {line}");
            assert!(!line.contains("store.commit(") || module(&file) == "app", "{file}: {line}");
            assert!(!line.contains("println!"), "{file}: {line}");
        }
    }
}

#[test]
fn every_file_says_what_it_owns() {
    for (file, text) in sources() {
        assert!(text.starts_with("//!"), "{file} starts without a `//!` line");
    }
}

//! Which modules may import which, as `src/lib.rs` shows them, and that no program logic parses messages.

use std::path::Path;

/// Each module and the modules that it may name with `crate::`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("task", &[]),
    ("os", &[]),
    ("fs", &["os"]),
    ("config", &["task"]),
    ("workflow", &["task"]),
    ("board", &["task", "workflow"]),
    ("store", &["task", "workflow", "board", "fs", "os"]),
    ("git", &["fs", "os"]),
    ("github", &["task", "workflow", "fs"]),
    ("agent", &["task", "workflow", "board", "config", "fs"]),
    ("watch", &["os"]),
    ("app", &["task", "workflow", "board", "store", "git", "github", "agent", "watch", "config", "fs", "os"]),
    ("mcp", &["app", "task", "os"]),
    ("tui", &["app", "task", "os"]),
    ("web", &["app", "task", "os"]),
    // Starts the other interfaces, and reads files named on the command line.
    ("cli", &["mcp", "tui", "web", "app", "task", "fs", "os"]),
];

/// The modules of `app/`, lowest first: each may use those before it.
const ROOMS: &[&str] = &[
    "failure",
    "workspace",
    "view",
    "repo",
    "records",
    "edit",
    "work",
    "read",
    "sync",
    "deliver",
    "watch",
    "agents",
    "admin",
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
                // This file contains only tests.
                if name == "fuzz.rs" {
                    continue;
                }
                found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    found
}

fn module(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The code without tests and comments.
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

/// The module of each name that `app/mod.rs` exports.
fn exported(mod_file: &str) -> std::collections::BTreeMap<String, String> {
    let mut found = std::collections::BTreeMap::new();
    for statement in mod_file.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let Some(room) = statement.split("::").next().filter(|room| ROOMS.contains(room)) else { continue };
        let names = statement.rsplit("::").next().unwrap_or_default();
        for name in names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()) {
            found.insert(name.to_owned(), room.to_owned());
        }
    }
    found
}

/// The first segment of every path after `crate::app::`, also inside braces.
fn app_names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for used in text.split("crate::app::").skip(1) {
        let Some(list) = used.strip_prefix('{') else {
            found.push(used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            continue;
        };
        let (mut depth, mut flat) = (1, String::new());
        for c in list.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                c if depth == 1 => flat.push(c),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let first = |part: &str| part.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        found.extend(flat.split(',').map(first).filter(|name: &String| !name.is_empty()));
    }
    found
}

#[test]
fn rooms_of_app_use_only_the_rooms_below_them() {
    let all = sources();
    let exports = exported(&all.iter().find(|(file, _)| file == "app/mod.rs").unwrap().1);
    let rank = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    for (file, text) in all.iter().filter(|(file, _)| file.starts_with("app/") && file != "app/mod.rs") {
        let room = file.split('/').nth(1).unwrap();
        let own = rank(room).unwrap_or_else(|| panic!("{file} is in no room of the list"));
        let code: String = code(text).collect::<Vec<_>>().join("\n");
        for name in app_names(&code) {
            if name == "self" {
                continue;
            }
            let used = rank(&name).or_else(|| exports.get(&name).and_then(|room| rank(room)));
            let used = used.unwrap_or_else(|| panic!("{file}: crate::app::{name} is in no room"));
            if used > own {
                wrong.push(format!("{file} uses {name} of {}", ROOMS[used]));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn names_behind_app_are_found_in_any_spelling() {
    let names = app_names("use crate::app::{self, work::moves::{A, b}, Failure};\ncrate::app::read::x()");
    assert_eq!(names, ["self", "work", "Failure", "read"]);
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

/// Every text after `opening`, up to its closing parenthesis or brace.
fn given_to<'a>(text: &'a str, opening: &str) -> Vec<&'a str> {
    let starts = text.match_indices(opening).map(|(at, _)| at + opening.len());
    starts
        .map(|start| {
            let mut depth = 1;
            let end = text[start..].char_indices().find(|(_, c)| {
                depth += match c {
                    '(' | '{' => 1,
                    ')' | '}' => -1,
                    _ => 0,
                };
                depth == 0
            });
            &text[start..end.map_or(text.len(), |(at, _)| start + at)]
        })
        .collect()
}

#[test]
fn a_step_in_plain_words_names_no_command_and_no_option() {
    for (file, text) in sources() {
        let code: String = code(&text).map(|line| format!("{line}\n")).collect();
        for opening in ["Hint::step(", "Hint::Do {", "Self::Do {"] {
            for given in given_to(&code, opening) {
                assert!(!given.contains('`') && !given.contains("--"), "{file}: {opening}{given}");
            }
        }
    }
}

/// Names of messages for people, and functions that search in a text.
const PROSE: [&str; 6] = ["message", "hint", "stderr", "said", "advice", "to_string()"];
const SEARCHES: [&str; 11] = [
    "contains(",
    "starts_with(",
    "ends_with(",
    "split(",
    "split_once(",
    "rsplit_once(",
    "strip_prefix(",
    "strip_suffix(",
    "trim_start_matches(",
    "find(",
    "matches(",
];
/// The files that parse the messages of git, GitHub and agents where there are no types.
const READERS: [&str; 3] = ["git/said.rs", "github/error.rs", "agent/host/trouble.rs"];

fn searches_prose(line: &str) -> bool {
    let mut searched = PROSE.iter().flat_map(|name| SEARCHES.iter().map(move |how| format!("{name}.{how}")));
    searched.any(|pattern| line.contains(&pattern))
}

#[test]
fn no_program_logic_looks_into_a_message() {
    let known = "if error.to_string().contains(\"certificate\") {";
    assert!(searches_prose(known) && searches_prose("said.stderr.contains(\"File exists\")"));
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if READERS.contains(&file.as_str()) || file.ends_with("tests.rs") {
            continue;
        }
        wrong.extend(code(&text).filter(|line| searches_prose(line)).map(|line| format!("{file}: {}", line.trim())));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_code_is_matched_as_a_value() {
    for (file, text) in sources() {
        for line in code(&text) {
            let compared = ["code == \"", "code != \"", "code.as_str()"];
            let own = file == "app/failure/code.rs" || module(&file) == "github";
            assert!(own || !compared.iter().any(|words| line.contains(words)), "{file}: {line}");
        }
    }
}

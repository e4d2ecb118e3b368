//! `setup`: adds ralph to the files of an agent host, and removes it again.
//!
//! ```text
//! json.rs    hooks and servers in a JSON file
//! block.rs   a marked section in any other file
//! ```

mod block;
mod json;

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::agent::claude::{self, Dialect};
use crate::app::{Failure, Workspace};
use crate::fs;
use block::{COMMENTS, HASHES, Marks, block};
use json::{SetupEdit, merged};

/// The instructions for all other agents.
pub const GENERIC: &str = include_str!("../../../agent/generic.md");

#[derive(Debug, Serialize)]
pub struct SetUp {
    pub host: &'static str,
    pub files: Vec<SetUpFile>,
    /// Nothing was written.
    pub dry_run: bool,
}

#[derive(Debug, Serialize)]
pub struct SetUpFile {
    pub path: String,
    pub done: Done,
    pub why: Option<String>,
    /// Whether nothing of the file is left.
    #[serde(skip)]
    pub emptied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    Created,
    Updated,
    Unchanged,
    /// It belongs to the user or was edited, so it is left alone.
    Kept,
    Removed,
}

/// The planned change of a file.
struct PlannedFile {
    path: String,
    done: Done,
    why: Option<String>,
    /// The new text; `None` if the file is removed.
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpHow {
    Write,
    Remove,
}

/// A host that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpHost {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl SetUpHost {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    fn parts(self) -> Vec<SetupPart> {
        let server = |key, entry| SetupEdit::Server { key, entry };
        match self {
            Self::Claude => {
                let own = claude::files().into_iter().map(|(path, text)| SetupPart::Own { path, text });
                let hooks = SetupPart::Json { path: claude::SETTINGS, edits: vec![SetupEdit::Hooks(Dialect::Claude)] };
                let servers = server("mcpServers", claude::server());
                let servers = SetupPart::Json { path: claude::SERVERS, edits: vec![servers] };
                [hooks, servers].into_iter().chain(own).collect()
            }
            Self::Codex => vec![
                SetupPart::Json { path: ".codex/hooks.json", edits: vec![SetupEdit::Hooks(Dialect::Claude)] },
                SetupPart::Block {
                    path: ".codex/config.toml",
                    marks: HASHES,
                    text: CODEX_SERVER,
                    unless: "[mcp_servers.ralph]",
                },
                SetupPart::Block { path: "AGENTS.md", marks: COMMENTS, text: GENERIC, unless: "" },
            ],
            Self::Gemini => {
                // Trusted, because its tools change only this board, by the same rules as every command.
                let entry = json!({ "command": "ralph", "args": ["mcp"], "trust": true });
                let edits = vec![SetupEdit::Hooks(Dialect::Gemini), server("mcpServers", entry)];
                vec![
                    SetupPart::Json { path: ".gemini/settings.json", edits },
                    SetupPart::Block { path: "GEMINI.md", marks: COMMENTS, text: GENERIC, unless: "" },
                ]
            }
            Self::Opencode => {
                let entry = json!({ "type": "local", "command": ["ralph", "mcp"], "enabled": true });
                vec![
                    SetupPart::Json { path: "opencode.json", edits: vec![server("mcp", entry)] },
                    SetupPart::Block { path: "AGENTS.md", marks: COMMENTS, text: GENERIC, unless: "" },
                ]
            }
        }
    }
}

/// Codex passes only named variables on to a server.
const CODEX_SERVER: &str = r#"[mcp_servers.ralph]
command = "ralph"
args = ["mcp"]
env_vars = ["RALPH_BOARD", "RALPH_TASK", "RALPH_WORKER", "RALPH_ROLE", "RALPH_COMMAND", "RALPH_CLAIM", "RALPH_RUN", "RALPH_RELAY"]
"#;

/// One file that an agent host reads.
enum SetupPart {
    Json {
        path: &'static str,
        edits: Vec<SetupEdit>,
    },
    /// A section of ralph in a user's file; omitted if the file contains `unless` outside of it.
    Block {
        path: &'static str,
        marks: Marks,
        text: &'static str,
        unless: &'static str,
    },
    Own {
        path: String,
        text: String,
    },
}

/// Plans all changes before it writes any: if a file cannot be read, none is changed.
pub fn set_up(ws: &Workspace, host: SetUpHost, how: SetUpHow, dry_run: bool) -> Result<SetUp, Failure> {
    let root = ws.store.root();
    let mut plan = Vec::new();
    for part in host.parts() {
        plan.extend(match part {
            SetupPart::Json { path, edits } => merged(root, path, how, &edits)?,
            SetupPart::Block { path, marks, text, unless } => block(root, path, how, marks, text, unless)?,
            SetupPart::Own { path, text } => own(root, path, text, how)?,
        });
    }
    for planned in plan.iter().filter(|_| !dry_run) {
        carry_out(root, planned)?;
    }
    let files = plan.into_iter().map(|planned| SetUpFile {
        path: planned.path,
        done: planned.done,
        why: planned.why,
        emptied: planned.text.is_none(),
    });
    Ok(SetUp { host: host.name(), files: files.collect(), dry_run })
}

fn carry_out(root: &Path, planned: &PlannedFile) -> Result<(), Failure> {
    let path = root.join(&planned.path);
    match (&planned.text, planned.done) {
        (Some(text), Done::Created | Done::Updated | Done::Removed) => {
            fs::make_dir(path.parent().unwrap_or(root))?;
            fs::replace(&path, text.as_bytes(), true)?;
        }
        (None, Done::Removed) => {
            fs::remove(&path)?;
            let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
            folders.for_each(fs::remove_empty_dir);
        }
        _ => {}
    }
    Ok(())
}

/// A file that ralph writes as a whole; kept if the user edited it.
fn own(root: &Path, path: String, text: String, how: SetUpHow) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(&path))?;
    let planned = |done, why: Option<&str>, text| Some(PlannedFile { path, done, why: why.map(str::to_owned), text });
    Ok(match (there, how) {
        (None, SetUpHow::Write) => planned(Done::Created, None, Some(text)),
        (None, SetUpHow::Remove) => None,
        (Some(there), _) if !claude::is_untouched(&there) => planned(Done::Kept, Some("it was edited"), None),
        (Some(_), SetUpHow::Remove) => planned(Done::Removed, None, None),
        (Some(there), SetUpHow::Write) if there == text => planned(Done::Unchanged, None, None),
        (Some(_), SetUpHow::Write) => planned(Done::Updated, None, Some(text)),
    })
}

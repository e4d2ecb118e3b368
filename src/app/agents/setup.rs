//! `setup`: the files that a host of agents reads, written beside what is there, and taken away again.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::claude::{self, Dialect};
use crate::agent::json::{Step, add_member, push, read, remove, render};
use crate::app::{Failure, Workspace};
use crate::fs;
use crate::task::Problem;

/// What any other agent needs in its file of instructions.
pub const GENERIC: &str = include_str!("../../agent/generic.md");

#[derive(Debug, Serialize)]
pub struct SetUp {
    pub host: &'static str,
    pub files: Vec<SetUpFile>,
    /// Only said, not done.
    pub dry_run: bool,
}

#[derive(Debug, Serialize)]
pub struct SetUpFile {
    pub path: String,
    pub done: Done,
    pub why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    Created,
    Updated,
    Unchanged,
    /// Somebody's own, or edited by somebody: it is left alone.
    Kept,
    Removed,
}

/// What is to become of a file.
struct PlannedFile {
    path: String,
    done: Done,
    why: Option<String>,
    /// The new text; none where the file goes.
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

    fn parts(self) -> Vec<Part> {
        let server = |key, entry| Edit::Server { key, entry };
        match self {
            Self::Claude => {
                let own = claude::files().into_iter().map(|(path, text)| Part::Own { path, text });
                let hooks = Part::Json { path: claude::SETTINGS, edits: vec![Edit::Hooks(Dialect::Claude)] };
                let servers = server("mcpServers", claude::server());
                let servers = Part::Json { path: claude::SERVERS, edits: vec![servers] };
                [hooks, servers].into_iter().chain(own).collect()
            }
            Self::Codex => vec![
                Part::Json { path: ".codex/hooks.json", edits: vec![Edit::Hooks(Dialect::Claude)] },
                Part::Block {
                    path: ".codex/config.toml",
                    marks: HASHES,
                    text: CODEX_SERVER,
                    unless: "[mcp_servers.ralph]",
                },
                Part::Block { path: "AGENTS.md", marks: COMMENTS, text: GENERIC, unless: "" },
            ],
            Self::Gemini => {
                // Its tools change this board alone, by the same rules as every command.
                let entry = json!({ "command": "ralph", "args": ["mcp"], "trust": true });
                let edits = vec![Edit::Hooks(Dialect::Gemini), server("mcpServers", entry)];
                vec![
                    Part::Json { path: ".gemini/settings.json", edits },
                    Part::Block { path: "GEMINI.md", marks: COMMENTS, text: GENERIC, unless: "" },
                ]
            }
            Self::Opencode => {
                let entry = json!({ "type": "local", "command": ["ralph", "mcp"], "enabled": true });
                vec![
                    Part::Json { path: "opencode.json", edits: vec![server("mcp", entry)] },
                    Part::Block { path: "AGENTS.md", marks: COMMENTS, text: GENERIC, unless: "" },
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

/// How a block of ours begins and ends in somebody's file.
type Marks = (&'static str, &'static str);
const HASHES: Marks = ("# ralph: begin (written by `ralph setup`)", "# ralph: end");
const COMMENTS: Marks = ("<!-- ralph: begin (written by `ralph setup`) -->", "<!-- ralph: end -->");

/// One thing that a host reads.
enum Part {
    Json {
        path: &'static str,
        edits: Vec<Edit>,
    },
    /// Lines of ours in a file of somebody's; left out where the file has `unless` outside of them.
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

enum Edit {
    Hooks(Dialect),
    Server { key: &'static str, entry: Value },
}

/// Everything is decided before anything is written: a file that cannot be read leaves all of them as they are.
pub fn set_up(ws: &Workspace, host: SetUpHost, how: SetUpHow, dry_run: bool) -> Result<SetUp, Failure> {
    let root = ws.store.root();
    let mut plan = Vec::new();
    for part in host.parts() {
        plan.extend(match part {
            Part::Json { path, edits } => merged(root, path, how, &edits)?,
            Part::Block { path, marks, text, unless } => block(root, path, how, marks, text, unless)?,
            Part::Own { path, text } => own(root, path, text, how)?,
        });
    }
    for planned in plan.iter().filter(|_| !dry_run) {
        carry_out(root, planned)?;
    }
    let files = plan.into_iter().map(|planned| SetUpFile { path: planned.path, done: planned.done, why: planned.why });
    Ok(SetUp { host: host.name(), files: files.collect(), dry_run })
}

/// A block between marks, at the end of a file; everything else in the file stays as it is.
fn block(
    root: &Path,
    path: &str,
    how: SetUpHow,
    (begin, end): Marks,
    text: &str,
    unless: &str,
) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(path))?;
    let planned = |done, why: Option<&str>, text| {
        Ok(Some(PlannedFile { path: path.to_owned(), done, why: why.map(str::to_owned), text }))
    };
    let Some(there) = there else {
        return match how {
            SetUpHow::Write => planned(Done::Created, None, Some(format!("{begin}\n{text}{end}\n"))),
            SetUpHow::Remove => Ok(None),
        };
    };
    let found = there.find(begin).and_then(|at| Some((at, at + there[at..].find(end)? + end.len())));
    if there.contains(begin) && found.is_none() {
        let problem = Problem::whole(path, format!("the line {end:?} is missing"));
        return Err(problem.hint("put it back, or remove what `ralph setup` wrote").into());
    }
    let rest = found.map_or_else(
        || there.clone(),
        |(from, to)| format!("{}{}", &there[..from], there[to..].strip_prefix('\n').unwrap_or(&there[to..])),
    );
    match how {
        SetUpHow::Write if !unless.is_empty() && rest.contains(unless) => {
            planned(Done::Kept, Some("it has its own entry for ralph"), None)
        }
        SetUpHow::Write => {
            let ours = format!("{begin}\n{text}{end}\n");
            let new = match found {
                Some((from, to)) => format!("{}{}{}", &there[..from], ours.trim_end(), &there[to..]),
                None if there.is_empty() || there.ends_with("\n\n") => format!("{there}{ours}"),
                None if there.ends_with('\n') => format!("{there}\n{ours}"),
                None => format!("{there}\n\n{ours}"),
            };
            planned(if new == there { Done::Unchanged } else { Done::Updated }, None, Some(new))
        }
        SetUpHow::Remove if found.is_none() => planned(Done::Unchanged, None, None),
        SetUpHow::Remove => {
            let left =
                Some(rest.trim_end_matches('\n')).filter(|rest| !rest.is_empty()).map(|rest| format!("{rest}\n"));
            planned(Done::Removed, None, left)
        }
    }
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

/// A file that is ours alone, unless somebody has made it theirs.
fn own(root: &Path, path: String, text: String, how: SetUpHow) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(&path))?;
    let planned = |done, why: Option<&str>, text| Some(PlannedFile { path, done, why: why.map(str::to_owned), text });
    Ok(match (there, how) {
        (None, SetUpHow::Write) => planned(Done::Created, None, Some(text)),
        (None, SetUpHow::Remove) => None,
        (Some(there), _) if !claude::is_untouched(&there) => planned(Done::Kept, Some("somebody has edited it"), None),
        (Some(_), SetUpHow::Remove) => planned(Done::Removed, None, None),
        (Some(there), SetUpHow::Write) if there == text => planned(Done::Unchanged, None, None),
        (Some(_), SetUpHow::Write) => planned(Done::Updated, None, Some(text)),
    })
}

impl Edit {
    /// What becomes of somebody's file; a reason where something is left alone.
    fn apply(&self, text: &str, value: &Value, how: SetUpHow) -> Result<(String, Option<String>), String> {
        match self {
            Self::Hooks(dialect) => settings(text, value, how, *dialect),
            Self::Server { key, entry } => servers(text, value, how, key, entry),
        }
    }
}

/// A file of JSON in which others have their say, too.
fn merged(root: &Path, path: &str, how: SetUpHow, edits: &[Edit]) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(path))?;
    if there.is_none() && how == SetUpHow::Remove {
        return Ok(None);
    }
    let empty = render(&json!({}));
    let text = there.clone().filter(|text| !text.trim().is_empty()).unwrap_or(empty);
    let (mut new, mut why) = (text, None);
    for edit in edits {
        let value = read(&new).map_err(|(at, what)| {
            Problem::at(path, &new, at, what).hint("correct the file first; nothing was written")
        })?;
        let (edited, kept) = edit.apply(&new, &value, how).map_err(|what| Failure::from(Problem::whole(path, what)))?;
        (new, why) = (edited, why.or(kept));
    }
    let done = match (&there, how) {
        (Some(there), _) if *there == new && why.is_some() => Done::Kept,
        (Some(there), _) if *there == new => Done::Unchanged,
        (None, _) => Done::Created,
        (Some(_), SetUpHow::Write) => Done::Updated,
        (Some(_), SetUpHow::Remove) => Done::Removed,
    };
    let gone = how == SetUpHow::Remove && done == Done::Removed && new.split_whitespace().eq(["{}"]);
    Ok(Some(PlannedFile { path: path.to_owned(), done, why, text: (!gone).then_some(new) }))
}

const HOOKS: Step<'static> = Step::Key("hooks");

fn settings(text: &str, value: &Value, how: SetUpHow, dialect: Dialect) -> Result<(String, Option<String>), String> {
    let hooks = object(value.as_object().ok_or("it is not an object")?.get("hooks"), "hooks")?;
    for (event, groups) in hooks.iter().flat_map(|hooks| hooks.iter()) {
        if claude::hooks(dialect).iter().any(|(ours, ..)| ours == event) && !groups.is_array() {
            return Err(format!("hooks.{event} is not a list"));
        }
    }
    let new = match how {
        SetUpHow::Write => with_hooks(text, dialect),
        SetUpHow::Remove => without_hooks(text),
    };
    Ok((new, None))
}

fn object<'v>(value: Option<&'v Value>, name: &str) -> Result<Option<&'v serde_json::Map<String, Value>>, String> {
    match value {
        None => Ok(None),
        Some(value) => value.as_object().map(Some).ok_or_else(|| format!("{name} is not an object")),
    }
}

fn parsed(text: &str) -> Value {
    read(text).unwrap_or_default()
}

fn with_hooks(text: &str, dialect: Dialect) -> String {
    let mut text = text.to_owned();
    for (event, matcher, gates) in claude::hooks(dialect) {
        let value = parsed(&text);
        let there: Vec<&str> = ours(&value, event).into_iter().map(|(_, _, gate)| gate).collect();
        let missing: Vec<Value> = gates
            .iter()
            .filter(|gate| !there.contains(&gate.name))
            .map(|gate| claude::handler(gate, dialect))
            .collect();
        if missing.is_empty() {
            continue;
        }
        if value.get("hooks").is_none() {
            text = add_member(&text, &[], "hooks", &json!({}));
        }
        if value["hooks"].get(event).is_none() {
            text = add_member(&text, &[HOOKS], event, &json!([]));
        }
        let group = match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": missing }),
            None => json!({ "hooks": missing }),
        };
        text = push(&text, &[HOOKS, Step::Key(event)], &group);
    }
    text
}

/// Our hooks of an event: the place of the group, the place in it, and the gate.
fn ours<'v>(value: &'v Value, event: &str) -> Vec<(usize, usize, &'v str)> {
    let mut found = Vec::new();
    for (group, of) in value["hooks"][event].as_array().into_iter().flatten().enumerate() {
        for (at, hook) in of["hooks"].as_array().into_iter().flatten().enumerate() {
            found.extend(hook["command"].as_str().and_then(claude::gate_of).map(|gate| (group, at, gate)));
        }
    }
    found
}

/// Without our hooks, and without what held nothing else; later ones first, so that places stay true.
fn without_hooks(text: &str) -> String {
    let mut text = text.to_owned();
    let events: Vec<String> =
        parsed(&text)["hooks"].as_object().map(|hooks| hooks.keys().cloned().collect()).unwrap_or_default();
    let is_empty = |text: &str, pointer: &str| match parsed(text).pointer(pointer) {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        _ => false,
    };
    for event in events.iter().rev() {
        let name = Step::Key(event);
        for (group, at, _) in ours(&parsed(&text), event).into_iter().rev() {
            text = remove(&text, &[HOOKS, name, Step::At(group), Step::Key("hooks"), Step::At(at)]);
            if is_empty(&text, &format!("/hooks/{event}/{group}/hooks")) {
                text = remove(&text, &[HOOKS, name, Step::At(group)]);
            }
            if is_empty(&text, &format!("/hooks/{event}")) {
                text = remove(&text, &[HOOKS, name]);
            }
            if is_empty(&text, "/hooks") {
                text = remove(&text, &[HOOKS]);
            }
        }
    }
    text
}

fn servers(
    text: &str,
    value: &Value,
    how: SetUpHow,
    key: &str,
    wanted: &Value,
) -> Result<(String, Option<String>), String> {
    let all = object(value.as_object().ok_or("it is not an object")?.get(key), key)?;
    let there = all.and_then(|all| all.get(claude::SERVER));
    let kept = || Some(format!("its server {:?} is somebody's own", claude::SERVER));
    Ok(match (there, how) {
        (Some(there), _) if there != wanted => (text.to_owned(), kept()),
        (Some(_), SetUpHow::Write) | (None, SetUpHow::Remove) => (text.to_owned(), None),
        (None, SetUpHow::Write) => {
            let text = if all.is_none() { add_member(text, &[], key, &json!({})) } else { text.to_owned() };
            (add_member(&text, &[Step::Key(key)], claude::SERVER, wanted), None)
        }
        (Some(_), SetUpHow::Remove) => {
            let path = [Step::Key(key), Step::Key(claude::SERVER)];
            let alone = all.is_some_and(|all| all.len() == 1);
            (remove(text, if alone { &path[..1] } else { &path }), None)
        }
    })
}

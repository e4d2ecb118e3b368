//! The pages in `docs/reference`, generated from the program's own descriptions.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};

use super::{blesses, checkout};
use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

const MADE: &str = "<!-- Generated from the code. `RALPH_BLESS=1 tests/run docs::` regenerates it. -->\n";

/// Compares a page with its generated text, or writes it.
#[track_caller]
fn keep(name: &str, body: &str) {
    let path = checkout().join("docs/reference").join(name);
    let text = format!("{MADE}{body}");
    if blesses() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differs = there.lines().zip(text.lines()).position(|(old, new)| old != new);
    assert!(
        there == text,
        "docs/reference/{name} is out of date from line {}: run `RALPH_BLESS=1 tests/run docs::` to update it",
        differs.map_or(there.lines().count().min(text.lines().count()), |at| at + 1),
    );
}

/// Text in a table cell.
fn cell(text: &str) -> String {
    let text = text.trim().replace('\n', " ").replace('|', "\\|");
    text.split(' ')
        .map(|word| if word.contains('<') && !word.contains('`') { format!("`{word}`") } else { word.into() })
        .collect::<Vec<_>>()
        .join(" ")
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head.iter().map(|word| (*word).to_owned()).collect());
    text.push_str(&format!("|{}\n", "---|".repeat(head.len())));
    text.extend(rows.iter().map(|row| line(row.clone())));
    text
}

#[test]
fn the_reference_of_commands_is_current() {
    let mut command = ralph::cli::command();
    command.build();
    let mut text = String::from(
        "# Commands\n\nEvery command with its options. [Commands at a glance](../commands.md) groups them by what you want to do.\n",
    );
    let about = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n```text\n{}\n```\n", about.trim());
    let _ = write!(
        text,
        "\n## Options of every command\n\n{}",
        options(command.get_arguments().filter(|arg| arg.is_global_set()))
    );
    for sub in command.get_subcommands() {
        section(&mut text, sub, "ralph", 2);
    }
    keep("cli.md", &text);
}

fn section(text: &mut String, command: &Command, above: &str, level: usize) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let path = format!("{above} {}", command.get_name());
    let _ = write!(text, "\n{} {path}\n", "#".repeat(level.min(4)));
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n{}\n", sentence(&about));
    let aliases: Vec<String> = command.get_visible_aliases().map(code).collect();
    if !aliases.is_empty() {
        let _ = write!(text, "\nShort: {}.\n", aliases.join(", "));
    }
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    let own =
        || command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set() && arg.get_id() != "help");
    let told = |arg: &&Arg| arg.get_help().is_some() || !arg.get_possible_values().is_empty();
    let places =
        own().filter(|arg| arg.is_positional()).filter(told).map(|arg| vec![code(&placeholder(arg)), help(arg)]);
    let places: Vec<Vec<String>> = places.collect();
    if !places.is_empty() {
        let _ = write!(text, "\n{}", table(&["argument", "meaning"], &places));
    }
    if own().any(|arg| !arg.is_positional()) {
        let _ = write!(text, "\n{}", options(own()));
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if !after.is_empty() {
        let _ = write!(text, "\n```text\n{}\n```\n", after.trim());
    }
    for sub in command.get_subcommands() {
        section(text, sub, &path, level + 1);
    }
}

/// Help lines have no full stop, but sentences of a page do.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', ':', '!']) { text.to_owned() } else { format!("{text}.") }
}

fn placeholder(arg: &Arg) -> String {
    let names = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
    names.map_or_else(|| arg.get_id().to_string().to_uppercase(), |names| names.join(" "))
}

fn help(arg: &Arg) -> String {
    let mut text = cell(&arg.get_help().map(ToString::to_string).unwrap_or_default());
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| code(value.get_name()))
        .collect();
    if !values.is_empty() && takes_value(arg) {
        let _ = write!(text, "{}{}", if text.is_empty() { "" } else { ": " }, values.join(", "));
    }
    let defaults: Vec<String> = arg.get_default_values().iter().map(|value| code(&value.to_string_lossy())).collect();
    if !defaults.is_empty() && takes_value(arg) {
        let _ = write!(text, "; default {}", defaults.join(", "));
    }
    text
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn options<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<Vec<String>> =
        args.filter(|arg| !arg.is_positional() && !arg.is_hide_set()).map(|arg| vec![name(arg), help(arg)]).collect();
    table(&["option", "effect"], &rows)
}

fn name(arg: &Arg) -> String {
    let value = if takes_value(arg) { format!(" {}", placeholder(arg)) } else { String::new() };
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    code(&format!("{}{value}", names.join(", ")))
}

fn schema(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_str(&sandbox.ralph(&["schema", name]).ok()).unwrap()
}

/// The possible values of a setting, from its schema.
fn shape(schema: &Value) -> String {
    let words = |values: &Value| {
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values
            .as_array()
            .unwrap()
            .iter()
            .map(|value| if value == "" { "empty".to_owned() } else { code(&shown(value)) })
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(values) = schema.get("enum") {
        return words(values);
    }
    if let Some(examples) = schema.get("examples") {
        return format!("such as {}", words(examples));
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" && schema["items"]["type"] == "string" => "array of strings".into(),
        Value::String(kind) if kind == "object" => "table".into(),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) if kinds.contains(&json!("integer")) => "integer".into(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    }
}

/// Collects every setting below a table of the schema, with its key.
fn leaves(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (name, inner) in schema["properties"].as_object().unwrap() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if inner.get("properties").is_some() {
            leaves(inner, &path, found);
        } else {
            found.push((path, inner.clone()));
        }
    }
}

#[test]
fn the_reference_of_settings_is_current() {
    let sandbox = Sandbox::new();
    let mut found = Vec::new();
    leaves(&schema(&sandbox, "config"), "", &mut found);
    let mut text = String::from(SETTINGS);
    let mut group = String::new();
    let mut rows = Vec::new();
    for (key, schema) in found.iter().filter(|(key, _)| key != "on" && key != "format") {
        let first = key.split('.').next().unwrap();
        if first != group {
            flush(&mut text, &group, &mut rows);
            group = first.to_owned();
        }
        let default = schema["default"].as_str().map(code).unwrap_or_default();
        rows.push(vec![code(key), shape(schema), default, cell(schema["description"].as_str().unwrap())]);
    }
    flush(&mut text, &group, &mut rows);
    text.push_str(RULES);
    // Every key of the page is a setting that can be read.
    let shown = sandbox.ralph(&["config", "list", "--json"]).ok();
    for (key, _) in found.iter().filter(|(key, _)| !["on", "format", "github.states"].contains(&key.as_str())) {
        assert!(shown.contains(&format!("\"{key}\"")), "`config list` does not have {key}");
    }
    keep("settings.md", &text);
}

fn flush(text: &mut String, group: &str, rows: &mut Vec<Vec<String>>) {
    if !rows.is_empty() {
        let _ = write!(text, "\n## {group}\n\n{}", table(&["setting", "value", "default", "meaning"], rows));
        rows.clear();
    }
}

const SETTINGS: &str = "\
# Settings

A value comes from the last of these that has one: the default, your own file (`~/.config/ralph/config.toml`), the board's file
(`.ralph/config.toml`), an environment variable, `--config KEY=VALUE`. `ralph config list --origin` shows which one it is.
`ralph config set KEY VALUE` writes the board's file, with `--user` your own.

The variable of a setting is `RALPH_` and its key in capitals, with `_` for `.`: `RALPH_REVIEW_MODE` for `review.mode`. Programs that
a board's file names run only after `ralph trust`. `ralph schema config` prints this page as a JSON Schema.

A board's file also has `format = 1`. A ralph that does not know the number refuses to write.
";

const RULES: &str = "
## Rules

`[[on]]` tables run a program on an event; see [Rules](../hooks.md) and [Events](events.md).
";

#[test]
fn the_reference_of_the_task_file_is_current() {
    let sandbox = Sandbox::new();
    let schema = schema(&sandbox, "task");
    let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let rows: Vec<Vec<String>> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, schema)| {
            let about = cell(schema["description"].as_str().unwrap());
            let needed = if required.contains(&key.as_str()) { " (required)" } else { "" };
            let shape = if key == "state" {
                "string".to_owned()
            } else if key == "created" {
                "date-time".to_owned()
            } else {
                shape(schema)
            };
            vec![code(key), shape, about + needed]
        })
        .collect();
    // A task file with most of the keys, as ralph writes it.
    let all = ["-p", "P1", "-e", "S", "-l", "bug", "-b", "Only labels that differ in case.", "Sync drops labels"];
    let first = sandbox.add(&["Release 1.2"]);
    let id = sandbox.add(&[&all[..], &["--blocked-by", &first]].concat());
    let file = sandbox.read_task(&id);
    let text =
        format!("{TASK}\n```toml\n{file}```\n\n## Keys\n\n{}{STEPS}", table(&["key", "value", "meaning"], &rows));
    keep("task-file.md", &text);
}

const TASK: &str = "\
# Task files

A task is `.ralph/tasks/ID.toml`, and the name of the file is its id. You may create, edit and delete these files with any editor.
ralph changes only the value that a command sets: comments, the order of keys and keys that ralph does not know stay. Keys of your own
are allowed. `ralph schema task` prints a JSON Schema with the states of your board; `ralph init` installs it for editors with Taplo.

A task as ralph writes it:
";

const STEPS: &str = "
Steps of a team (`kind = \"step\"`) also have `team`, `command`, `of`, `active_form`, `round` and `result`. ralph writes them; do not
edit steps.

A file may have 1 MiB and 1000 entries per list. A key that cannot be read is reported by every command, with its line and column, and
counts as missing; see [Guarantees](../guarantees.md).
";

#[test]
fn the_reference_of_workflows_is_current() {
    let sandbox = Sandbox::new();
    let schema = schema(&sandbox, "workflow");
    let of = |keys: &Value| {
        let rows = keys.as_object().unwrap().iter().filter(|(_, key)| key["items"]["type"] != "object");
        let row = |(name, key): (&String, &Value)| {
            let value = if name == "format" { "1".to_owned() } else { shape(key) };
            vec![code(name), value, cell(key["description"].as_str().unwrap())]
        };
        table(&["key", "value", "meaning"], &rows.map(row).collect::<Vec<_>>())
    };
    let all = &schema["properties"];
    let mut page = format!("{WORKFLOW}\n{}", of(all));
    for (title, keys) in [
        ("[targets]", &all["targets"]),
        ("[[state]]", &all["state"]["items"]),
        ("[[command]]", &all["command"]["items"]),
        ("[[role]]", &all["role"]["items"]),
    ] {
        let _ = write!(page, "\n## `{title}`\n\n{}", of(&keys["properties"]));
    }
    let _ = writeln!(page, "\n`[[step]]` has the keys of `[[state]]`, for the steps of teams.");
    keep("workflow.md", &page);
}

const WORKFLOW: &str = "\
# workflow.toml

`.ralph/workflow.toml` replaces the workflow that ralph ships. `ralph workflow --of full --toml > .ralph/workflow.toml` is a start;
[Workflows](../workflows.md) explains the concepts, and `ralph schema workflow` prints this page as a JSON Schema. A table that
contradicts itself is refused with the line of the mistake.
";

#[test]
fn the_reference_of_events_is_current() {
    let sandbox = Sandbox::new();
    let schema = schema(&sandbox, "event");
    let kinds = schema["properties"]["event"]["oneOf"].as_array().unwrap();
    let text = |value: &Value| cell(value.as_str().unwrap());
    let kinds: Vec<Vec<String>> =
        kinds.iter().map(|kind| vec![code(kind["const"].as_str().unwrap()), text(&kind["description"])]).collect();
    let row = |(name, field): (&String, &Value)| {
        let value = if name == "event" { "one of the above".to_owned() } else { shape(field) };
        vec![code(name), value, text(&field["description"])]
    };
    let fields: Vec<Vec<String>> = schema["properties"].as_object().unwrap().iter().map(row).collect();
    let page = format!(
        "{EVENTS}\n{}\n## Fields\n\n{}{CHANGES}",
        table(&["event", "meaning"], &kinds),
        table(&["field", "value", "meaning"], &fields)
    );
    keep("events.md", &page);
}

const EVENTS: &str = "\
# Events

`ralph watch --json` prints one JSON object per line for each event, and a program of an [`[[on]]` rule](../hooks.md) reads one from
standard input. `ralph schema event` prints the JSON Schema.

## Kinds
";

const CHANGES: &str = "
Fields without a value are left out. A change has `task`, `old` and `new`, and either `key`, a key of the [task file](task-file.md), or
`file`, if a whole file was written or removed.
";

#[test]
fn the_reference_of_mcp_is_current() {
    let sandbox = Sandbox::new();
    let mut text = String::from(MCP);
    for (title, args) in [("Tools", &[][..]), ("Tools of the profile ralph-hero", &["--profile", "ralph-hero"])] {
        let mut client = Client::start(&sandbox, args);
        let listed = client.request("tools/list", json!({})).unwrap();
        let _ = write!(text, "\n## {title}\n");
        for tool in listed["tools"].as_array().unwrap() {
            text.push_str(&described(tool));
        }
        if args.is_empty() {
            let listed = |client: &mut Client, method: &str| client.request(method, json!({})).unwrap();
            let prompts = listed(&mut client, "prompts/list");
            let templates = listed(&mut client, "resources/templates/list");
            let resources = listed(&mut client, "resources/list");
            text = text.replace("{PROMPTS}", &names(&prompts["prompts"], "name"));
            let all = [names(&resources["resources"], "uri"), names(&templates["resourceTemplates"], "uriTemplate")];
            text = text.replace("{RESOURCES}", &all.join(", "));
        }
        client.end();
    }
    keep("mcp.md", &text);
}

fn names(listed: &Value, key: &str) -> String {
    listed.as_array().unwrap().iter().map(|one| code(one[key].as_str().unwrap())).collect::<Vec<_>>().join(", ")
}

fn described(tool: &Value) -> String {
    let name = tool["name"].as_str().unwrap();
    let reads = if tool["annotations"]["readOnlyHint"] == true { " Read-only." } else { "" };
    let mut text = format!("\n### {name}\n\n{}{reads}\n", sentence(&prose(tool["description"].as_str().unwrap())));
    let input = &tool["inputSchema"];
    let required: Vec<&str> = input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let rows: Vec<Vec<String>> = input["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, schema)| {
            let about =
                schema["description"].as_str().unwrap_or(if key == "as" { "who calls, such as builder-2" } else { "" });
            let needed = if required.contains(&key.as_str()) { " (required)" } else { "" };
            vec![code(key), argument(schema), format!("{}{needed}", prose(&cell(about))).trim().to_owned()]
        })
        .collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n{}", table(&["argument", "value", "meaning"], &rows));
    }
    let answer = tool["outputSchema"]["properties"]
        .as_object()
        .map(|fields| fields.keys().map(|key| code(key)).collect::<Vec<_>>());
    if let Some(answer) = answer.filter(|fields| !fields.is_empty()) {
        let _ = write!(text, "\nAnswers with {}.\n", answer.join(", "));
    }
    text
}

/// Quotes words that Markdown would take for a tag or for emphasis.
fn prose(text: &str) -> String {
    let plain = |word: &str| word.contains('`') || !(word.contains('<') || word.contains("__"));
    text.split(' ')
        .map(|word| if plain(word) { word.to_owned() } else { format!("`{word}`") })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The type of an argument, one level deep.
fn argument(schema: &Value) -> String {
    if let Some(options) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        let kinds: Vec<String> =
            options.iter().map(argument).filter(|kind| kind != "null" && !kind.is_empty()).collect();
        return kinds.join(" or ");
    }
    match (schema["type"].as_str(), &schema["items"]) {
        (Some("array"), items) if items.is_object() => {
            let of = argument(items);
            if of.is_empty() { "array".into() } else { format!("array of {of}") }
        }
        (Some("object"), _) if schema["properties"].is_object() => {
            let keys = schema["properties"].as_object().unwrap().keys().map(|key| code(key));
            format!("object: {}", keys.collect::<Vec<_>>().join(", "))
        }
        _ => shape(schema),
    }
}

const MCP: &str = "\
# MCP tools

The tools that `ralph mcp` offers, with their arguments. [MCP](../mcp.md) describes how to set the server up and how agents use it.

Resources: {RESOURCES}. Prompts: {PROMPTS}.

A tool that changes something also takes `as`, the name of the worker. A refusal has a `code`, a message and the next step.
";

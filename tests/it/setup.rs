//! `ralph setup`: it writes what the hosts document, and leaves everything else as it was.
//!
//! Sources, as of 2026-11: the settings' schema, <https://json.schemastore.org/claude-code-settings.json> (SchemaStore,
//! Apache-2.0, `src/schemas/json/claude-code-settings.json`, `$defs/hookCommand` and `$defs/hookMatcher`); events and
//! matchers, <https://code.claude.com/docs/en/hooks>; agents, <https://code.claude.com/docs/en/sub-agents>; skills,
//! <https://code.claude.com/docs/en/skills> and <https://agentskills.io/specification>; `.mcp.json`,
//! <https://code.claude.com/docs/en/mcp>. The schema itself is not included: its rules for the written parts are
//! repeated below.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// All files except those of git and the board.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.path().strip_prefix(root).unwrap().display().to_string();
            if entry.path().is_dir() && name != ".git" && name != ".ralph" {
                folders.push(entry.path());
            } else if entry.path().is_file() {
                found.insert(name, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

fn put(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(sandbox.root().join(path)).unwrap()).unwrap()
}

/// The reported result for each file.
fn report(sandbox: &Sandbox, more: &[&str]) -> BTreeMap<String, String> {
    let mut args = vec!["setup", "claude", "--json"];
    args.extend(more);
    let done = sandbox.ralph(&args).json();
    let row = |file: &Value| (file["path"].as_str().unwrap().to_owned(), file["done"].as_str().unwrap().to_owned());
    done["files"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_second_run_changes_no_byte_and_removal_leaves_no_trace() {
    let sandbox = Sandbox::new();
    let before = files(&sandbox.root());
    let dry = report(&sandbox, &["--dry-run"]);
    assert_eq!(files(&sandbox.root()), before, "a dry run does nothing");
    let first = report(&sandbox, &[]);
    assert_eq!(first, dry);
    assert_eq!((first.len(), first.values().all(|done| done == "created")), (14, true), "{first:?}");
    let after = files(&sandbox.root());
    assert!(after.values().all(|text| text.ends_with('\n')));
    assert!(report(&sandbox, &[]).values().all(|done| done == "unchanged"));
    assert_eq!(files(&sandbox.root()), after);
    assert!(report(&sandbox, &["--remove"]).values().all(|done| done == "removed"));
    assert_eq!(files(&sandbox.root()), before);
    assert!(!sandbox.root().join(".claude").exists());
    assert!(report(&sandbox, &["--remove"]).is_empty());
}

/// Settings written by a person: with their own order, blanks and hooks.
const SETTINGS: &str = r#"{
    "permissions": { "allow": ["Bash(npm run *)"], "deny": [] },
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    { "type": "command", "command": "./guard.sh" }
                ]
            }
        ]
    },
    "env": { "A": "é \" }" }
}"#;
const SERVERS: &str = "{\"mcpServers\":{\"other\":{\"command\":\"other\",\"args\":[]}}}\n";

#[test]
fn what_is_there_stays_and_comes_back_byte_for_byte() {
    let sandbox = Sandbox::new();
    put(&sandbox, ".claude/settings.json", SETTINGS);
    put(&sandbox, ".mcp.json", SERVERS);
    put(&sandbox, ".claude/agents/mine.md", "mine\n");
    let before = files(&sandbox.root());
    let done = report(&sandbox, &[]);
    assert_eq!((done[".claude/settings.json"].as_str(), done[".mcp.json"].as_str()), ("updated", "updated"));
    let settings = json(&sandbox, ".claude/settings.json");
    let keys: Vec<&String> = settings.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["permissions", "hooks", "env"]);
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    assert_eq!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "./guard.sh");
    assert_eq!(json(&sandbox, ".mcp.json")["mcpServers"]["other"]["command"], "other");
    let text = std::fs::read_to_string(sandbox.root().join(".claude/settings.json")).unwrap();
    assert!(text.starts_with(&SETTINGS[..60]) && text.contains("\"env\": { \"A\": \"é \\\" }\" }\n}"), "{text}");
    assert!(report(&sandbox, &[]).values().all(|done| done == "unchanged"));
    report(&sandbox, &["--remove"]);
    assert_eq!(files(&sandbox.root()), before);
}

#[test]
fn comments_and_trailing_commas_stay() {
    let sandbox = Sandbox::new();
    let settings = "// ours\n{\n  \"hooks\": {\n    // loud\n    \"Stop\": [\n      { \"hooks\": [] }, // mine\n    ],\n  }, // end\n}\n";
    put(&sandbox, ".claude/settings.json", settings);
    put(&sandbox, ".mcp.json", "{\n  // none yet\n}\n");
    let before = files(&sandbox.root());
    report(&sandbox, &[]);
    let after = files(&sandbox.root());
    for comment in ["// ours\n{", "    // loud\n    \"Stop\": [", "{ \"hooks\": [] }, // mine", "}, // end"] {
        assert!(after[".claude/settings.json"].contains(comment), "{comment}: {}", after[".claude/settings.json"]);
    }
    assert!(after[".mcp.json"].starts_with("{\n  // none yet\n  \"mcpServers\": {"), "{}", after[".mcp.json"]);
    assert!(report(&sandbox, &[]).values().all(|done| done == "unchanged"));
    report(&sandbox, &["--remove"]);
    assert_eq!(files(&sandbox.root()), before);
}

#[test]
fn what_somebody_edited_is_theirs() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    let (agent, skill) = (".claude/agents/ralph-builder.md", ".claude/skills/ralph-plan/SKILL.md");
    let text = std::fs::read_to_string(sandbox.root().join(agent)).unwrap();
    put(&sandbox, agent, &text.replace("model: inherit", "model: opus"));
    put(&sandbox, skill, "all mine\n");
    put(&sandbox, ".mcp.json", "{\"mcpServers\": {\"ralph\": {\"command\": \"/opt/ralph\", \"args\": [\"mcp\"]}}}");
    let before = files(&sandbox.root());
    let done = report(&sandbox, &[]);
    for path in [agent, skill, ".mcp.json"] {
        assert_eq!(done[path], "kept", "{path}");
    }
    assert_eq!(files(&sandbox.root()), before);
    assert!(sandbox.ralph(&["setup", "claude"]).ok().contains(&format!("kept {agent}: it was edited")));
    report(&sandbox, &["--remove"]);
    let left: Vec<String> = files(&sandbox.root()).into_keys().filter(|path| path.contains("claude/")).collect();
    assert_eq!(left, [agent, skill]);
    assert_eq!(files(&sandbox.root())[".mcp.json"], before[".mcp.json"]);
}

#[test]
fn a_gate_that_is_missing_comes_back_alone_and_a_changed_timeout_stays() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    let path = sandbox.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("branch-gate\",\n            \"timeout\": 30", "branch-gate\",\n            \"timeout\": 5", 1),
    )
    .unwrap();
    assert_eq!(report(&sandbox, &[])[".claude/settings.json"], "unchanged");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"timeout\": 5"));
    std::fs::write(&path, text.replacen("ralph hook team-stop-gate", "./mine.sh", 1)).unwrap();
    assert_eq!(report(&sandbox, &[])[".claude/settings.json"], "updated");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.matches("team-stop-gate").count(), text.matches("ralph hook branch-gate").count()), (1, 1));
    report(&sandbox, &["--remove"]);
    assert!(std::fs::read_to_string(&path).unwrap().contains("./mine.sh"));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("ralph hook"));
}

#[test]
fn a_broken_file_is_named_with_its_place_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    put(&sandbox, ".mcp.json", "{\n  \"mcpServers\": {,}\n}\n");
    let before = files(&sandbox.root());
    let said = sandbox.ralph(&["setup", "claude"]).fails(4);
    assert!(said.contains(".mcp.json:2:18:"), "{said}");
    for (path, text) in [
        (".mcp.json", "[]"),
        (".mcp.json", "{\"mcpServers\": 1}"),
        (".claude/settings.json", "{\"hooks\": {\"Stop\": {}}}"),
    ] {
        put(&sandbox, ".mcp.json", "{}");
        put(&sandbox, path, text);
        let said = sandbox.ralph(&["setup", "claude"]).fails(4);
        assert!(said.contains(&format!("error: {path}")), "{said}");
    }
    put(&sandbox, ".mcp.json", &before[".mcp.json"]);
    std::fs::remove_dir_all(sandbox.root().join(".claude")).unwrap();
    assert_eq!(files(&sandbox.root()), before);
}

/// The hook events that policy checks use, and whether they have a matcher for tools.
const EVENTS: &[(&str, bool)] = &[
    ("PreToolUse", true),
    ("PostToolUse", true),
    ("PostToolUseFailure", true),
    ("SessionStart", false),
    ("Stop", false),
    ("SubagentStop", false),
    ("TaskCompleted", false),
    ("TeammateIdle", false),
];

#[test]
fn the_hooks_are_as_the_schema_of_the_settings_wants_them() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    let settings = json(&sandbox, ".claude/settings.json");
    let mut gates = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let (_, tools) = EVENTS.iter().find(|(name, _)| name == event).unwrap_or_else(|| panic!("{event}"));
        for group in groups.as_array().unwrap() {
            // hookMatcher: `hooks` is required, `matcher` is a string, and there are no other keys.
            let keys: Vec<&str> = group.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, if *tools { vec!["matcher", "hooks"] } else { vec!["hooks"] }, "{event}");
            assert!(group["matcher"].is_string() == *tools);
            for hook in group["hooks"].as_array().unwrap() {
                // hookCommand: `type` is "command", `command` is not empty, `timeout` is a number above 0.
                let keys: Vec<&str> = hook.as_object().unwrap().keys().map(String::as_str).collect();
                assert_eq!(keys, ["type", "command", "timeout"]);
                assert_eq!(hook["type"], "command");
                assert!(hook["timeout"].as_f64().unwrap() > 0.0);
                gates.push(hook["command"].as_str().unwrap().rsplit_once("ralph hook ").unwrap().1.to_owned());
            }
        }
    }
    gates.sort();
    gates.dedup();
    assert_eq!(gates.len(), 21);
    for gate in gates {
        assert_ne!(sandbox.ralph_with(&["hook", &gate], "{}").code, 2, "{gate}");
    }
}

/// The front matter of a file: keys and values; the items of a list are joined.
fn front(text: &str) -> BTreeMap<String, String> {
    let inside = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap().0;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut last = String::new();
    for line in inside.lines() {
        match line.strip_prefix("  - ") {
            Some(item) => found.get_mut(&last).unwrap().push_str(&format!("{item} ")),
            None => {
                let (key, value) = line.split_once(':').unwrap();
                last = key.to_owned();
                // A plain YAML scalar must not contain these; a quoted one is read as JSON.
                let value = value.trim();
                let plain = || assert!(!value.contains(": ") && !value.contains(" #"), "{line}");
                let value = serde_json::from_str::<String>(value).unwrap_or_else(|_| {
                    plain();
                    value.to_owned()
                });
                found.insert(last.clone(), value);
            }
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    let parts = name.split('-');
    name.len() <= 64
        && parts
            .into_iter()
            .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))
}

#[test]
fn agents_and_skills_have_the_front_matter_that_is_documented() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    let written = files(&sandbox.root());
    let skills: Vec<&str> =
        written.keys().filter_map(|path| path.strip_prefix(".claude/skills/")?.strip_suffix("/SKILL.md")).collect();
    assert_eq!(skills.len(), 8);
    for name in &skills {
        // agentskills.io: name up to 64 of a-z, 0-9 and single hyphens, as its folder; description 1 to 1024 characters.
        let front = front(&written[&format!(".claude/skills/{name}/SKILL.md")]);
        assert_eq!(front.keys().collect::<Vec<_>>(), ["description", "name"]);
        assert!(front["name"] == *name && is_name(name), "{name}");
        assert!((1..=1024).contains(&front["description"].chars().count()));
    }
    let agents: Vec<&String> = written.keys().filter(|path| path.starts_with(".claude/agents/")).collect();
    assert_eq!(agents.len(), 4);
    for path in agents {
        // sub-agents: name and description are required; model, color and skills are among the optional fields.
        let front = front(&written[path]);
        assert_eq!(front.keys().collect::<Vec<_>>(), ["color", "description", "model", "name", "skills"]);
        assert_eq!(*path, format!(".claude/agents/{}.md", front["name"]));
        assert!(is_name(&front["name"]) && !front["description"].is_empty());
        assert!(["sonnet", "opus", "haiku", "inherit"].contains(&front["model"].as_str()));
        let colors = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];
        assert!(colors.contains(&front["color"].as_str()));
        assert!(front["skills"].split_whitespace().all(|skill| skills.contains(&skill)), "{path}");
    }
}

#[test]
fn the_server_is_entered_as_documented() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    // mcp: `mcpServers` maps a name to `command`, `args` and `env` of a stdio server.
    let wanted = serde_json::json!({ "mcpServers": { "ralph": { "command": "ralph", "args": ["mcp"] } } });
    assert_eq!(json(&sandbox, ".mcp.json"), wanted);
}

#[test]
fn the_generic_instructions_are_short_and_whole() {
    let sandbox = Sandbox::bare();
    let text = sandbox.ralph(&["setup", "generic"]).ok();
    assert!(text.lines().count() <= 80 && text.starts_with("# ") && text.ends_with('\n'));
    for word in [
        "--as",
        "RALPH_WORKER",
        "ralph next --claim",
        "ralph worktree add",
        "ralph artifact new",
        "ralph move",
        "ralph release",
        "Exit codes",
    ] {
        assert!(text.contains(word), "{word}");
    }
    assert_eq!(sandbox.ralph(&["setup", "generic", "--json"]).json()["markdown"], text);
    sandbox.ralph(&["setup"]).fails(2);
    sandbox.ralph(&["setup", "emacs"]).fails(2);
}

/// The folder from which Claude Code installs ralph as a plugin must equal what `ralph setup claude` writes.
/// `RALPH_UPDATE_PLUGIN=1` writes it.
#[test]
fn the_plugin_in_this_repository_is_what_setup_writes() {
    let sandbox = Sandbox::new();
    report(&sandbox, &[]);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/ralph");
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for (path, text) in files(&sandbox.root()) {
        match path.strip_prefix(".claude/") {
            Some("settings.json") => {
                let hooks = json(&sandbox, &path)["hooks"].clone();
                let text = serde_json::to_string_pretty(&serde_json::json!({ "hooks": hooks })).unwrap();
                wanted.insert("hooks/hooks.json".into(), format!("{text}\n"));
            }
            Some(rest) => _ = wanted.insert(rest.to_owned(), text),
            None if path == ".mcp.json" => _ = wanted.insert(path, text),
            None => {}
        }
    }
    let about = serde_json::json!({
        "name": "ralph",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "A task board in plain files: hooks, agents, skills and the MCP server of ralph",
        "author": { "name": "The ralph authors" },
        "license": env!("CARGO_PKG_LICENSE"),
    });
    wanted.insert(".claude-plugin/plugin.json".into(), serde_json::to_string_pretty(&about).unwrap() + "\n");
    if std::env::var_os("RALPH_UPDATE_PLUGIN").is_some() {
        let _ = std::fs::remove_dir_all(&plugin);
        for (path, text) in &wanted {
            let path = plugin.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    assert_eq!(files(&plugin), wanted, "RALPH_UPDATE_PLUGIN=1 brings it up to date");
}

/// The reported result for each file.
fn set_up(sandbox: &Sandbox, host: &str, more: &[&str]) -> BTreeMap<String, String> {
    let done = sandbox.ralph(&[&["setup", host, "--json"][..], more].concat()).json();
    let row = |file: &Value| (file["path"].as_str().unwrap().to_owned(), file["done"].as_str().unwrap().to_owned());
    done["files"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn other_hosts_are_set_up_beside_what_is_there_and_leave_no_trace() {
    for (host, instructions) in [("codex", "AGENTS.md"), ("gemini", "GEMINI.md"), ("opencode", "AGENTS.md")] {
        let sandbox = Sandbox::new();
        put(&sandbox, instructions, "# Ours\n\nUse tabs.\n");
        put(&sandbox, ".codex/config.toml", "model = \"mine\"\n");
        put(&sandbox, ".gemini/settings.json", "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
        put(&sandbox, "opencode.json", "{ \"theme\": \"mine\" }\n");
        let before = files(&sandbox.root());
        let first = set_up(&sandbox, host, &[]);
        assert!(first.len() >= 2 && first.values().all(|done| done == "created" || done == "updated"), "{first:?}");
        let there = files(&sandbox.root());
        let text = &there[instructions];
        assert!(
            text.starts_with("# Ours\n\nUse tabs.\n\n<!-- ralph: begin") && text.contains("ralph next --claim"),
            "{text}"
        );
        assert!(set_up(&sandbox, host, &[]).values().all(|done| done == "unchanged"));
        assert_eq!(files(&sandbox.root()), there, "the second run changes nothing");
        set_up(&sandbox, host, &["--remove"]);
        assert_eq!(files(&sandbox.root()), before, "{host}");
    }
}

#[test]
fn an_entry_of_somebodys_own_is_kept() {
    let sandbox = Sandbox::new();
    let own = "[mcp_servers.ralph]\ncommand = \"my-ralph\"\n";
    put(&sandbox, ".codex/config.toml", own);
    assert_eq!(set_up(&sandbox, "codex", &[])[".codex/config.toml"], "kept");
    assert_eq!(files(&sandbox.root())[".codex/config.toml"], own);
    put(&sandbox, "AGENTS.md", "<!-- ralph: begin (written by `ralph setup`) -->\nbroken\n");
    let said = sandbox.ralph(&["setup", "codex"]).fails(4);
    assert!(said.contains("AGENTS.md") && said.contains("is missing"), "{said}");
}

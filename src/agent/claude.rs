//! The files for Claude Code: hooks, four agents, eight skills, and the MCP server.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::gate::{GATES, GateSpec};

pub const SETTINGS: &str = ".claude/settings.json";
pub const SERVERS: &str = ".mcp.json";
pub const SERVER: &str = "ralph";
/// In seconds. A policy check that times out does not block the tool.
const TIMEOUT: u32 = 30;
const MARK: &str = "<!-- written by `ralph setup claude` ";

/// How a host spells events, tools and times in its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Claude Code, and Codex, which reads the same format.
    Claude,
    Gemini,
}

/// The command of a policy check's hook. If `ralph` is not on the PATH, it blocks the tool and prints the reason: the exit
/// code 127 of a missing program would let the tool run.
pub fn command(gate: &GateSpec) -> String {
    let code = if gate.events.contains(&"PreToolUse") { 2 } else { 1 };
    let name = gate.name;
    format!(
        "command -v ralph >/dev/null || {{ echo 'ralph is not on the PATH: install it, or remove its hooks' >&2; exit {code}; }}; ralph hook {name}"
    )
}

/// The policy check that a hook's command runs, if it is one of ours.
pub fn gate_of(command: &str) -> Option<&str> {
    let command = command.trim();
    let asked = command
        .rsplit_once("; ")
        .filter(|(check, _)| check.starts_with("command -v ralph "))
        .map_or(command, |(_, asked)| asked);
    asked.strip_prefix("ralph hook ").filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// One hook, as it is written to the settings.
pub fn handler(gate: &GateSpec, dialect: Dialect) -> Value {
    let timeout = match dialect {
        Dialect::Claude => TIMEOUT,
        // Gemini CLI counts in milliseconds.
        Dialect::Gemini => TIMEOUT * 1000,
    };
    json!({ "type": "command", "command": command(gate), "timeout": timeout })
}

/// Events in the order in which they are written, each with its tools and the policy checks that run then.
pub fn hooks(dialect: Dialect) -> Vec<(&'static str, Option<&'static str>, Vec<&'static GateSpec>)> {
    let mut found: Vec<(&str, Option<&str>, Vec<&GateSpec>)> = Vec::new();
    for gate in GATES {
        for event in gate.events {
            let Some((event, tools)) = spelled(event, gate.matcher, dialect) else { continue };
            match found.iter_mut().find(|(name, matcher, _)| *name == event && *matcher == tools) {
                Some((_, _, gates)) => gates.push(gate),
                None => found.push((event, tools, vec![gate])),
            }
        }
    }
    found
}

/// An event and its tools as the host names them; none if the host has no such event.
fn spelled(
    event: &'static str,
    tools: Option<&'static str>,
    dialect: Dialect,
) -> Option<(&'static str, Option<&'static str>)> {
    if dialect == Dialect::Claude {
        return Some((event, tools));
    }
    let event = match event {
        "PreToolUse" => "BeforeTool",
        "PostToolUse" => "AfterTool",
        _ => return None,
    };
    let tools = match tools? {
        "Bash" => "run_shell_command",
        moves if moves.contains("mcp__") => "^(run_shell_command|mcp_ralph_.*)$",
        _ => "write_file|replace",
    };
    Some((event, Some(tools)))
}

pub fn server() -> Value {
    json!({ "command": "ralph", "args": ["mcp"] })
}

/// The path and text of each file that only ralph writes.
pub fn files() -> Vec<(String, String)> {
    let agents = AGENTS.iter().map(|agent| (format!(".claude/agents/ralph-{}.md", agent.role), agent.text()));
    let skills = SKILLS.iter().map(|skill| (format!(".claude/skills/ralph-{}/SKILL.md", skill.command), skill.text()));
    agents.chain(skills).map(|(path, text)| (path, sealed(&text))).collect()
}

/// Adds a last line with a hash of the text, by which every version of ralph recognises an edited file, in every clone.
fn sealed(text: &str) -> String {
    format!("{text}\n{MARK}{}; it is kept up to date until somebody edits it -->\n", seal(text))
}

fn seal(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a file is as a version of ralph wrote it.
pub fn is_untouched(file: &str) -> bool {
    let Some((text, mark)) = file.rsplit_once(&format!("\n{MARK}")) else { return false };
    mark.split_once(';').is_some_and(|(was, rest)| was == seal(text) && rest.lines().count() == 1)
}

struct AgentSpec {
    role: &'static str,
    color: &'static str,
    skills: &'static [&'static str],
    about: &'static str,
    work: &'static str,
}

const AGENTS: &[AgentSpec] = &[
    AgentSpec {
        role: "analyst",
        color: "green",
        skills: &["triage", "split", "research"],
        about: "Triages, splits and researches tasks of the ralph board. Use for work in Backlog or Research Needed.",
        work: "You work on the main branch and change no code: you triage tasks, split large ones into small ones, \
               and research what a plan has to know.",
    },
    AgentSpec {
        role: "builder",
        color: "cyan",
        skills: &["plan", "review", "implement"],
        about: "Plans and implements tasks of the ralph board. Use for work in Ready for Plan, Plan in Review or In Progress.",
        work: "You plan on the main branch, and write code only in the worktree of the task that you claimed.",
    },
    AgentSpec {
        role: "validator",
        color: "blue",
        skills: &["review"],
        about: "Reviews plans of the ralph board together with a person. Use for Plan in Review where review.mode is interactive.",
        work: "You judge plans against the code as it is. You change neither the plan nor the code.",
    },
    AgentSpec {
        role: "integrator",
        color: "orange",
        skills: &["pr", "merge"],
        about: "Opens pull requests and merges finished tasks of the ralph board. Use for work in In Review.",
        work: "You work on the main branch, one task at a time, with ralph's own commands, which push, open pull requests, run checks and merge.",
    },
];

impl AgentSpec {
    fn text(&self) -> String {
        let Self { role, color, about, work, .. } = self;
        let skills: String = self.skills.iter().map(|skill| format!("  - ralph-{skill}\n")).collect();
        format!(
            "---\nname: ralph-{role}\ndescription: \"{about}\"\nmodel: inherit\ncolor: {color}\nskills:\n{skills}---\n\n\
             You are a worker of the ralph board with the role {role}. Your name is `{role}`, or the name you were given, \
             such as `{role}-2`: put it after `--as` in every command.\n\n{work}\n\n\
             1. `ralph next --claim --as {role}` chooses a task and claims it for you. Exit code 5: no work, so stop.\n\
             2. Its output names the task and the command. `ralph prompt COMMAND TASK` says what to do and what must be true \
             at the end: follow it.\n\
             3. End with the `ralph move` that the prompt names. The move is the handoff: send no messages.\n\
             4. Repeat from 1.\n\n\
             If you cannot continue, say why with `ralph note TASK TEXT` and hand the task to a person with \
             `ralph escalate TASK --as {role}`. To release your claim only: `ralph release TASK --as {role}`. Exit code 3 \
             means that another worker was first: choose the next task. A hook that blocks you says what to do instead: do that.\n",
        )
    }
}

struct SkillSpec {
    command: &'static str,
    role: &'static str,
    about: &'static str,
}

const SKILLS: &[SkillSpec] = &[
    SkillSpec {
        command: "triage",
        role: "analyst",
        about: "Triages a task in Backlog on the ralph board: research, plan, split, close or cancel.",
    },
    SkillSpec {
        command: "split",
        role: "analyst",
        about: "Splits a large task of the ralph board (size M, L or XL) into small ones, with their blockers.",
    },
    SkillSpec {
        command: "research",
        role: "analyst",
        about: "Researches a task of the ralph board in Research Needed and links the research document.",
    },
    SkillSpec {
        command: "plan",
        role: "builder",
        about: "Plans a task or group of the ralph board in Ready for Plan and links the plan document.",
    },
    SkillSpec {
        command: "review",
        role: "builder",
        about: "Reviews the plan of a task of the ralph board in Plan in Review and approves or rejects it.",
    },
    SkillSpec {
        command: "implement",
        role: "builder",
        about: "Implements a planned task of the ralph board in its own worktree, phase by phase, with commits.",
    },
    SkillSpec {
        command: "pr",
        role: "integrator",
        about: "Opens or finds the pull request of a task of the ralph board in In Review and links it.",
    },
    SkillSpec {
        command: "merge",
        role: "integrator",
        about: "Merges the branch of a task of the ralph board in In Review into main and closes the task.",
    },
];

impl SkillSpec {
    fn text(&self) -> String {
        let Self { command, role, about } = self;
        format!(
            "---\nname: ralph-{command}\ndescription: \"{about} Use when asked to {command} a task, or when ralph names the command \
             {command}.\"\n---\n\n\
             Work on the task that was named, or else on the one that you have claimed for {command}. If you have no claim, \
             `ralph claim TASK --for {command} --as {role}` claims the one that was named, and \
             `ralph next --role {role} --claim --as {role}` chooses one. If you were given a name, use it after \
             `--as`.\n\n\
             Then run `ralph prompt {command} TASK` and follow what it prints: the task, its documents, what must be true at \
             the end, and the commands to report with. Nothing else in this file says how the work is done.\n\n\
             Exit codes of ralph: 0 done, 1 refused by a rule (read why), 3 another worker was first (choose another task), 5 no \
             work.\n",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_anywhere_in_a_file_is_seen() {
        for (path, text) in files() {
            assert!(is_untouched(&text), "{path}");
            assert!(!is_untouched(&text.replacen("ralph", "Ralph", 1)), "{path}");
            assert!(!is_untouched(&format!("{text}mine\n")), "{path}");
        }
        assert!(!is_untouched("mine\n"));
    }

    #[test]
    fn a_hook_is_known_by_its_command_in_every_version() {
        for gate in GATES {
            assert_eq!(gate_of(&command(gate)), Some(gate.name));
        }
        assert_eq!(gate_of("ralph hook branch-gate"), Some("branch-gate"));
        assert_eq!(gate_of("ralph hook a b"), None);
        assert_eq!(gate_of("echo x; ralph hook branch-gate"), None);
    }

    #[test]
    fn every_gate_is_asked() {
        let asked: Vec<&str> =
            hooks(Dialect::Claude).iter().flat_map(|(_, _, gates)| gates.iter().map(|gate| gate.name)).collect();
        assert!(GATES.iter().all(|gate| asked.contains(&gate.name)));
    }
}

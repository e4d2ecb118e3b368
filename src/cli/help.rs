//! The first page of help, with the commands in groups by purpose, and an example for each command.

use clap::Command;

use super::style::{self, paint};

const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "status", "inbox", "next", "board", "serve"]),
    ("Tasks", &["ls", "show", "add", "edit", "rm", "task", "block", "unblock", "note", "why", "log", "undo"]),
    (
        "Move and decide",
        &["move", "done", "cancel", "claim", "release", "answer", "approve", "reject", "feedback", "reply", "diff"],
    ),
    ("Code", &["worktree", "merge", "pr", "commit", "pull", "push", "sync"]),
    ("Agents", &["team", "hero", "worker", "run", "agent", "runs", "costs", "setup", "mcp", "prompt", "trust"]),
    ("For agents", &["ask", "escalate", "renew", "artifact", "split", "plan", "position", "group", "advance", "hook"]),
    ("Follow", &["watch", "wait", "claims", "who", "reap", "report"]),
    ("Set up", &["workflow", "config", "doctor", "schema", "completions", "man", "uninstall", "help"]),
];

/// Adds the examples to the help of each subcommand.
pub fn with_examples(command: Command) -> Command {
    let mut command = command;
    for (path, examples) in EXAMPLES {
        let text = format!("Examples:\n{}", examples.iter().map(|line| format!("  {line}\n")).collect::<String>());
        command = described(command, &path.split(' ').collect::<Vec<_>>(), text.trim_end());
    }
    command
}

fn described(command: Command, path: &[&str], text: &str) -> Command {
    let Some((first, rest)) = path.split_first() else { return command.after_help(text.to_owned()) };
    let text = text.to_owned();
    command.mut_subcommand(first, |sub| described(sub, rest, &text))
}

/// What `ralph` and `ralph --help` print.
pub fn first_page(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}\n\n{} ralph <COMMAND> [OPTIONS]\n", paint(style::HEAD, "Usage:"));
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{}\n", paint(style::HEAD, title)));
        for name in *names {
            let about = match command.find_subcommand(name) {
                Some(sub) => sub.get_about().map(ToString::to_string).unwrap_or_default(),
                None => "Show the help of a command".to_owned(),
            };
            text.push_str(&format!("  {}  {about}\n", paint(style::ID, format!("{name:<11}"))));
        }
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    text.push_str("\n`ralph help COMMAND` shows the options of a command, with examples.\n");
    text.push_str(&format!("`ralph help agents` tells agents how to start.\n{after}\n"));
    text
}

/// What `ralph help agents` prints: enough for an agent to start. `llms.txt` has the same text.
pub const AGENTS: &str = include_str!("agents.md");

pub fn asks_for_agents_page(arguments: &[std::ffi::OsString]) -> bool {
    arguments.iter().skip(1).map(|word| word.as_os_str()).eq(["help", "agents"].map(std::ffi::OsStr::new))
}

/// Whether the first page is requested: no command is named.
pub fn asks_for_first_page(words: &[String]) -> bool {
    let commands: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    commands.is_empty() || commands == ["help"]
}

#[rustfmt::skip]
const EXAMPLES: &[(&str, &[&str])] = &[
    ("init", &["ralph init", "ralph init --workflow simple", "ralph init --demo"]),
    ("ls", &["ralph ls", "ralph ls --ready", "ralph ls --state backlog --label bug"]),
    ("add", &["ralph add \"Sync drops labels\" -p P1 -l bug", "ralph add \"Release 1.2\" --blocked-by x7kq"]),
    ("show", &["ralph show x7kq"]),
    ("edit", &["ralph edit x7kq"]),
    ("rm", &["ralph rm x7kq"]),
    ("task", &["ralph task ls --ready", "ralph task set x7kq priority=P1"]),
    ("worktree", &["ralph worktree add x7kq", "ralph worktree ls"]),
    ("agent", &["ralph agent ls", "ralph agent test"]),
    ("costs", &["ralph costs", "ralph costs --since 7d --by model"]),
    ("runs", &["ralph runs ls", "ralph runs tail x7kq -f"]),
    ("setup", &["ralph setup claude"]),
    ("artifact", &["ralph artifact new plan x7kq"]),
    ("plan", &["ralph plan show x7kq"]),
    ("claims", &["ralph claims ls"]),
    ("config", &["ralph config list --origin", "ralph config set review.mode interactive"]),
    ("workflow", &["ralph workflow", "ralph workflow use lite", "ralph workflow --toml"]),
    ("workflow use", &["ralph workflow use simple", "ralph workflow use lite --map \"Todo=Backlog\""]),
    ("sync init", &["ralph sync init", "ralph sync init --repo acme/app"]),
    ("sync status", &["ralph sync status"]),
    ("sync resolve", &["ralph sync resolve x7kq --take local"]),
    ("sync doctor", &["ralph sync doctor"]),
    ("task ls", &["ralph task ls --ready", "ralph task ls --state backlog --label bug"]),
    ("task add", &["ralph task add \"Sync drops labels\" -p P1 -l bug"]),
    ("task show", &["ralph task show x7kq"]),
    ("task edit", &["ralph task edit x7kq"]),
    ("task set", &["ralph task set x7kq priority=P1 labels+=bug owner="]),
    ("task rm", &["ralph task rm x7kq"]),
    ("task tree", &["ralph task tree", "ralph task tree x7kq"]),
    ("task graph", &["ralph task graph", "ralph task graph x7kq --mermaid"]),
    ("task search", &["ralph task search login timeout"]),
    ("task archive", &["ralph task archive", "ralph task archive x7kq"]),
    ("task diff", &["ralph task diff main", "ralph task diff v1.0 v1.1", "ralph task diff main HEAD --markdown"]),
    ("block", &["ralph block x7kq --on 3hqd"]),
    ("unblock", &["ralph unblock x7kq --from 3hqd"]),
    ("note", &["ralph note x7kq \"Only labels that differ in case.\"", "ralph note x7kq --edit 2 \"other words\"", "ralph note x7kq --rm 2"]),
    ("move", &["ralph move x7kq \"In Progress\"", "ralph move x7kq __COMPLETE__ --as builder"]),
    ("done", &["ralph done x7kq"]),
    ("cancel", &["ralph cancel x7kq"]),
    ("escalate", &["ralph escalate x7kq --as builder"]),
    ("inbox", &["ralph inbox", "ralph inbox --json"]),
    ("ask", &["ralph ask x7kq \"Keep invoices?\" --option yes --option no --recommend yes"]),
    ("answer", &["ralph answer x7kq 2", "ralph answer x7kq \"keep them for ten years\""]),
    ("approve", &["ralph approve x7kq"]),
    ("feedback", &["ralph feedback x7kq", "ralph feedback x7kq --fetch"]),
    ("reply", &["ralph reply x7kq 2 \"Bounded the retry, with a test.\"", "ralph reply x7kq 3 --declined \"This is how the protocol says it.\""]),
    ("reject", &["ralph reject x7kq \"the retry is missing\" --comment \"src/sync.rs:41:this can loop forever\""]),
    ("diff", &["ralph diff x7kq", "ralph diff x7kq --stat"]),
    ("claim", &["ralph claim x7kq", "ralph claim x7kq --for plan --as builder"]),
    ("renew", &["ralph renew x7kq"]),
    ("release", &["ralph release x7kq"]),
    ("claims ls", &["ralph claims ls", "ralph claims ls --remote", "ralph claims ls --paths"]),
    ("who", &["ralph who src/sync/mod.rs", "ralph who src/sync/ --json"]),
    ("reap", &["ralph reap"]),
    ("next", &["ralph next", "ralph next --claim --as builder-2", "ralph next --role analyst --wait 10m"]),
    ("run", &["ralph run x7kq --as builder -- claude -p \"…\""]),
    ("wait", &["ralph wait x7kq --until done"]),
    ("watch", &["ralph watch", "ralph watch --json --event asked"]),
    ("why", &["ralph why x7kq"]),
    ("status", &["ralph status"]),
    ("position", &["ralph position x7kq"]),
    ("group", &["ralph group x7kq"]),
    ("advance", &["ralph advance x7kq --children --to in-review"]),
    ("worker", &["ralph worker builder --wait 1h", "ralph worker analyst --once"]),
    ("team", &["ralph team x7kq", "ralph team --ready"]),
    ("hero", &["ralph hero x7kq"]),
    ("agent ls", &["ralph agent ls"]),
    ("agent test", &["ralph agent test", "ralph agent test codex"]),
    ("runs ls", &["ralph runs ls"]),
    ("runs show", &["ralph runs show x7kq"]),
    ("runs tail", &["ralph runs tail x7kq -f"]),
    ("runs stop", &["ralph runs stop x7kq"]),
    ("runs retry", &["ralph runs retry x7kq"]),
    ("worktree add", &["ralph worktree add x7kq"]),
    ("worktree ls", &["ralph worktree ls"]),
    ("worktree path", &["ralph worktree path x7kq"]),
    ("worktree rm", &["ralph worktree rm x7kq"]),
    ("worktree prune", &["ralph worktree prune"]),
    ("worktree lock", &["ralph worktree lock x7kq"]),
    ("worktree unlock", &["ralph worktree unlock x7kq"]),
    ("pr", &["ralph pr x7kq"]),
    ("merge", &["ralph merge x7kq"]),
    ("artifact new", &["ralph artifact new plan x7kq"]),
    ("artifact link", &["ralph artifact link plan x7kq"]),
    ("artifact check", &["ralph artifact check plan x7kq"]),
    ("split", &["ralph split x7kq --into parts.toml"]),
    ("plan show", &["ralph plan show x7kq"]),
    ("plan sync", &["ralph plan sync x7kq --dry-run"]),
    ("prompt", &["ralph prompt plan x7kq"]),
    ("commit", &["ralph commit", "ralph commit -m \"planning\""]),
    ("pull", &["ralph pull", "ralph pull --take theirs"]),
    ("push", &["ralph push"]),
    ("sync", &["ralph sync", "ralph sync --dry-run", "ralph sync init"]),
    ("log", &["ralph log", "ralph log x7kq -n 5"]),
    ("undo", &["ralph undo"]),
    ("doctor", &["ralph doctor", "ralph doctor --fix", "ralph doctor --at HEAD --since main"]),
    ("config list", &["ralph config list --origin"]),
    ("config get", &["ralph config get review.mode"]),
    ("config set", &["ralph config set review.mode interactive"]),
    ("config unset", &["ralph config unset review.mode"]),
    ("trust", &["ralph trust"]),
    ("hook", &["ralph hook --list"]),
    ("setup claude", &["ralph setup claude"]),
    ("setup codex", &["ralph setup codex"]),
    ("setup gemini", &["ralph setup gemini"]),
    ("setup opencode", &["ralph setup opencode"]),
    ("setup generic", &["ralph setup generic"]),
    ("mcp", &["ralph mcp", "ralph mcp --read-only"]),
    ("board", &["ralph board", "ralph board label:bug ready"]),
    ("serve", &["ralph serve --open", "ralph serve --read-only"]),
    ("report", &["ralph report --html board.html"]),
    ("completions", &["ralph completions bash"]),
    ("man", &["ralph man"]),
    ("schema", &["ralph schema task", "ralph schema event"]),
    ("uninstall", &["ralph uninstall --dry-run", "ralph uninstall --tasks --yes"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_command_is_in_one_group_of_the_first_page() {
        let command = Cli::command();
        let there = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned());
        let there: BTreeSet<String> = there.chain(["help".to_owned()]).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let once: BTreeSet<String> = grouped.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(once.len(), grouped.len(), "one is there twice");
        assert_eq!(once, there);
    }

    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        let subs: Vec<&Command> =
            command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help").collect();
        if subs.is_empty() || !command.is_subcommand_required_set() && !path.is_empty() {
            found.push(path.to_owned());
        }
        for sub in subs.iter().filter(|_| command.is_subcommand_required_set() || path.is_empty()) {
            leaves(sub, format!("{path} {}", sub.get_name()).trim(), found);
        }
    }

    /// Splits words like a shell, as far as the examples need it.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        words
    }

    #[test]
    fn every_command_has_an_example_that_can_be_typed() {
        let mut wanted = Vec::new();
        leaves(&Cli::command(), "", &mut wanted);
        // This command defines its examples itself.
        let own = ["workflow"];
        for path in wanted.iter().filter(|path| !own.contains(&path.as_str())) {
            assert!(EXAMPLES.iter().any(|(known, _)| known == path), "`ralph {path}` has no example");
        }
        for (path, lines) in EXAMPLES {
            for line in *lines {
                let words = words(line);
                assert!(line.starts_with(&format!("ralph {path}")), "{line} is not an example of {path}");
                let parsed = Cli::try_parse_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}

//! `ralph help agents`: the page is part of `llms.txt`, and an agent that follows it completes a task.

use serde_json::Value;

use super::markdown::parse;
use super::read;
use crate::sandbox::{Output, RALPH, Sandbox, finish};

fn page() -> String {
    Sandbox::bare().ralph(&["help", "agents"]).ok()
}

/// The command of the page with this start, filled in with the task's id and command.
fn step(start: &str, task: &str, command: &str) -> Vec<String> {
    let codes = parse(&page()).codes;
    let found = codes.iter().map(|(code, _)| code).find(|code| code.starts_with(start));
    let words = shlex::split(found.unwrap_or_else(|| panic!("the page does not say `{start}`"))).unwrap();
    let filled = words.into_iter().skip(1).map(|word| match word.as_str() {
        "TASK" => task.to_owned(),
        "COMMAND" => command.to_owned(),
        _ => word,
    });
    filled.collect()
}

fn follow(sandbox: &Sandbox, words: &[String]) -> Output {
    finish(sandbox.command(RALPH, &sandbox.root()).args(words))
}

/// A board with one task to implement.
fn board() -> (Sandbox, String) {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "Start"]);
    sandbox.ralph(&["init", "--workflow", "lite"]).ok();
    let task = sandbox.add(&["Write a greeting"]);
    sandbox.ralph(&["move", &task, "Backlog"]).ok();
    (sandbox, task)
}

fn claimed(sandbox: &Sandbox) -> Value {
    follow(sandbox, &step("ralph next", "", "")).json()
}

#[test]
fn llms_txt_says_what_help_agents_says() {
    assert!(read("llms.txt").contains(page().trim_end()), "copy src/cli/agents.md into llms.txt");
    assert!(Sandbox::bare().ralph(&["help"]).ok().contains("ralph help agents"));
}

#[test]
fn an_agent_that_follows_the_page_finishes_a_task() {
    let (sandbox, task) = board();
    let next = claimed(&sandbox);
    let command = next["command"].as_str().unwrap();
    assert_eq!((next["task"].as_str(), command), (Some(task.as_str()), "implement"));
    let run = |start: &str| follow(&sandbox, &step(start, &task, command));
    assert!(run("ralph prompt").ok().contains(&task));
    run("ralph worktree add").ok();
    run("ralph note").ok();
    run("ralph renew").ok();
    assert!(run("ralph move").fails(1).contains("hint: "), "nothing is committed yet");
    let worktree = sandbox.root().join("worktrees").join(&task);
    std::fs::write(worktree.join("greeting.txt"), "hello\n").unwrap();
    sandbox.git_in(&worktree, &["add", "greeting.txt"]).ok();
    sandbox.git_in(&worktree, &["commit", "-q", "-m", "Write a greeting"]).ok();
    run("ralph move").ok();
    assert_eq!(sandbox.ralph(&["show", &task, "--json"]).json()["state"], "In Review");
    assert_eq!(follow(&sandbox, &step("ralph next", "", "")).code, 5, "no tasks are left");
}

#[test]
fn an_agent_that_follows_the_page_asks_gives_back_and_gives_up() {
    for (start, state) in
        [("ralph ask", "Human Needed"), ("ralph release", "Backlog"), ("ralph escalate", "Human Needed")]
    {
        let (sandbox, task) = board();
        claimed(&sandbox);
        follow(&sandbox, &step(start, &task, "implement")).ok();
        let shown = sandbox.ralph(&["show", &task, "--json"]).json();
        assert_eq!(shown["state"], state, "{start}");
        assert_eq!(sandbox.ralph(&["claims", "ls", "--json"]).json().as_array().map(Vec::len), Some(0), "{start}");
    }
}

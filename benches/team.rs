//! Measures how busy the workers of a team are: 60 independent tasks, agents that take 100 ms and move their task.
//!
//!     cargo bench --bench team            60 tasks
//!     cargo bench --bench team -- 120     another number
//!
//! A worker is busy from the claim of a task until it is settled. A role is measured from its first run to its last; only
//! builders always have something to do. All is measured in one run, so that noise of the machine affects all alike.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const RALPH: &str = env!("CARGO_BIN_EXE_ralph");

/// Writes the requested document and reports it; 100 ms of the time are the agent's own.
const AGENT: &str = r#"#!/bin/sh
set -eu
sleep 0.1
T=$RALPH_TASK
case $RALPH_COMMAND in
plan)
    file=$("$RALPH" artifact new plan "$T" --json | sed 's/.*"file":"\([^"]*\)".*/\1/')
    sed -i -e "s|\`TO BE WRITTEN.*|\`src/$T\`|" -e 's|TO BE WRITTEN.*|done|' "$file"
    sed -i 's/^- \[ \]/- [x]/' "$file"
    "$RALPH" artifact link plan "$T"
    ;;
implement) mkdir -p src; echo x > "src/$T"; git add src; git commit -qm "$T" ;;
esac
"$RALPH" move "$T" __COMPLETE__ --for "$RALPH_COMMAND"
"#;

fn main() {
    let tasks: usize = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(60);
    let folder = tempfile::tempdir().unwrap();
    let (root, agent) = (folder.path().join("repo"), folder.path().join("agent.sh"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(&agent, AGENT).unwrap();
    run(Command::new("chmod").arg("+x").arg(&agent), folder.path());
    run(Command::new("git").args(["init", "-q", "-b", "main"]), &root);
    run(Command::new("git").args(["commit", "-q", "--allow-empty", "-m", "base"]), &root);
    run(Command::new(RALPH).arg("init"), &root);
    let lines: String =
        (0..tasks).map(|n| format!("{{\"title\":\"task {n}\",\"state\":\"Ready for Plan\"}}\n")).collect();
    std::fs::write(folder.path().join("tasks"), lines).unwrap();
    run(Command::new(RALPH).args(["task", "add", "--from"]).arg(folder.path().join("tasks")), &root);
    let done: Value =
        serde_json::from_slice(&run(Command::new(RALPH).args(["team", "--ready", "--json", "--"]).arg(&agent), &root))
            .unwrap();
    assert_eq!(done["left"].as_array().unwrap().len(), 0, "{}", done["left"]);
    let runs = done["runs"].as_array().unwrap();
    let time = |run: &Value, key: &str| run[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let mut workers: BTreeMap<&str, Vec<(jiff::Timestamp, jiff::Timestamp)>> = BTreeMap::new();
    for run in runs {
        workers.entry(run["worker"].as_str().unwrap()).or_default().push((time(run, "started"), time(run, "ended")));
    }
    let whole = time(&done, "ended").duration_since(time(&done, "started")).as_secs_f64();
    println!("{tasks} tasks, {} runs in {whole:.1} s", runs.len());
    for (worker, spans) in &workers {
        let busy: f64 = spans.iter().map(|(from, to)| to.duration_since(*from).as_secs_f64()).sum();
        let first = spans.iter().map(|(from, _)| *from).min().unwrap();
        let last = spans.iter().map(|(_, to)| *to).max().unwrap();
        let span = last.duration_since(first).as_secs_f64();
        println!(
            "  {worker:<12} {:>4} runs  busy {:>5.1} %  {:>6.0} ms a run",
            spans.len(),
            100.0 * busy / span,
            1e3 * busy / spans.len() as f64
        );
    }
    for role in ["builder", "integrator"] {
        let of = workers.iter().filter(|(name, _)| name.split('-').next() == Some(role)).flat_map(|(_, spans)| spans);
        let spans: Vec<_> = of.collect();
        let most = spans.iter().map(|(at, _)| spans.iter().filter(|(from, to)| from <= at && at < to).count()).max();
        println!("  at most {} {role} at once", most.unwrap_or(0));
    }
}

fn run(command: &mut Command, root: &Path) -> Vec<u8> {
    command.current_dir(root).env("RALPH", RALPH).env("HOME", root.parent().unwrap());
    for (name, value) in [("NAME", "b"), ("EMAIL", "b@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

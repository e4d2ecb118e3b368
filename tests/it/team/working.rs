//! `ralph worker` and `ralph runs`: a worker of one role, and the records of its runs.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Squad, eventually};
use crate::system::interrupt;

#[test]
fn a_worker_takes_what_its_role_takes_and_ends_when_there_is_no_more() {
    let squad = Squad::new();
    let (one, two) = (squad.add("one", &["--priority", "P2"]), squad.add("two", &["--priority", "P0"]));
    let said = squad.ralph(&["worker", "analyst"]).ok();
    assert!(said.ends_with("analyst: 4 runs; no work\n"), "{said}");
    assert_eq!((squad.state(&one), squad.state(&two)), ("Ready for Plan".into(), "Ready for Plan".into()));
    let order: Vec<String> = squad.runs().iter().rev().map(|run| run["task"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order, [&*two, &two, &one, &one], "by priority, and started tasks are finished first");
}

#[test]
fn once_and_max_end_it_earlier_and_a_dry_run_changes_nothing() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    let before = squad.sandbox.read_task(&id);
    let said = squad.ralph(&["worker", "analyst", "--dry-run"]).ok();
    assert!(said.contains(&format!("would triage {id}")) && said.contains("agent.sh"), "{said}");
    assert_eq!((squad.sandbox.read_task(&id), squad.runs().len()), (before, 0));
    squad.ralph(&["worker", "analyst", "--once"]).ok();
    assert_eq!(squad.state(&id), "Research Needed");
    squad.add("two", &[]);
    let worked = squad.ralph(&["worker", "analyst", "--max", "2", "--json"]).json();
    assert_eq!((worked["runs"].as_array().unwrap().len(), &worked["stopped"]), (2, &"as-requested".into()));
}

#[test]
fn the_first_signal_lets_the_turn_end_and_the_second_ends_it_at_once() {
    for (signals, state, outcome) in [(1, "Research Needed", "triage done"), (2, "Backlog", "triage interrupted")] {
        let squad = Squad::new();
        let id = squad.add("one", &[]);
        let mut worker = squad.command(&["worker", "analyst"]);
        worker.env("PACE", if signals == 1 { "2" } else { "600" }).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut worker = worker.spawn().unwrap();
        let mut said = BufReader::new(worker.stderr.take().unwrap()).lines().map_while(Result::ok);
        eventually("the first run", || !squad.runs().is_empty());
        let start = Instant::now();
        for _ in 0..signals {
            interrupt(worker.id());
            // Two signals that arrive at the same time are merged by the kernel.
            assert!(said.any(|line| line.starts_with("stopping")), "the signal is acknowledged");
        }
        let status = worker.wait().unwrap();
        assert!(status.success(), "{status:?}");
        assert_eq!((squad.state(&id).as_str(), squad.outcomes(&id)), (state, vec![outcome.to_owned()]));
        assert!(signals == 1 || start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_name_is_one_workers_alone() {
    let squad = Squad::new();
    squad.add("one", &[]);
    squad.behave("one", "triage", "hang");
    let mut first = squad.start(&["worker", "analyst"]);
    eventually("the first run", || !squad.runs().is_empty());
    assert!(squad.ralph(&["worker", "analyst", "--as", "analyst"]).fails(3).contains("is already running"));
    // A team reads this line instead of the words on stderr.
    let told = squad.ralph(&["worker", "analyst", "--as", "analyst", "--events"]);
    let event: serde_json::Value = serde_json::from_str(told.stdout.lines().last().unwrap()).unwrap();
    assert!(event["event"] == "failed" && event["failure"]["code"] == "name-taken", "{told}");
    let other = squad.ralph(&["worker", "analyst", "--json"]).json();
    assert_eq!(other["worker"], "analyst-2");
    assert!(squad.ralph(&["worker", "builder", "--as", "analyst-3"]).fails(2).contains("is not the name of a builder"));
    assert!(squad.ralph(&["worker", "cook"]).fails(2).contains("use analyst, builder, validator, integrator"));
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn without_a_program_it_says_how_to_name_one_and_a_boards_own_needs_trust() {
    let squad = Squad::new();
    squad.add("one", &[]);
    std::fs::write(squad.sandbox.home().join(".config/ralph/config.toml"), "").unwrap();
    let said = squad.ralph(&["worker", "analyst"]).fails(1);
    assert!(said.contains("no agent program is set for triage") && said.contains("agent.profile"), "{said}");
    let agent = squad.sandbox.outside("agent.sh").display().to_string();
    squad.sandbox.ralph(&["config", "set", "agent.command", &format!("[{agent:?}]")]).ok();
    assert!(squad.ralph(&["worker", "analyst"]).fails(1).contains("not trusted yet"));
    squad.sandbox.ralph(&["trust", "--yes"]).ok();
    squad.ralph(&["worker", "analyst"]).ok();
}

#[test]
fn the_program_gets_its_prompt_and_its_environment() {
    let squad = Squad::unconfined();
    let id = squad.add("one", &[]);
    let shown = squad.sandbox.outside("ctl/shown");
    let script = format!(
        "{{ echo \"$0|$RALPH_TASK|$RALPH_COMMAND|$RALPH_ROLE|$RALPH_WORKER|$RALPH_BOARD|$(pwd)\"; cat; }} > {}",
        shown.display()
    );
    squad.ralph(&["worker", "analyst", "--once", "--", "sh", "-c", &script, "{task} {command} {other}"]).ok();
    let text = std::fs::read_to_string(&shown).unwrap();
    let root = squad.sandbox.root().canonicalize().unwrap().display().to_string();
    let first = text.lines().next().unwrap().replace(&squad.sandbox.root().display().to_string(), &root);
    assert_eq!(first, format!("{id} triage {{other}}|{id}|triage|analyst|analyst|{root}|{root}"));
    let prompt = squad.ralph(&["prompt", "triage", &id, "--as", "analyst"]).ok();
    assert_eq!(
        text.split_once('\n').unwrap().1.trim(),
        prompt.trim(),
        "a prompt that is not an argument is passed on stdin"
    );
}

#[test]
fn a_task_that_is_taken_over_takes_its_agent_with_it() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    squad.behave("one", "triage", "hang");
    let mut worker = squad.start(&["worker", "analyst", "--once"]);
    eventually("the first run", || !squad.runs().is_empty());
    squad.ralph(&["claim", &id, "--force", "--as", "anna"]).ok();
    assert!(worker.wait().unwrap().success());
    let task = squad.task(&id);
    assert_eq!((&task["claim"]["by"], squad.outcomes(&id)), (&"anna".into(), vec!["triage interrupted".into()]));
}

#[test]
fn a_boards_own_prompt_is_used_only_with_consent() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    let folder = squad.sandbox.root().join(".ralph/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("triage.md"), "my own words on {{ task.id }}\n").unwrap();
    assert!(squad.ralph(&["worker", "analyst", "--once"]).fails(1).contains("not trusted yet"));
    let typed = squad.ralph(&["worker", "analyst", "--once", "--", "cat"]);
    assert!(
        typed.stderr.contains(".ralph/prompts/triage.md"),
        "an untrusted prompt is not passed to the person's own program: {typed}"
    );
    assert_eq!((typed.code, squad.state(&id)), (1, "Backlog".into()), "the failure does not count against the task");
    squad.ralph(&["trust", "--yes"]).ok();
    squad.ralph(&["worker", "analyst", "--once"]).ok();
    assert_eq!(squad.state(&id), "Research Needed");
}

#[test]
fn what_cannot_be_started_is_told_before_anything_is_written() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    for command in ["team", "hero"] {
        let said = squad.ralph(&[command, &id, "--", "/nowhere/agent"]).fails(1);
        assert!(said.contains("cannot start \"/nowhere/agent\""), "{said}");
    }
    assert!(squad.ralph(&["worker", "analyst", "--", "no-such-agent"]).fails(1).contains("no-such-agent"));
    assert_eq!((squad.steps().len(), squad.runs().len(), squad.state(&id)), (0, 0, "Backlog".into()));
}

#[test]
fn a_task_that_a_person_closes_takes_its_agent_with_it() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    squad.behave("one", "triage", "hang");
    let mut worker = squad.start(&["worker", "analyst", "--once"]);
    eventually("the first run", || !squad.runs().is_empty());
    squad.ralph(&["cancel", &id, "--force"]).ok();
    assert!(worker.wait().unwrap().success());
    assert_eq!((squad.state(&id), squad.outcomes(&id)), ("Canceled".into(), vec!["triage interrupted".into()]));
}

#[test]
fn runs_are_listed_shown_and_read() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    squad.behave("one", "triage", "fail");
    squad.ralph(&["--config", "agent.retries=0", "worker", "analyst", "--once"]).ok();
    let listed = squad.ralph(&["runs", "ls"]).ok();
    assert!(listed.contains("triage") && listed.contains("failed"), "{listed}");
    let shown = squad.ralph(&["runs", "show", &id]).ok();
    assert!(shown.contains("I give up") && shown.contains("exited with status 7"), "{shown}");
    assert!(squad.ralph(&["runs", "tail", &id]).ok().ends_with("I give up\n"));
    assert!(squad.ralph(&["runs", "show", "nothing"]).fails(1).contains("ralph runs ls"));
}

#[test]
fn work_in_parts_is_taken_up_again_until_it_is_complete() {
    let squad = Squad::new();
    let id = squad.add("one", &["--state", "Ready for Plan"]);
    squad.ralph(&["worker", "builder", "--once"]).ok();
    // Two runs commit a part each and leave the rest; the third completes it.
    let agent = squad.sandbox.outside("agent.sh").display().to_string();
    let script = format!(
        "n=$(ls part* 2>/dev/null | wc -l); if [ $n -lt 2 ]; then echo $n > part$n; git add .; git commit -qm part$n; else exec {agent}; fi"
    );
    squad.ralph(&["worker", "builder", "--", "sh", "-c", &script]).ok();
    assert_eq!(squad.outcomes(&id), ["plan done", "implement advanced", "implement advanced", "implement done"]);
    assert_eq!(squad.state(&id), "In Review");
}

#[test]
fn a_person_stops_a_run_and_has_it_tried_again() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    squad.behave("one", "triage", "hang");
    let mut worker = squad.command(&["worker", "analyst", "--wait", "10m"]);
    let mut worker = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("it runs", || squad.outcomes(&id) == ["triage running"]);
    assert!(squad.ralph(&["runs", "retry", &id]).fails(1).contains("no run of"));
    assert!(squad.ralph(&["runs", "stop", &id, "--as", "builder"]).fails(1).contains("person"));
    assert!(squad.ralph(&["runs", "stop", &id]).stderr.contains("is handed to a person and will be in the inbox"));
    eventually("it is stopped", || squad.outcomes(&id) == ["triage stopped"] && squad.state(&id) == "Human Needed");
    assert!(squad.notes(&id).contains("stopped by "), "{}", squad.notes(&id));
    assert!(squad.ralph(&["inbox"]).to_string().contains(&id));
    assert!(squad.ralph(&["runs", "stop", &id]).fails(1).contains("is not running: it is stopped"));
    squad.ralph(&["runs", "retry", &id]).ok();
    eventually("the worker continues with it", || squad.state(&id) == "Ready for Plan");
    assert_eq!(squad.outcomes(&id)[..2], ["triage stopped", "triage done"]);
    assert!(squad.ralph(&["runs", "retry", &id]).fails(1).contains("no run of"));
    worker.kill().unwrap();
    worker.wait().unwrap();
}

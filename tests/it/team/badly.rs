//! Misbehaving agents: each ends as the workflow says, nothing is lost, and the team finishes the rest.

use super::{Squad, eventually};

/// A team with one task whose agent misbehaves, and one whose agent does not.
fn team(squad: &Squad, settings: &[&str]) -> (String, String, String) {
    let (bad, good) = (squad.add("bad", &[]), squad.add("good", &[]));
    let mut args: Vec<String> =
        settings.iter().flat_map(|setting| ["--config".to_owned(), (*setting).to_owned()]).collect();
    args.extend(["team".to_owned(), bad.clone(), good.clone()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = squad.ralph(&args);
    assert_eq!(squad.state(&good), "Done", "the team finishes the rest: {said}");
    assert_eq!(squad.main()[&format!("src/{good}.txt")], "good\n");
    (bad, good, said.to_string())
}

#[test]
fn one_that_always_fails_is_tried_so_often_and_then_a_person_is_called() {
    for (how, outcome) in [("fail", "failed"), ("crash", "failed"), ("idle", "unmoved"), ("lie", "unmoved")] {
        let squad = Squad::new();
        squad.behave("bad", "research", &format!("always {how}"));
        let (bad, _, said) = team(&squad, &[]);
        assert_eq!(squad.state(&bad), "Human Needed", "{how}: {said}");
        let research = format!("research {outcome}");
        assert_eq!(squad.outcomes(&bad), ["triage done", &research, &research, &research], "{how}");
        assert!(squad.notes(&bad).contains("`research` was handed to a person"), "{}", squad.notes(&bad));
        assert!(said.contains("handed to a person"), "{said}");
        assert!(squad.task(&bad)["owner"].is_null() && squad.task(&bad)["claim"].is_null());
    }
}

#[test]
fn a_program_that_fails_at_once_on_every_task_ends_the_team_and_moves_nothing() {
    let squad = Squad::new();
    let ids: Vec<String> = (0..5).map(|_| squad.add("bad", &[])).collect();
    squad.behave("bad", "triage", "always fail");
    let said = squad.ralph(&["team", "--ready"]);
    assert_eq!(said.code, 4, "{said}");
    assert!(said.stderr.contains("is unavailable: I give up"), "{said}");
    for id in &ids {
        assert_eq!(squad.state(id), "Backlog", "{said}");
        assert_eq!(squad.notes(id), "", "{said}");
    }
    let runs = squad.runs();
    assert!(runs.len() <= 4, "{runs:?}");
}

#[test]
fn one_that_fails_once_is_tried_again_and_done() {
    let squad = Squad::new();
    squad.behave("bad", "plan", "fail");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Done", "{said}");
    let outcomes = squad.outcomes(&bad);
    assert_eq!(outcomes[2..4], ["plan failed", "plan done"], "{outcomes:?}");
    squad.is_clean();
}

#[test]
fn one_that_hangs_is_ended_with_all_that_it_started() {
    let squad = Squad::new();
    squad.settings("timeout = \"4s\"\nretries = 0");
    squad.behave("bad", "research", "always hang");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(
        (squad.state(&bad), squad.outcomes(&bad)[1].as_str()),
        ("Human Needed".into(), "research timed-out"),
        "{said}"
    );
    assert!(squad.notes(&bad).contains("timed out after 4s"), "{}", squad.notes(&bad));
    assert!(!is_running("sleep 600", &squad), "its own children ended with it");
}

/// Whether a process with this command line runs in this squad's environment.
fn is_running(line: &str, squad: &Squad) -> bool {
    let home = squad.sandbox.home().display().to_string();
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    pids.into_iter().any(|entry| {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let words = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        words.trim() == line && String::from_utf8_lossy(&read("environ")).contains(&home)
    })
}

#[test]
fn one_that_completes_without_its_document_is_refused_by_the_board() {
    let squad = Squad::new();
    squad.behave("bad", "plan", "lie");
    let (bad, _, _) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Done");
    let run = squad.runs().into_iter().find(|run| run["task"] == bad.as_str() && run["outcome"] == "unmoved").unwrap();
    let log = squad.ralph(&["runs", "tail", run["id"].as_str().unwrap()]).ok();
    assert!(log.contains("has no plan"), "{log}");
}

#[test]
fn one_that_writes_outside_its_worktree_does_not_complete_and_nothing_is_lost() {
    let squad = Squad::unconfined();
    squad.behave("bad", "implement", "always stray-planned");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Human Needed", "{said}");
    assert!(squad.notes(&bad).contains("src/bad.txt"), "{}", squad.notes(&bad));
    assert_eq!(std::fs::read_to_string(squad.sandbox.root().join("src/bad.txt")).unwrap(), "mine\n");
    let branch = squad.sandbox.git(&["show", &format!("feature/{bad}:src/{bad}.txt")]);
    assert_eq!(branch, "bad\n", "commits in its own worktree are kept");
    assert!(!squad.main().contains_key(&format!("src/{bad}.txt")));
}

#[test]
fn a_confined_one_cannot_write_outside_its_worktree_or_commit_to_main() {
    for how in ["always stray-planned", "always commit-main"] {
        let squad = Squad::new();
        squad.behave("bad", "implement", how);
        let (bad, _, said) = team(&squad, &[]);
        assert_eq!(squad.state(&bad), "Human Needed", "{said}");
        assert!(squad.notes(&bad).contains("Permission denied"), "{how}: {}", squad.notes(&bad));
        let root = squad.sandbox.root();
        assert!(!root.join("src/bad.txt").exists() && !root.join("x.txt").exists(), "{how}");
        assert!(!squad.main().contains_key("x.txt"), "{how}");
    }
}

#[test]
fn what_changes_while_only_one_agent_runs_is_held_against_it() {
    let squad = Squad::unconfined();
    let id = squad.add("bad", &[]);
    squad.behave("bad", "implement", "stray");
    let said = squad.ralph(&["team", &id]);
    assert_eq!((said.code, squad.state(&id)), (1, "Human Needed".into()), "{said}");
    assert!(squad.notes(&id).contains("stray.txt"), "{}", squad.notes(&id));
}

#[test]
fn an_analyst_that_changes_the_main_worktree_is_found_out_too() {
    let squad = Squad::unconfined();
    let id = squad.add("bad", &["--state", "Research Needed"]);
    squad.behave("bad", "research", "stray");
    squad.ralph(&["worker", "analyst", "--once"]).ok();
    assert_eq!(squad.state(&id), "Human Needed");
    assert!(squad.notes(&id).contains("stray.txt"), "{}", squad.notes(&id));
}

#[test]
fn what_a_person_changes_while_confined_agents_run_is_held_against_nobody() {
    let squad = Squad::new();
    let id = squad.add("good", &["--state", "Ready for Plan"]);
    squad.ralph(&["worker", "builder", "--once"]).ok();
    let root = squad.sandbox.root().display().to_string();
    // A process outside of the agent's sandbox writes the file, as a person would while the agent runs.
    let agent = squad.sandbox.outside("agent.sh").display().to_string();
    let script = format!("touch \"$CTL/now\"; while [ ! -e '{root}/mine.txt' ]; do sleep 0.05; done; exec {agent}");
    let ctl = squad.sandbox.outside("ctl/now");
    let person = std::thread::spawn(move || {
        eventually("the agent", || ctl.exists());
        std::fs::write(format!("{root}/mine.txt"), "mine\n").unwrap();
    });
    squad.ralph(&["worker", "builder", "--once", "--", "sh", "-c", &script]).ok();
    person.join().unwrap();
    assert_eq!(squad.state(&id), "In Review", "{}", squad.notes(&id));
}

#[test]
fn a_person_who_edits_the_main_worktree_can_have_that_only_told() {
    let squad = Squad::unconfined();
    squad.behave("bad", "implement", "stray");
    let (bad, _, _) = team(&squad, &["agent.strays=tell"]);
    assert_eq!(squad.state(&bad), "Done");
    assert!(squad.notes(&bad).contains("stray.txt"), "{}", squad.notes(&bad));
}

#[test]
fn one_that_commits_to_main_is_handed_to_a_person_with_the_commit_kept() {
    let squad = Squad::unconfined();
    squad.behave("bad", "implement", "commit-main");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Human Needed", "{said}");
    assert!(squad.notes(&bad).contains("a commit on main ("), "{}", squad.notes(&bad));
    assert_eq!(squad.main()["x.txt"], "x\n", "nothing is discarded");
}

#[test]
fn one_that_hides_its_commit_on_main_is_found_out() {
    for how in ["commit-main-hidden", "move-main-unlogged"] {
        let squad = Squad::unconfined();
        let id = squad.add("bad", &["--state", "Research Needed"]);
        squad.behave("bad", "research", how);
        squad.ralph(&["worker", "analyst", "--once"]).ok();
        assert_eq!(squad.state(&id), "Human Needed", "{how}");
        assert!(squad.notes(&id).contains("a commit on main ("), "{how}: {}", squad.notes(&id));
    }
}

#[test]
fn what_ralph_merges_and_commits_while_an_agent_runs_is_held_against_nobody() {
    let squad = Squad::unconfined();
    squad.behave("good", "research", "commit-board");
    let (first, second) = (squad.add("good", &[]), squad.add("fine", &[]));
    let said = squad.ralph(&["team", &first, &second]);
    assert_eq!((squad.state(&first), squad.state(&second)), ("Done".into(), "Done".into()), "{said}");
    assert!(!squad.notes(&first).contains("a commit on main ("), "{}", squad.notes(&first));
}

#[test]
fn one_that_is_rejected_three_times_goes_to_a_person() {
    let squad = Squad::new();
    squad.behave("bad", "review", "always reject");
    let (bad, _, said) = team(&squad, &["review.mode=auto"]);
    assert_eq!(squad.state(&bad), "Human Needed", "{said}");
    assert!(squad.sandbox.read_task(&bad).contains("rejections = 3"));
    let reviews = squad.outcomes(&bad).iter().filter(|line| line.starts_with("review")).count();
    assert_eq!(reviews, 3);
}

#[test]
fn one_that_is_killed_with_its_worker_is_taken_up_by_the_next() {
    let squad = Squad::new();
    squad.behave("bad", "implement", "kill-worker");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Done", "{said}");
    assert!(said.contains("SIGKILL") || said.contains("signal: 9"), "{said}");
    assert!(squad.outcomes(&bad).contains(&"implement lost".to_owned()), "{:?}", squad.outcomes(&bad));
    assert!(said.contains("9 agent runs"), "the lost run is counted: {said}");
    eventually("the end of its sleep", || !is_running("sleep 600", &squad));
    squad.is_clean();
}

#[test]
fn one_that_is_killed_in_a_lock_that_returns_is_taken_up_too() {
    let squad = Squad::new();
    squad.behave("bad", "plan", "kill-worker");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(squad.state(&bad), "Done", "{said}");
    assert!(squad.outcomes(&bad).contains(&"plan lost".to_owned()), "{:?}", squad.outcomes(&bad));
    squad.is_clean();
}

#[test]
fn a_task_that_is_removed_in_the_middle_does_not_keep_the_team() {
    let squad = Squad::new();
    let (bad, good) = (squad.add("bad", &[]), squad.add("good", &[]));
    squad.behave("bad", "triage", "hang");
    let mut team = squad.command(&["team", &bad, &good]);
    let mut team = team.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    eventually("the run", || squad.runs().iter().any(|run| run["task"] == bad.as_str()));
    std::fs::remove_file(squad.sandbox.task_file(&bad)).unwrap();
    eventually("the other task's end", || squad.state(&good) == "Done");
    let _ = std::fs::remove_file(squad.sandbox.outside("ctl/bad.triage"));
    // Signals that arrive at the same time are merged by the kernel, so they are sent until the team ends.
    let mut end = None;
    eventually("its end", || {
        crate::system::interrupt(team.id());
        end = team.try_wait().unwrap();
        end.is_some()
    });
    assert!(end.unwrap().code().is_some(), "{end:?}");
    let open = squad.steps().iter().filter(|step| step["state"] != "Completed").count();
    assert_eq!(open, 0, "{:?}", squad.steps());
}

#[test]
fn a_file_that_breaks_in_the_middle_is_named_and_the_rest_is_finished() {
    let squad = Squad::new();
    squad.settings("timeout = \"4s\"");
    let (bad, good) = (squad.add("bad", &[]), squad.add("good", &[]));
    squad.behave("bad", "triage", "hang");
    let team = squad.command(&["team", &bad, &good]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    eventually("the run", || squad.runs().iter().any(|run| run["task"] == bad.as_str()));
    let text = squad.sandbox.read_task(&bad);
    squad.sandbox.write_task(&bad, format!("{text}\nbroken = = 1\n"));
    let end = team.wait_with_output().unwrap();
    let said = String::from_utf8(end.stdout).unwrap();
    assert_eq!(end.status.code(), Some(1), "{said}");
    assert!(said.contains("unreadable: ") && said.contains(&format!("{bad}.toml")), "{said}");
    assert_eq!(squad.state(&good), "Done");
    assert!(squad.sandbox.read_task(&bad).contains("broken = = 1"), "it was not overwritten");
}

#[test]
fn what_an_agent_leaves_running_ends_with_its_turn() {
    let squad = Squad::new();
    let id = squad.add("one", &[]);
    let agent = squad.sandbox.outside("agent.sh").display().to_string();
    let script = format!("setsid sleep 611 & exec {agent}");
    squad.ralph(&["worker", "analyst", "--once", "--", "sh", "-c", &script]).ok();
    assert_eq!(squad.state(&id), "Research Needed");
    assert!(!is_running("sleep 611", &squad));
}

#[test]
fn what_is_in_the_way_of_a_merge_is_a_persons_and_stays() {
    let squad = Squad::new();
    let id = squad.add("alpha", &["--state", "Ready for Plan"]);
    let file = squad.sandbox.root().join(format!("src/{id}.txt"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "a person's\n").unwrap();
    let said = squad.ralph(&["team", &id]);
    assert_eq!((said.code, squad.state(&id)), (1, "Human Needed".into()), "{said}");
    assert_eq!(squad.outcomes(&id).last().unwrap(), "merge escalated");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a person's\n");
    let again = squad.ralph(&["team", &id]);
    assert!(again.stdout.contains("would be overwritten"), "the reason is reported again: {again}");
}

#[test]
fn a_merge_whose_check_fails_goes_back_to_the_builder_and_then_to_a_person() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.sandbox.ralph(&["config", "set", "merge.checks", "[[\"false\"]]"]).ok();
    squad.sandbox.ralph(&["trust", "--yes"]).ok();
    let said = squad.ralph(&["--config", "agent.retries=1", "team", &id]);
    assert_eq!((said.code, squad.state(&id)), (1, "Human Needed".into()), "{said}");
    let outcomes = squad.outcomes(&id);
    let round = ["merge returned", "implement done"];
    assert_eq!(outcomes[4..], [&round[..], &round, &["merge escalated"]].concat(), "{outcomes:?}");
    assert!(squad.notes(&id).contains("the check `false` failed"), "{}", squad.notes(&id));
}

#[test]
fn an_agent_that_escalates_ends_its_task_there() {
    let squad = Squad::new();
    squad.behave("bad", "plan", "escalate");
    let (bad, _, said) = team(&squad, &[]);
    assert_eq!(
        (squad.state(&bad), squad.outcomes(&bad).last().unwrap().as_str()),
        ("Human Needed".into(), "plan escalated"),
        "{said}"
    );
    // A person moves it on, and the same command finishes it.
    squad.ralph(&["move", &bad, "Ready for Plan"]).ok();
    squad.ralph(&["team", &bad]).ok();
    assert_eq!(squad.state(&bad), "Done");
    squad.is_clean();
}

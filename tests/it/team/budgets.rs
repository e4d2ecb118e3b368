//! Budgets of money, tokens and runs: work stops when one is used up, and tasks that were not started stay as they
//! were.

use super::Squad;

fn with_budget(budget: &str) -> Squad {
    let squad = Squad::new();
    squad.settings(&format!("[budget]\n{budget}"));
    squad
}

#[test]
fn a_team_ends_after_as_many_runs_as_its_budget_allows_and_touches_nothing_else() {
    let squad = with_budget("team = \"3 runs\"");
    let tasks: Vec<String> =
        (0..10).map(|n| squad.add(&format!("t{n}"), &["--state", "Research Needed", "--estimate", "S"])).collect();
    let said = squad.ralph(&["team", "--ready"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stderr.contains("budget.team is used up (3 of 3 runs)"), "{said}");
    assert!(said.stderr.contains("ralph costs") && said.stderr.contains("config set budget.team"), "{said}");
    assert!(said.stdout.contains("3 agent runs") && said.stdout.contains("report: "), "{said}");
    let inbox = squad.ralph(&["inbox"]).ok();
    let told = inbox.contains("team stopped") && inbox.contains("budget.team is used up (3 of 3 runs)");
    assert!(told && inbox.contains("ralph config set budget.team"), "{inbox}");
    assert_eq!(squad.runs().len(), 3);
    let untouched = |id: &&String| squad.moves(id).is_empty() && squad.task(id)["claim"].is_null();
    let worked_on: std::collections::BTreeSet<String> =
        squad.runs().iter().map(|run| run["task"].as_str().unwrap().to_owned()).collect();
    assert_eq!(tasks.iter().filter(untouched).count(), 10 - worked_on.len());
    // Later runs of the same team count against the same budget, and raising it lets the team continue.
    assert_eq!(squad.ralph(&["team", "--ready"]).code, 1);
    assert_eq!(squad.runs().len(), 3);
    squad.settings("[budget]\nteam = \"5 runs\"");
    let _ = squad.ralph(&["team", "--ready"]);
    assert_eq!(squad.runs().len(), 5);
}

#[test]
fn a_task_that_has_used_its_budget_goes_to_a_person_and_others_go_on() {
    let squad = with_budget("task = \"2 runs\"");
    let bad = squad.add("bad", &["--state", "Research Needed", "--estimate", "S"]);
    let good = squad.add("good", &["--state", "Research Needed", "--estimate", "S"]);
    squad.behave("bad", "research", "always fail");
    squad.ralph(&["worker", "analyst"]).ok();
    assert_eq!((squad.state(&bad), squad.state(&good)), ("Human Needed".into(), "Ready for Plan".into()));
    assert_eq!(squad.outcomes(&bad), ["research failed", "research failed"], "retries count");
    let note = squad.task(&bad)["notes"][0]["text"].as_str().unwrap().to_owned();
    assert!(note.contains("budget.task is used up (2 of 2 runs): raise it with"), "{note}");
    let inbox = squad.ralph(&["inbox"]).ok();
    assert!(inbox.contains("budget.task is used up (2 of 2 runs)"), "{inbox}");
    assert!(inbox.contains("ralph config set budget.task") && inbox.contains("ralph runs retry"), "{inbox}");
    let summary = squad.ralph(&["team", &bad]);
    assert!(
        summary.code == 1 && summary.stdout.contains("budget.task is used up (2 of 2 runs): raise it"),
        "{summary}"
    );
    squad.settings("[budget]\ntask = \"9 runs\"");
    let inbox = squad.ralph(&["inbox"]).ok();
    assert!(inbox.contains("research") && inbox.contains("`ralph answer"), "{inbox}");
}

/// A board on which builders need no plan, with one task for them.
fn with_setup(setup: &str, budget: &str) -> (Squad, String) {
    let squad = with_budget(budget);
    squad.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    let settings = format!("[budget]\n{budget}\n[worktree]\nsetup = [[\"sh\", \"-c\", \"{setup}\"]]");
    squad.settings(&settings);
    let task = squad.add("one", &["--state", "Backlog"]);
    (squad, task)
}

#[test]
fn a_setup_that_fails_is_told_and_uses_up_nothing() {
    let (squad, task) = with_setup("echo no network; exit 3", "task = \"1 run\"");
    for round in 1..=3 {
        let said = squad.ralph(&["worker", "builder", "--once"]);
        let told = ["worktree.setup failed (exit status 3): `sh -c", "output:\n  no network"]
            .iter()
            .all(|words| said.stderr.contains(words));
        assert!(said.code == 4 && told, "{said}");
        assert_eq!((squad.state(&task), squad.runs().len()), ("Backlog".into(), round));
    }
    let run = squad.runs()[0].clone();
    assert_eq!((&run["outcome"], &run["not_started"]), (&"setup-failed".into(), &true.into()));
    assert!(run["message"].as_str().unwrap().contains("worktree.setup failed"), "{run}");
    assert_eq!(squad.ralph(&["costs", "--json"]).json()["total"]["runs"], 0);
    squad.settings("[budget]\ntask = \"1 run\"");
    squad.ralph(&["worker", "builder", "--once"]).ok();
    assert_eq!(squad.state(&task), "In Review");
}

#[test]
fn a_team_pauses_after_a_failed_setup_and_tries_as_often_as_a_run() {
    let (squad, task) = with_setup("echo no network; exit 3", "task = \"9 runs\"");
    let setup = "[worktree]\nsetup = [[\"sh\", \"-c\", \"exit 3\"]]";
    squad.settings(&format!("retries = 1\n{setup}"));
    let path = squad.sandbox.home().join(".config/ralph/config.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("backoff = \"0s\"", "backoff = \"2s\"");
    std::fs::write(path, text).unwrap();
    let said = squad.ralph(&["team", &task]);
    let told = "builder stopped: worktree.setup failed (exit status 3): `sh -c exit 3`; it is tried again in 2s";
    assert!(said.code == 1 && said.stdout.contains(told), "{said}");
    let setups: Vec<serde_json::Value> =
        squad.runs().into_iter().filter(|run| run["outcome"] == "setup-failed").collect();
    assert_eq!(setups.len(), 2, "{said}");
    let at = |run: &serde_json::Value| run["started"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(at(&setups[0]).duration_since(at(&setups[1])).as_secs() >= 2, "{setups:?}");
    assert!(squad.ralph(&["runs", "ls"]).ok().contains("setup failed"));
}

#[test]
fn what_is_built_is_merged_although_the_budget_is_used_up() {
    let squad = with_budget("team = \"1 run\"");
    squad.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    let tasks = ["one", "two"].map(|title| squad.add(title, &["--state", "Backlog"]));
    let stopped = |args: &[&str]| {
        let said = squad.ralph(args);
        assert!(said.code == 1 && said.stderr.contains("budget.team is used up"), "{said}");
        assert!(said.stdout.contains("steps completed"), "{said}");
    };
    stopped(&["team", &tasks[0], &tasks[1]]);
    let (built, left): (Vec<&String>, Vec<&String>) = tasks.iter().partition(|id| squad.state(id) == "Done");
    assert_eq!((built.len(), squad.state(left[0])), (1, "Backlog".to_owned()));
    let shown = squad.ralph(&["task", "show", left[0]]).ok();
    assert!(shown.contains("reports/"), "{shown}");
    squad.settings("[budget]\nteam = \"0 runs\"");
    stopped(&["hero", left[0]]);
}

#[test]
fn a_budget_that_cannot_be_checked_stops_the_work_and_says_which_one_could_be() {
    for (budget, what) in [("day = \"$5\"", "no cost"), ("day = \"5k tokens\"", "no tokens")] {
        let squad = with_budget(budget);
        squad.add("one", &["--state", "Research Needed", "--estimate", "S"]);
        squad.add("two", &["--state", "Research Needed", "--estimate", "S"]);
        let said = squad.ralph(&["worker", "analyst"]);
        let all = ["cannot be checked", what, "20 runs"];
        assert!(said.code == 1 && all.iter().all(|words| said.stderr.contains(words)), "{said}");
        assert_eq!(squad.runs().len(), 1);
    }
}

#[test]
fn what_a_program_does_not_report_is_shown_as_unknown_and_never_as_zero() {
    let squad = Squad::new();
    let task = squad.add("one", &["--state", "Research Needed", "--estimate", "S"]);
    squad.ralph(&["worker", "analyst"]).ok();
    let listed = squad.ralph(&["runs", "ls"]).ok();
    assert!(listed.contains("unknown") && !listed.contains("$0"), "{listed}");
    let costs = squad.ralph(&["costs"]).ok();
    assert!(costs.contains(&task) && costs.contains("unknown") && !costs.contains("$0"), "{costs}");
    let json = squad.ralph(&["costs", "--by", "model", "--json"]).json();
    assert_eq!(json["rows"][0]["key"], "unknown");
    for what in ["input_tokens", "cached_tokens", "output_tokens", "cost_usd"] {
        assert!(json["total"][what].is_null(), "{what}: {json}");
    }
    assert_eq!(squad.ralph(&["costs", "--since", "0s", "--json"]).json()["rows"], serde_json::json!([]));
    assert!(squad.ralph(&["costs", "--since", "0s"]).stderr.contains("no runs in this period"));
}

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
    assert!(said.stderr.contains("budget.team is used up: 3 runs of 3 runs"), "{said}");
    assert!(said.stderr.contains("ralph costs") && said.stderr.contains("config set budget.team"), "{said}");
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
    assert!(note.contains("budget.task is used up: 2 runs of 2 runs"), "{note}");
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
        let told = ["(worktree.setup) failed", "no network"].iter().all(|words| said.stderr.contains(words));
        assert!(said.code == 4 && told, "{said}");
        assert_eq!((squad.state(&task), squad.runs().len()), ("Backlog".into(), round));
    }
    let run = squad.runs()[0].clone();
    assert_eq!((&run["outcome"], &run["not_started"]), (&"interrupted".into(), &true.into()));
    assert!(run["message"].as_str().unwrap().contains("(worktree.setup) failed"), "{run}");
    assert_eq!(squad.ralph(&["costs", "--json"]).json()["total"]["runs"], 0);
    squad.settings("[budget]\ntask = \"1 run\"");
    squad.ralph(&["worker", "builder", "--once"]).ok();
    assert_eq!(squad.state(&task), "In Review");
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
}

//! Budgets of money, tokens and runs: work is parked when one is used up, and what was not begun stays as it was.

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
    // Later runs of the same team are under the same budget, and another day's raise lets it go on.
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
    assert_eq!((&json["rows"][0]["key"], &json["total"]["cost_usd"]), (&"unknown".into(), &serde_json::Value::Null));
    assert_eq!(squad.ralph(&["costs", "--since", "0s", "--json"]).json()["rows"], serde_json::json!([]));
}

//! Several teams and workers at once: limits, streams, and separate steps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Squad;

fn time(run: &Value, key: &str) -> jiff::Timestamp {
    run[key].as_str().unwrap().parse().unwrap()
}

/// The highest number of simultaneous runs of a role.
fn most_at_once(runs: &[Value], role: &str) -> usize {
    let of = |run: &&Value| run["worker"].as_str().unwrap().split('-').next() == Some(role);
    let spans: Vec<_> = runs.iter().filter(of).map(|run| (time(run, "started"), time(run, "ended"))).collect();
    spans
        .iter()
        .map(|(start, _)| spans.iter().filter(|(from, to)| from <= start && start < to).count())
        .max()
        .unwrap_or(0)
}

#[test]
fn a_team_over_everything_that_is_ready_keeps_within_the_limits() {
    let squad = Squad::new();
    for number in 0..9 {
        squad.add(&format!("task{number}"), &["--state", "Ready for Plan"]);
    }
    let mut team = squad.command(&["team", "--ready", "--json"]);
    let done = crate::sandbox::finish(team.env("PACE", "0.1")).json();
    assert_eq!(done["left"], serde_json::json!([]));
    assert_eq!(done["finished"], true);
    let runs = squad.runs();
    assert_eq!(runs.len(), 9 * 3, "each is planned, implemented and merged once");
    assert_eq!(most_at_once(&runs, "builder"), 3, "as many as the limits allow");
    assert_eq!(most_at_once(&runs, "integrator"), 1);
    squad.is_clean();
}

#[test]
fn plans_that_touch_the_same_file_are_built_one_after_the_other() {
    let squad = Squad::new();
    let ids: Vec<String> =
        ["red", "green", "blue"].iter().map(|title| squad.add(title, &["--state", "Ready for Plan"])).collect();
    squad.behave("red", "plan", "touches src/shared.txt");
    squad.behave("green", "plan", "touches src/shared.txt");
    let mut team = squad.command(&["team", &ids[0], &ids[1], &ids[2]]);
    crate::sandbox::finish(team.env("PACE", "0.3")).ok();
    let runs = squad.runs();
    let span = |id: &String| {
        let of =
            |command: &str| runs.iter().find(|run| run["task"] == id.as_str() && run["command"] == command).unwrap();
        // From the journal: the record of the merge run is closed a moment after the task is Done and others may start.
        (time(of("implement"), "started"), squad.done_at(id))
    };
    let apart = |one: (jiff::Timestamp, jiff::Timestamp), two: (jiff::Timestamp, jiff::Timestamp)| {
        one.1 <= two.0 || two.1 <= one.0
    };
    let [red, green, blue] = [span(&ids[0]), span(&ids[1]), span(&ids[2])];
    assert!(apart(red, green), "{red:?} {green:?}");
    assert!(!apart(red, blue) || !apart(green, blue), "the third is not blocked: {red:?} {green:?} {blue:?}");
    squad.is_clean();
}

#[test]
fn two_teams_at_once_have_their_own_workers_and_steps() {
    let squad = Squad::new();
    let (one, two) = (squad.add("one", &[]), squad.add("two", &[]));
    let mut other =
        squad.command(&["team", &one]).env("PACE", "0.2").stdout(std::process::Stdio::null()).spawn().unwrap();
    let said = crate::sandbox::finish(squad.command(&["team", &two]).env("PACE", "0.2"));
    assert_eq!(said.code, 0, "{said}");
    assert!(other.wait().unwrap().success());
    let mut teams: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in squad.runs() {
        assert_eq!(run["task"], run["team"], "no worker does the other team's steps: {run}");
        let worker = run["worker"].as_str().unwrap().to_owned();
        teams.entry(run["team"].as_str().unwrap().to_owned()).or_default().push(worker);
    }
    assert!(teams[&one].iter().all(|worker| !teams[&two].contains(worker)), "{teams:?}");
    squad.is_clean();
}

#[test]
fn a_second_team_on_the_same_task_is_refused() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.behave("alpha", "triage", "hang");
    let mut first = squad.start(&["team", &id]);
    super::eventually("the first run", || !squad.runs().is_empty());
    assert!(squad.ralph(&["team", &id]).fails(3).contains("another team works on"));
    first.kill().unwrap();
    first.wait().unwrap();
}

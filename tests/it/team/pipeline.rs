//! From Backlog to Done, offline: one task, a group, an epic; in every review mode, with a team and with a hero.

use super::Squad;

const MODES: [&str; 3] = ["skip", "auto", "interactive"];

/// Asserts that the documents exist, are linked and are complete.
#[track_caller]
fn has_documents(squad: &Squad, id: &str, kinds: &[&str]) {
    let task = squad.task(id);
    for kind in kinds {
        let path = task["artifacts"][kind].as_str().unwrap_or_else(|| panic!("{id} has no {kind}: {task}"));
        assert!(squad.sandbox.root().join(path).is_file(), "{path}");
        squad.ralph(&["artifact", "check", kind, id]).ok();
    }
}

/// The states of a task in order, the same in every mode.
const WAY: [&str; 8] = [
    "Research Needed",
    "Research in Progress",
    "Ready for Plan",
    "Plan in Progress",
    "Plan in Review",
    "In Progress",
    "In Review",
    "Done",
];

/// Commits the board; returns the commit.
fn board_commit(squad: &Squad) -> String {
    squad.sandbox.git(&["add", "-A", ".ralph"]);
    squad.sandbox.git(&["commit", "-q", "--allow-empty", "-m", "board"]);
    squad.sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

#[test]
fn one_task_goes_from_backlog_to_done_in_every_review_mode() {
    for mode in MODES {
        let squad = Squad::new();
        let id = squad.add("alpha", &[]);
        let before = board_commit(&squad);
        let said = squad.ralph(&["--config", &format!("review.mode={mode}"), "team", &id]).ok();
        assert!(said.contains("steps completed"), "{said}");
        assert_eq!(squad.states(&id), WAY, "{mode}");
        let kinds: &[&str] = if mode == "skip" { &["research", "plan"] } else { &["research", "plan", "review"] };
        has_documents(&squad, &id, kinds);
        assert_eq!(squad.main()[&format!("src/{id}.txt")], "alpha\n");
        squad.is_clean();
        let moves = squad.ralph(&["doctor", "--at", &board_commit(&squad), "--since", &before]).ok();
        assert!(moves.contains("no problems"), "{moves}");
        for step in squad.steps() {
            assert_eq!(step["state"], "Completed", "{step}");
        }
        let commands: Vec<String> = squad.outcomes(&id);
        let wanted: &[&str] = match mode {
            "skip" => &["triage done", "research done", "plan done", "implement done", "merge done"],
            _ => &["triage done", "research done", "plan done", "review done", "implement done", "merge done"],
        };
        assert_eq!(commands, wanted, "{mode}");
        let report = squad.task(&id)["artifacts"]["report"].as_str().unwrap().to_owned();
        let report = std::fs::read_to_string(squad.sandbox.root().join(report)).unwrap();
        assert!(report.contains("status: complete") && report.contains("| Done | alpha |"), "{report}");
    }
}

#[test]
fn each_command_is_run_by_a_worker_of_its_role() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.ralph(&["--config", "review.mode=interactive", "team", &id]).ok();
    let runs = squad.runs();
    let by = |command: &str| {
        runs.iter().find(|run| run["command"] == command).unwrap()["worker"].as_str().unwrap().to_owned()
    };
    for (command, role) in [
        ("triage", "analyst"),
        ("research", "analyst"),
        ("plan", "builder"),
        ("review", "validator"),
        ("implement", "builder"),
        ("merge", "integrator"),
    ] {
        assert_eq!(by(command), role, "{command}");
    }
    let moved: Vec<String> = squad.moves(&id).into_iter().map(|(_, by, _)| by).collect();
    assert_eq!(moved, ["analyst", "analyst", "analyst", "builder", "builder", "validator", "builder", "integrator"]);
}

#[test]
fn the_steps_are_chained_and_carry_their_results() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.ralph(&["team", &id]).ok();
    let steps = squad.steps();
    let of =
        |command: &str| steps.iter().find(|step| step["title"].as_str().unwrap().starts_with(command)).unwrap().clone();
    let order = ["Triage", "Research", "Plan", "Implement", "Create PR", "Merge PR"];
    for pair in order.windows(2) {
        assert_eq!(of(pair[1])["blocked_by"], serde_json::json!([of(pair[0])["id"]]), "{pair:?}");
    }
    for (command, by) in [("Triage", "analyst"), ("Plan", "builder"), ("Implement", "builder"), ("Merge", "integrator")]
    {
        assert_eq!(of(command)["owner"], by, "who did it");
    }
    let text = squad.sandbox.read_task(of("Research")["id"].as_str().unwrap());
    assert!(
        text.contains("active_form = \"Researching ") && text.contains("result = \"thoughts/shared/research/"),
        "{text}"
    );
    assert!(text.contains(&format!("team = \"{id}\"")) && text.contains("command = \"research\""), "{text}");
    squad.ralph(&["team", &id]).ok();
    assert_eq!(squad.steps().len(), 6, "the second start adds no steps");
    let step = of("Plan")["id"].as_str().unwrap().to_owned();
    squad.ralph(&["move", &step, "Pending"]).ok();
    squad.ralph(&["task", "set", &step, "result="]).ok();
    let refused = squad.ralph(&["move", &step, "Completed", "--as", "builder"]).fails(1);
    assert!(refused.contains("has no result yet"), "{refused}");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_writes_nothing() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    let before = squad.journal().len();
    for command in ["team", "hero"] {
        let plan = squad.ralph(&[command, &id, "--dry-run"]).ok();
        assert!(plan.contains("○ triage ○ research ○ plan ○ implement ○ pr ○ merge"), "{plan}");
    }
    assert_eq!((squad.steps().len(), squad.journal().len(), squad.runs().len()), (0, before, 0));
}

#[test]
fn a_group_of_three_is_planned_built_and_merged_once_in_every_review_mode() {
    for mode in MODES {
        let squad = Squad::new();
        let epic = squad.add("group", &["--kind", "epic", "--atomic"]);
        let first = squad.add("first", &["--parent", &epic]);
        let second = squad.add("second", &["--parent", &epic, "--blocked-by", &first]);
        let third = squad.add("third", &["--parent", &epic, "--blocked-by", &second]);
        squad.ralph(&["--config", &format!("review.mode={mode}"), "team", &epic]).ok();
        for id in [&epic, &first, &second, &third] {
            assert_eq!(squad.state(id), "Done", "{mode}");
        }
        let runs = squad.runs();
        let count = |command: &str| runs.iter().filter(|run| run["command"] == command).count();
        assert_eq!((count("research"), count("plan"), count("implement"), count("merge")), (3, 1, 1, 1), "{mode}");
        assert!(runs.iter().filter(|run| run["command"] == "plan").all(|run| run["task"] == first.as_str()));
        let main = squad.main();
        for id in [&first, &second, &third] {
            assert_eq!(main[&format!("src/{id}.txt")], "first\n", "one worktree, one commit for all: {mode}");
        }
        has_documents(&squad, &first, &["plan"]);
        squad.is_clean();
    }
}

#[test]
fn an_epic_is_split_first_and_its_parts_follow_in_every_review_mode() {
    for mode in MODES {
        let squad = Squad::new();
        let epic = squad.add("big", &["--estimate", "L"]);
        squad.ralph(&["--config", &format!("review.mode={mode}"), "team", &epic]).ok();
        let (one, two) = (squad.by_title("big-one"), squad.by_title("big-two"));
        for task in [&squad.task(&epic), &one, &two] {
            assert_eq!(task["state"], "Done", "{mode}: {task}");
        }
        assert_eq!(squad.task(&epic)["kind"], "epic");
        assert_eq!(two["blocked_by"], serde_json::json!([one["id"]]));
        let runs = squad.runs();
        let time = |task: &serde_json::Value, command: &str, key: &str| -> jiff::Timestamp {
            let run = runs.iter().find(|run| run["task"] == task["id"] && run["command"] == command).unwrap();
            run[key].as_str().unwrap().parse().unwrap()
        };
        assert!(
            time(&two, "research", "started") >= time(&one, "merge", "ended"),
            "it started after its blocker was done"
        );
        assert_eq!(squad.main().keys().filter(|name| name.starts_with("src/")).count(), 2);
        squad.is_clean();
    }
}

#[test]
fn a_hero_does_the_same_alone() {
    let squad = Squad::new();
    let epic = squad.add("big", &["--estimate", "M"]);
    let said = squad.ralph(&["hero", &epic]).ok();
    assert!(said.contains("report: thoughts/shared/reports/"), "{said}");
    assert_eq!(squad.state(&epic), "Done");
    let runs = squad.runs();
    let mut times: Vec<(String, String)> = runs
        .iter()
        .map(|run| (run["started"].as_str().unwrap().to_owned(), run["ended"].as_str().unwrap().to_owned()))
        .collect();
    times.sort();
    for pair in times.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "one thing at a time: {pair:?}");
    }
    assert_eq!(runs.len(), 1 + 2 * 5);
    squad.is_clean();
}

#[test]
fn a_bough_has_only_the_steps_of_the_phase_that_is_on() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    let plan = squad.ralph(&["team", &id, "--bough", "--dry-run"]).ok();
    assert_eq!(plan.trim(), format!("{id}     ○ triage"));
    squad.ralph(&["team", &id, "--bough"]).ok();
    assert_eq!(squad.state(&id), "Done");
    // The task has no issue on GitHub, so there is no step for a pull request.
    let titles: Vec<String> = squad.steps().iter().map(|step| step["title"].as_str().unwrap().to_owned()).collect();
    assert_eq!(titles.len(), 5, "{titles:?}");
}

#[test]
fn a_rejected_plan_is_made_again_and_reviewed_again() {
    for (mode, wanted) in [("interactive", 9), ("auto", 7)] {
        let squad = Squad::new();
        let id = squad.add("alpha", &[]);
        squad.behave("alpha", "review", "reject");
        squad.ralph(&["--config", &format!("review.mode={mode}"), "team", &id]).ok();
        assert_eq!(squad.state(&id), "Done", "{mode}");
        let outcomes = squad.outcomes(&id);
        assert!(outcomes.contains(&"review iterated".to_owned()), "{outcomes:?}");
        assert_eq!(outcomes.iter().filter(|line| line.starts_with("plan")).count(), 2, "{outcomes:?}");
        assert_eq!(squad.steps().len(), wanted, "{mode}: a new plan, and in interactive mode a new review");
        let folder = squad.sandbox.root().join("thoughts/shared/reviews");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2, "both critiques are kept");
        assert!(squad.task(&id)["labels"].as_array().unwrap().is_empty());
        squad.is_clean();
    }
}

#[test]
fn what_triage_leaves_is_not_taken_up_again_and_again() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.behave("alpha", "triage", "always keep");
    let said = squad.ralph(&["team", &id]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.contains("triage left it in its state"), "{said}");
    assert_eq!(squad.outcomes(&id), ["triage done"]);
}

#[test]
fn teams_work_on_every_workflow_that_is_shipped() {
    for (workflow, way, commands) in [
        ("simple", &["Doing", "Done"][..], &["implement done"][..]),
        ("lite", &["Backlog", "In Progress", "In Review", "Done"], &["triage done", "implement done", "merge done"]),
    ] {
        let squad = Squad::new();
        squad.ralph(&["workflow", "use", workflow, "--yes"]).ok();
        let ids = ["alpha", "beta"].map(|title| squad.add(title, &[]));
        squad.ralph(&["block", &ids[1], "--on", &ids[0]]).ok();
        let said = squad.ralph(&["team", &ids[0]]).ok();
        assert!(said.contains("steps completed"), "{workflow}: {said}");
        assert_eq!(squad.states(&ids[0]), way, "{workflow}");
        assert_eq!(squad.outcomes(&ids[0]), commands, "{workflow}");
        squad.ralph(&["team", "--ready"]).ok();
        for (id, title) in ids.iter().zip(["alpha", "beta"]) {
            assert_eq!(squad.main()[&format!("src/{id}.txt")], format!("{title}\n"), "{workflow}");
            assert_eq!(squad.state(id), "Done");
        }
        squad.is_clean();
        assert!(squad.ralph(&["doctor"]).ok().contains("no problems"), "{workflow}");
    }
}

/// With `review.merge = "person"` a team stops in review, no worker can merge, and work continues after the merge.
#[test]
fn a_person_who_wants_to_review_merges_everything_that_a_team_builds() {
    let squad = Squad::new();
    squad.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    squad.ralph(&["config", "set", "review.merge", "person"]).ok();
    // The team tells what it did, and exits with 1 because work is left.
    let team = |args: &[&str]| {
        let said = squad.ralph(&[&["team"], args].concat());
        assert_eq!(said.code, 1, "{said}");
        said.stdout
    };
    let ids = ["alpha", "beta"].map(|title| squad.add(title, &[]));
    squad.ralph(&["block", &ids[1], "--on", &ids[0]]).ok();
    let said = team(&["--ready"]);
    assert_eq!(squad.outcomes(&ids[0]), ["triage done", "implement done"], "{said}");
    assert_eq!(squad.state(&ids[0]), "In Review", "{said}");
    assert_eq!(squad.outcomes(&ids[1]), ["triage done"; 0], "blocked by work that is not merged: {said}");
    assert!(!squad.main().contains_key(&format!("src/{}.txt", ids[0])));
    let inbox = squad.ralph(&["inbox"]).ok();
    assert!(inbox.contains("review") && inbox.contains(&format!("ralph merge {}", ids[0])), "{inbox}");
    for args in [&["merge", &ids[0]][..], &["move", &ids[0], "Done"]] {
        let refused = squad.ralph(&[args, &["--as", "integrator", "--json"]].concat()).fails(1);
        assert!(refused.contains("\"needs-person\"") || refused.contains("\"not-allowed\""), "{refused}");
    }
    squad.ralph(&["worker", "integrator", "--once"]).ok();
    assert_eq!(squad.state(&ids[0]), "In Review");
    squad.ralph(&["reject", &ids[0], "say hello, too"]).ok();
    team(&[&ids[0]]);
    assert_eq!(squad.outcomes(&ids[0]), ["triage done", "implement done", "pr done", "implement done"]);
    squad.ralph(&["merge", &ids[0]]).ok();
    assert_eq!(squad.state(&ids[0]), "Done");
    team(&["--ready"]);
    assert_eq!(squad.state(&ids[1]), "In Review");
}

/// Only the merge is left, and its check fails: the team starts the builder that the returned work needs.
#[test]
fn a_team_starts_the_worker_that_returned_work_needs() {
    let squad = Squad::new();
    squad.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    let id = squad.add("alpha", &["--state", "Backlog"]);
    squad.ralph(&["worker", "builder", "--once"]).ok();
    let fixed = squad.sandbox.outside("fixed");
    let check = format!("test -e '{0}' || {{ touch '{0}'; exit 1; }}", fixed.display());
    squad.settings(&format!("[merge]\nchecks = [[\"sh\", \"-c\", {check:?}]]"));
    let said = squad.ralph(&["team", &id]).ok();
    let outcomes = squad.outcomes(&id);
    assert_eq!(outcomes, ["implement done", "merge returned", "implement done", "merge done"], "{said}");
    assert_eq!(squad.ralph(&["feedback", &id, "--json"]).json()["points"], serde_json::json!([]), "the check passed");
    let runs = squad.ralph(&["costs", "--json"]).json()["total"]["runs"].clone();
    assert!(runs == 2 && said.contains("1 agent run\n"), "{said}");
    let diff = squad.ralph(&["diff", &id]).fails(1);
    assert!(diff.contains("was merged and removed") && !diff.contains("worktree add"), "{diff}");
}

/// A person has claimed a task as `builder`, without a process.
#[test]
fn a_team_does_not_wait_for_a_name_that_somebody_claims_with() {
    let squad = Squad::new();
    squad.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    let ids = ["alpha", "beta"].map(|title| squad.add(title, &["--state", "Backlog"]));
    squad.ralph(&["claim", &ids[0], "--as", "builder", "--for", "implement"]).ok();
    squad.ralph(&["team", &ids[1]]).ok();
    assert_eq!(squad.state(&ids[1]), "Done");
    let gamma = squad.add("gamma", &["--state", "Backlog"]);
    squad.settings("[roles.builder]\nlimit = 1");
    for verb in ["team", "hero"] {
        let said = squad.ralph(&[verb, &gamma]);
        assert_eq!((said.code, squad.state(&gamma)), (1, "Backlog".into()), "{said}");
        if verb == "team" {
            assert!(said.stdout.contains("the limit of 1 for builder is reached: builder"), "{said}");
        }
    }
}

#[test]
fn a_workflow_without_review_cannot_have_a_person_merge_for_its_workers() {
    let squad = Squad::new();
    squad.ralph(&["workflow", "use", "simple", "--yes"]).ok();
    squad.ralph(&["config", "set", "review.merge", "person"]).ok();
    let id = squad.add("alpha", &[]);
    for args in [&["team", &id][..], &["worker", "builder", "--once"]] {
        let said = squad.ralph(args).fails(1);
        assert!(said.contains("review.merge") && said.contains("ralph workflow use lite"), "{said}");
    }
    assert_eq!(squad.state(&id), "Todo");
}

/// A worker cannot complete a task itself where merging completes it.
#[test]
fn what_the_merge_completes_is_completed_by_nothing_else() {
    let squad = Squad::new();
    squad.ralph(&["workflow", "use", "simple", "--yes"]).ok();
    let id = squad.add("alpha", &[]);
    squad.ralph(&["claim", &id, "--as", "builder"]).ok();
    for to in ["__COMPLETE__", "Done"] {
        let said = squad.ralph(&["move", &id, to, "--as", "builder"]).fails(1);
        assert!(said.contains("can only be finished by merging its branch") && said.contains("ralph merge"), "{said}");
    }
    squad.ralph(&["done", &id, "--force"]).ok();
}

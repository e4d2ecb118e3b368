//! A team that is killed and started again continues from the files.

use std::time::Duration;

use super::Squad;

#[test]
fn killed_at_fifty_points_it_ends_with_the_same_result_and_no_step_done_twice() {
    let squad = Squad::new();
    let epic = squad.add("group", &["--kind", "epic", "--atomic"]);
    let first = squad.add("first", &["--parent", &epic]);
    let second = squad.add("second", &["--parent", &epic, "--blocked-by", &first]);
    let lone = squad.add("lone", &[]);
    let mut dice = fastrand::Rng::with_seed(7);
    let mut kills = 0;
    while kills < 50 {
        let mut team = squad.command(&["--config", "review.mode=auto", "team", &epic, &lone]);
        let mut team = team.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(dice.u64(5..120)));
        let _ = team.kill();
        let _ = team.wait();
        kills += 1;
    }
    let last = squad.ralph(&["--config", "review.mode=auto", "team", &epic, &lone]);
    assert_eq!(last.code, 0, "{last}");
    for id in [&epic, &first, &second, &lone] {
        assert_eq!(squad.state(id), "Done");
    }
    let main = squad.main();
    for id in [&first, &second, &lone] {
        assert!(main.contains_key(&format!("src/{id}.txt")), "{main:?}");
    }
    // Removes files that the killed processes were writing.
    squad.ralph(&["doctor", "--fix"]).ok();
    squad.is_clean();
    done_once(&squad, &[&first, &second, &lone]);
}

/// Each end of a command was reached once, and each step was completed once.
fn done_once(squad: &Squad, ids: &[&String]) {
    for id in ids {
        let moves = squad.moves(id);
        for end in ["Research Needed", "Ready for Plan", "Plan in Review", "In Review", "Done"] {
            let count = moves.iter().filter(|(verb, _, to)| to == end && (verb == "move" || verb == "merge")).count();
            assert_eq!(count, 1, "{id} came to {end} {count} times: {moves:?}");
        }
    }
    let steps = squad.steps();
    // Triage and research for three tasks, then plan, implement, pr and merge for two.
    assert_eq!(steps.len(), 3 * 2 + 2 * 4);
    for step in &steps {
        let id = step["id"].as_str().unwrap();
        let completed = squad.states(id).iter().filter(|to| *to == "Completed").count();
        assert_eq!((step["state"].as_str().unwrap(), completed), ("Completed", 1), "{step}");
    }
    let merges = squad.sandbox.git(&["log", "--merges", "--format=%s", "main"]);
    assert_eq!(merges.lines().count(), 2, "{merges}");
}

#[test]
fn there_is_one_report_however_often_it_is_started() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.ralph(&["team", &id]).ok();
    let again = squad.ralph(&["team", &id]).ok();
    assert!(again.contains("0 agent runs"), "{again}");
    let folder = squad.sandbox.root().join("thoughts/shared/reports");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn a_hero_that_is_killed_goes_on_where_it_was() {
    let squad = Squad::new();
    let id = squad.add("alpha", &[]);
    squad.behave("alpha", "research", "hang");
    let mut hero = squad.start(&["hero", &id]);
    super::eventually("the research", || squad.runs().iter().any(|run| run["command"] == "research"));
    hero.kill().unwrap();
    hero.wait().unwrap();
    // It may have been killed before its agent read this file.
    let _ = std::fs::remove_file(squad.sandbox.outside("ctl/alpha.research"));
    squad.ralph(&["hero", &id]).ok();
    assert_eq!(squad.state(&id), "Done");
    squad.ralph(&["doctor", "--fix"]).ok();
    squad.is_clean();
}

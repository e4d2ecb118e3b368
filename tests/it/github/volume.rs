//! The number of requests of a sync.

use super::Mirror;

#[test]
fn a_thousand_tasks_that_have_not_changed_take_no_more_than_twelve_requests() {
    let mirror = Mirror::new();
    let first = mirror.world(|world| {
        let numbers: Vec<u32> =
            (0..1_000).map(|n| world.add_issue("acme/app", &format!("Issue {n}"), "Text.")).collect();
        for number in &numbers {
            world.add_to_project(1, *number);
        }
        numbers[0]
    });
    let adopted = mirror.sync();
    assert_eq!(adopted["adopted"].as_array().unwrap().len(), 1_000);
    mirror.world(|world| world.advance(60));
    // Recent changes are read once more.
    mirror.sync();
    mirror.world(|world| world.advance(60));
    let count = || {
        mirror.requests();
        mirror.sync();
        mirror.requests().len()
    };
    let idle = count();
    assert!(idle <= 12, "{idle} requests");
    let task =
        mirror.ralph(&["task", "show", &format!("#{first}"), "--json"]).json()["id"].as_str().unwrap().to_owned();
    mirror.ralph(&["task", "set", &task, "title=Changed here", "priority=P1"]).ok();
    let here = count();
    assert!(here <= idle + 3, "{here} requests for a change here, {idle} for none");
    mirror.world(|world| world.advance(60));
    mirror.sync();
    mirror.world(|world| world.advance(60));
    mirror.world(|world| world.edit_title(first, "Changed there"));
    mirror.world(|world| world.advance(60));
    let there = count();
    assert!(there <= idle + 3, "{there} requests for a change there, {idle} for none");
    assert_eq!(mirror.field(&task, "title"), "Changed there");
}

#[test]
fn the_first_push_takes_one_create_per_task_and_batches() {
    let mirror = Mirror::new();
    let batch: String = (0..200)
        .map(|n| {
            format!(
                "[[task]]\ntitle = \"Task {n}\"\npriority = \"P{}\"\nestimate = \"S\"\nlabels = [\"bug\", \"area-{}\"]\n",
                n % 4,
                n % 3
            )
        })
        .collect();
    let file = mirror.sandbox.outside("batch.toml");
    std::fs::write(&file, batch).unwrap();
    mirror.ralph(&["task", "add", "--from", file.to_str().unwrap()]).ok();
    mirror.requests();
    mirror.sync();
    let asked = mirror.requests();
    let count = |name: &str| asked.iter().filter(|other| *other == name).count();
    assert_eq!((count("CreateIssue"), count("CreateLabel"), count("AddComment")), (200, 3, 0));
    // The labels of an issue are set with the next creation; reading takes a few requests.
    assert!(count("Batch") <= 2 && asked.len() <= 200 + 3 + 12, "{} requests", asked.len());
    mirror.world(|world| assert!(world.issues_in("acme/app").iter().all(|issue| issue.labels.len() == 2)));
    let idle = mirror.sync();
    assert_eq!(idle["pushed"].as_u64(), Some(0), "{idle}");
}

//! Both sides, field by field.

use super::Mirror;

#[test]
fn a_new_task_becomes_an_issue_with_all_it_says() {
    let mirror = Mirror::new();
    let epic = mirror.add(&["Ship it", "--kind", "epic"]);
    let first = mirror.add(&["First", "--priority", "P1", "--estimate", "S", "--label", "bug", "--label", "New One", "--parent", &epic, "--body", "Do it.\n\nWell."]);
    let second = mirror.add(&["Second", "--parent", &epic, "--blocked-by", &first]);
    mirror.ralph(&["note", &first, "A word."]).ok();
    mirror.ralph(&["move", &second, "In Review", "--force"]).ok();
    let synced = mirror.sync();
    assert_eq!(synced["created"].as_array().unwrap().len(), 3, "{synced}");
    let (one, two, parent) = (mirror.number(&first), mirror.number(&second), mirror.number(&epic));
    mirror.world(|world| {
        assert_eq!(world.issue(one).title, "First");
        assert!(world.issue(one).body.starts_with("Do it.\n\nWell.\n\n<!-- ralph task="), "{}", world.issue(one).body);
        assert_eq!(world.labels(one), ["New One", "bug"]);
        let value = |number: u32, field: &str| world.value(number, field);
        assert_eq!(value(one, "Workflow State").as_deref(), Some("Backlog"));
        assert_eq!((value(one, "Priority").as_deref(), value(one, "Estimate").as_deref()), (Some("P1"), Some("S")));
        assert_eq!((value(two, "Workflow State").as_deref(), value(two, "Status").as_deref()), (Some("In Review"), Some("In Progress")));
        assert_eq!((world.parent(one), world.parent(two)), (Some(parent), Some(parent)));
        assert_eq!(world.blocked_by(two), [one]);
        assert_eq!(world.comments(one).len(), 1);
        assert!(world.comments(one)[0].body.starts_with("**Ada**:\n\nA word."));
    });
    mirror.requests();
    let again = mirror.sync();
    assert_eq!(again["plan"]["rows"], serde_json::json!([]), "{again}");
    let asked = mirror.requests();
    assert!(asked.iter().all(|name| !name.contains("Batch") && !name.contains("Create")), "{asked:?}");
}

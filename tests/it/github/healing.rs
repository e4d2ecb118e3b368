//! Changes to issues by people and other clones are repaired by sync: markers, twins, deletions, columns and archived
//! items.

use super::Mirror;
use super::pair::Pair;
use crate::fake::{Fault, Level};

const NOTHING: serde_json::Value = serde_json::Value::Array(Vec::new());

#[test]
fn what_is_typed_on_the_line_of_the_marker_makes_no_second_issue_and_no_twin() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["task", "set", &ids[0], "description=First."]).ok();
    pair.to_b();
    pair.a(&["sync"]).ok();
    let number = pair.mirror.number(&ids[0]);
    pair.mirror.world(|world| {
        let body = format!("{} PS: by hand.", world.issue(number).body);
        world.edit_body(number, &body);
    });
    pair.b(&["sync"]).ok();
    pair.rest();
    assert_eq!(pair.open_issues("One"), [number]);
    assert_eq!(pair.b(&["ls", "--json"]).json().as_array().unwrap().len(), 1);
    for clone in ['a', 'b'] {
        assert_eq!(pair.field(clone, &ids[0], "description").trim(), "First.\n\nPS: by hand.");
    }
}

#[test]
fn an_issue_whose_text_was_replaced_is_still_the_issue_of_its_task() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["task", "set", &ids[0], "description=First."]).ok();
    pair.to_b();
    pair.a(&["sync"]).ok();
    let number = pair.mirror.number(&ids[0]);
    pair.mirror.world(|world| world.edit_body(number, "Something else entirely."));
    let said = pair.b(&["sync"]);
    assert!(said.to_string().contains("description"), "both texts are kept, and a person decides: {said}");
    assert_eq!(pair.field('b', &ids[0], "description").trim(), "First.");
    assert_eq!(pair.b(&["ls", "--json"]).json().as_array().unwrap().len(), 1);
    pair.b(&["sync", "resolve", &ids[0], "--take", "remote"]).ok();
    pair.b(&["sync"]).ok();
    pair.to_a();
    pair.rest();
    assert_eq!(pair.open_issues("One"), [number]);
    assert!(pair.mirror.world(|world| world.issue(number).body.contains("Something else entirely.\n\n<!-- ralph")));
}

#[test]
fn a_deleted_task_that_was_made_on_github_stays_deleted() {
    let (pair, _) = Pair::new(&[], false);
    let number = pair.mirror.world(|world| {
        let number = world.add_issue("acme/app", "Theirs", "A person's text.");
        world.add_to_project(1, number);
        number
    });
    pair.rest();
    let id = pair.mirror.sandbox.ids().remove(0);
    pair.a(&["rm", &id]).ok();
    pair.a(&["sync"]).ok();
    let said = pair.b(&["sync"]);
    assert!(said.to_string().contains("was deleted in another clone"), "{said}");
    pair.to_b();
    pair.rest();
    assert_eq!(pair.b(&["ls", "--all", "--json"]).json(), NOTHING);
    assert!(pair.mirror.world(|world| world.issue(number).body.starts_with("A person's text.")));
}

#[test]
fn a_deleted_task_is_not_mirrored_anew_by_a_clone_that_still_has_it() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["sync"]).ok();
    pair.a(&["rm", &ids[0]]).ok();
    pair.a(&["sync"]).ok();
    let said = pair.b(&["sync"]);
    assert!(said.to_string().contains("was deleted in another clone"), "{said}");
    assert_eq!(pair.open_issues("One"), Vec::<u32>::new());
    pair.to_b();
    pair.rest();
    assert_eq!(pair.b(&["ls", "--all", "--json"]).json(), NOTHING);
}

#[test]
fn a_deletion_whose_request_failed_is_carried_out_by_the_next_run() {
    let mirror = Mirror::new();
    let task = mirror.add(&["One"]);
    mirror.sync();
    let number = mirror.number(&task);
    mirror.ralph(&["rm", &task]).ok();
    // The first three requests read, and the fourth closes the issue.
    mirror.fake.plan((3..12).map(|at| (at, Fault::BadGateway)));
    let _ = mirror.ralph(&["sync"]);
    assert!(!mirror.world(|world| world.issue(number).closed), "the fault hit another request");
    mirror.fake.plan([]);
    mirror.sync();
    assert!(mirror.world(|world| world.issue(number).closed && world.issue(number).body.contains("deleted -->")));
    // A reopened issue is left open.
    mirror.world(|world| world.reopen_issue(number));
    mirror.sync();
    assert!(!mirror.world(|world| world.issue(number).closed));
}

#[test]
fn a_claim_that_another_clone_sees_on_github_is_no_conflict_over_the_owner() {
    let (pair, ids) = Pair::new(&["One"], true);
    pair.a(&["move", &ids[0], "Research Needed"]).ok();
    pair.rest();
    pair.a(&["claim", &ids[0], "--as", "analyst"]).ok();
    pair.a(&["sync"]).ok();
    pair.b(&["sync"]).ok();
    assert_eq!(pair.field('b', &ids[0], "owner"), "octocat");
    pair.to_b();
    assert_eq!(pair.field('b', &ids[0], "owner"), "analyst");
    pair.rest();
    assert_eq!(
        (pair.field('a', &ids[0], "owner"), pair.field('b', &ids[0], "owner")),
        ("analyst".into(), "analyst".into())
    );
}

#[test]
fn a_task_with_two_issues_that_was_finished_on_the_first_is_done_everywhere() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["sync"]).ok();
    let first = pair.mirror.number(&ids[0]);
    // The second clone syncs at the same moment: it does not see the first issue yet.
    let hidden = pair.mirror.world(|world| world.hide_item(first));
    pair.b(&["sync"]).ok();
    pair.mirror.world(|world| world.show_item(hidden));
    assert_eq!(pair.open_issues("One").len(), 2);
    pair.a(&["done", &ids[0]]).ok();
    pair.a(&["sync"]).ok();
    pair.b(&["sync"]).ok();
    pair.to_b();
    pair.rest();
    assert_eq!((pair.field('a', &ids[0], "state"), pair.field('b', &ids[0], "state")), ("Done".into(), "Done".into()));
    let second = pair.mirror.world(|world| {
        let original = world.issue(first).id.clone();
        world.issues_in("acme/app").into_iter().find(|issue| issue.duplicate_of == Some(original.clone())).is_some()
    });
    assert!(second, "the second issue is closed with a link to the first");
}

#[test]
fn a_mirrored_card_in_a_column_of_its_own_is_left_there_until_its_task_moves() {
    let mirror = Mirror::new();
    let task = mirror.add(&["One"]);
    mirror.sync();
    let number = mirror.number(&task);
    let column = || mirror.world(|world| world.value(number, "Workflow State"));
    mirror.world(|world| {
        world.add_option(1, "Workflow State", "Icebox");
        world.set_field(number, "Workflow State", Some("Icebox"));
    });
    for args in [&["sync", "--dry-run"][..], &["sync"]] {
        let said = mirror.ralph(args);
        assert!(said.stderr.contains(&format!("#{number} has its card in \"Icebox\"")), "{said}");
    }
    assert_eq!(column().as_deref(), Some("Icebox"));
    mirror.ralph(&["move", &task, "Ready for Plan"]).ok();
    mirror.sync();
    assert_eq!(column().as_deref(), Some("Ready for Plan"));
}

#[test]
fn an_archived_task_that_was_removed_from_the_project_can_be_put_back() {
    let mirror = Mirror::new();
    let task = mirror.add(&["One"]);
    mirror.sync();
    let number = mirror.number(&task);
    mirror.ralph(&["done", &task]).ok();
    mirror.ralph(&["task", "archive", &task]).ok();
    mirror.sync();
    mirror.world(|world| world.remove_from_project(number));
    assert_eq!(mirror.ralph(&["sync"]).code, 1);
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some("Done"));
    mirror.sync();
    assert_eq!(mirror.sync()["plan"]["rows"], NOTHING);
    // A task whose issue was deleted gets no new one, and `resolve` reports that at once.
    mirror.world(|world| world.delete_issue(number));
    assert_eq!(mirror.ralph(&["sync"]).code, 1);
    let said = mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).fails(1);
    assert!(said.contains("archived tasks get no new issue"), "{said}");
}

#[test]
fn a_field_of_another_kind_is_refused_before_anything_is_made() {
    let mirror = Mirror::unset(Level::Dotcom);
    mirror.world(|world| {
        world.create_project("acme", "Ours");
        world.add_plain_field(1, "estimate", "NUMBER");
        world.add_single_select(1, "Workflow State", &["Todo", "Marketing"]);
    });
    let said = mirror.ralph(&["sync", "init", "--project", "1"]).fails(1);
    assert!(said.contains("is not a single select") && said.contains("github.estimate_field"), "{said}");
    mirror.ralph(&["config", "set", "github.estimate_field", "Size"]).ok();
    let said = mirror.ralph(&["sync", "init", "--project", "1"]);
    assert!(said.stdout.contains("Priority") && said.stdout.contains("Size"), "nothing was created before: {said}");
    assert!(said.stderr.contains("[github.states]\n\"Todo\" = \"Backlog\"\n# \"Marketing\" = \"STATE\""), "{said}");
}

#[test]
fn a_claim_that_a_move_on_github_ends_is_told() {
    let mirror = Mirror::new();
    let task = mirror.add(&["One", "--state", "Research Needed"]);
    mirror.ralph(&["claim", &task, "--as", "analyst"]).ok();
    mirror.sync();
    let number = mirror.number(&task);
    mirror.world(|world| world.set_field(number, "Workflow State", Some("Ready for Plan")));
    let said = mirror.ralph(&["sync"]);
    assert!(said.stderr.contains(&format!("hubot moved {task} on GitHub: the claim of analyst ended")), "{said}");
}

#[test]
fn a_note_that_one_clone_set_back_after_both_took_githubs_text_is_an_edit() {
    let (pair, ids) = Pair::new(&["One"], true);
    pair.a(&["note", &ids[0], "First words."]).ok();
    pair.rest();
    let number = pair.mirror.number(&ids[0]);
    let said = || pair.mirror.world(|world| world.comments(number)[0].body.clone());
    pair.mirror.world(|world| {
        let comment = world.comments(number)[0].id.clone();
        let body = world.comments(number)[0].body.replace("First", "Other");
        world.edit_comment(&comment, &body);
        world.advance(60);
    });
    pair.a(&["sync", "--full"]).ok();
    pair.b(&["sync", "--full"]).ok();
    pair.b(&["note", &ids[0], "--edit", "1", "First words."]).ok();
    pair.to_a();
    pair.rest();
    assert!(said().contains("First words."), "{}", said());
    for clone in ['a', 'b'] {
        assert!(pair.field(clone, &ids[0], "notes").contains("First words."));
    }
}

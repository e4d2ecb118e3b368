//! The board at a revision: its problems, the moves since another revision, and the difference as Markdown.

use insta::assert_snapshot;

use crate::sandbox::{Output, Sandbox};

fn commit(sandbox: &Sandbox, message: &str) {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", message]);
}

/// Two tasks on main, and the branch `change` checked out.
fn on_branch() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'First'\nstate = 'Backlog'\n");
    sandbox.write_task("b", "title = 'Second'\nstate = 'Backlog'\n");
    commit(&sandbox, "board");
    sandbox.git(&["switch", "-qc", "change"]);
    sandbox
}

fn check(sandbox: &Sandbox) -> Output {
    sandbox.ralph(&["doctor", "--at", "change", "--since", "main"])
}

/// `severity code file:line` of each finding.
fn found(sandbox: &Sandbox) -> Vec<String> {
    let output = sandbox.ralph(&["doctor", "--at", "change", "--since", "main", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(output.code, i32::from(json["errors"].as_u64().unwrap() > 0), "{output}");
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap_or("-").to_owned();
    let entry = |found: &serde_json::Value| {
        format!("{} {} {}:{}", text(found, "severity"), text(found, "code"), text(found, "file"), found["line"])
    };
    json["findings"].as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn everything_wrong_with_a_revision_is_found_without_checking_it_out() {
    let sandbox = on_branch();
    sandbox.write_task("a", "title = 'First'\nblocked_by = ['b', 'gone']\n");
    sandbox.write_task("b", "title = 'Second'\nparent = 'nobody'\nblocked_by = ['a']\n");
    sandbox.write_task("c", "title = 'Third'\nstate = 'Bakclog'\n");
    sandbox
        .write_task("d", "title = 'Fourth'\n<<<<<<< ours\nestimate = 'S'\n=======\nestimate = 'M'\n>>>>>>> theirs\n");
    sandbox.write_task("e", "title = 'Fifth\n");
    sandbox.write_task("f", [0xff, 0xfe, 0x00]);
    sandbox.write_task("no id", "title = 'Sixth'\n");
    sandbox.write_task("g", "title = 'Here'\n");
    let archive = sandbox.root().join(".ralph/archive");
    std::fs::create_dir_all(&archive).unwrap();
    std::fs::write(archive.join("g.toml"), "title = 'There'\n").unwrap();
    std::fs::create_dir_all(sandbox.root().join(".ralph/journal")).unwrap();
    std::fs::write(sandbox.root().join(".ralph/journal/2026-11.jsonl"), "\n{\"id\":\n").unwrap();
    commit(&sandbox, "broken");
    sandbox.git(&["switch", "-q", "main"]);
    assert_snapshot!(sandbox.ralph(&["doctor", "--at", "change"]));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "nothing was checked out or written");
    sandbox.ralph(&["doctor", "--at", "main"]).ok();
    assert!(sandbox.ralph(&["doctor", "--at", "nowhere"]).fails(2).contains("unknown revision \"nowhere\""));
}

#[test]
fn a_link_in_place_of_a_file_is_an_error_and_is_not_followed() {
    let sandbox = on_branch();
    std::fs::remove_file(sandbox.task_file("a")).unwrap();
    crate::system::symlink(sandbox.task_file("b"), sandbox.task_file("a")).unwrap();
    commit(&sandbox, "link");
    assert_eq!(found(&sandbox), ["error bad-file .ralph/tasks/a.toml:null"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named_in_the_difference_and_loses_no_field() {
    let sandbox = on_branch();
    sandbox.write_task("a", "title = 'First'\nstate = \n");
    commit(&sandbox, "broken");
    let markdown = sandbox.ralph(&["task", "diff", "main", "change", "--markdown"]).ok();
    assert!(markdown.starts_with("1 task changed: 1 edited\n"), "{markdown}");
    assert!(markdown.contains("| `a` | First | **edited**: the file cannot be read"), "{markdown}");
    let mended = sandbox.ralph(&["task", "diff", "change", "main"]).ok();
    assert_eq!(mended, "~ a First\n    the file could not be read before\n");
    assert_eq!(sandbox.ralph(&["task", "diff", "main", "change", "--json"]).json()[0]["unreadable"], "new");
}

#[test]
fn a_file_that_was_moved_by_hand_is_an_illegal_move_at_its_line() {
    let sandbox = on_branch();
    sandbox.write_task("a", "title = 'First'\nstate = 'In Review'\n");
    sandbox.write_task("b", "title = 'Second'\nstate = 'Research Needed'\n");
    commit(&sandbox, "by hand");
    assert_eq!(found(&sandbox), ["error illegal-move .ralph/tasks/a.toml:2"]);
    let said = check(&sandbox).stdout;
    assert!(said.contains("a moved from Backlog to In Review, which the workflow does not allow"), "{said}");
    sandbox.ralph(&["doctor", "--at", "change"]).ok();
}

#[test]
fn a_person_may_leave_the_workflow_and_is_only_mentioned() {
    let sandbox = on_branch();
    sandbox.ralph(&["move", "a", "In Review"]).ok();
    commit(&sandbox, "done");
    assert_eq!(found(&sandbox), ["warning outside-workflow .ralph/tasks/a.toml:2"]);
    assert!(check(&sandbox).ok().contains("Ada moved a from Backlog to In Review, outside the workflow: skips "));
    let strict = ["doctor", "--at", "change", "--since", "main", "--strict"];
    assert_eq!(sandbox.ralph(&strict).code, 1);
}

#[test]
fn what_workers_do_through_ralph_is_in_order() {
    let sandbox = on_branch();
    sandbox.ralph(&["move", "a", "Research Needed"]).ok();
    sandbox.ralph(&["claim", "a", "--as", "analyst"]).ok();
    sandbox.hand_in("research", "a");
    sandbox.ralph(&["move", "a", "__COMPLETE__", "--for", "research", "--as", "analyst"]).ok();
    sandbox.ralph(&["escalate", "b", "--as", "analyst"]).ok();
    commit(&sandbox, "work");
    assert!(sandbox.read_task("a").contains("Ready for Plan"), "{}", sandbox.read_task("a"));
    assert!(sandbox.read_task("b").contains("Human Needed"), "{}", sandbox.read_task("b"));
    assert_eq!(found(&sandbox), [""; 0]);
}

#[test]
fn a_worker_that_is_recorded_with_a_move_it_may_not_make_is_an_error() {
    let sandbox = on_branch();
    sandbox.ralph(&["move", "a", "In Review"]).ok();
    let journal = sandbox.root().join(".ralph/journal");
    let file = std::fs::read_dir(journal).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap().replace("\"by\":\"Ada\"", "\"by\":\"builder\"");
    std::fs::write(&file, text).unwrap();
    commit(&sandbox, "forged");
    assert_eq!(found(&sandbox), ["error illegal-move .ralph/tasks/a.toml:2"]);
    assert!(check(&sandbox).stdout.contains("builder moved a from Backlog to In Review"));
}

#[test]
fn a_revision_is_read_with_its_own_workflow_and_a_new_one_is_told() {
    let sandbox = on_branch();
    sandbox.ralph(&["workflow", "use", "simple", "--yes"]).ok();
    commit(&sandbox, "simple");
    sandbox.git(&["switch", "-q", "main"]);
    assert_eq!(found(&sandbox), ["warning workflow-changed .ralph/workflow.toml:null"]);
    let table = sandbox.root().join(".ralph/workflow.toml");
    sandbox.git(&["switch", "-q", "change"]);
    std::fs::write(table, "format = 1\nname = 'x'\nstates = [\n").unwrap();
    commit(&sandbox, "broken");
    let found = found(&sandbox);
    assert!(found[0].starts_with("error bad-file .ralph/workflow.toml:"), "{found:?}");
}

#[test]
fn two_boards_are_compared_as_markdown_that_a_title_cannot_escape_from() {
    let sandbox = on_branch();
    sandbox
        .write_task("b", "title = 'Second'\nstate = 'In Review'\npriority = 'P1'\ndescription = '''\n@everyone\n'''\n");
    std::fs::remove_file(sandbox.task_file("a")).unwrap();
    sandbox.write_task(
        "evil",
        "title = '''@acme/all | <img src=x onerror=alert(1)> [x](https://evil.example) `code` #1 <!-- -->'''\n\
         state = 'Backlog'\nowner = '@someone'\n",
    );
    sandbox.write_task("fold", "title = \"two\\nlines | </details>\\u202E\"\n");
    commit(&sandbox, "change");
    assert_snapshot!(sandbox.ralph(&["task", "diff", "main", "change", "--markdown"]));
    assert_eq!(sandbox.ralph(&["task", "diff", "main", "main", "--markdown"]).ok(), "The board did not change.\n");
}

#[test]
fn a_long_difference_is_folded_and_stays_within_a_comment() {
    let sandbox = on_branch();
    for number in 0..600 {
        let title = format!("|@{}", "*".repeat(90));
        sandbox.write_task(&format!("n-{number}"), format!("title = '{title}'\nstate = 'Backlog'\n"));
    }
    commit(&sandbox, "many");
    let text = sandbox.ralph(&["task", "diff", "main", "change", "--markdown"]).ok();
    assert!(text.starts_with("600 tasks changed: 600 new\n"), "{}", &text[..80]);
    assert!(text.len() < 30_000 && text.contains("<details><summary>") && text.contains("are not shown here"));
}

#[test]
fn findings_are_markdown_too() {
    let sandbox = on_branch();
    sandbox.write_task("a", "title = 'First'\nstate = '@team | <b>'\nparent = 'x'\n");
    commit(&sandbox, "broken");
    assert_snapshot!(sandbox.ralph(&["doctor", "--at", "change", "--markdown"]));
    assert_eq!(sandbox.ralph(&["doctor", "--at", "main", "--markdown"]).ok(), "No problems found in 2 tasks.\n");
}

//! Invalid files: each is reported with its position, and no other task is affected.

use proptest::prelude::*;

use crate::sandbox::Sandbox;
use crate::system::symlink;

#[test]
fn a_broken_file_is_named_and_the_rest_works() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Good one"]);
    sandbox.write_task("bad", "title = \"x\"\npriority = = 1\n");
    let listed = sandbox.ralph(&["task", "ls"]);
    assert!(listed.stdout.contains("Good one"), "{listed}");
    assert!(listed.stderr.contains(".ralph/tasks/bad.toml:2:12:"), "{listed}");
    assert_eq!(listed.code, 0);
    for (args, code) in [
        (vec!["task", "show", "bad"], 4),
        (vec!["task", "set", "bad", "priority=P1"], 4),
        (vec!["task", "show", id.as_str()], 0),
        (vec!["task", "set", id.as_str(), "priority=P1"], 0),
        (vec!["task", "search", "good"], 0),
        (vec!["task", "tree"], 0),
        (vec!["note", id.as_str(), "fine"], 0),
        (vec!["doctor"], 1),
    ] {
        let output = sandbox.ralph(&args);
        assert_eq!(output.code, code, "{args:?}\n{output}");
    }
    assert_eq!(sandbox.read_task("bad"), "title = \"x\"\npriority = = 1\n");
    assert!(sandbox.ralph(&["task", "show", &id]).stderr.contains("bad.toml:2:12"), "every command reports it");
}

#[test]
fn each_kind_of_bad_file_says_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write_task("empty", "");
    sandbox.write_task("latin", b"title = \"caf\xe9\"\n");
    sandbox.write_task("huge", format!("title = 'x'\ndescription = '{}'\n", "y".repeat(1 << 20)));
    sandbox.write_task("conflict", "<<<<<<< HEAD\ntitle = 'a'\n=======\ntitle = 'b'\n>>>>>>> other\n");
    sandbox.write_task("wrong", "title = 3\nstate = 'Nowhere'\nlabels = 'x'\ncreated = 'soon'\n");
    sandbox.write_task("a b", "title = 'x'\n");
    let said = sandbox.ralph(&["task", "ls"]).stderr;
    for wanted in [
        "empty.toml: the file is empty",
        "latin.toml:1:13: invalid UTF-8",
        "huge.toml: the file is larger than 1 MiB",
        "conflict.toml:1:1: unresolved merge conflict",
        "wrong.toml:1:9: title must be a string",
        "wrong.toml:2:9: \"Nowhere\" is not a state",
        "wrong.toml:3:10: labels must be a list",
        "wrong.toml:4:11: created must be a date",
        "a b.toml: \"a b\" is not a valid task id",
    ] {
        assert!(said.contains(wanted), "{wanted}\nis not in\n{said}");
    }
}

#[test]
fn a_task_that_waits_for_an_unreadable_one_is_blocked_not_dangling() {
    let sandbox = Sandbox::new();
    sandbox.write_task("bad", "title =");
    sandbox.write_task("good", "title = 'x'\nblocked_by = ['bad']\n");
    let task = sandbox.ralph(&["task", "show", "good", "--json"]).json();
    assert_eq!(task["blocked"], true);
    assert!(!sandbox.ralph(&["doctor"]).stdout.contains("dangling"));
}

#[test]
fn folders_links_and_other_files_among_the_tasks_do_no_harm() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Good one"]);
    let tasks = sandbox.root().join(".ralph/tasks");
    std::fs::create_dir(tasks.join("folder.toml")).unwrap();
    symlink("nowhere", tasks.join("dangling.toml")).unwrap();
    symlink(format!("{id}.toml"), tasks.join("alias.toml")).unwrap();
    std::fs::write(tasks.join("README.md"), "hello").unwrap();
    assert_eq!(sandbox.ids(), ["alias".to_owned(), id]);
}

#[test]
fn a_newer_board_is_not_touched() {
    // A newer workflow has keys that this version does not know.
    for (file, newer) in [("config.toml", "format = 2\n"), ("workflow.toml", "format = 2\nlanes = [\"a\"]\n")] {
        let sandbox = Sandbox::new();
        let id = sandbox.add(&["x"]);
        let (path, task) = (sandbox.root().join(".ralph").join(file), sandbox.task_file(&id));
        std::fs::write(&path, newer).unwrap();
        let before = std::fs::read(&task).unwrap();
        for command in [
            &["task", "add", "y"][..],
            &["done", &id],
            &["doctor"],
            &["doctor", "--fix"],
            &["config", "set", "ui.color", "never"],
        ] {
            let said = sandbox.ralph(command).fails(4);
            assert!(
                said.contains(&format!("{file} has format 2")) && said.contains("install the newest ralph"),
                "{said}"
            );
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
        assert_eq!(std::fs::read(&task).unwrap(), before);
        assert_eq!(std::fs::read_dir(sandbox.root().join(".ralph/tasks")).unwrap().count(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_in_one_file_leave_the_others_listed(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        "[a-z]{1,6} ?= ?[\"'\\[{]?[a-z0-9]{0,8}[\"'\\]}]?\n[\\PC\n]{0,80}".prop_map(String::into_bytes),
        "title = \"(\\\\PC){0,5}\"\nstate = \"\\PC{0,9}\"\nblocked_by = \\[\"\\PC{0,6}\"\\]\n".prop_map(String::into_bytes),
    ]) {
        let sandbox = Sandbox::new();
        let id = sandbox.add(&["Good one"]);
        sandbox.write_task("any", &bytes);
        for _ in 0..2 {
            prop_assert!(sandbox.ids().contains(&id));
        }
        let code = sandbox.ralph(&["task", "show", "any"]).code;
        prop_assert!(code == 0 || code == 4, "{code}");
        prop_assert_eq!(sandbox.ralph(&["task", "set", &id, "priority=P1"]).code, 0);
        prop_assert_eq!(std::fs::read(sandbox.task_file("any")).unwrap(), bytes);
    }
}

#[test]
fn nothing_is_written_that_could_not_be_read_again() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Good one"]);
    let long = "x ".repeat(600_000);
    let conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n";
    for text in [long.as_str(), conflict] {
        for args in [&["task", "add", "T", "--body-file", "-"][..], &["task", "set", &id, "--body-file", "-"]] {
            let output = sandbox.ralph_with(args, text);
            assert!(output.fails(1).contains("unreadable"), "{args:?}");
        }
    }
    assert!(sandbox.ralph_with(&["note", &id], &long).fails(1).contains("larger than 1 MiB"));
    assert!(sandbox.ralph(&["config", "set", "board.prefix", &"a".repeat(60)]).fails(2).contains("up to 50"));
    assert_eq!(sandbox.ids(), [id]);
}

#[test]
fn a_journal_that_cannot_be_written_undoes_the_verb_and_stops_nobody_reading() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Good one"]);
    let journal = sandbox.root().join(".ralph/journal");
    std::fs::remove_dir_all(&journal).unwrap();
    std::fs::write(&journal, "in the way").unwrap();
    let before = sandbox.read_task(&id);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).fails(4);
    sandbox.ralph(&["task", "add", "Another"]).fails(4);
    assert_eq!(sandbox.read_task(&id), before);
    assert_eq!(std::fs::read_dir(sandbox.root().join(".ralph/tasks")).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let sandbox = Sandbox::new();
    crate::sandbox::finish(std::process::Command::new("mkfifo").arg(sandbox.task_file("pipe"))).ok();
    assert!(sandbox.ralph(&["task", "show", "pipe"]).fails(4).contains("not a regular file"));
}

#[test]
fn an_entry_that_is_no_id_does_not_keep_links_from_being_taken_out() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'A'\n");
    sandbox.write_task("b", "title = 'B'\nblocked_by = ['a', 'bad id', 'gone']\n");
    sandbox.ralph(&["task", "rm", "a", "--force"]).ok();
    sandbox.ralph(&["unblock", "b", "--from", "gone"]).ok();
    assert_eq!(sandbox.read_task("b"), "title = 'B'\nblocked_by = [\"bad id\"]\n");
}

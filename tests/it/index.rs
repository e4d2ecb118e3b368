//! The index is a cache: whether current, stale or missing, the answers are the same.

use crate::sandbox::Sandbox;
use crate::system::set_mode;

fn titles(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.ralph(&["task", "ls", "--sort", "id", "--json"]).json();
    listed.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

fn board_of(sandbox: &Sandbox, count: usize) {
    for n in 0..count {
        sandbox.write_task(&format!("t-{n:03}"), format!("title = 'T{n:03}'\n"));
    }
}

#[test]
fn a_change_of_the_same_size_right_after_a_list_is_seen() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 100);
    for round in 0..20 {
        assert_eq!(titles(&sandbox).len(), 100);
        // Same size, same inode, and as soon as possible after the index was written.
        sandbox.write_task("t-050", format!("title = 'R{round:03}'\n"));
        assert!(titles(&sandbox).contains(&format!("R{round:03}")));
    }
}

#[test]
fn a_file_put_back_with_its_old_time_is_seen_by_its_inode_or_size() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 50);
    assert_eq!(titles(&sandbox).len(), 50);
    let file = sandbox.task_file("t-007");
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(file.with_extension("new"), "title = 'X007'\n").unwrap();
    std::fs::File::options().write(true).open(file.with_extension("new")).unwrap().set_modified(time).unwrap();
    std::fs::rename(file.with_extension("new"), &file).unwrap();
    assert!(titles(&sandbox).contains(&"X007".to_owned()));
}

#[test]
fn files_that_come_and_go_are_followed() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 60);
    titles(&sandbox);
    std::fs::remove_file(sandbox.task_file("t-000")).unwrap();
    sandbox.write_task("zzz", "title = 'new'\n");
    let now = titles(&sandbox);
    assert!(now.len() == 60 && !now.contains(&"T000".to_owned()) && now.contains(&"new".to_owned()));
    std::fs::remove_dir_all(sandbox.root().join(".ralph/tasks")).unwrap();
    assert!(titles(&sandbox).is_empty());
}

#[test]
fn a_damaged_index_is_found_and_made_anew() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 60);
    let wanted = titles(&sandbox);
    let path = sandbox.root().join(".git/ralph/index");
    let intact = std::fs::read(&path).unwrap();
    for at in (0..intact.len()).step_by(intact.len() / 40) {
        let mut bytes = intact.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(titles(&sandbox), wanted, "byte {at}");
        sandbox.ralph(&["task", "show", "t-001"]).ok();
    }
    std::fs::write(&path, &intact[..intact.len() / 2]).unwrap();
    let said = sandbox.ralph(&["doctor"]).stdout;
    assert!(said.contains("damaged-index"), "{said}");
    assert_eq!(titles(&sandbox), wanted);
}

#[test]
fn an_index_of_another_workflow_is_out_of_date_and_not_damaged() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 60);
    titles(&sandbox);
    assert!(sandbox.root().join(".git/ralph/index").exists());
    let table = sandbox.ralph(&["workflow", "--of", "lite", "--toml"]).ok();
    std::fs::write(sandbox.root().join(".ralph/workflow.toml"), table).unwrap();
    let said = sandbox.ralph(&["doctor"]).to_string();
    assert!(!said.contains("damaged-index"), "{said}");
}

/// `show` uses the index for references to a task; later commands and edits by hand must be included.
#[test]
fn links_to_a_task_are_seen_whoever_made_them() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 80);
    titles(&sandbox);
    let blocks = || sandbox.ralph(&["task", "show", "t-000", "--json"]).json()["blocks"].clone();
    assert_eq!(blocks(), serde_json::json!([]));
    sandbox.ralph(&["block", "t-001", "--on", "t-000"]).ok();
    assert_eq!(blocks(), serde_json::json!(["t-001"]));
    let new = sandbox.add(&["new", "--blocked-by", "t-000"]);
    assert!(blocks().as_array().unwrap().contains(&new.as_str().into()));
    sandbox.write_task("byhand", "title = 'x'\nblocked_by = ['t-000']\n");
    assert!(blocks().as_array().unwrap().contains(&"byhand".into()));
    sandbox.ralph(&["unblock", "t-001"]).ok();
    std::fs::remove_file(sandbox.task_file("byhand")).unwrap();
    assert_eq!(blocks(), serde_json::json!([new]));
}

#[test]
fn reading_works_where_nothing_may_be_written() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 10);
    let folders = [sandbox.root().join(".git/ralph"), sandbox.root().join(".ralph/tasks"), sandbox.root().join(".git")];
    std::fs::create_dir_all(&folders[0]).unwrap();
    let mode = |bits: u32| {
        for folder in &folders {
            set_mode(folder, bits);
        }
    };
    mode(0o555);
    let listed = sandbox.ralph(&["task", "ls", "--json"]);
    let shown = sandbox.ralph(&["task", "show", "t-001"]);
    mode(0o755);
    assert_eq!((listed.code, shown.code), (0, 0), "{listed}\n{shown}");
    assert!(!listed.stderr.contains("error"));
}

#[test]
fn an_edit_in_place_is_seen_by_show_once_a_list_has_seen_it() {
    let sandbox = Sandbox::new();
    board_of(&sandbox, 80);
    titles(&sandbox);
    let children = || sandbox.ralph(&["task", "show", "t-000", "--json"]).json()["children"].clone();
    assert_eq!(children(), serde_json::json!([]));
    // In place: neither the folder nor the inode changes.
    sandbox.write_task("t-001", "title = 'T001'\nparent = 't-000'\n");
    titles(&sandbox);
    assert_eq!(children(), serde_json::json!(["t-001"]));
}

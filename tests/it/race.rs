//! Many processes and people at once.

use std::collections::HashSet;
use std::process::{Command, Stdio};

use crate::sandbox::{RALPH, Sandbox, finish};

#[test]
fn sixty_four_processes_add_at_once_and_none_is_lost() {
    let sandbox = Sandbox::new();
    let children: Vec<_> = (0..64)
        .map(|n| {
            let mut command = sandbox.command(RALPH, &sandbox.root());
            command.args(["task", "add", "--json", &format!("Task {n}")]).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut acknowledged = HashSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(acknowledged.insert(json["tasks"][0]["id"].as_str().unwrap().to_owned()), "an id was given twice");
    }
    assert_eq!(sandbox.ids().into_iter().collect::<HashSet<_>>(), acknowledged);
    assert_eq!(sandbox.ralph(&["log", "--json", "-n", "100"]).json().as_array().unwrap().len(), 64);
}

#[test]
fn writers_of_different_keys_of_one_task_all_win() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Shared"]);
    let children: Vec<_> = (0..16)
        .map(|n| {
            let mut command = sandbox.command(RALPH, &sandbox.root());
            command.args(["task", "set", &id, &format!("labels+=l{n:02}")]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let labels = sandbox.ralph(&["task", "show", &id, "--json"]).json()["labels"].as_array().unwrap().len();
    assert_eq!(labels, 16);
}

/// Each way of saving, right after a write by ralph and right before one: within the same second, often the same clock
/// tick.
#[test]
fn saves_by_vim_sed_and_overwriting_in_the_same_second_are_all_kept() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Shared", "--priority", "P3"]);
    let file = sandbox.task_file(&id).display().to_string();
    for round in 0..6 {
        let mark = format!("# round {round} by");
        sandbox.ralph(&["task", "set", &id, &format!("labels+=before{round}")]).ok();
        finish(Command::new("sed").args(["-i", &format!("1i {mark} sed"), &file])).ok();
        sandbox.ralph(&["task", "set", &id, &format!("priority=P{}", round % 3)]).ok();
        let save = format!("normal ggO{mark} vim");
        finish(Command::new("vim").args(["-u", "NONE", "-N", "-es", "-c", &save, "-c", "wq", &file])).ok();
        sandbox.ralph(&["task", "set", &id, &format!("labels+=between{round}")]).ok();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{mark} hand\n{text}")).unwrap();
        // Same size, same second: only the content differs.
        let listed = sandbox.ralph(&["task", "ls", "--json"]).json();
        assert_eq!(listed[0]["priority"], format!("P{}", round % 3));
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("\"P", "\"Q").replace("\"Q", "\"P"))
            .unwrap();
        sandbox.ralph(&["task", "set", &id, &format!("labels+=after{round}")]).ok();
    }
    let text = sandbox.read_task(&id);
    for round in 0..6 {
        for by in ["sed", "vim", "hand"] {
            assert!(text.contains(&format!("# round {round} by {by}")), "{text}");
        }
        for when in ["before", "between", "after"] {
            assert!(text.contains(&format!("\"{when}{round}\"")), "{text}");
        }
    }
}

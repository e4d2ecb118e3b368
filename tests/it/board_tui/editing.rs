//! Text that a person types is saved or kept, and so are unfinished edits when they continue or quit.

use std::process::Command;

use super::Terminal;
use crate::sandbox::{Sandbox, finish};

#[test]
fn an_edit_is_saved_and_one_that_cannot_be_is_never_lost() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Before"]);
    let editor = sandbox.outside("editor.sh");
    let script =
        "if grep -q Before \"$1\"; then sed -i s/Before/After/ \"$1\"; else echo 'title = \"twice' >> \"$1\"; fi\n";
    std::fs::write(&editor, script).unwrap();
    let env = [("EDITOR", format!("sh {}", editor.display()))];
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let terminal = Terminal::new(&sandbox, (80, 24), "\"$RALPH\" board", &env);
    terminal.shows("Before");
    terminal.press(&["e"]);
    terminal.shows("title Before → After");
    assert!(sandbox.read_task(&task).contains("After"));
    terminal.press(&["e"]);
    terminal.shows(&format!("─ {task} was not saved"));
    terminal.press(&["Escape"]);
    let screen = terminal.shows("your text is in");
    let path = screen.lines().find_map(|line| line.split_once("your text is in ")).unwrap().1;
    let kept = std::fs::read_to_string(path.trim()).unwrap();
    assert!(kept.contains("title = \"twice"), "{kept}");
    assert!(!sandbox.read_task(&task).contains("twice"));
}

/// A board with a script as the editor.
fn edited<'a>(sandbox: &'a Sandbox, script: &str) -> Terminal<'a> {
    let editor = sandbox.outside("editor.sh");
    std::fs::write(&editor, script).unwrap();
    let line = "\"$RALPH\" board; echo ended $?; exec cat";
    let terminal = Terminal::new(sandbox, (80, 24), line, &[("EDITOR", &format!("sh {}", editor.display()))]);
    terminal.until("the board", |screen| screen.contains("Backlog") && screen.contains("· live"));
    terminal
}

/// Holds the lock of the board until it is dropped.
struct Locked(std::process::Child);

impl Locked {
    fn new(sandbox: &Sandbox) -> Self {
        let lock = sandbox.root().join(".git/ralph/lock");
        // `exec`, so that no other process keeps the lock.
        let line = "exec 9>>\"$1\"; flock 9; exec sleep 600";
        let holder = Command::new("sh").args(["-c", line, "sh"]).arg(&lock).spawn().unwrap();
        while finish(Command::new("flock").arg("-n").arg(&lock).arg("true")).code == 0 {}
        Self(holder)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_edit_goes_on_with_what_somebody_else_has_changed_meanwhile() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Before"]);
    let script = format!(
        "if grep -q Before \"$1\"; then sed -i s/Before/After/ \"$1\"; \"$RALPH\" task set {task} priority=P0 --as bob; fi\n"
    );
    let terminal = edited(&sandbox, &script);
    terminal.press(&["e"]);
    terminal.shows(&format!("─ {task} was not saved"));
    assert!(!sandbox.read_task(&task).contains("After"));
    terminal.press(&["Enter"]);
    terminal.shows("title Before → After");
    let file = sandbox.read_task(&task);
    assert!(file.contains("After") && file.contains("P0"), "{file}");
}

#[test]
fn an_editor_that_fails_leaves_the_task_as_it_was_and_the_text_in_a_file() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Before"]);
    let terminal = edited(&sandbox, "sed -i s/Before/After/ \"$1\"; exit 3\n");
    terminal.press(&["e"]);
    terminal.shows("exited with an error");
    terminal.press(&["q"]);
    let screen = terminal.shows("your text is in");
    let path = screen.lines().find_map(|line| line.split_once("your text is in ")).unwrap().1;
    assert!(std::fs::read_to_string(path.trim()).unwrap().contains("After"));
    assert!(sandbox.read_task(&task).contains("Before"));
}

#[test]
fn a_note_is_written_in_the_editor() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Noted"]);
    let terminal = edited(&sandbox, "echo ' and more' >> \"$1\"\n");
    terminal.press(&["n"]);
    terminal.shows("note on");
    terminal.typed("begun");
    terminal.press(&["C-e"]);
    terminal.shows(&format!("{task} noted"));
    let shown = sandbox.ralph(&["task", "show", &task, "--json"]).json();
    assert_eq!(shown["notes"][0]["text"].as_str().unwrap().trim(), "begun and more");
}

#[test]
fn two_edits_that_wait_for_the_board_are_both_saved() {
    let sandbox = Sandbox::new();
    sandbox.add(&["First", "--priority", "P0"]);
    sandbox.add(&["Second", "--priority", "P1"]);
    let terminal = edited(&sandbox, "sed -i 's/^title = \"/&New /' \"$1\"\n");
    let locked = Locked::new(&sandbox);
    terminal.press(&["e"]);
    terminal.shows("working …");
    terminal.press(&["j", "e"]);
    terminal.shows("working …");
    drop(locked);
    terminal.until("both", |screen| screen.contains("New First") && screen.contains("New Second"));
}

#[test]
fn what_is_under_way_stops_neither_reading_nor_is_it_dropped_by_quitting() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Wanted"]);
    let terminal = Terminal::board(&sandbox, (80, 24));
    let locked = Locked::new(&sandbox);
    terminal.press(&["c"]);
    terminal.shows("working …");
    terminal.press(&["Enter"]);
    terminal.shows("history ──");
    terminal.press(&["q", "q"]);
    terminal.shows_no("Backlog");
    drop(locked);
    terminal.shows("ended 0");
    assert!(sandbox.ralph(&["task", "show", &task, "--json"]).json()["claim"].is_object());
}

#[test]
fn a_note_that_was_begun_stays_in_a_file_when_the_board_ends() {
    let sandbox = Sandbox::new();
    sandbox.add(&["Half said"]);
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("Half said");
    terminal.press(&["n"]);
    terminal.shows("note on");
    terminal.typed("not to be lost");
    terminal.shows("not to be lost");
    terminal.press(&["C-c"]);
    let screen = terminal.shows("ended 1");
    let path = screen.lines().find_map(|line| line.split_once("your text is in ")).unwrap().1;
    assert_eq!(std::fs::read_to_string(path.trim()).unwrap(), "not to be lost");
}

//! `ralph board` in a real terminal: tmux sends the keys, and its screen is compared as text.

mod editing;
mod frames;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{RALPH, Sandbox, eventually, finish};

/// A terminal that runs a program, on its own tmux server.
struct Terminal<'a> {
    sandbox: &'a Sandbox,
    socket: PathBuf,
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

impl<'a> Terminal<'a> {
    fn new(sandbox: &'a Sandbox, (width, height): (u16, u16), line: &str, env: &[(&str, &str)]) -> Self {
        // A server that is ending may still have its socket.
        let socket = (0..).map(|n| sandbox.outside(&format!("tmux{n}"))).find(|path| !path.exists()).unwrap();
        let terminal = Self { sandbox, socket };
        let (width, height) = (width.to_string(), height.to_string());
        let mut command = terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", &height, line]);
        command.env("SHELL", "/bin/sh").env("RALPH", RALPH).envs(env.iter().copied());
        finish(&mut command).ok();
        terminal
    }

    fn board(sandbox: &'a Sandbox, size: (u16, u16)) -> Self {
        let terminal = Self::new(sandbox, size, "\"$RALPH\" board --color always; echo ended $?; exec cat", &[]);
        terminal.until("the board", |screen| screen.contains("Backlog") && screen.contains("· live"));
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command("tmux", &self.sandbox.root());
        command.arg("-u").arg("-S").arg(&self.socket).args(args);
        command
    }

    fn press(&self, keys: &[&str]) {
        let args: Vec<&str> = ["send-keys"].into_iter().chain(keys.iter().copied()).collect();
        finish(&mut self.tmux(&args)).ok();
    }

    fn typed(&self, text: &str) {
        finish(&mut self.tmux(&["send-keys", "-l", text])).ok();
    }

    fn screen(&self) -> String {
        finish(&mut self.tmux(&["capture-pane", "-p"])).ok()
    }

    /// The screen with its colour sequences.
    fn painted(&self) -> String {
        finish(&mut self.tmux(&["capture-pane", "-p", "-e"])).ok()
    }

    /// The screen, once it fits and two reads in a row are equal.
    #[track_caller]
    fn until(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        let mut before = String::new();
        loop {
            let screen = self.screen();
            if is(&screen) && screen == before {
                return screen;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "waited for {what}:\n{screen}");
            before = screen;
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    #[track_caller]
    fn shows_no(&self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    /// Presses the left button on the first cell of a text, and releases it on another.
    fn drag(&self, from: &str, to: &str) {
        self.typed(&self.dragging(from, to));
    }

    fn dragging(&self, from: &str, to: &str) -> String {
        let screen = self.screen();
        let at = |text: &str| {
            let (row, line) = screen.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
            (line[..line.find(text).unwrap()].chars().count() + 1, row + 1)
        };
        let ((x, y), (to_x, to_y)) = (at(from), at(to));
        let moved = if from == to { String::new() } else { format!("\x1b[<32;{to_x};{to_y}M") };
        format!("\x1b[<0;{x};{y}M{moved}\x1b[<0;{to_x};{to_y}m")
    }
}

/// The demo board, with two workers.
fn demo() -> Sandbox {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.ralph(&["init", "--demo"]).ok();
    for (title, worker, command) in
        [("Dark mode", "builder-1", "implement"), ("Session token", "analyst-2", "research")]
    {
        let task = id_of(&sandbox, title);
        sandbox.ralph(&["claim", &task, "--as", worker, "--for", command]).ok();
    }
    sandbox
}

fn id_of(sandbox: &Sandbox, title: &str) -> String {
    let found = sandbox.ralph(&["task", "ls", "--all", "--search", title, "--json"]).json();
    found[0]["id"].as_str().unwrap().to_owned()
}

fn state_of(sandbox: &Sandbox, id: &str) -> String {
    sandbox.ralph(&["task", "show", id, "--json"]).json()["state"].as_str().unwrap().to_owned()
}

/// Snapshots of all main views.
fn tour(size: (u16, u16)) {
    let sandbox = demo();
    let terminal = Terminal::board(&sandbox, size);
    let see = |view: &str, screen: String| {
        insta::assert_snapshot!(format!("{view}_{}x{}", size.0, size.1), screen);
    };
    see("board", terminal.shows("Backlog"));
    terminal.press(&["/"]);
    terminal.shows("titles, labels");
    terminal.typed("saved card");
    terminal.press(&["Enter"]);
    see("task", terminal.shows("for builder"));
    terminal.press(&["g"]);
    see(
        "graph",
        terminal.until("the chain", |screen| screen.contains("blockers of") && screen.contains("Payment form")),
    );
    terminal.press(&["q", "q"]);
    terminal.shows("q quit");
    terminal.press(&["/"]);
    terminal.shows("titles, labels");
    terminal.typed("payment guide");
    terminal.press(&["Enter"]);
    terminal.shows("Write the payment guide");
    terminal.press(&["m"]);
    terminal.shows("current state");
    terminal.press(&["G", "k", "k", "k", "k", "Enter"]);
    see("move_refused", terminal.shows("✗"));
    terminal.press(&["Escape"]);
    terminal.shows_no("current state");
    terminal.press(&["q", "w"]);
    see("workers", terminal.shows("no runs yet"));
    terminal.press(&["q", "f"]);
    terminal.shows("─ filter");
    terminal.typed("label:web blocked");
    terminal.press(&["Enter"]);
    see(
        "filter",
        terminal.until("the filtered board", |screen| screen.contains("1 of 14") && !screen.contains("─ filter")),
    );
    terminal.press(&["?"]);
    see("help", terminal.shows("navigate"));
}

#[test]
fn the_main_views_at_80_by_24() {
    tour((80, 24));
}

#[test]
fn the_main_views_at_120_by_40() {
    tour((120, 40));
}

#[test]
fn the_main_views_at_60_by_20() {
    tour((60, 20));
}

#[test]
fn a_claim_by_another_process_appears_and_the_selection_stays_on_its_task() {
    let sandbox = Sandbox::new();
    let first = sandbox.add(&["First of all", "--priority", "P2"]);
    sandbox.add(&["Second of all", "--priority", "P3"]);
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("Second of all");
    sandbox.ralph(&["claim", &first, "--as", "bob"]).ok();
    terminal.shows("▶ bob");
    // The card moves to another column and position, and stays selected.
    sandbox.ralph(&["task", "add", "Urgent", "--priority", "P0", "--state", "Research Needed"]).ok();
    sandbox.ralph(&["move", &first, "Research Needed", "--as", "bob"]).ok();
    let screen = terminal.until("both in one column", |screen| {
        let head = screen.lines().nth(1).and_then(|line| line.split_once("Research Needed"));
        head.is_some_and(|(_, rest)| rest.split_whitespace().next() == Some("2"))
    });
    let framed = |line: &&str| line.contains(&format!("│ ● {first}")) || line.contains(&format!("│ ▶ {first}"));
    assert!(screen.lines().any(|line| framed(&line)), "{screen}");
    terminal.press(&["Enter"]);
    terminal.shows(&format!("{first}  First of all"));
}

#[test]
fn a_refusal_stands_below_the_card_with_the_next_step_and_goes_with_the_next_key() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Wanted by two"]);
    sandbox.ralph(&["claim", &task, "--as", "bob"]).ok();
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("▶ bob");
    terminal.press(&["c"]);
    let screen = terminal.shows("→ w shows who holds");
    let card: Vec<&str> = screen.lines().skip_while(|line| !line.contains(&task)).collect();
    assert!(card[0].contains('│') && card.iter().take(4).any(|line| line.contains("✗ t-")), "{screen}");
    terminal.press(&["j"]);
    terminal.shows_no("✗");
}

#[test]
fn a_person_forces_a_move_where_a_refusal_offers_it_and_only_there() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Straight to the end"]);
    let blocker = sandbox.add(&["Something else", "--state", "Done"]);
    sandbox.ralph(&["move", &blocker, "Human Needed"]).ok();
    sandbox.ralph(&["block", &task, "--on", &blocker]).ok();
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("Straight to the end");
    terminal.press(&["F"]);
    terminal.shows("there is no refused move to force");
    terminal.press(&["m"]);
    terminal.shows("current state");
    // In Progress is four above the last state.
    terminal.press(&["G", "k", "k", "k", "k", "Enter"]);
    terminal.shows("→ F forces the move");
    assert_eq!(state_of(&sandbox, &task), "Backlog");
    terminal.press(&["F"]);
    terminal.shows("(forced)");
    assert_eq!(state_of(&sandbox, &task), "In Progress");
}

#[test]
fn what_is_typed_here_is_done_on_the_board() {
    let sandbox = Sandbox::new();
    let old = sandbox.add(&["The old one"]);
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("The old one");
    terminal.press(&["a"]);
    terminal.shows("─ new task");
    terminal.typed("Neues für 日本");
    terminal.press(&["Enter"]);
    terminal.shows("added to Backlog");
    let new = id_of(&sandbox, "Neues");
    // The new task is selected.
    terminal.press(&["b"]);
    terminal.shows("add a blocker to");
    terminal.typed("old");
    terminal.press(&["Enter"]);
    terminal.shows("⊘ 1");
    terminal.press(&["n"]);
    terminal.shows("note on");
    terminal.typed("first line");
    terminal.press(&["Enter"]);
    terminal.typed("second");
    terminal.press(&["Escape"]);
    terminal.shows("was not saved: press n to continue it");
    terminal.press(&["n"]);
    terminal.shows("second");
    terminal.press(&["C-s"]);
    terminal.shows("noted");
    let shown = sandbox.ralph(&["task", "show", &new, "--json"]).json();
    assert_eq!(shown["title"], "Neues für 日本");
    assert_eq!(shown["blocked_by"][0], old.as_str());
    assert_eq!(shown["notes"][0]["text"].as_str().unwrap().trim(), "first line\nsecond");
    terminal.press(&["u", "Enter"]);
    terminal.shows("is no longer blocked by");
    assert_eq!(sandbox.ralph(&["task", "show", &new, "--json"]).json()["blocked"], false);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.add(&["A good one"]);
    let terminal = Terminal::board(&sandbox, (80, 24));
    terminal.shows("A good one");
    sandbox.write_task("t-bad", "title = \"a\"\nstate = [\n");
    terminal.shows("‼ .ralph/tasks/t-bad.toml:");
    terminal.press(&["!"]);
    terminal.shows("e edit the file");
    std::fs::remove_file(sandbox.task_file("t-bad")).unwrap();
    terminal.shows_no("‼");
}

#[test]
fn it_follows_the_size_of_the_terminal() {
    let sandbox = demo();
    let terminal = Terminal::board(&sandbox, (60, 20));
    let rule = |part: &&str| part.contains(['─', '━']);
    let count = |screen: &str| screen.lines().nth(2).unwrap().split(' ').filter(rule).count();
    assert_eq!(count(&terminal.shows("Backlog")), 2);
    finish(&mut terminal.tmux(&["resize-window", "-x", "130", "-y", "40"])).ok();
    terminal.until("more columns", |screen| count(screen) > 3);
    finish(&mut terminal.tmux(&["resize-window", "-x", "30", "-y", "8"])).ok();
    terminal.shows("board needs 40×10");
    finish(&mut terminal.tmux(&["resize-window", "-x", "60", "-y", "20"])).ok();
    terminal.shows("Backlog");
}

#[test]
fn the_terminal_is_as_it_was_after_a_signal_and_after_quitting() {
    let sandbox = demo();
    let line = "\"$RALPH\" board; echo ended $?; stty -a | grep -ow -e '-\\?echo' -e '-\\?icanon'; exec cat";
    for signal in [None, Some("TERM")] {
        let terminal = Terminal::new(&sandbox, (80, 24), line, &[]);
        terminal.shows("· live");
        match signal {
            None => terminal.press(&["q"]),
            Some(name) => {
                let pane = finish(&mut terminal.tmux(&["display", "-p", "#{pane_pid}"])).ok();
                let board = Command::new("pgrep").args(["-P", pane.trim()]).output().unwrap();
                let board = String::from_utf8(board.stdout).unwrap();
                assert!(Command::new("kill").args(["-s", name, board.trim()]).status().unwrap().success());
            }
        }
        let ended = if signal.is_some() { "ended 143" } else { "ended 0" };
        let screen = terminal.shows(ended);
        assert!(!screen.contains("Backlog"), "the other screen is gone:\n{screen}");
        let screen = terminal.shows("icanon");
        assert!(!screen.contains("-echo") && !screen.contains("-icanon"), "{screen}");
    }
}

#[test]
fn control_z_goes_to_the_shell_and_back_and_does_nothing_where_there_is_none() {
    let sandbox = demo();
    let terminal = Terminal::new(&sandbox, (80, 24), "exec env PS1='shell> ' bash --norc -i", &[]);
    terminal.shows("shell>");
    // In a script, the whole job stops.
    terminal.typed("sh -c '\"$RALPH\" board; echo ended $?'\n");
    terminal.shows("· live");
    terminal.press(&["C-z"]);
    terminal.shows("Stopped");
    terminal.typed("fg\n");
    terminal.until("reload the board", |screen| screen.contains("· live") && !screen.contains("shell>"));
    terminal.press(&["q"]);
    terminal.shows("ended 0");
    let alone = Terminal::board(&sandbox, (80, 24));
    alone.press(&["C-z", "?"]);
    alone.shows("navigate");
}

#[test]
fn the_mouse_selects_opens_and_carries_cards_and_a_card_that_may_not_go_there_stays() {
    let sandbox = Sandbox::new();
    let left = sandbox.add(&["On the left"]);
    let middle = sandbox.add(&["In the middle", "--state", "Research Needed"]);
    sandbox.add(&["On the right", "--state", "In Progress"]);
    sandbox.ralph(&["block", &left, "--on", &middle]).ok();
    let terminal = Terminal::board(&sandbox, (120, 24));
    terminal.shows("On the right");
    terminal.drag("In the middle", "In the middle");
    terminal.until("the frame", |screen| screen.lines().any(|line| line.contains("│ In the middle")));
    terminal.drag("On the left", "In Progress ");
    terminal.shows("✗");
    assert_eq!(state_of(&sandbox, &left), "Backlog");
    terminal.drag("On the left", "Research Needed");
    terminal.shows("Backlog → Research Needed");
    assert_eq!(state_of(&sandbox, &left), "Research Needed");
    terminal.typed(&terminal.dragging("On the right", "On the right").repeat(2));
    terminal.shows("history ──");
}

#[test]
fn without_colour_there_are_only_bold_and_reverse() {
    let sandbox = demo();
    let colours = |painted: &str| {
        let codes =
            painted.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m')).map(|(codes, _)| codes.to_owned());
        codes.flat_map(|codes| codes.split(';').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    for (line, env) in
        [("\"$RALPH\" board", ("NO_COLOR", "1")), ("\"$RALPH\" board --color never", ("COLORTERM", "truecolor"))]
    {
        let terminal = Terminal::new(&sandbox, (80, 24), line, &[env]);
        terminal.shows("· live");
        terminal.press(&["m"]);
        terminal.shows("current state");
        let used = colours(&terminal.painted());
        let plain = ["", "0", "1", "7", "22", "27", "39", "49"];
        assert!(used.iter().all(|code| plain.contains(&code.as_str())), "{used:?}");
        assert!(used.contains(&"7".to_owned()), "the selected line is reversed: {used:?}");
    }
    let terminal = Terminal::board(&sandbox, (80, 24));
    let used = colours(&terminal.painted());
    assert!(used.contains(&"38".to_owned()), "other lines are coloured: {used:?}");
}

#[test]
fn where_there_is_no_terminal_it_says_what_to_use_instead() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["One", "--label", "ui"]);
    sandbox.add(&["Other"]);
    let said = sandbox.ralph(&["board"]).fails(2);
    assert!(said.contains("ralph task ls") && said.contains("ralph status"), "{said}");
    let columns = sandbox.ralph(&["board", "--json", "label:ui"]).json();
    let columns = columns.as_array().unwrap();
    assert_eq!(columns.len(), 11);
    assert_eq!((&columns[0]["state"], &columns[0]["tasks"][0]["id"]), (&"Backlog".into(), &task.into()));
    assert_eq!(columns[0]["tasks"].as_array().unwrap().len(), 1);
    let said = sandbox.ralph(&["board", "colour:red"]).fails(2);
    assert!(said.contains("colour") && said.contains("label:"), "{said}");
}

#[test]
fn a_task_in_a_state_that_the_workflow_does_not_know_has_a_column() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Misspelt"]);
    let file = sandbox.read_task(&task).replace("\"Backlog\"", "\"Somewhere\"");
    sandbox.write_task(&task, file);
    let columns = sandbox.ralph(&["board", "--json"]).json();
    let columns = columns.as_array().unwrap();
    let last = columns.last().unwrap();
    assert_eq!((columns.len(), &last["state"], &last["tasks"][0]["id"]), (12, &"Somewhere".into(), &task.into()));
    let terminal = Terminal::new(&sandbox, (80, 24), "\"$RALPH\" board", &[]);
    terminal.until("its card", |screen| screen.contains("Somewhere") && screen.contains("Misspelt"));
}

#[test]
fn a_terminal_that_goes_away_ends_the_board() {
    let sandbox = demo();
    let terminal = Terminal::board(&sandbox, (80, 24));
    let path = terminal.sandbox.root().display().to_string();
    let is_running = || {
        let pids = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        pids.into_iter().any(|entry| {
            let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            String::from_utf8_lossy(&words).starts_with(RALPH) && folder.display().to_string() == path
        })
    };
    assert!(is_running());
    drop(terminal);
    eventually("the board ends without a terminal", || !is_running());
}

#[test]
fn a_person_answers_and_decides_from_the_inbox() {
    let sandbox = Sandbox::new();
    let asked = sandbox.add(&["Keep invoices", "--state", "Ready for Plan"]);
    let planned = sandbox.add(&["A plan", "--state", "Plan in Review"]);
    sandbox.add(&["Another"]);
    std::fs::write(sandbox.root().join(".ralph/config.toml"), "format = 1\n[review]\nmode = \"interactive\"\n")
        .unwrap();
    sandbox.ralph(&["claim", &asked, "--as", "builder"]).ok();
    let question = ["How long?", "--option", "1 year", "--option", "10 years", "--recommend", "10 years"];
    sandbox.ralph(&[&["ask", asked.as_str(), "--as", "builder"][..], &question].concat()).ok();
    sandbox.ralph(&["commit"]).ok();
    sandbox.ralph(&["worktree", "add", &planned]).ok();
    let worktree = sandbox.root().join(format!("worktrees/{planned}"));
    std::fs::write(worktree.join("a.rs"), "let it = 1;\n").unwrap();
    std::fs::create_dir_all(sandbox.root().join("thoughts/shared/plans")).unwrap();
    std::fs::write(sandbox.root().join("thoughts/shared/plans/p.md"), "# The plan\n\n- [ ] do it\n").unwrap();
    let linked = sandbox.read_task(&planned) + "\n[artifacts]\nplan = \"thoughts/shared/plans/p.md\"\n";
    std::fs::write(sandbox.task_file(&planned), linked).unwrap();
    let terminal = Terminal::board(&sandbox, (100, 30));
    terminal.shows("Keep invoices");
    terminal.press(&["i"]);
    terminal.shows("· 10 years");
    let screen = terminal.shows("plan to review");
    assert!(screen.contains("question") && screen.contains("How long?"), "{screen}");
    if screen.find("question") > screen.find("plan to review") {
        terminal.press(&["j"]);
    }
    terminal.press(&["s"]);
    terminal.shows("recommended");
    terminal.press(&["Enter"]);
    terminal.shows("answered: 10 years");
    assert_eq!(state_of(&sandbox, &asked), "Ready for Plan");
    terminal.press(&["g", "g", "d"]);
    let screen = terminal.shows("☐ do it");
    assert!(screen.contains("[plan]") && screen.contains("1 The plan"), "{screen}");
    terminal.press(&["j", "j", "c"]);
    terminal.shows("comment on line 3 of thoughts/shared/plans/p.md");
    terminal.typed("in which order?");
    terminal.press(&["Enter"]);
    terminal.shows("┃ in which order?");
    terminal.press(&["Tab"]);
    terminal.shows("+ let it = 1;");
    terminal.press(&["G", "c"]);
    terminal.shows("comment on line 1 of a.rs");
    terminal.typed("why 1?");
    terminal.press(&["Enter"]);
    terminal.shows("2 comments");
    terminal.press(&["x"]);
    terminal.shows("with 2 comments: what has to change?");
    terminal.typed("a test is missing");
    terminal.press(&["Enter"]);
    terminal.shows("rejected: ");
    assert_eq!(state_of(&sandbox, &planned), "Ready for Plan");
    let prompt = sandbox.ralph(&["prompt", "plan", &planned]).ok();
    for part in ["on line 3 of \"thoughts/shared/plans/p.md\":", "in which order?", "why 1?", "a test is missing"] {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
}

/// Old and new lines are shown side by side if the terminal is wide enough.
#[test]
fn a_wide_terminal_shows_changes_side_by_side() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.root().join("a.rs"), "let it = 1;\nlet other = 2;\n").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    let id = sandbox.add(&["Only one"]);
    sandbox.ralph(&["worktree", "add", &id]).ok();
    let file = sandbox.root().join(format!("worktrees/{id}/a.rs"));
    std::fs::write(file, "let it = 10;\nlet other = 2;\n").unwrap();
    let terminal = Terminal::board(&sandbox, (160, 20));
    terminal.shows("Only one");
    terminal.press(&["d"]);
    let screen = terminal.shows("+ let it = 10;");
    let line = screen.lines().find(|line| line.contains("+ let it = 10;")).unwrap();
    assert!(line.contains("- let it = 1;") && line.contains('│'), "{screen}");
}

#[test]
fn the_board_works_on_every_workflow() {
    for (workflow, first, to) in [("simple", "Todo", "Doing"), ("lite", "Intake", "Backlog")] {
        let sandbox = Sandbox::new();
        sandbox.ralph(&["workflow", "use", workflow, "--yes"]).ok();
        let id = sandbox.add(&["Only one"]);
        let line = "\"$RALPH\" board --color always; echo ended $?; exec cat";
        let terminal = Terminal::new(&sandbox, (100, 24), line, &[]);
        terminal.until("the board", |screen| screen.contains(first) && screen.contains("· live"));
        terminal.press(&["m"]);
        terminal.shows("current state");
        terminal.press(&["g", "j", "Enter"]);
        terminal.shows(&format!("{first} → {to}"));
        assert_eq!(state_of(&sandbox, &id), to);
        terminal.press(&["i"]);
        terminal.shows("your inbox is empty");
    }
}

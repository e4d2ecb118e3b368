//! Hostile clones: links, pipes, escape sequences, and settings that name programs. Nothing outside of the clone is
//! read or written, nothing hangs, no escape reaches the terminal, and only trusted programs run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::sandbox::{RALPH, Sandbox, finish};
use crate::system::symlink;

/// Commands that read or write the files of a board with the task t-x.
const COMMANDS: &[&[&str]] = &[
    &["task", "ls"],
    &["task", "show", "t-x"],
    &["task", "add", "Another"],
    &["task", "set", "t-x", "priority=P1"],
    &["note", "t-x", "a note"],
    &["claim", "t-x", "--for", "triage", "--as", "analyst"],
    &["release", "t-x", "--as", "analyst"],
    &["move", "t-x", "Done", "--force"],
    &["undo"],
    &["artifact", "new", "research", "t-x"],
    &["config", "set", "board.prefix", "u-"],
    &["config", "get", "board.prefix"],
    &["init"],
    &["setup", "claude"],
    &["setup", "codex"],
    &["setup", "gemini"],
    &["setup", "opencode"],
    &["worktree", "add", "t-x"],
    &["prompt", "research", "t-x"],
    &["status"],
    &["log"],
    &["why", "t-x"],
    &["doctor"],
    &["next"],
    &["report", "--html", "report.html"],
    &["commit"],
    &["archive", "t-x"],
    &["task", "rm", "t-x", "--yes"],
    &["trust", "--yes"],
];

/// Paths that a clone could replace; a folder ends with a slash.
const PLACES: &[&str] = &[
    ".ralph/",
    ".ralph/tasks/",
    ".ralph/tasks/t-x.toml",
    ".ralph/journal/",
    ".ralph/journal/2026-11.jsonl",
    ".ralph/notes/",
    ".ralph/notes/t-x/",
    ".ralph/archive/",
    ".ralph/config.toml",
    ".ralph/workflow.toml",
    ".ralph/prompts/",
    ".ralph/prompts/research.md",
    ".gitignore",
    ".gitattributes",
    ".claude/",
    ".claude/settings.json",
    ".mcp.json",
    ".codex/",
    ".codex/config.toml",
    ".gemini/settings.json",
    "AGENTS.md",
    "GEMINI.md",
    "opencode.json",
    "thoughts/",
    "thoughts/shared/",
    "thoughts/shared/research/",
    "worktrees/",
    "report.html",
];

fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() && !path.is_symlink() {
            true => found.extend(tree(&path)),
            false => _ = found.insert(path.clone(), std::fs::read(&path).unwrap_or_default()),
        }
    }
    found
}

fn board() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-x", "title = 'X'\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    sandbox
}

#[test]
fn no_command_reads_or_writes_through_a_link_out_of_the_repository() {
    for place in PLACES {
        let sandbox = board();
        let outside = sandbox.outside("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("mine.toml"), "title = 'Mine, and nobody else’s'\n").unwrap();
        let path = sandbox.root().join(place.trim_end_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
        let to = if place.ends_with('/') { outside.clone() } else { outside.join("mine.toml") };
        symlink(&to, &path).unwrap();
        let before = tree(&outside);
        for args in COMMANDS {
            let said = finish(sandbox.command(RALPH, &sandbox.root()).args(*args));
            assert!(!said.stdout.contains("nobody else"), "{place}, {args:?}: {said}");
            assert_eq!(tree(&outside), before, "{place}, {args:?}: {said}");
        }
    }
}

#[test]
fn nothing_waits_for_a_pipe_or_reads_a_device() {
    for place in PLACES.iter().filter(|place| !place.ends_with('/')) {
        // git itself blocks on pipes with these names, and no clone can contain them.
        let git_waits = place.starts_with(".git");
        for kind in ["pipe", "device"].into_iter().filter(|kind| *kind != "pipe" || !git_waits) {
            let sandbox = board();
            let path = sandbox.root().join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&path);
            match kind {
                "pipe" => drop(finish(std::process::Command::new("mkfifo").arg(&path)).ok()),
                _ => symlink("/dev/zero", &path).unwrap(),
            }
            // A report may be written into a pipe that the user names.
            for args in COMMANDS.iter().filter(|args| args[0] != "report") {
                let start = Instant::now();
                let mut command = sandbox.command("timeout", &sandbox.root());
                let said = finish(command.arg("20").arg(RALPH).args(*args));
                assert_ne!(said.code, 124, "{kind} {place}, {args:?}: {said}");
                assert!(start.elapsed() < Duration::from_secs(20), "{kind} {place}, {args:?}");
            }
        }
    }
}

/// Checks the system calls: every file written in the repository is opened without following links.
#[test]
fn every_file_of_the_board_is_written_without_following_links() {
    let sandbox = board();
    let mut seen = 0;
    for args in COMMANDS {
        let log = sandbox.outside("strace.log");
        let mut command = sandbox.command("strace", &sandbox.root());
        command.args(["-f", "-q", "-o"]).arg(&log).args(["-e", "trace=open,openat,openat2,creat", "--"]);
        let _ = finish(command.arg(RALPH).args(*args));
        let text = std::fs::read_to_string(&log).unwrap();
        let ours = |line: &&str| !line.contains("ENOENT") && !line.contains("/.git/") && !line.contains("/dev/");
        for line in text.lines().filter(ours) {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "creat("].iter().any(|flag| line.contains(flag));
            // git uses relative names in its own folder.
            let named =
                line.contains(".ralph") || line.contains(".toml") || line.contains(".jsonl") || line.contains(".tmp\"");
            if writes && named {
                seen += 1;
                assert!(line.contains("O_NOFOLLOW"), "{args:?}: {line}");
                let made = line.contains("O_CREAT") && line.contains(".ralph-");
                assert!(!made || line.contains("O_EXCL"), "{args:?}: {line}");
            }
        }
    }
    assert!(seen > 20, "{seen} files were written");
}

/// Temporary names that an earlier version used.
#[test]
fn links_at_names_that_could_be_foreseen_are_not_written_through() {
    let sandbox = board();
    let config = sandbox.home().join(".config/ralph/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "[ui]\ncolor = \"never\"\n").unwrap();
    let here = std::process::id();
    for pid in here..here + 3000 {
        for name in ["config.toml", "workflow.toml"] {
            symlink(&config, sandbox.root().join(format!(".ralph/.{name}.{pid}.tmp"))).unwrap();
        }
    }
    sandbox.ralph(&["config", "set", "board.prefix", "u-"]).ok();
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "[ui]\ncolor = \"never\"\n");
    assert!(!sandbox.root().join(".ralph/config.toml").is_symlink());
}

/// Escapes that a terminal acts on: a title, a cleared screen, a colour, C1, and reversed text.
const ESCAPES: &str = "\u{1b}]0;OWNED\u{7}\u{1b}[2J\u{1b}[35;7m\u{9b}2J\u{202e}\r";

/// A board with escapes in every field of its files.
fn loud() -> Sandbox {
    let sandbox = Sandbox::new();
    let toml =
        |text: &str| serde_json::to_string(text).unwrap().replace('\u{9b}', "\\u009b").replace('\u{202e}', "\\u202e");
    let evil = toml(&format!("e{ESCAPES}e"));
    let text = format!(
        "title = {evil}\nstate = 'Backlog'\nlabels = [{evil}]\nowner = {evil}\nattention = {evil}\ndescription = {evil}\n\
         {evil} = 1\n[artifacts]\n{evil} = {evil}\nplan = {evil}\n[github]\nnumber = 7\nurl = {evil}\n"
    );
    sandbox.write_task("t-x", &text);
    sandbox.write_task("t-y", format!("title = 'Y'\nstate = {evil}\nparent = {evil}\nblocked_by = ['t-x', {evil}]\n"));
    sandbox.write_task("t-z", format!("title = 'Z'\nthis is {ESCAPES} not TOML\n"));
    std::fs::write(sandbox.root().join(format!(".ralph/tasks/bad{ESCAPES}.toml")), "title = 'Bad name'\n").unwrap();
    let notes = sandbox.root().join(".ralph/notes/t-x");
    std::fs::create_dir_all(&notes).unwrap();
    let note = format!("+++\nby = {evil}\nat = 2026-11-16T10:00:00Z\n+++\nText {ESCAPES}\n");
    std::fs::write(notes.join("20261116-100000-abcd.md"), note).unwrap();
    std::fs::create_dir_all(sandbox.root().join(".ralph/prompts")).unwrap();
    std::fs::write(sandbox.root().join(format!(".ralph/prompts/x{ESCAPES}.md")), ESCAPES).unwrap();
    let config = format!(
        "[agent]\ncommand = [\"sh\", {evil}]\n[git]\nremote = {evil}\n[odd]\n{evil} = 1\n[[on]]\nevent = 'moved'\nrun = [{evil}]\n"
    );
    std::fs::write(sandbox.root().join(".ralph/config.toml"), config).unwrap();
    let line = serde_json::json!({ "id": "aaaa", "at": "2026-11-16T10:00:00Z", "by": format!("e{ESCAPES}"), "verb": "task set",
        "changes": [{ "task": "t-x", "key": "title", "old": ESCAPES, "new": ESCAPES }] });
    std::fs::create_dir_all(sandbox.root().join(".ralph/journal")).unwrap();
    std::fs::write(sandbox.root().join(".ralph/journal/2026-11.jsonl"), format!("{line}\nnot {ESCAPES} a line\n"))
        .unwrap();
    sandbox
}

#[test]
fn no_text_of_a_board_acts_on_the_terminal() {
    let sandbox = loud();
    let ours: &[&[&str]] = &[
        &["task", "ls", "--all"],
        &["task", "show", "t-x"],
        &["task", "show", "t-y"],
        &["task", "show", "t-z"],
        &["status"],
        &["config", "get", "agent.command"],
        &["config", "ls"],
        &["doctor"],
        &["group", "t-x"],
        &["log"],
        &["log", "t-x"],
        &["why", "t-x"],
        &["why", "t-y"],
        &["claim", "t-y"],
        &["next"],
        &["graph"],
        &["claims", "ls"],
        &["prompt", "research", "t-x"],
        &["artifact", "check", "plan", "t-x"],
        &["trust"],
        &["runs", "ls"],
        &["worktree", "ls"],
        &["workflow"],
        &["search", "e"],
        &["diff"],
        &["move", "t-x", "Nowhere"],
        &["task", "set", "t-x", "priority=P9"],
        &["undo"],
        &["agent", "ls"],
    ];
    for args in ours {
        for json in [false, true] {
            // `script` runs the command in a terminal.
            let line = shlex::try_join(args.iter().copied()).unwrap();
            let more = if json { " --json" } else { "" };
            let mut command = sandbox.command("script", &sandbox.root());
            command
                .args(["-qec", &format!("{RALPH} --no-pager {line}{more}"), "/dev/null"])
                .env("TERM", "xterm-256color");
            let said = command.output().unwrap();
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            for bad in ["\u{1b}]", "\u{1b}[2J", "\u{1b}[35;7m", "\u{9b}", "\u{202e}", "\u{7}"] {
                assert!(!text.contains(bad), "{args:?}{more}: {bad:?} in {text:?}");
            }
        }
    }
}

/// Every setting that names a program, and every way in which that program can change.
#[test]
fn what_was_agreed_to_is_exactly_what_runs() {
    let settings = [
        ("agent.command", "[agent]\ncommand = [\".ralph/x.sh\"]\n"),
        ("agent.plan.command", "[agent.plan]\ncommand = [\"sh\", \".ralph/x.sh\"]\n"),
        ("merge.checks", "[merge]\nchecks = [[\"sh\", \"-c\", \"./.ralph/x.sh && true\"]]\n"),
        ("agent.args", "[agent]\nargs = [\"--settings=.ralph/x.sh\"]\n"),
        ("on", "[[on]]\nevent = \"moved\"\nrun = [\".ralph/x.sh\"]\n"),
    ];
    for (name, text) in settings {
        let sandbox = board();
        let root = sandbox.root();
        let script = root.join(".ralph/x.sh");
        std::fs::write(&script, "echo one\n").unwrap();
        std::fs::write(root.join(".ralph/config.toml"), text).unwrap();
        let trusted = |sandbox: &Sandbox| sandbox.ralph(&["trust", "--json"]).stdout.contains("\"trusted\":true");
        assert!(!trusted(&sandbox), "{name}");
        let said = sandbox.ralph(&["trust", "--yes"]);
        assert!(said.code == 0 && said.stderr.contains(".ralph/x.sh (sha256 "), "{name}: {said}");
        assert!(trusted(&sandbox), "{name}");
        std::fs::write(&script, "echo two\n").unwrap();
        assert!(!trusted(&sandbox), "{name}: its content has changed");
        std::fs::write(&script, "echo one\n").unwrap();
        assert!(trusted(&sandbox), "{name}: it is trusted again with its old content");
        std::fs::remove_file(&script).unwrap();
        std::fs::write(root.join("other.sh"), "echo one\n").unwrap();
        symlink("../other.sh", &script).unwrap();
        assert!(!trusted(&sandbox), "{name}: it is a link to another file now");
        std::fs::remove_file(&script).unwrap();
        assert!(!trusted(&sandbox), "{name}: it was removed, and the next pull may add another");
    }
}

#[test]
fn consent_is_to_what_was_shown_and_not_to_what_came_meanwhile() {
    let sandbox = board();
    let config = sandbox.root().join(".ralph/config.toml");
    std::fs::write(&config, "[agent]\ncommand = [\"good\"]\n").unwrap();
    // A person reads at the terminal while another process changes the file.
    let mut command = sandbox.command("script", &sandbox.root());
    let child = command.args(["-qec", &format!("{RALPH} trust"), "/dev/null"]).stdin(std::process::Stdio::piped());
    let mut child = child.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::write(&config, "[agent]\ncommand = [\"evil\"]\n").unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"y\n").unwrap();
    let said = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("good") && !text.contains("evil"), "{text}");
    let now = sandbox.ralph(&["trust", "--json"]);
    assert!(now.code == 2 && now.stderr.contains("[\"evil\"]"), "asked again: {now}");
}

/// A change by a machine with a wrong clock, followed by one with the right clock.
#[test]
fn undo_takes_back_what_was_written_last_whatever_the_clocks_said() {
    let sandbox = board();
    let set = |value: &str, now: &str| {
        let mut command = sandbox.command(RALPH, &sandbox.root());
        finish(command.args(["task", "set", "t-x", value]).env("RALPH_NOW", now)).ok();
    };
    set("priority=P1", "2026-11-20T10:00:00Z");
    set("estimate=S", "2026-11-16T10:00:00Z");
    let mut undo = sandbox.command(RALPH, &sandbox.root());
    finish(undo.arg("undo").env("RALPH_NOW", "2026-11-16T10:01:00Z")).ok();
    let text = sandbox.read_task("t-x");
    assert!(text.contains("P1") && !text.contains("estimate"), "{text}");
    // The remaining change is dated in the future: it may not be the last one, so undo refuses and names it.
    let mut undo = sandbox.command(RALPH, &sandbox.root());
    let said = finish(undo.arg("undo").env("RALPH_NOW", "2026-11-16T10:02:00Z")).fails(1);
    assert!(said.contains("in the future"), "{said}");
    assert!(sandbox.read_task("t-x").contains("P1"));
}

/// A parent written into a file in place: neither the file's name nor the folder's time stamp shows it.
#[test]
fn a_child_that_was_added_in_place_is_seen_by_a_claim_of_its_parent() {
    let sandbox = Sandbox::new();
    let (parent, child) = (sandbox.add(&["Parent", "--state", "Ready for Plan"]), sandbox.add(&["Child"]));
    sandbox.ralph(&["task", "ls"]).ok();
    let mut file = std::fs::File::options().append(true).open(sandbox.task_file(&child)).unwrap();
    std::io::Write::write_all(&mut file, format!("parent = \"{parent}\"\n").as_bytes()).unwrap();
    drop(file);
    let said = sandbox.ralph(&["claim", &parent, "--for", "plan", "--as", "builder"]).fails(1);
    assert!(said.contains("cannot be ahead of its children"), "{said}");
}

/// Invalid requests do not stop the server.
#[test]
fn mutated_requests_end_no_server() {
    use std::io::{BufRead as _, Write as _};
    let sandbox = board();
    let whole = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"task":"t-x"}}}"#;
    let mut rng = fastrand::Rng::with_seed(7);
    let mut mutated = || -> String {
        let mut text: Vec<char> = whole.chars().collect();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(..text.len());
            match rng.u8(..3) {
                0 => text[at] = rng.char(' '..'~'),
                1 => drop(text.drain(at..(at + 5).min(text.len()))),
                _ => text.insert(at, ['"', '{', '[', '9', '\\', 'é'][rng.usize(..6)]),
            }
        }
        text.into_iter().filter(|c| *c != '\n').collect()
    };
    let mut command = sandbox.command(RALPH, &sandbox.root());
    let command = command.arg("mcp").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut server = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let start = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    writeln!(input, "{start}\n{ready}").unwrap();
    for _ in 0..300 {
        writeln!(input, "{}", mutated()).unwrap();
    }
    writeln!(input, "{}", whole.replace("\"id\":1", "\"id\":4711")).unwrap();
    let answers = std::io::BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let last = answers.into_iter().find(|line| line.contains("\"id\":4711")).expect("the server still answers");
    assert!(last.contains("t-x"), "{last}");
    drop(input);
    assert!(server.wait().unwrap().success());
}

//! `ralph watch`: reports every change once, in order, and what it means; one watcher applies the consequences.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Output, RALPH, SOON, Sandbox, eventually, finish, is_watching};
use crate::system::make_program;

/// A watcher that runs next to the test, with the real clock.
struct Watcher {
    child: Child,
    events: Arc<Mutex<Vec<Value>>>,
    folder: PathBuf,
}

fn real(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args);
    command
}

fn ralph(sandbox: &Sandbox, args: &[&str]) -> Output {
    finish(&mut real(sandbox, args))
}

impl Watcher {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let all = [&["watch", "--json"], args].concat();
        let mut child = real(sandbox, &all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let (out, list) = (child.stdout.take().unwrap(), Arc::clone(&events));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                list.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        let folder = sandbox.root().join(".ralph/tasks");
        let watcher = Self { child, events, folder };
        watcher.ready(sandbox);
        watcher
    }

    /// Changes a probe task until the watcher reports it.
    fn ready(&self, sandbox: &Sandbox) {
        let (path, temp) = (self.folder.join("t-probe.toml"), sandbox.outside("probe"));
        let mut size = 0;
        eventually("the watcher is ready", || {
            size += 1;
            std::fs::write(&temp, format!("title = 'Probe'\nprobe = {size}\n")).unwrap();
            std::fs::rename(&temp, &path).unwrap();
            self.events.lock().unwrap().iter().any(|event| event["task"] == "t-probe")
        });
        std::fs::remove_file(path).unwrap();
        self.until(|event| event["task"] == "t-probe" && event["event"] == "removed");
    }

    fn all(&self) -> Vec<Value> {
        let is_probe = |event: &&Value| event["task"] == "t-probe" || is_about(event, PROBE);
        self.events.lock().unwrap().iter().filter(|event| !is_probe(event)).cloned().collect()
    }

    #[track_caller]
    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.until_after(0, wanted)
    }

    /// The first matching event, without the first `before` events.
    #[track_caller]
    fn until_after(&self, before: usize, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            if let Some(found) = self.events.lock().unwrap().iter().skip(before).find(|event| wanted(event)) {
                return found.clone();
            }
            let new = || self.events.lock().unwrap()[before..].to_vec();
            assert!(start.elapsed() < SOON, "no such event: {:#?}", new());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn sees(&self, event: &str, task: &str) -> Value {
        self.until(|found| found["event"] == event && found["task"] == task)
    }

    #[track_caller]
    fn sees_value(&self, task: &str, key: &str, value: &str) {
        self.until(|event| changes(std::slice::from_ref(event), task, key).iter().any(|new| new == value));
    }

    /// The names of the events about one task.
    fn told(&self, task: &str) -> Vec<String> {
        let of = |event: &Value| event["task"] == task;
        self.all().iter().filter(|event| of(event)).map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until all earlier changes are reported: the watcher has reported a later file and its removal. The invalid
    /// name makes it read the whole folder and is not journaled.
    #[track_caller]
    fn settle(&self) -> Vec<Value> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{PROBE} {}.toml", NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = self.folder.join(&name);
        std::fs::write(&path, "").unwrap();
        self.until(|event| event["event"] == "problem" && is_about(event, &name));
        std::fs::remove_file(path).unwrap();
        self.until(|event| event["event"] == "solved" && is_about(event, &name));
        self.all()
    }

    fn kill(mut self) -> Vec<Value> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.all()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROBE: &str = "Settled Probe";

fn is_about(event: &Value, name: &str) -> bool {
    event["message"].as_str().is_some_and(|message| message.contains(name))
}

fn changes(events: &[Value], task: &str, key: &str) -> Vec<String> {
    let of_task = events.iter().filter(|event| event["task"] == task);
    let sets = of_task.flat_map(|event| event["changes"].as_array().cloned().unwrap_or_default());
    sets.filter(|change| change["key"] == key).map(|change| change["new"].to_string()).collect()
}

fn write(sandbox: &Sandbox, id: &str, text: &str) {
    std::fs::write(sandbox.task_file(id), text).unwrap();
}

fn shell(sandbox: &Sandbox, script: &str) {
    assert!(sandbox.command("sh", &sandbox.root()).args(["-c", script]).status().unwrap().success(), "{script}");
}

fn journal(sandbox: &Sandbox) -> Vec<Value> {
    ralph(sandbox, &["log", "--json", "-n", "100000"]).json().as_array().unwrap().clone()
}

#[test]
fn commands_and_saves_are_told_once_with_who_and_what() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\npriority = 'P2'\n");
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["task", "set", "t-a", "priority=P1", "--as", "ada"]).ok();
    let event = watcher.sees("changed", "t-a");
    assert_eq!((&event["by"], &event["verb"], &event["via"]), (&"ada".into(), &"set".into(), &"verb".into()));
    assert_eq!(event["id"], journal(&sandbox)[0]["id"], "one schema with the journal's");
    write(&sandbox, "t-a", "title = 'A'\npriority = 'P0'\n");
    let event = watcher.until(|event| event["via"] == "hand" && event["task"] == "t-a");
    assert_eq!(event["changes"][0]["new"], "P0");
    ralph(&sandbox, &["claim", "t-a", "--as", "ada"]).ok();
    assert_eq!(watcher.sees("claimed", "t-a")["by"], "ada");
    ralph(&sandbox, &["release", "t-a", "--as", "ada"]).ok();
    watcher.sees("released", "t-a");
    write(&sandbox, "t-a", "title = = \n");
    watcher.until(|event| event["event"] == "problem" && event["message"].as_str().unwrap().contains("t-a.toml:1"));
    write(&sandbox, "t-a", "title = 'A'\npriority = 'P0'\n");
    watcher.until(|event| event["event"] == "solved");
    ralph(&sandbox, &["note", "t-a", "hm"]).ok();
    watcher.sees("noted", "t-a");
    ralph(&sandbox, &["task", "rm", "t-a"]).ok();
    watcher.sees("removed", "t-a");
    let all = watcher.settle();
    assert_eq!(changes(&all, "t-a", "priority"), ["\"P1\"", "\"P0\""], "each once: {all:#?}");
    let edited = |line: &Value| line["verb"] == "hand-edit" && line.to_string().contains("priority");
    let line = journal(&sandbox).into_iter().find(edited).unwrap();
    assert_eq!((&line["by"], &line["changes"][0]["new"]), (&"Ada".into(), &"P0".into()), "the person is the author");
}

#[test]
fn every_way_of_saving_is_one_change() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\nsize = 0\n");
    let watcher = Watcher::start(&sandbox, &[]);
    let file = ".ralph/tasks/t-a.toml";
    for (n, script) in [
        format!("sed -i 's/size = .*/size = 1/' {file}"),
        format!("vim -u NONE -es -c '%s/size = .*/size = 2/' -c 'set backupcopy=no' -c wq {file}"),
        format!("printf \"title = 'A'\\nsize = 3\\n\" > {file}"),
        format!("printf \"title = 'A'\\nsize = 4\\n\" > x && mv x {file}"),
        format!("sed 's/size = .*/size = 5/' {file} > x; cp {file} {file}~; cat x > {file}; rm x {file}~"),
    ]
    .iter()
    .enumerate()
    {
        shell(&sandbox, script);
        watcher.sees_value("t-a", "size", &(n + 1).to_string());
    }
    let all = watcher.settle();
    assert_eq!(changes(&all, "t-a", "size"), ["1", "2", "3", "4", "5"], "{all:#?}");
    let edits =
        journal(&sandbox).into_iter().filter(|line| line["verb"] == "hand-edit" && line.to_string().contains("t-a"));
    assert_eq!(edits.count(), 5, "and journaled once");
}

#[test]
fn what_git_does_is_told_as_gits_and_not_journaled() {
    let sandbox = Sandbox::new();
    let many = 1_000;
    for n in 0..many {
        sandbox.write_task(&format!("t-{n:04}"), format!("title = 'Task {n}'\npriority = 'P2'\n"));
    }
    ralph(&sandbox, &["commit"]).ok();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    shell(&sandbox, "sed -i 's/P2/P1/' .ralph/tasks/*.toml");
    sandbox.git(&["rm", "-q", ".ralph/tasks/t-0000.toml", "-f"]);
    ralph(&sandbox, &["commit"]).ok();
    sandbox.git(&["checkout", "-q", "main"]);
    let watcher = Watcher::start(&sandbox, &[]);
    let before = journal(&sandbox).len();
    sandbox.git(&["checkout", "-q", "other"]);
    watcher.sees("changed", "t-0999");
    watcher.sees("removed", "t-0000");
    let all = watcher.settle();
    let by_git = all.iter().filter(|event| event["event"] == "changed" && event["via"] == "git").count();
    assert_eq!(
        by_git,
        many - 1,
        "{:#?}",
        all.iter().filter(|event| event["via"] == "hand").take(3).collect::<Vec<_>>()
    );
    sandbox.git(&["checkout", "-q", "main"]);
    watcher.sees("created", "t-0000");
    watcher.settle();
    let edited = |line: &&Value| line["verb"] == "hand-edit" && !line.to_string().contains("t-probe");
    let edits = |sandbox: &Sandbox| journal(sandbox).iter().filter(edited).count();
    // When git restores the files, the watcher has not read its own journal entry yet.
    for round in 1..=10 {
        let before = watcher.events.lock().unwrap().len();
        let since = |wanted: &dyn Fn(&Value) -> bool| watcher.until_after(before, wanted);
        let size = |event: &Value, key: &str| changes(std::slice::from_ref(event), "t-0001", key).join("");
        write(&sandbox, "t-0001", &format!("title = 'Task 1'\npriority = 'P3'\nsize = {round}\n"));
        since(&|event| event["via"] == "hand" && size(event, "size") == round.to_string());
        assert_eq!(edits(&sandbox), round, "only the edits by hand");
        sandbox.git(&["stash", "-q"]);
        since(&|event| event["via"] == "git" && size(event, "priority") == "\"P2\"");
        sandbox.git(&["stash", "pop", "-q"]);
        since(&|event| event["via"] == "git" && size(event, "size") == round.to_string());
    }
    watcher.settle();
    assert_eq!(
        (journal(&sandbox).len(), edits(&sandbox)),
        (before + 10, 10),
        "{:#?}",
        watcher.all().iter().rev().take(8).collect::<Vec<_>>()
    );
}

#[test]
fn a_folder_that_goes_and_comes_back_is_followed() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let watcher = Watcher::start(&sandbox, &[]);
    for round in 0..3 {
        shell(&sandbox, "rm -r .ralph/tasks");
        let gone = |event: &Value| event["event"] == "removed" && event["task"] == "t-a";
        let count = |is: &dyn Fn(&Value) -> bool| watcher.all().iter().filter(|event| is(event)).count();
        eventually("the removal is reported", || count(&gone) > round);
        shell(&sandbox, "mkdir .ralph/tasks && printf \"title = 'A'\\n\" > .ralph/tasks/t-a.toml");
        let back = |event: &Value| event["event"] == "created" && event["task"] == "t-a";
        eventually("the new file is reported", || count(&back) > round);
    }
    write(&sandbox, "t-a", "title = 'B'\n");
    watcher.until(|event| event["changes"].to_string().contains("\"B\""));
    let told = watcher.told("t-a");
    assert_eq!(told.iter().filter(|event| *event == "removed").count(), 3, "{told:?}");
    assert_eq!(told.iter().filter(|event| *event == "created").count(), 3, "{told:?}");
}

/// The kernel's queue overflows while the watcher is stopped: it reports that, and ends with the right board.
#[test]
fn a_storm_that_it_cannot_follow_is_read_again() {
    let sandbox = Sandbox::new();
    for n in 0..500 {
        sandbox.write_task(&format!("t-{n:03}"), "title = 'x'\nsize = 0\n");
    }
    let watcher = Watcher::start(&sandbox, &[]);
    let pid = watcher.child.id().to_string();
    shell(&sandbox, &format!("kill -STOP {pid}"));
    for round in 1..=20 {
        for n in 0..500 {
            write(&sandbox, &format!("t-{n:03}"), &format!("title = 'x'\nsize = {round}\n"));
        }
    }
    shell(&sandbox, &format!("kill -CONT {pid}"));
    watcher.until(|event| event["event"] == "rescanned");
    let all = watcher.settle();
    let told = |n: &usize| changes(&all, &format!("t-{n:03}"), "size").last().is_some_and(|size| size == "20");
    assert_eq!((0..500).filter(|n| !told(n)).count(), 0, "some changes are not reported");
}

#[test]
fn ten_thousand_changes_end_with_the_right_board() {
    let sandbox = Sandbox::new();
    for n in 0..200 {
        sandbox.write_task(&format!("t-{n:03}"), "title = 'x'\nsize = 0\n");
    }
    let watcher = Watcher::start(&sandbox, &[]);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let sandbox = sandbox.root();
            scope.spawn(move || {
                for round in 1..=50 {
                    for n in (writer..200).step_by(4) {
                        let path = sandbox.join(format!(".ralph/tasks/t-{n:03}.toml"));
                        std::fs::write(path, format!("title = 'x'\nsize = {round}\n")).unwrap();
                    }
                }
            });
        }
    });
    let all = watcher.settle();
    let told = |n: &usize| changes(&all, &format!("t-{n:03}"), "size").last().is_some_and(|size| size == "50");
    assert_eq!((0..200).filter(|n| !told(n)).count(), 0, "some changes are not reported");
}

#[test]
fn an_illegal_save_is_told_and_put_right_only_where_that_is_wanted() {
    for enforce in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.write_task("t-p", "title = 'P'\nkind = 'epic'\nstate = 'Ready for Plan'\n");
        sandbox.write_task("t-a", "title = 'A' # mine\nparent = 't-p'\nstate = 'Ready for Plan'\n");
        let watcher = Watcher::start(&sandbox, if enforce { &["--enforce"] } else { &[] });
        write(&sandbox, "t-a", "title = 'A' # mine\nparent = 't-p'\nstate = 'Done'\n");
        let event = watcher.sees("illegal", "t-a");
        assert!(event["message"].as_str().unwrap().contains("allowed: "), "the allowed moves: {event}");
        watcher.settle();
        let text = sandbox.read_task("t-a");
        assert_eq!(text.contains("state = 'Done'"), !enforce, "{text}");
        assert_eq!(text.contains("attention = "), !enforce, "{text}");
        assert!(text.contains("# mine"));
        let lines: Vec<String> = journal(&sandbox).iter().map(|line| line.to_string()).collect();
        assert!(lines.iter().any(|line| line.contains("\"Done\"")), "the wrong value is kept in the journal");
        assert_eq!(watcher.told("t-a").iter().filter(|event| *event == "illegal").count(), 1);
    }
}

#[test]
fn what_follows_from_a_save_is_done() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-p", "title = 'P'\nkind = 'epic'\nstate = 'Backlog'\n");
    sandbox.write_task("t-a", "title = 'A'\nparent = 't-p'\nstate = 'Research Needed'\n");
    sandbox.write_task("t-b", "title = 'B'\nblocked_by = ['t-c']\nstate = 'Ready for Plan'\n");
    sandbox.write_task("t-c", "title = 'C'\nstate = 'In Review'\n");
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["done", "t-c", "--force"]).ok();
    watcher.sees("unblocked", "t-b");
    let ready = watcher.sees("ready", "t-b");
    assert_eq!((&ready["role"], &ready["command"]), (&"builder".into(), &"plan".into()));
    write(&sandbox, "t-a", "title = 'A'\nparent = 't-p'\nstate = 'Canceled'\n");
    watcher.until(|event| event["task"] == "t-a" && event["to"] == "Canceled");
    write(&sandbox, "t-new", "title = 'New'\nparent = 't-p'\nstate = 'Ready for Plan'\n");
    watcher.until(|event| event["task"] == "t-p" && event["to"] == "Ready for Plan");
    watcher.settle();
    assert!(sandbox.read_task("t-p").contains("Ready for Plan"));
}

#[test]
fn the_dead_are_reaped_at_once_and_leases_when_they_end() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\nstate = 'Research Needed'\n");
    sandbox.write_task("t-b", "title = 'B'\nstate = 'Research Needed'\n");
    let watcher = Watcher::start(&sandbox, &[]);
    let run = ["run", "t-a", "--as", "analyst", "--", "sleep", "60"];
    let mut running = real(&sandbox, &run).stdout(Stdio::null()).spawn().unwrap();
    watcher.sees("claimed", "t-a");
    running.kill().unwrap();
    running.wait().unwrap();
    let event = watcher.sees("reaped", "t-a");
    assert_eq!(event["to"], "Research Needed");
    ralph(&sandbox, &["claim", "t-b", "--as", "analyst", "--config", "claims.lease=1s"]).ok();
    watcher.sees("reaped", "t-b");
    assert!(sandbox.read_task("t-b").contains("Research Needed"));
}

#[test]
fn one_watcher_reacts_and_the_next_takes_over_when_it_dies() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\nsize = 0\n");
    let first = Watcher::start(&sandbox, &[]);
    let second = Watcher::start(&sandbox, &[]);
    for size in 1..=3 {
        write(&sandbox, "t-a", &format!("title = 'A'\nsize = {size}\n"));
        for watcher in [&first, &second] {
            watcher.sees_value("t-a", "size", &size.to_string());
        }
    }
    let edits = |sandbox: &Sandbox| {
        let lines = journal(sandbox);
        lines.iter().filter(|line| line["verb"] == "hand-edit" && line.to_string().contains("\"size\"")).count()
    };
    first.settle();
    second.settle();
    assert_eq!(edits(&sandbox), 3, "journaled once each");
    assert_eq!(changes(&second.all(), "t-a", "size"), ["1", "2", "3"]);
    first.kill();
    write(&sandbox, "t-a", "title = 'A'\nsize = 4\n");
    second.sees_value("t-a", "size", "4");
    second.settle();
    assert_eq!(edits(&sandbox), 4);
}

fn rule(sandbox: &Sandbox, text: &str) {
    std::fs::write(sandbox.root().join(".ralph/config.toml"), format!("format = 1\n{text}")).unwrap();
}

#[test]
fn rules_run_once_they_are_trusted_and_never_before() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A; touch pwned'\n");
    sandbox.write_task("t-b", "title = 'B'\nlabels = ['urgent']\n");
    let script = "cat > seen.$RALPH_TASK; echo \"$1\" > arg.$RALPH_TASK";
    let text = format!(
        "[[on]]\nevent = 'changed'\nwhen = {{ label = 'urgent' }}\nrun = ['sh', '-c', '{script}', 'x', '{{title}} {{task}}']\n"
    );
    rule(&sandbox, &text);
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["task", "set", "t-b", "priority=P1"]).ok();
    let told = watcher.sees_failed("not trusted yet");
    assert!(told.contains("ralph trust"));
    assert!(!sandbox.root().join("seen.t-b").exists());
    ralph(&sandbox, &["trust", "--yes"]).ok();
    ralph(&sandbox, &["task", "set", "t-a", "priority=P1"]).ok();
    ralph(&sandbox, &["task", "set", "t-b", "priority=P2"]).ok();
    assert_eq!(line_in(&sandbox.root().join("arg.t-b")), "B t-b\n");
    let event: Value =
        serde_json::from_str(&std::fs::read_to_string(sandbox.root().join("seen.t-b")).unwrap()).unwrap();
    assert_eq!((&event["event"], &event["task"]), (&"changed".into(), &"t-b".into()));
    assert!(!sandbox.root().join("seen.t-a").exists(), "the filter holds");
    // Another program, which is not trusted.
    rule(&sandbox, "[[on]]\nevent = 'changed'\nrun = ['touch', 'pwned']\n");
    ralph(&sandbox, &["task", "set", "t-b", "priority=P3"]).ok();
    watcher.until(|event| event["changes"].to_string().contains("P3"));
    watcher.settle();
    assert!(!sandbox.root().join("pwned").exists());
}

impl Watcher {
    #[track_caller]
    fn sees_failed(&self, wanted: &str) -> String {
        let failed =
            |event: &Value| event["event"] == "rule-failed" && event["message"].as_str().unwrap().contains(wanted);
        self.until(failed)["message"].as_str().unwrap().to_owned()
    }
}

/// The text of the file, once it ends with a complete line.
#[track_caller]
fn line_in(path: &Path) -> String {
    let text = || std::fs::read_to_string(path).unwrap_or_default();
    eventually("a line in the file", || text().ends_with('\n'));
    text()
}

#[test]
fn a_rule_that_fails_hangs_or_makes_no_sense_is_told_and_stops_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    rule(
        &sandbox,
        "[[on]]\nevent = 'changed'\nrun = ['sh', '-c', 'echo broken >&2; exit 3']\n\
         [[on]]\nevent = 'changed'\nrun = ['sleep', '60']\ntimeout = '1s'\n\
         [[on]]\nevent = 'changed'\nrun = ['no-such-program']\n",
    );
    ralph(&sandbox, &["trust", "--yes"]).ok();
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["task", "set", "t-a", "priority=P1"]).ok();
    assert!(watcher.sees_failed("exit status: 3").contains("broken"));
    watcher.sees_failed("timed out after 1s");
    watcher.sees_failed("cannot start");
    ralph(&sandbox, &["task", "set", "t-a", "priority=P2"]).ok();
    watcher.until(|event| event["changes"].to_string().contains("P2"));
    drop(watcher);
    for (text, wanted) in [
        ("[[on]]\nevent = 'nonsense'\nrun = ['true']\n", "\"nonsense\" is not an event"),
        ("[[on]]\nevent = 'changed'\nwhen = { colour = 'red' }\nrun = ['true']\n", "cannot match \"colour\""),
        ("[[on]]\nevent = 'changed'\nrun = []\n", "has no program"),
        ("[[on]]\nevent = 'changed'\nrun = ['sh', '-c', 'echo {title}']\n", "use $RALPH_TITLE"),
        ("[[on]]\nevent = 'changed'\n", "config.toml:2"),
    ] {
        rule(&sandbox, text);
        let said = ralph(&sandbox, &["watch", "--timeout", "1s"]);
        assert!([2, 4].contains(&said.code) && said.stderr.contains(wanted), "{text}: {said}");
    }
}

#[test]
fn a_watch_ends_when_what_it_waits_for_has_come() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let mut waiting = real(&sandbox, &["watch", "--until", "t-a done", "--timeout", "60s"]);
    let mut waiting = waiting.stdout(Stdio::null()).spawn().unwrap();
    eventually("the watcher is ready", || is_watching(waiting.id()));
    ralph(&sandbox, &["done", "t-a", "--force"]).ok();
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    assert_eq!(ralph(&sandbox, &["watch", "--until", "t-a done"]).code, 0, "the state is already reached");
    assert_eq!(ralph(&sandbox, &["watch", "--until", "t-a backlog", "--timeout", "1s"]).code, 5);
    assert!(ralph(&sandbox, &["watch", "--until", "t-a"]).fails(2).contains("--until"));
    assert!(ralph(&sandbox, &["watch", "--event", "x"]).fails(2).contains("is not an event"));
    assert!(ralph(&sandbox, &["watch", "--role", "x"]).fails(2).contains("is not a role"));
    let replayed = ralph(&sandbox, &["watch", "--since", "1h", "--timeout", "1s", "--json"]);
    assert!(
        replayed.stdout.contains("\"event\":\"moved\"") && replayed.stdout.contains("\"to\":\"Done\""),
        "{replayed}"
    );
    let filtered = ralph(&sandbox, &["watch", "--since", "1h", "--event", "created", "--timeout", "1s", "--json"]);
    assert_eq!(filtered.stdout, "");
    let people = ralph(&sandbox, &["watch", "--since", "1h", "--timeout", "1s"]);
    assert!(people.stdout.contains("moved       t-a      Backlog → Done  by Ada  A"), "{people}");
}

/// The user has no inotify instances left: the watcher reports that and polls the files.
#[test]
#[cfg(target_os = "linux")]
fn without_inotify_it_polls() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    // Raise the limit of open files, so that inotify instances run out first.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, most).unwrap();
    let mut queues = Vec::new();
    while let Ok(queue) = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::empty()) {
        queues.push(queue);
        assert!(queues.len() < 100_000, "the number of inotify instances is not limited");
    }
    std::fs::File::open("/dev/null").expect("more inotify instances than open files: raise `ulimit -Hn`");
    let mut command = real(&sandbox, &["watch", "--json", "--event", "changed"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    // Its initial state is unknown to the test, so the file is changed until the watcher reports a difference.
    let told = std::thread::spawn(move || BufReader::new(out).lines().next().unwrap().unwrap());
    let mut size = 0;
    eventually("the change is reported", || {
        size += 1;
        write(&sandbox, "t-a", &format!("title = 'B'\nsize = {size}\n"));
        told.is_finished()
    });
    child.kill().unwrap();
    let err = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    drop(queues);
    assert!(err.contains("checking them twice a second") && err.contains("max_user_instances"), "{err}");
    let out = told.join().unwrap();
    assert!(out.contains("\"event\":\"changed\"") && out.contains("t-a"), "{out}");
}

/// Eight writers save arbitrary states; the watcher enforces the rules.
#[test]
fn a_storm_of_hand_edits_leaves_a_board_that_keeps_the_rules() {
    let sandbox = Sandbox::new();
    let states = ["Backlog", "Research Needed", "Ready for Plan", "Plan in Review", "In Review", "Done", "Canceled"];
    let task = |id: &str, state: &str| format!("title = '{id}'\nparent = 'p-{}'\nstate = '{state}'\n", &id[2..3]);
    for parent in 0..4 {
        sandbox.write_task(&format!("p-{parent}"), format!("title = 'P{parent}'\nkind = 'epic'\n"));
        for child in 0..4 {
            let id = format!("c-{parent}{child}");
            sandbox.write_task(&id, task(&id, "Backlog"));
        }
    }
    let watcher = Watcher::start(&sandbox, &["--enforce"]);
    std::thread::scope(|scope| {
        for writer in 0..8_u64 {
            let root = sandbox.root();
            scope.spawn(move || {
                let mut dice = fastrand::Rng::with_seed(writer);
                for _ in 0..40 {
                    let (parent, child) = (dice.usize(0..4), dice.usize(0..4));
                    let state = dice.choice(states).unwrap();
                    let id = format!("c-{parent}{child}");
                    let path = root.join(format!(".ralph/tasks/{id}.toml"));
                    let text = task(&id, state);
                    if dice.bool() {
                        let temp = root.join(format!(".ralph/tasks/.w{writer}.tmp"));
                        std::fs::write(&temp, text).unwrap();
                        std::fs::rename(&temp, path).unwrap();
                    } else {
                        std::fs::write(path, text).unwrap();
                    }
                    std::thread::sleep(Duration::from_millis(dice.u64(0..40)));
                }
            });
        }
    });
    watcher.settle();
    let said = ralph(&sandbox, &["doctor"]);
    assert_eq!(said.code, 0, "{said}");
    follows_the_table(&sandbox);
}

/// Asserts that the states of each task in the journal form a chain that ends with the state of its file.
fn follows_the_table(sandbox: &Sandbox) {
    let tasks = ralph(sandbox, &["task", "ls", "--all", "--json"]).json();
    let mut lines = journal(sandbox);
    lines.reverse();
    for task in tasks.as_array().unwrap() {
        let mut last = "Backlog".to_owned();
        for line in &lines {
            for change in line["changes"].as_array().unwrap() {
                if change["task"] != task["id"] || change["key"] != "state" {
                    continue;
                }
                let of = |line: &&Value| line.to_string().contains(task["id"].as_str().unwrap());
                let all: Vec<String> = lines.iter().filter(of).map(|line| format!("{line}\n")).collect();
                assert_eq!(change["old"].as_str(), Some(last.as_str()), "{} {line}\n{}", task["id"], all.concat());
                last = change["new"].as_str().unwrap().to_owned();
            }
        }
        assert_eq!(task["state"].as_str(), Some(last.as_str()), "{}", task["id"]);
    }
}

/// Regression tests: each of these was reported wrongly or not at all.
#[test]
fn the_odd_cases_are_told_as_what_they_are() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\nstate = 'Backlog'\n");
    sandbox.write_task("t-b", "title = 'B'\n");
    ralph(&sandbox, &["commit"]).ok();
    let watcher = Watcher::start(&sandbox, &[]);
    // Ready for one role, then for another.
    ralph(&sandbox, &["move", "t-a", "Research Needed"]).ok();
    let ready = |event: &Value| event["event"] == "ready" && event["task"] == "t-a" && event["command"] == "research";
    watcher.until(ready);
    // A short claim, which may have ended before the watcher looks.
    ralph(&sandbox, &["run", "t-b", "--as", "analyst", "--for", "triage", "--", "true"]).ok();
    watcher.until(|event| event["event"] == "claimed" && event["by"] == "analyst");
    watcher.until(|event| event["event"] == "released" && event["by"] == "analyst");
    // A save that a command overwrites at once.
    write(&sandbox, "t-b", "title = 'Saved'\n");
    ralph(&sandbox, &["task", "set", "t-b", "title=Set"]).ok();
    watcher.until(|event| event["via"] == "hand" && event["changes"].to_string().contains("Saved"));
    watcher.until(|event| event["via"] == "verb" && event["changes"].to_string().contains("Set"));
    assert!(journal(&sandbox).iter().any(|line| line["verb"] == "hand-edit" && line.to_string().contains("Saved")));
    // A missing state means the first one, so nothing moved.
    write(&sandbox, "t-c", "title = 'C'\nstate = 'Backlog'\n");
    watcher.sees("created", "t-c");
    write(&sandbox, "t-c", "title = 'C'\nlabels = ['x']\n");
    watcher.sees("changed", "t-c");
    // An invalid task id.
    std::fs::write(sandbox.root().join(".ralph/tasks/Bad Name.toml"), "title = 'x'\n").unwrap();
    watcher.until(|event| event["event"] == "problem" && event["message"].as_str().unwrap().contains("Bad Name"));
    // A copy of the board in a worktree is not the board.
    ralph(&sandbox, &["worktree", "add", "t-a"]).ok();
    let copy = sandbox.root().join("worktrees/t-a/.ralph/tasks/t-a.toml");
    std::fs::write(&copy, "title = 'Elsewhere'\n").unwrap();
    watcher.until(|event| event["event"] == "problem" && event["message"].as_str().unwrap().contains("only a copy"));
    let all = watcher.settle();
    assert!(!all.iter().any(|event| event["event"] == "moved" && event["task"] == "t-c"), "no move: {all:#?}");
}

#[test]
fn what_git_takes_back_is_not_told_as_new() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    ralph(&sandbox, &["commit"]).ok();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write_task("t-other", "title = 'Other'\n");
    sandbox.write_task("t-a", "title = 'Theirs'\n");
    ralph(&sandbox, &["commit"]).ok();
    sandbox.git(&["checkout", "-q", "main"]);
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["task", "set", "t-a", "title=Ours", "--as", "bob"]).ok();
    watcher.sees("changed", "t-a");
    ralph(&sandbox, &["commit"]).ok();
    sandbox.git(&["config", "--remove-section", "merge.ralph"]);
    sandbox.git(&["checkout", "-q", "HEAD~1"]);
    watcher.until(|event| event["via"] == "git" && event["task"] == "t-a");
    sandbox.git(&["checkout", "-q", "main"]);
    watcher.settle();
    let by_bob = watcher.all().iter().filter(|event| event["via"] == "verb" && event["by"] == "bob").count();
    assert_eq!(by_bob, 1, "{:#?}", watcher.all());
    assert_ne!(sandbox.git_in(&sandbox.root(), &["merge", "-q", "other"]).code, 0);
    watcher.sees("created", "t-other");
    sandbox.git(&["merge", "--abort"]);
    let removed = watcher.sees("removed", "t-other");
    assert_eq!(removed["via"], "git");
    watcher.settle();
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ".ralph/tasks"]), "");
}

#[test]
fn without_a_board_or_settings_that_can_be_read_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let watcher = Watcher::start(&sandbox, &[]);
    let (board, away) = (sandbox.root().join(".ralph"), sandbox.outside("away"));
    std::fs::rename(&board, &away).unwrap();
    watcher.until(|event| event["event"] == "problem" && event["message"].as_str().unwrap().contains("no board"));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(300) {
        assert!(!board.exists(), "nothing replaces it");
    }
    std::fs::rename(&away, &board).unwrap();
    watcher.until(|event| event["event"] == "solved");
    let config = std::fs::read_to_string(board.join("config.toml")).unwrap();
    std::fs::write(board.join("config.toml"), "format = 9\n").unwrap();
    watcher.until(|event| event["event"] == "problem" && event["message"].as_str().unwrap().contains("format 9"));
    let lines = || std::fs::read_dir(board.join("journal")).unwrap().count();
    let before = (lines(), watcher.all().len());
    write(&sandbox, "t-a", "title = 'B'\n");
    watcher.sees_value("t-a", "title", "\"B\"");
    let journaled = || {
        let files = std::fs::read_dir(board.join("journal")).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| std::fs::read_to_string(path).unwrap()).collect::<String>().contains("\"B\"")
    };
    assert!(before.0 >= 1 && !journaled());
    std::fs::write(board.join("config.toml"), config).unwrap();
    eventually("the edit is journaled once the journal can be written", journaled);
}

#[test]
fn a_rule_that_calls_for_itself_is_stopped() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    rule(&sandbox, &format!("[[on]]\nevent = 'noted'\nrun = ['{RALPH}', 'note', '{{task}}', 'again']\n"));
    ralph(&sandbox, &["trust", "--yes"]).ok();
    let watcher = Watcher::start(&sandbox, &[]);
    ralph(&sandbox, &["note", "t-a", "once"]).ok();
    watcher.sees_failed("runs too often");
    watcher.settle();
    assert!(watcher.told("t-a").len() < 60);
}

#[test]
fn escapes_in_a_task_do_not_reach_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    ralph(&sandbox, &["task", "set", "t-a", "labels=\u{1b}[2Jx"]).ok();
    ralph(&sandbox, &["note", "t-a", "a \u{1b}]0;x\u{7} b"]).ok();
    for args in [&["log", "--color", "always"][..], &["watch", "--since", "1h", "--timeout", "1s", "--color", "always"]]
    {
        let said = ralph(&sandbox, args);
        assert!(!said.stdout.contains("\u{1b}[2J") && !said.stdout.contains('\u{7}'), "{:?}", said.stdout);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error_and_a_reader_that_left_is_not() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = real(&sandbox, &["task", "ls"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(output.wait_with_output().unwrap().status.code(), Some(4));
    let mut child = real(&sandbox, &["watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the watcher is ready", || is_watching(child.id()));
    drop(child.stdout.take());
    eventually("it ends without a reader", || child.try_wait().unwrap().is_some());
}

/// A stub of the program records its arguments; no desktop is available.
#[test]
fn a_question_is_shown_on_the_desktop() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\nstate = 'Ready for Plan'\n");
    let (bin, kept) = (sandbox.outside("bin"), sandbox.outside("shown"));
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("notify-send"), format!("#!/bin/sh\nprintf '%s|' \"$@\" > {}\n", kept.display())).unwrap();
    make_program(&bin.join("notify-send"));
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED");
    command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    command.args(["watch", "--notify", "--timeout", "60s"]).stdout(Stdio::piped());
    let mut watcher = command.spawn().unwrap();
    eventually("the watcher is ready", || sandbox.root().join(".git/ralph/watch.lock").exists());
    ralph(&sandbox, &["claim", "t-a", "--as", "builder"]).ok();
    ralph(&sandbox, &["ask", "t-a", "$(touch x) how long?", "--as", "builder"]).ok();
    let shown = || std::fs::read_to_string(&kept).unwrap_or_default();
    eventually("it is shown", || shown().ends_with('|'));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    assert_eq!(shown(), "--app-name=ralph|--|t-a has a question|$(touch x) how long?|");
}

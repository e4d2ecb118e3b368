//! Crashes on either side of the pipe: acknowledged writes are kept, no change is half done, and no lock remains.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_client::{Client, SOON, ends, hello, ralph, server};
use crate::sandbox::{Sandbox, finish};

fn rounds() -> usize {
    std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(10)
}

/// Numbered writes: each is a label with a note, or a pair of new tasks of which the second is blocked by the first.
fn writes(task: &str, first: usize) -> Vec<(usize, &'static str, Value)> {
    let both = |n: usize| {
        let save = json!({ "task": task, "add_labels": [format!("l{n}")], "note": format!("note {n}.") });
        let pair =
            json!([{ "title": format!("A{n}."), "ref": "a" }, { "title": format!("B{n}."), "blocked_by": ["a"] }]);
        [(n, "save", save), (n, "create", json!({ "tasks": pair }))]
    };
    (first..first + 20).flat_map(both).collect()
}

/// The numbers whose labels, notes and halves of a pair exist.
struct Found {
    labels: BTreeSet<usize>,
    notes: BTreeSet<usize>,
    first: BTreeSet<usize>,
    second: BTreeSet<usize>,
}

fn found(sandbox: &Sandbox, task: &str) -> Found {
    let shown = sandbox.ralph(&["task", "show", task, "--json"]).json();
    let numbers = |list: &Value, key: Option<&str>, front: &str| -> BTreeSet<usize> {
        let text = |item: &Value| key.map_or(item, |key| &item[key]).as_str().unwrap().trim().to_owned();
        let cut = |text: String| text.strip_prefix(front).map(|rest| rest.trim_end_matches('.').parse().unwrap());
        list.as_array().unwrap().iter().filter_map(|item| cut(text(item))).collect()
    };
    let tasks = sandbox.ralph(&["task", "ls", "--json"]).json();
    Found {
        labels: numbers(&shown["labels"], None, "l"),
        notes: numbers(&shown["notes"], Some("text"), "note "),
        first: numbers(&tasks, Some("title"), "A"),
        second: numbers(&tasks, Some("title"), "B"),
    }
}

/// Asserts that the board is not locked, nothing is left over, and no write is half done.
#[track_caller]
fn is_whole(sandbox: &Sandbox, task: &str) -> Found {
    let lock = sandbox.root().join(".git/ralph/lock");
    assert_eq!(finish(Command::new("flock").arg("-n").arg(lock).arg("true")).code, 0, "the board is locked");
    let found = found(sandbox, task);
    assert_eq!(found.labels, found.notes, "half a save");
    assert_eq!(found.first, found.second, "half a pair");
    is_well(sandbox);
    found
}

/// A crash may leave only temporary files.
#[track_caller]
fn is_well(sandbox: &Sandbox) {
    let found = ralph(sandbox, &["doctor", "--json"]);
    if found.code != 0 {
        let other = found.stdout.matches("\"code\":").count() - found.stdout.matches("\"code\":\"stray-file\"").count();
        assert_eq!(other, 0, "{found}");
        ralph(sandbox, &["doctor", "--fix"]).ok();
        ralph(sandbox, &["doctor"]).ok();
    }
}

#[track_caller]
fn has(found: &Found, verb: &str, n: usize) {
    let there = if verb == "save" { &found.labels } else { &found.first };
    assert!(there.contains(&n), "{verb} {n} was acknowledged, but is missing");
}

#[test]
fn a_server_that_is_killed_keeps_what_it_acknowledged() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Counter"]);
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut kept, mut cut) = (0, 0);
    for round in 0..rounds() {
        let mut client = Client::start(&sandbox, &["--as", "ada"]);
        let all = writes(&task, round * 100);
        let ids: Vec<i64> = all.iter().map(|(_, verb, given)| client.send_call(verb, given.clone())).collect();
        // When this request is answered, others are still being handled.
        let sign = rng.usize(0..ids.len() / 2);
        let first = client.answer_if_any(ids[sign]);
        client.child.kill().unwrap();
        let mut answers: Vec<Option<Value>> = ids.iter().map(|id| client.answer_if_any(*id)).collect();
        answers[sign] = first;
        drop(client);
        let found = is_whole(&sandbox, &task);
        for ((n, verb, _), answer) in all.iter().zip(answers) {
            match answer {
                Some(answer) => {
                    assert_eq!(answer["result"]["isError"], false, "{answer}");
                    has(&found, verb, *n);
                    kept += 1;
                }
                None => cut += 1,
            }
        }
    }
    assert!(kept > 0 && cut > 0, "{kept} kept, {cut} cut: the test kills too early or too late");
}

/// The client consists of one process per direction, and both are killed.
#[test]
fn a_client_that_is_killed_leaves_a_server_that_ends_with_whole_verbs() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["Counter"]);
    let mut rng = fastrand::Rng::with_seed(4);
    let (mut kept, mut unheard) = (0, 0);
    for round in 0..rounds() {
        let heard = sandbox.outside("heard");
        let mut speaker = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut running = server(&sandbox, &["--as", "ada"]);
        running.stdin(speaker.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = running.spawn().unwrap();
        let file = std::fs::File::create(&heard).unwrap();
        let mut listener = Command::new("cat").stdin(running.stdout.take().unwrap()).stdout(file).spawn().unwrap();
        let all = writes(&task, round * 100);
        let mut text = format!("{}\n", hello("doomed"));
        for (id, (_, verb, given)) in all.iter().enumerate() {
            text += &format!("{}\n", called(id + 10, verb, given));
        }
        text += &format!("{}\n", called(1, "next", &json!({ "role": "analyst", "wait": 600, "claim": false })));
        text += &"{\"jsonrpc\":\"2.0\",\"id\":1000,\"method\":\"tools/call\",\"par"[..rng.usize(..50)];
        let mut pipe = speaker.stdin.take().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        let sign = rng.usize(0..all.len() / 2);
        let lines = || std::fs::read_to_string(&heard).unwrap().lines().count();
        let start = Instant::now();
        while lines() < sign && start.elapsed() < SOON {
            std::thread::yield_now();
        }
        for client in [&mut speaker, &mut listener] {
            client.kill().unwrap();
            client.wait().unwrap();
        }
        let code = ends(&mut running);
        let mut said = String::new();
        running.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((code, said.as_str()), (Some(0), ""), "round {round}");
        let found = is_whole(&sandbox, &task);
        let text = std::fs::read_to_string(heard).unwrap();
        let answers: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for (id, (n, verb, _)) in all.iter().enumerate() {
            match answers.iter().any(|answer| answer["id"] == id + 10) {
                true => {
                    has(&found, verb, *n);
                    kept += 1;
                }
                false => unheard += 1,
            }
        }
    }
    assert!(kept > 0 && unheard > 0, "{kept} heard, {unheard} not: the test kills too early or too late");
}

fn called(id: usize, tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// After the server of a session was killed, its claims are only leases, and the next session is not blocked.
#[test]
fn a_session_that_is_killed_while_it_takes_tasks_gives_none_away_twice() {
    let sandbox = Sandbox::new();
    for n in 0..rounds() {
        sandbox.write_task(&format!("t-{n:03}"), format!("title = 'T{n}'\n"));
    }
    let mut rng = fastrand::Rng::with_seed(5);
    let mut closed = BTreeSet::new();
    for round in 0..rounds() * 2 {
        let mut client = Client::start(&sandbox, &["--as", "analyst"]);
        let doomed = round < rounds();
        if doomed {
            client.send_call("next", json!({}));
            std::thread::sleep(Duration::from_micros(rng.u64(0..20_000)));
            client.child.kill().unwrap();
            continue;
        }
        // The next session with the same name resumes the claims of the killed ones.
        let chosen = client.ok("next", json!({}));
        let id = chosen["task"]["id"].as_str().unwrap().to_owned();
        client.ok("save", json!({ "task": id, "command": "triage", "state": "__CLOSE__" }));
        assert!(closed.insert(id), "claimed again");
        client.end();
    }
    assert_eq!(closed.len(), rounds());
    is_well(&sandbox);
}

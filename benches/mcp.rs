//! Measures a round trip of `ralph mcp` on a board of 10,000 tasks, compared with a `ping`, which does nothing.
//!
//!     cargo bench --bench mcp             10,000 tasks
//!     cargo bench --bench mcp -- 1000     another number
//!
//! The calls alternate, so that noise of the machine affects all alike.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const RALPH: &str = env!("CARGO_BIN_EXE_ralph");
const ROUNDS: usize = 500;
/// The limit in milliseconds, on a board of 10,000 tasks.
const MOST: f64 = 5.0;

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(RALPH);
        command.args(["mcp", "--as", "builder"]).current_dir(root).env("HOME", root.parent().unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, input, output };
        let info = json!({ "name": "bench", "version": "1" });
        server.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
        server
    }

    fn ask(&mut self, method: &str, params: &Value) -> Duration {
        let line = format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let (start, mut answer) = (Instant::now(), String::new());
        self.input.write_all(line.as_bytes()).unwrap();
        self.output.read_line(&mut answer).unwrap();
        let took = start.elapsed();
        assert!(answer.contains("\"result\"") && !answer.contains("\"isError\":true"), "{answer}");
        took
    }
}

fn main() {
    let size: usize = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("repo");
    std::fs::create_dir(&root).unwrap();
    for (program, args) in [("git", &["init", "-q", "-b", "main"][..]), (RALPH, &["init"])] {
        let made = Command::new(program).args(args).current_dir(&root).env("HOME", folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    fill(&root, size);
    let mut server = Server::start(&root);
    let call = |tool: &str, given: Value| ("tools/call", json!({ "name": tool, "arguments": given }));
    let mut rows: [(&str, Vec<Duration>); 4] =
        ["ping", "get", "list", "status"].map(|name| (name, Vec::with_capacity(ROUNDS)));
    // The first read builds the index.
    server.ask("tools/call", &call("status", json!({})).1);
    for round in 0..ROUNDS {
        let id = format!("t-{:05}", round * 7919 % size);
        let asked = [
            ("ping", json!({})),
            call("get", json!({ "task": id })),
            call("list", json!({ "ready": true })),
            call("status", json!({})),
        ];
        for ((_, times), (method, params)) in rows.iter_mut().zip(&asked) {
            // The slow calls are made a tenth as often.
            if times.len() < 50 || matches!(params["name"].as_str(), None | Some("get")) {
                times.push(server.ask(method, params));
            }
        }
    }
    let floor = shown(&mut rows[0].1, 0.5);
    println!("{size} tasks, {ROUNDS} calls        median      p95   × ping");
    for (name, times) in &mut rows {
        let (median, late) = (shown(times, 0.5), shown(times, 0.95));
        println!("  {name:<8} {:>4} calls    {median:>8.3}  {late:>7.3} ms  {:>6.1}", times.len(), median / floor);
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let late = shown(&mut rows[1].1, 0.95);
    assert!(late < MOST, "get takes {late:.3} ms, and {MOST} is the bar");
}

/// Fills a board as it is after some months: tasks with parents, blockers, texts, notes, claims and a journal.
fn fill(root: &Path, size: usize) {
    let journal = |n: usize, verb: &str, old: &str, new: &str| {
        let change = json!({ "task": format!("t-{n:05}"), "key": "priority", "old": old, "new": new });
        let line = json!({ "id": format!("{n}{verb}"), "at": "2026-11-01T10:00:00Z", "by": "ada", "verb": verb, "changes": [change] });
        format!("{line}\n")
    };
    let mut past = String::new();
    for n in 0..size {
        let links = if n % 10 == 0 { String::new() } else { format!("parent = 't-{:05}'\n", n / 10 * 10) };
        let blocked = if n % 7 == 3 { format!("blocked_by = ['t-{:05}']\n", n - 1) } else { String::new() };
        let about = "Why it is to be done, and how one sees that it is.\n".repeat(8);
        let text = format!(
            "title = 'Task {n} of the board'\npriority = 'P{}'\n{links}{blocked}description = \"\"\"\n{about}\"\"\"\n",
            n % 4
        );
        std::fs::write(root.join(format!(".ralph/tasks/t-{n:05}.toml")), text).unwrap();
        if n % 5 == 0 {
            let notes = root.join(format!(".ralph/notes/t-{n:05}"));
            std::fs::create_dir_all(&notes).unwrap();
            for at in 0..3 {
                let name = format!("2026110{}T100000Z-abc{at}.md", at + 1);
                std::fs::write(notes.join(name), "+++\nby = \"ada\"\nat = 2026-11-01T10:00:00Z\n+++\n\nSeen.\n")
                    .unwrap();
            }
        }
        past += &journal(n, "add", "P2", "P1");
        past += &journal(n, "set", "P1", "P0");
    }
    std::fs::create_dir_all(root.join(".ralph/journal")).unwrap();
    std::fs::write(root.join(".ralph/journal/2026-11.jsonl"), past).unwrap();
    for n in 0..10 {
        let args = ["claim", &format!("t-{:05}", n * 10), "--as", &format!("anna{n}")];
        let done =
            Command::new(RALPH).args(args).current_dir(root).env("HOME", root.parent().unwrap()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The time in milliseconds that this part of the calls did not exceed.
fn shown(times: &mut [Duration], part: f64) -> f64 {
    times.sort();
    times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3
}

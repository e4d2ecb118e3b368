//! Which commands use the network, and that the token is never printed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Mirror;
use crate::fake::Level;
use crate::sandbox::finish;

/// A server that counts its connections.
fn doorbell() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let knocks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&knocks);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (address, knocks)
}

/// Every command that must work without the network.
fn offline<'a>(task: &'a str, other: &'a str, pages: &'a str) -> Vec<Vec<&'a str>> {
    vec![
        vec!["init"],
        vec!["task", "ls"],
        vec!["task", "show", task],
        vec!["task", "set", task, "priority=P1"],
        vec!["task", "tree"],
        vec!["task", "graph"],
        vec!["task", "search", "First"],
        vec!["task", "diff"],
        vec!["task", "add", "Third"],
        vec!["task", "archive"],
        vec!["block", other, "--on", task],
        vec!["unblock", other],
        vec!["note", task, "x"],
        vec!["claim", task, "--as", "analyst", "--for", "research"],
        vec!["renew", task, "--as", "analyst"],
        vec!["claims", "ls"],
        vec!["release", task, "--as", "analyst"],
        vec!["reap"],
        vec!["next", "--role", "analyst"],
        vec!["run", task, "--", "true"],
        vec!["why", task],
        vec!["status"],
        vec!["position", task],
        vec!["group", task],
        vec!["advance", task, "Backlog"],
        vec!["workflow"],
        vec!["worktree", "add", task],
        vec!["worktree", "ls"],
        vec!["worktree", "rm", task],
        vec!["commit"],
        vec!["log"],
        vec!["undo"],
        vec!["doctor"],
        vec!["config", "list"],
        vec!["trust"],
        vec!["completions", "bash"],
        vec!["man", "--dir", pages],
        vec!["wait", task, "--state", "Done", "--timeout", "1s"],
        vec!["move", task, "Done", "--force"],
        vec!["done", other, "--force"],
        vec!["cancel", other, "--force"],
        vec!["escalate", other],
        vec!["sync", "status"],
        vec!["sync", "resolve", task, "--take", "local"],
        vec!["task", "rm", other],
    ]
}

#[test]
fn no_other_command_makes_a_request() {
    let mirror = Mirror::new();
    let (task, other) =
        (mirror.add(&["First", "--estimate", "S", "--state", "Research Needed"]), mirror.add(&["Second"]));
    mirror.sync();
    let (address, knocks) = doorbell();
    let run = |args: &[&str]| {
        let mut command = mirror.command(&mirror.sandbox.root());
        command.env("RALPH_GITHUB_API", format!("{address}/graphql"));
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"] {
            command.env(name, &address);
        }
        finish(command.args(args))
    };
    let file = mirror.sandbox.outside("pages");
    let (one, two, pages) = (task.as_str(), other.as_str(), file.to_str().unwrap());
    for args in &offline(one, two, pages) {
        let said = run(args);
        assert_eq!(knocks.load(Ordering::SeqCst), 0, "{args:?} made a request: {said}");
        assert_ne!(said.code, 6, "{args:?}: {said}");
    }
    // The other commands do connect, so the count works.
    for args in [&["sync"] as &[&str], &["sync", "doctor"], &["sync", "init"], &["sync", "status", "--remote"]] {
        let before = knocks.load(Ordering::SeqCst);
        assert_eq!(run(args).code, 6, "{args:?}");
        assert!(knocks.load(Ordering::SeqCst) > before, "{args:?}");
    }
}

/// A server that repeats the token in its answers.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/graphql", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 65_536];
            let read = stream.read(&mut buffer).unwrap_or(0);
            let sent = String::from_utf8_lossy(&buffer[..read]).into_owned();
            let token = sent
                .lines()
                .find_map(|line| {
                    line.to_lowercase()
                        .starts_with("authorization")
                        .then(|| line.rsplit(' ').next().unwrap().to_owned())
                })
                .unwrap_or_default();
            let (status, body) = match turn % 4 {
                0 => ("401 Unauthorized", format!(r#"{{"message":"bad token {token}"}}"#)),
                1 => ("403 Forbidden", format!(r#"{{"message":"no {token}"}}"#)),
                2 => ("200 OK", format!(r#"{{"errors":[{{"message":"what is {token}?"}}]}}"#)),
                _ => ("200 OK", format!("{token} is not JSON")),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

fn assert_nowhere(folder: &std::path::Path, token: &str) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            assert_nowhere(&path, token);
        } else if let Ok(bytes) = std::fs::read(&path) {
            assert!(!String::from_utf8_lossy(&bytes).contains(token), "{} has the token", path.display());
        }
    }
}

#[test]
fn the_token_is_in_no_file_no_message_and_no_process_list() {
    let mirror = Mirror::new();
    let token = mirror.fake.token();
    mirror.add(&["First"]);
    mirror.sync();
    let url = echo();
    for args in [
        &["sync"] as &[&str],
        &["sync", "--json"],
        &["sync", "doctor"],
        &["sync", "init"],
        &["sync", "status", "--remote"],
        &["sync"],
        &["sync"],
        &["sync"],
    ] {
        let said = finish(mirror.command(&mirror.sandbox.root()).env("RALPH_GITHUB_API", &url).args(args));
        assert_ne!(said.code, 0, "{said}");
        assert!(!said.to_string().contains(&token), "{said}");
    }
    let mut child = mirror.held();
    let seen = std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen.contains("sync") && !seen.contains(&token), "{seen:?}");
    assert_nowhere(&mirror.sandbox.root(), &token);
    assert_nowhere(&mirror.sandbox.home(), &token);
}

#[test]
fn nothing_is_sent_in_the_clear() {
    let mirror = Mirror::unset(Level::Dotcom);
    let said = finish(
        mirror
            .command(&mirror.sandbox.root())
            .env("RALPH_GITHUB_API", "http://example.org/graphql")
            .args(["sync", "init"]),
    )
    .fails(1);
    assert!(said.contains("refusing plain HTTP to another machine"), "{said}");
}

//! Access control of the web server.

use serde_json::json;

use super::{Served, ralph_of};
use crate::sandbox::{Sandbox, finish};

fn board() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    (sandbox, id)
}

#[test]
fn a_name_that_somebody_else_chose_is_not_answered() {
    let (sandbox, _) = board();
    let served = Served::new(&sandbox, &[]);
    let port = served.port;
    for path in ["/api/board", "/", "/assets/main.js", "/api/events"] {
        for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1", "", "127.0.0.1"] {
            let answer = served.ask("GET", path, &[("host", host)], "");
            assert_eq!((answer.status, answer.code().as_str()), (421, "wrong-host"), "{host} {path}");
        }
    }
    let local = format!("localhost:{port}");
    let headers = [("host", local.as_str()), ("ralph-token", served.token.as_str())];
    assert_eq!(served.ask("GET", "/api/board", &headers, "").status, 200);
}

#[test]
fn a_page_of_another_site_neither_reads_nor_writes() {
    let (sandbox, id) = board();
    let served = Served::new(&sandbox, &[]);
    let own = format!("http://127.0.0.1:{}", served.port);
    let save = format!("/api/task/{id}/save");
    let full = [("content-type", "application/json"), ("ralph-token", served.token.as_str())];
    let body = r#"{"fields":{"title":"taken over"}}"#;
    for origin in
        ["http://evil.example", "null", "http://127.0.0.1:1", &own.replace("http", "https"), "http://127.0.0.1"]
    {
        assert_eq!(served.ask("GET", "/api/board", &[("origin", origin)], "").code(), "foreign-origin", "{origin}");
        let headers = [full[0], full[1], ("origin", origin)];
        assert_eq!(served.ask("POST", &save, &headers, body).code(), "foreign-origin", "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(served.ask("GET", "/api/board", &[("sec-fetch-site", site)], "").status, 403);
        assert_eq!(served.ask("GET", "/assets/main.js", &[("sec-fetch-site", site)], "").status, 403);
        let framed = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        assert_eq!(served.ask("GET", "/", &framed, "").status, 403);
        // A person follows a link to the board from another site.
        let opened = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert_eq!(served.ask("GET", "/", &opened, "").status, 200);
        assert_eq!(served.ask("GET", "/api/board", &opened, "").status, 403, "a link from another site gets no data");
    }
    let preflight = [("origin", "http://evil.example"), ("access-control-request-method", "POST")];
    let answer = served.ask("OPTIONS", &save, &preflight, "");
    assert!(answer.status >= 400 && !answer.head.contains("access-control-allow"), "{}", answer.head);
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["title"], "A task");
    assert_eq!(served.ask("POST", &save, &[full[0], full[1], ("origin", &own)], body).status, 200);
}

#[test]
fn nothing_changes_without_the_token() {
    let (sandbox, id) = board();
    let served = Served::new(&sandbox, &[]);
    let json = ("content-type", "application/json");
    let wrong = "0".repeat(served.token.len());
    let half = served.token[..20].to_owned();
    let verbs = ["save", "claim", "release", "note", "block", "unblock"];
    let paths = verbs.map(|verb| format!("/api/task/{id}/{verb}")).into_iter().chain(["/api/task".to_owned()]);
    for path in paths {
        for token in ["", &wrong, &half, &format!("{}0", served.token)] {
            let answer = served.ask("POST", &path, &[json, ("ralph-token", token)], "{}");
            assert_eq!((answer.status, answer.code().as_str()), (401, "no-token"), "{path} {token}");
        }
        let plain = [("content-type", "text/plain"), ("ralph-token", served.token.as_str())];
        assert_eq!(served.ask("POST", &path, &plain, "{}").status, 415, "{path}");
    }
    for path in ["/api/board", "/api/session", "/api/events", "/api/search?q=task", "/api/document?path=x"] {
        let answer = served.ask("GET", path, &[], "");
        assert_eq!((answer.status, answer.code().as_str()), (401, "no-token"), "another user of this machine: {path}");
    }
    assert_eq!(served.ask("GET", "/", &[], "").status, 200, "the page itself has nothing of the board");
}

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let (sandbox, id) = board();
    let served = Served::new(&sandbox, &["--read-only"]);
    let headers = [("content-type", "application/json"), ("ralph-token", served.token.as_str())];
    let answer = served.ask("POST", &format!("/api/task/{id}/note"), &headers, r#"{"text":"x"}"#);
    assert_eq!((answer.status, answer.code().as_str()), (403, "read-only"));
    assert_eq!(served.get("/api/session").json()["may_write"], false);
}

#[test]
fn other_machines_come_only_when_asked_and_with_the_token() {
    let (sandbox, _) = board();
    let refused = sandbox.ralph(&["serve", "--addr", "0.0.0.0:0"]).fails(2);
    assert!(refused.contains("--allow-remote"), "{refused}");
    let served = Served::new(&sandbox, &["--addr", "0.0.0.0:0", "--allow-remote", "--host", "board.lan"]);
    let token = [("ralph-token", served.token.as_str())];
    for path in ["/api/board", "/api/session", "/api/events", "/api/search?q=task"] {
        assert_eq!(served.ask("GET", path, &[], "").status, 401, "{path}");
    }
    assert_eq!(served.ask("GET", "/api/board", &token, "").status, 200);
    let named = format!("board.lan:{}", served.port);
    assert_eq!(served.ask("GET", "/api/board", &[token[0], ("host", &named)], "").status, 200);
    let other = format!("evil.example:{}", served.port);
    assert_eq!(served.ask("GET", "/api/board", &[token[0], ("host", &other)], "").status, 421);
}

#[test]
fn who_allows_other_machines_is_reached_by_them_without_saying_where() {
    let (sandbox, _) = board();
    let served = Served::start(ralph_of(&sandbox).args(["serve", "--allow-remote"]));
    assert_eq!(served.ask("GET", "/api/board", &[], "").code(), "no-token");
    assert_eq!(served.get("/api/board").status, 200);
}

#[test]
fn a_token_that_an_address_cannot_hold_as_it_is_opens_the_board() {
    let (sandbox, id) = board();
    let odd = "a+b&c%d";
    let mut command = ralph_of(&sandbox);
    let served = Served::start(command.args(["serve", "--addr", "127.0.0.1:0"]).env("RALPH_WEB_TOKEN", odd));
    assert_eq!(served.token, "a%2Bb%26c%25d", "as a browser reads it");
    let headers = [("content-type", "application/json"), ("ralph-token", odd)];
    assert_eq!(served.ask("POST", &format!("/api/task/{id}/note"), &headers, r#"{"text":"x"}"#).status, 200);
    let refused = finish(ralph_of(&sandbox).args(["serve", "--addr", "127.0.0.1:0"]).env("RALPH_WEB_TOKEN", "ä b"));
    assert!(refused.fails(2).contains("RALPH_WEB_TOKEN"));
}

#[test]
fn a_body_without_end_is_not_read() {
    let (sandbox, id) = board();
    let served = Served::new(&sandbox, &[]);
    let answer = served.post(&format!("/api/task/{id}/note"), &json!({ "text": "x".repeat(2_000_000) }));
    assert!([413, 0].contains(&answer.status), "{}", answer.status);
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["notes"], json!([]));
    assert_eq!(served.post(&format!("/api/task/{id}/note"), &json!({ "text": "x" })).status, 200);
}

#[test]
fn no_path_leads_out_of_the_board() {
    let (sandbox, _) = board();
    std::fs::write(sandbox.root().join("secret.txt"), "secret").unwrap();
    std::fs::write(sandbox.outside("secret.md"), "secret").unwrap();
    let served = Served::new(&sandbox, &[]);
    let paths = [
        "/assets/../secret.txt",
        "/assets/%2e%2e%2fsecret.txt",
        "/assets/..%5csecret.txt",
        "/../secret.txt",
        "/secret.txt",
        "/.ralph/config.toml",
        "/api/document?path=secret.txt",
        "/api/document?path=../secret.md",
        "/api/document?path=/etc/passwd",
        "/api/document?path=thoughts/shared/plans/../../../secret.txt",
        "/api/task/..%2f..%2fsecret",
    ];
    for path in paths {
        let answer = served.get(path);
        assert!([400, 404, 422].contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains("secret\n") && !answer.body.contains("root:"), "{path}: {}", answer.body);
    }
}

#[test]
fn every_answer_tells_the_browser_to_run_nothing_else() {
    let (sandbox, _) = board();
    let served = Served::new(&sandbox, &[]);
    for path in ["/", "/task/t-none", "/assets/main.js", "/favicon.ico", "/api/board", "/nowhere", "/api/task/none"] {
        let head = served.get(path).head;
        let policy = head.lines().find(|line| line.starts_with("content-security-policy")).unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {head}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        for header in ["x-content-type-options: nosniff", "referrer-policy: no-referrer", "x-frame-options: deny"] {
            assert!(head.contains(header), "{path}: {head}");
        }
        assert!(!head.contains("access-control-allow"), "{path}: {head}");
    }
    let page = served.get("/").body;
    assert!(!page.contains("<script>") && !page.contains("style=") && !page.contains("<style"), "{page}");
}

/// Mutated requests on every path: each is answered or refused, none causes a server error, and the files remain
/// readable.
#[test]
fn mutated_requests_are_answered_or_refused() {
    let (sandbox, id) = board();
    let served = Served::new(&sandbox, &[]);
    let asks = [
        ("GET", "/api/board?q=state:Backlog&limit=5".to_owned(), String::new()),
        ("GET", "/api/trends?days=30".into(), String::new()),
        ("GET", "/api/search?q=%22a+task%22".into(), String::new()),
        ("GET", "/api/document?path=thoughts/x.md".into(), String::new()),
        ("GET", format!("/api/graph/{id}?part=1"), String::new()),
        ("GET", format!("/api/task/{id}/targets"), String::new()),
        ("POST", "/api/task".into(), r#"{"title":"New","state":"Backlog","labels":["a"],"description":"x"}"#.into()),
        (
            "POST",
            format!("/api/task/{id}/save"),
            r#"{"set":{"title":"Other","estimate":"S"},"description":"y"}"#.into(),
        ),
        ("POST", format!("/api/task/{id}/note"), r#"{"text":"A note"}"#.into()),
        ("POST", format!("/api/task/{id}/block"), format!(r#"{{"on":"{id}"}}"#)),
    ];
    let mut rng = fastrand::Rng::with_seed(11);
    for round in 0..400 {
        let (method, path, body) = &asks[round % asks.len()];
        let (path, body) = (mutated(&mut rng, path, round % 3 != 0), mutated(&mut rng, body, round % 3 != 1));
        let headers = [("content-type", "application/json"), ("ralph-token", served.token.as_str())];
        let answer = served.ask(method, &path.replace([' ', '\r', '\n'], "+"), &headers, &body);
        assert!((200..500).contains(&answer.status), "{method} {path} {body}: {} {}", answer.status, answer.body);
    }
    assert_eq!(served.get("/api/board").status, 200);
    sandbox.ralph(&["task", "ls"]).ok();
    assert!(!sandbox.ralph(&["doctor"]).ok().contains("error"));
}

fn mutated(rng: &mut fastrand::Rng, text: &str, really: bool) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..if really && !text.is_empty() { rng.usize(1..6) } else { 0 } {
        let at = rng.usize(..text.len().max(1)).min(text.len());
        match rng.u8(..3) {
            0 if at < text.len() => text[at] = rng.char(' '..'~'),
            1 => drop(text.drain(at..(at + 5).min(text.len()))),
            _ => text.insert(at, ['"', '{', '[', '9', '\\', 'é', '%', '&', '=', '\u{1b}'][rng.usize(..10)]),
        }
    }
    text.into_iter().collect()
}

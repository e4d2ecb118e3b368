//! `ralph mcp --http`: authentication, and the identity of callers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::mcp_client::{SOON, ends, hello, ralph, read, server};
use crate::sandbox::Sandbox;

/// A server on its own port.
struct Served {
    child: Child,
    place: String,
    token: String,
}

/// The response to a request.
struct Answer {
    status: u16,
    session: Option<String>,
    message: Value,
}

impl Served {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let all = [&["--http", "127.0.0.1:0"], args].concat();
        let mut child = server(sandbox, &all).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut after = |front: &str| {
            let line = lines.find(|line| line.contains(front)).unwrap();
            let rest = &line[line.find(front).unwrap() + front.len()..];
            rest.trim_end_matches('`').trim_end_matches("/mcp").to_owned()
        };
        let (place, token) = (after("http://"), after("Bearer "));
        // Reading its later output keeps the server from blocking.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, place, token }
    }

    fn post(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.ask("POST", headers, &body.to_string())
    }

    /// Ends a session; returns the status.
    fn delete(&self, headers: &[(&str, &str)]) -> u16 {
        self.ask("DELETE", headers, "").status
    }

    /// One request with the usual headers; the given headers replace usual ones of the same name.
    fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let token = format!("Bearer {}", self.token);
        let usual = [
            ("Host", self.place.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut text = format!("{method} /mcp HTTP/1.1\r\n");
        for (name, value) in
            usual.iter().filter(|(name, _)| !given(name)).chain(headers).filter(|(_, value)| !value.is_empty())
        {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(&self.place).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        understood(&answer)
    }

    /// Starts a session for a client with this name.
    fn greet(&self, name: &str, headers: &[(&str, &str)]) -> String {
        let answer = self.post(headers, &hello(name));
        assert_eq!(answer.status, 200, "{}", answer.message);
        let session = answer.session.unwrap();
        let all = [headers, &[("Mcp-Session-Id", session.as_str())]].concat();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&all, &ready).status, 202);
        session
    }

    #[track_caller]
    fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> (bool, Value) {
        let mut answer = self.post(headers, &request("tools/call", json!({ "name": tool, "arguments": arguments })));
        assert_eq!(answer.status, 200, "{}", answer.message);
        read(answer.message["result"].take())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The status, and the last message of the body, which is JSON or an event stream.
fn understood(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    let session = head.lines().filter_map(|line| line.split_once(": "));
    let mut session =
        session.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id")).map(|(_, id)| id.to_owned());
    let lines = body.lines().map(|line| line.trim_start_matches("data:").trim());
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object);
    Answer { status, session: session.next(), message: messages.next_back().unwrap_or(Value::Null) }
}

#[test]
fn only_who_has_the_token_and_comes_from_this_machine_is_let_in() {
    let sandbox = Sandbox::new();
    let served = Served::start(&sandbox, &[]);
    let hello = hello("x");
    assert_eq!(served.post(&[], &hello).status, 200);
    let wrong = format!("Bearer {}x", served.token);
    let cut = format!("Bearer {}", &served.token[1..]);
    let basic = format!("Basic {}", served.token);
    for given in ["", "Bearer", "Bearer ", &wrong, &cut, &basic] {
        assert_eq!(served.post(&[("Authorization", given)], &hello).status, 401, "{given}");
    }
    for origin in ["http://evil.example", "null", "https://localhost.evil.example"] {
        assert_eq!(served.post(&[("Origin", origin)], &hello).status, 403, "{origin}");
    }
    for host in ["evil.example", "evil.example:80", "169.254.1.1"] {
        let status = served.post(&[("Host", host)], &hello).status;
        assert!([400, 403, 421].contains(&status), "{host}: {status}");
    }
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let sandbox = Sandbox::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let said = sandbox.ralph(&["mcp", "--http", address]).fails(2);
        assert!(said.contains("127.0.0.1"), "{said}");
    }
    for address in ["nonsense", "127.0.0.1", "127.0.0.1:99999"] {
        assert_eq!(sandbox.ralph(&["mcp", "--http", address]).code, 2, "{address}");
    }
}

#[test]
fn who_does_not_say_its_name_may_read_and_not_write() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let served = Served::start(&sandbox, &[]);
    let modern = |tool: &str, arguments: Value, headers: &[(&str, &str)]| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let usual = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        let mut answer = served.post(&[&usual, headers].concat(), &request("tools/call", params));
        assert_eq!(answer.status, 200, "{}", answer.message);
        read(answer.message["result"].take())
    };
    assert_eq!(modern("get", json!({ "task": id }), &[]).1["id"], id.as_str());
    let (refused, told) = modern("note", json!({ "task": id, "text": "x" }), &[]);
    assert!(refused && told["error"]["code"] == "nobody", "{told}");
    assert!(told.to_string().contains("ralph-worker"), "{told}");
    for (arguments, headers) in [
        (json!({ "task": id, "text": "x" }), &[("ralph-worker", "builder-2")][..]),
        (json!({ "task": id, "text": "x", "as": "builder-2" }), &[]),
    ] {
        assert!(!modern("note", arguments, headers).0);
        assert_eq!(sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["by"], "builder-2");
    }
    let (refused, told) = modern("note", json!({ "task": id, "text": "x", "as": "a" }), &[("ralph-worker", "b")]);
    assert!(refused && told["error"]["code"] == "not-you", "{told}");
}

#[test]
fn a_session_is_a_worker_of_its_own_and_notices_that_it_lost_its_claim() {
    let sandbox = Sandbox::new();
    let ids = [sandbox.add(&["One"]), sandbox.add(&["Two"])];
    let served = Served::start(&sandbox, &[]);
    let (one, two) = (served.greet("probe", &[]), served.greet("probe", &[]));
    let (one, two) = ([("Mcp-Session-Id", one.as_str())], [("Mcp-Session-Id", two.as_str())]);
    let first = served.call(&one, "next", json!({ "role": "analyst" })).1["task"]["id"].clone();
    let second = served.call(&two, "next", json!({ "role": "analyst" })).1["task"]["id"].clone();
    assert_ne!(first, second);
    assert!(ids.iter().any(|id| first == id.as_str()) && ids.iter().any(|id| second == id.as_str()));
    let first = first.as_str().unwrap();
    ralph(&sandbox, &["claim", first, "--as", "Bob", "--for", "triage", "--force"]).ok();
    let (refused, told) = served.call(&one, "save", json!({ "task": first, "title": "mine" }));
    assert!(refused && ["claim-lost", "held"].contains(&told["error"]["code"].as_str().unwrap()), "{told}");
}

#[test]
fn a_signal_ends_it_even_while_a_client_waits() {
    let sandbox = Sandbox::new();
    let mut served = Served::start(&sandbox, &[]);
    let session = served.greet("probe", &[]);
    let mut waiting = TcpStream::connect(&served.place).unwrap();
    let body =
        request("tools/call", json!({ "name": "next", "arguments": { "role": "analyst", "wait": 600 } })).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nMcp-Session-Id: {session}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
        served.place,
        served.token,
        body.len()
    );
    waiting.write_all(format!("{head}{body}").as_bytes()).unwrap();
    // The status line is sent before the response is ready.
    waiting.set_read_timeout(Some(SOON)).unwrap();
    waiting.read_exact(&mut [0; 15]).unwrap();
    crate::system::interrupt(served.child.id());
    assert_eq!(ends(&mut served.child), Some(0));
    assert_eq!(ralph(&sandbox, &["status", "--json"]).json()["claims"], json!([]));
}

#[test]
fn a_session_that_says_good_bye_gives_its_tasks_back() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Ready for Plan"]);
    let served = Served::start(&sandbox, &[]);
    let session = served.greet("probe", &[]);
    let here = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(served.call(&here, "claim", json!({ "task": id })).1["state"], "Plan in Progress");
    assert!(served.delete(&here) < 300);
    let start = std::time::Instant::now();
    let shown = || ralph(&sandbox, &["task", "show", &id, "--json"]).json();
    while shown()["state"] != "Ready for Plan" {
        assert!(start.elapsed() < SOON, "{}", shown());
    }
    assert_eq!(shown()["owner"], json!(null));
}

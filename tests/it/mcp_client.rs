//! A client of `ralph mcp` over pipes: one message per line, and every wait has a timeout.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{Output, RALPH, Sandbox, finish};

pub const SOON: Duration = Duration::from_secs(30);

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Received messages that were not requested yet.
    kept: Vec<Value>,
    said: Option<JoinHandle<String>>,
    last: i64,
}

/// The `initialize` request of a client with this name.
pub fn hello(name: &str) -> Value {
    let info = json!({ "name": name, "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// `ralph mcp` with the real clock and random seed, for processes that run side by side.
pub fn server(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").arg("mcp").args(args);
    command
}

/// Runs `ralph` as another process while the server runs.
pub fn ralph(sandbox: &Sandbox, args: &[&str]) -> Output {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    finish(command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args))
}

impl Client {
    /// Starts a server and initializes the session.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut client = Self::open(&mut server(sandbox, args));
        client.greet("probe");
        client
    }

    /// Starts a server and sends nothing.
    pub fn open(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not a message": line }));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let said = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = err.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Self { child, input, lines, kept: Vec::new(), said: Some(said), last: 0 }
    }

    pub fn greet(&mut self, name: &str) {
        self.say(&hello(name));
        let welcome = self.answer(0).unwrap();
        assert_eq!(welcome["serverInfo"]["name"], "ralph");
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    /// Writes raw bytes; false if that failed.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.input.as_mut().is_some_and(|input| input.write_all(bytes).and_then(|()| input.flush()).is_ok())
    }

    pub fn say(&mut self, message: &Value) -> bool {
        self.write(format!("{message}\n").as_bytes())
    }

    /// Sends a request without waiting for the response; returns its id.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn send_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The first matching message; `None` after the timeout or if the server has ended.
    fn find(&mut self, fits: impl Fn(&Value) -> bool, within: Duration) -> Option<Value> {
        if let Some(at) = self.kept.iter().position(&fits) {
            return Some(self.kept.remove(at));
        }
        let start = Instant::now();
        loop {
            let message = self.lines.recv_timeout(within.saturating_sub(start.elapsed())).ok()?;
            if fits(&message) {
                return Some(message);
            }
            self.kept.push(message);
        }
    }

    /// The first matching message.
    #[track_caller]
    pub fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        self.find(fits, SOON).unwrap_or_else(|| panic!("no such message; received: {:#?}", self.kept))
    }

    /// The response to a request: a result, or a protocol error.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mut message = self.hear(|message| message["id"] == id);
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        }
    }

    /// The response, or `None` if the server ended without one.
    pub fn answer_if_any(&mut self, id: i64) -> Option<Value> {
        self.find(|message| message["id"] == id, SOON)
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool: whether it refused, and its answer.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        read(result.unwrap_or_else(|error| panic!("{tool}: {error}")))
    }

    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let (refused, answer) = self.call(tool, arguments);
        assert!(!refused, "{tool}: {answer}");
        answer
    }

    /// The error of a refused call.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let (refused, mut answer) = self.call(tool, arguments);
        assert!(refused, "{tool}: {answer}");
        answer["error"].take()
    }

    /// Waits for the notification that a resource has changed.
    #[track_caller]
    pub fn hears_of(&mut self, uri: &str) {
        self.hear(|message| message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri);
    }

    /// Asserts that no matching message arrives before the response to a ping.
    #[track_caller]
    pub fn has_not_heard(&mut self, fits: impl Fn(&Value) -> bool) {
        self.request("ping", json!({})).unwrap();
        assert!(!self.kept.iter().any(&fits), "{:#?}", self.kept);
    }

    pub fn forget_news(&mut self) {
        self.request("ping", json!({})).unwrap();
        self.kept.clear();
    }

    /// Closes the input, as a client does, and checks that the server exits with 0; returns its stderr.
    #[track_caller]
    pub fn end(mut self) -> String {
        self.input = None;
        let code = ends(&mut self.child);
        let said = self.said.take().unwrap().join().unwrap();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }
}

/// The exit code of a process that must end soon.
#[track_caller]
pub fn ends(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(start.elapsed() < SOON, "the process does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a tool's result is a refusal, and its structured content, which the text must repeat.
#[track_caller]
pub fn read(mut result: Value) -> (bool, Value) {
    let structured = result["structuredContent"].take();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
    (result["isError"] == true, structured)
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Holds the lock of the board while the file is open.
pub fn hold_board(sandbox: &Sandbox) -> std::fs::File {
    let folder = sandbox.root().join(".git/ralph");
    std::fs::create_dir_all(&folder).unwrap();
    let file = std::fs::File::options().write(true).create(true).truncate(false).open(folder.join("lock")).unwrap();
    file.lock().unwrap();
    file
}

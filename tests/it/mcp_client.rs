//! A client of `ralph mcp` over its pipes: a line is a message, and nothing is waited for without end.

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
    /// What came and was not asked for yet.
    kept: Vec<Value>,
    said: Option<JoinHandle<String>>,
    last: i64,
}

/// The first message of a client of this name.
pub fn hello(name: &str) -> Value {
    let info = json!({ "name": name, "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// `ralph mcp` with the real clock and dice, for processes that run side by side.
pub fn server(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").arg("mcp").args(args);
    command
}

/// A command of another process at the same time.
pub fn ralph(sandbox: &Sandbox, args: &[&str]) -> Output {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    finish(command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args))
}

impl Client {
    /// Starts a server and shakes hands with it.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut client = Self::open(&mut server(sandbox, args));
        client.greet("probe");
        client
    }

    /// Starts a server and says nothing yet.
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

    /// Bytes as they are; whether they could be written.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.input.as_mut().is_some_and(|input| input.write_all(bytes).and_then(|()| input.flush()).is_ok())
    }

    pub fn say(&mut self, message: &Value) -> bool {
        self.write(format!("{message}\n").as_bytes())
    }

    /// Asks and does not wait; the id of the question.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn send_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The first message that fits, within a while; none where the server has ended.
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

    /// The first message that fits.
    #[track_caller]
    pub fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        self.find(fits, SOON).unwrap_or_else(|| panic!("it does not come; what came: {:#?}", self.kept))
    }

    /// What came of a question: a result, or an error of the protocol.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mut message = self.hear(|message| message["id"] == id);
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        }
    }

    /// The same, where the server may be dead.
    pub fn answer_if_any(&mut self, id: i64) -> Option<Value> {
        self.find(|message| message["id"] == id, SOON)
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Whether the tool refused, and what it said.
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

    /// What a tool refuses for.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let (refused, mut answer) = self.call(tool, arguments);
        assert!(refused, "{tool}: {answer}");
        answer["error"].take()
    }

    /// That a resource has changed.
    #[track_caller]
    pub fn hears_of(&mut self, uri: &str) {
        self.hear(|message| message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri);
    }

    /// Nothing that fits comes before the answer to a question asked now.
    #[track_caller]
    pub fn has_not_heard(&mut self, fits: impl Fn(&Value) -> bool) {
        self.request("ping", json!({})).unwrap();
        assert!(!self.kept.iter().any(&fits), "{:#?}", self.kept);
    }

    pub fn forget_news(&mut self) {
        self.request("ping", json!({})).unwrap();
        self.kept.clear();
    }

    /// Ends the server as a client does, and checks that it ends well; what it said to people.
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

/// The code of a process that must come to its end.
#[track_caller]
pub fn ends(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(start.elapsed() < SOON, "it does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a tool's result is a refusal, and its structure, which its text must repeat.
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

/// The board's lock in the hands of this process, for as long as the file is open.
pub fn hold_board(sandbox: &Sandbox) -> std::fs::File {
    let folder = sandbox.root().join(".git/ralph");
    std::fs::create_dir_all(&folder).unwrap();
    let file = std::fs::File::options().write(true).create(true).truncate(false).open(folder.join("lock")).unwrap();
    file.lock().unwrap();
    file
}

//! A client of `ralph mcp` over pipes: a line of JSON each way.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{RALPH, Sandbox};

pub struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl McpClient {
    /// A server with these arguments behind `mcp`, greeted.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(RALPH, &sandbox.root());
        // One server makes many calls: each has its own dice.
        command.env_remove("RALPH_SEED").arg("mcp").args(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, last: 0 };
        let greeting = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        client.ask("initialize", &greeting);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The whole answer to a request; what the server says in between is passed over.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone after {method} {params}");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.last {
                return answer;
            }
        }
    }

    /// Whether a tool refused, and what it said.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> (bool, Value) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        (answer["result"]["isError"] == true, answer["result"]["structuredContent"].clone())
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // Without its input the server ends by itself.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

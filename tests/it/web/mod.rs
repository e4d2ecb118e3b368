//! The web board: access control, its API, and the page in a real browser.

mod api;
mod browser;
mod door;
mod fuzz;
mod report;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::sandbox::{RALPH, Sandbox};

/// A server of a sandbox's board with the real clock; it ends with the test.
pub struct Served {
    child: Child,
    pub port: u16,
    pub token: String,
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The error code of a refusal.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

pub fn ralph_of(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").env("RALPH_WORKER", "Ada");
    command
}

impl Served {
    pub fn new(sandbox: &Sandbox, more: &[&str]) -> Self {
        let mut command = ralph_of(sandbox);
        command.arg("serve").args(more);
        if !more.contains(&"--addr") {
            command.args(["--addr", "127.0.0.1:0"]);
        }
        Self::start(&mut command)
    }

    pub fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        while !said.contains("http://") {
            assert_ne!(out.read_line(&mut said).unwrap(), 0, "the server ended: {said}");
        }
        let url = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
        let port = url.split([':', '/']).find_map(|part| part.parse().ok()).unwrap();
        let token = url.split("token=").nth(1).unwrap_or_default().to_owned();
        Self { child, port, token }
    }

    /// Sends one raw request, so that every header can be wrong.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {host}\r\n");
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        // The server may refuse a request and hang up before it has read everything.
        let _ = stream.write_all(format!("{text}\r\n{body}").as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("ralph-token", self.token.as_str())], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("ralph-token", self.token.as_str())];
        self.ask("POST", path, &headers, &body.to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

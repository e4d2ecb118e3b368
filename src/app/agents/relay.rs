//! The socket that connects a sandboxed agent's `ralph` to the board. The worker process outside of the sandbox runs
//! the same command line for it, with the agent's standard streams and the name and claim of the run.
//!
//! Each call uses one connection: a header with the three streams attached, the request as a line of JSON, and the exit
//! code as the answer. Closing the connection early ends the command.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::app::{Code, Failure, Hint};
use crate::os::Signal;
use crate::os::process::{exit_code, send_signal};
use crate::os::relay::{Line, Listener};

/// The environment variable with the path of the socket.
pub const SOCKET: &str = "RALPH_RELAY";
/// Set for commands that the worker process runs for its agent.
pub const RELAYED: &str = "RALPH_RELAYED";

const NAME: &str = "relay.sock";
/// Longer than any command line.
const LONGEST: u64 = 4 * 1024 * 1024;
/// How long a canceled command may take to exit.
const GRACE: Duration = Duration::from_secs(2);
/// Variables of the agent's shell that only affect the output, or name its session.
const PASSED: [&str; 8] =
    ["TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES", "CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "RUST_BACKTRACE"];

#[derive(Debug, Serialize, Deserialize)]
struct RelayedCall {
    arguments: Vec<String>,
    dir: PathBuf,
    variables: Vec<(String, String)>,
}

/// The server in the worker process; it stops when dropped.
pub(super) struct Relay {
    socket: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Creates the command that the worker process runs for its agent.
pub(super) type Runner = dyn Fn() -> Result<Command, Failure> + Send + Sync;

impl Relay {
    /// Listens on a socket in `folder`. `runner` is ralph itself, with the environment of the run.
    pub fn open(folder: &Path, runner: Arc<Runner>) -> Result<Self, Failure> {
        let socket = folder.join(NAME);
        let broken = |error: std::io::Error| {
            Failure::broken(Code::Io, format!("cannot listen on {}: {error}", socket.display()))
        };
        let listener = Listener::bind(&socket).map_err(broken)?;
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let thread = std::thread::spawn(move || serve(&listener, &runner, &until));
        Ok(Self { socket, over, thread: Some(thread) })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = crate::fs::remove(&self.socket);
    }
}

fn serve(listener: &Listener, runner: &Arc<Runner>, over: &Arc<AtomicBool>) {
    let mut calls: Vec<JoinHandle<()>> = Vec::new();
    while !over.load(Ordering::Acquire) {
        let Some(line) = listener.next(Duration::from_millis(50)) else { continue };
        let (runner, over) = (Arc::clone(runner), Arc::clone(over));
        calls.push(std::thread::spawn(move || {
            let code = answer(&line, &runner, &over).unwrap_or(70);
            let _ = line.write_line(&code.to_string());
        }));
        calls.retain(|call| !call.is_finished());
    }
    for call in calls {
        let _ = call.join();
    }
}

/// Runs the requested command and returns its exit code.
fn answer(line: &Line, runner: &Arc<Runner>, over: &AtomicBool) -> Option<u8> {
    let [input, output, errors] = line.take_streams()?;
    let request: RelayedCall = serde_json::from_str(&line.read_line(LONGEST).ok()?).ok()?;
    let mut command = runner().ok()?;
    command.args(&request.arguments).env(RELAYED, "1").env_remove(SOCKET);
    for (name, value) in request.variables.iter().filter(|(name, _)| PASSED.contains(&name.as_str())) {
        command.env(name, value);
    }
    if request.dir.is_dir() {
        command.current_dir(&request.dir).env("PWD", &request.dir);
    }
    command.stdin(input).stdout(output).stderr(errors);
    let mut child = command.spawn().ok()?;
    // Close our copies of the agent's pipes, so that they end with the child.
    drop(command);
    Some(until_it_ends(line, &mut child, over))
}

/// Waits for the command; ends it when the agent's `ralph` or the run ends.
fn until_it_ends(line: &Line, child: &mut Child, over: &AtomicBool) -> u8 {
    let mut asked: Option<Instant> = None;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return u8::try_from(exit_code(&status)).unwrap_or(255);
        }
        let gone = line.is_gone(Duration::from_millis(2));
        if gone || over.load(Ordering::Acquire) {
            match asked {
                None => {
                    send_signal(child.id(), Signal::Terminate);
                    asked = Some(Instant::now());
                }
                Some(since) if since.elapsed() > GRACE => {
                    let _ = child.kill();
                }
                Some(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

/// The client, in the agent's own `ralph`: returns the exit code of the command that the worker process ran.
pub fn relay_call(socket: &Path, arguments: &[String], dir: &Path) -> Result<u8, Failure> {
    let gone = |error: std::io::Error| {
        Failure::broken(Code::NoRelay, format!("cannot reach the worker of this run: {error}"))
            .hint(Hint::step("the worker may have ended; stop, and leave the task as it is"))
    };
    let line = Line::call(socket).map_err(gone)?;
    let variable = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let variables = PASSED.iter().filter_map(variable).collect();
    let request = RelayedCall { arguments: arguments.to_vec(), dir: dir.to_owned(), variables };
    line.send_streams().map_err(gone)?;
    line.write_line(&serde_json::to_string(&request).expect("a request is text")).map_err(gone)?;
    let answer = line.read_line(LONGEST).map_err(gone)?;
    answer.trim().parse().map_err(|_| gone(std::io::ErrorKind::UnexpectedEof.into()))
}

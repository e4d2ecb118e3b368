//! The socket through which a confined agent's `ralph` reaches the board: the worker outside runs the same command line for
//! it, on the agent's own standard streams, under the name and claim of the run.
//!
//! A call is one connection: a header with the three streams attached, the request as a line of JSON, and the exit code as
//! the answer. Closing the connection early ends the command.

use std::io::{BufRead as _, BufReader, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::app::{Code, Failure, Hint};

/// The variable that tells a confined `ralph` where its socket is.
pub const SOCKET: &str = "RALPH_RELAY";
/// Set for a command that the worker runs for its agent.
pub const RELAYED: &str = "RALPH_RELAYED";

const NAME: &str = "relay.sock";
/// More than any command line.
const LONGEST: u64 = 4 * 1024 * 1024;
/// What a command that nobody waits for has left to end.
const GRACE: Duration = Duration::from_secs(2);
/// Variables of the agent's shell that only change how an answer looks, or name its session.
const PASSED: [&str; 8] =
    ["TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES", "CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "RUST_BACKTRACE"];

#[derive(Debug, Serialize, Deserialize)]
struct RelayedCall {
    arguments: Vec<String>,
    dir: PathBuf,
    variables: Vec<(String, String)>,
}

/// The listening end, in the worker; it stops when it is dropped.
pub(super) struct Relay {
    socket: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How the worker runs a command for its agent.
pub(super) type Runner = dyn Fn() -> Result<Command, Failure> + Send + Sync;

impl Relay {
    /// Listens in a folder. `runner` is ralph itself, with the environment of the run.
    pub fn open(folder: &Path, runner: Arc<Runner>) -> Result<Self, Failure> {
        let socket = folder.join(NAME);
        let broken = |error: std::io::Error| {
            Failure::broken(Code::Io, format!("cannot listen on {}: {error}", socket.display()))
        };
        let near = near(folder).map_err(broken)?;
        let listener = UnixListener::bind(near.path(NAME)).map_err(broken)?;
        listener.set_nonblocking(true).map_err(broken)?;
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

/// A folder that is open: paths from it are short, whatever its own is. A socket's path may have 107 bytes.
struct Near(OwnedFd);

impl Near {
    fn path(&self, name: &str) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.0.as_raw_fd()))
    }
}

fn near(folder: &Path) -> std::io::Result<Near> {
    Ok(Near(std::fs::File::open(folder)?.into()))
}

fn serve(listener: &UnixListener, runner: &Arc<Runner>, over: &Arc<AtomicBool>) {
    let mut calls: Vec<JoinHandle<()>> = Vec::new();
    while !over.load(Ordering::Acquire) {
        let mut waiting = [PollFd::new(listener, PollFlags::IN)];
        let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let _ = poll(&mut waiting, Some(&pause));
        let Ok((stream, _)) = listener.accept() else { continue };
        let (runner, over) = (Arc::clone(runner), Arc::clone(over));
        calls.push(std::thread::spawn(move || {
            let code = answer(&stream, &runner, &over).unwrap_or(70);
            let _ = writeln!(&stream, "{code}");
        }));
        calls.retain(|call| !call.is_finished());
    }
    for call in calls {
        let _ = call.join();
    }
}

/// Runs what was asked for, and says how it ended.
fn answer(stream: &UnixStream, runner: &Arc<Runner>, over: &AtomicBool) -> Option<u8> {
    stream.set_nonblocking(false).ok()?;
    let [input, output, errors] = streams(stream)?;
    let mut line = String::new();
    let mut limited = std::io::Read::take(BufReader::new(stream), LONGEST);
    limited.read_line(&mut line).ok()?;
    let request: RelayedCall = serde_json::from_str(&line).ok()?;
    let mut command = runner().ok()?;
    command.args(&request.arguments).env(RELAYED, "1").env_remove(SOCKET);
    for (name, value) in request.variables.iter().filter(|(name, _)| PASSED.contains(&name.as_str())) {
        command.env(name, value);
    }
    if request.dir.is_dir() {
        command.current_dir(&request.dir).env("PWD", &request.dir);
    }
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    let mut child = command.spawn().ok()?;
    // Ours must not keep the agent's pipes open.
    drop(command);
    Some(until_it_ends(stream, &mut child, over))
}

fn streams(stream: &UnixStream) -> Option<[OwnedFd; 3]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    let mut found: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            found.extend(fds);
        }
    }
    found.try_into().ok()
}

/// Ends it when the agent's own `ralph` is gone, or the run is over.
fn until_it_ends(stream: &UnixStream, child: &mut Child, over: &AtomicBool) -> u8 {
    let mut asked: Option<std::time::Instant> = None;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            use std::os::unix::process::ExitStatusExt as _;
            let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
            return u8::try_from(code).unwrap_or(255);
        }
        let mut watched = [PollFd::new(stream, PollFlags::RDHUP)];
        let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
        let _ = poll(&mut watched, Some(&pause));
        let gone = watched[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR);
        if gone || over.load(Ordering::Acquire) {
            let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
            match (asked, pid) {
                (None, Some(pid)) => {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
                    asked = Some(std::time::Instant::now());
                }
                (Some(since), _) if since.elapsed() > GRACE => {
                    let _ = child.kill();
                }
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

/// The calling end, in the agent's own `ralph`: the exit code of the command that was run for it.
pub fn relay_call(socket: &Path, arguments: &[String], dir: &Path) -> Result<u8, Failure> {
    let gone = |error: std::io::Error| {
        Failure::broken(Code::NoRelay, format!("cannot reach the worker of this run: {error}"))
            .hint(Hint::step("its worker may have ended; stop, and leave the task as it is"))
    };
    let folder = socket.parent().unwrap_or(Path::new("/"));
    let stream = UnixStream::connect(near(folder).map_err(gone)?.path(NAME)).map_err(gone)?;
    let variable = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let variables = PASSED.iter().filter_map(variable).collect();
    let request = RelayedCall { arguments: arguments.to_vec(), dir: dir.to_owned(), variables };
    send_streams(&stream).map_err(|error| gone(error.into()))?;
    let text = serde_json::to_string(&request).expect("a request is text");
    (&stream).write_all(format!("{text}\n").as_bytes()).map_err(gone)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).map_err(gone)?;
    answer.trim().parse().map_err(|_| gone(std::io::ErrorKind::UnexpectedEof.into()))
}

fn send_streams(stream: &UnixStream) -> rustix::io::Result<()> {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let fds: [BorrowedFd<'_>; 3] = [input.as_fd(), output.as_fd(), errors.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(stream, &[IoSlice::new(&[0])], &mut control, SendFlags::empty())?;
    Ok(())
}

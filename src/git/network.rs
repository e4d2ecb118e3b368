//! Talks to a remote through the git program: within a time limit, without prompts, and without a second attempt right after
//! a timeout.

use std::cell::RefCell;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use gix::bstr::ByteSlice as _;
use gix::remote::Direction;

use super::program::{plain_git, quiet};
use super::repository::{GitError, Repository, other};
use super::said::{GitSaid, NetTrouble};
use crate::fs;
use crate::os::Signal;
use crate::os::process::{SSH_CAN_SHARE, bound_by, own_group, send_signal_to_group, spawn_bound};

/// How long connecting may take, within the overall limit.
const CONNECT: Duration = Duration::from_secs(10);
/// A command that takes longer may have no connection, so a second connection is tried to find out.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long git's output is read after git has ended, since a shared ssh connection may keep the pipe open.
const REST: Duration = Duration::from_millis(300);
/// The longest socket path that works on every system, without the suffix that ssh adds while it connects.
const SOCKET_PATH: usize = 80;

/// Limits for commands to remotes.
#[derive(Debug)]
pub struct Network {
    /// The time limit of one command, for every transport.
    pub limit: Duration,
    /// Whether ssh connections are kept for the next command.
    pub share_ssh: bool,
    /// The last remote that timed out. Until the limit has passed again, it is not tried again.
    silent: RefCell<Option<(String, Instant)>>,
}

impl Default for Network {
    fn default() -> Self {
        Self { limit: Duration::from_secs(30), share_ssh: true, silent: RefCell::default() }
    }
}

static RALPH: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program that starts git, so that git ends with this process.
pub fn start_git_through(ralph: PathBuf) {
    let _ = RALPH.set(ralph);
}

impl Repository {
    pub fn set_network(&mut self, limit: Duration, share_ssh: bool) {
        self.network = Network { limit: limit.max(Duration::from_secs(1)), share_ssh, ..Network::default() };
    }

    /// Runs a git command for a remote.
    pub(super) fn ask(&self, remote: &str, options: &[&str], refspecs: &[&str]) -> Result<GitSaid, GitError> {
        let silent = self
            .network
            .silent
            .borrow()
            .as_ref()
            .is_some_and(|(name, since)| name == remote && since.elapsed() < self.network.limit);
        if silent {
            return Err(timed_out(remote, self.network.limit));
        }
        let url = self.url_of(remote, options);
        let run = || {
            let mut git = self.network_git(url.as_ref());
            git.args(options).arg("--").arg(remote).args(refspecs);
            self.within_limit(remote, url.as_ref(), git)
        };
        let said = run()?;
        if said.met_a_lock_file() && self.clear_left() { run() } else { Ok(said) }
    }

    fn url_of(&self, remote: &str, options: &[&str]) -> Option<gix::Url> {
        let direction = if options.first() == Some(&"push") { Direction::Push } else { Direction::Fetch };
        self.inner.find_remote(remote).ok()?.url(direction).cloned()
    }

    /// git in the main worktree, without any prompt.
    fn network_git(&self, url: Option<&gix::Url>) -> Command {
        let mut git = plain_git(&self.root);
        git.args(["-c", "protocol.version=2"]);
        git.arg("--git-dir").arg(&self.common).arg("--work-tree").arg(&self.root);
        quiet(&mut git);
        git.env("GIT_HTTP_LOW_SPEED_LIMIT", "1").env("GIT_HTTP_LOW_SPEED_TIME", "20");
        if let Some(command) = self.ssh_command(url) {
            git.env("GIT_SSH_COMMAND", command);
        }
        if !std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            // Without a person, a window for a password would wait forever.
            git.env("GIT_ASKPASS", "").env("SSH_ASKPASS_REQUIRE", "never").env("GCM_INTERACTIVE", "never");
        }
        git
    }

    /// The user's own ssh command, or ssh, with options that prevent it from waiting. The user's own options come first and win.
    fn ssh_command(&self, url: Option<&gix::Url>) -> Option<String> {
        if std::env::var_os("GIT_SSH").is_some() && std::env::var_os("GIT_SSH_COMMAND").is_none() {
            return None;
        }
        let own = std::env::var("GIT_SSH_COMMAND").ok();
        let own = own.or_else(|| self.inner.config_snapshot().string("core.sshCommand").map(|text| text.to_string()));
        let command = own.unwrap_or_else(|| "ssh".to_owned());
        let program = command.split_whitespace().next().unwrap_or_default();
        if !["ssh", "ssh.exe"].contains(&program.rsplit(['/', '\\']).next().unwrap_or_default()) {
            // Another program would not understand the options of ssh.
            return None;
        }
        let patience = "-oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=5 -oServerAliveCountMax=3";
        let shared = url.and_then(|url| self.shared_connection(&command, url)).unwrap_or_default();
        Some(format!("{command} {patience}{shared}"))
    }

    /// Options that keep the connection for the next command, unless the user's ssh settings configure that.
    fn shared_connection(&self, ssh: &str, url: &gix::Url) -> Option<String> {
        let can_share = SSH_CAN_SHARE && url.scheme == gix::url::Scheme::Ssh;
        let host = url.host().filter(|_| self.network.share_ssh && can_share)?;
        // A host that looks like an option or would need quotes is left to the user's ssh settings.
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:".contains(c));
        if host.starts_with('-') || !plain(host) {
            return None;
        }
        let words: Vec<&str> = ssh.split_whitespace().collect();
        let mut asked = Command::new(words.first()?);
        asked.args(&words[1..]).args(["-G", host]).stdin(Stdio::null()).stderr(Stdio::null());
        let settings = String::from_utf8_lossy(&asked.output().ok()?.stdout).into_owned();
        let set = |line: &str| {
            line.strip_prefix("controlpath ").is_some_and(|path| path != "none")
                || line.strip_prefix("controlmaster ").is_some_and(|value| value != "false" && value != "no")
        };
        if settings.lines().any(set) {
            return None;
        }
        let socket = self.socket(url)?;
        Some(format!(" -oControlMaster=auto -oControlPath={} -oControlPersist=60", socket.display()))
    }

    /// The socket of a shared connection: one for each address.
    fn socket(&self, url: &gix::Url) -> Option<PathBuf> {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        (url.user(), url.host(), url.port).hash(&mut hasher);
        let folder = self.common.join("ralph/ssh");
        let path = folder.join(format!("{:08x}", hasher.finish() & 0xffff_ffff));
        let text = path.to_str()?;
        if text.len() > SOCKET_PATH || text.contains([' ', '%', '\'', '"', '\\', '$', '~']) {
            return None;
        }
        fs::make_dir(&folder).ok()?;
        Some(path)
    }

    fn within_limit(&self, remote: &str, url: Option<&gix::Url>, git: Command) -> Result<GitSaid, GitError> {
        let mut running = Running::start(git)?;
        let probe = url.and_then(probed);
        match running.wait(self.network.limit, probe)? {
            Waited::Ended(said) => Ok(said),
            Waited::TimedOut(after) => {
                // A connection that hangs must not be reused.
                if let Some(socket) = url.and_then(|url| self.socket(url)) {
                    let _ = fs::remove(&socket);
                }
                self.network.silent.replace(Some((remote.to_owned(), Instant::now())));
                Err(timed_out(remote, after))
            }
        }
    }
}

fn timed_out(remote: &str, after: Duration) -> GitError {
    let message = format!("timed out after {}s", after.as_secs());
    GitError::Remote { remote: remote.to_owned(), trouble: NetTrouble::TimedOut, message }
}

/// The address to try, for transports without their own limit that connect directly.
fn probed(url: &gix::Url) -> Option<(String, u16)> {
    use gix::url::Scheme;
    let port = match url.scheme {
        Scheme::Http => 80,
        Scheme::Https => 443,
        Scheme::Git => 9418,
        _ => return None,
    };
    let proxies = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    if url.scheme != Scheme::Git && proxies.iter().any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    Some((url.host()?.trim_matches(['[', ']']).to_owned(), url.port.unwrap_or(port)))
}

/// A git process that is running.
struct Running {
    child: Child,
    started: Instant,
    output: [Stream; 2],
}

enum Waited {
    Ended(GitSaid),
    TimedOut(Duration),
}

/// The output of a pipe that may never be closed.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    closed: Receiver<()>,
}

impl Stream {
    fn read(mut pipe: impl std::io::Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (close, closed) = channel();
        let into = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                if let Ok(mut bytes) = into.lock() {
                    bytes.extend_from_slice(&buffer[..count]);
                }
            }
            let _ = close.send(());
        });
        Self { bytes, closed }
    }

    fn text(&self) -> String {
        let _ = self.closed.recv_timeout(REST);
        self.bytes.lock().map(|bytes| bytes.to_str_lossy().into_owned()).unwrap_or_default()
    }
}

impl Running {
    fn start(git: Command) -> Result<Self, GitError> {
        let mut git = match RALPH.get().filter(|ralph| ralph.exists()) {
            Some(ralph) => bound_by(ralph, &git),
            None => git,
        };
        git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn_bound(own_group(&mut git)).map_err(|e| other("run git", &e))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = [
            Stream::read(stdout.expect("standard output is piped")),
            Stream::read(stderr.expect("standard error is piped")),
        ];
        Ok(Self { child, started: Instant::now(), output })
    }

    fn wait(&mut self, limit: Duration, probed: Option<(String, u16)>) -> Result<Waited, GitError> {
        let mut probe = None;
        let mut pause = Duration::from_micros(300);
        loop {
            if let Some(status) = self.child.try_wait().map_err(|e| other("wait for git", &e))? {
                let [stdout, stderr] = [self.output[0].text(), self.output[1].text()];
                return Ok(Waited::Ended(GitSaid { stdout, stderr, ok: status.success() }));
            }
            let elapsed = self.started.elapsed();
            if elapsed > limit {
                return Ok(self.give_up(limit));
            }
            if elapsed > PATIENCE && probe.is_none() {
                probe = probed.clone().map(connect);
            }
            if probe.as_ref().is_some_and(|probe: &Receiver<bool>| never_connected(probe, elapsed)) {
                return Ok(self.give_up(elapsed));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    fn give_up(&mut self, after: Duration) -> Waited {
        send_signal_to_group(self.child.id(), Signal::Kill);
        let _ = self.child.wait();
        Waited::TimedOut(after)
    }
}

/// Connects to an address in the background; the result is true if there was any answer.
fn connect((host, port): (String, u16)) -> Receiver<bool> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let addresses = (host.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
        let silent = |error: &std::io::Error| error.kind() == std::io::ErrorKind::TimedOut;
        let tried: Vec<_> =
            addresses.iter().take(2).map(|at| TcpStream::connect_timeout(at, CONNECT - PATIENCE)).collect();
        let answered = tried.is_empty() || tried.iter().any(|tried| !tried.as_ref().is_err_and(silent));
        let _ = tell.send(answered);
    });
    told
}

fn never_connected(probe: &Receiver<bool>, elapsed: Duration) -> bool {
    match probe.try_recv() {
        Ok(answered) => !answered,
        Err(_) => elapsed > CONNECT && probe.recv_timeout(Duration::ZERO) == Err(RecvTimeoutError::Timeout),
    }
}

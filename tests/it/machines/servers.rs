//! Real git servers on the loopback interface: sshd, and nginx with git-http-backend. All their files are in the
//! sandbox.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::processes;
use crate::sandbox::Sandbox;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Ssh,
    Http,
}

/// How an HTTP server treats requests for the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Open,
    Unauthorized,
    Forbidden,
}

/// The number of requests that are served in parallel, each by its own fcgiwrap process.
const WRAPS: usize = 16;

/// A server of `hub.git` in a sandbox. Dropping it ends all of its processes.
pub struct Server {
    pub transport: Transport,
    pub port: u16,
    programs: Vec<Child>,
    folder: PathBuf,
    repository: PathBuf,
}

/// Debian installs servers into folders that are only on root's PATH.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    path.split(':').map(|folder| Path::new(folder).join(name)).find(|file| file.is_file())
}

/// Whether the required programs are installed; if not, the reason is on stderr.
#[allow(clippy::print_stderr, reason = "a test that is skipped says why")]
pub fn can_serve(transport: Transport) -> bool {
    let needed: &[&str] = match transport {
        Transport::Ssh => &["sshd", "ssh", "ssh-keygen", "setpriv"],
        Transport::Http => &["nginx", "fcgiwrap", "setpriv"],
    };
    let missing: Vec<&str> = needed.iter().copied().filter(|name| program(name).is_none()).collect();
    if missing.is_empty() {
        return true;
    }
    eprintln!("SKIPPED: {} is not installed; run tests/servers/setup", missing.join(", "));
    false
}

/// A free port outside of the kernel's ephemeral range. Another process may still take it before it is bound.
pub fn some_port() -> u16 {
    loop {
        let port = fastrand::u16(10_000..30_000);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Server {
    pub fn new(sandbox: &Sandbox, transport: Transport) -> Self {
        match transport {
            Transport::Ssh => Self::ssh(sandbox),
            Transport::Http => Self::http(sandbox),
        }
    }

    /// sshd as the current user, with its own keys and settings.
    pub fn ssh(sandbox: &Sandbox) -> Self {
        let folder = folder(sandbox, "sshd");
        for key in ["host_key", "user_key"] {
            let file = folder.join(key);
            let mut made = Command::new("ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&file);
            assert!(made.status().unwrap().success());
        }
        std::fs::copy(folder.join("user_key.pub"), folder.join("authorized_keys")).unwrap();
        let host = std::fs::read_to_string(folder.join("host_key.pub")).unwrap();
        std::fs::write(folder.join("known_hosts"), format!("hub {host}")).unwrap();
        std::fs::write(folder.join("ssh_config"), ssh_config(&folder)).unwrap();
        // sshd started by root requires this folder, and it is gone after each boot.
        let _ = std::fs::create_dir("/run/sshd");
        let start = |port: u16| {
            let settings = folder.join("sshd_config");
            std::fs::write(&settings, sshd_config(&folder, port)).unwrap();
            let sshd = program("sshd").unwrap();
            let mut sshd = bound(sshd.to_str().unwrap());
            sshd.arg("-D").arg("-f").arg(&settings).arg("-E").arg(folder.join("log"));
            // Newer versions lock out addresses that disconnect often, as these tests do.
            if knows_penalties(&settings) {
                sshd.arg("-oPerSourcePenalties=no");
            }
            let sshd = sshd.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let listens = format!("Server listening on 127.0.0.1 port {port}.");
            (vec![sshd], listens)
        };
        let (programs, port) = started(&folder, start, |folder, _, listens| {
            std::fs::read_to_string(folder.join("log")).is_ok_and(|log| log.contains(listens))
        });
        let repository = sandbox.outside("hub.git");
        Self { transport: Transport::Ssh, port, programs, folder, repository }
    }

    /// nginx in front of git-http-backend; pushes need no authentication.
    pub fn http(sandbox: &Sandbox) -> Self {
        Self::nginx(sandbox, Access::Open)
    }

    /// A server that answers 401 and asks for a password.
    pub fn unauthorized(sandbox: &Sandbox) -> Self {
        Self::nginx(sandbox, Access::Unauthorized)
    }

    /// A server that answers 403.
    pub fn forbidden(sandbox: &Sandbox) -> Self {
        Self::nginx(sandbox, Access::Forbidden)
    }

    fn nginx(sandbox: &Sandbox, access: Access) -> Self {
        let folder = folder(sandbox, &format!("nginx-{access:?}"));
        let repository = sandbox.outside("hub.git");
        let wraps = (0..WRAPS).map(|number| {
            let mut wrap = bound(program("fcgiwrap").unwrap().to_str().unwrap());
            wrap.arg("-s").arg(format!("unix:{}/fcgi-{number}", folder.display()));
            wrap.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        let wraps: Vec<Child> = wraps.collect();
        let start = |port: u16| {
            let settings = folder.join("nginx.conf");
            std::fs::write(&settings, nginx_config(&folder, &repository, port, access)).unwrap();
            let mut nginx = bound(program("nginx").unwrap().to_str().unwrap());
            nginx.arg("-p").arg(&folder).arg("-c").arg(&settings).arg("-e").arg(folder.join("log"));
            (vec![nginx.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()], folder.display().to_string())
        };
        let (mut programs, port) = started(&folder, start, |_, port, who| answers(port, who));
        programs.extend(wraps);
        Self { transport: Transport::Http, port, programs, folder, repository }
    }

    pub fn url(&self) -> String {
        self.url_through(self.port)
    }

    /// The URL of the repository through a proxy.
    pub fn url_through(&self, port: u16) -> String {
        match self.transport {
            Transport::Ssh => format!("ssh://{}@127.0.0.1:{port}{}", user(), self.repository.display()),
            Transport::Http => format!("http://127.0.0.1:{port}/hub.git"),
        }
    }

    /// The git configuration of a clone: ssh reads the home from the password database, not from the environment.
    pub fn settings(&self) -> String {
        match self.transport {
            Transport::Ssh => format!("[core]\n\tsshCommand = ssh -F {}\n", self.folder.join("ssh_config").display()),
            Transport::Http => String::new(),
        }
    }

    /// The folder with the server's settings, keys and log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The log of the server, for the message of a failed test.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for program in &mut self.programs {
            processes::end_tree(program);
        }
    }
}

fn folder(sandbox: &Sandbox, name: &str) -> PathBuf {
    let folder = sandbox.outside(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A program that the kernel kills when this test ends in any way.
fn bound(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", program]).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var("PATH").unwrap_or_default()).env("LC_ALL", "C");
    command
}

fn user() -> String {
    let said = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

/// Tries ports until the server is up: another test may take the chosen port first.
fn started(
    folder: &Path,
    start: impl Fn(u16) -> (Vec<Child>, String),
    is_up: impl Fn(&Path, u16, &str) -> bool,
) -> (Vec<Child>, u16) {
    for _ in 0..10 {
        let port = some_port();
        let (mut programs, sign) = start(port);
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if is_up(folder, port, &sign) {
                return (programs, port);
            }
            if programs.iter_mut().any(|program| program.try_wait().unwrap().is_some()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        programs.iter_mut().for_each(processes::end_tree);
    }
    panic!("the server does not start: {}", std::fs::read_to_string(folder.join("log")).unwrap_or_default());
}

/// Whether the server at this port is the one we started.
fn answers(port: u16, who: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let _ = stream.write_all(b"GET /who HTTP/1.0\r\n\r\n");
    let mut said = String::new();
    let _ = stream.read_to_string(&mut said);
    said.ends_with(who)
}

fn knows_penalties(settings: &Path) -> bool {
    let mut asked = Command::new(program("sshd").unwrap());
    asked.arg("-t").arg("-f").arg(settings).arg("-oPerSourcePenalties=no");
    asked.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn ssh_config(folder: &Path) -> String {
    let [key, hosts] = ["user_key", "known_hosts"].map(|name| folder.join(name).display().to_string());
    format!(
        "Host *\n  IdentityFile {key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {hosts}\n  GlobalKnownHostsFile none\n  \
         HostKeyAlias hub\n  CheckHostIP no\n  StrictHostKeyChecking yes\n  UpdateHostKeys no\n"
    )
}

fn sshd_config(folder: &Path, port: u16) -> String {
    let [key, users, pid] = ["host_key", "authorized_keys", "pid"].map(|name| folder.join(name).display().to_string());
    let path = std::env::var("PATH").unwrap_or_default();
    format!(
        "ListenAddress 127.0.0.1:{port}\nHostKey {key}\nAuthorizedKeysFile {users}\nPidFile {pid}\nStrictModes no\nUsePAM no\n\
         PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 1000\n\
         AcceptEnv GIT_PROTOCOL\nSetEnv PATH={path}\nUseDNS no\nLogLevel VERBOSE\n"
    )
}

fn nginx_config(folder: &Path, repository: &Path, port: u16, access: Access) -> String {
    let said = Command::new("git").arg("--exec-path").output().unwrap();
    let backend = Path::new(String::from_utf8(said.stdout).unwrap().trim()).join("git-http-backend");
    let project = repository.parent().unwrap().display();
    let served = match access {
        Access::Unauthorized => "add_header WWW-Authenticate 'Basic realm=\"hub\"' always; return 401;".to_owned(),
        Access::Forbidden => "return 403;".to_owned(),
        Access::Open => format!(
            "fastcgi_pass wraps; fastcgi_param SCRIPT_FILENAME {}; fastcgi_param GIT_PROJECT_ROOT {project};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1; fastcgi_param PATH_INFO $uri; fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method; fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding; fastcgi_param REMOTE_USER hub;
      fastcgi_param REMOTE_ADDR $remote_addr; fastcgi_read_timeout 600s; fastcgi_buffering off;",
            backend.display()
        ),
    };
    let wrap = |number| format!(" server unix:{}/fcgi-{number} max_fails=0;", folder.display());
    let wraps: String = (0..WRAPS).map(wrap).collect();
    let temporary: String = ["client_body", "fastcgi", "proxy", "scgi", "uwsgi"]
        .map(|name| format!("  {name}_temp_path {}/temporary;\n", folder.display()))
        .concat();
    // Only root may set the user. Without it, root's workers would run as another user.
    let user = if user() == "root" { "user root;\n" } else { "" };
    let folder = folder.display();
    format!(
        "{user}daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/log;\n\
         events {{ worker_connections 512; }}\nhttp {{\n  access_log {folder}/access;\n{temporary}  \
         client_max_body_size 0;\n  keepalive_timeout 60s;\n  upstream wraps {{ least_conn;{wraps} }}\n  \
         server {{\n    listen 127.0.0.1:{port};\n    location = /who {{ return 200 '{folder}'; }}\n    location /hub.git {{\n      {served}\n    }}\n  }}\n}}\n"
    )
}

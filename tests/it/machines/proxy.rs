//! A TCP proxy in front of a server: counts and delays traffic, and fails as networks do.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketAddrV4, SocketType};

use super::servers::some_port;

/// How the proxy treats new connections. Open ones keep their way until `cut` closes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Forward,
    /// The packets of a new connection are dropped.
    NoAnswer,
    /// The port is closed.
    Refuse,
    /// Accepts, and sends nothing.
    Silent,
    /// Accepts, and closes at once.
    Drop,
    /// Closes after this many bytes in both directions together.
    CutAfter(u64),
    /// Forwards nothing more after this many bytes, and stays open.
    HoleAfter(u64),
    /// Forwards the server's answer at one byte a second.
    Drip,
    /// Answers the first message of a TLS handshake with the beginning of the second.
    HalfHandshake,
    /// Sends the header of an HTTP answer, and nothing after it.
    HeaderOnly,
    /// Closes within the header of an HTTP answer: git takes that for the empty list of an old server.
    HalfHeader,
    /// Sends HTTP header lines forever, a few each second.
    EndlessHeader,
    /// An HTTP answer that never ends, too fast to count as slow.
    EndlessAnswer,
    /// Sends lines before the version line of ssh forever, one a second.
    EndlessBanner,
}

/// Dropping it ends its connections.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
    bell: UnixStream,
    acceptor: Option<JoinHandle<()>>,
}

/// The traffic since the counts were last taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub connections: u64,
    /// From the client to the server.
    pub up: u64,
    pub down: u64,
}

struct Shared {
    server: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
    ended: AtomicBool,
    connections: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
}

struct State {
    way: Way,
    /// The way for which the port is currently set up.
    port_is_for: Option<Way>,
    one_way: Duration,
    open: Vec<TcpStream>,
}

impl Proxy {
    pub fn to(server: u16) -> Self {
        let (port, listener) = loop {
            let port = some_port();
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
                break (port, listener);
            }
        };
        let state = State { way: Way::Forward, port_is_for: Some(Way::Forward), one_way: Duration::ZERO, open: vec![] };
        let shared = Arc::new(Shared {
            server: ([127, 0, 0, 1], server).into(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            ended: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
        });
        let own = Arc::clone(&shared);
        let (bell, rings) = UnixStream::pair().unwrap();
        let acceptor = std::thread::spawn(move || own.listen(port, listener, rings));
        Self { port, shared, bell, acceptor: Some(acceptor) }
    }

    /// New connections are treated this way once this returns.
    pub fn set(&self, way: Way) {
        let mut state = self.shared.state.lock().unwrap();
        state.way = way;
        drop(state);
        self.wake();
        let state = self.shared.state.lock().unwrap();
        let late = Duration::from_secs(20);
        let done = |state: &mut State| state.port_is_for != Some(way);
        let (_state, waited) = self.shared.changed.wait_timeout_while(state, late, done).unwrap();
        assert!(!waited.timed_out(), "the proxy does not change to {way:?}");
    }

    /// Closes all open connections.
    pub fn cut(&self) {
        for stream in self.shared.state.lock().unwrap().open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The delay in one direction; a round trip takes twice as long, and so does opening a connection.
    pub fn delay(&self, one_way: Duration) {
        self.shared.state.lock().unwrap().one_way = one_way;
    }

    pub fn take_counts(&self) -> Counts {
        let Shared { connections, up, down, .. } = &*self.shared;
        Counts { connections: connections.swap(0, SeqCst), up: up.swap(0, SeqCst), down: down.swap(0, SeqCst) }
    }

    /// Wakes the accepting thread, which reads the way again.
    fn wake(&self) {
        let _ = (&self.bell).write_all(b"!");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        self.wake();
        self.cut();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    fn way(&self) -> Way {
        self.state.lock().unwrap().way
    }

    /// Keeps the port open, closed, or unresponsive, as the way requires.
    fn listen(self: Arc<Self>, port: u16, listener: TcpListener, mut rings: UnixStream) {
        let mut listener = Some(listener);
        while !self.ended() {
            let way = self.way();
            let deaf = match way {
                Way::Refuse | Way::NoAnswer => {
                    listener = None;
                    (way == Way::NoAnswer).then(|| deaf_port(port))
                }
                _ => {
                    listener.get_or_insert_with(|| bound(port));
                    None
                }
            };
            self.state.lock().unwrap().port_is_for = Some(way);
            self.changed.notify_all();
            if let Some(listener) = &listener {
                self.accept_until(listener, &rings, way);
            }
            let _ = rings.read(&mut [0; 1]);
            drop(deaf);
        }
    }

    /// Accepts connections until `wake` is called.
    fn accept_until(self: &Arc<Self>, listener: &TcpListener, rings: &UnixStream, way: Way) {
        loop {
            let mut waiting = [PollFd::new(rings, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
            if poll(&mut waiting, None).is_err() || !waiting[0].revents().is_empty() {
                return;
            }
            let Ok((client, _)) = listener.accept() else { return };
            self.connections.fetch_add(1, SeqCst);
            if let Ok(kept) = client.try_clone() {
                self.state.lock().unwrap().open.push(kept);
            }
            let own = Arc::clone(self);
            std::thread::spawn(move || own.serve(client, way));
        }
    }

    /// Errors mean that the other side has closed the connection.
    fn serve(self: Arc<Self>, mut client: TcpStream, way: Way) {
        let _ = client.set_nodelay(true);
        let _ = match way {
            Way::NoAnswer | Way::Refuse | Way::Silent => self.until_closed(client),
            Way::Drop => client.shutdown(Shutdown::Both),
            Way::HalfHandshake => {
                let _ = client.read(&mut [0; 4096]);
                let begun = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03";
                client.write_all(begun).and_then(|()| self.until_closed(client))
            }
            Way::HeaderOnly => {
                let _ = client.read(&mut [0; 4096]);
                let header = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                              Content-Length: 4000\r\n\r\n";
                client.write_all(header.as_bytes()).and_then(|()| self.until_closed(client))
            }
            Way::HalfHeader => {
                let _ = client.read(&mut [0; 4096]);
                client.write_all(b"HTTP/1.1 200 OK\r\nServer: hub\r\n").and_then(|()| client.shutdown(Shutdown::Both))
            }
            Way::EndlessHeader => {
                self.repeat(client, b"HTTP/1.1 200 OK\r\n", b"X-More: to come\r\n", Duration::from_millis(200))
            }
            Way::EndlessBanner => self.repeat(client, b"", b"please wait\r\n", Duration::from_secs(1)),
            Way::EndlessAnswer => self.endless_answer(client),
            Way::Forward | Way::CutAfter(_) | Way::HoleAfter(_) | Way::Drip => self.forward(client, way),
        };
    }

    /// Reads the client's bytes without answering.
    fn until_closed(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut bytes = [0; 4096];
        while client.read(&mut bytes)? > 0 && !self.ended() {}
        Ok(())
    }

    fn repeat(&self, mut client: TcpStream, first: &[u8], then: &[u8], pause: Duration) -> std::io::Result<()> {
        client.write_all(first)?;
        while !self.ended() {
            client.write_all(then)?;
            std::thread::sleep(pause);
        }
        Ok(())
    }

    /// Lists references without end, in the first version of the protocol.
    fn endless_answer(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut asked = [0; 4096];
        let length = client.read(&mut asked)?;
        let service =
            if asked[..length].windows(12).any(|words| words == b"receive-pack") { "receive" } else { "upload" };
        let packet = |text: &str| format!("{:04x}{text}", text.len() + 4);
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let header = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-{service}-pack-advertisement\r\n\
             Transfer-Encoding: chunked\r\n\r\n"
        );
        client.write_all(header.as_bytes())?;
        client.write_all(chunk(&(packet(&format!("# service=git-{service}-pack\n")) + "0000")).as_bytes())?;
        for number in 0_u64.. {
            let end = if number == 0 { "\0report-status\n" } else { "\n" };
            let line = packet(&format!("{:040x} refs/heads/{number}{end}", number + 1));
            client.write_all(chunk(&line).as_bytes())?;
            if self.ended() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn forward(self: Arc<Self>, client: TcpStream, way: Way) -> std::io::Result<()> {
        let one_way = self.state.lock().unwrap().one_way;
        // The client is connected at once, but over a slow network its first bytes would leave a round trip later.
        std::thread::sleep(one_way * 2);
        let server = TcpStream::connect(self.server)?;
        server.set_nodelay(true)?;
        let passed = Arc::new(AtomicU64::new(0));
        let pipe = |from: &TcpStream, to: &TcpStream, direction: Direction| -> std::io::Result<JoinHandle<()>> {
            let (from, to, passed, shared) =
                (from.try_clone()?, to.try_clone()?, Arc::clone(&passed), Arc::clone(&self));
            Ok(std::thread::spawn(move || _ = Pipe { shared, direction, way, one_way, passed }.run(from, to)))
        };
        let up = pipe(&client, &server, Direction::Up)?;
        let down = pipe(&server, &client, Direction::Down)?;
        let _ = (up.join(), down.join());
        Ok(())
    }
}

/// Retries while connections of an earlier listener on the port are still closing.
fn bound(port: u16) -> TcpListener {
    let began = Instant::now();
    loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return listener,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(10), "port {port}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A port whose queue is full, so that the kernel drops new connections.
fn deaf_port(port: u16) -> (rustix::fd::OwnedFd, Vec<TcpStream>) {
    use rustix::net::{bind, listen, socket, sockopt::set_socket_reuseaddr};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    set_socket_reuseaddr(&socket, true).unwrap();
    let began = Instant::now();
    while let Err(error) = bind(&socket, &SocketAddrV4::new([127, 0, 0, 1].into(), port)) {
        assert!(began.elapsed() < Duration::from_secs(10), "port {port}: {error}");
        std::thread::sleep(Duration::from_millis(10));
    }
    listen(&socket, 0).unwrap();
    let connect = || TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_millis(200)).ok();
    let full = std::iter::from_fn(connect).take(16).collect();
    (socket, full)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// One direction of a connection.
struct Pipe {
    shared: Arc<Shared>,
    direction: Direction,
    way: Way,
    one_way: Duration,
    passed: Arc<AtomicU64>,
}

impl Pipe {
    /// Reads at once and writes when the delay is over, so that the delay is not added to each chunk.
    fn run(&self, mut from: TcpStream, to: TcpStream) -> std::io::Result<()> {
        let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
        std::thread::scope(|scope| {
            scope.spawn(|| _ = self.write(receiver, to));
            let mut bytes = [0; 16384];
            loop {
                let length = from.read(&mut bytes).unwrap_or(0);
                if sender.send((Instant::now() + self.one_way, bytes[..length].to_vec())).is_err() || length == 0 {
                    return Ok(());
                }
            }
        })
    }

    fn write(&self, receiver: mpsc::Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) -> std::io::Result<()> {
        for (due, bytes) in receiver {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if bytes.is_empty() {
                if !matches!(self.way, Way::HoleAfter(_)) {
                    to.shutdown(Shutdown::Write)?;
                }
                return Ok(());
            }
            let counted = if self.direction == Direction::Up { &self.shared.up } else { &self.shared.down };
            counted.fetch_add(bytes.len() as u64, SeqCst);
            let before = self.passed.fetch_add(bytes.len() as u64, SeqCst);
            let room = |most: u64| usize::try_from(most.saturating_sub(before)).unwrap().min(bytes.len());
            match self.way {
                Way::CutAfter(most) if room(most) < bytes.len() => {
                    to.write_all(&bytes[..room(most)])?;
                    return to.shutdown(Shutdown::Both);
                }
                Way::HoleAfter(most) => to.write_all(&bytes[..room(most)])?,
                Way::Drip if self.direction == Direction::Down => {
                    for byte in bytes {
                        to.write_all(&[byte])?;
                        std::thread::sleep(Duration::from_secs(1));
                    }
                }
                _ => to.write_all(&bytes)?,
            }
        }
        Ok(())
    }
}

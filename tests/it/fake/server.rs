//! The loopback server: connections, credentials, faults and the log.

use std::io::{BufReader, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::exec::{Reply, execute, rate_limited};
use super::fault::{Fault, Faults, Logged, cut_data};
use super::http::{Incoming, Outgoing, date, read_request};
use super::schema::Level;
use super::world::World;

const TOKEN: &str = "ghp_fakeFakeFakeFakeFakeFakeFakeFake0123";
const HTML: &str =
    "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>";

/// A running fake of GitHub; clones are the same server.
#[derive(Clone)]
pub struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    address: SocketAddr,
    level: Level,
    world: Mutex<World>,
    log: Mutex<Vec<Logged>>,
    faults: Mutex<Faults>,
    held: Mutex<Option<usize>>,
    held_changed: Condvar,
    sockets: Mutex<Vec<TcpStream>>,
    stopping: AtomicBool,
}

/// The lock, even if poisoned, so that a test's own panic is the one that is reported.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock, or `None` if it is held for so long that it must be a deadlock.
fn patient<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..5_000 {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
        }
    }
    None
}

impl Fake {
    #[must_use]
    pub fn start() -> Self {
        Self::start_at(Level::Dotcom)
    }

    /// # Panics
    /// If no loopback port is free.
    #[must_use]
    pub fn start_at(level: Level) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        let inner = Arc::new(Inner {
            address: listener.local_addr().expect("a bound address"),
            level,
            world: Mutex::default(),
            log: Mutex::default(),
            faults: Mutex::default(),
            held: Mutex::default(),
            held_changed: Condvar::new(),
            sockets: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&inner);
        thread::spawn(move || accept(&listener, &accepting));
        Self { inner }
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/graphql", self.inner.address)
    }

    /// The only token that is accepted.
    #[must_use]
    pub fn token(&self) -> String {
        TOKEN.into()
    }

    /// The state. Drop the guard before a client sends a request, since requests need it.
    ///
    /// # Panics
    /// If the guard is held for ten seconds: two guards in one statement would deadlock.
    pub fn world(&self) -> MutexGuard<'_, World> {
        patient(&self.inner.world).expect("the fake's world is in use: a guard lives to the end of its statement")
    }

    #[must_use]
    pub fn log(&self) -> Vec<Logged> {
        lock(&self.inner.log).clone()
    }

    pub fn clear_log(&self) {
        lock(&self.inner.log).clear();
    }

    /// Plans faults by the number of the request, counted from now.
    pub fn plan(&self, faults: impl IntoIterator<Item = (usize, Fault)>) {
        let mut state = lock(&self.inner.faults);
        state.seen = 0;
        state.planned = faults.into_iter().collect();
    }

    /// Sets a fault for every request without a planned one, until cleared.
    pub fn fault_always(&self, fault: Option<Fault>) {
        lock(&self.inner.faults).always = fault;
    }

    /// The number of the request that is being held.
    #[must_use]
    pub fn held(&self) -> Option<usize> {
        *lock(&self.inner.held)
    }

    /// Waits until a request is being held.
    #[must_use]
    pub fn wait_held(&self, timeout: Duration) -> bool {
        let held = lock(&self.inner.held);
        let waited = self.inner.held_changed.wait_timeout_while(held, timeout, |h| h.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    /// Closes every connection and accepts no more.
    pub fn stop(self) {
        self.inner.stopping.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.inner.address)); // wakes the accepting thread
        for socket in lock(&self.inner.sockets).drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

fn accept(listener: &TcpListener, inner: &Arc<Inner>) {
    for stream in listener.incoming() {
        if inner.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let _ = stream.set_nodelay(true);
        if let Ok(copy) = stream.try_clone() {
            lock(&inner.sockets).push(copy);
        }
        let inner = Arc::clone(inner);
        thread::spawn(move || serve(stream, &inner));
    }
}

/// Answers the requests of one connection until either side closes it.
fn serve(stream: TcpStream, inner: &Inner) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(incoming)) = read_request(&mut stream) {
        let close = incoming.wants_close();
        if !respond(&mut stream, inner, &incoming) || close {
            break;
        }
    }
    let _ = stream.get_ref().shutdown(Shutdown::Both);
}

/// Whether the connection stays open.
fn respond(stream: &mut BufReader<TcpStream>, inner: &Inner, incoming: &Incoming) -> bool {
    let (number, fault) = lock(&inner.faults).next();
    let mut logged = Logged { fault, ..Logged::of(&incoming.body) };
    let out = process(inner, incoming, &mut logged);
    let silent = matches!(fault, Some(Fault::DropBefore | Fault::DropAfter | Fault::HoldBefore | Fault::HoldAfter));
    logged.status = if silent { 0 } else { out.status };
    lock(&inner.log).push(logged);
    match fault {
        Some(Fault::DropBefore | Fault::DropAfter) => false,
        Some(Fault::HoldBefore | Fault::HoldAfter) => {
            hold(stream, inner, number);
            false
        }
        Some(Fault::Truncate) => {
            let _ = out.send(stream.get_mut(), out.body.len() / 2);
            false
        }
        Some(Fault::Slow(time)) => {
            thread::sleep(time);
            out.send(stream.get_mut(), usize::MAX).is_ok()
        }
        _ => out.send(stream.get_mut(), usize::MAX).is_ok(),
    }
}

/// Keeps the socket open and unanswered until the client disconnects.
fn hold(stream: &mut BufReader<TcpStream>, inner: &Inner, number: usize) {
    *lock(&inner.held) = Some(number);
    inner.held_changed.notify_all();
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest), Ok(n) if n > 0) {}
    *lock(&inner.held) = None;
    inner.held_changed.notify_all();
}

/// The response; the world changes unless the fault or the credentials prevent it.
fn process(inner: &Inner, incoming: &Incoming, logged: &mut Logged) -> Outgoing {
    let Some(mut world) = patient(&inner.world) else {
        let body = json!({"message": "the test keeps the fake's world"}).to_string();
        return Outgoing { status: 500, headers: Vec::new(), body };
    };
    if let Some(log) = log_of(&world, incoming) {
        return log;
    }
    if let Some(refused) = refuse(&world, incoming) {
        return outgoing(&world, &refused, &[]);
    }
    if let Some(out) = fault_before(&world, logged.fault) {
        return out;
    }
    let fail_alias = match logged.fault {
        Some(Fault::AliasFails(at)) => Some(at),
        _ => None,
    };
    let mut reply = execute(&mut world, inner.level, &incoming.body, fail_alias);
    (logged.processed, logged.points) = (true, reply.points);
    if logged.fault == Some(Fault::ResourceLimits) && logged.kind == "query" {
        cut_data(&mut reply.body);
    }
    if logged.fault == Some(Fault::BadGatewayAfter) {
        return bad_gateway(&world);
    }
    outgoing(&world, &reply, &[])
}

/// A job's log: the API redirects authorized requests to another URL, which accepts no token.
fn log_of(world: &World, incoming: &Incoming) -> Option<Outgoing> {
    let plain =
        |status, body: String| Some(Outgoing { status, headers: vec![("content-type", "text/plain".into())], body });
    if incoming.method != "GET" {
        return None;
    }
    let has_token = !incoming.header("authorization").is_empty();
    if let Some(job) = incoming.path.strip_prefix("/blob/") {
        let log = job.parse().ok().and_then(|job| world.job_log(job)).filter(|_| !has_token);
        return log.map_or_else(|| plain(400, "no token is taken here".into()), |log| plain(200, log));
    }
    let job: u64 = incoming.path.strip_suffix("/logs")?.rsplit_once("/actions/jobs/")?.1.parse().ok()?;
    if !has_token || world.job_log(job).is_none() {
        return plain(404, "Not Found".into());
    }
    let place = format!("http://{}/blob/{job}", incoming.header("host"));
    Some(Outgoing { status: 302, headers: vec![("location", place)], body: String::new() })
}

/// Refusals before the query is read.
fn refuse(world: &World, incoming: &Incoming) -> Option<Reply> {
    if incoming.header("user-agent").is_empty() {
        let text = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header";
        return Some(Reply::new(403, json!({"message": text})));
    }
    if incoming.method != "POST" || incoming.path != "/graphql" {
        return Some(Reply::new(404, json!({"message": "Not Found"})));
    }
    let (scheme, token) = incoming.header("authorization").split_once(' ').unwrap_or_default();
    let known = matches!(scheme.to_lowercase().as_str(), "bearer" | "token") && token.trim() == TOKEN;
    if !known || world.revoked {
        return Some(Reply::new(
            401,
            json!({"message": "Bad credentials", "documentation_url": "https://docs.github.com/graphql"}),
        ));
    }
    if !incoming.header("content-type").starts_with("application/json") {
        return Some(Reply::new(415, json!({"message": "Content-Type must be application/json"})));
    }
    None
}

/// The answers of faults that prevent the request from being processed.
fn fault_before(world: &World, fault: Option<Fault>) -> Option<Outgoing> {
    let secondary = json!({
        "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        "documentation_url": "https://docs.github.com/graphql/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits",
    });
    let after = |seconds: Option<u64>| -> Vec<(&'static str, String)> {
        seconds.map(|s| ("retry-after", s.to_string())).into_iter().collect()
    };
    Some(match fault? {
        Fault::DropBefore | Fault::HoldBefore => outgoing(world, &Reply::new(500, json!({})), &[]),
        Fault::BadGateway => bad_gateway(world),
        Fault::Forbidden { retry_after } => outgoing(world, &Reply::new(403, secondary), &after(retry_after)),
        Fault::TooMany { retry_after } => outgoing(world, &Reply::new(429, secondary), &after(retry_after)),
        Fault::RateLimited => exhausted(world, "RATE_LIMITED"),
        Fault::RateLimit => exhausted(world, "RATE_LIMIT"),
        Fault::TooQuickly => {
            let error = json!({"type": "UNPROCESSABLE", "message": "was submitted too quickly"});
            outgoing(world, &Reply::new(200, json!({"data": null, "errors": [error]})), &[])
        }
        _ => return None,
    })
}

fn exhausted(world: &World, kind: &str) -> Outgoing {
    let soon = (world.now.as_second() + 1).to_string();
    let replaced = [("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", soon)];
    outgoing(world, &rate_limited(world, kind), &replaced)
}

fn bad_gateway(world: &World) -> Outgoing {
    let headers = vec![("content-type", "text/html".into()), ("date", date(world.now))];
    Outgoing { status: 502, headers, body: HTML.into() }
}

/// The usual headers; `replaced` wins over those of the same name.
fn outgoing(world: &World, reply: &Reply, replaced: &[(&'static str, String)]) -> Outgoing {
    let mut headers = vec![
        ("content-type", "application/json; charset=utf-8".to_owned()),
        ("date", date(world.now)),
        ("x-github-request-id", format!("FA6E:{:X}", world.now.as_second())),
    ];
    if reply.status != 401 {
        headers.push(("x-ratelimit-limit", world.points_limit.to_string()));
        headers.push(("x-ratelimit-remaining", world.points_remaining().to_string()));
        headers.push(("x-ratelimit-used", world.points_used.to_string()));
        headers.push(("x-ratelimit-reset", world.points_reset.as_second().to_string()));
        headers.push(("x-ratelimit-resource", "graphql".to_owned()));
    }
    // Fine-grained tokens have no scopes, so this header is missing.
    if reply.status != 401 && !world.fine_grained {
        headers.push(("x-oauth-scopes", world.scopes.join(", ")));
    }
    headers.retain(|(name, _)| replaced.iter().all(|(r, _)| r != name));
    headers.extend(replaced.iter().cloned());
    Outgoing { status: reply.status, headers, body: reply.body.to_string() }
}

//! The web board: the verbs over HTTP for one page, and the page itself, which is part of the binary.
//!
//! ```text
//! door.rs      who is let in, and what a browser may do with an answer
//! routes.rs    which path is whose; assets.rs the page's own files
//! api/         reading, changing, and what refusals look like
//! events.rs    what changes, told as it happens; memo.rs what is computed once for all who ask
//! board.rs     the columns as slim cards
//! markdown.rs  texts of people as HTML that cannot do anything
//! graph.rs, charts.rs, svg.rs   drawings
//! report/      the same as one file, without a server
//! assets/      the page: HTML, styles and modules as a browser reads them
//! ```

mod api;
mod assets;
mod board;
mod charts;
mod door;
mod events;
mod graph;
mod markdown;
mod memo;
mod report;
mod routes;
mod svg;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use tokio::net::TcpListener;

use crate::app::{Failure, Options, Workspace, serve_token};
use board::Drawn;
use door::Door;
use events::Feed;
use memo::Memo;

pub use report::report;

/// How the board is served.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub address: Option<SocketAddr>,
    pub read_only: bool,
    /// Other machines may come, too.
    pub allow_remote: bool,
    /// Names under which they know this one.
    pub hosts: Vec<String>,
}

/// Where a person may put the token.
pub const TOKEN: &str = "RALPH_WEB_TOKEN";
/// Tried first where no address is given, so that a bookmark holds.
const PORT: u16 = 7431;

/// Everything that requests share.
struct Site {
    options: Options,
    door: Door,
    feed: Feed,
    boards: Memo<Drawn>,
    /// As they are sent.
    answers: Memo<String>,
}

/// Serves until it is interrupted. `opened` hears the address of the page once it can be asked for.
pub fn serve(options: &Options, wanted: &Wanted, opened: &dyn Fn(&str)) -> Result<(), Failure> {
    let ws = Workspace::open(options)?;
    let given = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let token = given.map_or_else(|| serve_token(&ws), Ok)?;
    drop(ws);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|error| Failure::broken("io", format!("cannot start the server: {error}")))?;
    // Dropped at the end, the runtime waits for verbs that are in the middle of their work.
    runtime.block_on(async {
        let listener = listen(wanted).await?;
        let place = listener.local_addr().map_err(|error| cannot_listen("the address", &error))?;
        let site = Arc::new(Site {
            options: options.clone(),
            door: Door::new(place, wanted, token.clone()),
            feed: Feed::new()?,
            boards: Memo::default(),
            answers: Memo::default(),
        });
        events::watch(&site)?;
        // The first page is not to wait for the first look at a large board.
        drop(tokio::spawn(api::board(State(Arc::clone(&site)), Uri::from_static("/api/board?"))));
        opened(&address(place, &token, wanted.read_only && !site.door.is_remote()));
        run(listener, routes::routes(site)).await
    })
}

/// Verbs that run at the same time; those that write wait for each other anyway.
const THREADS: usize = 16;

async fn run(listener: TcpListener, routes: Router) -> Result<(), Failure> {
    // Pages that listen for changes never hang up by themselves, so nobody waits for them.
    tokio::select! {
        served = async { axum::serve(listener, routes).await } => {
            served.map_err(|error| Failure::broken("io", format!("the server stopped: {error}")))
        }
        () = stopped() => Ok(()),
    }
}

async fn stopped() {
    let ended = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = ended => {}
    }
}

/// The page, with what it needs to change something after the `#`, where servers and logs do not see it.
fn address(place: SocketAddr, token: &str, plain: bool) -> String {
    let host =
        if place.ip().is_unspecified() { SocketAddr::new(Ipv4Addr::LOCALHOST.into(), place.port()) } else { place };
    if plain { format!("http://{host}/") } else { format!("http://{host}/#token={token}") }
}

async fn listen(wanted: &Wanted) -> Result<TcpListener, Failure> {
    if let Some(address) = wanted.address {
        if !address.ip().is_loopback() && !wanted.allow_remote {
            return Err(Failure::usage("not-loopback", format!("{address} can be reached from other machines"))
                .advice("use 127.0.0.1:PORT, or say `--allow-remote`: then everybody needs the token"));
        }
        return TcpListener::bind(address).await.map_err(|error| cannot_listen(&address.to_string(), &error));
    }
    let here = |port: u16| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    match TcpListener::bind(here(PORT)).await {
        Ok(listener) => Ok(listener),
        // Another board is served there.
        Err(_) => TcpListener::bind(here(0)).await.map_err(|error| cannot_listen("127.0.0.1", &error)),
    }
}

fn cannot_listen(place: &str, error: &std::io::Error) -> Failure {
    Failure::broken("io", format!("cannot listen on {place}: {error}"))
        .advice("give another with `--addr 127.0.0.1:PORT`")
}

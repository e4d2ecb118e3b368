//! The web board: the verbs over HTTP for one page, and the page itself, which is part of the binary.
//!
//! ```text
//! listen.rs    the address to listen on, and the URL of the page; accept.rs connections
//! access.rs    access control and response headers
//! routes.rs    the routes; assets.rs static files
//! api/         read and write endpoints, and failures
//! events.rs    pushes changes; memo.rs caches answers
//! board.rs     the columns as slim cards
//! markdown.rs  Markdown as safe HTML
//! graph.rs, charts.rs, svg.rs   drawings; chains.rs which tasks are drawn together
//! report/      the board as one file, without a server
//! assets/      the page: HTML, styles and modules as a browser reads them
//! ```

mod accept;
mod access;
mod api;
mod assets;
mod board;
mod chains;
mod charts;
mod events;
mod graph;
mod listen;
mod markdown;
mod memo;
mod report;
mod routes;
mod svg;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use tokio::net::TcpListener;

use crate::app::{Code, Failure, Hint, Options, Workspace, serve_token};
use crate::os::signals::terminated;
use crate::task::TaskId;
use accept::{Limits, accept};
use access::AccessRules;
use board::Drawn;
use events::Feed;
use listen::{cannot_listen, listen};
use memo::Memo;

pub use listen::Address;
pub use report::report;

/// How the board is served.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub address: Option<SocketAddr>,
    pub read_only: bool,
    /// Lets other machines connect, too.
    pub allow_remote: bool,
    /// The names that other machines use for this one.
    pub hosts: Vec<String>,
}

/// The variable for a fixed token.
pub const TOKEN: &str = "RALPH_WEB_TOKEN";

/// The data that all requests share.
struct Site {
    options: Options,
    access: AccessRules,
    feed: Feed,
    boards: Memo<Drawn>,
    /// The answers as they are sent.
    answers: Memo<String>,
    start_team: StartTeam,
}

/// Makes the command that runs a team on a task.
pub type StartTeam = Box<dyn Fn(&TaskId) -> Result<Command, Failure> + Send + Sync>;

/// Serves until it is interrupted. `opened` is called with the address of the page once the server listens.
pub fn serve(
    options: &Options,
    wanted: &Wanted,
    start_team: StartTeam,
    opened: &dyn Fn(&Address),
) -> Result<(), Failure> {
    let token = token(&Workspace::open(options)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|error| Failure::broken(Code::Io, format!("cannot start the server: {error}")))?;
    // When the runtime is dropped at the end, it waits for verbs that are still running.
    runtime.block_on(async {
        let listener = listen(wanted).await?;
        let place = listener.local_addr().map_err(|error| cannot_listen("the address", &error))?;
        let site = Arc::new(Site {
            options: options.clone(),
            access: AccessRules::new(place, wanted, token.clone()),
            feed: Feed::new()?,
            boards: Memo::default(),
            answers: Memo::default(),
            start_team,
        });
        events::watch(&site)?;
        // Reads a large board in advance, so that the first page loads faster.
        drop(tokio::spawn(api::board(State(Arc::clone(&site)), Uri::from_static("/api/board?"))));
        opened(&Address::new(place, wanted, Some(&token)));
        run(listener, routes::routes(site)).await;
        Ok(())
    })
}

/// The token from the environment, or a generated one.
fn token(ws: &Workspace) -> Result<String, Failure> {
    let given = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    if given.as_ref().is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Failure::usage(Code::BadToken, format!("{TOKEN} has characters that a browser cannot send"))
            .hint(Hint::step("use letters, digits and punctuation, without spaces")));
    }
    given.map_or_else(|| serve_token(ws), Ok)
}

/// The maximum number of verbs that run at the same time; those that write wait for each other anyway.
const THREADS: usize = 16;

async fn run(listener: TcpListener, routes: Router) {
    // Pages that listen for changes never disconnect by themselves, so the server does not wait for them.
    tokio::select! {
        () = accept(listener, routes, Limits::default()) => {}
        () = terminated() => {}
    }
}

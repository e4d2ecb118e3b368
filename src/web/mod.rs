//! The web board: the verbs over HTTP for one page, and the page itself, which is part of the binary.
//!
//! ```text
//! listen.rs    where it listens, and under which address it is found; accept.rs connections
//! access.rs    access control and response headers
//! routes.rs    the routes; assets.rs static files
//! api/         read and write endpoints, and failures
//! events.rs    pushes changes; memo.rs caches answers
//! board.rs     the columns as slim cards
//! markdown.rs  Markdown as safe HTML
//! graph.rs, charts.rs, svg.rs   drawings; chains.rs which tasks are drawn together
//! report/      the same as one file, without a server
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
    /// Other machines may come, too.
    pub allow_remote: bool,
    /// Names under which they know this one.
    pub hosts: Vec<String>,
}

/// Where a person may put the token.
pub const TOKEN: &str = "RALPH_WEB_TOKEN";

/// Everything that requests share.
struct Site {
    options: Options,
    access: AccessRules,
    feed: Feed,
    boards: Memo<Drawn>,
    /// As they are sent.
    answers: Memo<String>,
    start_team: StartTeam,
}

/// The program that is a team on a task.
pub type StartTeam = Box<dyn Fn(&TaskId) -> Result<Command, Failure> + Send + Sync>;

/// Serves until it is interrupted. `opened` hears the address of the page once it can be asked for.
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
    // Dropped at the end, the runtime waits for verbs that are in the middle of their work.
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
        // The first page is not to wait for the first look at a large board.
        drop(tokio::spawn(api::board(State(Arc::clone(&site)), Uri::from_static("/api/board?"))));
        opened(&Address::new(place, wanted, Some(&token)));
        run(listener, routes::routes(site)).await;
        Ok(())
    })
}

/// What a person has given, or one of its own.
fn token(ws: &Workspace) -> Result<String, Failure> {
    let given = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    if given.as_ref().is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Failure::usage(Code::BadToken, format!("{TOKEN} has characters that a browser cannot send"))
            .hint(Hint::step("use letters, digits and punctuation, without spaces")));
    }
    given.map_or_else(|| serve_token(ws), Ok)
}

/// Verbs that run at the same time; those that write wait for each other anyway.
const THREADS: usize = 16;

async fn run(listener: TcpListener, routes: Router) {
    // Pages that listen for changes never hang up by themselves, so nobody waits for them.
    tokio::select! {
        () = accept(listener, routes, Limits::default()) => {}
        () = terminated() => {}
    }
}

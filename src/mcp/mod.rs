//! The Model Context Protocol server: each tool parses its arguments, calls one verb, and answers with its result.
//!
//! ```text
//! server.rs     requests of the protocol → tools, resources, prompts
//! caller.rs     the caller, its claims, and how a verb runs for it
//! tool.rs       a tool: its schemas and its call
//! tools/        the tools of the board, one file each
//! hero/         the same board under the names and shapes of ralph-hero's tools
//! reply.rs      answers: compact tasks, refusals, byte budgets, cursors; words.rs the hints of refusals
//! resources.rs  the board, the workflow, tasks and documents as resources; prompts.rs the prompts
//! feed.rs       changes of the board for subscribers
//! stdio.rs      messages over a pipe; http.rs messages over loopback
//! ```

mod accepted;
mod caller;
mod feed;
mod hero;
mod http;
mod prompts;
mod reply;
mod resources;
mod server;
mod stdio;
mod tool;
mod tools;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::ServiceExt as _;

use crate::app::{Code, Failure, Options};
use crate::os::signals::terminated;
use server::Server;

/// The names of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    #[default]
    Board,
    /// The names that ralph-hero's agents and skills call.
    Hero,
}

/// The options of the server.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub profile: Profile,
    pub read_only: bool,
    /// The address for HTTP; if there is none, stdin and stdout are used.
    pub http: Option<SocketAddr>,
}

/// Serves until the client disconnects or a signal arrives. `tell` gets messages for the person.
pub fn serve(options: &Options, wanted: &Wanted, tell: &dyn Fn(&str)) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|error| Failure::broken(Code::Io, format!("cannot start the server: {error}")))?;
    // When the runtime is dropped at the end, it waits for verbs that are still running.
    runtime.block_on(async {
        let server = Server::new(options.clone(), wanted)?;
        match wanted.http {
            Some(address) => http::serve(&server, address, tell).await,
            None => piped(server).await,
        }
    })
}

/// The maximum number of verbs that run at the same time. High, because clients that wait for work must not block others.
const THREADS: usize = 512;

async fn piped(server: Server) -> Result<(), Failure> {
    let caller = Arc::clone(&server.caller);
    let pipes = stdio::Pipes::new(Arc::clone(&server.gone));
    // A client that disconnects before its first message is no failure.
    let Ok(running) = server.serve(pipes).await else { return Ok(()) };
    // Hosts end their servers in different ways; the session's claims are released in each case.
    tokio::select! {
        _ = running.waiting() => {}
        () = terminated() => {}
    }
    let left = tokio::task::spawn_blocking(move || caller.leave());
    // If the board no longer exists, there is nothing to release.
    let _ = left.await;
    Ok(())
}

//! The Model Context Protocol server: each tool parses, calls one verb, and answers with what it returns.
//!
//! ```text
//! server.rs     what the protocol asks → tools, resources, prompts
//! caller.rs     who calls, what it holds, how a verb is run for it
//! tool.rs       a tool: its schemas and its call
//! tools/        the tools of the board, one file each
//! hero/         the same board under the names and shapes of ralph-hero's tools
//! reply.rs      answers: compact tasks, refusals, byte budgets, cursors; words.rs their next step
//! resources.rs  the board, the workflow, tasks and documents as resources; prompts.rs the prompts
//! feed.rs       what changes on the board, for those who subscribe
//! stdio.rs      messages over a pipe; http.rs messages over loopback
//! ```

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
    /// Else over stdin and stdout.
    pub http: Option<SocketAddr>,
}

/// Serves until the client disconnects or a signal arrives. `tell` gets messages for the person.
pub fn serve(options: &Options, wanted: &Wanted, tell: &dyn Fn(&str)) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|error| Failure::broken(Code::Io, format!("cannot start the server: {error}")))?;
    // Dropped at the end, the runtime waits for verbs that are in the middle of their work.
    runtime.block_on(async {
        let server = Server::new(options.clone(), wanted)?;
        match wanted.http {
            Some(address) => http::serve(&server, address, tell).await,
            None => piped(server).await,
        }
    })
}

/// Verbs that run at the same time, most of them of clients that wait for work: those must not keep others from an answer.
const THREADS: usize = 512;

async fn piped(server: Server) -> Result<(), Failure> {
    let caller = Arc::clone(&server.caller);
    let pipes = stdio::Pipes::new(Arc::clone(&server.gone));
    // A client that goes away before it has said anything is no failure.
    let Ok(running) = server.serve(pipes).await else { return Ok(()) };
    // Hosts end their servers in each of these ways; what this session holds is given back in all of them.
    tokio::select! {
        _ = running.waiting() => {}
        () = terminated() => {}
    }
    let left = tokio::task::spawn_blocking(move || caller.leave());
    // A board that is gone by now has nothing to give back.
    let _ = left.await;
    Ok(())
}

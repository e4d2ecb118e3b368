//! The server over HTTP on loopback, for clients that need it. Every request needs a token, and pages of other sites are refused.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::Server;
use crate::app::{Code, Failure, Hint, fresh_token, is_same_token};

/// The variable for a fixed token, so that clients keep it when the server restarts.
pub const TOKEN: &str = "RALPH_MCP_TOKEN";

pub async fn serve(server: &Server, address: SocketAddr, tell: &dyn Fn(&str)) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        return Err(Failure::usage(Code::NotLoopback, format!("{address} can be reached from other machines"))
            .hint(Hint::step("use 127.0.0.1:PORT")));
    }
    let cannot = |error: std::io::Error| Failure::broken(Code::Io, format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let place = listener.local_addr().map_err(cannot)?;
    let given = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let token = given.clone().map_or_else(fresh_token, Ok)?;
    tell(&format!("serving on http://{place}/mcp"));
    if given.is_none() {
        tell(&format!("clients send the header `Authorization: Bearer {token}`"));
    }
    tell(&format!("clients give their worker name in the header `{}: NAME`", super::caller::HEADER));
    let served = axum::serve(listener, routes(server.clone(), token)).with_graceful_shutdown(stopped());
    tokio::select! {
        done = served.into_future() => done.map_err(cannot),
        // Ends without waiting for clients that listen or wait for work, which would take forever.
        () = async { stopped().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}

/// How long a session may be silent: an agent may be thinking or waiting for work. Its claims expire with their leases
/// nevertheless.
const SILENT: Duration = Duration::from_secs(24 * 60 * 60);
/// The time for pending responses at the end.
const GRACE: Duration = Duration::from_millis(500);

fn routes(server: Server, token: String) -> Router {
    // Browsers send an origin: only pages of this machine are accepted, and they need the token, too.
    let own = ["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(own);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SILENT);
    // A session is a separate worker; a request without a session must name its worker.
    let service = StreamableHttpService::new(move || Ok(server.for_client(None)), Arc::new(sessions), config);
    Router::new().nest_service("/mcp", service).layer(from_fn_with_state(Arc::new(token), let_in))
}

async fn let_in(State(token): State<Arc<String>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if !is_same_token(shown, &token) {
        let asks = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, asks, "send the token that `ralph mcp --http` printed\n").into_response();
    }
    next.run(request).await
}

async fn stopped() {
    let _ = tokio::signal::ctrl_c().await;
}

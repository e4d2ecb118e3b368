//! Accepts connections, with limits on their number and on the time for a request.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Limits for untrusted clients.
pub struct Limits {
    /// The time to receive the head of a request, or the start of the next request.
    pub head: Duration,
    /// The maximum number of connections from this machine, and from others. They are separate, so that others cannot use up all.
    pub own: usize,
    pub strange: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: Duration::from_secs(15), own: 512, strange: 256 }
    }
}

/// The pause if there are no descriptors left for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until it is dropped.
pub async fn accept(listener: TcpListener, routes: Router, limits: Limits) {
    let (own, strange) = (Arc::new(Semaphore::new(limits.own)), Arc::new(Semaphore::new(limits.strange)));
    let room = |ip: IpAddr| Arc::clone(if ip.to_canonical().is_loopback() { &own } else { &strange });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        // Excess connections are closed, because a queue of them could grow without limit.
        let Ok(place) = room(peer.ip()).try_acquire_owned() else { continue };
        let served = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            let _ = served.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};

    use super::*;

    fn serve(limits: Limits) -> SocketAddr {
        let (tell, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                accept(listener, Router::new().route("/", axum::routing::get(|| async { "here" })), limits).await;
            });
        });
        heard.recv().unwrap()
    }

    fn says(place: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(place).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn hears(mut stream: TcpStream) -> String {
        let mut heard = Vec::new();
        match stream.read_to_end(&mut heard) {
            // The connection was closed before the request was read.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            read => drop(read.unwrap()),
        }
        String::from_utf8(heard).unwrap()
    }

    const WHOLE: &str = "GET / HTTP/1.1\r\nhost: here\r\n\r\n";

    #[test]
    fn who_never_ends_a_head_or_never_asks_again_is_hung_up_on() {
        let place = serve(Limits { head: Duration::from_millis(50), ..Limits::default() });
        for half in ["", "GET / HTTP/1.1\r\nhost: he"] {
            assert!(!hears(says(place, half)).contains("here\r\n"), "{half:?}");
        }
        assert!(hears(says(place, WHOLE)).ends_with("here"), "what is whole is answered, and then not waited for");
    }

    #[test]
    fn one_connection_too_many_is_not_kept() {
        let place = serve(Limits { own: 1, ..Limits::default() });
        let mut first = says(place, WHOLE);
        first.read_exact(&mut [0]).unwrap();
        assert_eq!(hears(says(place, "")), "");
        drop(first);
        // The place becomes free a moment later.
        let close = WHOLE.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        while !hears(says(place, &close)).ends_with("here") {}
    }
}

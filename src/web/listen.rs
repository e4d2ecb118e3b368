//! The address that the server listens on, and the URL for a browser.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use tokio::net::TcpListener;

use super::Wanted;
use crate::app::{Code, Failure, Hint};

/// The port that is tried first if no address is given, so that bookmarks stay valid.
const PORT: u16 = 7431;

/// The address of the page.
#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    pub url: String,
    /// Other machines can connect, but their name for this machine is unknown.
    pub nameless: bool,
}

impl Address {
    /// Builds the URL. The token is after the `#`, so that it does not appear in requests and logs.
    pub fn new(place: SocketAddr, wanted: &Wanted, token: Option<&str>) -> Self {
        let named = wanted.hosts.first().filter(|_| !place.ip().is_loopback());
        let seen = if place.ip().is_unspecified() { outward() } else { Some(place.ip()) };
        let host = match (named, seen) {
            (Some(name), _) => format!("{name}:{}", place.port()),
            (None, ip) => SocketAddr::new(ip.unwrap_or(Ipv4Addr::LOCALHOST.into()), place.port()).to_string(),
        };
        let token = token.map(|token| {
            let escaped: String = form_urlencoded::byte_serialize(token.as_bytes()).collect();
            format!("#token={escaped}")
        });
        let url = format!("http://{host}/{}", token.unwrap_or_default());
        Self { url, nameless: named.is_none() && seen.is_none() }
    }
}

/// This machine's address on its network: that of the route to a reserved address. Nothing is sent.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

pub async fn listen(wanted: &Wanted) -> Result<TcpListener, Failure> {
    if let Some(address) = wanted.address {
        if !address.ip().is_loopback() && !wanted.allow_remote {
            return Err(Failure::usage(Code::NotLoopback, format!("{address} can be reached from other machines"))
                .hint(Hint::step("use 127.0.0.1:PORT"))
                .hint(Hint::option("--allow-remote", "to let other machines connect with the token")));
        }
        return TcpListener::bind(address).await.map_err(|error| cannot_listen(&address.to_string(), &error));
    }
    // With `allow_remote`, the server must be reachable from other machines.
    let ip = if wanted.allow_remote { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
    match TcpListener::bind((ip, PORT)).await {
        Ok(listener) => Ok(listener),
        // Another board probably uses the port.
        Err(_) => TcpListener::bind((ip, 0)).await.map_err(|error| cannot_listen(&ip.to_string(), &error)),
    }
}

pub fn cannot_listen(place: &str, error: &std::io::Error) -> Failure {
    Failure::broken(Code::Io, format!("cannot listen on {place}: {error}"))
        .hint(Hint::option("--addr 127.0.0.1:PORT", "to use another address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(place: &str, hosts: &[&str], token: Option<&str>) -> String {
        let wanted = Wanted { hosts: hosts.iter().map(ToString::to_string).collect(), ..Wanted::default() };
        Address::new(place.parse().unwrap(), &wanted, token).url
    }

    #[test]
    fn the_address_is_one_that_its_reader_can_use() {
        assert_eq!(url("127.0.0.1:7431", &[], None), "http://127.0.0.1:7431/");
        assert_eq!(url("10.0.0.5:80", &[], Some("abc")), "http://10.0.0.5:80/#token=abc");
        assert_eq!(url("0.0.0.0:7431", &["board.lan"], Some("abc")), "http://board.lan:7431/#token=abc");
        assert!(!url("0.0.0.0:7431", &[], None).contains("0.0.0.0"), "nobody can open that one");
    }

    #[test]
    fn a_token_of_any_letters_survives_the_address() {
        let odd = "a+b&c=%d#e";
        let url = url("127.0.0.1:1", &[], Some(odd));
        let (_, after) = url.split_once('#').unwrap();
        let read: Vec<(String, String)> = form_urlencoded::parse(after.as_bytes()).into_owned().collect();
        assert_eq!(read, [("token".to_owned(), odd.to_owned())], "{url}");
    }
}

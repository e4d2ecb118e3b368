//! The ways in which a server can fail its clients, and the expected message for each.

use super::Machine;
use super::proxy::Way;

/// The protocol of the machine's remote URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
    Ssh,
    Git,
}

#[derive(Debug, Clone, Copy)]
pub struct Trouble {
    pub scheme: Scheme,
    pub way: Way,
    /// The message contains one of these.
    pub says: &'static [&'static str],
}

const TIMED_OUT: &[&str] = &["timed out"];
const REFUSED: &[&str] = &["refused"];
/// git and ssh word this in many ways; any of them will do, except a timeout.
const CLOSED: &[&str] = &["closed", "reset", "hung up", "lost", "broken off", "disconnect", "early EOF", "empty reply"];

const fn trouble(scheme: Scheme, way: Way, says: &'static [&'static str]) -> Trouble {
    Trouble { scheme, way, says }
}

/// Twelve that do not end soon by themselves, and four that end at once.
pub const TROUBLES: [Trouble; 16] = [
    trouble(Scheme::Http, Way::NoAnswer, TIMED_OUT),
    trouble(Scheme::Http, Way::Silent, TIMED_OUT),
    trouble(Scheme::Http, Way::HoleAfter(300), TIMED_OUT),
    trouble(Scheme::Http, Way::Drip, TIMED_OUT),
    trouble(Scheme::Http, Way::HeaderOnly, TIMED_OUT),
    trouble(Scheme::Http, Way::EndlessHeader, TIMED_OUT),
    trouble(Scheme::Http, Way::EndlessAnswer, TIMED_OUT),
    trouble(Scheme::Https, Way::HalfHandshake, TIMED_OUT),
    trouble(Scheme::Ssh, Way::Silent, TIMED_OUT),
    trouble(Scheme::Ssh, Way::EndlessBanner, TIMED_OUT),
    trouble(Scheme::Ssh, Way::HoleAfter(3000), TIMED_OUT),
    trouble(Scheme::Git, Way::Silent, TIMED_OUT),
    trouble(Scheme::Http, Way::Refuse, REFUSED),
    trouble(Scheme::Ssh, Way::Refuse, REFUSED),
    trouble(Scheme::Http, Way::CutAfter(100), CLOSED),
    trouble(Scheme::Ssh, Way::Drop, CLOSED),
];

impl Trouble {
    pub fn name(&self) -> String {
        format!("{:?} {:?}", self.scheme, self.way)
    }

    /// Makes the machine's server fail this way.
    pub fn befall(&self, machine: &Machine) {
        let port = machine.proxy.port;
        let other = match self.scheme {
            Scheme::Https => Some(format!("https://127.0.0.1:{port}/hub.git")),
            Scheme::Git => Some(format!("git://127.0.0.1:{port}/hub.git")),
            Scheme::Http | Scheme::Ssh => None,
        };
        if let Some(url) = other {
            machine.go_to(&url);
        }
        machine.proxy.set(self.way);
    }
}

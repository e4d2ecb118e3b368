//! A strict, stateful fake of GitHub's GraphQL API on a loopback port.
//!
//! Section signs (§) in comments refer to the research notes on syncing with GitHub.

#![allow(dead_code, unused_imports)] // a test binary uses only a part of it

mod answer;
mod cost;
mod exec;
mod fault;
pub(crate) mod http;
mod invalid;
mod page;
mod read;
mod sample;
mod schema;
mod scopes;
mod server;
mod world;
mod write;

pub use self::fault::{Fault, Logged};
pub use self::sample::{Sample, sample};
pub use self::schema::{Level, validate};
pub use self::server::Fake;
pub use self::world::*;

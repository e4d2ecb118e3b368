//! `ralph mcp`: malformed input, identity of callers, many clients at once, crashes, and the official clients.

mod clients;
mod crashes;
mod faults;
mod feed;
mod identity;
mod lists;
mod loopback;
mod many;
mod session;

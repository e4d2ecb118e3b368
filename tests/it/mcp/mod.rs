//! `ralph mcp`: what comes over the pipe, who calls, many at once, sudden ends, and the official clients.

mod clients;
mod crashes;
mod faults;
mod feed;
mod identity;
mod lists;
mod loopback;
mod many;
mod session;

//! A range of free ports for each worktree, so that servers in different worktrees do not conflict.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use super::record::taken_ports;
use crate::app::{Code, Failure, Hint, Workspace};

/// Below the ephemeral ports of outgoing connections (Linux from 32768, macOS and Windows from 49152).
const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// The first of `worktree.ports` consecutive ports that no other worktree has and on which no process listens.
pub(super) fn free_ports(ws: &Workspace) -> Result<Option<u16>, Failure> {
    let width = ws.settings.number("worktree.ports").unwrap_or_default();
    if width == 0 {
        return Ok(None);
    }
    let full = || {
        Failure::broken(Code::NoPorts, format!("cannot find {width} consecutive free ports between {FIRST} and {LAST}"))
            .hint(Hint::set("worktree.ports", "5", "to use fewer for each worktree"))
            .hint(Hint::set("worktree.ports", "0", "to use none"))
    };
    let width = u16::try_from(width).map_err(|_| full())?;
    let taken = taken_ports(ws)?;
    // Repositories do not know each other's ports, so each starts its search at a different place.
    let start = crc32fast::hash(ws.repository.common.as_os_str().as_encoded_bytes());
    let is_free = |first: &u16| {
        let mut own = *first..*first + width;
        let is_untaken = taken.iter().all(|other| other + width <= own.start || *other >= own.end);
        is_untaken && own.all(nobody_listens)
    };
    candidates(width, start).find(is_free).map(Some).ok_or_else(full)
}

/// Every range of `width` ports; `start` chooses the first one.
fn candidates(width: u16, start: u32) -> impl Iterator<Item = u16> {
    let ranges = u32::from((LAST - FIRST) / width);
    let nth = move |n: u32| FIRST + u16::try_from((start % ranges + n) % ranges).unwrap_or_default() * width;
    (0..ranges).map(nth)
}

/// Checks both addresses of `localhost`, because some programs listen only on the second. A machine may lack IPv6.
fn nobody_listens(port: u16) -> bool {
    let bind = |address: IpAddr| TcpListener::bind((address, port)).map(|_| ()).map_err(|error| error.kind());
    bind(Ipv4Addr::LOCALHOST.into()).is_ok() && !matches!(bind(Ipv6Addr::LOCALHOST.into()), Err(ErrorKind::AddrInUse))
}

/// `RALPH_PORT` is the first port, `RALPH_PORT_COUNT` the number of ports.
pub(super) fn variables(ws: &Workspace, port: Option<u16>) -> Vec<(&'static str, OsString)> {
    let Some(port) = port else { return Vec::new() };
    let count = ws.settings.text("worktree.ports").into();
    vec![("RALPH_PORT", port.to_string().into()), ("RALPH_PORT_COUNT", count)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_tried_once_and_none_overlaps_another() {
        for start in [0, 7, u32::MAX] {
            let mut all: Vec<u16> = candidates(10, start).collect();
            assert_eq!(all[0], FIRST + u16::try_from(start % 1200).unwrap() * 10);
            all.sort_unstable();
            assert_eq!(all.len(), 1200);
            assert!(all.windows(2).all(|pair| pair[1] - pair[0] == 10) && all[0] == FIRST && all[1199] + 10 <= LAST);
        }
    }
}

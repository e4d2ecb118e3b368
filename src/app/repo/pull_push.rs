//! `pull` and `push`: exchange the board between clones, without any code.

use std::time::Duration;

use crate::app::workspace::remote::exchange::{Incoming, bring_in, committed, refuse_code};
use crate::app::workspace::remote::publish_missing;
use crate::app::{Code, Failure, FailureKind, Hint, Shared, Workspace};
use crate::git::Pushed;
use crate::store::merge::Side;

/// How often a push is tried again after others pushed first.
const TRIES: u32 = 10;

/// `take` chooses the side whose value counts if both changed the same field.
pub fn pull(ws: &Workspace, remote: Option<&str>, take: Option<Side>) -> Result<Shared, Failure> {
    let upstream = ws.repository.upstream(remote)?;
    if !ws.repository.fetch(&upstream)? {
        let message = format!("{} has no branch {} yet", upstream.remote, upstream.theirs);
        return Err(Failure::refused(Code::NoRemoteBranch, message).hint(Hint::run("push", "to create it")));
    }
    let shared = bring_in(ws, &upstream, take, Incoming::Board)?;
    tell_claims(ws);
    Ok(shared)
}

pub fn push(ws: &Workspace, remote: Option<&str>, take: Option<Side>) -> Result<Shared, Failure> {
    let upstream = ws.repository.upstream(remote)?;
    let mut all: Option<Shared> = None;
    for attempt in 0..TRIES {
        let there = ws.repository.fetch(&upstream)?;
        let shared = if there { bring_in(ws, &upstream, take, Incoming::Board)? } else { committed(ws, &upstream)? };
        let mut shared = joined(all.take(), shared);
        if there && ws.repository.contains(&upstream.tracking(), &format!("refs/heads/{}", upstream.branch)) {
            tell_claims(ws);
            return Ok(shared);
        }
        refuse_code(ws, &upstream, there)?;
        if ws.repository.push(&upstream)? != Pushed::Behind {
            shared.pushed = true;
            tell_claims(ws);
            return Ok(shared);
        }
        all = Some(shared);
        let pause = ws.rng().u64(10..=50) << attempt.min(5);
        std::thread::sleep(Duration::from_millis(pause));
    }
    let message = format!("the push was rejected {TRIES} times in a row, because others pushed first");
    Err(Failure::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry))
}

/// Publishes the claims that the remote lacks. The board is already exchanged, so a failure is only reported; the next
/// exchange tries again.
fn tell_claims(ws: &Workspace) {
    if let Err(failure) = publish_missing(ws) {
        ws.notice(format!("the claims were not published: {}", failure.message));
    }
}

fn joined(before: Option<Shared>, mut now: Shared) -> Shared {
    if let Some(before) = before {
        now.committed = now.committed.or(before.committed);
        now.pulled = now.pulled.or(before.pulled);
        now.changed.extend(before.changed);
        now.removed.extend(before.removed);
        now.changed.sort();
        now.changed.dedup();
    }
    now
}

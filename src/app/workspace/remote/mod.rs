//! One board on several machines: claims are references on a git remote, and the board travels as commits. The remote decides which
//! machine was first; no part of ralph runs there.
//!
//! ```text
//! entry.rs     the content of a claim's reference
//! view.rs      which claims this clone knows, and how long they last by its own clock
//! publish.rs   a claim is published before it is taken here; its lease is renewed
//! round.rs     one push: ended claims, the board, and a new claim, all or nothing
//! outbox.rs    changes that the remote has not confirmed yet; it survives crashes and timeouts
//! exchange.rs  commits, merges and publishes the board
//! lost.rs      what this clone did under a claim that another machine has taken over
//! lease.rs     renews the lease of a claim while a program runs under it
//! ```
//!
//! The remote is never asked while the board's lock is held. `docs/several-machines.md` has the guarantees.

mod entry;
pub(in crate::app) mod exchange;
mod lease;
mod lost;
mod outbox;
mod publish;
mod round;
mod view;

pub(in crate::app) use lease::{Lapsed, LeaseKeeper};
pub(super) use lost::LostMove;
pub(in crate::app) use publish::{Published, publish, publish_missing};
pub use view::Reach;

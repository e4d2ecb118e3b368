//! Several machines on one board: claims as references on a git remote, and the board's own commits. The remote decides who was
//! first; nothing of ralph runs there.
//!
//! ```text
//! entry.rs     what the reference of a claim holds
//! view.rs      which claims this clone knows, and how long they last by its own clock
//! publish.rs   a claim is published before it is taken here; its lease is renewed
//! round.rs     one push: ended claims, the board, and a new claim, all or nothing
//! outbox.rs    what the remote has yet to hear, through crashes and timeouts
//! exchange.rs  the board's commits between clones
//! lost.rs      what this clone did under a claim that another machine has taken over
//! lease.rs     a program under a claim: its lease is renewed beside it, and what happens when that fails
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

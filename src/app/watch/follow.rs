//! Watches a board on a separate thread, for faces with an event loop.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use super::{Watch, WatchOptions};
use crate::app::{Code, Failure, Options};
use crate::board::Event;

/// How long to wait without events before asking the listener whether to continue.
const IDLE: Duration = Duration::from_secs(2);

/// Passes events, and saved settings and documents, to `listen` until it breaks. Returns once the board is watched.
pub fn follow_board(
    options: &Options,
    wanted: WatchOptions,
    mut listen: impl FnMut(Vec<Event>, BTreeSet<String>) -> ControlFlow<()> + Send + 'static,
) -> Result<(), Failure> {
    let (ready, opened) = std::sync::mpsc::channel();
    let options = options.clone();
    std::thread::spawn(move || {
        // `Watch` cannot be sent between threads, so it is opened on the thread that uses it.
        let mut watch = match Watch::open(&options, &wanted) {
            Ok(watch) => watch,
            Err(failure) => return drop(ready.send(Err(failure))),
        };
        let _ = ready.send(Ok(()));
        let mut events = watch.begin();
        loop {
            // The board is locked, or temporarily missing.
            let told = events.unwrap_or_else(|_| {
                std::thread::sleep(IDLE);
                Vec::new()
            });
            if listen(told, watch.saved_files()).is_break() {
                return;
            }
            events = watch.next(IDLE);
        }
    });
    opened.recv().unwrap_or_else(|_| Err(Failure::broken(Code::CannotWatch, "the watcher stopped before it was ready")))
}

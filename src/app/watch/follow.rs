//! A watcher on its own thread, for faces with an event loop.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use super::{Watch, WatchOptions};
use crate::app::{Code, Failure, Options};
use crate::board::Event;

/// How long nothing may happen before whoever listens is asked whether it still does.
const IDLE: Duration = Duration::from_secs(2);

/// Tells of what happens, and of settings and documents that were saved, until the listener breaks off. Returns once it
/// watches.
pub fn follow_board(
    options: &Options,
    wanted: WatchOptions,
    mut listen: impl FnMut(Vec<Event>, BTreeSet<String>) -> ControlFlow<()> + Send + 'static,
) -> Result<(), Failure> {
    let (ready, opened) = std::sync::mpsc::channel();
    let options = options.clone();
    std::thread::spawn(move || {
        // It is not to be sent between threads: opened where it runs.
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
    opened.recv().unwrap_or_else(|_| Err(Failure::broken(Code::CannotWatch, "the watcher ended before it started")))
}

//! A watcher on a separate thread, which only reports that others have changed the board.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::desk;
use super::model::Answer;
use crate::app::{Failure, Options, Watch, WatchOptions};

/// Long, because checking the whole board is expensive, and the watcher wakes up for changes, leases and ended programs anyway.
const IDLE: Duration = Duration::from_secs(60);
const TROUBLED: Duration = Duration::from_secs(2);

/// Sends every change until the receiver is gone. Errors are sent, too, and retried.
pub fn start(options: Options, tell: Sender<Answer>) {
    std::thread::spawn(move || {
        while let Err(failure) = desk::caught(|| watch(&options, &tell)) {
            if tell.send(Answer::Live(Err(failure.message))).is_err() {
                return;
            }
            std::thread::sleep(TROUBLED);
        }
    });
}

fn watch(options: &Options, tell: &Sender<Answer>) -> Result<(), Failure> {
    let wanted = WatchOptions { idle: true, documents: true, ..WatchOptions::default() };
    // Opened here, because it cannot be sent between threads.
    let mut watch = Watch::open(options, &wanted)?;
    let mut events = watch.begin();
    let mut told = None;
    // Something may have changed after the board was read and before the watcher started.
    let mut news = true;
    loop {
        let trouble = events.as_ref().err().map(|failure| failure.message.clone());
        news |= events.is_ok_and(|events| !events.is_empty()) | !watch.saved_files().is_empty();
        if std::mem::take(&mut news) && tell.send(Answer::Changed).is_err() {
            return Ok(());
        }
        let live = trouble.map_or(Ok(()), Err);
        if told.as_ref() != Some(&live) && tell.send(Answer::Live(live.clone())).is_err() {
            return Ok(());
        }
        if live.is_err() {
            // The board is locked, or temporarily missing.
            std::thread::sleep(TROUBLED);
        }
        told = Some(live);
        events = watch.next(IDLE);
    }
}

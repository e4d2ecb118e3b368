//! What others do to the board while it is on the screen: a watcher on a thread of its own, which only tells.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::model::Answer;
use crate::app::{Options, Watch, WatchOptions};

/// A look costs as much as the board is large: changes, leases and programs that end wake the watcher by themselves.
const IDLE: Duration = Duration::from_secs(60);
const TROUBLED: Duration = Duration::from_secs(2);

/// Tells of every change until nobody listens.
pub fn start(options: Options, tell: Sender<Answer>) {
    std::thread::spawn(move || {
        let wanted = WatchOptions { idle: true, documents: true, ..WatchOptions::default() };
        // It is not to be sent between threads: opened where it runs.
        match Watch::open(&options, &wanted) {
            Ok(watch) => follow(watch, &tell),
            Err(failure) => drop(tell.send(Answer::Live(Err(failure.message)))),
        }
    });
}

fn follow(mut watch: Watch, tell: &Sender<Answer>) {
    let mut events = watch.begin();
    let mut trouble = None;
    // Something may have changed between the first look at the board and the watcher's.
    if tell.send(Answer::Changed).is_err() {
        return;
    }
    loop {
        let message = events.as_ref().err().map(|failure| failure.message.clone());
        let news = events.is_ok_and(|events| !events.is_empty()) | !watch.saved_files().is_empty();
        if message != trouble {
            trouble.clone_from(&message);
            if tell.send(Answer::Live(message.map_or(Ok(()), Err))).is_err() {
                return;
            }
        }
        if news && tell.send(Answer::Changed).is_err() {
            return;
        }
        if trouble.is_some() {
            // Somebody holds the board for long, or it is away for a moment.
            std::thread::sleep(TROUBLED);
        }
        events = watch.next(IDLE);
    }
}

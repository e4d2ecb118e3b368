//! Wake-ups without a file event: a released lock, or a message from another thread.

use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use super::Signal;

/// Ends a wait.
#[derive(Clone)]
pub struct Alarm {
    sender: Sender<Signal>,
}

impl Alarm {
    pub(super) fn new(sender: Sender<Signal>) -> Self {
        Self { sender }
    }

    pub fn ring(&self) {
        let _ = self.sender.send(Signal::Alarm);
    }

    /// Rings when a lock is released, even if its process was killed.
    pub fn ring_when_free(&self, lock: PathBuf) {
        let alarm = self.clone();
        std::thread::spawn(move || {
            let Ok(file) = File::open(lock) else { return };
            if file.lock_shared().is_ok() {
                drop(file);
                alarm.ring();
            }
        });
    }

    /// Takes a lock as soon as it is free, sends it to the caller, and rings.
    pub fn ring_when_mine(&self, lock: PathBuf) -> std::sync::mpsc::Receiver<File> {
        let (alarm, (sender, receiver)) = (self.clone(), std::sync::mpsc::channel());
        std::thread::spawn(move || {
            let open = File::options().create(true).truncate(false).read(true).write(true).open(lock);
            let Ok(file) = open else { return };
            if file.lock().is_ok() && sender.send(file).is_ok() {
                alarm.ring();
            }
        });
        receiver
    }
}

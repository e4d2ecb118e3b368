//! Locks on files, which the kernel releases when their holder dies. The board's lock has its own type.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::StoreError;
use crate::fs;

const PATIENCE: Duration = Duration::from_secs(30);

/// Proof that the board's lock is held: no other process changes the board meanwhile. Only [`super::Store::lock`] returns it.
pub struct BoardLock {
    _lock: FileLock,
}

impl BoardLock {
    pub(super) fn of(lock: FileLock) -> Self {
        Self { _lock: lock }
    }
}

/// Any other lock, such as for a merge, a sync or a worker of a name. It is released when this is dropped.
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock only if it is free.
    pub fn try_take(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = fs::open_lock(path)?;
        Ok(file.try_lock().is_ok().then_some(Self { _file: file }))
    }

    /// Waits for other verbs, which take milliseconds; fails if one of them hangs.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        let mut file = fs::open_lock(path)?;
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        while let Err(error) = file.try_lock() {
            if let TryLockError::Error(source) = error {
                return Err(fs::FsError { doing: "lock", path: path.to_owned(), source }.into());
            }
            if start.elapsed() > PATIENCE {
                return Err(StoreError::Busy { holder: holder(&mut file) });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(8));
        }
        // Only for the message above: the kernel, not this number, determines the holder.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
    if text.is_empty() { "another process".into() } else { format!("process {text}") }
}

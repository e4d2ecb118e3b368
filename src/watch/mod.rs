//! File events: something in these folders has changed. What, the caller reads anew.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};

#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}", path.display())]
pub struct WatchError {
    path: PathBuf,
    #[source]
    source: notify::Error,
}

/// Watches folders, never files: editors replace files.
pub struct Changes {
    _watcher: notify::RecommendedWatcher,
    events: Receiver<()>,
}

/// Bursts are one change: a merge touches a thousand files.
const QUIET: Duration = Duration::from_millis(20);

impl Changes {
    pub fn of(folders: &[&Path]) -> Result<Self, WatchError> {
        let (sender, events) = channel();
        let failed = |path: &Path, source| WatchError { path: path.to_owned(), source };
        let first = folders.first().copied().unwrap_or(Path::new("."));
        let tell = move |event: notify::Result<notify::Event>| {
            // Reading is no change, and we are about to read.
            if !event.is_ok_and(|event| {
                matches!(
                    event.kind,
                    notify::EventKind::Access(notify::event::AccessKind::Open(_) | notify::event::AccessKind::Read)
                )
            }) {
                let _ = sender.send(());
            }
        };
        let mut watcher = notify::recommended_watcher(tell).map_err(|e| failed(first, e))?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|e| failed(folder, e))?;
        }
        Ok(Self { _watcher: watcher, events })
    }

    /// Returns when something has changed, or after `limit`.
    pub fn wait(&self, limit: Duration) {
        if self.events.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            return;
        }
        while self.events.recv_timeout(QUIET).is_ok() {}
    }
}

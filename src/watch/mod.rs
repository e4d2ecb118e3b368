//! File events: reports which paths in the watched folders may have changed. The caller reads these files again.

mod alarm;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

pub use alarm::Alarm;

use crate::os::files;

#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}", path.display())]
pub struct WatchError {
    path: PathBuf,
    #[source]
    source: notify::Error,
}

/// What may have changed since the last wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedPaths {
    /// The wait timed out, or an alarm rang.
    Nothing,
    Paths(BTreeSet<PathBuf>),
    /// A watched folder appeared or disappeared: read everything again.
    Everything,
    /// There were more events than could be queued: read everything again.
    Lost,
}

impl ChangedPaths {
    /// The union of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lost, _) | (_, Self::Lost) => Self::Lost,
            (Self::Everything, _) | (_, Self::Everything) => Self::Everything,
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Paths(mut one), Self::Paths(mut two)) => {
                one.append(&mut two);
                Self::Paths(one)
            }
        }
    }
}

/// Watches folders, not files, because editors replace files. A folder that is removed and made again is watched again.
pub struct Changes {
    watcher: Box<dyn Watcher>,
    signals: Receiver<Signal>,
    sender: Sender<Signal>,
    folders: Vec<Folder>,
    /// The reason if the folders are polled.
    pub polling: Option<String>,
}

struct Folder {
    path: PathBuf,
    /// The inode of the folder that is watched, if it existed.
    inode: Option<u64>,
}

enum Signal {
    Path(PathBuf),
    Lost,
    Alarm,
}

/// A burst of events is one change, up to a longest time: saving in an editor causes five events, a merge ten thousand.
const QUIET: Duration = Duration::from_millis(40);
const LONGEST: Duration = Duration::from_millis(120);
/// For callers that take the board's lock before they read: the lock already prevents them from reading half of a change.
const BRIEF: Duration = Duration::from_millis(5);
const POLL: Duration = Duration::from_millis(500);

impl Changes {
    pub fn of(folders: &[&Path]) -> Result<Self, WatchError> {
        Self::start(folders, false)
    }

    /// Polls the folders, for file systems that send no events.
    pub fn polling(folders: &[&Path]) -> Result<Self, WatchError> {
        Self::start(folders, true)
    }

    fn start(folders: &[&Path], poll: bool) -> Result<Self, WatchError> {
        let first = folders.first().copied().unwrap_or(Path::new("."));
        let failed = |source| WatchError { path: first.to_owned(), source };
        if poll {
            return Self::with(folders, poller, Some("--poll".into())).map_err(failed);
        }
        match Self::with(folders, listener, None) {
            Err(error) if is_limit(&error) => Self::with(folders, poller, Some(error.to_string())).map_err(failed),
            other => other.map_err(failed),
        }
    }

    fn with(folders: &[&Path], make: MakeWatcher, polling: Option<String>) -> notify::Result<Self> {
        let (sender, signals) = channel();
        let watcher = make(sender.clone())?;
        let folders = folders.iter().map(|path| Folder { path: (*path).to_owned(), inode: None }).collect();
        let mut changes = Self { watcher, signals, sender, folders, polling };
        changes.watch_again()?;
        Ok(changes)
    }

    /// Watches folders that have appeared or were replaced since the last call, and returns whether there were any.
    fn watch_again(&mut self) -> notify::Result<bool> {
        let mut again = false;
        for folder in &mut self.folders {
            let now = std::fs::metadata(&folder.path)
                .ok()
                .filter(std::fs::Metadata::is_dir)
                .map(|meta| files::identity(&meta));
            if now == folder.inode {
                continue;
            }
            if folder.inode.is_some() {
                let _ = self.watcher.unwatch(&folder.path);
            }
            if now.is_some() {
                match self.watcher.watch(&folder.path, RecursiveMode::NonRecursive) {
                    // It is gone again already; the next call will notice.
                    Err(error) if is_gone(&error) => {
                        folder.inode = None;
                        continue;
                    }
                    other => other?,
                }
            }
            folder.inode = now;
            again = true;
        }
        Ok(again)
    }

    /// Watches exactly these folders in addition to those given at the start; folders that cannot be watched are skipped.
    pub fn also(&mut self, folders: &BTreeSet<PathBuf>) {
        let added = folders.iter().filter(|path| !self.folders.iter().any(|folder| folder.path == **path));
        let added: Vec<Folder> = added.map(|path| Folder { path: path.clone(), inode: None }).collect();
        if !added.is_empty() {
            self.folders.extend(added);
            let _ = self.watch_again();
        }
    }

    /// An alarm, which can end a wait from another thread.
    pub fn alarm(&self) -> Alarm {
        Alarm::new(self.sender.clone())
    }

    /// Returns when something has changed and no more events follow, or after `limit`.
    pub fn wait(&mut self, limit: Duration) -> ChangedPaths {
        self.gather(limit, QUIET, LONGEST)
    }

    /// Like `wait`, but returns soon after the first change, even while more changes come in.
    pub fn wait_briefly(&mut self, limit: Duration) -> ChangedPaths {
        self.gather(limit, BRIEF, BRIEF * 2)
    }

    fn gather(&mut self, limit: Duration, quiet: Duration, longest: Duration) -> ChangedPaths {
        let mut dirt = PathBatch::default();
        let Ok(first) = self.signals.recv_timeout(limit) else { return ChangedPaths::Nothing };
        let start = Instant::now();
        dirt.add(first);
        while start.elapsed() < longest {
            let Ok(signal) = self.signals.recv_timeout(quiet) else { break };
            dirt.add(signal);
        }
        // Even if the queue grows faster than it is read, the caller must get to read the files.
        dirt.extend(self.signals.try_iter());
        match (self.watch_again(), dirt.result()) {
            (_, ChangedPaths::Lost) => ChangedPaths::Lost,
            (Ok(false), dirt) => dirt,
            (Ok(true) | Err(_), _) => ChangedPaths::Everything,
        }
    }
}

#[derive(Default)]
struct PathBatch {
    paths: BTreeSet<PathBuf>,
    lost: bool,
}

impl PathBatch {
    fn add(&mut self, signal: Signal) {
        match signal {
            Signal::Path(path) => drop(self.paths.insert(path)),
            Signal::Lost => self.lost = true,
            Signal::Alarm => {}
        }
    }

    fn extend(&mut self, signals: impl Iterator<Item = Signal>) {
        signals.for_each(|signal| self.add(signal));
    }

    fn result(self) -> ChangedPaths {
        match (self.lost, self.paths.is_empty()) {
            (true, _) => ChangedPaths::Lost,
            (false, true) => ChangedPaths::Nothing,
            (false, false) => ChangedPaths::Paths(self.paths),
        }
    }
}

type MakeWatcher = fn(Sender<Signal>) -> notify::Result<Box<dyn Watcher>>;

fn listener(sender: Sender<Signal>) -> notify::Result<Box<dyn Watcher>> {
    let watcher = RecommendedWatcher::new(move |event| tell(&sender, event), notify::Config::default())?;
    Ok(Box::new(watcher))
}

fn poller(sender: Sender<Signal>) -> notify::Result<Box<dyn Watcher>> {
    let config = notify::Config::default().with_poll_interval(POLL);
    Ok(Box::new(PollWatcher::new(move |event| tell(&sender, event), config)?))
}

/// Kept short: while it runs, the kernel's queue fills up.
fn tell(sender: &Sender<Signal>, event: notify::Result<Event>) {
    let Ok(event) = event else {
        let _ = sender.send(Signal::Lost);
        return;
    };
    if event.need_rescan() {
        let _ = sender.send(Signal::Lost);
    }
    // Reading is not a change, and the caller is about to read these files.
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    if matches!(event.kind, EventKind::Access(_)) && event.kind != written {
        return;
    }
    for path in event.paths {
        let _ = sender.send(Signal::Path(path));
    }
}

/// Whether the kernel has no watches or queues left for this user.
fn is_limit(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        // 24: no descriptor left for another queue; 28: no space for another watch.
        notify::ErrorKind::Io(error) => matches!(error.raw_os_error(), Some(24 | 28)),
        _ => false,
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

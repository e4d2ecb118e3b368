//! `watch`: reports each event of the board once and in order; one watcher at a time reacts to them.
//!
//! Commands record their changes in the journal. All other changes in files were made by hand or by git. Everything is
//! read under the board's lock, so that no half-done command is seen.

mod beside;
pub(in crate::app) mod event_rules;
mod explain;
mod follow;
mod react;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::app::watch::event_rules::Runner;
use crate::app::workspace::open::Options;
use crate::app::{Failure, Workspace};
use crate::board::{Board, Event, EventKind, Facts, Via};
use crate::fs;
use crate::git::GitHand;
use crate::store::{Delta, Mirror};
use crate::task::{StateName, TaskId};
use crate::watch::{Alarm, ChangedPaths, Changes};
use beside::{SETTINGS, document_folders};
use explain::{GitPut, HandEdit, Look, events_of};

pub use follow::follow_board;

/// How long to wait for a running git command.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the board is watched.
#[derive(Debug, Clone, Default)]
pub struct WatchOptions {
    /// Revert edits by hand that the workflow does not allow.
    pub enforce: bool,
    /// Poll, for file systems without change events.
    pub poll: bool,
    /// Only report; leave reactions to other watchers.
    pub idle: bool,
    /// Also report what faces need that show the board: saved documents, and renewed claims.
    pub documents: bool,
}

/// A watched board.
pub struct Watch {
    ws: Workspace,
    options: Options,
    wanted: WatchOptions,
    changes: Changes,
    alarm: Alarm,
    mirror: Mirror,
    board: Board,
    facts: Facts,
    hand: GitHand,
    /// The lock of the watcher that reacts; other watchers wait for it.
    reactor: Option<File>,
    turn: Receiver<File>,
    /// Edits by hand that are not in the journal yet, for the watcher that reacts.
    pending: Vec<HandEdit>,
    unsettled: BTreeSet<TaskId>,
    /// States that could not be restored, because the file was saved again: the next save is compared with them.
    owed: BTreeMap<TaskId, StateName>,
    /// Claims that programs hold: no file event reports their end.
    attended: BTreeSet<TaskId>,
    /// The entries of the board in git's index.
    tracked: BTreeSet<String>,
    /// When the board was last read.
    looked: Timestamp,
    /// Why the watcher must not react: the board is missing, or its settings cannot be read.
    trouble: Option<String>,
    /// Copies of the board in linked worktrees, and the problems there that have been reported.
    copies: BTreeSet<PathBuf>,
    copied: BTreeSet<String>,
    /// When git last changed tasks: a state that git shows only briefly must not cause reactions.
    git_was_here: Option<Instant>,
    /// Changed settings and documents.
    files: BTreeSet<String>,
    /// Changed paths that a failed look has not processed.
    unseen: ChangedPaths,
    /// Changes that were read while git was writing, and since when they wait: they are explained when git is done.
    half: Option<(Instant, Delta)>,
    /// Git took longer than the time limit.
    impatient: bool,
    runner: Runner,
}

impl Watch {
    pub fn open(options: &Options, wanted: &WatchOptions) -> Result<Self, Failure> {
        let ws = Workspace::open(options)?;
        // Read-only watching works with broken settings, too.
        if !wanted.idle {
            ws.refuse_broken_setup()?;
        }
        event_rules::check_rules(&ws)?;
        // A read-only board can still be watched.
        for folder in [ws.store.tasks_dir(), ws.store.claims_dir(), ws.store.journal_dir()] {
            let _ = fs::make_dir(&folder);
        }
        let mut folders = folders(&ws);
        if wanted.documents {
            folders.extend(document_folders(&ws));
        }
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        // Watch before reading, so that no change is missed in between.
        let changes = if wanted.poll { Changes::polling(&folders)? } else { Changes::of(&folders)? };
        let alarm = changes.alarm();
        let lock = ws.lock().ok();
        let mirror = Mirror::new(&ws.store)?;
        let board = mirror.board(&ws.store).with_claims(ws.claims()?);
        drop(lock);
        let facts = Facts::of(&board, ws.rules());
        let tracked = ws.repository.objects_in_index(".ralph/tasks").unwrap_or_default().into_keys().collect();
        let turn = match wanted.idle {
            true => std::sync::mpsc::channel().1,
            false => alarm.ring_when_mine(ws.store.local().join("watch.lock")),
        };
        // Usually no other watcher runs; then the first look can already react.
        let reactor = turn.recv_timeout(Duration::from_millis(20)).ok();
        Ok(Self {
            hand: ws.repository.hand(),
            runner: Runner::new(&ws, alarm.clone()),
            options: options.clone(),
            wanted: wanted.clone(),
            ws,
            changes,
            alarm,
            mirror,
            board,
            facts,
            reactor,
            turn,
            pending: Vec::new(),
            unsettled: BTreeSet::new(),
            owed: BTreeMap::new(),
            attended: BTreeSet::new(),
            git_was_here: None,
            tracked,
            looked: Timestamp::now(),
            trouble: None,
            copies: BTreeSet::new(),
            copied: BTreeSet::new(),
            files: BTreeSet::new(),
            unseen: ChangedPaths::Nothing,
            half: None,
            impatient: false,
        })
    }

    pub fn workspace(&self) -> &Workspace {
        &self.ws
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The numbers of ready, claimed and blocked tasks, and of problems.
    pub fn counts(&self) -> [usize; 4] {
        self.facts.counts()
    }

    /// Ends a wait, from any thread.
    pub fn waker(&self) -> impl Fn() + Send + 'static {
        let alarm = self.alarm.clone();
        move || alarm.ring()
    }

    pub fn reacts(&self) -> bool {
        self.reactor.is_some()
    }

    /// Why the board is polled, if it is.
    pub fn polling(&self) -> Option<&str> {
        self.changes.polling.as_deref()
    }

    /// The events in the journal since that time.
    pub fn replay(&self, since: Timestamp) -> Result<Vec<Event>, Failure> {
        let lines = self.ws.store.journal()?.0.into_iter().filter(|line| line.at >= since);
        Ok(self.titled(lines.flat_map(|line| events_of(&line, line.changes.clone())).collect()))
    }

    /// Waits up to `limit` for events.
    pub fn next(&mut self, limit: Duration) -> Result<Vec<Event>, Failure> {
        let soon = if self.unsettled.is_empty() { Duration::MAX } else { Duration::from_millis(60) };
        let dirt = self.changes.wait(limit.min(soon).min(self.next_expiry()));
        let mut dirt = std::mem::replace(&mut self.unseen, ChangedPaths::Nothing).and(dirt);
        // Files that git has not finished writing would look like edits by hand.
        let start = Instant::now();
        while dirt != ChangedPaths::Nothing && self.ws.repository.is_at_work() && start.elapsed() < PATIENCE {
            dirt = dirt.and(self.changes.wait(Duration::from_millis(20)));
        }
        self.impatient = start.elapsed() >= PATIENCE;
        self.look(dirt.clone()).inspect_err(|_| self.unseen = dirt)
    }

    /// The first look, for problems and due reactions from before the board was watched.
    pub fn begin(&mut self) -> Result<Vec<Event>, Failure> {
        self.follow_copies();
        self.look(ChangedPaths::Nothing)
    }

    fn look(&mut self, dirt: ChangedPaths) -> Result<Vec<Event>, Failure> {
        self.note_files(&dirt);
        if self.reactor.is_none() {
            self.reactor = self.turn.try_recv().ok();
        }
        let mut events = Vec::new();
        if dirt == ChangedPaths::Lost {
            let event = Event::new(EventKind::Rescanned, self.ws.now(), Via::Board, None);
            events.push(event.saying("too many changes at once: the whole board was read again"));
        }
        if self.settings_changed(&dirt) {
            events.extend(self.reopen());
        }
        if !self.ws.store.board_dir().is_dir() {
            // The board was moved away, or git is switching branches: write nothing into a missing folder.
            return Ok(events);
        }
        events.extend(self.look_at_copies(&dirt));
        // A read-only board has no lock, and no command that writes.
        let lock = self.ws.lock().ok();
        let look = self.take_in(&dirt)?;
        events.extend(look.events);
        match lock.filter(|_| self.reactor.is_some() && self.trouble.is_none() && self.half.is_none()) {
            Some(lock) => {
                let pending = std::mem::take(&mut self.pending);
                events.extend(self.react(&lock, pending.into_iter().chain(look.by_hand).collect())?);
            }
            None => {
                events.extend(look.by_hand.iter().filter_map(|edit| self.illegal(edit)));
                self.pending.extend(look.by_hand);
            }
        }
        if self.half.is_some() {
            self.unseen = if dirt == ChangedPaths::Lost { ChangedPaths::Everything } else { dirt };
            self.alarm.ring();
        } else {
            self.looked = Timestamp::now();
        }
        let news = self.news();
        let events = self.titled(joined(events, news));
        self.attend();
        let failed = self.runner.take_up(&self.ws, self.reactor.is_some(), &events, &self.board);
        Ok(events.into_iter().chain(failed).collect())
    }

    /// Reads what has changed, and explains it.
    fn take_in(&mut self, dirt: &ChangedPaths) -> Result<Look, Failure> {
        let hand = self.ws.repository.hand();
        // After an operation of git, read everything: its file events may still be on their way.
        let all = matches!(dirt, ChangedPaths::Everything | ChangedPaths::Lost)
            || self.is_misnamed(dirt)
            || hand != self.hand;
        let mut dirty = match dirt {
            ChangedPaths::Paths(paths) => self.tasks_among(paths),
            _ => BTreeSet::new(),
        };
        dirty.append(&mut self.unsettled);
        let delta = self.mirror.update(&self.ws.store, (!all).then_some(&dirty))?;
        self.unsettled.extend(delta.unsettled.iter().cloned());
        let git = self.git_put(&hand)?;
        let (since, delta) = match self.half.take() {
            Some((since, half)) => (since, half.and_then(delta)),
            None => (Instant::now(), delta),
        };
        // Git has started to write since the check: half-written files would look like edits by hand.
        if !self.impatient && since.elapsed() < PATIENCE && !self.ws.repository.is_untouched_since(&hand) {
            self.half = Some((since, delta));
            return Ok(Look::default());
        }
        let git = git.map(|put| self.put_by(put, hand));
        let journaled =
            |edit: &HandEdit| delta.lines.iter().any(|line| line.verb == "hand-edit" && line.touches(&edit.id));
        self.pending.retain(|edit| !journaled(edit));
        let look = self.explain(delta, git.as_ref());
        self.board = self.mirror.board(&self.ws.store).with_claims(self.ws.claims()?);
        if look.events.iter().any(|event| event.via == Via::Git) {
            self.git_was_here = Some(Instant::now());
        }
        Ok(look)
    }

    /// What git has written since the last look, if anything.
    fn git_put(&self, hand: &GitHand) -> Result<Option<GitPut>, Failure> {
        if *hand == self.hand {
            return Ok(None);
        }
        Ok(Some(GitPut {
            objects: self.ws.repository.objects_in_index(".ralph/tasks")?,
            moved: hand.head != self.hand.head,
            journal: self.ws.store.journal()?.0,
            before: BTreeSet::new(),
        }))
    }

    /// Remembers git's operations for the next look.
    fn put_by(&mut self, put: GitPut, mut hand: GitHand) -> GitPut {
        if !put.moved {
            // A checkout writes its index first, and moves HEAD shortly after.
            std::thread::sleep(Duration::from_millis(20));
            hand.head = self.ws.repository.hand().head;
        }
        let (tracked, moved) = (put.objects.keys().cloned().collect(), hand.head != self.hand.head);
        self.hand = hand;
        GitPut { before: std::mem::replace(&mut self.tracked, tracked), moved, ..put }
    }

    /// Events of new conditions, after all reactions.
    fn news(&mut self) -> Vec<Event> {
        let facts = Facts::of(&self.board, self.ws.rules());
        let mut events = facts.since(&self.facts, self.ws.now());
        if self.wanted.documents {
            events.extend(facts.renewed_since(&self.facts, self.ws.now()));
        }
        self.facts = facts;
        events
    }

    /// A file whose name is not a task id is only found by reading the whole folder.
    fn is_misnamed(&self, dirt: &ChangedPaths) -> bool {
        let ChangedPaths::Paths(paths) = dirt else { return false };
        let folder = self.ws.store.tasks_dir();
        let stems =
            paths.iter().filter(|path| path.parent() == Some(&folder)).filter_map(|path| path.file_name()?.to_str());
        stems
            .filter_map(|name| name.strip_suffix(".toml"))
            .any(|stem| !stem.starts_with('.') && TaskId::new(stem).is_err())
    }

    fn tasks_among(&self, paths: &BTreeSet<PathBuf>) -> BTreeSet<TaskId> {
        let folder = self.ws.store.tasks_dir();
        let inside = paths.iter().filter(|path| path.parent() == Some(&folder));
        let names = inside.filter_map(|path| path.file_name()?.to_str()?.strip_suffix(".toml"));
        names.filter(|stem| !stem.starts_with('.')).filter_map(|stem| TaskId::new(stem).ok()).collect()
    }

    fn titled(&self, mut events: Vec<Event>) -> Vec<Event> {
        for event in &mut events {
            let task = event.task.as_ref().and_then(|id| self.board.get(id));
            event.title = task.map(|task| task.title.clone()).or(event.title.take());
        }
        events
    }

    fn settings_changed(&self, dirt: &ChangedPaths) -> bool {
        let files = SETTINGS.map(|file| self.ws.store.root().join(file));
        match dirt {
            ChangedPaths::Paths(paths) => files.iter().any(|file| paths.contains(file)),
            ChangedPaths::Everything | ChangedPaths::Lost => true,
            ChangedPaths::Nothing => false,
        }
    }

    /// Reads changed settings and workflow. If they cannot be read, that is reported, and the old ones stay in effect.
    fn reopen(&mut self) -> Option<Event> {
        let usable = |ws: &Workspace| ws.refuse_broken_setup().and_then(|()| event_rules::check_rules(ws));
        let opened = Workspace::open(&self.options).and_then(|ws| usable(&ws).map(|()| ws));
        let (kind, message) = match opened {
            Ok(ws) => {
                self.ws = ws;
                self.mirror.read_again(&self.ws.store);
                self.runner.reload(&self.ws);
                (EventKind::Solved, self.trouble.take()?)
            }
            Err(failure) if self.trouble.as_ref() == Some(&failure.message) => return None,
            Err(failure) => {
                self.trouble = Some(failure.message.clone());
                (EventKind::Problem, failure.message)
            }
        };
        Some(Event::new(kind, self.ws.now(), Via::Board, None).saying(message))
    }

    /// Watches the locks of programs that hold claims, to notice their end at once.
    fn attend(&mut self) {
        let held = self.board.claims().iter().filter(|(_, claim)| claim.live && claim.held && !claim.foreign);
        let held: BTreeSet<TaskId> = held.map(|(id, _)| id.clone()).collect();
        for id in held.difference(&self.attended) {
            self.alarm.ring_when_free(self.ws.store.claim_lock(id));
        }
        self.attended = held;
    }

    /// How long until the next lease expires, which changes no file.
    fn next_expiry(&self) -> Duration {
        let now = self.ws.now();
        let claims = self.board.claims().values().filter(|claim| claim.live && !claim.held);
        let soonest = claims.map(|claim| claim.until.duration_since(now)).min();
        soonest.map_or(Duration::MAX, |left| left.unsigned_abs() + Duration::from_millis(10))
    }
}

/// Merges the events of a look, without duplicates.
fn joined(mut events: Vec<Event>, mut news: Vec<Event>) -> Vec<Event> {
    // A reaped claim was not released by its holder.
    let reaped =
        |event: &Event| events.iter().any(|other| other.event == EventKind::Reaped && other.task == event.task);
    news.retain(|event| event.event != EventKind::Released || !reaped(event));
    // The event of a claim itself is better than that of its journal line, if both exist.
    let is_claim = |event: &Event| matches!(event.event, EventKind::Claimed | EventKind::Released);
    let same = |a: &Event, b: &Event| a.event == b.event && a.task == b.task && a.by == b.by;
    events.retain(|event| !is_claim(event) || !news.iter().any(|other| same(event, other)));
    events.extend(news);
    events
}

fn folders(ws: &Workspace) -> Vec<PathBuf> {
    let store = &ws.store;
    vec![
        store.root().to_owned(),
        store.board_dir(),
        store.tasks_dir(),
        store.journal_dir(),
        store.claims_dir(),
        store.root().join("worktrees"),
    ]
}

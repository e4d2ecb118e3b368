//! `watch`: what happens on the board, told once and in order, and what follows from it done by one watcher at a time.
//!
//! Commands journal what they do. What the files say beyond that, somebody saved by hand, or git put there. Everything is read
//! under the board's lock, so that no verb is half seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::on::Runner;
use super::reap::{Orphans, reap_from};
use super::workspace::Options;
use super::{Failure, FailureKind, Workspace};
use crate::board::{Actor, Board, Change, Event, EventKind, Facts, Move, Op, Place, Target, Via, changed_event};
use crate::fs;
use crate::git::GitHand;
use crate::store::codec::Doc;
use crate::store::{BoardLock, Delta, Difference, Line, Mirror};
use crate::task::{Key, Kind, StateName, TaskId, Value, Worker};
use crate::watch::{Alarm, Changes, Dirt};

/// After git has changed tasks, locks that it brought are left alone for so long: it may only pass by.
const CALM: Duration = Duration::from_secs(60);
/// How long a git that is at work is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the board is watched.
#[derive(Debug, Clone, Default)]
pub struct WatchOptions {
    /// Put illegal hand edits right.
    pub enforce: bool,
    /// Look again and again, where the file system tells nothing.
    pub poll: bool,
    /// Only tell; leave what follows to others.
    pub idle: bool,
}

/// A board under watch.
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
    /// Whoever has the lock reacts; the others wait for it.
    reactor: Option<File>,
    turn: Receiver<File>,
    /// Edits by hand that nobody has journaled yet, for the one who reacts.
    pending: Vec<HandEdit>,
    unsettled: BTreeSet<TaskId>,
    /// States that were to be put back when somebody saved the file again: the next save is judged from there.
    owed: BTreeMap<TaskId, StateName>,
    /// Claims of programs, whose end no file event tells.
    attended: BTreeSet<TaskId>,
    /// When git last changed tasks: what it shows for a moment is not to be reacted to.
    git_was_here: Option<Instant>,
    runner: Runner,
}

/// What git has done since the last look.
struct GitPut {
    objects: BTreeMap<String, String>,
    /// HEAD is elsewhere.
    moved: bool,
    /// All that was ever told.
    journal: Vec<Line>,
}

/// A file that somebody saved, made or removed by hand: what it said, with all that commands made of it, and what it says.
struct HandEdit {
    id: TaskId,
    old: Leaves,
    new: Leaves,
    existed: bool,
    exists: bool,
    changes: Vec<Change>,
}

/// What one look at the board brought.
#[derive(Default)]
struct Look {
    events: Vec<Event>,
    by_hand: Vec<HandEdit>,
}

impl Watch {
    pub fn open(options: &Options, wanted: &WatchOptions) -> Result<Self, Failure> {
        let ws = Workspace::open(options)?;
        super::on::check_rules(&ws)?;
        for folder in [ws.store.tasks_dir(), ws.store.claims_dir(), ws.store.journal_dir()] {
            fs::make_dir(&folder)?;
        }
        let folders = folders(&ws);
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        // Watched before it is read, so that nothing falls between.
        let changes = if wanted.poll { Changes::polling(&folders)? } else { Changes::of(&folders)? };
        let alarm = changes.alarm();
        let lock = ws.lock()?;
        let mirror = Mirror::new(&ws.store)?;
        let board = mirror.board(&ws.store).with_claims(ws.claims()?);
        drop(lock);
        let facts = Facts::of(&board, ws.rules());
        let turn = match wanted.idle {
            true => std::sync::mpsc::channel().1,
            false => alarm.ring_when_mine(ws.store.local().join("watch.lock")),
        };
        // Nobody to wait for is the common case: then the first look already reacts.
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
        })
    }

    pub fn workspace(&self) -> &Workspace {
        &self.ws
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Ready, at work, blocked, problems.
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

    /// Why the board is looked at again and again.
    pub fn polling(&self) -> Option<&str> {
        self.changes.polling.as_deref()
    }

    /// What the journal says of the time since then.
    pub fn replay(&self, since: Timestamp) -> Result<Vec<Event>, Failure> {
        let lines = self.ws.store.journal()?.0.into_iter().filter(|line| line.at >= since);
        Ok(self.titled(lines.flat_map(|line| events_of(&line, line.changes.clone())).collect()))
    }

    /// What has happened by the end of `limit`, or nothing.
    pub fn next(&mut self, limit: Duration) -> Result<Vec<Event>, Failure> {
        let soon = if self.unsettled.is_empty() { Duration::MAX } else { Duration::from_millis(60) };
        let mut dirt = self.changes.wait(limit.min(soon).min(self.next_expiry()));
        // What it has written so far would be taken for somebody's own.
        let start = Instant::now();
        while dirt != Dirt::Nothing && self.ws.repository.is_at_work() && start.elapsed() < PATIENCE {
            dirt = dirt.and(self.changes.wait(Duration::from_millis(20)));
        }
        self.look(dirt)
    }

    /// The first look: what was wrong or due before anybody watched.
    pub fn begin(&mut self) -> Result<Vec<Event>, Failure> {
        self.look(Dirt::Nothing)
    }

    fn look(&mut self, dirt: Dirt) -> Result<Vec<Event>, Failure> {
        if self.reactor.is_none() {
            self.reactor = self.turn.try_recv().ok();
        }
        let mut events = Vec::new();
        if dirt == Dirt::Lost {
            let event = Event::new(EventKind::Rescanned, self.ws.now(), Via::Board, None);
            events.push(event.saying("too much changed at once to follow: everything was read again"));
        }
        if self.settings_changed(&dirt) {
            events.extend(self.reopen());
        }
        // Where nothing may be written there is no lock to take, and no verb to wait for.
        let lock = self.ws.lock().ok();
        let look = self.take_in(&dirt)?;
        events.extend(look.events);
        let pending = if self.reactor.is_some() { std::mem::take(&mut self.pending) } else { Vec::new() };
        let edits = pending.into_iter().chain(look.by_hand).collect();
        match lock {
            Some(lock) if self.reactor.is_some() => events.extend(self.react(&lock, edits)?),
            _ => self.pending.extend(edits),
        }
        events.extend(self.news());
        self.attend();
        let events = self.titled(events);
        let failed = self.runner.take_up(&self.ws, self.reactor.is_some(), &events, &self.board);
        Ok(events.into_iter().chain(failed).collect())
    }

    /// Reads what has changed, and tells what it means.
    fn take_in(&mut self, dirt: &Dirt) -> Result<Look, Failure> {
        let all = matches!(dirt, Dirt::Everything | Dirt::Lost);
        let mut dirty = match dirt {
            Dirt::Paths(paths) => self.tasks_among(paths),
            _ => BTreeSet::new(),
        };
        dirty.append(&mut self.unsettled);
        let delta = self.mirror.update(&self.ws.store, (!all).then_some(&dirty))?;
        self.unsettled.extend(delta.unsettled.iter().cloned());
        let git = self.git_put()?;
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

    /// What git has put into the worktree, where it has done something since the last look.
    fn git_put(&mut self) -> Result<Option<GitPut>, Failure> {
        let mut hand = self.ws.repository.hand();
        if hand == self.hand {
            return Ok(None);
        }
        if hand.head == self.hand.head {
            // A checkout writes its index first, and moves HEAD a moment later.
            std::thread::sleep(Duration::from_millis(20));
            hand = self.ws.repository.hand();
        }
        let put = GitPut {
            objects: self.ws.repository.objects_in_index(".ralph/tasks")?,
            moved: hand.head != self.hand.head,
            journal: self.ws.store.journal()?.0,
        };
        self.hand = hand;
        Ok(Some(put))
    }

    /// What has become true, once everything that follows is done.
    fn news(&mut self) -> Vec<Event> {
        let facts = Facts::of(&self.board, self.ws.rules());
        let events = facts.since(&self.facts, self.ws.now());
        self.facts = facts;
        events
    }

    fn tasks_among(&self, paths: &BTreeSet<PathBuf>) -> BTreeSet<TaskId> {
        let folder = self.ws.store.tasks_dir();
        let inside = paths.iter().filter(|path| path.parent() == Some(&folder));
        let names = inside.filter_map(|path| path.file_name()?.to_str()?.strip_suffix(".toml"));
        names.filter(|stem| !stem.starts_with('.')).filter_map(|stem| TaskId::new(stem).ok()).collect()
    }

    /// First what commands did, in their order; then what the files say beyond that.
    fn explain(&self, delta: Delta, git: Option<&GitPut>) -> Look {
        let mut look = Look::default();
        let mut known: BTreeMap<&TaskId, Leaves> = BTreeMap::new();
        for file in &delta.files {
            known.insert(&file.id, leaves(file.old.as_deref()));
        }
        let verbs = if delta.rewritten { &[][..] } else { &delta.lines };
        for line in verbs {
            let is_news = |change: &&Change| delta.unread.contains(change.task()) || apply(line, change, &mut known);
            let news: Vec<Change> = line.changes.iter().filter(is_news).cloned().collect();
            look.events.extend(events_of(line, news));
        }
        for file in &delta.files {
            let (before, now) = (&known[&file.id], leaves(file.new.as_deref()));
            let rest = differences(&file.id, before, &now);
            let told = file.old.is_some() == file.new.is_some() || verbs.iter().any(|line| makes(line, &file.id));
            let changes = match (told, &file.old, &file.new) {
                (false, old, new) => whole(&file.id, old.as_ref(), new.as_ref()),
                (true, ..) => rest,
            };
            let is_verb = verbs.iter().any(|line| line.touches(&file.id));
            let same = changes.is_empty() && file.old == file.new;
            if same || (changes.is_empty() && is_verb) {
                continue;
            }
            if git.is_some_and(|put| self.is_gits(put, file) || tells(&put.journal, &changes)) {
                look.events.push(self.by_git(file, changes, &delta.lines));
            } else {
                look.by_hand.push(HandEdit {
                    id: file.id.clone(),
                    old: before.clone(),
                    new: now,
                    existed: file.old.is_some(),
                    exists: file.new.is_some(),
                    changes: changes.clone(),
                });
                let mut event = changed_event(self.ws.now(), Via::Hand, &file.id, "hand-edit", changes);
                event.verb = Some("hand-edit".into());
                look.events.push(event);
            }
        }
        look
    }

    /// What git has put there is what its index says; what it has taken away went with a move of HEAD.
    fn is_gits(&self, put: &GitPut, file: &Difference) -> bool {
        let there = put.objects.get(&format!("{}.toml", file.id));
        match &file.new {
            None => there.is_none() && put.moved,
            Some(text) => {
                let names =
                    [text.clone(), text.replace("\r\n", "\n")].map(|text| self.ws.repository.object_name(&text));
                there.is_some_and(|object| names.contains(object))
            }
        }
    }

    /// Whoever did it elsewhere is named by the journal that came along.
    fn by_git(&self, file: &Difference, changes: Vec<Change>, lines: &[Line]) -> Event {
        let mut event = changed_event(self.ws.now(), Via::Git, &file.id, "", changes);
        if let Some(line) = lines.iter().rev().find(|line| line.touches(&file.id)) {
            (event.id, event.by, event.verb) = (Some(line.id.clone()), Some(line.by.clone()), Some(line.verb.clone()));
        }
        event
    }

    /// What follows from edits by hand, and what is due. Each commit of it is told like any other.
    fn react(&mut self, lock: &BoardLock, edits: Vec<HandEdit>) -> Result<Vec<Event>, Failure> {
        let person = self.person()?;
        let mut events = Vec::new();
        let mut edits = edits;
        // What is saved while we answer is answered, too, before anybody is given up for dead; a storm does not hold us up.
        for _ in 0..10 {
            for edit in std::mem::take(&mut edits) {
                events.extend(self.answered(lock, &edit, &person));
            }
            let look = self.take_in(&Dirt::Nothing)?;
            events.extend(look.events);
            edits = look.by_hand;
            if edits.is_empty() {
                break;
            }
        }
        if !edits.is_empty() {
            self.pending.extend(edits);
            self.alarm.ring();
        }
        let calm = self.git_was_here.is_none_or(|at| at.elapsed() > CALM);
        let which = if calm { Orphans::All } else { Orphans::Claimed };
        if !reap_from(&self.ws, lock, &self.board, which)?.is_empty() {
            let look = self.take_in(&Dirt::Nothing)?;
            events.extend(look.events);
            self.pending.extend(look.by_hand);
        }
        Ok(events)
    }

    /// Whatever goes wrong with one save stops nothing.
    fn answered(&mut self, lock: &BoardLock, edit: &HandEdit, person: &Worker) -> Vec<Event> {
        if self.board.get(&edit.id).is_none() && edit.exists {
            return Vec::new();
        }
        match self.answer(lock, edit, person) {
            Ok(events) => events,
            // Saved again in the meantime: the next look finds it.
            Err(failure) if failure.kind == FailureKind::Raced => Vec::new(),
            Err(failure) => {
                let event = Event::new(EventKind::Problem, self.ws.now(), Via::Board, Some(&edit.id));
                vec![event.saying(failure.message)]
            }
        }
    }

    /// One save: journaled as the person's; a move of it judged, and all that comes along with it done.
    fn answer(&mut self, lock: &BoardLock, edit: &HandEdit, person: &Worker) -> Result<Vec<Event>, Failure> {
        let HandEdit { id, old, new, existed, exists, changes } = edit;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let (ws, at) = (&self.ws, self.ws.now());
        let recorded = ws.store.record(lock, Op::new("hand-edit", changes.clone()), person, at, &mut ws.rng())?;
        self.mirror.knows_line(&recorded.id);
        let parent = Key::new("parent");
        match (self.state_of(id, old), self.state_of(id, new)) {
            (from, to) if from != to && *existed && *exists => {
                // What could not be put right was never left.
                let from = self.owed.remove(id).unwrap_or(from);
                self.judge(lock, id, &from, &to, person)
            }
            _ if !existed || old.get(&parent) != new.get(&parent) => {
                self.settle_parents(lock, id, person)?;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A file may leave its state out, or spell it carelessly: what it means is what counts.
    fn state_of(&self, id: &TaskId, leaves: &Leaves) -> StateName {
        let kind = self.board.get(id).map_or(Kind::Issue, |task| task.kind);
        let Some(typed) = leaves.get(&Key::new("state")) else { return self.ws.flow().initial(kind).clone() };
        let found = self.ws.flow().find_state(kind, &typed.to_string());
        found.map_or_else(|_| StateName::new(typed.to_string()), |state| state.name.clone())
    }

    fn judge(
        &mut self,
        lock: &BoardLock,
        id: &TaskId,
        from: &StateName,
        to: &StateName,
        person: &Worker,
    ) -> Result<Vec<Event>, Failure> {
        let ws = &self.ws;
        let actor = Actor { worker: person.clone(), proof: None };
        let before = self.board_with_state(id, from);
        let asked = Move { task: id, to: Target::State(to.clone()), command: None, force: false };
        match before.judge(ws.rules(), &actor, &asked) {
            Ok(verdict) => {
                let own = |change: &Change| matches!(change, Change::Set { task, key, .. } if task == id && key.as_str() == "state");
                let along: Vec<Change> = verdict.changes.into_iter().filter(|change| !own(change)).collect();
                if !along.is_empty() && ws.commit_as(lock, Op::new("move", along), &actor).is_err() {
                    self.settle_parents(lock, id, person)?;
                } else if verdict.hands_off && before.claim(id).is_some() {
                    ws.drop_claim(id)?;
                }
                self.take_lock(lock, id, to, &actor)?;
                Ok(Vec::new())
            }
            Err(refusal) => {
                let event = Event::new(EventKind::Illegal, ws.now(), Via::Hand, Some(id)).saying(refusal.to_string());
                let event = Event { by: Some(person.clone()), from: Some(from.clone()), to: Some(to.clone()), ..event };
                if self.wanted.enforce {
                    let text = self.mirror.text(id).map(|text| leaves(Some(text))).unwrap_or_default();
                    let back = Change::set(id, "state", text.get(&Key::new("state")).cloned(), Some(Value::text(from)));
                    if ws.commit_as(lock, Op::new("enforce", vec![back]), &actor).is_err() {
                        self.owed.insert(id.clone(), from.clone());
                    }
                } else {
                    self.settle_parents(lock, id, person)?;
                }
                Ok(vec![event])
            }
        }
    }

    /// Who saves a lock works on it; a lock that is nobody's would be given back at once.
    fn take_lock(&self, lock: &BoardLock, id: &TaskId, to: &StateName, actor: &Actor) -> Result<(), Failure> {
        let Some(task) = self.board.get(id) else { return Ok(()) };
        let is_lock = self.ws.flow().state(task.kind, to).is_some_and(|state| state.lock);
        if is_lock && task.owner.is_none() && self.board.claim(id).is_none() {
            let owner = Change::set(id, "owner", None, Some(Value::text(&actor.worker)));
            self.ws.commit_as(lock, Op::new("claim", vec![owner]), actor)?;
        }
        Ok(())
    }

    /// A parent is never ahead of its children, and never behind the least of them.
    fn settle_parents(&self, lock: &BoardLock, id: &TaskId, person: &Worker) -> Result<(), Failure> {
        let changes = self.board.parents_over(std::slice::from_ref(id), self.ws.rules());
        if !changes.is_empty() {
            let actor = Actor { worker: person.clone(), proof: None };
            self.ws.commit_as(lock, Op::new("advance", changes), &actor)?;
        }
        Ok(())
    }

    fn board_with_state(&self, id: &TaskId, state: &StateName) -> Board {
        let claims = self.board.claims().clone();
        let mut tasks = self.board.tasks().to_vec();
        for task in tasks.iter_mut().filter(|task| task.id == *id) {
            task.state = state.clone();
        }
        Board::new(tasks, Vec::new(), Vec::new()).with_claims(claims)
    }

    /// Whoever sits at this machine; a worker that watches is not the one who saved.
    fn person(&self) -> Result<Worker, Failure> {
        match self.ws.repository.user_name().and_then(|name| Worker::new(name).ok()) {
            Some(person) => Ok(person),
            None => self.ws.me(),
        }
    }

    fn titled(&self, mut events: Vec<Event>) -> Vec<Event> {
        for event in &mut events {
            let task = event.task.as_ref().and_then(|id| self.board.get(id));
            event.title = task.map(|task| task.title.clone()).or(event.title.take());
        }
        events
    }

    fn settings_changed(&self, dirt: &Dirt) -> bool {
        let files = [self.ws.store.board_dir().join("config.toml"), self.ws.store.board_dir().join("workflow.toml")];
        match dirt {
            Dirt::Paths(paths) => files.iter().any(|file| paths.contains(file)),
            Dirt::Everything | Dirt::Lost => true,
            Dirt::Nothing => false,
        }
    }

    /// Other settings, perhaps another workflow. What cannot be read is told, and the old ones stay.
    fn reopen(&mut self) -> Option<Event> {
        match Workspace::open(&self.options) {
            Ok(ws) => {
                self.ws = ws;
                self.mirror.read_again(&self.ws.store);
                self.runner.reload(&self.ws);
                None
            }
            // Between two branches there may be no board at all for a moment.
            Err(failure) if failure.code == "no-board" => None,
            Err(failure) => {
                let event = Event::new(EventKind::Problem, self.ws.now(), Via::Board, None);
                Some(event.saying(failure.message))
            }
        }
    }

    /// Programs that hold a claim: their end is to be noticed at once.
    fn attend(&mut self) {
        let held = self.board.claims().iter().filter(|(_, claim)| claim.live && claim.held && !claim.foreign);
        let held: BTreeSet<TaskId> = held.map(|(id, _)| id.clone()).collect();
        for id in held.difference(&self.attended) {
            self.alarm.ring_when_free(self.ws.store.claim_lock(id));
        }
        self.attended = held;
    }

    /// A lease that runs out changes no file.
    fn next_expiry(&self) -> Duration {
        let now = self.ws.now();
        let claims = self.board.claims().values().filter(|claim| claim.live && !claim.held);
        let soonest = claims.map(|claim| claim.until.duration_since(now)).min();
        soonest.map_or(Duration::MAX, |left| left.unsigned_abs() + Duration::from_millis(10))
    }
}

fn folders(ws: &Workspace) -> Vec<PathBuf> {
    let store = &ws.store;
    vec![store.root().to_owned(), store.board_dir(), store.tasks_dir(), store.journal_dir(), store.claims_dir()]
}

type Leaves = BTreeMap<Key, Value>;

fn leaves(text: Option<&str>) -> Leaves {
    text.and_then(|text| Doc::new(text).ok()).map(|doc| doc.leaves().into_iter().collect()).unwrap_or_default()
}

/// Lays a verb's change over what is known; whether it is news.
fn apply(line: &Line, change: &Change, known: &mut BTreeMap<&TaskId, Leaves>) -> bool {
    match change {
        Change::Set { task, key, old, new } => {
            let Some(leaves) = known.get_mut(task) else { return false };
            // What was saved by hand may be journaled when it has been saved again.
            if line.verb == "hand-edit" && leaves.get(key) != old.as_ref() {
                return false;
            }
            let before = match new {
                Some(new) => leaves.insert(key.clone(), new.clone()),
                None => leaves.remove(key),
            };
            before != *new
        }
        Change::File { task, file: Place::Task, new, .. } => {
            let Some(known) = known.get_mut(task) else { return false };
            *known = leaves(new.as_deref());
            true
        }
        Change::File { .. } => true,
    }
}

/// Whether the journal has these changes as its last word: a stash that comes back brings what was told before.
fn tells(lines: &[Line], changes: &[Change]) -> bool {
    let last = |task: &TaskId, wanted: &Key| {
        let all = lines.iter().rev().flat_map(|line| line.changes.iter());
        all.filter_map(|change| match change {
            Change::Set { task: of, key, new, .. } if of == task && key == wanted => Some(new),
            _ => None,
        })
        .next()
    };
    let told = |change: &Change| matches!(change, Change::Set { task, key, new, .. } if last(task, key) == Some(new));
    !changes.is_empty() && changes.iter().all(told)
}

/// Whether a verb made or removed a task's file.
fn makes(line: &Line, id: &TaskId) -> bool {
    line.changes.iter().any(|change| {
        matches!(change, Change::File { task, file: Place::Task, old, new } if task == id && old.is_some() != new.is_some())
    })
}

fn whole(id: &TaskId, old: Option<&String>, new: Option<&String>) -> Vec<Change> {
    vec![Change::File { task: id.clone(), file: Place::Task, old: old.cloned(), new: new.cloned() }]
}

fn differences(id: &TaskId, old: &Leaves, new: &Leaves) -> Vec<Change> {
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    differ
        .map(|key| Change::Set {
            task: id.clone(),
            key: key.clone(),
            old: old.get(key).cloned(),
            new: new.get(key).cloned(),
        })
        .collect()
}

/// One event for each task that a verb changed.
fn events_of(line: &Line, changes: Vec<Change>) -> Vec<Event> {
    let mut tasks: Vec<(TaskId, Vec<Change>)> = Vec::new();
    for change in changes {
        match tasks.iter_mut().find(|(id, _)| id == change.task()) {
            Some((_, list)) => list.push(change),
            None => tasks.push((change.task().clone(), vec![change])),
        }
    }
    let tell = |(id, changes): (TaskId, Vec<Change>)| {
        let event = changed_event(line.at, Via::Verb, &id, &line.verb, changes);
        Event { id: Some(line.id.clone()), by: Some(line.by.clone()), verb: Some(line.verb.clone()), ..event }
    };
    tasks.into_iter().map(tell).collect()
}

//! Tests two clones of a board and one project exhaustively: every short sequence of edits, syncs, pulls and pushes,
//! decided by the functions that `sync` and the merge driver use. One field is enough, because fields are decided
//! independently.

use std::collections::{BTreeSet, HashSet, VecDeque};

use crate::github::{Decision, Field, decide, fingerprint};
use crate::store::merge::{MergedUnit, Unit, merge_units};
use crate::task::Value;

/// A text, as a unique number, with all texts that its writer had seen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Word {
    text: u8,
    seen: BTreeSet<u8>,
}

/// A version of the board's file: the text, and the base if it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Version {
    word: Word,
    base: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ClonedBoard {
    here: Version,
    /// The last version in common with the shared branch.
    common: Version,
    /// Whether there is an unresolved conflict.
    conflict: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    clones: [ClonedBoard; 2],
    /// The board on the git remote.
    shared: Version,
    remote: Word,
    next: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Edit(usize),
    EditRemote,
    Sync(usize),
    /// A sync that is killed after it changed GitHub, before it wrote the file.
    SyncKilled(usize),
    Pull(usize),
    Push(usize),
}

const ACTS: [Act; 11] = [
    Act::Edit(0),
    Act::Edit(1),
    Act::EditRemote,
    Act::Sync(0),
    Act::Sync(1),
    Act::SyncKilled(0),
    Act::SyncKilled(1),
    Act::Pull(0),
    Act::Pull(1),
    Act::Push(0),
    Act::Push(1),
];

const FIELD: Field = Field::Title;

fn value(text: u8) -> Value {
    Value::text(format!("w{text}"))
}

fn print(text: u8) -> Value {
    fingerprint(FIELD, &value(text))
}

fn unit(version: &Version) -> Unit {
    Unit { value: Some(value(version.word.text)), base: version.base.map(|base| Some(print(base))) }
}

impl World {
    /// All sides have the same text, which is the base, or has no base.
    fn new(base: Option<u8>) -> Self {
        let word = Word { text: 0, seen: BTreeSet::from([0]) };
        let version = Version { word: word.clone(), base };
        let clone = ClonedBoard { here: version.clone(), common: version.clone(), conflict: false };
        Self { clones: [clone.clone(), clone], shared: version, remote: word, next: 1 }
    }

    fn edited(&mut self, word: &Word) -> Word {
        let text = self.next;
        self.next += 1;
        let mut seen = word.seen.clone();
        seen.insert(text);
        Word { text, seen }
    }

    /// Finds the text of a base.
    fn text_of(&self, base: &Value) -> u8 {
        (0..self.next).find(|text| print(*text) == *base).expect("a base is the print of some text")
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Edit(at) => {
                let word = self.clones[at].here.word.clone();
                let word = self.edited(&word);
                self.clones[at].here.word = word;
            }
            Act::EditRemote => {
                let word = self.remote.clone();
                self.remote = self.edited(&word);
            }
            Act::Sync(at) => self.sync(at, false)?,
            Act::SyncKilled(at) => self.sync(at, true)?,
            Act::Pull(at) => self.pull(at)?,
            Act::Push(at) => {
                // A push requires that the clone has the shared version.
                if self.clones[at].common == self.shared {
                    self.shared = self.clones[at].here.clone();
                    self.clones[at].common = self.shared.clone();
                }
            }
        }
        Ok(())
    }

    fn sync(&mut self, at: usize, killed: bool) -> Result<(), String> {
        let here = self.clones[at].here.clone();
        let base = here.base.map(print);
        let (local, remote) = (value(here.word.text), value(self.remote.text));
        match decide(FIELD, Some(&local), Some(&remote), base.as_ref().map(Some), None) {
            Decision::Settled => {}
            Decision::Agreed => self.clones[at].here.base = Some(here.word.text),
            Decision::Pull => {
                lost(&here.word, &self.remote, "sync takes GitHub's")?;
                self.clones[at].here = Version { word: self.remote.clone(), base: Some(self.remote.text) };
            }
            Decision::Push => {
                lost(&self.remote, &here.word, "sync sends ours")?;
                self.remote = here.word.clone();
                if !killed {
                    self.clones[at].here.base = Some(here.word.text);
                }
            }
            Decision::Conflict => self.clones[at].conflict = true,
            Decision::Both(_) => return Err("a title is no set".into()),
        }
        Ok(())
    }

    fn pull(&mut self, at: usize) -> Result<(), String> {
        let ClonedBoard { here: ours, common, .. } = self.clones[at].clone();
        let theirs = self.shared.clone();
        let merged = match (ours == common, theirs == common) {
            (_, true) => ours,
            (true, _) => theirs.clone(),
            _ => match merge_units(FIELD, &unit(&common), &unit(&ours), &unit(&theirs)) {
                MergedUnit::Conflict { .. } => {
                    if went_on(&common, &ours, &theirs) || went_on(&common, &theirs, &ours) {
                        return Err(format!("a conflict that nobody made: {common:?}, {ours:?}, {theirs:?}"));
                    }
                    self.clones[at].conflict = true;
                    return Ok(());
                }
                MergedUnit::One(unit) => {
                    let text = self.text_of(&fingerprint(FIELD, unit.value.as_ref().expect("a title stays")));
                    let word = [&ours.word, &theirs.word].into_iter().find(|word| word.text == text);
                    let word = word.ok_or("a merge makes nothing up")?.clone();
                    let base = unit.base.flatten().map(|base| self.text_of(&base));
                    self.safe(&ours.word, &word, base, "a merge drops ours")?;
                    self.safe(&theirs.word, &word, base, "a merge drops theirs")?;
                    Version { word, base }
                }
            },
        };
        self.clones[at].here = merged;
        self.clones[at].common = theirs;
        Ok(())
    }

    /// A text may be dropped if the writer of the other had seen it, or if GitHub has it, so that the next sync
    /// compares it there.
    fn safe(&self, word: &Word, kept: &Word, base: Option<u8>, how: &str) -> Result<(), String> {
        let there = word.seen.is_subset(&self.remote.seen);
        // The next sync would overwrite GitHub's text, because it equals the base.
        let hidden =
            base == Some(self.remote.text) && Some(kept.text) != base && !self.remote.seen.is_subset(&kept.seen);
        match word.seen.is_subset(&kept.seen) || (there && !hidden) {
            true => Ok(()),
            false => Err(format!("{how}: {word:?} for {kept:?} over {base:?}, GitHub has {:?}", self.remote)),
        }
    }

    /// Without further edits, repeated syncing, pulling and pushing ends with the same text on all sides.
    fn rests(&self) -> Result<(), String> {
        let mut world = self.clone();
        for _ in 0..6 {
            let before = world.clone();
            for at in [0, 1] {
                for act in [Act::Sync(at), Act::Pull(at), Act::Push(at)] {
                    world.act(act)?;
                    if world.clones.iter().any(|clone| clone.conflict) {
                        return Ok(());
                    }
                }
            }
            if world == before {
                let same = world.clones.iter().all(|clone| clone.here.word.text == world.remote.text);
                return if same { Ok(()) } else { Err(format!("at rest, and not the same: {world:?}")) };
            }
        }
        Err(format!("it does not come to rest: {world:?}"))
    }
}

/// Whether the writer of the newer version had seen the older one, according to the files.
fn went_on(common: &Version, older: &Version, newer: &Version) -> bool {
    let shown = older.word == common.word || newer.base == Some(older.word.text);
    shown && older.word.seen.is_subset(&newer.word.seen)
}

/// Fails if a text is overwritten by one whose writer had not seen it.
fn lost(old: &Word, new: &Word, how: &str) -> Result<(), String> {
    match old.seen.is_subset(&new.seen) {
        true => Ok(()),
        false => Err(format!("{how}: {old:?} is lost to {new:?}")),
    }
}

/// The length of the sequences; set `RALPH_MODEL_LENGTH` for a longer test.
fn length() -> usize {
    std::env::var("RALPH_MODEL_LENGTH").ok().and_then(|text| text.parse().ok()).unwrap_or(7)
}

#[test]
fn no_edit_is_lost_between_two_clones_and_github_and_all_come_to_rest() {
    let first = [World::new(Some(0)), World::new(None)];
    let mut queue: VecDeque<(World, Vec<Act>)> = first.iter().map(|world| (world.clone(), Vec::new())).collect();
    let mut known = HashSet::from(first);
    while let Some((world, path)) = queue.pop_front() {
        if let Err(why) = world.rests() {
            panic!("{path:?} and then everybody syncs: {why}");
        }
        if path.len() == length() {
            continue;
        }
        for act in ACTS {
            let mut next = world.clone();
            let mut path: Vec<Act> = path.clone();
            path.push(act);
            if let Err(why) = next.act(act) {
                panic!("{path:?}: {why}");
            }
            // A person would resolve the conflict; this sequence ends here.
            let settled = next.clones.iter().all(|clone| !clone.conflict);
            if settled && known.insert(next.clone()) {
                queue.push_back((next, path));
            }
        }
    }
    assert!(known.len() > 1_000, "{} worlds", known.len());
}

//! Tests one task in two clones and one project exhaustively: every short sequence of syncs, kills, pulls, pushes,
//! deletions and removed markers. `compare` decides which issue belongs to the task, and the merge driver merges links.
//! Not covered: a marker that is removed from one of two issues which were created at the same moment, because such an
//! issue cannot be identified.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use super::compare::{Comparison, Lens, compare};
use super::local::{Local, Locals};
use crate::board::Place;
use crate::github::{
    Created, Features, Field, Item, Knowledge, Link, Marker, Node, RemoteIssue, issue_body, read_issue_body,
};
use crate::store::codec::Doc;
use crate::store::merge::merge;
use crate::task::{Key, Kind, TaskId, Value};
use crate::workflow::Workflow;

/// A version of the board in git: the task file with its issue number, and whether the journal says that the task was
/// deleted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Version {
    link: Option<Option<u64>>,
    deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ClonedBoard {
    here: Version,
    common: Version,
    retired: BTreeSet<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Issue {
    number: u64,
    marker: bool,
    deleted: bool,
    closed: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    clones: [ClonedBoard; 2],
    shared: Version,
    issues: Vec<Issue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Sync(usize),
    /// A sync that does not see the newest issue, because another clone syncs at the same moment.
    SyncBlind(usize),
    /// A sync that is killed after it created an issue, before the file links it.
    SyncKilled(usize),
    Pull(usize),
    Push(usize),
    Delete(usize),
    /// A person edits the text of the first issue and removes the marker.
    Unmark,
}

const ACTS: [Act; 13] = [
    Act::Sync(0),
    Act::Sync(1),
    Act::SyncBlind(0),
    Act::SyncBlind(1),
    Act::SyncKilled(0),
    Act::SyncKilled(1),
    Act::Pull(0),
    Act::Pull(1),
    Act::Push(0),
    Act::Push(1),
    Act::Delete(0),
    Act::Delete(1),
    Act::Unmark,
];

fn id() -> TaskId {
    TaskId::new("t-x7kq").expect("an id")
}

fn node(number: u64) -> Node {
    Node::new(format!("I{number}"))
}

/// The content of the task file.
fn text(link: Option<u64>) -> String {
    let linked = |number| format!("\n[github]\nnumber = {number}\nnode = \"I{number}\"\nitem = \"P{number}\"\n");
    format!("title = \"One\"\n{}", link.map(linked).unwrap_or_default())
}

fn locals(version: &Version) -> Locals {
    let mut locals = Locals::default();
    let Some(link) = version.link else { return locals };
    let doc = Doc::new(text(link)).expect("a file");
    let local = Local {
        id: id(),
        kind: Kind::Issue,
        title: "One".into(),
        values: BTreeMap::from([(Field::Title, Value::text("One")), (Field::State, Value::text("Backlog"))]),
        link: Link::read(doc.get(&Key::new("github")).as_ref()),
        notes: Vec::new(),
        created: None,
        place: Place::Task,
        pull: None,
        description: String::new(),
    };
    locals.tasks.insert(id(), local);
    locals
}

impl World {
    fn new() -> Self {
        let version = Version { link: Some(None), deleted: false };
        let clone = ClonedBoard { here: version.clone(), common: version.clone(), retired: BTreeSet::new() };
        Self { clones: [clone.clone(), clone], shared: version, issues: Vec::new() }
    }

    fn knowledge(&self, blind: bool) -> Knowledge {
        let mut known = Knowledge::default();
        let blind = blind && self.issues.iter().all(|issue| issue.marker);
        let seen = self.issues.len() - usize::from(blind && !self.issues.is_empty());
        for issue in &self.issues[..seen] {
            let marker = Marker { deleted: issue.deleted, ..Marker::of(&id(), None) };
            let created = Created {
                node: node(issue.number),
                number: issue.number,
                url: String::new(),
                title: "One".into(),
                body: if issue.marker { issue_body("", &marker) } else { String::new() },
                item: None,
            };
            let mut remote = RemoteIssue::fresh(&created, "acme/app", Vec::new());
            remote.closed = issue.closed.is_some();
            remote.reason = issue.closed.map(str::to_owned);
            known.items.push(Item::new(Node::new(format!("P{}", issue.number)), &remote));
            known.issues.insert(remote.node.clone(), remote);
        }
        known
    }

    fn sync(&mut self, at: usize, blind: bool, killed: bool) -> Result<(), String> {
        let clone = &self.clones[at];
        let (locals, known) = (locals(&clone.here), self.knowledge(blind));
        let flow = Workflow::builtin();
        let retired = clone.retired.iter().map(|number| node(*number)).collect();
        let deleted = clone.here.deleted;
        let lens = Lens {
            flow: &flow,
            features: Features::default(),
            repo: "acme/app",
            ancestor: &|_| None,
            deleted: &|_, _| deleted,
            retired: &retired,
            only: &BTreeSet::new(),
        };
        let all = compare(&locals, &known, &locals.names(), &lens);
        if let Some((item, _)) = all.adopts.first() {
            return Err(format!("#{} becomes a twin", item.number));
        }
        let tied = all.found.first().map(|(_, item)| item.number).or(all.older.first().map(|(_, item)| item.number));
        match tied {
            // Like `sync`, compare again after links were found.
            Some(number) => {
                self.clones[at].here.link = Some(Some(number));
                self.sync(at, blind, killed)
            }
            None => self.apply(at, &all, killed),
        }
    }

    /// Applies a comparison like `sync` does.
    fn apply(&mut self, at: usize, all: &Comparison<'_>, killed: bool) -> Result<(), String> {
        for pair in &all.pairs {
            let number = pair.issue.number;
            let issue = self.issues.iter_mut().find(|issue| issue.number == number).ok_or("no such issue")?;
            if issue.closed.is_some() && !issue.deleted {
                return Err(format!("#{number} was closed by ralph, and is taken for canceled"));
            }
            let marker = read_issue_body(&pair.issue.body).1;
            issue.marker |= marker.is_none();
        }
        for item in &all.retire {
            let issue = self.issues.iter_mut().find(|issue| issue.number == item.number).ok_or("no such issue")?;
            (issue.closed, issue.deleted, issue.marker) = (Some("NOT_PLANNED"), true, true);
            self.clones[at].retired.insert(item.number);
        }
        for (item, _) in all.copies.iter().filter(|(item, _)| !item.closed) {
            let issue = self.issues.iter_mut().find(|issue| issue.number == item.number).ok_or("no such issue")?;
            issue.closed = Some("DUPLICATE");
        }
        if !all.creates.is_empty() {
            let number = self.issues.len() as u64 + 1;
            self.issues.push(Issue { number, marker: true, deleted: false, closed: None });
            if !killed {
                self.clones[at].here.link = Some(Some(number));
            }
        }
        Ok(())
    }

    /// `None` if git leaves a conflict to a person: changed here, deleted there.
    fn pull(&mut self, at: usize) -> Option<()> {
        let ClonedBoard { here: ours, common, .. } = self.clones[at].clone();
        let theirs = self.shared.clone();
        let link = match (ours.link == common.link, theirs.link == common.link) {
            (_, true) => ours.link,
            (true, _) => theirs.link,
            _ => match (ours.link, theirs.link) {
                (Some(o), Some(t)) => {
                    let merged = merge(&text(common.link.flatten()), &text(o), &text(t)).expect("three files");
                    let doc = Doc::new(merged.text).expect("a file without conflicts");
                    Some(Link::read(doc.get(&Key::new("github")).as_ref()).number)
                }
                (None, None) => None,
                _ => return None,
            },
        };
        self.clones[at].here = Version { link, deleted: (ours.deleted || theirs.deleted) && link.is_none() };
        self.clones[at].common = theirs;
        Some(())
    }

    /// `Ok(false)` if a person has to continue.
    fn act(&mut self, act: Act) -> Result<bool, String> {
        match act {
            Act::Sync(at) => self.sync(at, false, false)?,
            Act::SyncBlind(at) => self.sync(at, true, false)?,
            Act::SyncKilled(at) => self.sync(at, false, true)?,
            Act::Pull(at) => return Ok(self.pull(at).is_some()),
            Act::Push(at) => {
                if self.clones[at].common == self.shared {
                    self.shared = self.clones[at].here.clone();
                    self.clones[at].common = self.shared.clone();
                }
            }
            Act::Delete(at) => {
                if self.clones[at].here.link.is_some() {
                    self.clones[at].here = Version { link: None, deleted: true };
                }
            }
            Act::Unmark => {
                if let [only] = self.issues.as_mut_slice() {
                    only.marker &= only.closed.is_some();
                }
            }
        }
        Ok(true)
    }

    fn rests(&self) -> Result<(), String> {
        let mut world = self.clone();
        for _ in 0..8 {
            let before = world.clone();
            for at in [0, 1] {
                for act in [Act::Sync(at), Act::Pull(at), Act::Push(at)] {
                    if !world.act(act)? {
                        return Ok(());
                    }
                }
            }
            if world == before {
                return world.is_right();
            }
        }
        Err(format!("it does not come to rest: {world:?}"))
    }

    fn is_right(&self) -> Result<(), String> {
        let open = self.issues.iter().filter(|issue| issue.closed.is_none()).count();
        let links: Vec<_> = self.clones.iter().map(|clone| clone.here.link).collect();
        let right = match links[0] {
            None => open == 0,
            Some(number) => number.is_some() && open == 1,
        };
        match right && links[0] == links[1] {
            true => Ok(()),
            false => Err(format!("at rest with {open} open issues: {self:?}")),
        }
    }
}

#[test]
fn a_task_of_two_clones_has_one_issue_whatever_they_do() {
    let length = std::env::var("RALPH_MODEL_LENGTH").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let mut queue = VecDeque::from([(World::new(), Vec::new())]);
    let mut known = HashSet::from([World::new()]);
    while let Some((world, path)) = queue.pop_front() {
        if let Err(why) = world.rests() {
            panic!("{path:?} and then everybody syncs: {why}");
        }
        if path.len() == length {
            continue;
        }
        for act in ACTS {
            let mut next = world.clone();
            let mut path: Vec<Act> = path.clone();
            path.push(act);
            match next.act(act) {
                Err(why) => panic!("{path:?}: {why}"),
                Ok(true) if known.insert(next.clone()) => queue.push_back((next, path)),
                Ok(_) => {}
            }
        }
    }
    assert!(known.len() > 400, "{} worlds", known.len());
}

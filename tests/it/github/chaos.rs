//! Two clones, GitHub and its users act, sync, share, fail and are killed in random order: in the end all sides agree,
//! nothing is duplicated, and nothing written is lost. Each clone edits its own fields, so that only GitHub can
//! conflict with them.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use fastrand::Rng;

use super::pair::Pair;
use crate::fake::Fault;

const STATES: [&str; 6] =
    ["Backlog", "Research Needed", "Ready for Plan", "Plan in Progress", "In Progress", "In Review"];

struct Chaos {
    pair: Pair,
    dice: Rng,
    ids: Vec<String>,
    /// Must exist in the end, once in each clone and once on GitHub.
    notes: Vec<(String, String)>,
    labels: Vec<(String, String)>,
    deleted: Vec<(String, String)>,
    log: Vec<String>,
}

#[test]
fn two_clones_and_github_come_to_rest_whatever_they_do() {
    let number = |name: &str, other| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(other);
    let first = number("RALPH_CHAOS_SEED", 0);
    for seed in first..first + number("RALPH_CHAOS_ROUNDS", 1) {
        let mut dice = Rng::with_seed(seed);
        let (pair, ids) = Pair::new(&["One", "Two", "Three"], dice.bool());
        let mut chaos = Chaos { pair, dice, ids, notes: vec![], labels: vec![], deleted: vec![], log: vec![] };
        for step in 0..20 {
            chaos.act(step);
        }
        chaos.settle();
        chaos.check(seed);
    }
}

impl Chaos {
    fn act(&mut self, step: usize) {
        let id = self.ids[self.dice.usize(..self.ids.len())].clone();
        let what = self.dice.u8(..22);
        self.log.push(format!("{step}: {what} {id}"));
        match what {
            0 => self.set('a', &id, &format!("priority=P{}", step % 4)),
            1 => self.set('b', &id, &format!("estimate={}", ["XS", "S", "M", "L"][step % 4])),
            2 => self.set('a', &id, &format!("title=Title {step}")),
            3 => self.set('b', &id, &format!("description=Text {step}.")),
            4 | 5 => {
                let (clone, label) = (if what == 4 { 'a' } else { 'b' }, format!("l{step}"));
                self.set(clone, &id, &format!("labels+={label}"));
                self.labels.push((id, label));
            }
            6 | 7 => {
                let (clone, text) = (if what == 6 { 'a' } else { 'b' }, format!("Note {step}."));
                let _ = self.ralph(clone, &["note", &id, &text]).ok();
                self.notes.push((id, text));
            }
            8 => {
                let state = STATES[self.dice.usize(..STATES.len())];
                let _ = self.ralph('a', &["move", &id, state, "--force"]);
            }
            9 => {
                self.ids.push(self.pair.mirror.add(&[&format!("New {step}")]));
                self.pair.to_b();
            }
            10 => self.delete(),
            11..=14 => self.person(&id, what, step),
            15 => drop(self.ralph('a', &["sync"])),
            16 => drop(self.ralph('b', &["sync"])),
            17 => self.at_once(),
            18 => self.killed(),
            19 => self.faulty(),
            20 => self.pair.to_b(),
            _ => self.pair.to_a(),
        }
    }

    fn ralph(&self, clone: char, args: &[&str]) -> crate::sandbox::Output {
        if clone == 'a' { self.pair.a(args) } else { self.pair.b(args) }
    }

    fn set(&self, clone: char, id: &str, assignment: &str) {
        let _ = self.ralph(clone, &["task", "set", id, assignment]).ok();
    }

    /// An edit by a user of GitHub.
    fn person(&self, id: &str, what: u8, step: usize) {
        let shown = self.ralph('a', &["show", id, "--json"]).json();
        let Some(number) = shown["github"]["number"].as_u64().and_then(|number| u32::try_from(number).ok()) else {
            return;
        };
        self.pair.mirror.world(|world| match what {
            11 => world.set_field(number, "Priority", Some(["P0", "P1", "P2", "P3"][step % 4])),
            12 => world.set_field(number, "Workflow State", Some(STATES[step % STATES.len()])),
            13 => {
                let body = world.issue(number).body.clone();
                let (text, marker) = body.split_once("<!--").map_or((body.as_str(), ""), |(text, mark)| (text, mark));
                let new = match step % 3 {
                    0 => format!("{body} PS {step}"),
                    1 => format!("{text}\n\nMore {step}."),
                    _ => format!("Above {step}.\n\n{text}<!--{marker}"),
                };
                world.edit_body(number, &new);
            }
            _ => {
                world.comment(number, "hubot", &format!("Word {step}."));
            }
        });
    }

    /// Deletes a task in one clone after all sides have seen it.
    fn delete(&mut self) {
        if self.ids.len() < 3 {
            return;
        }
        self.settle();
        let id = self.ids.remove(self.dice.usize(..self.ids.len()));
        let title = self.pair.field('a', &id, "title");
        let _ = self.pair.a(&["rm", &id, "--force"]).ok();
        self.notes.retain(|(task, _)| *task != id);
        self.labels.retain(|(task, _)| *task != id);
        self.deleted.push((id, title));
        if self.dice.bool() {
            drop(self.pair.a(&["sync"]));
        }
    }

    fn at_once(&self) {
        let folders = [self.pair.mirror.sandbox.root(), self.pair.second.clone()];
        let children = folders.map(|folder| {
            let mut command = self.pair.mirror.command(&folder);
            command.arg("sync").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        for mut child in children {
            child.wait().unwrap();
        }
    }

    /// A sync that is killed at one of its requests, before or after GitHub has handled it.
    fn killed(&mut self) {
        let fault = if self.dice.bool() { Fault::HoldBefore } else { Fault::HoldAfter };
        self.pair.mirror.fake.plan([(self.dice.usize(..8), fault)]);
        let folder = if self.dice.bool() { self.pair.mirror.sandbox.root() } else { self.pair.second.clone() };
        let mut command = self.pair.mirror.command(&folder);
        let mut child = command.arg("sync").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The sync may end with fewer requests.
        while child.try_wait().unwrap().is_none() && self.pair.mirror.fake.held().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
        self.pair.mirror.fake.plan([]);
    }

    fn faulty(&mut self) {
        let faults = [Fault::DropBefore, Fault::DropAfter, Fault::Truncate, Fault::BadGateway, Fault::BadGatewayAfter];
        let at = self.dice.usize(..8);
        self.pair.mirror.fake.plan([(at, faults[self.dice.usize(..faults.len())])]);
        drop(if self.dice.bool() { self.pair.a(&["sync"]) } else { self.pair.b(&["sync"]) });
        self.pair.mirror.fake.plan([]);
    }

    /// A person resolves the conflicts, then all sides sync until nothing is left to do.
    fn settle(&self) {
        for _ in 0..4 {
            // ralph waits before it repeats a creation whose answer was lost.
            self.pair.mirror.world(|world| world.advance(90));
            for clone in ['a', 'b'] {
                drop(self.ralph(clone, &["sync"]));
                for id in &self.ids {
                    self.resolve(clone, id);
                }
                drop(self.ralph(clone, &["sync"]));
                if clone == 'a' { self.pair.to_b() } else { self.pair.to_a() }
            }
        }
        self.pair.rest();
    }

    /// Each clone keeps its own fields and takes the others from GitHub.
    fn resolve(&self, clone: char, id: &str) {
        for (field, owner) in
            [("title", 'a'), ("priority", 'a'), ("state", 'a'), ("estimate", 'b'), ("description", 'b')]
        {
            let side = if owner == clone { "local" } else { "remote" };
            drop(self.ralph(clone, &["sync", "resolve", id, "--field", field, "--take", side]));
        }
    }

    fn check(&self, seed: u64) {
        let told = format!("seed {seed}: {:#?}", self.log);
        for id in &self.ids {
            let number = self.pair.mirror.number(id);
            let title = self.pair.field('a', id, "title");
            let marked = self.pair.mirror.world(|world| {
                let all = world.issues_in("acme/app");
                let open = all.iter().filter(|issue| !issue.closed && issue.body.contains(&format!("task={id} ")));
                open.map(|issue| format!("#{} {}: {}", issue.number, issue.title, issue.body)).collect::<Vec<_>>()
            });
            let closed = self.pair.mirror.world(|world| world.issue(number).closed);
            assert!(marked.len() == 1 || closed, "{id} is #{number}: {marked:#?}, {told}");
            for field in ["title", "priority", "estimate", "labels", "state", "description", "owner"] {
                let (a, b) = (self.pair.field('a', id, field), self.pair.field('b', id, field));
                assert_eq!(a, b, "{field} of {id} {title}, {told}");
            }
            let there =
                self.pair.mirror.world(|world| (world.value(number, "Priority"), world.issue(number).title.clone()));
            let shown = there.0.unwrap_or_else(|| "null".into());
            assert_eq!((shown, there.1), (self.pair.field('a', id, "priority"), title), "{id} {told}");
        }
        for (id, label) in &self.labels {
            assert!(self.pair.field('b', id, "labels").contains(label.as_str()), "{label} of {id}, {told}");
        }
        for (id, text) in &self.notes {
            for clone in ['a', 'b'] {
                let shown = self.ralph(clone, &["show", id, "--json"]).json();
                let texts = shown["notes"].as_array().unwrap().iter().filter(|note| note["text"] == text.as_str());
                assert_eq!(texts.count(), 1, "{text} in {clone}, {told}");
            }
            let number = self.pair.mirror.number(id);
            let said = self.pair.mirror.world(|world| {
                world.comments(number).iter().filter(|comment| comment.body.contains(text.as_str())).count()
            });
            assert_eq!(said, 1, "{text} on GitHub, {told}");
        }
        let known: BTreeSet<&String> = self.ids.iter().collect();
        for (id, title) in &self.deleted {
            assert!(!known.contains(id));
            for clone in ['a', 'b'] {
                assert_ne!(self.ralph(clone, &["show", id]).code, 0, "{id} {title} is back in {clone}, {told}");
            }
        }
    }
}

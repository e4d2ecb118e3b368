//! Random edits on both sides, random faults and kills: afterwards both sides agree except for recorded conflicts, no
//! update is lost, and nothing is duplicated. The expected result is computed independently by a model.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use super::Mirror;
use crate::fake::Fault;

const SCALARS: [&str; 5] = ["title", "description", "state", "priority", "estimate"];
const SETS: [&str; 2] = ["labels", "blocked_by"];
const OPEN: [&str; 4] = ["Backlog", "Ready for Plan", "In Review", "Human Needed"];

/// A field of a task. The value of a set is its sorted members, separated by commas.
type Cell = (String, &'static str);
type Sheet = BTreeMap<Cell, String>;

struct Model {
    mirror: Mirror,
    rng: fastrand::Rng,
    /// The values that both sides last agreed on.
    base: Sheet,
    /// The last state change of an issue by a person that is not on the board yet.
    moved: BTreeMap<String, String>,
    /// The texts of all notes and comments, which must exist exactly once.
    said: BTreeSet<String>,
    /// A change on GitHub that only a full sync sees.
    hidden: bool,
    turn: usize,
}

fn joined(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",")
}

fn parted(text: &str) -> BTreeSet<String> {
    text.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The merged value; `None` is a conflict.
fn expected(field: &str, local: &str, remote: &str, base: &str) -> Option<String> {
    if local == remote || remote == base {
        return Some(local.to_owned());
    }
    if local == base {
        return Some(remote.to_owned());
    }
    if !SETS.contains(&field) {
        return None;
    }
    let (l, r, b) = (parted(local), parted(remote), parted(base));
    let stays = |item: &&String| !b.contains(*item) || (l.contains(*item) && r.contains(*item));
    Some(joined(l.union(&r).filter(stays).cloned()))
}

impl Model {
    fn new(seed: u64) -> Self {
        let model = Self {
            mirror: Mirror::new(),
            rng: fastrand::Rng::with_seed(seed),
            base: Sheet::new(),
            moved: BTreeMap::new(),
            said: BTreeSet::new(),
            hidden: false,
            turn: 0,
        };
        for n in 0..5 {
            model.mirror.add(&[&format!("Task {n}"), "--body", "text"]);
        }
        model
    }

    /// Every task with the number of its issue, if it has one.
    fn tasks(&self) -> BTreeMap<String, (toml::Table, Option<u32>)> {
        let folder = self.mirror.sandbox.root().join(".ralph/tasks");
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let Some(id) = name.strip_suffix(".toml").filter(|id| !id.starts_with('.')) else { continue };
            let table: toml::Table = std::fs::read_to_string(entry.path()).unwrap().parse().unwrap();
            let number = table.get("github").and_then(|github| github.get("number")).and_then(toml::Value::as_integer);
            found.insert(id.to_owned(), (table, number.map(|number| u32::try_from(number).unwrap())));
        }
        found
    }

    fn local(&self) -> Sheet {
        let mut sheet = Sheet::new();
        for (id, (table, number)) in self.tasks() {
            if number.is_none() {
                continue;
            }
            let text =
                |field: &str| table.get(field).and_then(toml::Value::as_str).unwrap_or_default().trim_end().to_owned();
            let items = |field: &str| {
                table
                    .get(field)
                    .and_then(toml::Value::as_array)
                    .into_iter()
                    .flatten()
                    .map(|item| item.as_str().unwrap().to_owned())
            };
            SCALARS.iter().for_each(|field| drop(sheet.insert((id.clone(), field), text(field))));
            SETS.iter().for_each(|field| drop(sheet.insert((id.clone(), field), joined(items(field)))));
        }
        sheet
    }

    fn remote(&self) -> Sheet {
        let tasks = self.tasks();
        let names: BTreeMap<u32, &String> =
            tasks.iter().filter_map(|(id, (_, number))| Some(((*number)?, id))).collect();
        let world = self.mirror.fake.world();
        let mut sheet = Sheet::new();
        for (number, id) in &names {
            let issue = world.issue(*number);
            let body = issue.body.split("<!-- ralph").next().unwrap().trim_end().to_owned();
            let shown = world.value(*number, "Workflow State").unwrap_or_default();
            // If the item's state fits the issue, it counts; otherwise the last change does.
            let fits = ["Done", "Canceled"].contains(&shown.as_str()) == issue.closed && !shown.is_empty();
            let state = self.moved.get(*id).filter(|_| !fits).cloned().unwrap_or(shown);
            let blockers =
                world.blocked_by(*number).into_iter().filter_map(|number| names.get(&number)).map(|id| (*id).clone());
            let mut put = |field: &'static str, value: String| drop(sheet.insert(((*id).clone(), field), value));
            put("title", issue.title.clone());
            put("description", body);
            put("state", state);
            put("priority", world.value(*number, "Priority").unwrap_or_default());
            put("estimate", world.value(*number, "Estimate").unwrap_or_default());
            put("labels", joined(world.labels(*number)));
            put("blocked_by", joined(blockers));
        }
        sheet
    }

    fn fresh(&mut self, word: &str) -> String {
        self.turn += 1;
        format!("{word} {}", self.turn)
    }

    fn pick(&mut self) -> Option<(String, u32)> {
        let linked: Vec<(String, u32)> =
            self.tasks().into_iter().filter_map(|(id, (_, number))| Some((id, number?))).collect();
        if linked.is_empty() { None } else { Some(linked[self.rng.usize(..linked.len())].clone()) }
    }

    /// An edit on the board by a person or a worker.
    fn edit_here(&mut self) {
        let (Some((task, number)), Some((other, older))) = (self.pick(), self.pick()) else { return };
        let choice = self.rng.u8(..9);
        let word = format!("{} {}", ["Here", "text here", "note", "New here"][self.rng.usize(..4)], self.turn);
        self.turn += 1;
        let run = |args: &[&str]| drop(self.mirror.ralph(args));
        match choice {
            0 => {
                let title = &word;
                // By hand, in the file.
                let text = self.mirror.sandbox.read_task(&task);
                let line = text.lines().find(|line| line.starts_with("title = ")).unwrap();
                self.mirror.sandbox.write_task(&task, text.replacen(line, &format!("title = \"{title}\" # mine"), 1));
            }
            1 => {
                run(&["task", "set", &task, &format!("body={word}")]);
            }
            2 => {
                let states = [OPEN.as_slice(), &["Done", "Canceled"]].concat();
                run(&["move", &task, states[self.rng.usize(..states.len())], "--force"]);
            }
            3 => run(&["task", "set", &task, &format!("priority=P{}", self.rng.u8(..4))]),
            4 => run(&["task", "set", &task, ["estimate=XS", "estimate=S", "estimate="][self.rng.usize(..3)]]),
            5 => run(&[
                "task",
                "set",
                &task,
                &format!("labels{}=label-{}", ['+', '-'][self.rng.usize(..2)], self.rng.u8(..5)),
            ]),
            6 => match self.rng.bool() {
                // A blocker is always older, so that there are no cycles.
                true if older < number => run(&["block", &task, "--on", &other]),
                true => {}
                false => run(&["unblock", &task, "--from", &other]),
            },
            7 => {
                run(&["note", &task, &word]);
                self.said.insert(word);
            }
            _ if self.tasks().len() < 12 => {
                self.mirror.add(&[&word]);
            }
            _ => {}
        }
    }

    /// An edit on GitHub by a person.
    fn edit_there(&mut self) {
        let Some((task, number)) = self.pick() else { return };
        let other = self.pick().map(|(_, number)| number);
        match self.rng.u8(..9) {
            0 => {
                let title = self.fresh("There");
                self.mirror.world(|world| world.edit_title(number, &title));
            }
            1 => {
                let text = self.fresh("text there");
                self.mirror.world(|world| {
                    let body = world.issue(number).body.clone();
                    let marker = body.find("<!-- ralph").map(|at| body[at..].to_owned()).unwrap_or_default();
                    world.edit_body(number, &format!("{text}\r\n\r\n{marker}"));
                });
            }
            2 => self.move_there(&task, number),
            3 => {
                let option = [Some("P0"), Some("P3"), None][self.rng.usize(..3)];
                self.mirror.world(|world| world.set_field(number, "Priority", option));
            }
            4 => {
                let option = [Some("XS"), Some("S"), None][self.rng.usize(..3)];
                self.mirror.world(|world| world.set_field(number, "Estimate", option));
            }
            5 => self.label_there(number),
            6 => self.block_there(number, other),
            7 => {
                let text = self.fresh("comment");
                self.mirror.world(|world| world.comment(number, "hubot", &text));
                self.said.insert(text);
            }
            _ if self.tasks().len() < 12 => {
                let title = self.fresh("New there");
                self.mirror.world(|world| {
                    let number = world.add_issue("acme/app", &title, "text");
                    world.add_to_project(1, number);
                });
            }
            _ => {}
        }
        self.mirror.world(|world| world.advance(3));
    }

    fn label_there(&mut self, number: u32) {
        let (label, adds) = (format!("label-{}", self.rng.u8(..5)), self.rng.bool());
        self.mirror.world(|world| {
            let has = world.labels(number).contains(&label);
            match adds {
                true if !has => {
                    if !world.labels.values().any(|other| other.name == label) {
                        world.add_repo_label("acme/app", &label, "ededed");
                    }
                    world.add_label(number, &label);
                }
                false if has => world.remove_label(number, &label),
                _ => {}
            }
        });
    }

    fn block_there(&mut self, number: u32, other: Option<u32>) {
        let removes = self.rng.bool();
        self.mirror.world(|world| match (other, removes) {
            (Some(other), false) if other < number && !world.blocked_by(number).contains(&other) => {
                world.add_blocked_by(number, other);
            }
            (Some(other), true) if world.blocked_by(number).contains(&other) => {
                world.remove_blocked_by(number, other);
            }
            _ => {}
        });
        self.hidden = true;
    }

    /// Closes or reopens an issue or moves its item, only once until the board has seen it.
    fn move_there(&mut self, task: &str, number: u32) {
        let cell = (task.to_owned(), "state");
        let Some(base) = self.base.get(&cell).cloned() else { return };
        let closed = self.mirror.world(|world| world.issue(number).closed);
        let shown = self.mirror.world(|world| world.value(number, "Workflow State"));
        let is_closed = ["Done", "Canceled"].contains(&base.as_str());
        // Only from an agreed state, so that the change is unambiguous.
        if closed != is_closed || shown.as_deref() != Some(&base) {
            return;
        }
        let card = OPEN[self.rng.usize(..OPEN.len())];
        let to = match (is_closed, self.rng.u8(..3)) {
            (true, 0) => {
                self.mirror.world(|world| world.reopen_issue(number));
                "Backlog"
            }
            (false, 0) => {
                self.mirror.world(|world| world.close_issue(number, "COMPLETED"));
                "Done"
            }
            (false, 1) => {
                self.mirror.world(|world| world.close_issue(number, "NOT_PLANNED"));
                "Canceled"
            }
            _ => {
                self.mirror.world(|world| world.set_field(number, "Workflow State", Some(card)));
                card
            }
        };
        self.moved.insert(task.to_owned(), to.to_owned());
    }

    fn settle_a_conflict(&mut self) {
        for (task, (table, _)) in self.tasks() {
            let conflicts =
                table.get("github").and_then(|github| github.get("conflict")).and_then(toml::Value::as_table);
            let Some((field, value)) = conflicts.and_then(|conflicts| conflicts.iter().next()) else { continue };
            let Some(field) = SCALARS.into_iter().find(|name| name == field) else { continue };
            let value = value.as_str().unwrap_or_default().trim_end().to_owned();
            let side = ["local", "remote"][self.rng.usize(..2)];
            let done = self.mirror.ralph(&["sync", "resolve", &task, "--field", field, "--take", side]);
            if done.code == 0 {
                self.base.insert((task, field), value);
            }
            return;
        }
    }

    /// Runs sync, perhaps with a fault; `true` if it ended as it should.
    fn sync(&mut self) -> bool {
        let mut args = vec!["sync", "--force"];
        if self.hidden || self.rng.u8(..4) == 0 {
            args.push("--full");
        }
        let faults = [
            Fault::DropBefore,
            Fault::DropAfter,
            Fault::Truncate,
            Fault::BadGateway,
            Fault::BadGatewayAfter,
            Fault::Forbidden { retry_after: Some(0) },
            Fault::AliasFails(0),
            Fault::AliasFails(2),
            Fault::ResourceLimits,
        ];
        match self.rng.u8(..10) {
            0..=3 => {
                let plan: Vec<_> = (0..self.rng.usize(1..4))
                    .map(|_| (self.rng.usize(..14), faults[self.rng.usize(..faults.len())]))
                    .collect();
                self.mirror.fake.plan(plan);
                let _ = self.mirror.ralph(&args);
                self.mirror.fake.plan([]);
                false
            }
            4..=5 => {
                let hold = [Fault::HoldBefore, Fault::HoldAfter][self.rng.usize(..2)];
                self.mirror.fake.plan([(self.rng.usize(..14), hold)]);
                let mut child = self
                    .mirror
                    .command(&self.mirror.sandbox.root())
                    .args(&args)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                while child.try_wait().unwrap().is_none() {
                    if self.mirror.fake.wait_held(Duration::from_millis(20)) {
                        child.kill().unwrap();
                    }
                }
                self.mirror.fake.plan([]);
                false
            }
            6 => {
                args.push(["--push", "--pull"][self.rng.usize(..2)]);
                let _ = self.mirror.ralph(&args);
                false
            }
            _ => {
                let said = self.mirror.ralph(&args);
                assert!(said.code <= 1, "{said}");
                self.hidden = false;
                !said.stdout.contains("unknown") && !said.stdout.contains("not done")
            }
        }
    }

    fn round(&mut self, name: &str) {
        for _ in 0..self.rng.u8(..4) {
            self.edit_here();
        }
        for _ in 0..self.rng.u8(..4) {
            self.edit_there();
        }
        if self.rng.u8(..4) == 0 {
            self.settle_a_conflict();
        }
        if self.rng.u8(..6) == 0 {
            self.mirror.world(|world| world.advance(700));
        }
        let (local, remote) = (self.local(), self.remote());
        let whole = self.sync();
        self.compare(&local, &remote, whole, name);
    }

    fn compare(&mut self, local: &Sheet, remote: &Sheet, whole: bool, round: &str) {
        let here = self.local();
        self.forget_moves();
        let there = self.remote();
        for (cell, now) in &here {
            let (id, field) = cell;
            let context = || {
                format!(
                    "{round}: {id} {field}: here {:?} → {now:?}, there {:?} → {:?}, base {:?}, whole {whole}\n{}",
                    local.get(cell),
                    remote.get(cell),
                    there.get(cell),
                    self.base.get(cell),
                    self.mirror.sandbox.read_task(id)
                )
            };
            let (Some(l), Some(r), Some(b)) = (local.get(cell), remote.get(cell), self.base.get(cell)) else {
                if there.get(cell) == Some(now) {
                    self.base.insert(cell.clone(), now.clone());
                }
                continue;
            };
            let (l2, r2) = (now, &there[cell]);
            match expected(field, l, r, b) {
                None => assert!(l2 == l && r2 == r, "a conflict changes nothing: {}", context()),
                Some(e) if whole => assert!(*l2 == e && *r2 == e, "both should be {e:?}: {}", context()),
                Some(e) => {
                    assert!((l2 == l || *l2 == e) && (r2 == r || *r2 == e), "only {e:?} is possible: {}", context());
                }
            }
            if l2 == r2 {
                self.base.insert(cell.clone(), l2.clone());
            } else if l2 != l {
                self.base.insert(cell.clone(), r.clone());
            }
        }
        if whole {
            self.check_counts();
        }
    }

    /// Once an item fits its issue again, earlier changes do not matter.
    fn forget_moves(&mut self) {
        let numbers: BTreeMap<String, u32> =
            self.tasks().into_iter().filter_map(|(id, (_, number))| Some((id, number?))).collect();
        let world = self.mirror.fake.world();
        self.moved.retain(|task, _| {
            numbers.get(task).is_some_and(|number| {
                let shown = world.value(*number, "Workflow State").unwrap_or_default();
                ["Done", "Canceled"].contains(&shown.as_str()) != world.issue(*number).closed
            })
        });
    }

    fn check_counts(&self) {
        let tasks = self.tasks();
        let issues = self.mirror.world(|world| world.issues_in("acme/app").len());
        assert_eq!(tasks.len(), issues, "as many issues as tasks");
        let comments: Vec<String> =
            self.mirror.world(|world| world.comments.values().map(|comment| comment.body.clone()).collect());
        for text in &self.said {
            let times = comments
                .iter()
                .filter(|body| {
                    body.split("<!-- ralph").next().unwrap().trim_end().rsplit("**:\n\n").next() == Some(text.as_str())
                })
                .count();
            assert_eq!(times, 1, "{text:?} must exist once: {comments:?}");
        }
        let notes = walk(&self.mirror.sandbox.root().join(".ralph/notes"));
        for text in &self.said {
            let times = notes.iter().filter(|note| note.ends_with(&format!("\n\n{text}\n"))).count();
            assert_eq!(times, 1, "{text:?} must exist once");
        }
    }

    /// Without faults both sides agree, and a second sync finds nothing to do.
    fn finish(self) {
        for _ in 0..3 {
            self.mirror.world(|world| world.advance(700));
            let _ = self.mirror.ralph(&["sync", "--full", "--force"]);
        }
        let (here, there) = (self.local(), self.remote());
        for (cell, value) in &here {
            let conflict =
                self.tasks()[&cell.0].0.get("github").and_then(|github| github.get("conflict")?.get(cell.1)).is_some();
            assert!(conflict || there[cell] == *value, "{cell:?}: {value:?} here, {:?} there", there[cell]);
        }
        self.check_counts();
        self.mirror.fake.clear_log();
        let _ = self.mirror.ralph(&["sync", "--full"]);
        let writes: Vec<_> = self.mirror.fake.log().into_iter().filter(|logged| logged.kind == "mutation").collect();
        assert!(writes.is_empty(), "{writes:?}");
    }
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn random_edits_faults_and_kills_lose_and_double_nothing() {
    let rounds: usize =
        std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5) * 25;
    let seed: u64 = std::env::var("RALPH_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    // Several boards, since each one reaches different situations.
    for part in 0..(rounds / 50).max(1) {
        let mut model = Model::new(seed + part as u64);
        for round in 0..rounds.min(50) {
            model.round(&format!("board {part}, round {round}"));
        }
        model.finish();
    }
}

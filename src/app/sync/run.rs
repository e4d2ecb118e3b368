//! One run: look, compare, take in, hand out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::adopt::{adopt, parents_follow};
use super::calls::{self, Planned, Settles, calls};
use super::compare::{Comparison, Lens, NoteMove, compare};
use super::edits::{Agreed, agree};
use super::local::{Local, Locals, stem};
use super::memory::{Intent, ancestor, drop_intent, drop_retired, intents, knowledge_path, note_retired, retired};
use super::plan::{Plan, Way, estimate, rows};
use super::pull::{Intake, note_losses, take, tie_found};
use super::push::{Failed, Pushed, Pusher, texts};
use super::target::{Calm, Target};
use super::{Directions, Mirrored, SyncAsk, SyncStep, Synced};
use crate::app::{Failure, Workspace};
use crate::board::{Change, Place};
use crate::github::{
    Call, Client, Decision, Features, Field, Item, Knowledge, Label, Link, Names, Node, Project, Repo, Wanted,
    read_issue_body, remote_values,
};
use crate::task::{Kind, StateName, TaskId, Value};

pub fn sync(ws: &Workspace, ask: &SyncAsk, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Synced, Failure> {
    let (target, number) = Target::ready(ws)?;
    let Some(_one_at_a_time) = ws.store.try_sync_lock()? else {
        return Err(Failure::new(crate::app::FailureKind::Raced, "busy", "another sync is running")
            .hint(crate::app::Hint::Retry));
    };
    let tell = std::cell::RefCell::new(tell);
    let mut waits = |wait: &crate::github::Wait| (tell.borrow_mut())(SyncStep::Waiting(wait));
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let mut run = Run::open(ws, ask, target, &client)?;
    let told = &mut |step: SyncStep<'_>| (tell.borrow_mut())(step);
    run.look(number, told)?;
    let result = run.bring_together(told);
    // Whatever became of it, what was seen is worth keeping.
    let saved = run.known.save(&knowledge_path(ws));
    let mut synced = result?;
    saved?;
    synced.requests = client.requests();
    Ok(synced)
}

pub(super) struct Run<'a> {
    ws: &'a Workspace,
    ask: &'a SyncAsk,
    target: Target,
    client: &'a Client<'a>,
    pub known: Knowledge,
    features: Features,
    project: Option<Project>,
    viewer: String,
    scanned: Instant,
    /// Creates of earlier runs whose outcome is still unknown.
    waiting: Vec<Intent>,
}

impl<'a> Run<'a> {
    pub fn open(ws: &'a Workspace, ask: &'a SyncAsk, target: Target, client: &'a Client<'a>) -> Result<Self, Failure> {
        let known = Knowledge::load(&knowledge_path(ws));
        Ok(Self {
            ws,
            ask,
            target,
            client,
            known,
            features: Features::default(),
            project: None,
            viewer: String::new(),
            scanned: Instant::now(),
            waiting: Vec::new(),
        })
    }

    /// The project as it is now, and every issue that has changed since it was last seen.
    pub fn look(&mut self, number: u64, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<(), Failure> {
        let lookup = self.client.project(&self.target.owner, number)?;
        let owner = &self.target.owner;
        let project = lookup.project.ok_or_else(|| {
            Failure::refused("no-project", format!("there is no project {number} of {owner}, or not for this token"))
                .advice(
                    "nothing was changed: `ralph sync init` finds or makes one; `ralph sync doctor` looks at the token",
                )
        })?;
        if project.closed {
            return Err(Failure::refused("closed-project", format!("the project {:?} is closed", project.title))
                .advice(format!("reopen it at {}, or set up another with `ralph sync init`", project.url)));
        }
        self.refuse_unfit(&project)?;
        if self.known.project.as_ref() != Some(&project.id) {
            self.known = Knowledge { project: Some(project.id.clone()), ..Knowledge::default() };
        }
        self.viewer = lookup.viewer;
        self.features = self.client.features(&mut self.known)?;
        let mut told = |done, of| tell(SyncStep::Scanning { done, of });
        self.scanned = Instant::now();
        self.known.items = self.client.scan(&project.id, &self.target.names, self.features, &mut told)?;
        self.known.scanned_at = self.client.server_now();
        self.project = Some(project);
        let mut told = |done, of| tell(SyncStep::Reading { done, of });
        self.read(&mut told)?;
        self.recover()?;
        Ok(self.known.save(&knowledge_path(self.ws))?)
    }

    fn project(&self) -> &Project {
        self.project.as_ref().expect("a run looks first")
    }

    /// Every state must have its option: without, a state could not be told apart from none.
    fn refuse_unfit(&self, project: &Project) -> Result<(), Failure> {
        let wanted = super::init::wanted(self.ws.flow(), &self.target.names);
        for Wanted { name, .. } in &wanted {
            if project.field(name).is_none() {
                return Err(Failure::refused(
                    "no-field",
                    format!("the project {:?} has no field {name:?}", project.title),
                )
                .advice("nothing was changed: `ralph sync init` makes it"));
            }
        }
        for wanted in &wanted {
            let Some(field) = project.field(&wanted.name) else { continue };
            let missing = field.lacks(wanted);
            if missing.is_empty() {
                continue;
            }
            let known: Vec<&str> = wanted.options.iter().map(|(name, _)| name.as_str()).collect();
            let strange: Vec<&str> =
                field.options.iter().map(|option| option.name.as_str()).filter(|name| !known.contains(name)).collect();
            let renamed = if strange.is_empty() { String::new() } else { format!("; it has {}", strange.join(", ")) };
            let message = format!("the field {} has no option {}{renamed}", wanted.name, missing.join(", "));
            return Err(Failure::refused("no-option", message)
                .advice(format!("nothing was changed: if it was renamed, rename it back at {}", project.url))
                .advice("`ralph sync init` adds what is missing and keeps what is there"));
        }
        Ok(())
    }

    /// Reads what has changed, what tasks are linked to and the scan does not show, and what a run that died was about.
    fn read(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let rows: BTreeSet<&Node> = self.known.items.iter().map(|item| &item.id).collect();
        let shown: BTreeSet<&Node> = self.known.items.iter().map(|item| &item.issue).collect();
        let hidden =
            locals.tasks.values().filter(|local| !local.link.item.as_ref().is_some_and(|item| rows.contains(item)));
        let mut wanted: BTreeSet<Node> =
            hidden.filter_map(|local| local.link.node.clone()).filter(|node| !shown.contains(node)).collect();
        self.waiting = intents(self.ws)?;
        let noted = self.waiting.iter().filter(|intent| intent.note.is_some());
        wanted.extend(noted.filter_map(|intent| locals.tasks.get(&intent.task)?.link.node.clone()));
        self.client.refresh(&mut self.known, self.features, &wanted, self.ask.full, tell)?;
        let keep: BTreeSet<Node> =
            self.known.items.iter().map(|item| item.issue.clone()).chain(wanted.iter().cloned()).collect();
        self.known.issues.retain(|node, _| keep.contains(node));
        // A server that does not list what is archived still says so of an issue.
        let project = self.project().id.clone();
        for node in &wanted {
            let Some(issue) = self.known.issues.get(node) else { continue };
            let row = issue.items.iter().find(|(_, of, _)| *of == project).cloned();
            if let Some((item, _, archived)) = row.filter(|_| self.known.item_of(node).is_none()) {
                self.known.items.push(Item::unread(item, issue, archived));
            }
        }
        Ok(())
    }

    /// Issues that a run which died may have made: listed, and put beside their rows.
    fn recover(&mut self) -> Result<(), Failure> {
        let issues: Vec<Intent> = self.waiting.iter().filter(|intent| intent.note.is_none()).cloned().collect();
        let Some(oldest) = issues.iter().map(|intent| intent.at).min() else { return Ok(()) };
        let since = oldest.checked_sub(jiff::SignedDuration::from_hours(1)).unwrap_or(oldest);
        let listed = self.client.created_since(&self.target.slug, &self.viewer, since)?;
        let mut found = BTreeSet::new();
        for (node, _, body) in listed {
            let marker = read_issue_body(&body).1;
            let ours = marker.is_some_and(|marker| issues.iter().any(|intent| intent.task == marker.task));
            if ours && self.known.item_of(&node).is_none() {
                found.insert(node);
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        self.client.refresh(&mut self.known, self.features, &found, false, &mut |_, _| {})?;
        for node in found {
            let call = Call::AddItem { project: self.project().id.clone(), issue: node.clone() };
            let outcome = self.client.call(&[call])?.pop();
            if let (Some(crate::github::Outcome::Done(Some(item))), Some(issue)) =
                (outcome, self.known.issues.get(&node))
            {
                self.known.items.push(Item::unread(Node::new(item), issue, false));
            }
        }
        Ok(())
    }

    fn compare<'b>(&self, locals: &'b Locals, known: &'b Knowledge, names: &Names) -> Comparison<'b> {
        let ancestor = |local: &Local| ancestor(self.ws, local);
        let lens = Lens {
            flow: self.ws.flow(),
            features: self.features,
            repo: &self.target.slug.to_string(),
            ancestor: &ancestor,
            only: &self.ask.only,
        };
        compare(locals, known, names, &lens)
    }

    fn bring_together(&mut self, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Synced, Failure> {
        let mut synced = Synced { dry_run: self.ask.dry_run, ..Synced::default() };
        let locals = Locals::read(self.ws)?;
        for (first, second) in &locals.twins {
            self.ws.notice(format!(
                "{second} says that it is the same issue as {first}: it is left out; `ralph sync doctor` tells more"
            ));
        }
        if !self.ask.dry_run && self.bring_back(&locals)? {
            return self.bring_together(tell);
        }
        let mut names = locals.names();
        let all = self.compare(&locals, &self.known, &names);
        let retire = self.retired(&all)?;
        self.brake(&all, &locals, retire.len())?;
        let numbers: Vec<u64> = retire.iter().map(|item| item.number).collect();
        synced.plan = Plan { rows: rows(&all, &numbers), ..Plan::default() };
        if self.ask.dry_run {
            let calls =
                all.pairs.iter().flat_map(|pair| calls(pair, &self.lens(&names, &BTreeMap::new()))).collect::<Vec<_>>();
            let pace = self.ws.settings.duration("github.pace");
            (synced.plan.requests, synced.plan.seconds) = estimate(&all, &calls, numbers.len(), pace);
            synced.conflicts = synced.plan.rows.iter().filter(|row| row.way == Way::Conflict).cloned().collect();
            return Ok(synced);
        }
        synced.found = tie_found(self.ws, &all, &self.known, &names)?;
        note_losses(self.ws, &all)?;
        self.take_in(&all, &mut names, &mut synced, tell)?;
        let retire: Vec<Item> = retire.into_iter().cloned().collect();
        drop(all);
        if self.ask.directions != Directions::Pull {
            self.hand_out(&retire, &mut synced, tell)?;
            synced.retired = numbers;
        }
        self.conclude(&mut synced)?;
        Ok(synced)
    }

    fn take_in(
        &self,
        all: &Comparison<'_>,
        names: &mut Names,
        synced: &mut Synced,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let intake = if self.ask.directions == Directions::Push { Intake::Closed } else { Intake::Open };
        for (done, pair) in all.pairs.iter().enumerate() {
            if done % 50 == 0 {
                tell(SyncStep::Taking { done, of: all.pairs.len() });
            }
            let taken = take(self.ws, pair, intake)?;
            synced.pulled += taken.fields.len();
            synced.comments_in += taken.notes;
            taken.refused.into_iter().for_each(|why| self.ws.notice(why));
        }
        if intake == Intake::Open {
            let made = adopt(self.ws, all, names)?;
            parents_follow(self.ws, &made)?;
            self.take_comments(&made, synced)?;
            synced.adopted = made.into_iter().map(|(task, number)| Mirrored { task, number }).collect();
        }
        for (item, task) in &all.orphans {
            if !self.was_removed(task)? && !item.closed {
                self.ws.notice(format!(
                    "#{} mirrors {task}, which is not on this board: `ralph pull` may bring it",
                    item.number
                ));
            }
        }
        Ok(())
    }

    /// What people have said to issues that have just become tasks.
    fn take_comments(&self, made: &[(TaskId, u64)], synced: &mut Synced) -> Result<(), Failure> {
        if made.is_empty() {
            return Ok(());
        }
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, &self.known, &locals.names());
        for pair in all.pairs.iter().filter(|pair| made.iter().any(|(task, _)| *task == pair.local.id)) {
            synced.comments_in += take(self.ws, pair, Intake::Open)?.notes;
        }
        Ok(())
    }

    fn lens<'b>(&'b self, names: &'b Names, labels: &'b BTreeMap<String, Label>) -> calls::Lens<'b> {
        calls::Lens { project: self.project(), fields: &self.target.names, flow: self.ws.flow(), names, labels }
    }

    fn hand_out(
        &mut self,
        retire: &[Item],
        synced: &mut Synced,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let mut known = std::mem::take(&mut self.known);
        let mut pushed = Pushed::default();
        let done = self.push_all(&mut known, retire, &mut pushed, tell);
        self.known = known;
        synced.created = pushed.created.into_iter().map(|(task, number)| Mirrored { task, number }).collect();
        synced.pushed = pushed.fields;
        synced.comments_out = pushed.comments;
        synced.tidied = pushed.tidied;
        synced.failed = pushed.failed;
        done
    }

    fn push_all(
        &self,
        known: &mut Knowledge,
        retire: &[Item],
        pushed: &mut Pushed,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let waiting = self.still_waiting()?;
        let mut pusher = Pusher {
            ws: self.ws,
            client: self.client,
            project: self.project(),
            fields: &self.target.names,
            repo: Repo::unread(&self.target.slug),
            features: self.features,
            scanned: self.scanned,
            pushed,
            stale: BTreeSet::new(),
        };
        // Rows for issues that are back, before anything is compared with them.
        pusher.add_items(&rowless(&Locals::read(self.ws)?, known), known)?;
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, known, &locals.names());
        let new: Vec<&Local> = {
            let wanted = all.creates.iter().filter(|local| !waiting.contains(&(local.id.clone(), None)));
            wanted.filter_map(|local| locals.tasks.get(&local.id)).collect()
        };
        let labels = wanted_labels(&all, &new);
        drop(all);
        if !new.is_empty() || !labels.is_empty() {
            pusher.repo = self.client.repository(&self.target.slug)?;
            refuse_unwritable(&pusher.repo)?;
        }
        pusher.ensure_labels(&labels)?;
        pusher.create(&new, known, tell)?;
        pusher.add_items(&rowless(&Locals::read(self.ws)?, known), known)?;
        let locals = Locals::read(self.ws)?;
        let names = locals.names();
        let all = self.compare(&locals, known, &names);
        let mut planned = pusher.plan_calls(&all, &names);
        for item in retire {
            planned.extend(self.retiring(item));
            note_retired(self.ws, &item.issue)?;
        }
        let touched: BTreeSet<Node> = planned.iter().filter_map(|step| step.issue.clone()).collect();
        let comments =
            all.pairs.iter().filter(|pair| pair.notes.iter().any(|note| matches!(note, NoteMove::Post { .. })));
        let touched: BTreeSet<Node> = comments.map(|pair| pair.issue.node.clone()).chain(touched).collect();
        // What is about to change has to be read again, even if this run dies.
        let mut later = known.clone();
        later.issues.iter_mut().filter(|(node, _)| touched.contains(node)).for_each(|(_, issue)| issue.unsettle());
        later.save(&knowledge_path(self.ws))?;
        let done =
            pusher.change(planned, &mut later, tell).and_then(|()| pusher.comment(&all, &waiting, &mut later, tell));
        *known = later;
        done
    }

    /// A task that was deleted, closed there, and is here again: what was done to its issue was our doing, not news.
    fn bring_back(&self, locals: &Locals) -> Result<bool, Failure> {
        let mut agreed = Vec::new();
        for node in retired(self.ws) {
            let Some(local) = locals.tasks.values().find(|local| local.link.node.as_ref() == Some(&node)) else {
                continue;
            };
            let Some((item, issue)) = self.known.item_of(&node).zip(self.known.issues.get(&node)) else { continue };
            let there = remote_values(item, issue, &Names::default(), None, self.ws.flow());
            let state = there.get(&Field::State).cloned();
            let shown =
                state.as_ref().and_then(|state| item.unlike(self.ws.flow(), &StateName::new(state.to_string())));
            let keys = vec![
                (Field::State.base_key(), state),
                (Field::Archived.base_key(), there.get(&Field::Archived).cloned()),
                (Link::shown_key(), shown.map(Value::text)),
            ];
            agreed.push(Agreed { task: local.id.clone(), place: local.place.clone(), keys });
            drop_retired(self.ws, &node)?;
        }
        let any = !agreed.is_empty();
        agree(self.ws, agreed)?;
        Ok(any)
    }

    /// Closing and putting away what was deleted here.
    fn retiring(&self, item: &Item) -> Vec<Planned> {
        let step = |call: Call| Planned {
            task: None,
            place: Place::Task,
            issue: Some(item.issue.clone()),
            settles: Settles::Nothing,
            call,
            value: None,
            note: None,
        };
        let mut steps = Vec::new();
        if !item.closed {
            steps.push(step(Call::Close { issue: item.issue.clone(), reason: "NOT_PLANNED" }));
        }
        if !item.archived {
            steps.push(step(Call::Archive { project: self.project().id.clone(), item: item.id.clone() }));
        }
        steps
    }

    /// Creates of earlier runs that are not settled: found, or certainly not made.
    fn still_waiting(&self) -> Result<BTreeSet<(TaskId, Option<String>)>, Failure> {
        let mut waiting = BTreeSet::new();
        let now = self.client.server_now();
        for intent in &self.waiting {
            let local = Local::load(self.ws, &intent.task, Place::Task)?;
            let settled = match (&local, &intent.note) {
                (None, _) => true,
                (Some(local), None) => local.link.node.is_some(),
                (Some(local), Some(note)) => local.link.notes.contains_key(&stem(note)),
            };
            if settled || now.is_some_and(|now| intent.is_over(now)) {
                drop_intent(self.ws, intent)?;
            } else {
                waiting.insert((intent.task.clone(), intent.note.clone()));
            }
        }
        Ok(waiting)
    }

    /// Issues whose task was deleted here: the journal says so.
    fn retired<'b>(&self, all: &Comparison<'b>) -> Result<Vec<&'b Item>, Failure> {
        let mut found = Vec::new();
        for (item, task) in all.orphans.iter().filter(|(item, _)| !item.closed || !item.archived) {
            if self.was_removed(task)? {
                found.push(*item);
            }
        }
        Ok(found)
    }

    fn was_removed(&self, task: &TaskId) -> Result<bool, Failure> {
        let (lines, _) = self.ws.store.journal()?;
        let changes =
            lines.iter().rev().flat_map(|line| line.changes.iter().rev()).filter(|change| change.task() == task);
        let mut files = changes.filter_map(|change| match change {
            Change::File { file: Place::Task | Place::Archive, new, .. } => Some(new.is_none()),
            _ => None,
        });
        Ok(files.next() == Some(true))
    }

    /// Lost access, a wrong project or a script gone wild look like this: then a person decides.
    fn brake(&self, all: &Comparison<'_>, locals: &Locals, retired: usize) -> Result<(), Failure> {
        let linked = locals.tasks.values().filter(|local| local.link.node.is_some()).count();
        let linked = linked + retired;
        let limit = (linked / 5).max(5);
        let ends = |value: Option<&Value>| {
            value.is_some_and(|state| self.ws.flow().is_terminal(Kind::Issue, &StateName::new(state.to_string())))
        };
        let closes = |way: Decision| {
            let moved = all.pairs.iter().filter(|pair| pair.decisions.contains(&(Field::State, way.clone())));
            moved
                .filter(|pair| ends(pair.here.get(&Field::State)) != ends(pair.remote.get(&Field::State)))
                .filter(|pair| {
                    ends(if way == Decision::Pull {
                        pair.remote.get(&Field::State)
                    } else {
                        pair.here.get(&Field::State)
                    })
                })
                .count()
        };
        let news = all.lost.iter().filter(|(local, _)| !local.link.conflicts.contains_key("link")).count();
        let found = [
            (news, "issues are gone from the project"),
            (closes(Decision::Pull), "tasks would be closed here"),
            (closes(Decision::Push) + retired, "issues would be closed on GitHub"),
        ];
        let Some((count, what)) =
            found.into_iter().find(|(count, _)| *count > limit).filter(|_| !self.ask.anyway && !self.ask.dry_run)
        else {
            return Ok(());
        };
        Err(Failure::refused("too-much", format!("{count} {what}, of {linked}"))
            .advice("nothing was changed: `ralph sync --dry-run` shows what, and `--anyway` does it"))
    }

    /// What is left for a person, as it stands after the run.
    fn conclude(&self, synced: &mut Synced) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, &self.known, &locals.names());
        let open = rows(&all, &[]).into_iter().filter(|row| matches!(row.way, Way::Conflict | Way::Lost));
        synced.conflicts = open.collect();
        synced.left_out = locals.broken.clone();
        let now = self.client.server_now();
        synced.unknown =
            intents(self.ws)?.into_iter().map(|intent| (intent.task.clone(), intent.seconds_left(now))).collect();
        for (local, field) in &all.too_long {
            synced.failed.push(Failed {
                task: Some(local.id.clone()),
                what: field.name().to_owned(),
                message: "it is longer than GitHub takes".into(),
            });
        }
        Ok(())
    }
}

fn refuse_unwritable(repo: &Repo) -> Result<(), Failure> {
    let why = match repo {
        repo if repo.archived => "is archived",
        repo if !repo.issues => "has its issues switched off",
        repo if !repo.may_write() => "may not be written to with this token",
        _ => return Ok(()),
    };
    Err(Failure::refused("unwritable", format!("{} {why}", repo.slug)).advice("nothing was created there"))
}

/// Labels that are to be shown and may have to be made.
fn wanted_labels(all: &Comparison<'_>, new: &[&Local]) -> BTreeSet<String> {
    let mut wanted: BTreeSet<String> = new.iter().flat_map(|local| texts(local.values.get(&Field::Labels))).collect();
    let moved = all.pairs.iter().filter(|pair| pair.decisions.contains(&(Field::Labels, Decision::Push)));
    wanted.extend(moved.flat_map(|pair| {
        // Those that go need their ids too.
        texts(pair.here.get(&Field::Labels)).into_iter().chain(pair.issue.labels.iter().cloned())
    }));
    wanted
}

/// Tasks whose issue has no row in the project yet.
fn rowless(locals: &Locals, known: &Knowledge) -> Vec<(TaskId, Node)> {
    let new = locals.tasks.values().filter(|local| local.link.item.is_none() && local.place == Place::Task);
    let linked = new.filter_map(|local| Some((local.id.clone(), local.link.node.clone()?)));
    linked.filter(|(_, node)| known.issues.contains_key(node) && known.item_of(node).is_none()).collect()
}

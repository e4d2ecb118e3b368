//! One sync: read GitHub, compare, pull, push.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::adopt::{adopt, parents_follow};
use super::calls::{self, calls};
use super::compare::{Comparison, Lens, NoteMove, compare};
use super::copies::{keep, unsaid};
use super::deleted::Deleted;
use super::feedback::fetch_all;
use super::local::{Local, Locals};
use super::memory::{CreateIntent, ancestor, intents, knowledge_path, retired};
use super::plan::{Plan, Way, conflict_rows, estimate, rows};
use super::pull::{Intake, take};
use super::push::Failed;
use super::target::{Calm, Target};
use super::ties::{note_losses, tie_found, tie_older, tie_recovered};
use super::{Directions, Mirrored, SyncAsk, SyncStep, Synced};
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::github::{Client, Decision, Features, Field, Item, Knowledge, Label, Names, Node, Project, Wait};
use crate::store::FileLock;
use crate::task::{Kind, StateName, TaskId, Value};

pub fn sync(ws: &Workspace, ask: &SyncAsk, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Synced, Failure> {
    ws.refuse_broken_setup()?;
    let (target, number) = Target::ready(ws)?;
    let _one_at_a_time = one_at_a_time(ws)?;
    let tell = std::cell::RefCell::new(tell);
    let mut waits = |wait: &Wait| (tell.borrow_mut())(SyncStep::Waiting(wait));
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let mut run = SyncPass::open(ws, ask, target, &client)?;
    let told = &mut |step: SyncStep<'_>| (tell.borrow_mut())(step);
    run.look(number, told)?;
    let mut result = run.bring_together(told);
    if result.is_ok() && !ask.dry_run {
        result = fetch_all(ws, &client).and(result);
    }
    // Keep what was read, even if the sync failed.
    let saved = run.known.save(&knowledge_path(ws));
    // Commit applied changes, even if the sync ended early.
    if !ask.dry_run {
        ws.commit_to_git(&ws.lock()?);
    }
    let mut synced = result?;
    saved?;
    synced.requests = client.requests();
    Ok(synced)
}

/// Allows only one sync at a time: two would overwrite each other's knowledge of GitHub.
pub(super) fn one_at_a_time(ws: &Workspace) -> Result<FileLock, Failure> {
    let busy = || Failure::new(FailureKind::Raced, Code::Busy, "another sync is running").hint(Hint::Retry);
    ws.store.try_sync_lock()?.ok_or_else(busy)
}

pub(super) struct SyncPass<'a> {
    pub(super) ws: &'a Workspace,
    pub(super) ask: &'a SyncAsk,
    pub(super) target: Target,
    pub(super) client: &'a Client<'a>,
    pub(super) known: Knowledge,
    pub(super) features: Features,
    pub(super) project: Option<Project>,
    pub(super) viewer: String,
    pub(super) scanned: Instant,
    /// The branch at the start: after a switch, values of one branch would be written to the files of another.
    pub(super) branch: Option<String>,
    /// Creates of earlier syncs with an unknown outcome.
    pub(super) waiting: Vec<CreateIntent>,
    /// Issues that those syncs created, but that are not in the project.
    pub(super) recovered: BTreeSet<Node>,
    deleted: OnceCell<Deleted>,
}

impl<'a> SyncPass<'a> {
    pub fn open(ws: &'a Workspace, ask: &'a SyncAsk, target: Target, client: &'a Client<'a>) -> Result<Self, Failure> {
        Ok(Self {
            ws,
            ask,
            target,
            client,
            known: Knowledge::load(&knowledge_path(ws)),
            features: Features::default(),
            project: None,
            viewer: String::new(),
            scanned: Instant::now(),
            branch: ws.repository.current_branch()?,
            waiting: Vec::new(),
            recovered: BTreeSet::new(),
            deleted: OnceCell::new(),
        })
    }

    pub(super) fn project(&self) -> &Project {
        self.project.as_ref().expect("a run looks first")
    }

    /// Read at most once, and only if an issue has no task, because the journal may be long.
    pub(super) fn deleted(&self) -> &Deleted {
        self.deleted.get_or_init(|| Deleted::read(self.ws).unwrap_or_default())
    }

    pub(super) fn compare<'b>(&self, locals: &'b Locals, known: &'b Knowledge, names: &Names) -> Comparison<'b> {
        self.compare_only(locals, known, names, &self.ask.only)
    }

    /// Compares only these tasks, if any are given.
    pub(super) fn compare_only<'b>(
        &self,
        locals: &'b Locals,
        known: &'b Knowledge,
        names: &Names,
        only: &BTreeSet<TaskId>,
    ) -> Comparison<'b> {
        let ancestor = |local: &Local| ancestor(self.ws, local);
        let lens = Lens {
            flow: self.ws.flow(),
            features: self.features,
            repo: &self.target.slug.to_string(),
            ancestor: &ancestor,
            deleted: &|task, issue| self.deleted().has(task, issue),
            retired: &retired(self.ws).into_iter().collect(),
            only,
        };
        compare(locals, known, names, &lens)
    }

    fn bring_together(&mut self, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Synced, Failure> {
        let mut synced = Synced { dry_run: self.ask.dry_run, ..Synced::default() };
        if !self.ask.dry_run {
            let locals = Locals::read(self.ws)?;
            self.bring_back(&locals)?;
            synced.found = tie_recovered(self.ws, &locals, &self.known, &self.recovered, &self.waiting)?;
        }
        let mut known = std::mem::take(&mut self.known);
        let reread = self
            .reread_comments(&mut known, |note| matches!(note, NoteMove::Rewrite { .. } | NoteMove::Conflict { .. }));
        self.known = known;
        reread?;
        let locals = Locals::read(self.ws)?;
        for (first, second) in &locals.twins {
            self.ws.notice(format!(
                "{second} has the same issue as {first}, and is skipped; run `ralph sync doctor` for details"
            ));
        }
        let mut names = locals.names();
        let all = self.compare(&locals, &self.known, &names);
        self.brake(&all, &locals)?;
        let numbers: Vec<u64> = all.retire.iter().map(|item| item.number).collect();
        self.tell_what_is_left(&all);
        let compared = rows(&all, self.ws.flow());
        let found = compared.len();
        synced.plan = Plan { rows: self.ask.directions.of(compared), ..Plan::default() };
        let left = found - synced.plan.rows.len();
        match self.ask.directions {
            Directions::Pull => synced.unpushed = left,
            _ => synced.unpulled = left,
        }
        if self.ask.dry_run {
            let (labels, pace) = (BTreeMap::new(), self.ws.settings.duration("github.pace"));
            let calls: Vec<_> = all.pairs.iter().flat_map(|pair| calls(pair, &self.lens(&names, &labels))).collect();
            (synced.plan.requests, synced.plan.seconds) = estimate(&all, &calls, pace);
            synced.conflicts = synced.plan.rows.iter().filter(|row| row.way == Way::Conflict).cloned().collect();
            return Ok(synced);
        }
        let found = tie_found(self.ws, &all, &self.known, &self.waiting)?
            + tie_older(self.ws, &all, &self.known, self.intake())?;
        synced.found += found;
        note_losses(self.ws, &all)?;
        let retire: Vec<Item> = all.retire.iter().map(|item| (*item).clone()).collect();
        if found == 0 {
            self.take_in(&all, &mut names, &mut synced, tell)?;
            drop(all);
        } else {
            // Compare again after links were found, so that equal values become the base, and later edits count as
            // edits.
            drop(all);
            let locals = Locals::read(self.ws)?;
            let mut names = locals.names();
            let all = self.compare(&locals, &self.known, &names);
            self.take_in(&all, &mut names, &mut synced, tell)?;
        }
        if self.ask.directions != Directions::Pull {
            self.hand_out(&retire, &mut synced, tell)?;
            synced.retired = numbers;
        }
        self.conclude(&mut synced)?;
        Ok(synced)
    }

    fn intake(&self) -> Intake {
        if self.ask.directions == Directions::Push { Intake::Closed } else { Intake::Open }
    }

    /// Reports issues that are skipped until a person acts.
    fn tell_what_is_left(&self, all: &Comparison<'_>) {
        for item in &all.unmapped {
            let option = item.state.as_deref().unwrap_or_default();
            let why = match self.ws.flow().states().iter().any(|state| state.name.as_str() == option) {
                true => format!("is open, but its card is in {option}"),
                false => format!("has its card in {option:?}, which is not a state of this board"),
            };
            self.ws.notice(format!(
                "#{} {why}: it is skipped; move the card, or map the column with `[github.states]` in the settings",
                item.number
            ));
        }
        for (item, local) in &all.deleted_elsewhere {
            self.ws.notice(format!(
                "{} was deleted in another clone: run `ralph pull` to delete it here, or reopen #{} to keep it",
                local.id, item.number
            ));
        }
    }

    fn take_in(
        &self,
        all: &Comparison<'_>,
        names: &mut Names,
        synced: &mut Synced,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let intake = self.intake();
        for (done, pair) in all.pairs.iter().enumerate() {
            if done % 50 == 0 {
                tell(SyncStep::Taking { done, of: all.pairs.len() });
            }
            let taken = match take(self.ws, pair, intake) {
                Ok(taken) => taken,
                // A failure of one task does not stop the others.
                Err(failure) if failure.is_about_one_task() => {
                    synced.unsettled(&pair.local.id, failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            synced.pulled += taken.fields.len();
            synced.done.extend(taken.fields.iter().map(|field| (pair.local.id.clone(), field.name())));
            synced.comments_in += taken.notes;
            taken.told.into_iter().for_each(|what| self.ws.notice(what));
        }
        if intake == Intake::Open {
            let made = adopt(self.ws, all, names)?;
            parents_follow(self.ws, &made)?;
            self.take_comments(&made, synced)?;
            synced.adopted = made.into_iter().map(|(task, number)| Mirrored { task, number }).collect();
        }
        for (item, local) in all.copies.iter().filter(|(item, _)| !item.closed) {
            self.keep_words(item, local, intake)?;
            let first = local.link.number.unwrap_or_default();
            self.ws.notice(format!(
                "#{} is a second issue of {}, which already has #{first}: run `ralph sync doctor` for details",
                item.number, local.id
            ));
        }
        for (item, task) in &all.orphans {
            if !item.closed {
                self.ws
                    .notice(format!("#{} mirrors {task}, which is not on this board: try `ralph pull`", item.number));
            }
        }
        Ok(())
    }

    /// Keeps texts of a second issue that its task lacks.
    fn keep_words(&self, second: &Item, local: &Local, intake: Intake) -> Result<(), Failure> {
        let first = local.link.node.as_ref().and_then(|node| self.known.issues.get(node));
        let both = self.known.issues.get(&second.issue).zip(first).filter(|_| intake == Intake::Open);
        let found = both.and_then(|(second, first)| unsaid(self.ws, second, first, local));
        found.map_or(Ok(()), |found| keep(self.ws, local, found))
    }

    /// Imports the comments on issues that were just adopted.
    fn take_comments(&self, made: &[(TaskId, u64)], synced: &mut Synced) -> Result<(), Failure> {
        if made.is_empty() {
            return Ok(());
        }
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, &self.known, &locals.names());
        for pair in all.pairs.iter().filter(|pair| made.iter().any(|(task, _)| *task == pair.local.id)) {
            match take(self.ws, pair, Intake::Open) {
                Ok(taken) => synced.comments_in += taken.notes,
                Err(failure) if failure.is_about_one_task() => synced.unsettled(&pair.local.id, failure),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    pub(super) fn lens<'b>(&'b self, names: &'b Names, labels: &'b BTreeMap<String, Label>) -> calls::Lens<'b> {
        let prefix = self.ws.settings.text("board.prefix");
        calls::Lens { project: self.project(), fields: &self.target.names, flow: self.ws.flow(), names, labels, prefix }
    }

    /// Refuses if many issues would be lost or closed: a person has to decide, because access may be lost, the project
    /// wrong or a script broken.
    fn brake(&self, all: &Comparison<'_>, locals: &Locals) -> Result<(), Failure> {
        let linked = locals.tasks.values().filter(|local| local.link.node.is_some()).count();
        let linked = linked + all.retire.len();
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
            (news, "issues are missing from the project"),
            (closes(Decision::Pull), "tasks would be closed here"),
            (closes(Decision::Push) + all.retire.len(), "issues would be closed on GitHub"),
        ];
        let Some((count, what)) =
            found.into_iter().find(|(count, _)| *count > limit).filter(|_| !self.ask.force && !self.ask.dry_run)
        else {
            return Ok(());
        };
        Err(Failure::refused(Code::TooMuch, format!("{count} of {linked} {what}; nothing was changed"))
            .hint(Hint::run("sync --dry-run", "to see what would change"))
            .hint(Hint::option("--force", "to continue")))
    }

    /// Records what is left for a person after the sync, in the result and in the files.
    fn conclude(&self, synced: &mut Synced) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, &self.known, &locals.names());
        for pair in all.pairs.iter().filter(|pair| pair.has_conflict()) {
            match take(self.ws, pair, Intake::Closed) {
                Err(failure) if !failure.is_about_one_task() => return Err(failure),
                _ => {}
            }
        }
        let locals = Locals::read(self.ws)?;
        synced.conflicts = conflict_rows(&all, &locals, self.ws.flow());
        synced.left_out = locals.broken;
        let now = self.client.server_now();
        let left = |intent: CreateIntent| (intent.task.clone(), intent.seconds_left(now));
        synced.unknown = intents(self.ws)?.into_iter().map(left).collect();
        for (local, field) in &all.too_long {
            synced.failed.push(Failed {
                task: Some(local.id.clone()),
                what: field.name().to_owned(),
                message: "longer than GitHub allows".into(),
            });
        }
        Ok(())
    }
}

//! The second half of a sync: pushes local changes, in the order that GitHub needs.

use std::collections::BTreeSet;

use super::calls::{PlannedCall, calls};
use super::compare::{Comparison, NoteMove};
use super::copies::unsaid;
use super::creating::MissingRow;
use super::edits::{Agreed, agree};
use super::local::{Local, Locals, stem};
use super::memory::{drop_intent, drop_retired, knowledge_path, note_retired, retired};
use super::push::{PushedFields, Pusher, texts};
use super::run::SyncPass;
use super::{Mirrored, SyncStep, Synced};
use crate::app::{Code, Failure, Hint};
use crate::board::Place;
use crate::github::{
    Call, Decision, Field, Item, Knowledge, Link, Marker, Names, Node, Repo, fingerprint, issue_body, read_issue_body,
    remote_values,
};
use crate::task::{StateName, TaskId, Value};

/// Creates of earlier syncs that are not settled: the issue of a task, or the comment of a note.
type Waiting = BTreeSet<(TaskId, Option<String>)>;

impl SyncPass<'_> {
    pub(super) fn hand_out(
        &mut self,
        retire: &[Item],
        synced: &mut Synced,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let mut known = std::mem::take(&mut self.known);
        let mut pushed = PushedFields::default();
        let done = self.push_all(&mut known, retire, &mut pushed, tell);
        self.known = known;
        synced.created = pushed.created.into_iter().map(|(task, number)| Mirrored { task, number }).collect();
        synced.pushed = pushed.fields;
        synced.comments_out = pushed.comments;
        synced.tidied = pushed.tidied;
        synced.done.extend(pushed.done);
        synced.failed.extend(pushed.failed);
        done
    }

    /// Changes existing issues first, while what was read is fresh, and then creates new ones one by one.
    fn push_all(
        &self,
        known: &mut Knowledge,
        retire: &[Item],
        pushed: &mut PushedFields,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let waiting = self.still_waiting(known)?;
        let mut pusher = Pusher {
            ws: self.ws,
            client: self.client,
            project: self.project(),
            repo: Repo::unread(&self.target.slug),
            features: self.features,
            scanned: self.scanned,
            branch: self.branch.clone(),
            pushed,
            written: BTreeSet::new(),
            stale: BTreeSet::new(),
        };
        // Create items for issues that were added back, before they are compared.
        pusher.add_items(self.rowless(known)?, known)?;
        self.reread_comments(known, |note| matches!(note, NoteMove::Edit { .. }))?;
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, known, &locals.names());
        let new: Vec<&Local> =
            all.creates.iter().filter(|local| !waiting.contains(&(local.id.clone(), None))).copied().collect();
        let labels = wanted_labels(&all, &new);
        let new: Vec<TaskId> = new.into_iter().map(|local| local.id.clone()).collect();
        drop(all);
        if !new.is_empty() || !labels.is_empty() {
            pusher.repo = self.client.repository(&self.target.slug)?;
            refuse_unwritable(&pusher.repo)?;
        }
        pusher.ensure_labels(&labels)?;
        let mut closing: Vec<PlannedCall> = retire.iter().flat_map(|item| self.retiring(item, known)).collect();
        closing.extend(self.duplicates(known)?);
        self.change_all(&mut pusher, known, closing, &waiting, tell)?;
        for item in retire.iter().filter(|item| is_retired(known, &item.issue)) {
            note_retired(self.ws, &item.issue)?;
        }
        if new.is_empty() {
            return Ok(());
        }
        self.create_all(&mut pusher, &new, known, tell)?;
        pusher.add_items(self.rowless(known)?, known)?;
        self.change_all(&mut pusher, known, Vec::new(), &waiting, tell)
    }

    /// Pushes all differences, then posts notes that have no comment yet.
    fn change_all(
        &self,
        pusher: &mut Pusher<'_>,
        known: &mut Knowledge,
        more: Vec<PlannedCall>,
        waiting: &Waiting,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let names = locals.names();
        let before = known.clone();
        let all = self.compare(&locals, &before, &names);
        let lens = self.lens(&names, &pusher.repo.labels);
        let mut planned: Vec<PlannedCall> = all.pairs.iter().flat_map(|pair| calls(pair, &lens)).collect();
        planned.extend(more);
        let posts = all.pairs.iter().filter(|pair| pair.notes.iter().any(|note| matches!(note, NoteMove::Post { .. })));
        let touched: BTreeSet<&Node> =
            posts.map(|pair| &pair.issue.node).chain(planned.iter().filter_map(|step| step.issue.as_ref())).collect();
        // Read these issues again next time, even if this sync is killed.
        known.issues.iter_mut().filter(|(node, _)| touched.contains(node)).for_each(|(_, issue)| issue.unsettle());
        known.save(&knowledge_path(self.ws))?;
        pusher.change(planned, known, tell)?;
        pusher.comment(&all, waiting, known, tell)
    }

    /// Reads comments again before they or their notes are overwritten, because an edited comment does not change the
    /// issue's timestamp.
    pub(super) fn reread_comments(
        &self,
        known: &mut Knowledge,
        is_it: impl Fn(&NoteMove<'_>) -> bool,
    ) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, known, &locals.names());
        let edits = all.pairs.iter().filter(|pair| pair.notes.iter().any(&is_it));
        let nodes: BTreeSet<Node> = edits.map(|pair| pair.issue.node.clone()).collect();
        drop(all);
        if !nodes.is_empty() {
            let ids: Vec<Node> = nodes.into_iter().collect();
            for (node, issue) in self.client.details(&ids, self.features)? {
                known.issues.extend(issue.map(|issue| (node, issue)));
            }
        }
        Ok(())
    }

    /// Restores the links of tasks that were deleted here and exist again: this clone made the changes to their issues,
    /// so they become the base.
    pub(super) fn bring_back(&self, locals: &Locals) -> Result<bool, Failure> {
        let mut agreed = Vec::new();
        for node in retired(self.ws) {
            let local = locals.tasks.values().find(|local| local.link.node.as_ref() == Some(&node));
            let Some(local) = local else { continue };
            let Some((item, issue)) = self.known.item_of(&node).zip(self.known.issues.get(&node)) else { continue };
            let there = remote_values(item, issue, &Names::default(), None, self.ws.flow());
            let state = there.get(&Field::State).cloned();
            let shown =
                state.as_ref().and_then(|state| item.unlike(self.ws.flow(), &StateName::new(state.to_string())));
            let keys = vec![
                (Field::State.base_key(), state.map(|state| fingerprint(Field::State, &state))),
                (Field::Archived.base_key(), there.get(&Field::Archived).cloned()),
                (Link::shown_key(), shown.map(Value::text)),
            ];
            agreed.push(Agreed::new(local, keys));
            // Until the marker of its issue says so too, this clone remains the one that deleted the task.
            if !read_issue_body(&issue.body).1.is_some_and(|marker| marker.deleted) {
                drop_retired(self.ws, &node)?;
            }
        }
        let any = !agreed.is_empty();
        agree(self.ws, agreed)?;
        Ok(any)
    }

    /// Closes second issues as duplicates, unless they have texts that the first one lacks.
    fn duplicates(&self, known: &Knowledge) -> Result<Vec<PlannedCall>, Failure> {
        let locals = Locals::read(self.ws)?;
        let all = self.compare(&locals, known, &locals.names());
        let mut steps = Vec::new();
        for (item, local) in all.copies.iter().filter(|(item, _)| !item.closed) {
            let first = local.link.node.as_ref().and_then(|node| Some((node, known.issues.get(node)?)));
            let Some(((first, kept), second)) = first.zip(known.issues.get(&item.issue)) else { continue };
            if unsaid(self.ws, second, kept, local).is_some_and(|unsaid| unsaid.is_empty()) {
                let call = Call::CloseDuplicate { issue: item.issue.clone(), of: first.clone() };
                steps.push(PlannedCall::alone(item.issue.clone(), call));
            }
        }
        Ok(steps)
    }

    /// The calls that close and archive the issue of a task that was deleted here.
    fn retiring(&self, item: &Item, known: &Knowledge) -> Vec<PlannedCall> {
        let step = |call: Call| PlannedCall::alone(item.issue.clone(), call);
        let mut steps = Vec::new();
        let read = known.issues.get(&item.issue).map(|issue| read_issue_body(&issue.body));
        if let Some((text, named)) = read.filter(|(_, named)| named.as_ref().is_none_or(|marker| !marker.deleted)) {
            // The marker tells other clones, which still have the task, that no person closed the issue. An adopted
            // issue has no marker yet.
            let marker = named.map(|marker| Marker { deleted: true, ..marker });
            let marker = marker.or_else(|| self.deleted().marker(&item.issue));
            let body = marker.map(|marker| issue_body(&text, &marker));
            steps.extend(body.map(|body| step(Call::Body { issue: item.issue.clone(), body })));
        }
        if !item.closed {
            steps.push(step(Call::Close { issue: item.issue.clone(), reason: "NOT_PLANNED" }));
        }
        if !item.archived {
            steps.push(step(Call::Archive { project: self.project().id.clone(), item: item.id.clone() }));
        }
        steps
    }

    /// Creates of earlier syncs with an unknown outcome. If the task cannot be read now, its create is kept.
    fn still_waiting(&self, known: &Knowledge) -> Result<Waiting, Failure> {
        let mut waiting = Waiting::new();
        let now = self.client.server_now();
        for intent in &self.waiting {
            let place = if self.ws.store.exists(&intent.task) { Place::Task } else { Place::Archive };
            let settled = match (Local::load(self.ws, &intent.task, place)?, &intent.note) {
                (None, _) => false,
                (Some(local), None) => local.link.node.is_some(),
                (Some(local), Some(note)) => is_listed(known, &local, note),
            };
            if settled || now.is_some_and(|now| intent.is_over(now)) {
                drop_intent(self.ws, intent)?;
            } else {
                waiting.insert((intent.task.clone(), intent.note.clone()));
            }
        }
        Ok(waiting)
    }

    /// Tasks whose issue has no item in the project yet.
    fn rowless(&self, known: &Knowledge) -> Result<Vec<MissingRow>, Failure> {
        let locals = Locals::read(self.ws)?;
        let wanted = |local: &&Local| self.ask.only.is_empty() || self.ask.only.contains(&local.id);
        let new = locals.tasks.values().filter(|local| local.link.item.is_none()).filter(wanted);
        let linked = new.filter_map(|local| {
            Some(MissingRow { task: local.id.clone(), place: local.place.clone(), issue: local.link.node.clone()? })
        });
        let is_known = |row: &MissingRow| known.issues.contains_key(&row.issue) && known.item_of(&row.issue).is_none();
        Ok(linked.filter(is_known).collect())
    }
}

/// Whether an issue is closed and marked as deleted.
fn is_retired(known: &Knowledge, issue: &Node) -> bool {
    let marker = known.issues.get(issue).and_then(|issue| read_issue_body(&issue.body).1);
    known.item_of(issue).is_some_and(|item| item.closed) && marker.is_none_or(|marker| marker.deleted)
}

/// Whether the linked comment of a note exists.
fn is_listed(known: &Knowledge, local: &Local, note: &str) -> bool {
    let link = local.link.notes.get(&stem(note));
    let issue = local.link.node.as_ref().and_then(|node| known.issues.get(node));
    link.zip(issue).is_some_and(|(link, issue)| issue.comments.iter().any(|comment| comment.id == link.comment))
}

fn refuse_unwritable(repo: &Repo) -> Result<(), Failure> {
    let why = match repo {
        repo if repo.archived => "is archived",
        repo if !repo.issues => "has issues disabled",
        repo if !repo.may_write() => "cannot be written to with this token",
        _ => return Ok(()),
    };
    Err(Failure::refused(Code::Unwritable, format!("{} {why}", repo.slug))
        .hint(Hint::step("nothing was created there")))
}

/// Labels that are needed, and may have to be created.
fn wanted_labels(all: &Comparison<'_>, new: &[&Local]) -> BTreeSet<String> {
    let mut wanted: BTreeSet<String> = new.iter().flat_map(|local| texts(local.values.get(&Field::Labels))).collect();
    let moved = all.pairs.iter().filter(|pair| pair.decisions.contains(&(Field::Labels, Decision::Push)));
    wanted.extend(moved.flat_map(|pair| {
        // The ids of removed labels are needed too.
        texts(pair.here.get(&Field::Labels)).into_iter().chain(pair.issue.labels.iter().cloned())
    }));
    wanted
}

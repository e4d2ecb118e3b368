//! Bringing the board's changes to GitHub: what is created one by one with its intent on disk first, everything else in batches.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::SyncStep;
use super::calls::{Planned, Settles};
use super::compare::{Comparison, NoteMove, task_id};
use super::edits::{Agreed, Kept, agree};
use super::local::{Local, stem};
use super::memory::{Intent, Sent, drop_intent, write_intent};
use super::pull::{base_value, link_keys};
use crate::app::{Failure, FailureKind, Hint, Workspace};
use crate::github::{
    BATCH, Call, Client, Features, Field, FieldNames, GithubError, Item, Knowledge, LONGEST_TITLE, Link, Marker, Names,
    Node, NoteLink, Outcome, Project, RemoteComment, RemoteIssue, Repo, canonical, comment_body, hash, issue_body,
    read_issue_body, title_of,
};
use crate::task::{Key, TaskId, Value};

/// How old a reading may be before what it says is asked for again.
const FRESH: Duration = Duration::from_secs(60);

/// Something that GitHub did not take.
#[derive(Debug, Clone, Serialize)]
pub struct Failed {
    pub task: Option<TaskId>,
    pub what: String,
    pub message: String,
}

#[derive(Debug, Default)]
pub struct Pushed {
    pub created: Vec<(TaskId, u64)>,
    pub fields: usize,
    pub comments: usize,
    /// Issues that did not look like their state, put right.
    pub tidied: usize,
    pub failed: Vec<Failed>,
}

pub struct Pusher<'a> {
    pub ws: &'a Workspace,
    pub client: &'a Client<'a>,
    pub project: &'a Project,
    pub fields: &'a FieldNames,
    pub repo: Repo,
    pub features: Features,
    pub scanned: Instant,
    pub branch: Option<String>,
    pub pushed: &'a mut Pushed,
    /// Issues that this run has written to itself.
    pub written: BTreeSet<Node>,
    /// Changed on GitHub since they were read: left for the next run.
    pub stale: BTreeSet<Node>,
}

impl<'a> Pusher<'a> {
    /// Labels that the repository does not have yet. A name may be taken since: then it is looked up again.
    pub fn ensure_labels(&mut self, wanted: &BTreeSet<String>) -> Result<(), Failure> {
        for name in wanted {
            if self.repo.labels.contains_key(&name.to_lowercase()) {
                continue;
            }
            match self.client.create_label(&self.repo.id, name) {
                Ok(Some(label)) => drop(self.repo.labels.insert(name.to_lowercase(), label)),
                Ok(None) => self.repo = self.client.repository(&self.repo.slug)?,
                Err(GithubError::Refused(message) | GithubError::Forbidden(message)) => {
                    self.fail(None, &format!("label {name}"), message);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn label_ids(&self, names: &[String]) -> Vec<Node> {
        names
            .iter()
            .filter_map(|name| self.repo.labels.get(&name.to_lowercase()))
            .map(|label| label.id.clone())
            .collect()
    }

    /// Issues for tasks that have none, parents first. Each is linked before the next one is asked for.
    pub fn create(
        &mut self,
        new: &[&Local],
        known: &mut Knowledge,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let order = parents_first(new);
        for (done, local) in order.iter().enumerate() {
            tell(SyncStep::Creating { done, of: order.len(), task: &local.id });
            let title = title_of(&local.title);
            if title.chars().count() > LONGEST_TITLE {
                self.fail(
                    Some(&local.id),
                    "title",
                    format!("it is longer than the {LONGEST_TITLE} characters that GitHub takes"),
                );
                continue;
            }
            let body = issue_body(&local.description, &Marker::of(&local.id, local.created));
            if body.chars().count() > crate::github::LONGEST_BODY {
                self.fail(Some(&local.id), "description", "it is longer than GitHub takes".into());
                continue;
            }
            // Those that could not be made are not agreed on.
            let mut labels = texts(local.values.get(&Field::Labels));
            labels.retain(|name| self.repo.labels.contains_key(&name.to_lowercase()));
            let intent = self.begin(local, None, Some(Sent::of(local, &title, &labels)))?;
            match self.client.create_issue(
                &self.repo.id,
                &self.project.id,
                &title,
                &body,
                &self.label_ids(&labels),
                self.features,
            ) {
                Ok(created) => {
                    // Where the link cannot be written now, the next run finds the issue by its marker.
                    if self.link(local, &created, &labels)?.is_empty() {
                        drop_intent(self.ws, &intent)?;
                    }
                    let issue = RemoteIssue::fresh(&created, &self.repo.slug.to_string(), labels);
                    known.items.extend(created.item.clone().map(|item| Item::new(item, &issue)));
                    known.issues.insert(created.node.clone(), issue);
                    self.pushed.created.push((local.id.clone(), created.number));
                }
                Err(error) => self.unmade(&intent, "issue", error)?,
            }
        }
        Ok(())
    }

    fn begin(&self, local: &Local, note: Option<&str>, sent: Option<Sent>) -> Result<Intent, Failure> {
        let at = self.client.server_now().unwrap_or_else(|| self.ws.now());
        let intent = Intent { task: local.id.clone(), note: note.map(str::to_owned), at, sent };
        write_intent(self.ws, &intent)?;
        Ok(intent)
    }

    /// What is certainly not there can be tried again; what may be there is looked for by the next run.
    fn unmade(&mut self, intent: &Intent, what: &str, error: GithubError) -> Result<(), Failure> {
        if error.is_definite() {
            drop_intent(self.ws, intent)?;
        }
        match error {
            // Its intent stays, and the next run looks for it.
            GithubError::Ambiguous(_) => {}
            GithubError::Refused(message) => self.fail(Some(&intent.task), what, message),
            other => return Err(other.into()),
        }
        Ok(())
    }

    fn fail(&mut self, task: Option<&TaskId>, what: &str, message: String) {
        self.pushed.failed.push(Failed { task: task.cloned(), what: what.to_owned(), message });
    }

    fn link(&self, local: &Local, created: &crate::github::Created, labels: &[String]) -> Result<Vec<TaskId>, Failure> {
        let mut keys = link_keys(created.number, &created.url, &created.node, created.item.as_ref());
        keys.push((Field::Title.base_key(), Some(Value::Text(title_of(&created.title)))));
        let (text, _) = read_issue_body(&created.body);
        let text = (!text.is_empty()).then_some(Value::Text(text));
        keys.push((Field::Description.base_key(), base_value(self.ws, Field::Description, text.as_ref())?));
        keys.push((Field::Labels.base_key(), (!labels.is_empty()).then(|| Value::texts(labels))));
        self.agree(vec![Agreed::new(local, keys)])
    }

    /// Not into the files of another branch than the one that was compared.
    fn agree(&self, agreed: Vec<Agreed>) -> Result<Vec<TaskId>, Failure> {
        if self.ws.repository.current_branch()? != self.branch {
            return Err(Failure::new(
                FailureKind::Raced,
                "switched",
                "another branch was checked out while the sync ran",
            )
            .hint(Hint::Retry));
        }
        agree(self.ws, agreed)
    }

    /// Rows for issues that have none yet: GitHub may need a moment for a new issue.
    pub fn add_items(&mut self, missing: &[(TaskId, Node)], known: &mut Knowledge) -> Result<(), Failure> {
        let mut left: Vec<(TaskId, Node)> = missing.to_vec();
        for attempt in 0..4_u64 {
            if attempt > 0 && !left.is_empty() {
                self.client.pause(attempt)?;
            }
            let mut again = Vec::new();
            for chunk in left.chunks(BATCH) {
                let calls: Vec<Call> = chunk
                    .iter()
                    .map(|(_, issue)| Call::AddItem { project: self.project.id.clone(), issue: issue.clone() })
                    .collect();
                let outcomes = self.client.call(&calls)?;
                for ((task, issue), outcome) in chunk.iter().zip(outcomes) {
                    match outcome {
                        Outcome::Done(Some(item)) => self.added(task, issue, Node::new(item), known)?,
                        Outcome::Failed(error) if !error.is("NOT_FOUND") => {
                            self.fail(Some(task), "project item", error.message);
                        }
                        _ => again.push((task.clone(), issue.clone())),
                    }
                }
            }
            left = again;
        }
        for (task, _) in left {
            self.fail(
                Some(&task),
                "project item",
                "GitHub does not find the new issue yet: the next run adds it".into(),
            );
        }
        Ok(())
    }

    fn added(&self, task: &TaskId, issue: &Node, item: Node, known: &mut Knowledge) -> Result<(), Failure> {
        if let Some(issue) = known.issues.get(issue) {
            known.items.push(Item::new(item.clone(), issue));
        }
        let keys = vec![(Key::new("github.item"), Some(Value::text(item)))];
        let agreed = Agreed { task: task.clone(), place: crate::board::Place::Task, keys, kept: None };
        self.agree(vec![agreed]).map(|_| ())
    }

    /// Everything that may be done twice.
    pub fn change(
        &mut self,
        planned: Vec<Planned>,
        known: &mut Knowledge,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let total = planned.len();
        let mut open: BTreeMap<(TaskId, Settles), usize> = BTreeMap::new();
        for step in &planned {
            if let Some(task) = &step.task {
                *open.entry((task.clone(), step.settles.clone())).or_default() += 1;
            }
        }
        let mut spoiled: BTreeSet<(TaskId, Settles)> = BTreeSet::new();
        for (nth, chunk) in planned.chunks(BATCH).enumerate() {
            tell(SyncStep::Changing { done: nth * BATCH, of: total });
            self.look_again(chunk, known)?;
            let chunk: Vec<&Planned> = chunk.iter().filter(|step| !self.is_stale(step)).collect();
            if chunk.is_empty() {
                continue;
            }
            let calls: Vec<Call> = chunk.iter().map(|step| step.call.clone()).collect();
            let outcomes = self.client.call(&calls)?;
            self.written.extend(chunk.iter().filter_map(|step| step.issue.clone()));
            let mut agreed = Vec::new();
            for (step, outcome) in chunk.into_iter().zip(outcomes) {
                let done = match outcome {
                    Outcome::Done(kept) => Some(kept),
                    Outcome::Failed(error) => {
                        self.fail(step.task.as_ref(), &step.settles.to_string(), error.message);
                        None
                    }
                };
                let Some(task) = &step.task else { continue };
                let key = (task.clone(), step.settles.clone());
                let left = open.entry(key.clone()).or_default();
                *left = left.saturating_sub(1);
                if done.is_some() {
                    known.note_call(&step.call);
                }
                match done {
                    None => drop(spoiled.insert(key)),
                    Some(kept) if *left == 0 && !spoiled.contains(&key) => {
                        agreed.extend(self.settled(step, kept, known)?);
                    }
                    Some(_) => {}
                }
            }
            self.agree(agreed)?;
        }
        Ok(())
    }

    /// What both sides now agree on: what was sent, or what GitHub made of it.
    fn settled(
        &mut self,
        step: &Planned,
        kept: Option<String>,
        known: &mut Knowledge,
    ) -> Result<Option<Agreed>, Failure> {
        let Some(task) = step.task.clone() else { return Ok(None) };
        let mut kept_text = None;
        let keys = match &step.settles {
            Settles::Nothing => {
                self.pushed.tidied += 1;
                return Ok(None);
            }
            Settles::Note(file) => {
                let Some(link) = &step.note else { return Ok(None) };
                self.pushed.comments += 1;
                vec![(Link::note_key(&stem(file)), Some(link.value()))]
            }
            Settles::Field(field) => {
                self.pushed.fields += 1;
                let sent = step.value.clone();
                let there = kept.and_then(|text| as_kept(*field, &text)).or_else(|| sent.clone());
                if let Some(issue) = &step.issue {
                    known.note(issue, *field, there.as_ref(), self.ws.flow());
                }
                let mut keys = vec![(field.base_key(), base_value(self.ws, *field, there.as_ref())?)];
                keys.push((field.conflict_key(), None));
                if *field == Field::State {
                    keys.extend([(Link::shown_key(), None), (Link::conflict_shown_key(), None)]);
                }
                // GitHub cannot hold what was sent: what it holds is what there is, here too.
                if there != sent && matches!(field, Field::Title | Field::Description) {
                    kept_text = Some(Kept { key: field.key(), sent, new: there });
                }
                keys
            }
        };
        Ok(Some(Agreed { task, place: step.place.clone(), keys, kept: kept_text }))
    }

    fn is_stale(&self, step: &Planned) -> bool {
        step.issue.as_ref().is_some_and(|issue| self.stale.contains(issue))
    }

    /// A run that takes long looks again before it writes over a text.
    fn look_again(&mut self, chunk: &[Planned], known: &Knowledge) -> Result<(), Failure> {
        if self.scanned.elapsed() < FRESH {
            return Ok(());
        }
        let texts = chunk.iter().filter(|step| matches!(step.call, Call::Title { .. } | Call::Body { .. }));
        let new: BTreeSet<&TaskId> = self.pushed.created.iter().map(|(task, _)| task).collect();
        let texts = texts.filter(|step| step.task.as_ref().is_none_or(|task| !new.contains(task)));
        // What this run itself has changed looks changed.
        let texts = texts.filter(|step| step.issue.as_ref().is_none_or(|issue| !self.written.contains(issue)));
        let ids: BTreeSet<Node> = texts.filter_map(|step| step.issue.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for node in self.client.changed_since(known, &ids)? {
            let task = chunk.iter().find(|step| step.issue.as_ref() == Some(&node)).and_then(|step| step.task.clone());
            if self.stale.insert(node) {
                self.fail(
                    task.as_ref(),
                    "text",
                    "it was changed on GitHub just now: the next run brings both together".into(),
                );
            }
        }
        Ok(())
    }

    /// Notes that have no comment yet, one by one.
    pub fn comment(
        &mut self,
        all: &Comparison<'_>,
        waiting: &BTreeSet<(TaskId, Option<String>)>,
        known: &mut Knowledge,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let posts = all.pairs.iter().flat_map(|pair| {
            pair.notes
                .iter()
                .filter_map(move |note| if let NoteMove::Post { file } = note { Some((pair, *file)) } else { None })
        });
        let posts: Vec<_> = posts
            .filter(|(pair, file)| !waiting.contains(&(pair.local.id.clone(), Some((*file).to_owned()))))
            .collect();
        for (done, (pair, file)) in posts.iter().enumerate() {
            let local = pair.local;
            tell(SyncStep::Commenting { done, of: posts.len(), task: &local.id });
            let Some(note) = local.notes.iter().find(|note| note.file == *file) else { continue };
            let body = comment_body(&note.text, note.by.as_deref(), &stem(file));
            let intent = self.begin(local, Some(file), None)?;
            match self.client.add_comment(&pair.issue.node, &body) {
                Ok((comment, body)) => {
                    let author = Some(self.repo.viewer.clone());
                    let posted =
                        RemoteComment { id: comment.clone(), body, author, created: String::new(), mine: true };
                    known.note_comment(&pair.issue.node, posted);
                    let link = NoteLink { comment, hash: hash(&canonical(&note.text)) };
                    let keys = vec![(Link::note_key(&stem(file)), Some(link.value()))];
                    if self.agree(vec![Agreed::new(local, keys)])?.is_empty() {
                        drop_intent(self.ws, &intent)?;
                    }
                    self.pushed.comments += 1;
                }
                Err(error) => self.unmade(&intent, "comment", error)?,
            }
        }
        Ok(())
    }

    pub fn plan_calls(&self, all: &Comparison<'_>, names: &Names) -> Vec<Planned> {
        let lens = super::calls::Lens {
            project: self.project,
            fields: self.fields,
            flow: self.ws.flow(),
            names,
            labels: &self.repo.labels,
        };
        all.pairs.iter().flat_map(|pair| super::calls::calls(pair, &lens)).collect()
    }
}

fn as_kept(field: Field, text: &str) -> Option<Value> {
    match field {
        Field::Title => Some(Value::Text(title_of(text))),
        Field::Description => Some(read_issue_body(text).0).filter(|text| !text.is_empty()).map(Value::Text),
        _ => None,
    }
}

pub fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn parents_first<'a>(new: &[&'a Local]) -> Vec<&'a Local> {
    let by_id: BTreeMap<&TaskId, &Local> = new.iter().map(|local| (&local.id, *local)).collect();
    let depth = |local: &Local| {
        let mut steps = 0;
        let mut next = local.value(Field::Parent).and_then(task_id);
        while let Some(id) = next.filter(|_| steps < by_id.len()) {
            steps += 1;
            next = by_id.get(&id).and_then(|parent| parent.value(Field::Parent)).and_then(task_id);
        }
        steps
    };
    let mut order: Vec<&Local> = new.to_vec();
    order.sort_by_key(|local| (depth(local), local.created, local.id.clone()));
    order
}

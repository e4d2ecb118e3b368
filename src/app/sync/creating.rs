//! What can be made only once: issues, comments, labels and rows. The intent is on disk before GitHub is asked, and what may have
//! been made is never asked for again.

use std::collections::{BTreeMap, BTreeSet};

use super::SyncStep;
use super::compare::{Comparison, NoteMove, task_id};
use super::edits::Agreed;
use super::local::{Local, stem};
use super::memory::{CreateIntent, Sent, drop_intent, write_intent};
use super::pull::{base_value, link_keys};
use super::push::{Pusher, texts};
use crate::app::Failure;
use crate::github::{
    BATCH, Call, Field, GithubError, Item, Knowledge, LONGEST_TITLE, Link, Marker, Node, NoteLink, Outcome,
    RemoteComment, RemoteIssue, canonical, comment_body, hash, issue_body, read_issue_body, title_of,
};
use crate::task::{Key, TaskId, Value};

impl Pusher<'_> {
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

    fn begin(&self, local: &Local, note: Option<&str>, sent: Option<Sent>) -> Result<CreateIntent, Failure> {
        let at = self.client.server_now().unwrap_or_else(|| self.ws.now());
        let intent = CreateIntent { task: local.id.clone(), note: note.map(str::to_owned), at, sent };
        write_intent(self.ws, &intent)?;
        Ok(intent)
    }

    /// What is certainly not there can be tried again; what may be there is looked for by the next run.
    fn unmade(&mut self, intent: &CreateIntent, what: &str, error: GithubError) -> Result<(), Failure> {
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

    fn link(&self, local: &Local, created: &crate::github::Created, labels: &[String]) -> Result<Vec<TaskId>, Failure> {
        let mut keys = link_keys(created.number, &created.url, &created.node, created.item.as_ref());
        let (text, _) = read_issue_body(&created.body);
        let labels = (!labels.is_empty()).then(|| Value::texts(labels));
        let made = [
            (Field::Title, Some(Value::Text(title_of(&created.title)))),
            (Field::Description, (!text.is_empty()).then_some(Value::Text(text))),
            (Field::Labels, labels),
        ];
        for (field, value) in made {
            keys.push((field.base_key(), base_value(self.ws, field, value.as_ref())?));
        }
        self.agree(vec![Agreed::new(local, keys)])
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

//! Creates issues, comments, labels and items, each of which must be created only once. An intent is written to disk
//! before each request, and something that may already exist is not requested again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::SyncStep;
use super::calls::{PlannedCall, calls};
use super::compare::{Comparison, NoteMove, task_id};
use super::edits::Agreed;
use super::local::{Local, Locals, stem};
use super::memory::{CreateIntent, Sent, drop_intent, write_intent};
use super::pull::{base_value, link_keys};
use super::push::{Ledger, Pusher, texts};
use super::run::SyncPass;
use crate::app::Failure;
use crate::board::Place;
use crate::github::{
    BATCH, Call, Field, GithubError, Item, Knowledge, LONGEST_TITLE, Link, Marker, NewText, Node, NoteLink, Outcome,
    RemoteComment, RemoteIssue, canonical, comment_body, hash, issue_body, read_issue_body, title_of,
};
use crate::task::{Key, TaskId, Value};

/// The issue of a task that has no item in the project.
#[derive(Debug, Clone)]
pub struct MissingRow {
    pub task: TaskId,
    pub place: Place,
    pub issue: Node,
}

/// How many calls to send along with a create: GitHub aborts requests after ten seconds.
const RIDERS: usize = 10;

impl SyncPass<'_> {
    /// Creates issues for tasks that have none, parents first. The other values of an issue are sent along with the
    /// request for the next issue, so that each issue is complete soon after its creation.
    pub(super) fn create_all(
        &self,
        pusher: &mut Pusher<'_>,
        new: &[TaskId],
        known: &mut Knowledge,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let mut locals = Locals::read(self.ws)?;
        let order = parents_first(&new.iter().filter_map(|id| locals.tasks.get(id)).collect::<Vec<_>>());
        let (mut riders, mut ledger) = (VecDeque::new(), Ledger::default());
        for (done, id) in order.iter().enumerate() {
            tell(SyncStep::Creating { done, of: order.len(), task: id });
            let Some(local) = locals.tasks.get(id).filter(|local| pusher.fits(local)) else { continue };
            let carried: Vec<PlannedCall> = riders.drain(..riders.len().min(RIDERS)).collect();
            if pusher.create(local, &carried, &mut ledger, known)?.is_none() {
                continue;
            }
            let Some(linked) = Local::load(self.ws, id, local.place.clone())? else { continue };
            locals.tasks.insert(id.clone(), linked);
            let planned = self.calls_of(id, &locals, known, pusher);
            ledger.expect(&planned);
            riders.extend(planned);
        }
        pusher.change(riders.into(), known, tell)
    }

    /// The calls that make an issue show all values of its task.
    fn calls_of(&self, id: &TaskId, locals: &Locals, known: &Knowledge, pusher: &Pusher<'_>) -> Vec<PlannedCall> {
        let names = locals.names();
        let all = self.compare_only(locals, known, &names, &BTreeSet::from([id.clone()]));
        let lens = self.lens(&names, &pusher.repo.labels);
        all.pairs.iter().flat_map(|pair| calls(pair, &lens)).collect()
    }
}

impl Pusher<'_> {
    /// Creates labels that the repository lacks. If a name was taken in the meantime, the labels are read again.
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

    /// Creates one issue, along with calls for earlier ones. The issue is linked before any other request.
    fn create(
        &mut self,
        local: &Local,
        riders: &[PlannedCall],
        ledger: &mut Ledger,
        known: &mut Knowledge,
    ) -> Result<Option<u64>, Failure> {
        let title = title_of(&local.title);
        let body = issue_body(&local.description, &Marker::of(&local.id, local.created));
        // Labels that could not be created are not part of the base.
        let mut labels = texts(local.values.get(&Field::Labels));
        labels.retain(|name| self.repo.labels.contains_key(&name.to_lowercase()));
        let intent = self.begin(local, None, Some(Sent::of(local, &title, &labels)))?;
        let calls: Vec<Call> = riders.iter().map(|step| step.call.clone()).collect();
        let text = NewText { title: &title, body: &body, labels: self.label_ids(&labels) };
        let answer = self.client.create_issue(&self.repo.id, &self.project.id, &text, self.features, &calls);
        let created = match answer {
            Ok(answer) => {
                self.settle(riders, answer.riders, ledger, known)?;
                answer.created
            }
            // The outcome of the calls that were sent along is unknown too; the next comparison determines it.
            Err(error) => Err(error),
        };
        let created = match created {
            Ok(created) => created,
            Err(error) => return self.unmade(&intent, "issue", error).map(|()| None),
        };
        // If the link cannot be written now, the next sync finds the issue by its marker.
        if self.link(local, &created, &labels)?.is_empty() {
            drop_intent(self.ws, &intent)?;
        }
        let issue = RemoteIssue::fresh(&created, &self.repo.slug.to_string(), labels);
        known.items.extend(created.item.clone().map(|item| Item::new(item, &issue)));
        known.issues.insert(created.node.clone(), issue);
        self.pushed.created.push((local.id.clone(), created.number));
        Ok(Some(created.number))
    }

    /// Whether GitHub accepts the length of these texts; reports those that are too long.
    fn fits(&mut self, local: &Local) -> bool {
        if title_of(&local.title).chars().count() > LONGEST_TITLE {
            let message = format!("longer than the {LONGEST_TITLE} characters that GitHub allows");
            self.fail(Some(&local.id), "title", message);
            return false;
        }
        let body = issue_body(&local.description, &Marker::of(&local.id, local.created));
        let fits = body.chars().count() <= crate::github::LONGEST_BODY;
        if !fits {
            self.fail(Some(&local.id), "description", "longer than GitHub allows".into());
        }
        fits
    }

    fn begin(&self, local: &Local, note: Option<&str>, sent: Option<Sent>) -> Result<CreateIntent, Failure> {
        let at = self.client.server_now().unwrap_or_else(|| self.ws.now());
        let intent = CreateIntent { task: local.id.clone(), note: note.map(str::to_owned), at, sent };
        write_intent(self.ws, &intent)?;
        Ok(intent)
    }

    /// Handles a failed create. What certainly does not exist can be tried again; the next sync looks for anything that
    /// may exist.
    fn unmade(&mut self, intent: &CreateIntent, what: &str, error: GithubError) -> Result<(), Failure> {
        if error.is_definite() {
            drop_intent(self.ws, intent)?;
        }
        match error {
            // The intent remains, and the next sync looks for the result.
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

    /// Creates items for issues that have none. GitHub may need a moment for new issues.
    pub fn add_items(&mut self, missing: Vec<MissingRow>, known: &mut Knowledge) -> Result<(), Failure> {
        let mut left = missing;
        for attempt in 0..4_u64 {
            if attempt > 0 && !left.is_empty() {
                self.client.pause(attempt)?;
            }
            let mut again = Vec::new();
            for chunk in left.chunks(BATCH) {
                let calls: Vec<Call> = chunk
                    .iter()
                    .map(|row| Call::AddItem { project: self.project.id.clone(), issue: row.issue.clone() })
                    .collect();
                let outcomes = self.client.call(&calls)?;
                for (row, outcome) in chunk.iter().zip(outcomes) {
                    match outcome {
                        Outcome::Done(Some(item)) => self.added(row, Node::new(item), known)?,
                        Outcome::Failed(error) if !error.is("NOT_FOUND") => {
                            self.fail(Some(&row.task), "project item", error.message);
                        }
                        _ => again.push(row.clone()),
                    }
                }
            }
            left = again;
        }
        for row in left {
            self.fail(
                Some(&row.task),
                "project item",
                "GitHub does not list the new issue yet; the next sync adds it".into(),
            );
        }
        Ok(())
    }

    fn added(&self, row: &MissingRow, item: Node, known: &mut Knowledge) -> Result<(), Failure> {
        if let Some(issue) = known.issues.get(&row.issue) {
            known.items.push(Item::new(item.clone(), issue));
        }
        let keys = vec![(Key::new("github.item"), Some(Value::text(item)))];
        let agreed = Agreed { task: row.task.clone(), place: row.place.clone(), keys, kept: None };
        self.agree(vec![agreed]).map(|_| ())
    }

    /// Posts notes that have no comment yet, one by one.
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

fn parents_first(new: &[&Local]) -> Vec<TaskId> {
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
    let mut order = new.to_vec();
    order.sort_by_key(|local| (depth(local), local.created, local.id.clone()));
    order.into_iter().map(|local| local.id.clone()).collect()
}

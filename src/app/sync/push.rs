//! Pushes the board's changes to GitHub: creates one by one, each with an intent on disk, and everything else in
//! batches.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::SyncStep;
use super::calls::{PlannedCall, Settles};
use super::edits::{Agreed, Kept, agree};
use super::local::stem;
use super::pull::base_value;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::github::{
    BATCH, Call, Client, Features, Field, Knowledge, Link, Node, Outcome, Project, Repo, read_issue_body, title_of,
};
use crate::task::{TaskId, Value};

/// After this time, an issue is read again before its text is overwritten.
const FRESH: Duration = Duration::from_secs(60);

/// A change that GitHub did not accept.
#[derive(Debug, Clone, Serialize)]
pub struct Failed {
    pub task: Option<TaskId>,
    pub what: String,
    pub message: String,
}

#[derive(Debug, Default)]
pub struct PushedFields {
    pub created: Vec<(TaskId, u64)>,
    pub fields: usize,
    pub comments: usize,
    pub done: BTreeSet<(TaskId, &'static str)>,
    /// Issues whose appearance did not match their state, and was corrected.
    pub tidied: usize,
    pub failed: Vec<Failed>,
}

pub struct Pusher<'a> {
    pub ws: &'a Workspace,
    pub client: &'a Client<'a>,
    pub project: &'a Project,
    pub repo: Repo,
    pub features: Features,
    pub scanned: Instant,
    pub branch: Option<String>,
    pub pushed: &'a mut PushedFields,
    /// Issues that this sync has changed.
    pub written: BTreeSet<Node>,
    /// Issues that have changed on GitHub since they were read; left for the next sync.
    pub stale: BTreeSet<Node>,
}

/// Counts the calls until a field is settled, because a field may need several calls in several requests.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    open: BTreeMap<(TaskId, Settles), usize>,
    spoiled: BTreeSet<(TaskId, Settles)>,
}

impl Ledger {
    pub(super) fn expect(&mut self, planned: &[PlannedCall]) {
        for key in planned.iter().filter_map(key) {
            *self.open.entry(key).or_default() += 1;
        }
    }

    /// Counts a completed call; returns whether it settles its field.
    fn is_last(&mut self, step: &PlannedCall) -> bool {
        let Some(key) = key(step) else { return false };
        let left = self.open.entry(key.clone()).or_default();
        *left = left.saturating_sub(1);
        *left == 0 && !self.spoiled.contains(&key)
    }

    fn spoil(&mut self, step: &PlannedCall) {
        self.spoiled.extend(key(step));
    }
}

fn key(step: &PlannedCall) -> Option<(TaskId, Settles)> {
    Some((step.task.clone()?, step.settles.clone()))
}

impl<'a> Pusher<'a> {
    pub(super) fn fail(&mut self, task: Option<&TaskId>, what: &str, message: String) {
        self.pushed.failed.push(Failed { task: task.cloned(), what: what.to_owned(), message });
    }

    /// Writes agreed values, but not to the files of another branch than the one that was compared.
    pub(super) fn agree(&self, agreed: Vec<Agreed>) -> Result<Vec<TaskId>, Failure> {
        if self.ws.repository.current_branch()? != self.branch {
            return Err(Failure::new(
                FailureKind::Raced,
                Code::Switched,
                "another branch was checked out while the sync ran",
            )
            .hint(Hint::Retry));
        }
        agree(self.ws, agreed)
    }

    /// Makes changes that can be repeated safely.
    pub fn change(
        &mut self,
        planned: Vec<PlannedCall>,
        known: &mut Knowledge,
        tell: &mut dyn FnMut(SyncStep<'_>),
    ) -> Result<(), Failure> {
        let total = planned.len();
        let mut ledger = Ledger::default();
        ledger.expect(&planned);
        for (nth, chunk) in planned.chunks(BATCH).enumerate() {
            tell(SyncStep::Changing { done: nth * BATCH, of: total });
            self.look_again(chunk, known)?;
            let chunk: Vec<PlannedCall> = chunk.iter().filter(|step| !self.is_stale(step)).cloned().collect();
            if chunk.is_empty() {
                continue;
            }
            let calls: Vec<Call> = chunk.iter().map(|step| step.call.clone()).collect();
            let outcomes = self.client.call(&calls)?;
            self.settle(&chunk, outcomes, &mut ledger, known)?;
        }
        Ok(())
    }

    /// Records the outcomes of calls, and writes the values that both sides agree on now.
    pub(super) fn settle(
        &mut self,
        done: &[PlannedCall],
        outcomes: Vec<Outcome>,
        ledger: &mut Ledger,
        known: &mut Knowledge,
    ) -> Result<(), Failure> {
        self.written.extend(done.iter().filter_map(|step| step.issue.clone()));
        let mut agreed = Vec::new();
        for (step, outcome) in done.iter().zip(outcomes) {
            match outcome {
                Outcome::Done(kept) => {
                    known.note_call(&step.call);
                    if ledger.is_last(step) {
                        agreed.extend(self.settled(step, kept, known)?);
                    }
                }
                Outcome::Failed(error) => {
                    ledger.spoil(step);
                    self.fail(step.task.as_ref(), &step.settles.to_string(), error.message);
                }
            }
        }
        self.agree(agreed).map(|_| ())
    }

    /// The agreed values after a call: those that were sent, or what GitHub stored instead.
    fn settled(
        &mut self,
        step: &PlannedCall,
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
                self.pushed.done.insert((task.clone(), field.name()));
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
                // GitHub stored a different text, so the task gets that text too.
                if there != sent && matches!(field, Field::Title | Field::Description) {
                    kept_text = Some(Kept { key: field.key(), sent, new: there });
                }
                keys
            }
        };
        Ok(Some(Agreed { task, place: step.place.clone(), keys, kept: kept_text }))
    }

    fn is_stale(&self, step: &PlannedCall) -> bool {
        step.issue.as_ref().is_some_and(|issue| self.stale.contains(issue))
    }

    /// In a long sync, checks whether issues have changed before their texts are overwritten.
    fn look_again(&mut self, chunk: &[PlannedCall], known: &Knowledge) -> Result<(), Failure> {
        if self.scanned.elapsed() < FRESH {
            return Ok(());
        }
        let texts = chunk.iter().filter(|step| matches!(step.call, Call::Title { .. } | Call::Body { .. }));
        let new: BTreeSet<&TaskId> = self.pushed.created.iter().map(|(task, _)| task).collect();
        let texts = texts.filter(|step| step.task.as_ref().is_none_or(|task| !new.contains(task)));
        // Issues that this sync has changed itself do not count.
        let texts = texts.filter(|step| step.issue.as_ref().is_none_or(|issue| !self.written.contains(issue)));
        let ids: BTreeSet<Node> = texts.filter_map(|step| step.issue.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for node in self.client.changed_since(known, &ids)? {
            let task = chunk.iter().find(|step| step.issue.as_ref() == Some(&node)).and_then(|step| step.task.clone());
            if self.stale.insert(node) {
                self.fail(task.as_ref(), "text", "it has just changed on GitHub; the next sync merges both".into());
            }
        }
        Ok(())
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

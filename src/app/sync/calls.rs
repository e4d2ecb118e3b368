//! Converts decisions into the mutations that update an issue. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::adopt::is_adopted;
use super::compare::{NoteMove, Pair, task_id};
use super::push::texts;
use crate::board::Place;
use crate::github::{
    Call, Decision, Field, FieldNames, LONGEST_BODY, Label, Marker, Names, Node, NoteLink, OptionField, Project,
    Representation, canonical, comment_body, hash, issue_body, read_comment, read_issue_body,
};
use crate::task::{StateName, TaskId, Value};
use crate::workflow::Workflow;

/// What both sides agree on once all of its calls are done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Settles {
    Field(Field),
    Note(String),
    /// Corrects the appearance on GitHub, without changing a value.
    Nothing,
}

impl fmt::Display for Settles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => f.write_str(field.name()),
            Self::Note(_) => f.write_str("comment"),
            Self::Nothing => f.write_str("display"),
        }
    }
}

/// A call and its purpose.
#[derive(Debug, Clone)]
pub struct PlannedCall {
    pub task: Option<TaskId>,
    pub place: Place,
    pub issue: Option<Node>,
    pub settles: Settles,
    pub call: Call,
    /// The value that the field will have on GitHub.
    pub value: Option<Value>,
    pub note: Option<NoteLink>,
}

impl PlannedCall {
    /// A call for an issue without a task.
    pub fn alone(issue: Node, call: Call) -> Self {
        let (place, settles) = (Place::Task, Settles::Nothing);
        Self { task: None, place, issue: Some(issue), settles, call, value: None, note: None }
    }
}

/// Looks up the ids that calls need.
pub struct Lens<'a> {
    pub project: &'a Project,
    pub fields: &'a FieldNames,
    pub flow: &'a Workflow,
    pub names: &'a Names,
    pub labels: &'a BTreeMap<String, Label>,
    /// The prefix of task ids.
    pub prefix: &'a str,
}

pub fn calls(pair: &Pair<'_>, lens: &Lens<'_>) -> Vec<PlannedCall> {
    let mut found: Vec<(Settles, Call)> = Vec::new();
    // The fields of an archived item cannot be changed, so archiving comes last.
    let asleep = pair.is_asleep();
    if pair.item.archived && !asleep {
        let (project, item) = (lens.project.id.clone(), pair.item.id.clone());
        found.push((Settles::Field(Field::Archived), Call::Unarchive { project, item }));
    }
    for (field, decision) in &pair.decisions {
        let calls = match (field, decision) {
            (Field::State, Decision::Push | Decision::Settled | Decision::Agreed) => {
                // Of an archived item only the issue can be changed, so the state is not settled.
                let whole = *decision == Decision::Push && !asleep;
                let settles = if whole { Settles::Field(Field::State) } else { Settles::Nothing };
                found.extend(state(pair, lens, asleep).into_iter().map(|call| (settles.clone(), call)));
                continue;
            }
            (Field::Archived | Field::State, _) => continue,
            (Field::Priority | Field::Estimate, Decision::Push) if asleep => continue,
            (_, Decision::Push) => field_calls(*field, pair, lens),
            _ => continue,
        };
        // A value that GitHub cannot show completely must not become the base: the next sync would take the missing
        // part for removed.
        let settles = if is_shown(*field, pair, lens) { Settles::Field(*field) } else { Settles::Nothing };
        found.extend(calls.into_iter().map(|call| (settles.clone(), call)));
    }
    let sleeps =
        pair.decisions.contains(&(Field::Archived, Decision::Push)) && pair.local.value(Field::Archived).is_some();
    if sleeps {
        let (project, item) = (lens.project.id.clone(), pair.item.id.clone());
        found.push((Settles::Field(Field::Archived), Call::Archive { project, item }));
    }
    found.extend(marker_put_back(pair, lens).map(|call| (Settles::Nothing, call)));
    let mut all: Vec<PlannedCall> = found.into_iter().map(|(settles, call)| planned(pair, settles, call)).collect();
    all.extend(pair.notes.iter().filter_map(|note| edit(pair, note)));
    all
}

/// Restores the marker of an issue that has lost it, below the text that people have written.
fn marker_put_back(pair: &Pair<'_>, lens: &Lens<'_>) -> Option<Call> {
    let marker = Marker::of(&pair.local.id, pair.local.created);
    let (text, there) = read_issue_body(&pair.issue.body);
    let lost = match &there {
        Some(there) => there.task == marker.task && there.deleted,
        None => !is_adopted(lens.prefix, &pair.issue.node, &pair.local.id),
    };
    let written = pair.decisions.iter().any(|(field, decision)| {
        *field == Field::Description && !matches!(decision, Decision::Settled | Decision::Agreed)
    });
    let body = issue_body(&text, &marker);
    (lost && !written && body.chars().count() <= LONGEST_BODY)
        .then(|| Call::Body { issue: pair.issue.node.clone(), body })
}

/// Whether everything that a field refers to exists on GitHub.
fn is_shown(field: Field, pair: &Pair<'_>, lens: &Lens<'_>) -> bool {
    match (field, pair.here.get(&field)) {
        (Field::Labels, value) => texts(value).iter().all(|name| lens.labels.contains_key(&name.to_lowercase())),
        (Field::BlockedBy, Some(Value::List(list))) => {
            list.iter().filter_map(task_id).all(|id| lens.names.issue(&id).is_some())
        }
        _ => true,
    }
}

fn planned(pair: &Pair<'_>, settles: Settles, call: Call) -> PlannedCall {
    let value = if let Settles::Field(field) = &settles { pair.here.get(field).cloned() } else { None };
    PlannedCall {
        task: Some(pair.local.id.clone()),
        place: pair.local.place.clone(),
        issue: Some(pair.issue.node.clone()),
        settles,
        call,
        value,
        note: None,
    }
}

fn edit(pair: &Pair<'_>, note: &NoteMove<'_>) -> Option<PlannedCall> {
    if let NoteMove::Double { comment } = note {
        return Some(planned(pair, Settles::Nothing, Call::DeleteComment { comment: comment.id.clone() }));
    }
    let NoteMove::Edit { file, comment } = note else { return None };
    let note = pair.local.notes.iter().find(|note| note.file == *file)?;
    let name = super::local::stem(file);
    // A comment that a person wrote on GitHub gets no signature.
    let signed = read_comment(&comment.body).2.is_some();
    let body = if signed { comment_body(&note.text, note.by.as_deref(), &name) } else { note.text.clone() };
    let call = Call::EditComment { comment: comment.id.clone(), body };
    let link = NoteLink { comment: comment.id.clone(), hash: hash(&canonical(&note.text)) };
    Some(PlannedCall { note: Some(link), ..planned(pair, Settles::Note((*file).to_owned()), call) })
}

/// Sets the option, closes or reopens the issue, and sets GitHub's own Status, if they do not show the state yet.
fn state(pair: &Pair<'_>, lens: &Lens<'_>, asleep: bool) -> Vec<Call> {
    let Some(state) = pair.local.value(Field::State).map(|value| StateName::new(value.to_string())) else {
        return Vec::new();
    };
    let shown = Representation::of(lens.flow, &state);
    let (issue, item) = (&pair.issue.node, pair.item);
    let dropped = matches!(item.reason.as_deref(), Some("NOT_PLANNED" | "DUPLICATE"));
    let mut calls = Vec::new();
    // The card comes first: if the sync is killed in between, the card shows the new state.
    if !asleep && item.state.as_deref() != Some(&shown.option) && !pair.is_left_alone(lens.flow) {
        calls.extend(choose(lens, &lens.fields.state, item, Some(&shown.option)));
    }
    if shown.closed.is_none() && item.closed {
        calls.push(Call::Reopen { issue: issue.clone() });
    }
    if let Some(reason) = shown.closed.filter(|reason| !item.closed || dropped != (*reason == "NOT_PLANNED")) {
        calls.push(Call::Close { issue: issue.clone(), reason });
    }
    if !asleep && shown.status.is_some() && item.status != shown.status {
        calls.extend(choose(lens, "Status", item, shown.status.as_deref()));
    }
    calls
}

fn choose(lens: &Lens<'_>, field: &str, item: &crate::github::Item, option: Option<&str>) -> Option<Call> {
    let field: &OptionField = lens.project.field(field)?;
    let (project, item, id) = (lens.project.id.clone(), item.id.clone(), field.id.clone());
    match option {
        Some(name) => Some(Call::Choose { project, item, field: id, option: field.option(name)?.id.clone() }),
        None => Some(Call::Clear { project, item, field: id }),
    }
}

fn field_calls(field: Field, pair: &Pair<'_>, lens: &Lens<'_>) -> Vec<Call> {
    let (local, issue) = (pair.local, pair.issue.node.clone());
    let value = pair.here.get(&field);
    let text = value.map(ToString::to_string);
    match field {
        Field::Title => vec![Call::Title { issue, title: text.unwrap_or_default() }],
        Field::Description => {
            let body = issue_body(&text.unwrap_or_default(), &Marker::of(&local.id, local.created));
            vec![Call::Body { issue, body }]
        }
        Field::Priority => choose(lens, &lens.fields.priority, pair.item, text.as_deref()).into_iter().collect(),
        Field::Estimate => choose(lens, &lens.fields.estimate, pair.item, text.as_deref()).into_iter().collect(),
        Field::Labels => labels(pair, lens),
        Field::Parent => parent(pair, lens, value),
        Field::BlockedBy => blockers(pair, lens, value),
        Field::State | Field::Archived => Vec::new(),
    }
}

fn labels(pair: &Pair<'_>, lens: &Lens<'_>) -> Vec<Call> {
    let lower = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<BTreeSet<_>>();
    let (here, there) = (lower(&texts(pair.local.value(Field::Labels))), lower(&pair.issue.labels));
    let ids = |names: Vec<&String>| {
        names.into_iter().filter_map(|name| lens.labels.get(name)).map(|label| label.id.clone()).collect::<Vec<_>>()
    };
    let (added, removed) = (ids(here.difference(&there).collect()), ids(there.difference(&here).collect()));
    let issue = pair.issue.node.clone();
    let mut calls = Vec::new();
    if !added.is_empty() {
        calls.push(Call::AddLabels { issue: issue.clone(), labels: added });
    }
    if !removed.is_empty() {
        calls.push(Call::RemoveLabels { issue, labels: removed });
    }
    calls
}

fn parent(pair: &Pair<'_>, lens: &Lens<'_>, value: Option<&Value>) -> Vec<Call> {
    let child = pair.issue.node.clone();
    let old = pair.issue.parent.clone().filter(|parent| lens.names.task(parent).is_some());
    match (value.and_then(task_id), old) {
        (Some(id), _) => {
            lens.names.issue(&id).map(|parent| Call::AddChild { parent: parent.clone(), child }).into_iter().collect()
        }
        (None, Some(parent)) => vec![Call::RemoveChild { parent, child }],
        (None, None) => Vec::new(),
    }
}

fn blockers(pair: &Pair<'_>, lens: &Lens<'_>, value: Option<&Value>) -> Vec<Call> {
    let here: BTreeSet<TaskId> = match value {
        Some(Value::List(list)) => list.iter().filter_map(task_id).collect(),
        _ => BTreeSet::new(),
    };
    let there: BTreeSet<TaskId> =
        pair.issue.blocked_by.iter().filter_map(|node| lens.names.task(node)).cloned().collect();
    let node = |id: &TaskId| lens.names.issue(id).cloned();
    let issue = &pair.issue.node;
    let added =
        here.difference(&there).filter_map(node).map(|blocker| Call::AddBlocker { issue: issue.clone(), blocker });
    let removed =
        there.difference(&here).filter_map(node).map(|blocker| Call::RemoveBlocker { issue: issue.clone(), blocker });
    removed.chain(added).collect()
}

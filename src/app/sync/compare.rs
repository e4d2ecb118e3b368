//! Compares both sides, and decides for every task and issue what to do, field by field. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::local::{Local, Locals, stem};
use crate::board::Place;
use crate::github::{
    Decision, Features, Field, Item, Knowledge, LONGEST_BODY, LONGEST_TITLE, Marker, Names, Node, NoteLink,
    RemoteComment, RemoteIssue, Shown, Values, canonical, decide, hash, read_comment, read_issue_body, remote_values,
    title_of,
};
use crate::task::{StateName, TaskId, Value};
use crate::workflow::Workflow;

/// A task and its issue.
pub struct Pair<'a> {
    pub local: &'a Local,
    pub item: &'a Item,
    pub issue: &'a RemoteIssue,
    /// The local values, as far as GitHub can show them.
    pub here: Values,
    pub remote: Values,
    /// What the issue shows, if that differs from its state.
    pub shown: Option<Shown>,
    pub decisions: Vec<(Field, Decision)>,
    pub notes: Vec<NoteMove<'a>>,
}

impl Pair<'_> {
    /// Whether the card is in a column that is not a state of this board, and the task has not moved since. People may
    /// have columns of their own, so the card stays there.
    pub fn is_left_alone(&self, flow: &Workflow) -> bool {
        let moved = self.decisions.contains(&(Field::State, Decision::Push));
        !moved && self.item.state.as_ref().is_some_and(|name| !is_column(name, flow))
    }

    /// Whether the item is archived on GitHub and stays so; its fields cannot be changed then.
    pub fn is_asleep(&self) -> bool {
        let wakes =
            self.decisions.contains(&(Field::Archived, Decision::Push)) && self.local.value(Field::Archived).is_none();
        self.item.archived && !wakes
    }

    pub fn has_conflict(&self) -> bool {
        self.decisions.iter().any(|(_, decision)| *decision == Decision::Conflict)
            || self.notes.iter().any(|note| matches!(note, NoteMove::Conflict { .. }))
    }
}

/// What to do with a note or a comment.
#[derive(Debug, Clone)]
pub enum NoteMove<'a> {
    /// Post a note that has no comment yet.
    Post { file: &'a str },
    /// Edit our own comment, because only the note was edited.
    Edit { file: &'a str, comment: &'a RemoteComment },
    /// Create a note for a comment.
    Take { comment: &'a RemoteComment },
    /// Change the note, because only the comment was edited.
    Rewrite { file: &'a str, comment: &'a RemoteComment },
    /// Link a note and a comment with the same text.
    Tie { file: &'a str, link: NoteLink },
    /// Both were edited differently.
    Conflict { file: &'a str, comment: &'a RemoteComment },
    /// Delete a second comment of a note with the same text, because two clones posted it at the same time.
    Double { comment: &'a RemoteComment },
}

/// Why a linked task has no item in the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// The issue was deleted, or the token has no access to it; GitHub does not say which.
    Gone,
    /// The issue exists, but is not in the project.
    Removed,
}

/// The result of a comparison.
#[derive(Default)]
pub struct Comparison<'a> {
    pub pairs: Vec<Pair<'a>>,
    /// Tasks without an issue.
    pub creates: Vec<&'a Local>,
    /// Tasks with an issue that is not linked yet; the marker of the issue names the task.
    pub found: Vec<(&'a Local, &'a Item)>,
    /// Issues that were created on GitHub.
    pub adopts: Vec<(&'a Item, &'a RemoteIssue)>,
    /// Issues whose marker names a task that does not exist here.
    pub orphans: Vec<(&'a Item, TaskId)>,
    /// Second issues of tasks: two clones created them at the same time, or a person copied one.
    pub copies: Vec<(&'a Item, &'a Local)>,
    /// Older issues of tasks that are linked to a second one; the older issue stays.
    pub older: Vec<(&'a Local, &'a Item)>,
    /// Issues of tasks that another clone has deleted, while this clone still has the task.
    pub deleted_elsewhere: Vec<(&'a Item, &'a Local)>,
    /// Issues without a clear state: the card is in a column that is not a state of this board, or a new issue is open
    /// but in a terminal state. The card is left where it is.
    pub unmapped: Vec<&'a Item>,
    /// Issues to close, because their tasks were deleted here.
    pub retire: Vec<&'a Item>,
    pub lost: Vec<(&'a Local, Loss)>,
    pub too_long: Vec<(&'a Local, Field)>,
}

/// The context of a comparison.
pub struct Lens<'a> {
    pub flow: &'a Workflow,
    pub features: Features,
    pub repo: &'a str,
    /// The text of a base, if it is still known from its hash.
    pub ancestor: &'a dyn Fn(&Local) -> Option<String>,
    /// Whether the named or linked task of an issue was deleted here.
    pub deleted: &'a dyn Fn(Option<&TaskId>, &Node) -> bool,
    /// Issues that were closed for that reason before; later changes to them by people are left alone.
    pub retired: &'a BTreeSet<Node>,
    /// Compares only these tasks, if there are any.
    pub only: &'a BTreeSet<TaskId>,
}

impl Lens<'_> {
    fn wants(&self, id: &TaskId) -> bool {
        self.only.is_empty() || self.only.contains(id)
    }
}

pub fn compare<'a>(locals: &'a Locals, known: &'a Knowledge, names: &Names, lens: &Lens<'_>) -> Comparison<'a> {
    let mut all = Comparison::default();
    let by_issue: BTreeMap<&Node, &Item> = known.items.iter().map(|item| (&item.issue, item)).collect();
    let by_row: BTreeMap<&Node, &Item> = known.items.iter().map(|item| (&item.id, item)).collect();
    let mut linked: BTreeSet<&Node> = BTreeSet::new();
    for local in locals.tasks.values() {
        let Some(node) = &local.link.node else { continue };
        // A transferred issue has a new id, but the same item.
        let row = by_issue.get(node).or_else(|| by_row.get(local.link.item.as_ref()?)).copied();
        linked.insert(node);
        linked.extend(row.map(|row| &row.issue));
        if !lens.wants(&local.id) {
            continue;
        }
        match row.and_then(|row| Some((row, known.issues.get(&row.issue)?))) {
            Some((item, issue)) if is_deleted_elsewhere(item, issue, lens) => all.deleted_elsewhere.push((item, local)),
            Some((item, issue)) => {
                let pair = pair(local, item, issue, names, locals, lens, &mut all.too_long);
                all.unmapped.extend(pair.is_left_alone(lens.flow).then_some(item));
                all.pairs.push(pair);
            }
            // The item has yet to be created.
            None if local.link.item.is_none() && known.issues.contains_key(node) => {}
            None => {
                let loss = if known.issues.contains_key(node) { Loss::Removed } else { Loss::Gone };
                all.lost.push((local, loss));
            }
        }
    }
    linked.extend(&locals.kept_out);
    for item in known.items.iter().filter(|item| !linked.contains(&item.issue) && item.repo == lens.repo) {
        unlinked(item, locals, known, lens, &mut all);
    }
    let deleted: BTreeSet<&TaskId> = all.deleted_elsewhere.iter().map(|(_, local)| &local.id).collect();
    all.pairs.retain(|pair| !deleted.contains(&pair.local.id));
    let found: BTreeSet<&TaskId> = all.found.iter().map(|(local, _)| &local.id).chain(deleted).collect();
    let new = locals.tasks.values().filter(|local| local.link.node.is_none() && lens.wants(&local.id));
    all.creates = new.filter(|local| !found.contains(&local.id)).collect();
    all
}

/// Whether the marker says so and nobody has reopened the issue. Issues that this clone itself closed do not count.
fn is_deleted_elsewhere(item: &Item, issue: &RemoteIssue, lens: &Lens<'_>) -> bool {
    let deleted = read_issue_body(&issue.body).1.is_some_and(|marker| marker.deleted);
    deleted && item.closed && !lens.retired.contains(&item.issue)
}

/// The only task without an issue that has this title and is older than the issue: a person removed the marker. Both
/// are compared without a base, so that no text is overwritten.
fn same_title<'a>(issue: &RemoteIssue, locals: &'a Locals) -> Option<&'a Local> {
    let made: Option<jiff::Timestamp> = issue.created.parse().ok();
    let is_older = |local: &Local| local.created.zip(made).is_none_or(|(local, issue)| local <= issue);
    let same = |local: &&Local| {
        local.link.node.is_none() && title_of(&local.title) == title_of(&issue.title) && is_older(local)
    };
    let mut found = locals.tasks.values().filter(same);
    found.next().filter(|_| found.next().is_none())
}

fn is_column(name: &str, flow: &Workflow) -> bool {
    flow.states().iter().any(|state| state.name.as_str() == name)
}

/// Whether the card of a new issue has a clear state. A terminal state is not clear, because the issue is open.
fn is_mapped(item: &Item, flow: &Workflow) -> bool {
    let state = |name: &String| flow.states().iter().find(|state| state.name.as_str() == name);
    item.state.as_ref().is_none_or(|name| state(name).is_some_and(|state| !state.terminal))
}

/// Handles an item that no task is linked to: an interrupted sync, another clone or a person created it.
fn unlinked<'a>(item: &'a Item, locals: &'a Locals, known: &'a Knowledge, lens: &Lens<'_>, all: &mut Comparison<'a>) {
    let Some(issue) = known.issues.get(&item.issue) else { return };
    let (_, marker) = read_issue_body(&issue.body);
    let named = marker.as_ref().map(|marker| &marker.task).filter(|task| !locals.tasks.contains_key(task));
    if (named.is_some() || marker.is_none())
        && (lens.retired.contains(&item.issue) || (lens.deleted)(named, &item.issue))
    {
        let open = (!item.closed || !item.archived) && !lens.retired.contains(&item.issue) && lens.only.is_empty();
        all.retire.extend(open.then_some(item));
        // A person has reopened the issue.
        let back = lens.retired.contains(&item.issue) && !item.closed;
        all.orphans.extend(named.filter(|_| back).map(|task| (item, task.clone())));
        return;
    }
    match marker {
        Some(marker) => match locals.tasks.get(&marker.task) {
            Some(local) if local.link.node.is_none() && Marker::of(&local.id, local.created).is_same_task(&marker) => {
                if marker.deleted && item.closed {
                    all.deleted_elsewhere.push((item, local));
                } else if lens.wants(&local.id) && !all.found.iter().any(|(other, _)| other.id == local.id) {
                    all.found.push((local, item));
                }
            }
            Some(local) if local.link.node.is_some() => {
                let same = Marker::of(&local.id, local.created).is_same_task(&marker);
                let first = same && Some(item.number) < local.link.number;
                match item.reason.as_deref() {
                    _ if first && is_deleted_elsewhere(item, issue, lens) => all.deleted_elsewhere.push((item, local)),
                    // The older issue stays, even if it is closed by now.
                    reason if first && reason != Some("DUPLICATE") => all.older.push((local, item)),
                    _ => all.copies.push((item, local)),
                }
            }
            // The marker names a task of another board that has the same id.
            Some(_) => {}
            None if locals.unmirrored.contains(&marker.task) => {}
            None => all.orphans.push((item, marker.task)),
        },
        // Issues that were closed before the board was mirrored are not adopted.
        None if !item.closed && !item.archived && lens.only.is_empty() => match same_title(issue, locals) {
            Some(local) if !all.found.iter().any(|(other, _)| other.id == local.id) => all.found.push((local, item)),
            _ if is_mapped(item, lens.flow) => all.adopts.push((item, issue)),
            _ => all.unmapped.push(item),
        },
        None => {}
    }
}

fn pair<'a>(
    local: &'a Local,
    item: &'a Item,
    issue: &'a RemoteIssue,
    names: &Names,
    locals: &Locals,
    lens: &Lens<'_>,
    too_long: &mut Vec<(&'a Local, Field)>,
) -> Pair<'a> {
    // An issue that was removed and added again has a new item without values.
    let same_row = local.link.item.as_ref() == Some(&item.id);
    let link = if same_row { local.link.clone() } else { local.link.clone().without_row() };
    let remote = remote_values(item, issue, names, Some(&link), lens.flow);
    let ancestor = (lens.ancestor)(local);
    let (mut decisions, mut all) = (Vec::new(), Values::new());
    for field in Field::ALL {
        if !applies(field, local, item, locals, lens) {
            continue;
        }
        let here = seen_there(field, local.value(field), locals);
        all.extend(here.clone().map(|here| (field, here)));
        let known = link.agreed(field);
        let decision = decide(field, here.as_ref(), remote.get(&field), known, ancestor.as_deref());
        let decision = match decision {
            Decision::Conflict if field == Field::State && known.is_none() => {
                moved_side(here.as_ref(), remote.get(&field), local, lens)
            }
            other => other,
        };
        if matches!(decision, Decision::Push | Decision::Both(_)) && is_too_long(field, here.as_ref()) {
            too_long.push((local, field));
            continue;
        }
        decisions.push((field, decision));
    }
    refuse_archiving_open_tasks(&mut decisions, local, &remote, lens);
    let state = remote.get(&Field::State).map(|state| StateName::new(state.to_string()));
    let shown = state.and_then(|state| item.unlike(lens.flow, &state));
    Pair { local, item, issue, shown, here: all, remote, decisions, notes: notes(local, issue) }
}

/// Without a base, the side that is in the initial state has not moved.
fn moved_side(here: Option<&Value>, there: Option<&Value>, local: &Local, lens: &Lens<'_>) -> Decision {
    let initial = Value::text(lens.flow.initial(local.kind));
    match (here == Some(&initial), there == Some(&initial)) {
        (true, false) => Decision::Pull,
        (false, true) => Decision::Push,
        _ => Decision::Conflict,
    }
}

/// If an item was archived on GitHub but its task is not finished, a person has to decide.
fn refuse_archiving_open_tasks(decisions: &mut [(Field, Decision)], local: &Local, remote: &Values, lens: &Lens<'_>) {
    let pulled = decisions.contains(&(Field::State, Decision::Pull));
    let state = if pulled { remote.get(&Field::State) } else { local.value(Field::State) };
    let ended = state.is_some_and(|state| lens.flow.is_terminal(local.kind, &StateName::new(state.to_string())));
    if ended || local.place != Place::Task {
        return;
    }
    for (field, decision) in decisions {
        if *field == Field::Archived && *decision == Decision::Pull {
            *decision = Decision::Conflict;
        }
    }
}

/// Whether a field of this task can be compared.
fn applies(field: Field, local: &Local, item: &Item, locals: &Locals, lens: &Lens<'_>) -> bool {
    match field {
        Field::BlockedBy => lens.features.dependencies,
        Field::State if !is_state(local, lens) => false,
        Field::State | Field::Priority | Field::Estimate => !item.is_partial() && !item.is_foreign(field),
        // A parent that is not mirrored must not be replaced by one from GitHub.
        Field::Parent => !local.value(field).and_then(task_id).is_some_and(|id| locals.unmirrored.contains(&id)),
        _ => true,
    }
}

/// An unknown state has no column; the file is reported as a problem elsewhere.
fn is_state(local: &Local, lens: &Lens<'_>) -> bool {
    let state = local.value(Field::State).map(|state| StateName::new(state.to_string()));
    state.is_some_and(|state| lens.flow.state(local.kind, &state).is_some())
}

/// The value without blockers that are not mirrored.
fn seen_there(field: Field, value: Option<&Value>, locals: &Locals) -> Option<Value> {
    let Some(Value::List(list)) = value.filter(|_| field == Field::BlockedBy) else { return value.cloned() };
    let mirrored = |id: &&Value| task_id(id).is_some_and(|id| locals.tasks.contains_key(&id));
    let kept: Vec<&Value> = list.iter().filter(mirrored).collect();
    (!kept.is_empty()).then(|| Value::texts(kept))
}

pub fn task_id(value: &Value) -> Option<TaskId> {
    TaskId::new(value.to_string()).ok()
}

fn is_too_long(field: Field, value: Option<&Value>) -> bool {
    let length = value.map_or(0, |value| value.to_string().chars().count());
    match field {
        Field::Title => length > LONGEST_TITLE,
        // Leave room for the marker.
        Field::Description => length > LONGEST_BODY - 200,
        _ => false,
    }
}

fn notes<'a>(local: &'a Local, issue: &'a RemoteIssue) -> Vec<NoteMove<'a>> {
    let mut moves = Vec::new();
    let by_id = |id: &Node| issue.comments.iter().find(|comment| comment.id == *id);
    let marked =
        |name: &str| issue.comments.iter().find(|comment| read_comment(&comment.body).2.as_deref() == Some(name));
    for note in &local.notes {
        let name = stem(&note.file);
        let (link, comment) = match local.link.notes.get(&name) {
            // A comment that was deleted and posted again has a new id.
            Some(link) => match by_id(&link.comment) {
                Some(comment) => (Some(link), Some(comment)),
                None => marked(&name).map_or((Some(link), None), |comment| (None, Some(comment))),
            },
            None => (None, marked(&name)),
        };
        match (link, comment) {
            (None, None) if note.text.chars().count() < LONGEST_BODY - 400 && !note.text.trim().is_empty() => {
                moves.push(NoteMove::Post { file: &note.file });
            }
            // The comment was deleted on GitHub: the note stays, and is posted again once its text changes.
            (Some(link), None) if link.hash != hash(&canonical(&note.text)) => {
                moves.push(NoteMove::Post { file: &note.file });
            }
            (_, None) => {}
            (link, Some(comment)) => moves.extend(edited(&note.file, &note.text, link, comment)),
        }
    }
    moves.extend(doubles(issue).map(|comment| NoteMove::Double { comment }));
    let tied: BTreeSet<&Node> = local.link.notes.values().map(|link| &link.comment).collect();
    let new =
        issue.comments.iter().filter(|comment| !tied.contains(&comment.id) && read_comment(&comment.body).2.is_none());
    moves.extend(new.map(|comment| NoteMove::Take { comment }));
    moves
}

/// Our own comments that repeat an earlier comment of the same note.
fn doubles(issue: &RemoteIssue) -> impl Iterator<Item = &RemoteComment> {
    issue
        .comments
        .iter()
        .enumerate()
        .filter(|(at, comment)| {
            let (text, _, name) = read_comment(&comment.body);
            let same = |other: &RemoteComment| {
                let (first, _, other) = read_comment(&other.body);
                other == name && first == text
            };
            name.is_some() && comment.mine && issue.comments[..*at].iter().any(same)
        })
        .map(|(_, comment)| comment)
}

fn edited<'a>(file: &'a str, text: &str, link: Option<&NoteLink>, comment: &'a RemoteComment) -> Option<NoteMove<'a>> {
    let (here, there) = (hash(&canonical(text)), hash(&read_comment(&comment.body).0));
    let tie = || NoteMove::Tie { file, link: NoteLink { comment: comment.id.clone(), hash: there.clone() } };
    // The comment was found by its marker alone, so the agreed text is unknown.
    let Some(link) = link else {
        return Some(if here == there { tie() } else { NoteMove::Conflict { file, comment } });
    };
    if here == there {
        return (link.hash != here).then(tie);
    }
    match (link.hash == here, link.hash == there) {
        (true, _) => Some(NoteMove::Rewrite { file, comment }),
        (_, true) if comment.mine => Some(NoteMove::Edit { file, comment }),
        // A comment by somebody else must not be edited, and the note keeps its own text.
        (_, true) => None,
        _ => Some(NoteMove::Conflict { file, comment }),
    }
}

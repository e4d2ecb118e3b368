//! Imports issues from GitHub as tasks, with the same ids in every clone.

use std::collections::BTreeMap;

use super::compare::Comparison;
use super::edits::commit_each;
use super::pull::base_value;
use crate::app::{Failure, Workspace};
use crate::board::{Change, Place};
use crate::github::{Field, Item, Names, Node, RemoteIssue, Values, remote_values};
use crate::store::codec::new_file;
use crate::task::{Key, Kind, Task, TaskId, Value, id_length, mint};

/// How many tasks are created in one commit.
const AT_ONCE: usize = 50;

/// Creates the tasks; returns each with the number of its issue.
pub fn adopt(ws: &Workspace, all: &Comparison<'_>, names: &mut Names) -> Result<Vec<(TaskId, u64)>, Failure> {
    let mut made = Vec::new();
    for (item, issue) in &all.adopts {
        let id = id_for(ws, issue, &made);
        names.insert(item.issue.clone(), id.clone());
        made.push((id, issue.number));
    }
    let both: Vec<(&TaskId, &(&Item, &RemoteIssue))> = made.iter().map(|(id, _)| id).zip(&all.adopts).collect();
    // Create parents before children: if the sync is killed, no child lacks its parent.
    let order = order(&both, names);
    let mut unmade = Vec::new();
    for chunk in order.chunks(AT_ONCE) {
        let lock = ws.lock()?;
        let mut files = Vec::new();
        for at in chunk {
            let (id, (item, issue)) = both[*at];
            if !ws.store.exists(id) {
                files.push((id.clone(), vec![new(ws, id, item, issue, names)?]));
            }
        }
        // A task that was just created elsewhere is left for the next sync.
        unmade.extend(commit_each(ws, &lock, files)?);
    }
    made.retain(|(id, _)| !unmade.contains(id));
    Ok(made)
}

fn order(both: &[(&TaskId, &(&Item, &RemoteIssue))], names: &Names) -> Vec<usize> {
    let place: BTreeMap<&TaskId, usize> = both.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
    let depth = |at: usize| {
        let mut steps = 0;
        let mut next = Some(at);
        while let Some(here) = next.filter(|_| steps < both.len()) {
            steps += 1;
            next =
                both[here].1.1.parent.as_ref().and_then(|node| names.task(node)).and_then(|id| place.get(id)).copied();
        }
        steps
    };
    let mut order: Vec<usize> = (0..both.len()).collect();
    order.sort_by_key(|at| (depth(*at), *at));
    order
}

/// Derives the id from the issue's own id, so that two clones which adopt the issue create the same task.
fn id_for(ws: &Workspace, issue: &RemoteIssue, made: &[(TaskId, u64)]) -> TaskId {
    let mut ids = ids_of(ws.settings.text("board.prefix"), &issue.node);
    loop {
        let id = ids.next().expect("there is always another one");
        if !ws.store.exists(&id) && !ws.store.is_archived(&id) && !made.iter().any(|(other, _)| *other == id) {
            return id;
        }
    }
}

/// The possible ids for the task of an issue, in order of preference.
fn ids_of(prefix: &str, node: &Node) -> impl Iterator<Item = TaskId> {
    let seed = node
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut rng = fastrand::Rng::with_seed(seed);
    // Long enough for any likely board: the length must not depend on how many tasks a clone has.
    let length = id_length(1_000);
    std::iter::repeat_with(move || mint(prefix, length, &mut rng))
}

/// Whether a task was created from this issue. A person wrote its text, so it has no marker.
pub fn is_adopted(prefix: &str, node: &Node, id: &TaskId) -> bool {
    ids_of(prefix, node).take(3).any(|other| other == *id)
}

fn new(ws: &Workspace, id: &TaskId, item: &Item, issue: &RemoteIssue, names: &Names) -> Result<Change, Failure> {
    let values = remote_values(item, issue, names, None, ws.flow());
    let mut fields = vec![(Key::new("id"), Value::text(id))];
    fields.extend(
        values
            .iter()
            .filter(|(field, _)| **field != Field::Archived)
            .map(|(field, value)| (field.key(), spelled(*field, value))),
    );
    if issue.children > 0 {
        fields.push((Key::new("kind"), Value::text(Kind::Epic)));
    }
    fields.extend(issue.created.parse().ok().map(|at| (Key::new("created"), Value::time(at))));
    fields.extend(issue.pull.as_ref().map(|pull| (Key::new("artifacts.pr"), Value::text(pull))));
    if !values.contains_key(&Field::State) {
        fields.push((Key::new("state"), Value::text(ws.flow().initial(Kind::Issue))));
    }
    let link = super::pull::link_keys(issue.number, &issue.url, &issue.node, Some(&item.id));
    fields.extend(link.into_iter().filter_map(|(key, value)| Some((key, value?))));
    fields.extend(agreed(ws, &values)?);
    Ok(Change::File { task: id.clone(), file: Place::Task, old: None, new: Some(new_file(&fields)) })
}

fn spelled(field: Field, value: &Value) -> Value {
    match field {
        Field::Description => Value::Text(format!("{value}\n")),
        _ => value.clone(),
    }
}

fn agreed(ws: &Workspace, values: &Values) -> Result<Vec<(Key, Value)>, Failure> {
    let mut keys = Vec::new();
    for (field, value) in values {
        keys.extend(base_value(ws, *field, Some(value))?.map(|value| (field.base_key(), value)));
    }
    Ok(keys)
}

/// Moves the parents of new tasks, if necessary.
pub fn parents_follow(ws: &Workspace, made: &[(TaskId, u64)]) -> Result<(), Failure> {
    let ids: Vec<TaskId> = made.iter().map(|(id, _)| id.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let lock = ws.lock()?;
    let board = ws.board()?;
    let linked = |id: &&TaskId| board.get(id).is_some_and(|task: &Task| task.parent.is_some());
    let children: Vec<TaskId> = ids.iter().filter(linked).cloned().collect();
    let changes = board.parents_over(&children, ws.rules());
    super::edits::commit(ws, &lock, changes)
}

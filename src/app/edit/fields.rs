//! The differences between two versions of a task file, and its sync conflicts.

use crate::app::{FieldChange, Workspace};
use crate::github::Link;
use crate::store::codec::Doc;
use crate::task::{Key, TaskId, Value};

/// The differences between two versions of a file, key by key.
pub(in crate::app) fn differences(id: &TaskId, old: &str, new: &str) -> Vec<FieldChange> {
    let leaves = |text: &str| -> std::collections::BTreeMap<Key, Value> {
        Doc::new(text).map(|doc| doc.leaves().into_iter().collect()).unwrap_or_default()
    };
    let (before, after) = (leaves(old), leaves(new));
    let mut keys: Vec<&Key> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let differ = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    differ
        .map(|key| FieldChange {
            task: id.clone(),
            key: key.clone(),
            old: before.get(key).cloned(),
            new: after.get(key).cloned(),
        })
        .collect()
}

/// Trims a description to end with exactly one newline, so that its last line has one in the file.
pub(in crate::app) fn as_body(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// The fields of a task that are in a sync conflict.
pub(in crate::app) fn conflicts_of(ws: &Workspace, id: &TaskId) -> Vec<String> {
    ws.store.load(id).map(|file| conflicts_in(file.text)).unwrap_or_default()
}

/// The same, for the text of a task file.
pub(in crate::app) fn conflicts_in(text: String) -> Vec<String> {
    let Ok(doc) = Doc::new(text) else { return Vec::new() };
    Link::read(doc.get(&Key::new("github")).as_ref()).conflicts.into_keys().collect()
}

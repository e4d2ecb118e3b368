//! Pages of a connection: cursors, `first`/`last`, and the connection object.

use serde_json::Value;

use super::answer::{Ent, Fail, Out, leaf, maybe, record};

/// The beginning of every cursor; the rest is position and id of its element.
const MARK: &str = "Y3Vyc29yOnYyOg";

fn cursor(at: usize, id: &str) -> String {
    format!("{MARK}{at:x}.{id}")
}

/// The position of a cursor's element; if it is gone, its former position.
fn position(text: &str, ids: &[String]) -> Result<(usize, bool), Fail> {
    let invalid = || Fail::new("INVALID_CURSOR_ARGUMENTS", format!("`{text}` does not appear to be a valid cursor."));
    let (at, id) = text.strip_prefix(MARK).and_then(|t| t.split_once('.')).ok_or_else(invalid)?;
    match ids.iter().position(|i| i == id) {
        Some(at) => Ok((at, true)),
        None => usize::from_str_radix(at, 16).map(|at| (at, false)).map_err(|_| invalid()),
    }
}

/// The requested part of `all` (id and element) as a connection of type `ty`.
pub(super) fn connection(ty: &str, all: Vec<(String, Ent)>, args: &Value) -> Result<Out, Fail> {
    let ids: Vec<String> = all.iter().map(|(id, _)| id.clone()).collect();
    let total = all.len();
    let (mut from, mut to) = (0, total);
    if let Some(after) = args["after"].as_str() {
        let (at, there) = position(after, &ids)?;
        from = (at + usize::from(there)).min(total);
    }
    if let Some(before) = args["before"].as_str() {
        to = position(before, &ids)?.0.min(total).max(from);
    }
    let count = |name: &str| args[name].as_u64().and_then(|n| usize::try_from(n).ok());
    if let Some(first) = count("first") {
        to = to.min(from + first);
    } else if let Some(last) = count("last") {
        from = from.max(to.saturating_sub(last));
    }
    let edge = |at: usize| Out::Leaf(ids.get(at).filter(|_| from < to).map(|id| cursor(at, id)).into());
    let page = record(
        "PageInfo",
        vec![
            ("startCursor", edge(from)),
            ("endCursor", edge(to.saturating_sub(1))),
            ("hasNextPage", leaf(to < total)),
            ("hasPreviousPage", leaf(from > 0)),
        ],
    );
    let nodes = all.into_iter().skip(from).take(to - from).map(|(_, ent)| maybe(Some(ent))).collect();
    let fields = vec![("nodes", Out::List(nodes)), ("pageInfo", Out::Obj(page)), ("totalCount", leaf(total))];
    Ok(Out::Obj(record(ty, fields)))
}

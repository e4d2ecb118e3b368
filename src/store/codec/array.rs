//! Lists inside a task file: adds and removes elements, and keeps comments with their elements.

use toml_edit::{Array, DocumentMut, Value as TomlValue};

use crate::task::Value;

/// Edits a value separately from its document, and keeps comments and spacing inside it.
pub(super) fn edit_apart(source: &str, edit: impl FnOnce(&mut TomlValue) -> Option<()>) -> Option<String> {
    let mut apart: DocumentMut = format!("x = {source}\n").parse().ok()?;
    let value = apart.get_mut("x")?.as_value_mut()?;
    edit(value)?;
    value.decor_mut().clear();
    Some(value.to_string())
}

/// Adds missing elements and removes others; `None` if the list has no comments, so that it can simply be rewritten.
pub(super) fn edit_array(source: &str, wanted: &[Value]) -> Option<String> {
    if !source.contains('#') {
        return None;
    }
    let wanted: Vec<String> = wanted
        .iter()
        .map(|item| if let Value::Text(t) = item { Some(t.clone()) } else { None })
        .collect::<Option<_>>()?;
    edit_apart(source, |value| {
        let array = value.as_array_mut()?;
        let old: Vec<String> = array.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        for at in (0..old.len()).rev().filter(|&at| !wanted.contains(&old[at])) {
            take_out(array, at);
        }
        let sorted = old.is_sorted();
        for item in wanted.iter().filter(|item| !old.contains(item)) {
            put_in(array, item, sorted);
        }
        Some(())
    })
}

/// Removes an element. A comment before it moves to the next element, because it may be about several.
fn take_out(array: &mut Array, at: usize) {
    let gone = array.remove(at);
    let prefix = gone.decor().prefix().and_then(|raw| raw.as_str()).unwrap_or_default().to_owned();
    if !prefix.contains('#') {
        return;
    }
    // The comment must end with a line break, or it would include the text after it.
    let before = |own: &str| format!("{}\n{}", prefix.trim_end(), own.strip_prefix('\n').unwrap_or(own));
    if let Some(next) = array.get_mut(at) {
        let own = before(next.decor().prefix().and_then(|raw| raw.as_str()).unwrap_or_default());
        next.decor_mut().set_prefix(own);
    } else {
        let own = before(array.trailing().as_str().unwrap_or_default());
        array.set_trailing(own);
    }
}

/// Adds an element. A comment at the end of the previous line stays with the element on that line.
fn put_in(array: &mut Array, item: &str, sorted: bool) {
    let place = if sorted { array.iter().position(|other| other.as_str().is_some_and(|o| o > item)) } else { None };
    let indent = array.iter().find_map(|other| {
        let prefix = other.decor().prefix()?.as_str()?;
        prefix.rfind('\n').map(|at| prefix[at..].to_owned())
    });
    let lines = indent.is_some();
    let own = indent.unwrap_or_else(|| if array.is_empty() { "" } else { " " }.to_owned());
    let before = match place {
        Some(at) => {
            array.get(at).and_then(|next| next.decor().prefix()).and_then(|raw| raw.as_str()).unwrap_or_default()
        }
        None => array.trailing().as_str().unwrap_or_default(),
    };
    let line_end = if lines { before.find('\n').map_or("", |at| &before[..at]) } else { "" }.to_owned();
    let rest = before[line_end.len()..].to_owned();
    array.insert_formatted(
        place.unwrap_or(array.len()),
        TomlValue::from(item).decorated(format!("{line_end}{own}"), ""),
    );
    if line_end.is_empty() {
    } else if let Some(next) = place.and_then(|at| array.get_mut(at + 1)) {
        next.decor_mut().set_prefix(rest);
    } else {
        array.set_trailing(rest);
    }
    if lines {
        array.set_trailing_comma(true);
    }
}

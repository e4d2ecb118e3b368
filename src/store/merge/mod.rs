//! The merge driver: merges three versions of a task file key by key, and keeps all comments of both sides.

use std::collections::{BTreeMap, BTreeSet};

mod mirrored;
mod note;
mod units;

use super::codec::{Doc, comments, new_file};
use crate::task::{Key, Value};
use mirrored::Mirrored;
pub use note::merge_note;
pub use units::{MergedUnit, Unit, merge_units};

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    /// Keys that both sides set to different values; the text has them between conflict markers.
    pub conflicts: Vec<Key>,
}

/// Lists without an order, in a task and in its base.
const SETS: [&str; 2] = ["labels", "blocked_by"];

type TomlLeaves = BTreeMap<Key, Value>;

/// Merges three versions; `None` if a side is not valid TOML, so that only git's own line merge is possible.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Option<Merged> {
    if ours == theirs || base == theirs {
        return Some(Merged { text: ours.to_owned(), conflicts: Vec::new() });
    }
    if base == ours {
        return Some(Merged { text: theirs.to_owned(), conflicts: Vec::new() });
    }
    let docs = [Doc::new(base).ok()?, Doc::new(ours).ok()?, Doc::new(theirs).ok()?];
    let [b, o, t] = docs.each_ref().map(|doc| doc.leaves().into_iter().collect::<TomlLeaves>());
    let (agreed, conflicts) = decide(&b, &o, &t);
    // If all three sides have the same values, only comments and layout are left to merge.
    let level = |text: &str, leaves: &TomlLeaves| level(text, leaves, &agreed);
    let texts = [level(base, &b)?, level(ours, &o)?, level(theirs, &t)?];
    let text = layout(&texts).filter(|text| says(text, &agreed)).unwrap_or_else(|| with_comments(&texts));
    says(&text, &agreed).then(|| Merged { text: marked(&text, &conflicts, &docs, &t), conflicts })
}

/// One side of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

/// The same, but one side's values win if both sides set a key, so that there are no conflicts.
pub fn merge_taking(base: &str, ours: &str, theirs: &str, side: Side) -> Option<Merged> {
    let (first, second) = if side == Side::Ours { (ours, theirs) } else { (theirs, ours) };
    let merged = merge(base, first, second)?;
    if merged.conflicts.is_empty() {
        return Some(merged);
    }
    // The other side gets the winner's values; the rest is merged.
    let (winner, loser) = (Doc::new(first).ok()?, second.to_owned());
    let agreed = merged.conflicts.iter().try_fold(loser, |text, key| {
        let value = winner.get(key);
        Doc::new(text).ok()?.with(key, value.as_ref()).ok()
    })?;
    merge(base, first, &agreed).filter(|merged| merged.conflicts.is_empty())
}

fn decide(base: &TomlLeaves, ours: &TomlLeaves, theirs: &TomlLeaves) -> (TomlLeaves, Vec<Key>) {
    let mut agreed = TomlLeaves::new();
    let mut conflicts = Vec::new();
    let mirrored = Mirrored::merge(base, ours, theirs);
    let written = base.keys().chain(ours.keys()).chain(theirs.keys());
    let keys: BTreeSet<&Key> = written.chain(mirrored.values.keys()).collect();
    for key in keys {
        if let Some(value) = mirrored.values.get(key) {
            agreed.extend(value.clone().map(|value| (key.clone(), value)));
            conflicts.extend(mirrored.conflicts.contains(key).then(|| key.clone()));
            continue;
        }
        let (b, o, t) = (base.get(key), ours.get(key), theirs.get(key));
        let value = if o == t || b == t {
            o.cloned()
        } else if b == o {
            t.cloned()
        } else if let Some(both) = both(key, b, o, t) {
            both
        } else if let Some(owner) = owner(key, ours, theirs) {
            Some(owner.clone())
        } else if key.as_str().starts_with("github.") {
            noted(key, o)
        } else {
            conflicts.push(key.clone());
            o.cloned()
        };
        agreed.extend(value.map(|value| (key.clone(), value)));
    }
    (agreed, conflicts)
}

/// Merges data about an issue that two clones have recorded differently. This is not a conflict for a person. The base is then
/// unknown: the next sync compares the values again, and asks a person if necessary.
fn noted(key: &Key, ours: Option<&Value>) -> Option<Value> {
    ours.filter(|_| !key.as_str().starts_with("github.base.")).cloned()
}

/// If two clones set different owners, the worker who claimed the task wins over one who was recorded because a card was moved
/// on GitHub: that card was moved by mirroring the claim.
fn owner<'a>(key: &Key, ours: &'a TomlLeaves, theirs: &'a TomlLeaves) -> Option<&'a Value> {
    if key.as_str() != "owner" {
        return None;
    }
    let (o, t) = (ours.get(key)?, theirs.get(key)?);
    let is_mover = |leaves: &TomlLeaves, owner: &Value| leaves.get(&Key::new("github.mover")) == Some(owner);
    match (is_mover(ours, o), is_mover(theirs, t)) {
        (true, false) => Some(t),
        (false, true) => Some(o),
        _ => None,
    }
}

/// Merges values that both sides have changed: additions and removals of sets, and the lines of the description.
#[allow(clippy::option_option)]
fn both(key: &Key, base: Option<&Value>, ours: Option<&Value>, theirs: Option<&Value>) -> Option<Option<Value>> {
    let items = |value: Option<&Value>| match value {
        Some(Value::List(list)) => {
            list.iter().map(|v| if let Value::Text(t) = v { Some(t.clone()) } else { None }).collect()
        }
        None => Some(Vec::new()),
        Some(_) => None,
    };
    // Only known sets are merged; in an unknown list, the order may matter, as for a program's arguments.
    let is_set = SETS.contains(&key.as_str().rsplit('.').next().unwrap_or_default());
    if let (true, Some(b), Some(o), Some(t)) = (is_set, items(base), items(ours), items(theirs)) {
        let mut merged: Vec<String> = o.iter().filter(|item| t.contains(item) || !b.contains(item)).cloned().collect();
        merged.extend(t.into_iter().filter(|item| !b.contains(item) && !o.contains(item)));
        if o.is_sorted() {
            merged.sort();
        }
        return Some((!merged.is_empty()).then(|| Value::texts(merged)));
    }
    match (key.as_str(), base, ours, theirs) {
        ("description", base, Some(Value::Text(o)), Some(Value::Text(t))) => {
            let b = if let Some(Value::Text(b)) = base { b.as_str() } else { "" };
            diffy::merge(b, o, t).ok().map(|text| Some(Value::Text(text)))
        }
        // Both clones have flagged the task; one of the reasons is kept.
        ("attention", _, ours, theirs) => Some(ours.or(theirs).cloned()),
        // The rejections of both sides are added.
        ("review.rejections", base, Some(Value::Integer(o)), Some(Value::Integer(t))) => {
            let b = if let Some(Value::Integer(b)) = base { *b } else { 0 };
            Some(Some(Value::Integer(o.saturating_add(t.saturating_sub(b)))))
        }
        _ => None,
    }
}

/// One side's text with the merged values.
fn level(text: &str, has: &TomlLeaves, agreed: &TomlLeaves) -> Option<String> {
    let mut text = text.to_owned();
    let keys: BTreeSet<&Key> = has.keys().chain(agreed.keys()).collect();
    for key in keys.into_iter().filter(|key| has.get(*key) != agreed.get(*key)) {
        text = Doc::new(text).ok()?.with(key, agreed.get(key)).ok()?;
    }
    Some(text)
}

fn layout([base, ours, theirs]: &[String; 3]) -> Option<String> {
    diffy::merge(base, ours, theirs).ok()
}

fn says(text: &str, agreed: &TomlLeaves) -> bool {
    Doc::new(text).is_ok_and(|doc| {
        let leaves: TomlLeaves = doc.leaves().into_iter().collect();
        leaves.len() == agreed.len() && agreed.iter().all(|(key, value)| doc.says(key, Some(value)))
    })
}

/// Our text, with the comments at the end that only the other side has, so that no comment is lost.
fn with_comments([base, ours, theirs]: &[String; 3]) -> String {
    let mut text = ours.clone();
    let known: Vec<&str> = comments(base).into_iter().chain(comments(ours)).collect();
    let new: Vec<&str> = comments(theirs).into_iter().filter(|comment| !known.contains(comment)).collect();
    if !new.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("{}\n", new.join("\n")));
    }
    text
}

/// Puts both sides' lines of each conflict between git's markers, at the position of the key or where it would be added.
fn marked(text: &str, conflicts: &[Key], docs: &[Doc; 3], theirs: &TomlLeaves) -> String {
    let mut text = text.to_owned();
    for key in conflicts {
        let doc = Doc::new(text.clone()).ok();
        let missing = doc.filter(|doc| doc.statement(key).is_none());
        text = missing.and_then(|doc| doc.with(key, theirs.get(key)).ok()).unwrap_or(text);
    }
    let Ok(doc) = Doc::new(text.clone()) else { return text };
    let mut blocks: Vec<_> = conflicts.iter().filter_map(|key| Some((doc.statement(key)?, block(key, docs)))).collect();
    // From the end, so that the other positions stay valid.
    blocks.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, block) in blocks {
        text.replace_range(range, &block);
    }
    text
}

/// The lines of both sides with their comments; none for a side that has removed the key.
fn block(key: &Key, [_, ours, theirs]: &[Doc; 3]) -> String {
    let lines = |doc: &Doc| {
        let written = doc.statement(key).map(|range| doc.text()[range].trim_end_matches(['\r', '\n']).to_owned());
        let leaf = Key::new(key.parts().last().unwrap_or_default());
        let rendered = || doc.get(key).map(|value| new_file(&[(leaf.clone(), value)]).trim_end().to_owned());
        written.or_else(rendered).map(|text| format!("{text}\n")).unwrap_or_default()
    };
    format!("<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n", lines(ours), lines(theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "title = \"x\"\npriority = \"P2\"\nlabels = [\"b\"]\nstate = \"Backlog\"\n";

    fn clean(base: &str, ours: &str, theirs: &str) -> String {
        let merged = merge(base, ours, theirs).unwrap();
        assert_eq!(merged.conflicts, [], "{}", merged.text);
        merged.text
    }

    #[test]
    fn different_keys_and_both_sides_labels_merge() {
        let ours = BASE.replace("P2", "P1").replace("[\"b\"]", "[\"a\", \"b\"]");
        let theirs = BASE.replace("Backlog", "In Review").replace("[\"b\"]", "[\"b\", \"c\"]");
        let text = clean(BASE, &ours, &theirs);
        let doc = Doc::new(text).unwrap();
        assert!(doc.says(&Key::new("labels"), Some(&Value::texts(["a", "b", "c"]))));
        assert!(doc.says(&Key::new("priority"), Some(&Value::text("P1"))));
        assert!(doc.says(&Key::new("state"), Some(&Value::text("In Review"))));
    }

    #[test]
    fn a_removal_on_one_side_is_kept_and_neighbouring_lines_do_not_conflict() {
        let ours = BASE.replace("labels = [\"b\"]\n", "");
        let theirs = BASE.replace("P2", "P0");
        assert_eq!(clean(BASE, &ours, &theirs), "title = \"x\"\npriority = \"P0\"\nstate = \"Backlog\"\n");
    }

    #[test]
    fn the_comments_of_both_sides_stay() {
        let ours = BASE.replace("P2\"", "P1\" # ours");
        let theirs = format!("# theirs\n{}", BASE.replace("Backlog", "Done"));
        let text = clean(BASE, &ours, &theirs);
        assert!(text.contains("# ours") && text.contains("# theirs"), "{text}");
        let ours = format!("# one\n{}", BASE.replace("P2", "P1"));
        let theirs = format!("# two\n{}", BASE.replace("Backlog", "Done"));
        let text = clean(BASE, &ours, &theirs);
        assert!(text.contains("# one") && text.contains("# two"), "{text}");
    }

    #[test]
    fn one_key_with_two_values_is_a_conflict_that_names_it() {
        let merged =
            merge(BASE, &BASE.replace("P2", "P0"), &BASE.replace("P2", "P1").replace("Backlog", "Done")).unwrap();
        assert_eq!(merged.conflicts, [Key::new("priority")]);
        assert!(merged.text.contains("<<<<<<< ours\npriority = \"P0\"\n=======\npriority = \"P1\"\n>>>>>>> theirs\n"));
        assert!(merged.text.contains("Done"));
        assert!(super::super::codec::has_conflict_markers(&merged.text).is_some());
    }

    #[test]
    fn tail_comments_survive_even_where_the_lines_around_them_differ() {
        let base = "# head\ntitle = \"A\"\npriority = \"P2\"\nestimate = \"S\"\n";
        let theirs = "# head theirs\ntitle = \"A\" # their tail\npriority = \"P1\" # why P1\nestimate = \"S\"\n";
        let ours = "# head ours\ntitle = \"A\" # our tail\npriority = \"P2\"\nestimate = \"M\"\n";
        let text = clean(base, ours, theirs);
        for wanted in ["# head ours", "# head theirs", "# their tail", "# why P1", "# our tail", "\"P1\"", "\"M\""] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }

    #[test]
    fn a_conflict_shows_each_sides_own_line_at_the_keys_place() {
        let base = "title = \"x\"\npriority = \"P2\" # agreed\n\n[custom]\nk = 2";
        let merged = merge(base, &base.replace("P2", "P0"), &base.replace("P2", "P1")).unwrap();
        assert!(merged.text.contains(
            "<<<<<<< ours\npriority = \"P0\" # agreed\n=======\npriority = \"P1\" # agreed\n>>>>>>> theirs\n"
        ));
        let removed =
            merge(base, &base.replace("priority = \"P2\" # agreed\n", ""), &base.replace("P2", "P1")).unwrap();
        let marker = removed.text.find("<<<<<<< ours\n=======\npriority").expect(&removed.text);
        assert!(marker < removed.text.find("[custom]").unwrap());
    }

    #[test]
    fn both_add_the_same_key_anywhere() {
        let ours = format!("owner = \"a\"\n{BASE}");
        let theirs = format!("{BASE}owner = \"a\"\n[custom]\nx = 1\n");
        let text = clean(BASE, &ours, &theirs);
        assert!(text.contains("[custom]") && text.matches("owner").count() == 1, "{text}");
    }

    #[test]
    fn descriptions_merge_by_lines() {
        let base = "title = \"x\"\ndescription = \"\"\"\none\n\ntwo\n\nthree\n\"\"\"\n";
        let text = clean(base, &base.replace("one", "ONE"), &base.replace("three", "THREE"));
        assert!(text.contains("ONE\n\ntwo\n\nTHREE"), "{text}");
        assert_eq!(
            merge(base, &base.replace("one", "A"), &base.replace("one", "B")).unwrap().conflicts,
            [Key::new("description")]
        );
    }

    #[test]
    fn who_claimed_a_task_owns_it_rather_than_who_was_seen_to_move_its_card() {
        let claimed = format!("{BASE}owner = \"builder-2\"\n");
        let seen = format!("{BASE}owner = \"octocat\"\n[github]\nmover = \"octocat\"\n");
        assert!(clean(BASE, &claimed, &seen).contains("owner = \"builder-2\""));
        assert!(clean(BASE, &seen, &claimed).contains("owner = \"builder-2\""));
        let other = format!("{BASE}owner = \"anna\"\n");
        assert_eq!(merge(BASE, &claimed, &other).unwrap().conflicts, [Key::new("owner")]);
    }

    #[test]
    fn flags_of_two_clones_are_no_conflict() {
        let flagged = |why: &str| format!("{BASE}attention = \"{why}\"\n");
        assert!(clean(BASE, &flagged("one"), &flagged("two")).contains("attention = \"one\""));
    }

    #[test]
    fn what_is_no_toml_is_left_to_git() {
        assert!(merge("a = 1\n", "a = \n", "a = 2\n").is_none());
    }

    #[test]
    fn what_two_clones_noted_of_an_issue_is_no_conflict() {
        let file = |title: &str, mark: &str| {
            format!(
                "title = \"{title}\"\n\n[github]\nnode = \"I\"\n\n[github.base]\ntitle = \"{mark}\"\nstate = \"s\"\n"
            )
        };
        let merged = merge(&file("A", "a"), &file("B", "b"), &file("B", "c")).unwrap();
        assert_eq!((merged.conflicts.len(), merged.text.contains("title = \"B\"")), (0, true), "{}", merged.text);
        // The base of the title is unknown now; the rest of the base is kept.
        assert!(
            !merged.text.contains("\"b\"") && !merged.text.contains("\"c\"") && merged.text.contains("state = \"s\"")
        );
        let merged = merge(&file("A", "a"), &file("B", "b"), &file("C", "c")).unwrap();
        assert_eq!(merged.conflicts, [Key::new("title")]);
    }

    #[test]
    fn a_field_of_which_nothing_is_agreed_yet_was_not_edited() {
        let file = |title: &str, state: &str, priority: &str, github: &str| {
            format!("title = \"{title}\"\nstate = \"{state}\"\npriority = \"{priority}\"\n{github}")
        };
        let plain = file("A", "Backlog", "P1", "");
        let moved = file("B", "In Progress", "P2", "");
        // One clone has created the issue, or has linked another one, and its process died before it wrote the rest.
        for base in ["labels = [\"l\"]", "labels = [\"l\"]\npriority = \"unknown\""] {
            let begun = file("A", "Backlog", "P1", &format!("\n[github]\nnode = \"I\"\n\n[github.base]\n{base}\n"));
            for merged in [clean(&plain, &begun, &moved), clean(&plain, &moved, &begun)] {
                assert!(merged.starts_with(&moved), "{merged}");
            }
        }
    }

    #[test]
    fn what_two_clones_agreed_on_differently_is_not_agreed_to_be_none() {
        let file = |priority: &str, mark: &str| {
            format!(
                "priority = \"{priority}\"\n\n[github]\nnode = \"I\"\n\n[github.base]\npriority = \"{mark}\"\ntitle = \"t\"\n"
            )
        };
        let merged = merge(&file("P0", "a"), &file("P1", "b"), &file("P1", "c")).unwrap();
        assert!(merged.text.contains("priority = \"unknown\""), "{}", merged.text);
    }
}

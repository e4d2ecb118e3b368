//! Merges a mirrored field together with its base.
//!
//! `[github.base]` has the values that a clone and GitHub last agreed on. If keys were merged separately, the value of one clone
//! could be combined with the base of another: an edit would look like a value that GitHub already has, or vice versa. A value
//! counts as edited if it differs from its base or, if its clone has not synced since the ancestor, from the ancestor.

use std::collections::{BTreeMap, BTreeSet};

use crate::task::Value;
use crate::task::mirrored::{Field, canonical, fingerprint, mark};

/// A field in one version of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unit {
    pub value: Option<Value>,
    /// The fingerprint of the base; `None` if it is unknown.
    pub base: Option<Option<Value>>,
}

/// The result of merging two units.
#[derive(Debug, Clone, PartialEq)]
pub enum MergedUnit {
    One(Unit),
    /// Both sides have edited the value, so a person must decide; this is the merged base.
    Conflict {
        base: Option<Option<Value>>,
    },
}

pub fn merge_units(field: Field, ancestor: &Unit, ours: &Unit, theirs: &Unit) -> MergedUnit {
    match field.is_set() {
        true => MergedUnit::One(sets(field, ancestor, ours, theirs)),
        false => single(field, ancestor, ours, theirs),
    }
}

/// The value as it is in a base: a fingerprint; none for an empty text or list.
fn seen(field: Field, value: Option<&Value>) -> Option<Value> {
    let empty = |value: &&Value| match value {
        Value::Text(text) => canonical(text).is_empty(),
        Value::List(list) => list.is_empty(),
        _ => false,
    };
    value.filter(|value| !empty(value)).map(|value| fingerprint(field, value))
}

/// Whether GitHub has the value of this version.
fn is_told(field: Field, unit: &Unit) -> bool {
    unit.base == Some(seen(field, unit.value.as_ref()))
}

/// One of the two versions, compared with the ancestor.
struct Version<'a> {
    unit: &'a Unit,
    /// Its clone has synced the field since the ancestor.
    synced: bool,
    /// It has a value that its clone has not sent to GitHub.
    edited: bool,
    /// It has the ancestor's value, which GitHub did not have either: probably an edit from before the ancestor.
    old: bool,
}

impl<'a> Version<'a> {
    fn of(field: Field, ancestor: &Unit, unit: &'a Unit) -> Self {
        let synced = unit.base.is_some() && unit.base != ancestor.base;
        let edited = match &unit.base {
            Some(base) if synced => seen(field, unit.value.as_ref()) != *base,
            _ => unit.value != ancestor.value,
        };
        Self { unit, synced, edited, old: unit.value == ancestor.value && !is_told(field, ancestor) }
    }

    /// Whether its base is the value of the other version.
    fn began_with(&self, field: Field, other: &Version<'_>) -> bool {
        self.unit.base == Some(seen(field, other.unit.value.as_ref()))
    }
}

fn single(field: Field, ancestor: &Unit, ours: &Unit, theirs: &Unit) -> MergedUnit {
    let (o, t) = (Version::of(field, ancestor, ours), Version::of(field, ancestor, theirs));
    if ours.value == theirs.value {
        let base = newer_base(&o, &t, || Some(seen(field, ours.value.as_ref())));
        return MergedUnit::One(Unit { value: ours.value.clone(), base });
    }
    match (o.edited, t.edited) {
        (false, false) => MergedUnit::One(if t.synced && !o.synced { theirs } else { ours }.clone()),
        (true, false) => MergedUnit::One(over(field, ancestor, &o, &t)),
        (false, true) => MergedUnit::One(over(field, ancestor, &t, &o)),
        (true, true) if o.old => MergedUnit::One(over(field, ancestor, &t, &o)),
        (true, true) if t.old => MergedUnit::One(over(field, ancestor, &o, &t)),
        // One clone has continued from a value that the other had sent to GitHub, whose process died before it stored that.
        (true, true) if o.synced && o.began_with(field, &t) => MergedUnit::One(ours.clone()),
        (true, true) if t.synced && t.began_with(field, &o) => MergedUnit::One(theirs.clone()),
        (true, true) => {
            let base = newer_base(&o, &t, || None);
            match lines(field, ancestor, ours, theirs) {
                Some(value) => MergedUnit::One(Unit { value: Some(value), base }),
                None => MergedUnit::Conflict { base },
            }
        }
    }
}

/// The latest base. If both clones have synced since the ancestor, it is unknown which base is later: `value` if one of the
/// bases is equal to it, otherwise unknown.
fn newer_base(o: &Version<'_>, t: &Version<'_>, value: impl Fn() -> Option<Option<Value>>) -> Option<Option<Value>> {
    let (ours, theirs) = (&o.unit.base, &t.unit.base);
    match (o.synced, t.synced) {
        _ if ours == theirs => ours.clone(),
        (false, _) => theirs.clone(),
        (_, false) => ours.clone(),
        (true, true) => value().filter(|value| [ours, theirs].contains(&&Some(value.clone()))),
    }
}

/// Merges an edited and an unedited version: the value stays an edit, compared with the base of its clone.
fn over(field: Field, ancestor: &Unit, edited: &Version<'_>, other: &Version<'_>) -> Unit {
    if !other.synced || edited.synced {
        return edited.unit.clone();
    }
    // The other clone has synced the value that the edit started from.
    let base = other.unit.base.clone();
    if base == Some(seen(field, ancestor.value.as_ref())) {
        return Unit { value: edited.unit.value.clone(), base };
    }
    match lines(field, ancestor, edited.unit, other.unit) {
        Some(value) => Unit { value: Some(value), base },
        // The two values cannot be merged here: the next sync finds that both sides have changed.
        None => edited.unit.clone(),
    }
}

/// Merges descriptions by lines.
fn lines(field: Field, ancestor: &Unit, ours: &Unit, theirs: &Unit) -> Option<Value> {
    let text = |unit: &Unit| match &unit.value {
        Some(Value::Text(text)) => Some(text.clone()),
        None => Some(String::new()),
        _ => None,
    };
    if field != Field::Description {
        return None;
    }
    let (ours, theirs) = (text(ours)?, text(theirs)?);
    diffy::merge(&text(ancestor)?, &ours, &theirs).ok().map(Value::Text)
}

/// Merges sets: each member is merged like a field that is set or not.
fn sets(field: Field, ancestor: &Unit, ours: &Unit, theirs: &Unit) -> Unit {
    let (a, o, t) = (Set::of(field, ancestor), Set::of(field, ours), Set::of(field, theirs));
    let marks: BTreeSet<&String> = [&a, &o, &t].into_iter().flat_map(Set::marks).collect();
    let (mut kept, mut agreed) = (BTreeSet::new(), BTreeSet::new());
    let mut known = false;
    for mark in marks {
        let merged = single(Field::Archived, &a.member(mark), &o.member(mark), &t.member(mark));
        let (value, base) = match merged {
            MergedUnit::One(unit) => (unit.value, unit.base),
            // A member that one side has added and the other has removed is kept, so that a person can remove it again.
            MergedUnit::Conflict { base } => (Some(Value::Bool(true)), base),
        };
        kept.extend(value.map(|_| mark.clone()));
        known |= base.is_some();
        agreed.extend(base.flatten().map(|_| mark.clone()));
    }
    let known = known || o.base.is_some() || t.base.is_some();
    let base = known.then(|| (!agreed.is_empty()).then(|| Value::texts(agreed)));
    Unit { value: o.named(&t, &kept), base }
}

struct Set {
    /// The members as they are written, each with the key by which members are compared.
    members: Vec<(String, String)>,
    base: Option<BTreeSet<String>>,
}

impl Set {
    fn of(field: Field, unit: &Unit) -> Self {
        let texts = |value: Option<&Value>| match value {
            Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        let members = texts(unit.value.as_ref()).into_iter().map(|name| (mark(field, &name), name)).collect();
        let base = unit.base.as_ref().map(|base| texts(base.as_ref()).into_iter().collect());
        Self { members, base }
    }

    fn marks(&self) -> impl Iterator<Item = &String> {
        self.members.iter().map(|(mark, _)| mark).chain(self.base.iter().flatten())
    }

    fn member(&self, mark: &String) -> Unit {
        let there = |is: bool| is.then_some(Value::Bool(true));
        Unit {
            value: there(self.members.iter().any(|(other, _)| other == mark)),
            base: self.base.as_ref().map(|base| there(base.contains(mark))),
        }
    }

    /// The members that are kept: first in our order, then in that of the other side; sorted if ours are sorted.
    fn named(&self, theirs: &Self, kept: &BTreeSet<String>) -> Option<Value> {
        let mut names: BTreeMap<&String, &String> = BTreeMap::new();
        let mut merged: Vec<&String> = Vec::new();
        for (mark, name) in self.members.iter().chain(&theirs.members) {
            if kept.contains(mark) && names.insert(mark, name).is_none() {
                merged.push(name);
            }
        }
        if self.members.is_sorted_by_key(|(_, name)| name) {
            merged.sort();
        }
        (!merged.is_empty()).then(|| Value::texts(merged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(value: &str, base: Option<&str>) -> Unit {
        let text = |text: &str| (!text.is_empty()).then(|| Value::text(text));
        let base = base.map(|base| seen(Field::Priority, text(base).as_ref()));
        Unit { value: text(value), base }
    }

    /// Merges three versions, each given as its value and base.
    fn merged(a: (&str, &str), o: (&str, &str), t: (&str, &str)) -> MergedUnit {
        let [a, o, t] = [a, o, t].map(|(value, base)| unit(value, Some(base)));
        merge_units(Field::Priority, &a, &o, &t)
    }

    fn one(value: &str, base: &str) -> MergedUnit {
        MergedUnit::One(unit(value, Some(base)))
    }

    #[test]
    fn an_edit_is_a_difference_from_what_was_agreed_on_not_from_the_ancestor() {
        assert_eq!(merged(("P1", "P1"), ("P0", "P0"), ("P1", "P0")), one("P1", "P0"));
        assert_eq!(merged(("P1", "P1"), ("P1", "P0"), ("P0", "P0")), one("P1", "P0"));
    }

    #[test]
    fn what_nobody_edited_is_what_was_agreed_on_last() {
        assert_eq!(merged(("P1", "P1"), ("P1", "P1"), ("P0", "P0")), one("P0", "P0"));
        assert_eq!(merged(("P1", "P1"), ("P0", "P0"), ("P1", "P1")), one("P0", "P0"));
        assert_eq!(merged(("P1", "P1"), ("P2", "P2"), ("P0", "P0")), one("P2", "P2"), "the next sync tells");
    }

    #[test]
    fn an_edit_stays_one_against_what_its_editor_knew() {
        assert_eq!(merged(("P1", "P1"), ("P2", "P1"), ("P0", "P0")), one("P2", "P1"), "the next sync finds a conflict");
        assert_eq!(
            merged(("P1", "P3"), ("P2", "P3"), ("P1", "P1")),
            one("P2", "P1"),
            "they only told what it began with"
        );
        assert_eq!(merged(("P1", "P3"), ("P1", "P1"), ("P3", "P3")), one("P3", "P1"), "taken back, which is an edit");
        assert_eq!(
            merged(("P1", "P1"), ("P2", "P1"), ("P3", "P1")),
            MergedUnit::Conflict { base: unit("", Some("P1")).base }
        );
    }

    #[test]
    fn an_edit_from_before_the_ancestor_does_not_contradict_a_newer_one() {
        let (ancestor, told_since, newer) = (("P3", ""), ("P3", "P0"), ("P0", ""));
        assert_eq!(merged(ancestor, told_since, newer), one("P0", ""));
        assert_eq!(merged(ancestor, newer, told_since), one("P0", ""));
    }

    #[test]
    fn an_edit_on_top_of_what_the_other_clone_told_github_does_not_contradict_it() {
        let (ancestor, told, on_top) = (("P3", "P3"), ("P1", "P3"), ("P2", "P1"));
        assert_eq!(merged(ancestor, told, on_top), one("P2", "P1"));
        assert_eq!(merged(ancestor, on_top, told), one("P2", "P1"));
    }

    #[test]
    fn a_label_that_was_removed_there_does_not_come_back() {
        let set = |value: &[&str], base: &[&str]| {
            let list = |items: &[&str]| (!items.is_empty()).then(|| Value::texts(items));
            Unit { value: list(value), base: Some(seen(Field::Labels, list(base).as_ref())) }
        };
        let merged = |a, o, t| merge_units(Field::Labels, &a, &o, &t);
        let (both, without) = (set(&["a", "x"], &["a", "x"]), set(&["a"], &["a"]));
        assert_eq!(merged(both.clone(), both.clone(), without.clone()), MergedUnit::One(without.clone()));
        assert_eq!(
            merged(both, set(&["a", "mine", "x"], &["a", "x"]), without),
            MergedUnit::One(set(&["a", "mine"], &["a"]))
        );
        // Members without a base are merged as in other sets.
        let local = |value: &[&str]| set(value, &[]);
        assert_eq!(merged(local(&["u"]), local(&["u"]), local(&[])), MergedUnit::One(local(&[])));
    }
}

//! Merges the mirrored part of a task: its issue, and each mirrored field with its base.

use std::collections::{BTreeMap, BTreeSet};

use super::TomlLeaves;
use super::units::{MergedUnit, Unit, merge_units};
use crate::task::mirrored::{Field, agreed, unknown};
use crate::task::{Key, Value};

/// The keys that this module merges, each with its value or none.
#[derive(Default)]
pub struct Mirrored {
    pub values: BTreeMap<Key, Option<Value>>,
    pub conflicts: BTreeSet<Key>,
}

const BASE: &str = "github.base.";
const SHOWN: &str = "github.base.shown";

impl Mirrored {
    /// Merges the mirrored fields; empty if no side has a base.
    pub fn merge(ancestor: &TomlLeaves, ours: &TomlLeaves, theirs: &TomlLeaves) -> Self {
        let mut merged = Self::default();
        if ![ancestor, ours, theirs].into_iter().any(is_agreed) {
            return merged;
        }
        // Both clones have created an issue. The older one is kept, and the base of the other is not used.
        let other = other_issue(ours, theirs);
        let (ours_linked, theirs_linked) = (other != Some(Loser::Ours), other != Some(Loser::Theirs));
        if let Some(loser) = other {
            merged.take_link(ours, theirs, loser);
        }
        for field in Field::ALL.into_iter().filter(|field| *field != Field::Archived) {
            let a = unit(ancestor, field, true);
            let (o, t) = (unit(ours, field, ours_linked), unit(theirs, field, theirs_linked));
            let (value, base) = match merge_units(field, &a, &o, &t) {
                MergedUnit::One(unit) => (unit.value, unit.base),
                MergedUnit::Conflict { base } => {
                    merged.conflicts.insert(field.key());
                    (o.value.clone(), base)
                }
            };
            if field == Field::State {
                let from = if base == o.base { ours } else { theirs };
                merged.values.insert(Key::new(SHOWN), from.get(&Key::new(SHOWN)).cloned());
            }
            merged.values.insert(field.key(), value);
            merged.values.insert(field.base_key(), base.unwrap_or_else(|| unknown(field)));
        }
        merged.forget_unknown();
        merged
    }

    /// Removes the base if it is unknown for all fields.
    fn forget_unknown(&mut self) {
        let written = |field: Field| self.values.get(&field.base_key()).and_then(Option::as_ref);
        let known = Field::ALL.into_iter().any(|field| matches!(agreed(field, written(field)), Some(Some(_))));
        if !known {
            self.values
                .iter_mut()
                .filter(|(key, _)| key.as_str().starts_with(BASE))
                .for_each(|(_, value)| *value = None);
        }
    }

    fn take_link(&mut self, ours: &TomlLeaves, theirs: &TomlLeaves, loser: Loser) {
        let winner = if loser == Loser::Ours { theirs } else { ours };
        let linked = |key: &&Key| key.as_str().starts_with("github.") && !key.as_str().starts_with(BASE);
        for key in ours.keys().chain(theirs.keys()).filter(linked) {
            self.values.insert(key.clone(), winner.get(key).cloned());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loser {
    Ours,
    Theirs,
}

/// The side whose issue is not kept, if there are two issues.
fn other_issue(ours: &TomlLeaves, theirs: &TomlLeaves) -> Option<Loser> {
    let of = |leaves: &TomlLeaves| {
        let number = match leaves.get(&Key::new("github.number")) {
            Some(Value::Integer(number)) => *number,
            _ => i64::MAX,
        };
        Some((leaves.get(&Key::new("github.node"))?.to_string(), number))
    };
    let ((our_node, our_number), (their_node, their_number)) = (of(ours)?, of(theirs)?);
    // A transferred issue has a new id but the same row in the project.
    let row = |leaves: &TomlLeaves| leaves.get(&Key::new("github.item")).cloned();
    match our_node == their_node || (row(ours).is_some() && row(ours) == row(theirs)) {
        true => None,
        false => Some(if our_number <= their_number { Loser::Theirs } else { Loser::Ours }),
    }
}

fn is_agreed(leaves: &TomlLeaves) -> bool {
    leaves.keys().any(|key| key.as_str().starts_with(BASE))
}

fn unit(leaves: &TomlLeaves, field: Field, linked: bool) -> Unit {
    let written = leaves.get(&field.base_key());
    let base = agreed(field, written).filter(|_| linked && is_agreed(leaves)).map(|base| base.cloned());
    Unit { value: leaves.get(&field.key()).cloned(), base }
}

//! The three-way decision about one field: local value, remote value and base.

use std::collections::BTreeSet;

use super::{Field, canonical, fingerprint};
use crate::task::Value;
use crate::task::mirrored::mark;

#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Both sides and the base are equal.
    Settled,
    /// Both sides are equal, but differ from the base.
    Agreed,
    /// Only the remote has changed.
    Pull,
    /// Only the local side has changed.
    Push,
    /// Both sides have changed; this is the merged value.
    Both(Option<Value>),
    Conflict,
}

/// `base` is the fingerprint of the value that both sides last agreed on, `None` if it is unknown. `ancestor` is the text of
/// that value, for a description.
pub fn decide(
    field: Field,
    local: Option<&Value>,
    remote: Option<&Value>,
    base: Option<Option<&Value>>,
    ancestor: Option<&str>,
) -> Decision {
    let known = base.map(Option::<&Value>::cloned);
    let (here, there) = (local.map(|v| fingerprint(field, v)), remote.map(|v| fingerprint(field, v)));
    if here == there {
        return if known == Some(here) { Decision::Settled } else { Decision::Agreed };
    }
    match known {
        Some(known) if known == here => Decision::Pull,
        Some(known) if known == there => Decision::Push,
        _ => merged(field, local, remote, base, ancestor),
    }
}

fn merged(
    field: Field,
    local: Option<&Value>,
    remote: Option<&Value>,
    base: Option<Option<&Value>>,
    ancestor: Option<&str>,
) -> Decision {
    if field.is_set() {
        return Decision::Both(union(field, local, remote, base.flatten()));
    }
    match (local, remote) {
        // Without a base, a value that only one side has counts as new.
        (Some(_), None) if base.is_none() => Decision::Push,
        (None, Some(_)) if base.is_none() => Decision::Pull,
        (Some(Value::Text(here)), Some(Value::Text(there))) if field == Field::Description && base.is_none() => {
            match (has_all_lines_of(there, here), has_all_lines_of(here, there)) {
                (true, _) => Decision::Pull,
                (_, true) => Decision::Push,
                _ => Decision::Conflict,
            }
        }
        (Some(Value::Text(here)), Some(Value::Text(there))) if field == Field::Description => {
            let lines = |text: &str| format!("{}\n", canonical(text));
            let merged = ancestor.and_then(|base| diffy::merge(&lines(base), &lines(here), &lines(there)).ok());
            merged.map_or(Decision::Conflict, |text| Decision::Both(Some(Value::Text(text))))
        }
        _ => Decision::Conflict,
    }
}

/// Whether a text contains all lines of another, so that nothing is lost if it replaces the other.
fn has_all_lines_of(longer: &str, shorter: &str) -> bool {
    let (longer, shorter) = (canonical(longer), canonical(shorter));
    let mut lines = longer.lines();
    shorter.lines().all(|line| lines.any(|other| other == line))
}

/// Merges two sets: additions and removals of both sides apply.
fn union(field: Field, local: Option<&Value>, remote: Option<&Value>, base: Option<&Value>) -> Option<Value> {
    let marks = |value: Option<&Value>| items(value).iter().map(|item| mark(field, item)).collect::<BTreeSet<_>>();
    let (here, there, before) = (marks(local), marks(remote), items(base));
    let stays = |item: &str| {
        let mark = mark(field, item);
        !before.contains(&mark) || (here.contains(&mark) && there.contains(&mark))
    };
    let mut seen = BTreeSet::new();
    let all = items(local).into_iter().chain(items(remote));
    let mut kept: Vec<String> = all.filter(|item| stays(item) && seen.insert(mark(field, item))).collect();
    kept.sort();
    (!kept.is_empty()).then(|| Value::texts(kept))
}

fn items(value: Option<&Value>) -> BTreeSet<String> {
    match value {
        Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::github::hash;
    use proptest::prelude::*;

    fn text(text: &str) -> Option<Value> {
        (!text.is_empty()).then(|| Value::text(text))
    }

    fn three(field: Field, local: &str, remote: &str, base: Option<&str>) -> Decision {
        let base = base.map(|base| text(base).map(|base| fingerprint(field, &base)));
        decide(field, text(local).as_ref(), text(remote).as_ref(), base.as_ref().map(Option::as_ref), None)
    }

    fn set(list: &[&str]) -> Option<Value> {
        (!list.is_empty()).then(|| Value::texts(list))
    }

    #[test]
    fn without_a_base_a_description_that_says_all_of_the_other_takes_its_place() {
        let of = |local: &str, remote: &str| three(Field::Description, local, remote, None);
        assert_eq!(of("First.", "First.\n\nPS: more."), Decision::Pull);
        assert_eq!(of("a\nb\nc", "a\nc"), Decision::Push);
        assert_eq!(of("a\nb", "b\na"), Decision::Conflict);
    }

    #[test]
    fn only_a_change_on_both_sides_is_a_conflict() {
        let title = |local, remote, base| three(Field::Title, local, remote, base);
        assert_eq!(title("a", "a", Some("a")), Decision::Settled);
        assert_eq!(title("b", "b", Some("a")), Decision::Agreed);
        assert_eq!(title("a", "b", Some("a")), Decision::Pull);
        assert_eq!(title("b", "a", Some("a")), Decision::Push);
        assert_eq!(title("b", "c", Some("a")), Decision::Conflict);
        assert_eq!(title("b", "c", None), Decision::Conflict);
        assert_eq!(three(Field::Priority, "P1", "", None), Decision::Push);
        assert_eq!(three(Field::Priority, "", "P1", Some("P1")), Decision::Push);
    }

    #[test]
    fn sets_take_what_either_side_did() {
        let decided = |local: &[&str], remote: &[&str], base: &[&str]| {
            let base = set(base).map(|base| fingerprint(Field::Labels, &base));
            decide(Field::Labels, set(local).as_ref(), set(remote).as_ref(), Some(base.as_ref()), None)
        };
        assert_eq!(decided(&["a", "x"], &["b", "x"], &["a", "b", "x"]), Decision::Both(set(&["x"])));
        assert_eq!(decided(&["a", "n"], &["a", "m"], &["a"]), Decision::Both(set(&["a", "m", "n"])));
        assert_eq!(decided(&["Bug"], &["bug"], &["bug"]), Decision::Settled);
    }

    #[test]
    fn a_description_merges_by_lines_where_the_text_behind_the_hash_is_known() {
        let (base, here, there) = ("one\ntwo\nthree", "ONE\ntwo\nthree", "one\ntwo\nTHREE");
        let known = Value::text(hash(base));
        let decided = |there: &str, ancestor| {
            decide(Field::Description, text(here).as_ref(), text(there).as_ref(), Some(Some(&known)), ancestor)
        };
        assert_eq!(decided(there, Some(base)), Decision::Both(text("ONE\ntwo\nTHREE\n")));
        assert_eq!(decided(there, None), Decision::Conflict);
        assert_eq!(decided("uno\ntwo\nthree", Some(base)), Decision::Conflict);
        assert_eq!(decided("one\r\ntwo\r\nthree\r\n", None), Decision::Push);
    }

    proptest! {
        /// The decision keeps a change that was made on one side only.
        #[test]
        fn no_update_is_lost(local in 0u8..4, remote in 0u8..4, base in 0u8..4) {
            let name = |n: u8| ["", "a", "b", "c"][n as usize];
            let decision = three(Field::Title, name(local), name(remote), Some(name(base)));
            let result = match &decision {
                Decision::Settled | Decision::Agreed => { prop_assert_eq!(local, remote); return Ok(()) }
                Decision::Pull => remote,
                Decision::Push => local,
                Decision::Conflict => { prop_assert!(local != base && remote != base); return Ok(()) }
                Decision::Both(_) => unreachable!(),
            };
            prop_assert!(local == base || result == local);
            prop_assert!(remote == base || result == remote);
        }
    }
}

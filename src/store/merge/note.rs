//! Merges a mirrored note: its text together with its base (see `units`).

use super::units::{MergedUnit, Unit, merge_units};
use crate::store::notes::{front_of, parse_text};
use crate::task::Value;
use crate::task::mirrored::Field;

/// `None` if no text was taken from GitHub, or both sides have changed it, so that only a line merge is possible.
pub fn merge_note(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let notes = [base, ours, theirs].map(|text| parse_text(String::new(), text));
    if notes.iter().all(|note| note.facts.agreed.is_none()) {
        return None;
    }
    let [b, o, t] = notes.map(|note| Unit {
        value: Some(Value::Text(note.text)),
        base: note.facts.agreed.map(|agreed| Some(Value::Text(agreed))),
    });
    let MergedUnit::One(unit) = merge_units(Field::Description, &b, &o, &t) else { return None };
    let fronts = [base, ours, theirs].map(|text| format!("{}\n", front_of(text).unwrap_or_default()));
    let front = diffy::merge(&fronts[0], &fronts[1], &fronts[2]).ok()?;
    let Some(Value::Text(text)) = unit.value else { return None };
    Some(format!("+++\n{}\n+++\n\n{}\n", front.trim_end(), text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::agreed_note;
    use crate::task::mirrored::hash;

    const FIRST: &str = "+++\nby = \"ada\"\n+++\n\nFirst.\n";

    #[test]
    fn a_text_that_one_clone_set_back_after_both_took_githubs_is_an_edit() {
        let taken = agreed_note(FIRST, "Theirs.", &hash("Theirs."));
        let back = taken.replace("Theirs.\n", "First.\n");
        assert_eq!(merge_note(FIRST, &taken, &back), Some(back.clone()));
        assert_eq!(merge_note(FIRST, &back, &taken), Some(back));
    }

    #[test]
    fn notes_that_github_never_changed_merge_by_lines() {
        assert_eq!(merge_note(FIRST, FIRST, &FIRST.replace("First", "Other")), None);
        let taken = agreed_note(FIRST, "Theirs.", &hash("Theirs."));
        assert_eq!(merge_note(&taken, &taken.replace("Theirs", "A"), &taken.replace("Theirs", "B")), None);
    }
}

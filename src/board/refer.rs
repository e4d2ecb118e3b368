//! Resolves what a person typed to a task.

use crate::task::TaskId;

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Candidate {
    pub id: TaskId,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    #[error("no task {typed:?}")]
    Unknown { typed: String, near: Vec<Candidate> },
    #[error("{typed:?} matches {} tasks", candidates.len())]
    Ambiguous { typed: String, candidates: Vec<Candidate> },
}

/// The part of a task that references need.
pub struct Named<'a> {
    pub id: &'a TaskId,
    pub title: &'a str,
    pub number: Option<u64>,
}

impl Named<'_> {
    fn candidate(&self) -> Candidate {
        Candidate { id: self.id.clone(), title: self.title.to_owned() }
    }
}

/// Resolves an id, a unique prefix of one (with or without the board's own prefix), `#44`, `44` or `GH-44`.
pub fn resolve(typed: &str, prefix: &str, all: &[Named<'_>]) -> Result<TaskId, RefError> {
    let text = typed.trim();
    let whole = |named: &&Named<'_>| named.id.as_str() == text;
    let bare = |named: &&Named<'_>| named.id.as_str().strip_prefix(prefix) == Some(text);
    // If both `x` and `t-x` exist, `x` means the task with that exact id.
    if let Some(exact) = all.iter().find(whole).or_else(|| all.iter().find(bare)) {
        return Ok(exact.id.clone());
    }
    if let Some(mirrored) = issue_number(text).and_then(|n| all.iter().find(|named| named.number == Some(n))) {
        return Ok(mirrored.id.clone());
    }
    let starting: Vec<&Named<'_>> =
        if text.is_empty() { Vec::new() } else { all.iter().filter(|n| starts(n, prefix, text)).collect() };
    match starting.as_slice() {
        [] => Err(RefError::Unknown { typed: text.to_owned(), near: nearest(text, prefix, all) }),
        [one] => Ok(one.id.clone()),
        many => Err(RefError::Ambiguous {
            typed: text.to_owned(),
            candidates: many.iter().map(|n| n.candidate()).collect(),
        }),
    }
}

/// Resolves an exact reference, for programs: the number of an issue (`44`, `#44`, `GH-44`) or a whole id (`t-x7kq`,
/// `#t-x7kq`, `GH-t-x7kq`). A number is never the beginning of an id.
pub fn resolve_exact(typed: &str, prefix: &str, all: &[Named<'_>]) -> Result<TaskId, RefError> {
    let text = unmarked(typed);
    let number: Option<u64> = text.parse().ok();
    let mirrored = all.iter().find(|named| number.is_some() && named.number == number);
    let found = mirrored.or_else(|| all.iter().find(|named| named.id.as_str() == text));
    found
        .map(|named| named.id.clone())
        .ok_or_else(|| RefError::Unknown { typed: typed.trim().to_owned(), near: nearest(text, prefix, all) })
}

/// A reference without the mark of an issue.
pub fn unmarked(typed: &str) -> &str {
    let text = typed.trim();
    text.strip_prefix('#').or_else(|| strip_gh(text)).unwrap_or(text)
}

/// The number of an issue in one of its spellings: `44`, `#44` or `GH-44`.
pub fn issue_number(typed: &str) -> Option<u64> {
    unmarked(typed).parse().ok()
}

fn strip_gh(text: &str) -> Option<&str> {
    text.get(..3).filter(|head| head.eq_ignore_ascii_case("gh-")).map(|_| &text[3..])
}

fn starts(named: &Named<'_>, prefix: &str, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let id = named.id.as_str().to_ascii_lowercase();
    id.starts_with(&lower) || id.strip_prefix(&prefix.to_ascii_lowercase()).is_some_and(|tail| tail.starts_with(&lower))
}

/// Suggests tasks with an id that differs by a typing error, then tasks with the word in their title.
fn nearest(text: &str, prefix: &str, all: &[Named<'_>]) -> Vec<Candidate> {
    let bare = |id: &str| id.strip_prefix(prefix).unwrap_or(id).to_ascii_lowercase();
    let wanted = bare(text);
    let mut near: Vec<(usize, &Named<'_>)> = all
        .iter()
        .filter_map(|named| {
            let distance = strsim::damerau_levenshtein(&wanted, &bare(named.id.as_str()));
            let titled = wanted.len() > 2 && named.title.to_lowercase().contains(&wanted);
            (distance <= 1 || titled).then_some((if titled { 1 } else { distance }, named))
        })
        .collect();
    near.sort_by_key(|(distance, named)| (*distance, named.id.clone()));
    near.into_iter().take(3).map(|(_, named)| named.candidate()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Result<String, RefError> {
        let rows = [("t-x7kq", None), ("t-x7mm", Some(44)), ("t-44bb", None), ("fix-login", Some(7)), ("x", None)];
        let ids: Vec<(TaskId, Option<u64>)> = rows.map(|(id, n)| (TaskId::new(id).unwrap(), n)).to_vec();
        let all: Vec<Named<'_>> =
            ids.iter().map(|(id, number)| Named { id, title: "Make the login quick", number: *number }).collect();
        resolve(typed, "t-", &all).map(|id| id.to_string())
    }

    #[test]
    fn every_way_to_name_a_task() {
        for (typed, id) in [
            ("t-x7kq", "t-x7kq"),
            ("x7kq", "t-x7kq"),
            ("X7K", "t-x7kq"),
            (" t-x7m ", "t-x7mm"),
            ("x", "x"),
            ("#44", "t-x7mm"),
            ("44", "t-x7mm"),
            ("gh-7", "fix-login"),
            ("44b", "t-44bb"),
            ("fix", "fix-login"),
        ] {
            assert_eq!(found(typed).unwrap(), id, "{typed}");
        }
    }

    #[test]
    fn an_ambiguous_prefix_lists_the_candidates() {
        let Err(RefError::Ambiguous { candidates, .. }) = found("x7") else { panic!() };
        assert_eq!(candidates.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["t-x7kq", "t-x7mm"]);
    }

    #[test]
    fn a_slip_is_met_with_what_was_meant() {
        let Err(RefError::Unknown { near, .. }) = found("t-x7kp") else { panic!() };
        assert_eq!(near[0].id.as_str(), "t-x7kq");
        let Err(RefError::Unknown { near, .. }) = found("") else { panic!() };
        assert!(near.is_empty() || near[0].id.as_str() == "x");
    }

    /// The suggestions for a reference that names no task.
    fn near(typed: &str, rows: &[(&str, &str)]) -> Vec<String> {
        let ids: Vec<(TaskId, &str)> = rows.iter().map(|(id, title)| (TaskId::new(*id).unwrap(), *title)).collect();
        let all: Vec<Named<'_>> = ids.iter().map(|(id, title)| Named { id, title, number: None }).collect();
        match resolve(typed, "t-", &all) {
            Err(RefError::Unknown { near, .. }) => near.into_iter().map(|candidate| candidate.id.to_string()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn suggestions_are_one_typo_away_or_have_the_word_in_their_title() {
        let rows = [("t-abcd", "Fix the login"), ("t-abxx", "Draw"), ("t-mnop", "The login page")];
        assert_eq!(near("abcx", &rows), ["t-abcd", "t-abxx"]);
        assert_eq!(near("t-bacd", &rows), ["t-abcd"], "two letters that changed places are one slip");
        assert_eq!(near("LOGIN", &rows), ["t-abcd", "t-mnop"]);
        assert_eq!(near("xxxx", &rows), [""; 0]);
        assert_eq!(near("in", &rows), [""; 0], "two letters are in every title");
    }

    #[test]
    fn at_most_three_tasks_are_suggested() {
        let rows = [("t-a1", "x"), ("t-a2", "x"), ("t-a3", "x"), ("t-a4", "x")];
        assert_eq!(near("a5", &rows), ["t-a1", "t-a2", "t-a3"]);
    }

    #[test]
    fn a_number_names_an_issue_before_it_begins_an_id() {
        for (typed, id) in [("7", "fix-login"), ("GH-44", "t-x7mm"), ("#7", "fix-login"), ("44bb", "t-44bb")] {
            assert_eq!(found(typed).unwrap(), id, "{typed}");
        }
        for typed in ["#45", "gh-x", "gh", "ü-44"] {
            assert!(matches!(found(typed), Err(RefError::Unknown { .. })), "{typed}");
        }
    }

    #[test]
    fn an_exact_reference_is_a_number_or_a_whole_id_and_never_a_beginning() {
        let rows = [("t-x7kq", None), ("t-x7mm", Some(44)), ("t-34b8", None), ("34", Some(7))];
        let ids: Vec<(TaskId, Option<u64>)> = rows.map(|(id, n)| (TaskId::new(id).unwrap(), n)).to_vec();
        let all: Vec<Named<'_>> = ids.iter().map(|(id, number)| Named { id, title: "", number: *number }).collect();
        let found = |typed: &str| resolve_exact(typed, "t-", &all).map(|id| id.to_string()).ok();
        for typed in ["t-x7kq", "#t-x7kq", "GH-t-x7kq", " gh-t-x7kq "] {
            assert_eq!(found(typed).as_deref(), Some("t-x7kq"), "{typed}");
        }
        for typed in ["44", "#44", "GH-44", "GH-0044", "t-x7mm"] {
            assert_eq!(found(typed).as_deref(), Some("t-x7mm"), "{typed}");
        }
        for typed in ["x7kq", "t-x7", "34b8", "t-34", "#34b", "GH-", "", "45"] {
            assert_eq!(found(typed), None, "{typed}");
        }
    }

    #[test]
    fn an_unresolved_reference_quotes_what_was_typed() {
        assert_eq!(found(" x7 ").unwrap_err().to_string(), r#""x7" matches 2 tasks"#);
        assert_eq!(found("zz").unwrap_err().to_string(), r#"no task "zz""#);
    }

    proptest::proptest! {
        #![proptest_config(crate::board::testing::laws(300))]

        #[test]
        fn a_whole_id_names_its_task_and_a_beginning_names_one_only_if_it_is_the_only_one(
            ids in proptest::collection::btree_set("(t-)?[axyz]{1,4}", 1..8),
            typed in "[axyz]{1,3}",
        ) {
            let ids: Vec<TaskId> = ids.iter().map(|id| TaskId::new(id.as_str()).unwrap()).collect();
            let all: Vec<Named<'_>> = ids.iter().map(|id| Named { id, title: "", number: None }).collect();
            for id in &ids {
                proptest::prop_assert_eq!(resolve(id.as_str(), "t-", &all), Ok(id.clone()));
            }
            let bare = |id: &TaskId| id.as_str().strip_prefix("t-").unwrap_or(id.as_str()).to_owned();
            let exact: Vec<&TaskId> = ids.iter().filter(|id| bare(id) == typed).collect();
            let starting: Vec<&TaskId> = ids.iter().filter(|id| bare(id).starts_with(&typed)).collect();
            match resolve(&typed, "t-", &all) {
                Ok(id) => proptest::prop_assert!(exact.contains(&&id) || starting == [&id]),
                Err(RefError::Ambiguous { candidates, .. }) => {
                    proptest::prop_assert!(exact.is_empty() && starting.len() > 1);
                    proptest::prop_assert_eq!(candidates.iter().map(|c| &c.id).collect::<Vec<_>>(), starting);
                }
                Err(RefError::Unknown { .. }) => proptest::prop_assert!(starting.is_empty()),
            }
        }
    }
}

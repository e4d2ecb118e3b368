//! From what a person typed to the task that is meant.

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
    #[error("{typed:?} could be any of {}", candidates.len())]
    Ambiguous { typed: String, candidates: Vec<Candidate> },
}

/// One task as far as references go.
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

/// An id, a unique prefix of one (with or without the board's own prefix), `#44`, `44` or `GH-44`.
pub fn resolve(typed: &str, prefix: &str, all: &[Named<'_>]) -> Result<TaskId, RefError> {
    let text = typed.trim();
    let same = |named: &&Named<'_>| named.id.as_str() == text || named.id.as_str().strip_prefix(prefix) == Some(text);
    if let Some(exact) = all.iter().find(same) {
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

fn issue_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('#').or_else(|| strip_gh(text)).unwrap_or(text);
    digits.parse().ok()
}

fn strip_gh(text: &str) -> Option<&str> {
    text.get(..3).filter(|head| head.eq_ignore_ascii_case("gh-")).map(|_| &text[3..])
}

fn starts(named: &Named<'_>, prefix: &str, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let id = named.id.as_str().to_ascii_lowercase();
    id.starts_with(&lower) || id.strip_prefix(&prefix.to_ascii_lowercase()).is_some_and(|tail| tail.starts_with(&lower))
}

/// Ids that differ by a slip, then titles that have the word.
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
}

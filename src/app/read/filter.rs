//! Parses a filter in one line of text, for faces with an input field; it has the terms of `task ls`.

use crate::app::{Code, Failure, Hint, ListAsk};

/// The terms that take a value.
const KEYS: &str = "state: label: owner: priority: estimate: parent: role: kind: sort:";
/// The terms without a value.
const WORDS: &str = "ready blocked mine all";

impl ListAsk {
    /// Parses terms such as `label:bug ready login`: terms with a value, terms without one, and words to search for. A
    /// value that contains blanks is quoted; a state may have `-` instead of blanks.
    pub fn typed(text: &str) -> Result<Self, Failure> {
        // While the person is still typing, a quote may be open.
        let terms = shlex::split(text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect());
        let mut ask = Self::default();
        let mut words: Vec<String> = Vec::new();
        for term in terms {
            match term.split_once(':') {
                Some((key, value)) if !value.is_empty() && !key.contains(char::is_whitespace) => ask.put(key, value)?,
                _ => match term.to_ascii_lowercase().as_str() {
                    "ready" => ask.ready = true,
                    "blocked" => ask.blocked = true,
                    "mine" => ask.mine = true,
                    "all" => ask.all = true,
                    _ => words.push(term),
                },
            }
        }
        ask.search = (!words.is_empty()).then(|| words.join(" "));
        Ok(ask)
    }

    /// Several values of one term are separated by commas.
    fn put(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        let values = || value.split(',').map(str::to_owned);
        match key.to_ascii_lowercase().as_str() {
            "state" | "status" => self.state.extend(values()),
            "label" => self.label.extend(values()),
            "owner" => self.owner.extend(values()),
            "priority" => self.priority.extend(values()),
            "estimate" | "size" => self.estimate.extend(values()),
            "kind" => self.kind.extend(values()),
            "sort" => self.sort.extend(values()),
            "parent" => self.parent = Some(value.to_owned()),
            "role" => self.role = Some(value.to_owned()),
            _ => {
                return Err(Failure::usage(Code::UnknownTerm, format!("unknown term {key:?}"))
                    .hint(Hint::step(format!("use {KEYS} {WORDS}, or plain words to search for"))));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_words_and_what_is_searched_for_are_told_apart() {
        let ask = ListAsk::typed("state:'In Progress' label:bug,ui READY log in priority:P1").unwrap();
        assert_eq!(ask.state, ["In Progress"]);
        assert_eq!(ask.label, ["bug", "ui"]);
        assert_eq!(ask.priority, ["P1"]);
        assert!(ask.ready && !ask.blocked);
        assert_eq!(ask.search.as_deref(), Some("log in"));
    }

    #[test]
    fn a_term_that_there_is_not_is_refused_and_one_half_typed_is_searched_for() {
        assert!(ListAsk::typed("colour:red").unwrap_err().message.contains("colour"));
        assert_eq!(ListAsk::typed("state: \"don").unwrap().search.as_deref(), Some("state: \"don"));
    }
}

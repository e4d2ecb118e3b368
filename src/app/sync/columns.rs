//! Suggests states for columns of a project that are not states of the board. Pure.

use serde::Serialize;

use crate::task::{Kind, StateName};
use crate::workflow::{State, Workflow};

/// A column that is not mapped, and the state that it probably means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignColumn {
    pub column: String,
    pub proposal: Option<StateName>,
}

/// The columns that are neither states nor mapped, each with a suggestion.
pub fn foreign<'a>(
    columns: impl Iterator<Item = &'a str>,
    flow: &Workflow,
    is_mapped: impl Fn(&str) -> bool,
) -> Vec<ForeignColumn> {
    let is_state = |name: &str| flow.states().iter().any(|state| state.name.as_str() == name);
    columns
        .filter(|name| !is_state(name) && !is_mapped(name))
        .map(|name| ForeignColumn { column: name.to_owned(), proposal: propose(name, flow) })
        .collect()
}

/// Common words in the names of columns, by meaning.
const DONE: [&str; 7] = ["done", "complete", "completed", "closed", "shipped", "released", "finished"];
const DROPPED: [&str; 6] = ["canceled", "cancelled", "wont", "rejected", "duplicate", "dropped"];
const REVIEW: [&str; 4] = ["review", "qa", "testing", "verify"];
const WAITING: [&str; 5] = ["blocked", "hold", "waiting", "paused", "stuck"];
const WORKING: [&str; 6] = ["doing", "progress", "wip", "working", "started", "active"];
const NEW: [&str; 9] = ["todo", "do", "new", "icebox", "backlog", "later", "ideas", "inbox", "triage"];

fn propose(column: &str, flow: &Workflow) -> Option<StateName> {
    let said = words(column);
    let find = |is_it: &dyn Fn(&State) -> bool| {
        flow.states().iter().rev().find(|state| is_it(state)).map(|state| state.name.clone())
    };
    let has = |names: &[&str]| said.iter().any(|word| names.contains(&word.as_str()));
    let same = find(&|state| words(state.name.as_str()) == said);
    if same.is_some() {
        return same;
    }
    match () {
        () if has(&DROPPED) => flow.canceling().or(flow.closing()).cloned(),
        () if has(&DONE) => flow.closing().cloned(),
        () if has(&WAITING) => find(&|state| state.off && !state.terminal),
        () if has(&REVIEW) => find(&|state| !state.terminal && words(state.name.as_str()).contains(&"review".into())),
        () if has(&WORKING) => find(&|state| state.lock),
        () if has(&NEW) => Some(flow.initial(Kind::Issue).clone()),
        () => None,
    }
}

fn words(text: &str) -> Vec<String> {
    let letters = text.to_lowercase().replace(['\'', '’'], "");
    letters.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_common_names_get_a_proposal_and_others_are_only_named() {
        let flow = Workflow::builtin();
        let proposed = |name: &str| propose(name, &flow).map(|state| state.to_string());
        for (column, state) in [
            ("Icebox", Some("Backlog")),
            ("To do", Some("Backlog")),
            ("🏗 In progress", Some("In Progress")),
            ("Code review", Some("In Review")),
            ("Blocked", Some("Human Needed")),
            ("Won't do", Some("Canceled")),
            ("Shipped", Some("Done")),
            ("Marketing", None),
        ] {
            assert_eq!(proposed(column).as_deref(), state, "{column}");
        }
        let found = foreign(["Done", "Icebox", "Marketing"].into_iter(), &flow, |name| name == "Marketing");
        assert_eq!(found, [ForeignColumn { column: "Icebox".into(), proposal: Some(StateName::new("Backlog")) }]);
    }
}

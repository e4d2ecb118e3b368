//! A state as GitHub shows it: the option of a field, open or closed with a reason, and its own Status.

use crate::task::{Kind, StateName};
use crate::workflow::Workflow;

/// How an issue looks that is in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    pub option: String,
    pub status: Option<String>,
    /// Why it is closed, if it is.
    pub closed: Option<&'static str>,
}

/// How an issue looks.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub option: Option<&'a str>,
    pub closed: bool,
    pub reason: Option<&'a str>,
}

/// How an issue looked when both sides agreed on its state, where it did not look as it should: until that is put right, the
/// difference is no news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub option: Option<String>,
    pub closed: bool,
}

impl Shown {
    /// `None` where it looks as that state should.
    pub fn unlike(flow: &Workflow, state: &StateName, option: Option<&str>, closed: bool) -> Option<Self> {
        let right = Representation::of(flow, state);
        let is_right = option == Some(&right.option) && closed == right.closed.is_some();
        (!is_right).then(|| Self { option: option.map(str::to_owned), closed })
    }

    /// `closed Backlog`, or `open` without an option.
    pub fn parse(text: &str) -> Self {
        let (word, option) =
            text.split_once(' ').map_or((text, None), |(word, option)| (word, Some(option.to_owned())));
        Self { option, closed: word == "closed" }
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.closed { "closed" } else { "open" })?;
        self.option.as_ref().map_or(Ok(()), |option| write!(f, " {option}"))
    }
}

impl Representation {
    pub fn of(flow: &Workflow, state: &StateName) -> Self {
        let found = flow.state(Kind::Issue, state);
        let closed =
            found.filter(|state| state.terminal).map(|state| if state.off { "NOT_PLANNED" } else { "COMPLETED" });
        Self { option: state.to_string(), status: found.and_then(|state| state.github.clone()), closed }
    }
}

/// Which state an issue is in, given the one that both sides last agreed on and how it looked then: whether a closed issue
/// with an open option was closed, or its card was moved, shows only by what has changed.
pub fn read(flow: &Workflow, seen: Seen<'_>, base: Option<&StateName>, shown: Option<&Shown>) -> StateName {
    let find = |name: &str| flow.states().iter().find(|state| state.name.as_str() == name);
    let option = seen.option.and_then(find);
    let before = base.and_then(|name| find(name.as_str()));
    let was_closed = before.map(|state| shown.map_or(state.terminal, |shown| shown.closed));
    let was_option = shown.map_or_else(|| base.map(StateName::as_str), |shown| shown.option.as_deref());
    let moved = option.filter(|option| Some(option.name.as_str()) != was_option);
    if was_closed.is_none_or(|was| was != seen.closed) {
        // Opened or closed since: a card that was moved along says where to.
        if let Some(option) = option.filter(|option| option.terminal == seen.closed) {
            return option.name.clone();
        }
        // An option that was moved while the issue stays open leads to its own end.
        if was_closed.is_none() && !seen.closed {
            return option.map_or_else(|| flow.initial(Kind::Issue).clone(), |option| option.name.clone());
        }
        return if seen.closed { closing(flow, seen.reason) } else { reopening(flow, before.map(|state| &state.name)) };
    }
    match (moved, before) {
        (Some(option), _) => option.name.clone(),
        (None, Some(before)) => before.name.clone(),
        (None, None) => flow.initial(Kind::Issue).clone(),
    }
}

fn closing(flow: &Workflow, reason: Option<&str>) -> StateName {
    let dropped = matches!(reason, Some("NOT_PLANNED" | "DUPLICATE"));
    let end = if dropped { flow.canceling().or(flow.closing()) } else { flow.closing() };
    end.unwrap_or_else(|| flow.initial(Kind::Issue)).clone()
}

fn reopening(flow: &Workflow, from: Option<&StateName>) -> StateName {
    let leave = from.and_then(|from| flow.state(Kind::Issue, from)).and_then(|state| state.leave.first());
    leave.unwrap_or_else(|| flow.initial(Kind::Issue)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(option: &str, closed: Option<&str>, base: &str) -> String {
        let seen = Seen { option: (!option.is_empty()).then_some(option), closed: closed.is_some(), reason: closed };
        let base = (!base.is_empty()).then(|| StateName::new(base));
        read(&Workflow::builtin(), seen, base.as_ref(), None).to_string()
    }

    #[test]
    fn what_looked_odd_when_it_was_agreed_on_is_no_news_until_it_changes() {
        let flow = Workflow::builtin();
        let read = |option: &str, closed: bool, base: &str, shown: &str| {
            let seen = Seen { option: Some(option), closed, reason: closed.then_some("COMPLETED") };
            read(&flow, seen, Some(&StateName::new(base)), Some(&Shown::parse(shown))).to_string()
        };
        // Closed while its card was in Backlog, and the card not moved yet.
        assert_eq!(read("Backlog", true, "Done", "closed Backlog"), "Done");
        assert_eq!(read("Backlog", false, "Done", "closed Backlog"), "Backlog");
        assert_eq!(read("In Review", true, "Done", "closed Backlog"), "In Review");
        assert_eq!(read("Done", true, "Done", "closed Backlog"), "Done");
        // Its card dragged to Done, and the issue not closed yet.
        assert_eq!(read("Done", false, "Done", "open Done"), "Done");
        assert_eq!(read("Done", true, "Done", "open Done"), "Done");
        assert_eq!(Shown::parse("open").to_string(), "open");
        assert_eq!(Shown::unlike(&flow, &StateName::new("Done"), Some("Done"), true), None);
    }

    #[test]
    fn closing_and_reopening_an_issue_moves_the_task() {
        assert_eq!(state("In Progress", Some("COMPLETED"), "In Progress"), "Done");
        assert_eq!(state("In Progress", Some("NOT_PLANNED"), "In Progress"), "Canceled");
        assert_eq!(state("In Progress", Some("DUPLICATE"), "In Progress"), "Canceled");
        assert_eq!(state("Done", None, "Done"), "Backlog");
        assert_eq!(state("In Review", None, "Done"), "In Review");
    }

    #[test]
    fn moving_a_card_moves_the_task_though_the_issue_stays_as_it_is() {
        assert_eq!(state("In Review", None, "In Progress"), "In Review");
        assert_eq!(state("Done", None, "In Progress"), "Done");
        assert_eq!(state("In Progress", Some("COMPLETED"), "Done"), "In Progress");
        assert_eq!(state("", None, "In Progress"), "In Progress");
        assert_eq!(state("Somewhere", None, "In Progress"), "In Progress");
    }

    #[test]
    fn an_issue_that_nobody_knows_yet_begins_where_it_stands() {
        assert_eq!(state("", None, ""), "Backlog");
        assert_eq!(state("Ready for Plan", None, ""), "Ready for Plan");
        assert_eq!(state("", Some("COMPLETED"), ""), "Done");
        assert_eq!(state("In Progress", Some("NOT_PLANNED"), ""), "Canceled");
    }

    #[test]
    fn every_state_comes_back_from_its_representation() {
        let flow = Workflow::builtin();
        for state in flow.states() {
            let shown = Representation::of(&flow, &state.name);
            let seen = Seen { option: Some(&shown.option), closed: shown.closed.is_some(), reason: shown.closed };
            for base in flow.states() {
                assert_eq!(read(&flow, seen, Some(&base.name), None), state.name, "from {}", base.name);
            }
        }
        assert_eq!(Representation::of(&flow, &StateName::new("Canceled")).closed, Some("NOT_PLANNED"));
    }
}

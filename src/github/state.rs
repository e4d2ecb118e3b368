//! The representation of a state on GitHub: option, open or closed with a reason, and Status.

use crate::task::{Kind, StateName};
use crate::workflow::{State, Workflow};

/// The representation of a state by an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    pub option: String,
    pub status: Option<String>,
    /// The reason for closing, if it is closed.
    pub closed: Option<&'static str>,
}

/// What an issue shows, and since when.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub option: Option<&'a str>,
    /// The time at which the option was chosen.
    pub chosen: Option<&'a str>,
    pub closed: bool,
    pub closed_at: Option<&'a str>,
    pub reason: Option<&'a str>,
}

/// What an issue showed when both sides agreed on its state, if this did not match the state. Until that is corrected, the
/// difference does not count as a change. The times distinguish it from the same change made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    option: Option<(String, String)>,
    closed_at: Option<String>,
}

impl Shown {
    /// `None` if the issue matches the state.
    pub fn unlike(flow: &Workflow, state: &StateName, seen: Seen<'_>) -> Option<Self> {
        let right = Representation::of(flow, state);
        let is_right = seen.option == Some(&right.option) && seen.closed == right.closed.is_some();
        let option = seen.option.zip(seen.chosen).map(|(name, at)| (name.to_owned(), at.to_owned()));
        (!is_right).then(|| Self { option, closed_at: seen.closed_at.map(str::to_owned) })
    }

    /// Parses `closed=2026-11-16T12:00:00Z card=2026-11-16T12:00:00Z In Review`, or `open` if no option is chosen.
    pub fn parse(text: &str) -> Self {
        let (first, card) = text.split_once(" card=").map_or((text, None), |(first, card)| (first, Some(card)));
        let option = card.and_then(|card| card.split_once(' ')).map(|(at, name)| (name.to_owned(), at.to_owned()));
        Self { option, closed_at: first.strip_prefix("closed=").map(str::to_owned) }
    }

    fn has_option_of(&self, seen: Seen<'_>) -> bool {
        self.option.as_ref().map(|(name, at)| (name.as_str(), at.as_str())) == seen.option.zip(seen.chosen)
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.closed_at {
            Some(at) => write!(f, "closed={at}")?,
            None => f.write_str("open")?,
        }
        self.option.as_ref().map_or(Ok(()), |(name, at)| write!(f, " card={at} {name}"))
    }
}

impl Representation {
    pub fn of(flow: &Workflow, state: &StateName) -> Self {
        let found = flow.state(Kind::Issue, state);
        let reason = |state: &State| if state.off { "NOT_PLANNED" } else { "COMPLETED" };
        let closed = found.filter(|state| state.terminal).map(reason);
        Self { option: state.to_string(), status: found.and_then(|state| state.github.clone()), closed }
    }
}

/// The state of an issue, given the state that both sides last agreed on, and what the issue showed then. A closed issue with
/// the option of an open state may have been closed, or its card moved: only the difference shows which.
pub fn read(flow: &Workflow, seen: Seen<'_>, base: Option<&StateName>, shown: Option<&Shown>) -> StateName {
    let find = |name: &str| flow.states().iter().find(|state| state.name.as_str() == name);
    let option = seen.option.and_then(find);
    let before = base.and_then(|name| find(name.as_str()));
    let turned = match (before, shown) {
        (None, _) => true,
        (Some(before), None) => before.terminal != seen.closed,
        (Some(_), Some(shown)) => shown.closed_at.as_deref() != seen.closed_at,
    };
    let moved = match shown {
        Some(shown) => !shown.has_option_of(seen),
        None => base.map(StateName::as_str) != seen.option,
    };
    if turned {
        // Opened or closed since then; if the option fits, it determines the state.
        if let Some(option) = option.filter(|option| option.terminal == seen.closed) {
            return option.name.clone();
        }
        // The issue is new and open: an option of a final state determines the state.
        if before.is_none() && !seen.closed {
            return option.map_or_else(|| flow.initial(Kind::Issue).clone(), |option| option.name.clone());
        }
        return if seen.closed { closing(flow, seen.reason) } else { reopening(flow, before.map(|state| &state.name)) };
    }
    match (option.filter(|_| moved), before) {
        (Some(option), _) => option.name.clone(),
        // It was closed again with another reason.
        (None, Some(before)) if seen.closed && before.terminal && closes_otherwise(flow, seen.reason, &before.name) => {
            closing(flow, seen.reason)
        }
        (None, Some(before)) => before.name.clone(),
        (None, None) => flow.initial(Kind::Issue).clone(),
    }
}

/// Whether the reason belongs to the other final state.
fn closes_otherwise(flow: &Workflow, reason: Option<&str>, end: &StateName) -> bool {
    match reason {
        Some("COMPLETED") => Some(end) == flow.canceling(),
        Some("NOT_PLANNED" | "DUPLICATE") => Some(end) == flow.closing() && flow.canceling().is_some(),
        _ => false,
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

    /// An issue that was closed with that reason, if there is one.
    fn seen<'a>(option: &'a str, closed: Option<&'a str>) -> Seen<'a> {
        let option = (!option.is_empty()).then_some(option);
        let (chosen, closed_at) = (option.map(|_| "t1"), closed.map(|_| "t1"));
        Seen { option, chosen, closed: closed.is_some(), closed_at, reason: closed }
    }

    fn state(option: &str, closed: Option<&str>, base: &str) -> String {
        let base = (!base.is_empty()).then(|| StateName::new(base));
        read(&Workflow::builtin(), seen(option, closed), base.as_ref(), None).to_string()
    }

    #[test]
    fn what_looked_odd_when_it_was_agreed_on_is_no_news_until_it_is_done_again() {
        let flow = Workflow::builtin();
        let read = |seen: Seen<'_>, base: &str, shown: &str| {
            read(&flow, seen, Some(&StateName::new(base)), Some(&Shown::parse(shown))).to_string()
        };
        // It was closed while its card was in Backlog, and the card was not moved.
        let closed = seen("Backlog", Some("COMPLETED"));
        let shown = "closed=t1 card=t1 Backlog";
        assert_eq!(read(closed, "Done", shown), "Done");
        assert_eq!(read(seen("Backlog", None), "Done", shown), "Backlog");
        assert_eq!(read(Seen { option: Some("In Review"), chosen: Some("t2"), ..closed }, "Done", shown), "In Review");
        assert_eq!(read(Seen { option: Some("Done"), chosen: Some("t2"), ..closed }, "Done", shown), "Done");
        // Its card was dragged out of Done, ralph opened it, and somebody closed it before ralph recorded that.
        let again = Seen { closed_at: Some("t2"), ..seen("In Review", Some("NOT_PLANNED")) };
        assert_eq!(read(again, "In Review", "closed=t1 card=t1 In Review"), "Canceled");
        assert_eq!(read(seen("In Review", Some("COMPLETED")), "In Review", "closed=t1 card=t1 In Review"), "In Review");
        // Its card was dragged to Done, and the issue was not closed yet.
        assert_eq!(read(seen("Done", None), "Done", "open card=t1 Done"), "Done");
        assert_eq!(read(seen("Done", Some("COMPLETED")), "Done", "open card=t1 Done"), "Done");
        for text in ["open", shown, "open card=t1 In Review", "closed=t1"] {
            assert_eq!(Shown::parse(text).to_string(), text);
        }
        assert_eq!(Shown::unlike(&flow, &StateName::new("Done"), seen("Done", Some("COMPLETED"))), None);
    }

    #[test]
    fn closing_and_reopening_an_issue_moves_the_task() {
        assert_eq!(state("In Progress", Some("COMPLETED"), "In Progress"), "Done");
        assert_eq!(state("In Progress", Some("NOT_PLANNED"), "In Progress"), "Canceled");
        assert_eq!(state("In Progress", Some("DUPLICATE"), "In Progress"), "Canceled");
        assert_eq!(state("Done", Some("NOT_PLANNED"), "Done"), "Canceled");
        assert_eq!(state("Canceled", Some("DUPLICATE"), "Canceled"), "Canceled");
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
            let seen = seen(&shown.option, shown.closed);
            for base in flow.states() {
                assert_eq!(read(&flow, seen, Some(&base.name), None), state.name, "from {}", base.name);
            }
        }
        assert_eq!(Representation::of(&flow, &StateName::new("Canceled")).closed, Some("NOT_PLANNED"));
    }
}

//! A person's move outside the workflow: it is allowed, and reported.

use super::case::Case;
use crate::board::Refusal;
use crate::task::StateName;
use crate::workflow::Command;

/// What is unusual about a person's move outside the workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Why a worker would have been refused.
    pub reason: Refusal,
    /// States of the pipeline that are skipped.
    pub skipped: Vec<StateName>,
}

impl std::fmt::Display for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = || self.skipped.iter().map(StateName::as_str).collect::<Vec<_>>().join(", ");
        match (&self.reason, self.skipped.is_empty()) {
            (Refusal::NotAllowed { from, to, .. }, true) => write!(f, "the workflow has no move from {from} to {to}"),
            (Refusal::NotAllowed { .. } | Refusal::NotClaimed { .. } | Refusal::NotStart { .. }, false) => {
                write!(f, "skips {}", names())
            }
            (reason, true) => write!(f, "{reason}"),
            (reason, false) => write!(f, "{reason}; skips {}", names()),
        }
    }
}

impl Case<'_> {
    /// Whether this is refused even to a person, because it would harm another worker.
    pub(super) fn harms(refusal: &Refusal) -> bool {
        matches!(refusal, Refusal::Blocked { .. } | Refusal::Held { .. } | Refusal::Lost { .. })
    }

    /// Whether a person only skips the claim of a command: the command leads from here to `to`, needs no document and merges, as
    /// from Todo to Done. People need no claim.
    pub(super) fn only_skips_a_claim(&self, to: &StateName) -> bool {
        let passes = |command: &Command| {
            let (starts, ends) = (command.from.contains(&self.task.state), command.complete.as_ref() == Some(to));
            starts && ends && command.merges && command.lock.is_some() && command.needs.is_empty()
        };
        self.rules.flow.commands().iter().any(passes)
    }

    pub(super) fn departure(&self, reason: Refusal, to: &StateName) -> Departure {
        let flow = &self.rules.flow;
        let states = flow.states_of(self.task.kind);
        let place = |name: &StateName| states.iter().position(|state| state.name == *name && !state.off);
        let between = match (place(&self.task.state), place(to)) {
            (Some(from), Some(to)) if from < to => &states[from + 1..to],
            _ => &[],
        };
        let skipped =
            between.iter().filter(|state| !state.lock && !state.off).map(|state| state.name.clone()).collect();
        Departure { reason, skipped }
    }
}

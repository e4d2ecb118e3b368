//! The meaning of a state for its tasks, independent of its name.

use serde::Serialize;

use super::{State, Workflow};
use crate::task::{Kind, StateName};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// Work can start.
    #[default]
    Waiting,
    /// A plan or finished work is in review.
    Review,
    /// A worker works on them.
    Working,
    /// They were handed to a person.
    Person,
    Done,
    Canceled,
}

impl Workflow {
    pub fn meaning(&self, state: &State) -> Meaning {
        if state.terminal {
            let canceled = self.canceling() == Some(&state.name) && self.closing() != Some(&state.name);
            return if canceled { Meaning::Canceled } else { Meaning::Done };
        }
        match (state.lock, self.escalation() == Some(&state.name)) {
            (_, true) => Meaning::Person,
            (true, false) => Meaning::Working,
            (false, false) if state.human => Meaning::Review,
            (false, false) => Meaning::Waiting,
        }
    }

    /// The meaning of a state by its name. An unknown state needs a person.
    pub fn meaning_of(&self, kind: Kind, name: &StateName) -> Meaning {
        self.state(kind, name).map_or(Meaning::Person, |state| self.meaning(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_mean_what_their_flags_say() {
        let flow = Workflow::builtin();
        let meaning = |name: &str| flow.meaning_of(Kind::Issue, &StateName::new(name));
        for (name, expected) in [
            ("Backlog", Meaning::Waiting),
            ("Plan in Review", Meaning::Review),
            ("In Review", Meaning::Review),
            ("Plan in Progress", Meaning::Working),
            ("Human Needed", Meaning::Person),
            ("Nonsense", Meaning::Person),
            ("Done", Meaning::Done),
            ("Canceled", Meaning::Canceled),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
        assert_eq!(flow.meaning_of(Kind::Step, &StateName::new("Completed")), Meaning::Done);
    }
}

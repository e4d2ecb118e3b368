//! The workflow as data: states and roles, read from one TOML table that is compiled in or replaced by the board's own.

mod load;

use crate::task::{Kind, StateName, Worker};

pub use load::WorkflowError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub name: String,
    initial: StateName,
    states: Vec<State>,
    steps: Vec<State>,
    roles: Vec<Role>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub name: StateName,
    pub lock: bool,
    pub terminal: bool,
    pub human: bool,
    pub gate: bool,
    /// Beside the pipeline: it has no place in the order.
    pub off: bool,
    pub intake: Vec<String>,
    pub github: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    pub limit: usize,
    pub hands_off: Option<StateName>,
}

impl Workflow {
    /// The one that ralph ships.
    pub fn builtin() -> Self {
        Self::parse(load::BUILTIN).expect("the embedded workflow is checked by a test")
    }

    pub fn initial(&self, kind: Kind) -> &StateName {
        match kind {
            Kind::Step => &self.steps[0].name,
            Kind::Issue | Kind::Epic => &self.initial,
        }
    }

    /// In the order of the pipeline, those beside it last.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    pub fn states_of(&self, kind: Kind) -> &[State] {
        match kind {
            Kind::Step => &self.steps,
            Kind::Issue | Kind::Epic => &self.states,
        }
    }

    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    pub fn state(&self, kind: Kind, name: &StateName) -> Option<&State> {
        self.states_of(kind).iter().find(|state| state.name == *name)
    }

    /// Where a state stands in its table: the order to sort by; unknown ones come last.
    pub fn position(&self, kind: Kind, name: &StateName) -> usize {
        let states = self.states_of(kind);
        states.iter().position(|state| state.name == *name).unwrap_or(states.len())
    }

    pub fn is_terminal(&self, kind: Kind, name: &StateName) -> bool {
        self.state(kind, name).is_some_and(|state| state.terminal)
    }

    /// The state of that spelling, in any case, with `-` or `_` for blanks, or the only one that starts so.
    pub fn find_state(&self, kind: Kind, typed: &str) -> Result<&State, WorkflowError> {
        let wanted = fold(typed);
        let states = self.states_of(kind);
        if let Some(exact) = states.iter().find(|state| fold(state.name.as_str()) == wanted) {
            return Ok(exact);
        }
        let starting: Vec<&State> =
            states.iter().filter(|state| fold(state.name.as_str()).starts_with(&wanted)).collect();
        match starting.as_slice() {
            [one] if !wanted.is_empty() => Ok(one),
            _ => Err(self.no_such_state(kind, typed, &starting)),
        }
    }

    fn no_such_state(&self, kind: Kind, typed: &str, starting: &[&State]) -> WorkflowError {
        let all = self.states_of(kind);
        let names = |states: &[&State]| states.iter().map(|s| s.name.to_string()).collect::<Vec<_>>().join(", ");
        let near = all.iter().max_by(|a, b| {
            let score = |s: &State| strsim::jaro_winkler(&fold(typed), &fold(s.name.as_str()));
            score(a).total_cmp(&score(b))
        });
        WorkflowError::NoSuchState {
            typed: typed.to_owned(),
            meant: if starting.is_empty() {
                near.map(|s| s.name.to_string()).unwrap_or_default()
            } else {
                names(starting)
            },
            all: names(&all.iter().collect::<Vec<_>>()),
        }
    }

    /// The role that a worker's name says it has; a person has none.
    pub fn role_of(&self, worker: &Worker) -> Option<&Role> {
        self.role(worker.stem())
    }

    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name.eq_ignore_ascii_case(name))
    }
}

fn fold(text: &str) -> String {
    text.trim().chars().map(|c| if c == '-' || c == '_' { ' ' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_may_be_typed_carelessly() {
        let flow = Workflow::builtin();
        let found = |typed: &str| flow.find_state(Kind::Issue, typed).map(|s| s.name.to_string());
        for typed in ["Ready for Plan", "ready-for-plan", "READY_FOR", " ready"] {
            assert_eq!(found(typed).unwrap(), "Ready for Plan", "{typed}");
        }
        assert_eq!(found("in progress").unwrap(), "In Progress");
    }

    #[test]
    fn an_ambiguous_or_unknown_state_lists_what_was_meant() {
        let flow = Workflow::builtin();
        let error = flow.find_state(Kind::Issue, "plan").unwrap_err().to_string();
        assert!(error.contains("Plan in Progress, Plan in Review"), "{error}");
        let error = flow.find_state(Kind::Issue, "Bakclog").unwrap_err().to_string();
        assert!(error.contains("did you mean Backlog"), "{error}");
        assert!(flow.find_state(Kind::Issue, "").is_err());
    }

    #[test]
    fn steps_have_their_own_states() {
        let flow = Workflow::builtin();
        assert_eq!(flow.initial(Kind::Step).as_str(), "Pending");
        assert!(flow.is_terminal(Kind::Step, &StateName::new("Completed")));
        assert!(flow.find_state(Kind::Issue, "Pending").is_err());
    }
}

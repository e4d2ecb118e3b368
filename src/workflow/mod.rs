//! The workflow as data: states, commands, intents and roles, from the built-in TOML table or from one that the board has
//! instead.

mod command;
mod convert;
mod load;
mod meaning;

use crate::task::{Kind, StateName, Worker};

pub use command::{Command, Intent, ReviewMode, Sizes, plain_command};
pub use load::{TABLES, WorkflowError};
pub use meaning::Meaning;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub name: String,
    initial: StateName,
    states: Vec<State>,
    steps: Vec<State>,
    roles: Vec<Role>,
    commands: Vec<Command>,
    /// The states that closing, canceling and escalating lead to.
    targets: [Option<StateName>; 3],
    /// Whether it replaces a table that cannot be parsed, so that its states may be wrong.
    pub is_guess: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub name: StateName,
    pub lock: bool,
    pub terminal: bool,
    pub human: bool,
    pub gate: bool,
    /// Outside the pipeline, without a position in its order.
    pub off: bool,
    /// The state to which a release moves a task from this lock state.
    pub release: Option<StateName>,
    /// The state that a person's plain claim leads to.
    pub claim: Option<StateName>,
    /// States to which a person can move a task within the workflow, in addition to those of the commands.
    pub leave: Vec<StateName>,
    pub phase: Option<Phase>,
    pub github: Option<String>,
}

/// The phases of the pipeline, in order; in the last two, nothing is left to do for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Split,
    Triage,
    Research,
    Plan,
    Review,
    Implement,
    Integrate,
    Human,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    pub limit: usize,
    pub hands_off: Option<StateName>,
}

impl Workflow {
    /// The workflow that ralph ships as default.
    pub fn builtin() -> Self {
        Self::parse(load::BUILTIN).expect("the embedded workflow is checked by a test")
    }

    /// The replacement for a table that cannot be parsed.
    pub fn guessed() -> Self {
        Self { is_guess: true, ..Self::builtin() }
    }

    /// A workflow that ralph ships, by its name.
    pub fn shipped(name: &str) -> Option<Self> {
        let table = TABLES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        Some(Self::parse(table.2).expect("the embedded workflows are checked by a test"))
    }

    pub fn initial(&self, kind: Kind) -> &StateName {
        match kind {
            Kind::Step => &self.steps[0].name,
            Kind::Issue | Kind::Epic => &self.initial,
        }
    }

    /// The states in the order of the pipeline, followed by those outside of it.
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

    /// The position of a state in its table, to sort by; unknown states come last.
    pub fn position(&self, kind: Kind, name: &StateName) -> usize {
        let states = self.states_of(kind);
        states.iter().position(|state| state.name == *name).unwrap_or(states.len())
    }

    pub fn is_terminal(&self, kind: Kind, name: &StateName) -> bool {
        self.state(kind, name).is_some_and(|state| state.terminal)
    }

    /// The state with this name, in any case and with `-` or `_` for spaces, or the only one whose name begins with it.
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
        let score = |s: &State| strsim::jaro_winkler(&fold(typed), &fold(s.name.as_str()));
        let near = all.iter().max_by(|a, b| score(a).total_cmp(&score(b))).filter(|state| score(state) > 0.8);
        WorkflowError::NoSuchState {
            typed: typed.to_owned(),
            meant: if starting.is_empty() { near.map(|s| s.name.to_string()) } else { Some(names(starting)) },
            all: names(&all.iter().collect::<Vec<_>>()),
        }
    }

    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    pub fn command(&self, name: &str) -> Result<&Command, WorkflowError> {
        let found = self.commands.iter().find(|command| command.name.eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| WorkflowError::NoSuchCommand {
            typed: name.to_owned(),
            all: self.commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The same, for any name that skills use.
    pub fn find_command(&self, typed: &str) -> Result<&Command, WorkflowError> {
        self.command(typed).or_else(|unknown| self.command(&plain_command(typed)).map_err(|_| unknown))
    }

    /// The commands that a role can run.
    pub fn commands_of(&self, role: &str, mode: ReviewMode) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(move |command| command.is_for(role, mode))
    }

    /// The command that `ralph merge` completes; in older tables, it is the one named `merge`.
    pub fn merging(&self) -> Option<&Command> {
        self.commands.iter().find(|command| command.merges).or_else(|| self.command("merge").ok())
    }

    /// Reserves the merge command for people, if it is a command of its own: where `implement` merges, no state is for review.
    pub fn reserve_merging(&mut self) {
        let merging = self.merging().filter(|command| !command.worktree).map(|command| command.name.clone());
        for command in self.commands.iter_mut().filter(|command| Some(&command.name) == merging.as_ref()) {
            command.people = true;
        }
    }

    pub fn escalation(&self) -> Option<&StateName> {
        self.targets[2].as_ref()
    }

    pub fn closing(&self) -> Option<&StateName> {
        self.targets[0].as_ref()
    }

    pub fn canceling(&self) -> Option<&StateName> {
        self.targets[1].as_ref()
    }

    /// Whether a role takes work from a state.
    pub fn takes(&self, role: &str, state: &State, mode: ReviewMode) -> bool {
        self.commands_of(role, mode).any(|command| command.takes(state, mode))
    }

    /// Whether any role takes work from a state.
    pub fn is_intake(&self, state: &State, mode: ReviewMode) -> bool {
        if self.commands.is_empty() {
            return !state.terminal && !state.lock;
        }
        self.commands.iter().any(|command| command.takes(state, mode))
    }

    /// The role in a worker's name; a person has none.
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

    #[test]
    fn a_suggestion_is_made_only_for_a_near_spelling() {
        let flow = Workflow::builtin();
        let meant = |typed: &str| match flow.find_state(Kind::Issue, typed) {
            Err(WorkflowError::NoSuchState { meant, .. }) => meant,
            other => panic!("{other:?}"),
        };
        assert_eq!(meant("Cancelled").as_deref(), Some("Canceled"));
        assert_eq!(meant("in_revue").as_deref(), Some("In Review"));
        assert_eq!(meant("zzz"), None);
        assert_eq!(meant("research").as_deref(), Some("Research Needed, Research in Progress"));
    }

    #[test]
    fn states_stand_in_the_order_of_their_table_and_unknown_ones_last() {
        let flow = Workflow::builtin();
        for kind in [Kind::Issue, Kind::Epic, Kind::Step] {
            for (place, state) in flow.states_of(kind).iter().enumerate() {
                assert_eq!(flow.position(kind, &state.name), place);
                assert_eq!(flow.state(kind, &state.name), Some(state));
                assert_eq!(flow.is_terminal(kind, &state.name), state.terminal);
            }
            let nowhere = StateName::new("Nowhere");
            assert_eq!(flow.position(kind, &nowhere), flow.states_of(kind).len());
            assert!(flow.state(kind, &nowhere).is_none() && !flow.is_terminal(kind, &nowhere));
        }
        assert_eq!(flow.initial(Kind::Epic).as_str(), "Backlog");
    }

    #[test]
    fn a_command_is_found_by_its_name_or_a_skills_name_for_it() {
        let flow = Workflow::builtin();
        let found = |typed: &str| flow.find_command(typed).map(|command| command.name.as_str());
        for (typed, name) in [("plan", "plan"), (" PLAN ", "plan"), ("ralph-impl", "implement"), ("pr", "pr")] {
            assert_eq!(found(typed), Ok(name));
        }
        assert!(flow.command("ralph-impl").is_err(), "only the plain name is the workflow's");
        let error = found("ralph_fry").unwrap_err().to_string();
        assert!(error.starts_with(r#""ralph_fry" is not a command: use triage, split,"#), "{error}");
    }

    #[test]
    fn roles_run_their_own_commands_and_take_work_where_those_start() {
        let flow = Workflow::builtin();
        let commands = |role: &str, mode| -> Vec<&str> {
            flow.commands_of(role, mode).map(|command| command.name.as_str()).collect()
        };
        assert_eq!(commands("analyst", ReviewMode::Skip), ["triage", "split", "research"]);
        assert_eq!(commands("builder", ReviewMode::Skip), ["plan", "review", "implement"]);
        assert_eq!(commands("builder", ReviewMode::Interactive), ["plan", "implement"]);
        assert_eq!(commands("validator", ReviewMode::Interactive), ["review"]);
        assert_eq!(commands("cook", ReviewMode::Skip), [""; 0]);
        let taken = |role: &str| -> Vec<&str> {
            let states = flow.states().iter().filter(|state| flow.takes(role, state, ReviewMode::Skip));
            states.map(|state| state.name.as_str()).collect()
        };
        assert_eq!(taken("analyst"), ["Backlog", "Research Needed"]);
        assert_eq!(taken("builder"), ["Ready for Plan", "Plan in Review", "In Progress"]);
        assert_eq!(taken("integrator"), ["In Review"]);
    }

    #[test]
    fn intake_is_where_a_command_starts_or_without_commands_any_state_that_is_neither_locked_nor_terminal() {
        let intake = |flow: &Workflow| -> Vec<String> {
            let states = flow.states().iter().filter(|state| flow.is_intake(state, ReviewMode::Skip));
            states.map(|state| state.name.to_string()).collect()
        };
        assert_eq!(
            intake(&Workflow::builtin()),
            ["Backlog", "Research Needed", "Ready for Plan", "Plan in Review", "In Progress", "In Review"]
        );
        let plain = "format = 1\nname = \"plain\"\ninitial = \"Todo\"\n[[state]]\nname = \"Todo\"\n\
                     [[state]]\nname = \"Doing\"\nlock = true\n[[state]]\nname = \"Done\"\nterminal = true\n";
        assert_eq!(intake(&Workflow::parse(plain).unwrap()), ["Todo"]);
    }

    #[test]
    fn a_workers_name_says_its_role_in_any_case_and_a_persons_says_none() {
        let flow = Workflow::builtin();
        let role = |name: &str| flow.role_of(&Worker::new(name).unwrap()).map(|role| role.name.as_str());
        for (name, expected) in [
            ("builder", Some("builder")),
            ("Builder-12", Some("builder")),
            ("analyst@claude-code-7", Some("analyst")),
            ("anna", None),
            ("builders", None),
            ("builder-x", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }

    #[test]
    fn closing_canceling_and_escalating_lead_where_the_workflow_says() {
        let flow = Workflow::builtin();
        let targets = [flow.closing(), flow.canceling(), flow.escalation()];
        assert_eq!(targets.map(|state| state.unwrap().as_str()), ["Done", "Canceled", "Human Needed"]);
    }
}

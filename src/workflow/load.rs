//! Parses a workflow table, and refuses one that could not work.

use std::collections::HashSet;

use serde::Deserialize;

use super::{Command, Phase, ReviewMode, Role, Sizes, State, Workflow};
use crate::task::{Kind, StateName};

pub(super) const BUILTIN: &str = include_str!("tables/full.toml");

/// The shipped workflows: name, description and table.
pub const TABLES: [(&str, &str, &str); 3] = [
    ("simple", "Todo, Doing, Done", include_str!("tables/simple.toml")),
    ("lite", "Intake, Backlog, In Progress, In Review, Done, Canceled, Human Needed", include_str!("tables/lite.toml")),
    ("full", "eleven states: triage, research, plan, review, implement, merge; the default", BUILTIN),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    #[error("{message}")]
    Syntax { message: String, offset: usize },
    #[error("{message}")]
    Inconsistent {
        message: String,
        /// The wrong value in the table, if the error is about one.
        value: Option<String>,
    },
    #[error("unknown format {0}: this version of ralph reads format 1")]
    Format(u32),
    #[error("{typed:?} is not a state: {}use one of {all}", meant.as_ref().map(|m| format!("did you mean {m}? ")).unwrap_or_default())]
    NoSuchState { typed: String, meant: Option<String>, all: String },
    #[error("{typed:?} is not a command: use {all}")]
    NoSuchCommand { typed: String, all: String },
}

/// The format of a table if this version of ralph does not support it.
fn other_format(text: &str) -> Option<u32> {
    let table: toml::Table = text.parse().ok()?;
    table.get("format")?.as_integer().and_then(|format| u32::try_from(format).ok()).filter(|format| *format != 1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    format: u32,
    name: String,
    initial: String,
    #[serde(rename = "state")]
    states: Vec<StateRow>,
    #[serde(rename = "role", default)]
    roles: Vec<RoleRow>,
    #[serde(rename = "step", default)]
    steps: Vec<StateRow>,
    #[serde(rename = "command", default)]
    commands: Vec<CommandRow>,
    #[serde(default)]
    targets: TargetRow,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct TargetRow {
    close: Option<String>,
    cancel: Option<String>,
    escalate: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandRow {
    name: String,
    #[serde(default)]
    roles: Vec<String>,
    interactive: Option<String>,
    modes: Option<Vec<String>>,
    #[serde(default)]
    from: Vec<String>,
    lock: Option<String>,
    complete: Option<String>,
    #[serde(default)]
    ends: Vec<String>,
    #[serde(default)]
    small_ends: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    yields: Vec<String>,
    yields_in: Option<Vec<String>>,
    stay: Option<String>,
    iterate: Option<String>,
    back: Option<String>,
    #[serde(default)]
    worktree: bool,
    #[serde(default)]
    merges: bool,
    #[serde(default)]
    blocked: bool,
    #[serde(default)]
    sizes: Sizes,
    #[serde(default)]
    group: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRow {
    name: String,
    #[serde(default)]
    lock: bool,
    #[serde(default)]
    terminal: bool,
    #[serde(default)]
    human: bool,
    #[serde(default)]
    gate: bool,
    #[serde(default)]
    off: bool,
    release: Option<String>,
    claim: Option<String>,
    #[serde(default)]
    leave: Vec<String>,
    phase: Option<Phase>,
    github: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleRow {
    name: String,
    #[serde(default = "one")]
    limit: usize,
    hands_off: Option<String>,
}

fn one() -> usize {
    1
}

impl WorkflowError {
    fn inconsistent(message: String, value: Option<&str>) -> Self {
        Self::Inconsistent { message, value: value.filter(|value| !value.is_empty()).map(str::to_owned) }
    }
}

impl Workflow {
    pub fn parse(text: &str) -> Result<Self, WorkflowError> {
        let table: Table = toml::from_str(text).map_err(|error| match other_format(text) {
            // A newer table may have keys that this version does not know.
            Some(format) => WorkflowError::Format(format),
            None => WorkflowError::Syntax {
                message: error.message().to_owned(),
                offset: error.span().map_or(0, |span| span.start),
            },
        })?;
        let steps = if table.steps.is_empty() { builtin_steps()? } else { table.steps };
        let TargetRow { close, cancel, escalate } = table.targets;
        let commands = table.commands.into_iter().map(Command::try_from).collect::<Result<_, _>>()?;
        let flow = Self {
            commands,
            targets: [close, cancel, escalate].map(|name| name.map(StateName::new)),
            is_guess: false,
            name: table.name,
            initial: StateName::new(table.initial),
            states: table.states.into_iter().map(State::from).collect(),
            steps: steps.into_iter().map(State::from).collect(),
            roles: table.roles.into_iter().map(Role::from).collect(),
        };
        flow.check(table.format)?;
        Ok(flow)
    }

    fn check(&self, format: u32) -> Result<(), WorkflowError> {
        let wrong = |value: &str, message: String| Err(WorkflowError::inconsistent(message, Some(value)));
        if format != 1 {
            return Err(WorkflowError::Format(format));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.states.iter().find(|s| !seen.insert(&s.name)) {
            return wrong(twice.name.as_str(), format!("state {:?} is defined twice", twice.name.as_str()));
        }
        if !seen.contains(&self.initial) {
            return wrong(
                self.initial.as_str(),
                format!("initial = {:?} is not one of the states", self.initial.as_str()),
            );
        }
        if !self.states.iter().any(|s| s.terminal) {
            return wrong("", "no state is terminal, so no task could ever be finished".into());
        }
        let role = |name: &String| self.role(name).is_none();
        if let Some((command, name)) =
            self.commands.iter().find_map(|c| Some((c, c.roles.iter().chain(&c.interactive).find(|r| role(r))?)))
        {
            return wrong(name, format!("command {:?} is for the role {name:?}, which is not defined", command.name));
        }
        let handed = self.roles.iter().filter_map(|r| r.hands_off.as_ref());
        let stated = self.states.iter().flat_map(|s| s.release.iter().chain(&s.claim).chain(&s.leave));
        let commanded = self.commands.iter().flat_map(Command::states);
        let mut named = handed.chain(stated).chain(commanded).chain(self.targets.iter().flatten());
        match named.find(|state| !seen.contains(state)) {
            Some(state) => wrong(state.as_str(), format!("{:?} is not one of the states", state.as_str())),
            None => self.check_back(),
        }
    }

    /// Refuses a state for returned work from which no command starts.
    fn check_back(&self) -> Result<(), WorkflowError> {
        let is_taken = |state: &&StateName| {
            let stays = self.state(Kind::Issue, state).is_some_and(|state| state.release.is_none());
            self.commands
                .iter()
                .any(|command| command.from.contains(state) || (command.lock.as_ref() == Some(*state) && stays))
        };
        let lost = self.commands.iter().filter_map(|command| command.back.as_ref()).find(|state| !is_taken(state));
        lost.map_or(Ok(()), |state| {
            let message = format!("back = {:?}: no command starts from this state", state.as_str());
            Err(WorkflowError::inconsistent(message, Some(state.as_str())))
        })
    }
}

/// The states of steps, which a board keeps even if it replaces the states of tasks.
fn builtin_steps() -> Result<Vec<StateRow>, WorkflowError> {
    let table: Table =
        toml::from_str(BUILTIN).map_err(|e| WorkflowError::inconsistent(e.message().to_owned(), None))?;
    Ok(table.steps)
}

impl From<StateRow> for State {
    fn from(row: StateRow) -> Self {
        let StateRow { name, lock, terminal, human, gate, off, release, claim, leave, phase, github } = row;
        let [release, claim] = [release, claim].map(|name| name.map(StateName::new));
        let leave = leave.into_iter().map(StateName::new).collect();
        Self { name: StateName::new(name), lock, terminal, human, gate, off, release, claim, leave, phase, github }
    }
}

impl TryFrom<CommandRow> for Command {
    type Error = WorkflowError;
    fn try_from(row: CommandRow) -> Result<Self, WorkflowError> {
        let states = |names: Vec<String>| names.into_iter().map(StateName::new).collect();
        Ok(Self {
            name: row.name,
            roles: row.roles,
            interactive: row.interactive,
            modes: modes(row.modes)?,
            from: states(row.from),
            lock: row.lock.map(StateName::new),
            complete: row.complete.map(StateName::new),
            ends: states(row.ends),
            small_ends: states(row.small_ends),
            needs: row.needs,
            worktree: row.worktree,
            merges: row.merges,
            people: false,
            back: row.back.map(StateName::new),
            yields: row.yields,
            yields_in: modes(row.yields_in)?,
            stay: row.stay,
            iterate: row.iterate.map(StateName::new),
            on_blocked: row.blocked,
            sizes: row.sizes,
            group: row.group,
        })
    }
}

/// The named review modes, or all if none are named.
fn modes(named: Option<Vec<String>>) -> Result<Vec<ReviewMode>, WorkflowError> {
    let Some(named) = named else { return Ok(ReviewMode::ALL.to_vec()) };
    let parsed: Result<Vec<ReviewMode>, _> = named.iter().map(|mode| mode.parse()).collect();
    parsed.map_err(|error| WorkflowError::inconsistent(error.to_string(), Some(&error.text)))
}

impl From<RoleRow> for Role {
    fn from(row: RoleRow) -> Self {
        Self { name: row.name, limit: row.limit, hands_off: row.hands_off.map(StateName::new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "format = 1\nname = \"plain\"\ninitial = \"Todo\"\n[[state]]\nname = \"Todo\"\n[[state]]\nname = \"Done\"\nterminal = true\n";

    #[test]
    fn the_embedded_workflow_has_the_eleven_states_in_order() {
        let flow = Workflow::parse(BUILTIN).unwrap();
        let names: Vec<_> = flow.states().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names.len(), 11);
        assert_eq!((names[0], names[8], names[10]), ("Backlog", "Done", "Human Needed"));
        assert_eq!(flow.roles().iter().map(|r| r.limit).collect::<Vec<_>>(), [3, 3, 1, 1]);
    }

    #[test]
    fn a_plain_board_loads_and_keeps_the_steps() {
        assert_eq!(Workflow::parse(PLAIN).unwrap().steps.len(), 3);
    }

    #[test]
    fn a_workflow_that_could_not_work_is_refused_with_the_reason() {
        let error = |text: &str| Workflow::parse(text).unwrap_err().to_string();
        assert!(error(&PLAIN.replace("initial = \"Todo\"", "initial = \"Nope\"")).contains("initial"));
        assert!(error(&PLAIN.replace("terminal = true", "")).contains("terminal"));
        assert!(error(&PLAIN.replace("\"Done\"", "\"Todo\"")).contains("twice"));
        assert!(
            error(
                &PLAIN.replace("terminal = true", "terminal = true\n[[command]]\nname = \"fry\"\nroles = [\"cook\"]\n")
            )
            .contains("cook")
        );
        assert!(error(&PLAIN.replace("terminal", "termnal")).contains("termnal"));
        assert!(error(&PLAIN.replace("terminal = true", "terminal = true\nleave = [\"Nowhere\"]")).contains("Nowhere"));
        assert!(error(&PLAIN.replace("format = 1", "format = 2")).contains("format 2"));
    }

    #[test]
    fn a_state_that_is_named_anywhere_must_exist() {
        let command = |key: &str| format!("{PLAIN}[[command]]\nname = \"do\"\n{key}\n");
        let state = |key: &str| format!("{PLAIN}{key}\n");
        for text in [
            command("from = [\"Nowhere\"]"),
            command("lock = \"Nowhere\""),
            command("complete = \"Nowhere\""),
            command("ends = [\"Nowhere\"]"),
            command("small_ends = [\"Nowhere\"]"),
            command("iterate = \"Nowhere\""),
            command("from = [\"Done\"]\nback = \"Nowhere\""),
            state("release = \"Nowhere\""),
            state("claim = \"Nowhere\""),
            state("[[role]]\nname = \"cook\"\nhands_off = \"Nowhere\""),
            state("[targets]\nclose = \"Nowhere\""),
            state("[targets]\ncancel = \"Nowhere\""),
            state("[targets]\nescalate = \"Nowhere\""),
        ] {
            let error = Workflow::parse(&text).unwrap_err().to_string();
            assert_eq!(error, r#""Nowhere" is not one of the states"#, "{text}");
            assert!(Workflow::parse(&text.replace("Nowhere", "Done")).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_role_that_a_command_names_must_exist() {
        for key in ["roles = [\"cook\"]", "interactive = \"cook\""] {
            let text = format!("{PLAIN}[[command]]\nname = \"fry\"\n{key}\n");
            let error = Workflow::parse(&text).unwrap_err().to_string();
            assert_eq!(error, r#"command "fry" is for the role "cook", which is not defined"#, "{key}");
            let role = "[[role]]\nname = \"cook\"\n";
            assert_eq!(Workflow::parse(&format!("{text}{role}")).unwrap().roles()[0].limit, 1, "one unless it says so");
        }
    }

    #[test]
    fn a_review_mode_that_does_not_exist_is_refused() {
        for key in ["modes", "yields_in"] {
            let text = format!("{PLAIN}[[command]]\nname = \"do\"\n{key} = [\"always\"]\n");
            let error = Workflow::parse(&text).unwrap_err().to_string();
            assert_eq!(error, r#""always" is not a review mode: use skip, auto, interactive"#);
        }
    }

    #[test]
    fn a_syntax_error_says_where_it_is() {
        let text = PLAIN.replace("terminal = true", "terminal = maybe");
        let Err(WorkflowError::Syntax { offset, .. }) = Workflow::parse(&text) else { panic!() };
        assert_eq!(offset, text.find("maybe").unwrap());
    }

    #[test]
    fn a_command_keeps_what_its_row_says_and_is_plain_where_it_says_nothing() {
        let row = "[[command]]\nname = \"do\"\nmodes = [\"auto\"]\nfrom = [\"Todo\"]\nends = [\"Done\"]\nneeds = [\"plan\"]\n\
                   yields = [\"pr\"]\nyields_in = [\"skip\"]\nstay = \"seen\"\nworktree = true\nblocked = true\n\
                   sizes = \"any\"\ngroup = true\n[[command]]\nname = \"plain\"\n";
        let flow = Workflow::parse(&format!("{PLAIN}{row}")).unwrap();
        let [full, plain] = flow.commands() else { panic!() };
        assert_eq!((&full.modes[..], &full.yields_in[..]), (&[ReviewMode::Auto][..], &[ReviewMode::Skip][..]));
        assert_eq!((&full.needs, &full.yields), (&vec!["plan".to_owned()], &vec!["pr".to_owned()]));
        assert_eq!((full.stay.as_deref(), full.sizes), (Some("seen"), Sizes::Any));
        assert!(full.worktree && full.on_blocked && full.group);
        assert_eq!((&plain.modes[..], &plain.yields_in[..]), (&ReviewMode::ALL[..], &ReviewMode::ALL[..]));
        assert_eq!((plain.sizes, plain.from.len(), plain.ends.len()), (Sizes::Small, 0, 0));
        assert!(!plain.worktree && !plain.on_blocked && !plain.group);
    }

    #[test]
    fn a_board_may_have_steps_of_its_own() {
        let steps = "[[step]]\nname = \"Open\"\n[[step]]\nname = \"Shut\"\nterminal = true\n";
        let flow = Workflow::parse(&format!("{PLAIN}{steps}")).unwrap();
        assert_eq!(flow.steps.iter().map(|state| state.name.as_str()).collect::<Vec<_>>(), ["Open", "Shut"]);
    }
}

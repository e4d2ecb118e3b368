//! A command of the workflow: its roles, the states where it starts and ends, and its intents.

use std::str::FromStr;

use super::{State, Workflow};
use crate::task::{ParseError, StateName};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub roles: Vec<String>,
    pub interactive: Option<String>,
    /// The review modes in which it can start from `from`; in other modes, it can only start from its lock state.
    pub modes: Vec<ReviewMode>,
    pub from: Vec<StateName>,
    pub lock: Option<StateName>,
    pub complete: Option<StateName>,
    pub ends: Vec<StateName>,
    /// The ends that are not allowed for large tasks.
    pub small_ends: Vec<StateName>,
    /// The kinds of documents that a task must link before.
    pub needs: Vec<String>,
    /// The kinds of documents that a worker must link to complete the command, or to reject.
    pub yields: Vec<String>,
    /// The review modes in which `yields` applies.
    pub yields_in: Vec<ReviewMode>,
    /// The label for tasks that the command left in their state; it does not start on them again.
    pub stay: Option<String>,
    /// The end that counts as a rejection.
    pub iterate: Option<StateName>,
    /// The end that returns work to be fixed.
    pub back: Option<StateName>,
    /// It runs in the task's own worktree, and its result is commits there.
    pub worktree: bool,
    /// `ralph merge` completes it.
    pub merges: bool,
    /// Only people can run it, whatever its roles are.
    pub people: bool,
    pub on_blocked: bool,
    pub sizes: Sizes,
    /// Runs once for a group, on its primary.
    pub group: bool,
}

/// The names that other tools use for these commands.
const OTHER_NAMES: [(&str, &str); 4] =
    [("impl", "implement"), ("implement_plan", "implement"), ("create_plan", "plan"), ("iterate_plan", "plan")];

/// The command for any name that skills use: `ralph_impl`, `ralph-impl` and `impl` are `implement`.
pub fn plain_command(typed: &str) -> String {
    let name = typed.trim().to_ascii_lowercase().replace('-', "_");
    // Skills can have the name of their plugin as a prefix.
    let name = name.rsplit(':').next().unwrap_or(&name);
    let bare = name.strip_prefix("ralph_").unwrap_or(name);
    let ours = OTHER_NAMES.iter().find(|(other, _)| *other == bare).map(|(_, ours)| *ours);
    ours.unwrap_or(bare).to_owned()
}

/// The sizes of tasks that a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    #[default]
    Small,
    Any,
    /// Only large tasks: the command splits them.
    Oversized,
}

/// Who decides on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewMode {
    /// Plans are not reviewed.
    Skip,
    /// The builder reviews plans, and follows the verdict.
    Auto,
    /// The validator reviews plans, together with a person.
    Interactive,
}

impl ReviewMode {
    pub const ALL: [Self; 3] = [Self::Skip, Self::Auto, Self::Interactive];
}

impl FromStr for ReviewMode {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "skip" => Ok(Self::Skip),
            "auto" => Ok(Self::Auto),
            "interactive" => Ok(Self::Interactive),
            _ => Err(ParseError {
                what: "a review mode",
                text: text.to_owned(),
                allowed: "skip, auto, interactive".into(),
            }),
        }
    }
}

/// A move that is named by its purpose instead of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Lock,
    Complete,
    Escalate,
    Close,
    Cancel,
}

impl Intent {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Lock, "__LOCK__"),
        (Self::Complete, "__COMPLETE__"),
        (Self::Escalate, "__ESCALATE__"),
        (Self::Close, "__CLOSE__"),
        (Self::Cancel, "__CANCEL__"),
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| name.eq_ignore_ascii_case(text.trim())).map(|(intent, _)| *intent)
    }

    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(intent, _)| *intent == self).map_or("", |(_, name)| name)
    }
}

impl Command {
    /// Every state that the command names.
    pub(super) fn states(&self) -> impl Iterator<Item = &StateName> {
        self.from
            .iter()
            .chain(&self.lock)
            .chain(&self.complete)
            .chain(&self.ends)
            .chain(&self.small_ends)
            .chain(&self.iterate)
            .chain(&self.back)
    }

    pub fn is_for(&self, role: &str, mode: ReviewMode) -> bool {
        match &self.interactive {
            _ if self.people => false,
            Some(instead) if mode == ReviewMode::Interactive => instead == role,
            _ => self.roles.iter().any(|name| name == role),
        }
    }

    /// Whether it can start in this state: a start of the command, or its lock state if a release does not leave that.
    pub fn takes(&self, state: &State, mode: ReviewMode) -> bool {
        let starts = self.from.contains(&state.name) && self.modes.contains(&mode);
        starts || (self.lock.as_ref() == Some(&state.name) && state.release.is_none())
    }

    /// The state that an intent leads to; `None` if the command does not have it.
    pub fn intend(&self, intent: Intent, flow: &Workflow) -> Option<StateName> {
        let may_end = |state: &StateName| self.ends.contains(state) || self.complete.as_ref() == Some(state);
        match intent {
            Intent::Lock => self.lock.clone(),
            Intent::Complete => self.complete.clone(),
            Intent::Escalate => flow.escalation().cloned(),
            Intent::Close => flow.closing().filter(|state| may_end(state)).cloned(),
            Intent::Cancel => flow.canceling().filter(|state| may_end(state)).cloned(),
        }
    }

    pub fn intents(&self, flow: &Workflow) -> Vec<&'static str> {
        let all = Intent::ALL.iter().filter(|(intent, _)| self.intend(*intent, flow).is_some());
        all.map(|(_, name)| *name).collect()
    }

    /// The states that it can end in.
    pub fn may_end_in(&self, flow: &Workflow) -> Vec<StateName> {
        let mut states: Vec<StateName> =
            self.complete.iter().chain(&self.ends).chain(flow.escalation()).cloned().collect();
        states.dedup();
        states
    }

    /// Whether the command leads from one state to another.
    ///
    /// A command with a lock state goes through it: from a start it leads to the lock state or to a person, and from the lock
    /// state to its ends. A command without one leads from a start to its ends.
    pub fn leads(&self, from: &StateName, to: &StateName, mode: ReviewMode, flow: &Workflow) -> bool {
        let starts = self.from.contains(from) && self.modes.contains(&mode);
        let locked = self.lock.as_ref() == Some(from);
        let ends = || self.may_end_in(flow).contains(to);
        match &self.lock {
            Some(lock) if starts && !locked => lock == to || flow.escalation() == Some(to),
            Some(lock) => locked && (ends() || lock == to),
            None => starts && ends(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_the_names_that_skills_give_it() {
        for (typed, ours) in [
            ("ralph_research", "research"),
            ("research", "research"),
            (" Ralph-Impl ", "implement"),
            ("impl", "implement"),
            ("ralph-hero:ralph-plan", "plan"),
            ("create_plan", "plan"),
            ("ralph_hero", "hero"),
            ("something", "something"),
        ] {
            assert_eq!(plain_command(typed), ours, "{typed}");
        }
    }

    /// Every move of the built-in commands in the review mode `skip`, apart from escalations.
    const MOVES: [(&str, &str, &[&str]); 11] = [
        ("triage", "Backlog", &["Backlog", "Research Needed", "Ready for Plan", "Done", "Canceled"]),
        ("split", "Backlog", &["Backlog"]),
        ("split", "Research Needed", &["Backlog"]),
        ("research", "Research Needed", &["Research in Progress"]),
        ("research", "Research in Progress", &["Research in Progress", "Ready for Plan"]),
        ("plan", "Ready for Plan", &["Plan in Progress"]),
        ("plan", "Plan in Progress", &["Plan in Progress", "Plan in Review"]),
        ("review", "Plan in Review", &["Ready for Plan", "In Progress"]),
        ("implement", "In Progress", &["In Progress", "In Review"]),
        ("pr", "In Review", &["In Review"]),
        ("merge", "In Review", &["In Progress", "Done"]),
    ];

    #[test]
    fn a_command_leads_into_its_lock_and_from_there_to_its_ends_and_nowhere_else() {
        let flow = Workflow::builtin();
        for mode in ReviewMode::ALL {
            for (command, from, to) in flow.commands().iter().flat_map(|command| {
                let states = || flow.states().iter().map(|state| &state.name);
                states().flat_map(move |from| states().map(move |to| (command, from, to)))
            }) {
                let listed = MOVES.iter().filter(|(name, at, _)| command.name == *name && from.as_str() == *at);
                let mut ends: Vec<&str> = listed.flat_map(|(_, _, ends)| ends.iter().copied()).collect();
                // Without plan review, a plan can be implemented as soon as it is handed in.
                if command.name == "implement" && from.as_str() == "Plan in Review" && mode == ReviewMode::Skip {
                    ends.push("In Progress");
                }
                let escalates = !ends.is_empty() && to.as_str() == "Human Needed";
                let wanted = ends.contains(&to.as_str()) || escalates;
                assert_eq!(command.leads(from, to, mode, &flow), wanted, "{} {from} → {to} in {mode:?}", command.name);
            }
        }
    }

    #[test]
    fn an_intent_means_what_the_command_allows() {
        let flow = Workflow::builtin();
        let means = |command: &str, intent| {
            let found = flow.command(command).unwrap().intend(intent, &flow);
            found.map(StateName::into_string).unwrap_or_default()
        };
        for (command, lock, complete, close, cancel) in [
            ("triage", "", "", "Done", "Canceled"),
            ("split", "", "Backlog", "", ""),
            ("research", "Research in Progress", "Ready for Plan", "", ""),
            ("plan", "Plan in Progress", "Plan in Review", "", ""),
            ("review", "", "In Progress", "", ""),
            ("implement", "In Progress", "In Review", "", ""),
            ("merge", "", "Done", "Done", ""),
        ] {
            let row = [Intent::Lock, Intent::Complete, Intent::Close, Intent::Cancel].map(|i| means(command, i));
            assert_eq!(row, [lock, complete, close, cancel], "{command}");
            assert_eq!(means(command, Intent::Escalate), "Human Needed");
        }
    }

    #[test]
    fn a_command_lists_its_own_intents_and_every_end_once() {
        let flow = Workflow::builtin();
        let command = |name: &str| flow.command(name).unwrap();
        let ends = |name: &str| command(name).may_end_in(&flow).into_iter().map(StateName::into_string);
        assert_eq!(command("triage").intents(&flow), ["__ESCALATE__", "__CLOSE__", "__CANCEL__"]);
        assert_eq!(command("research").intents(&flow), ["__LOCK__", "__COMPLETE__", "__ESCALATE__"]);
        assert_eq!(ends("merge").collect::<Vec<_>>(), ["Done", "In Progress", "Human Needed"]);
        assert_eq!(ends("research").collect::<Vec<_>>(), ["Ready for Plan", "Human Needed"]);
    }

    #[test]
    fn work_is_taken_up_from_a_start_of_this_mode_or_from_a_lock_that_stays() {
        let flow = Workflow::builtin();
        for (command, state, mode, taken) in [
            ("research", "Research Needed", ReviewMode::Auto, true),
            ("research", "Backlog", ReviewMode::Auto, false),
            // A release leaves this lock state, so work starts again before it.
            ("research", "Research in Progress", ReviewMode::Auto, false),
            ("implement", "Plan in Review", ReviewMode::Skip, true),
            ("implement", "Plan in Review", ReviewMode::Auto, false),
            // A release does not leave this lock state.
            ("implement", "In Progress", ReviewMode::Auto, true),
            ("merge", "In Progress", ReviewMode::Skip, false),
        ] {
            let state = flow.state(crate::task::Kind::Issue, &StateName::new(state)).unwrap();
            assert_eq!(flow.command(command).unwrap().takes(state, mode), taken, "{command} {} {mode:?}", state.name);
        }
    }

    #[test]
    fn the_validator_replaces_the_builder_only_where_review_is_interactive() {
        let flow = Workflow::builtin();
        let is_for = |name: &str, role: &str, mode| flow.command(name).unwrap().is_for(role, mode);
        for mode in ReviewMode::ALL {
            let interactive = mode == ReviewMode::Interactive;
            assert_eq!(is_for("review", "validator", mode), interactive, "{mode:?}");
            assert_eq!(is_for("review", "builder", mode), !interactive, "{mode:?}");
            assert!(is_for("plan", "builder", mode) && !is_for("plan", "validator", mode), "{mode:?}");
        }
    }

    #[test]
    fn modes_and_intents_are_read_as_they_are_written() {
        let modes: Vec<ReviewMode> = ["skip", "auto", "interactive"].map(|text| text.parse().unwrap()).to_vec();
        assert_eq!(modes, ReviewMode::ALL);
        let error = "always".parse::<ReviewMode>().unwrap_err();
        assert_eq!(error.to_string(), r#""always" is not a review mode: use skip, auto, interactive"#);
        for (intent, name) in Intent::ALL {
            assert_eq!((intent.as_str(), Intent::parse(&name.to_lowercase())), (name, Some(intent)));
        }
        assert_eq!((Intent::parse(" __LOCK__ "), Intent::parse("lock")), (Some(Intent::Lock), None));
    }
}

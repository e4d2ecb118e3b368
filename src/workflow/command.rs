//! A command of the workflow: who may run it, where it starts, where it may end, and what an intent means to it.

use std::str::FromStr;

use super::{State, Workflow};
use crate::task::{ParseError, StateName};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub roles: Vec<String>,
    pub interactive: Option<String>,
    /// The review modes in which it may start from `from`; elsewhere only from its lock state.
    pub modes: Vec<ReviewMode>,
    pub from: Vec<StateName>,
    pub lock: Option<StateName>,
    pub complete: Option<StateName>,
    pub ends: Vec<StateName>,
    /// Those ends that are not for large tasks.
    pub small_ends: Vec<StateName>,
    /// Kinds of documents that a task must have linked before.
    pub needs: Vec<String>,
    /// Kinds of documents that a worker must have linked when it completes the command, or rejects.
    pub yields: Vec<String>,
    /// The review modes in which it must.
    pub yields_in: Vec<ReviewMode>,
    /// The label of a task that the command left where it was: it is not taken up for it again.
    pub stay: Option<String>,
    /// The end that counts as a rejection.
    pub iterate: Option<StateName>,
    /// The end that sends work back to be mended.
    pub back: Option<StateName>,
    /// It is done in the task's own worktree, and what it leaves are commits there.
    pub worktree: bool,
    pub on_blocked: bool,
    pub sizes: Sizes,
    /// Runs once for a group, on its first member.
    pub group: bool,
}

/// What other tools call our commands.
const OTHER_NAMES: [(&str, &str); 4] =
    [("impl", "implement"), ("implement_plan", "implement"), ("create_plan", "plan"), ("iterate_plan", "plan")];

/// A command by any of the names that skills give it: `ralph_impl`, `ralph-impl` and `impl` are `implement`.
pub fn plain_command(typed: &str) -> String {
    let name = typed.trim().to_ascii_lowercase().replace('-', "_");
    // A skill is called with its plugin's name before it.
    let name = name.rsplit(':').next().unwrap_or(&name);
    let bare = name.strip_prefix("ralph_").unwrap_or(name);
    let ours = OTHER_NAMES.iter().find(|(other, _)| *other == bare).map(|(_, ours)| *ours);
    ours.unwrap_or(bare).to_owned()
}

/// Which sizes of task a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    #[default]
    Small,
    Any,
    /// It makes small ones of large ones.
    Oversized,
}

/// Who decides about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewMode {
    /// The builder passes its own plan on.
    Skip,
    /// The builder reviews, and obeys the verdict.
    Auto,
    /// The validator decides, with a person.
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

/// What a worker wants, whatever the state is called.
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
            Some(instead) if mode == ReviewMode::Interactive => instead == role,
            _ => self.roles.iter().any(|name| name == role),
        }
    }

    /// Whether work in this state can be taken up for it: a start, or its own lock where that stays when nobody holds it.
    pub fn takes(&self, state: &State, mode: ReviewMode) -> bool {
        let starts = self.from.contains(&state.name) && self.modes.contains(&mode);
        starts || (self.lock.as_ref() == Some(&state.name) && state.release.is_none())
    }

    /// What an intent means to this command; `None` where it means nothing.
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

    /// Where it may end, from a start or from its lock.
    pub fn may_end_in(&self, flow: &Workflow) -> Vec<StateName> {
        let mut states: Vec<StateName> =
            self.complete.iter().chain(&self.ends).chain(flow.escalation()).cloned().collect();
        states.dedup();
        states
    }

    /// Whether the command leads from one state to another.
    ///
    /// A command with a lock state takes the lock first: from a start it leads into the lock or to a person, from the lock
    /// to its ends. One without leads from a start to its ends.
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
}

//! Conversion to another workflow: the new state for each old one.

use super::{Phase, State, Workflow};
use crate::task::{Kind, StateName};

impl Workflow {
    /// The state of another workflow for tasks in this state. Finished tasks stay finished, tasks in progress stay in progress, and
    /// a task never counts as further along than it is.
    pub fn counterpart<'t>(&self, from: &StateName, to: &'t Self) -> &'t StateName {
        let Some(state) = self.state(Kind::Issue, from) else {
            return to.state(Kind::Issue, from).map_or(&to.initial, |state| &state.name);
        };
        if Some(from) == self.canceling() {
            return to.canceling().unwrap_or_else(|| to.finish());
        }
        if state.terminal {
            return to
                .state(Kind::Issue, from)
                .filter(|same| same.terminal)
                .map_or_else(|| to.finish(), |same| &same.name);
        }
        if Some(from) == self.escalation() {
            return to.escalation().unwrap_or(&to.initial);
        }
        if *from == self.initial {
            return &to.initial;
        }
        match (state.phase, to.states.iter().any(|other| other.phase.is_some())) {
            (Some(phase), true) => self.by_phase(state, phase, to),
            _ => to.state(Kind::Issue, from).map_or_else(|| to.by_lock(state.lock), |same| &same.name),
        }
    }

    fn by_phase<'t>(&self, state: &State, phase: Phase, to: &'t Self) -> &'t StateName {
        let open = || to.states.iter().filter(|other| !other.terminal && !other.off);
        let alike = |other: &&State| other.phase == Some(phase) && other.lock == state.lock;
        let same = open().filter(alike).find(|other| other.name == state.name).or_else(|| open().find(alike));
        if let Some(same) = same {
            return &same.name;
        }
        // Work in a phase that the other workflow does not have must not count as work on the code.
        if state.lock && phase < Phase::Implement {
            let back = state.release.as_ref().unwrap_or(&self.initial);
            return self.counterpart(back, to);
        }
        if state.lock || phase > Phase::Implement {
            return to.by_lock(true);
        }
        let reached = |other: &&State| !other.lock && !other.human && other.phase.is_some_and(|other| other <= phase);
        open().rfind(reached).map_or(&to.initial, |other| &other.name)
    }

    fn by_lock(&self, lock: bool) -> &StateName {
        let last = self.states.iter().rev().find(|state| lock && state.lock && !state.off);
        last.map_or(&self.initial, |state| &state.name)
    }

    fn finish(&self) -> &StateName {
        let terminal = self.states.iter().find(|state| state.terminal && !state.off);
        self.closing().or(terminal.map(|state| &state.name)).unwrap_or(&self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str) -> Workflow {
        Workflow::shipped(name).unwrap()
    }

    fn mapped(from: &str, to: &str) -> Vec<String> {
        let (from, to) = (flow(from), flow(to));
        from.states().iter().map(|state| from.counterpart(&state.name, &to).to_string()).collect()
    }

    #[test]
    fn a_board_keeps_its_sense_from_each_shipped_workflow_to_each_other() {
        let (todo, doing, done) = ("Todo", "Doing", "Done");
        assert_eq!(mapped("full", "simple"), [todo, todo, todo, todo, todo, todo, doing, doing, done, done, todo]);
        let (intake, human) = ("Intake", "Human Needed");
        assert_eq!(
            mapped("full", "lite"),
            [intake, intake, intake, intake, intake, intake, "In Progress", "In Review", done, "Canceled", human]
        );
        assert_eq!(mapped("simple", "full"), ["Backlog", "In Progress", done]);
        assert_eq!(mapped("simple", "lite"), [intake, "In Progress", done]);
        assert_eq!(
            mapped("lite", "full"),
            ["Backlog", "Ready for Plan", "In Progress", "In Review", done, "Canceled", human]
        );
        assert_eq!(mapped("lite", "simple"), [todo, todo, doing, doing, done, done, todo]);
        for name in ["full", "lite", "simple"] {
            let same: Vec<String> = flow(name).states().iter().map(|state| state.name.to_string()).collect();
            assert_eq!(mapped(name, name), same);
        }
    }

    #[test]
    fn states_without_phases_go_by_their_names() {
        let own = "format = 1\nname = \"own\"\ninitial = \"New\"\n[[state]]\nname = \"New\"\n[[state]]\nname = \"Doing\"\n\
                   lock = true\n[[state]]\nname = \"Odd\"\n[[state]]\nname = \"Shut\"\nterminal = true\n";
        let own = Workflow::parse(own).unwrap();
        let simple = flow("simple");
        let to = |state: &str| own.counterpart(&StateName::new(state), &simple).to_string();
        assert_eq!([to("New"), to("Doing"), to("Odd"), to("Shut")], ["Todo", "Doing", "Todo", "Done"]);
        assert_eq!(to("Nowhere"), "Todo", "a state that neither knows");
    }
}

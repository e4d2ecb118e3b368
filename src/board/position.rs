//! Where a task or its group stands in the pipeline, what remains, and who would be needed.

use serde::Serialize;

use super::{Board, Convergence, Links, Refusal, Rules};
use crate::task::{Task, TaskId};
use crate::workflow::{Phase, ReviewMode};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Position {
    pub phase: Phase,
    pub reason: String,
    pub remaining: Vec<Phase>,
    pub members: Vec<TaskId>,
    pub primary: TaskId,
    pub convergence: Convergence,
    pub roster: Roster,
}

/// How many workers of each role would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Roster {
    pub analyst: usize,
    pub builder: usize,
    pub validator: usize,
    pub integrator: usize,
}

impl Roster {
    pub fn by_role(&self) -> [(&'static str, usize); 4] {
        let Self { analyst, builder, validator, integrator } = *self;
        [("analyst", analyst), ("builder", builder), ("validator", validator), ("integrator", integrator)]
    }
}

const PIPELINE: [Phase; 7] =
    [Phase::Split, Phase::Triage, Phase::Research, Phase::Plan, Phase::Review, Phase::Implement, Phase::Integrate];

impl Board {
    pub fn position(&self, at: usize, rules: &Rules) -> Result<Position, Refusal> {
        let links = Links::new(self);
        let members = self.members(at, &links, rules)?;
        let tasks: Vec<&Task> = members.iter().map(|&at| &self.tasks()[at]).collect();
        let leaf = |place: usize| links.children(members[place]).is_empty();
        let oversized = (0..tasks.len()).any(|n| {
            leaf(n)
                && !self.is_over(tasks[n], rules)
                && tasks[n].estimate.is_some_and(|estimate| estimate.is_oversized())
        });
        let human = tasks.iter().any(|task| Some(&task.state) == rules.flow.escalation());
        let (phase, reason) = if human {
            (Phase::Human, "a person is needed".to_owned())
        } else if tasks.iter().all(|task| self.is_over(task, rules)) {
            (Phase::Done, "everything is finished".to_owned())
        } else if oversized {
            (Phase::Split, "a task of size M or above is not split yet".to_owned())
        } else {
            open_phase(&tasks, rules)
        };
        let convergence = self.meeting(phase, &members, rules);
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
        Ok(Position {
            roster: self.roster(phase, &tasks, rules),
            remaining: remaining(phase, rules.mode),
            phase,
            reason,
            primary: ids[0].clone(),
            members: ids,
            convergence,
        })
    }

    /// Whether the members are together where the phase begins, or where it leads if each goes through it alone.
    fn meeting(&self, phase: Phase, members: &[usize], rules: &Rules) -> Convergence {
        let required = members.len() > 1;
        let states = rules.flow.states();
        let first = states.iter().position(|state| state.phase == Some(phase));
        let gate = first.and_then(|first| {
            states[first..]
                .iter()
                .find(|state| state.gate || (state.lock && state.phase == Some(phase) && states[first].lock))
        });
        match (phase, gate) {
            (Phase::Human, _) => Convergence {
                required,
                met: false,
                waiting_for: self.stuck(members, rules),
                recommendation: "escalate",
            },
            (Phase::Done, _) => Convergence { required, met: true, waiting_for: Vec::new(), recommendation: "proceed" },
            (Phase::Split | Phase::Triage, _) | (_, None) => {
                Convergence { required, met: false, waiting_for: Vec::new(), recommendation: "wait" }
            }
            (_, Some(gate)) => self.converged(members, &gate.name, rules),
        }
    }

    /// The group of a task; of a parent that is no atomic one, its children. Finished members of an atomic parent stay out.
    pub fn members(&self, at: usize, links: &Links<'_>, rules: &Rules) -> Result<Vec<usize>, Refusal> {
        let group = self.group_of(at, links, rules)?;
        if group.is_one() && group.parent.is_none() && !links.children(at).is_empty() {
            return Ok(links.children(at).to_vec());
        }
        Ok(group.members)
    }

    fn is_over(&self, task: &Task, rules: &Rules) -> bool {
        rules.flow.is_terminal(task.kind, &task.state)
    }

    fn stuck(&self, members: &[usize], rules: &Rules) -> Vec<TaskId> {
        let tasks = members.iter().map(|&at| &self.tasks()[at]);
        tasks.filter(|task| Some(&task.state) == rules.flow.escalation()).map(|task| task.id.clone()).collect()
    }

    fn roster(&self, phase: Phase, tasks: &[&Task], rules: &Rules) -> Roster {
        if matches!(phase, Phase::Human | Phase::Done) {
            return Roster::default();
        }
        let to_read =
            tasks.iter().filter(|task| phase_of(task, rules).is_some_and(|phase| phase <= Phase::Research)).count();
        let analyst = analysts_for(to_read);
        let open: Vec<&&Task> = tasks.iter().filter(|task| !self.is_over(task, rules)).collect();
        let grouped = open
            .first()
            .and_then(|task| self.index_of(&task.id))
            .is_some_and(|at| self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic));
        // A group has one worktree; other tasks run side by side where none waits for another.
        let streams = open
            .iter()
            .filter(|task| !task.blocked_by.iter().any(|id| open.iter().any(|other| other.id == *id)))
            .count();
        let builder = if phase == Phase::Integrate {
            0
        } else if grouped {
            1
        } else {
            streams.clamp(1, 3)
        };
        let validator = usize::from(rules.mode == ReviewMode::Interactive && phase <= Phase::Review);
        let most = |role: &str, wanted: usize| wanted.min(rules.limits.get(role).copied().unwrap_or(0));
        Roster {
            analyst: most("analyst", analyst),
            builder: most("builder", builder),
            validator: most("validator", validator),
            integrator: most("integrator", 1),
        }
    }
}

/// How many analysts help with so many tasks that are still to be triaged or researched.
pub(super) fn analysts_for(tasks: usize) -> usize {
    match tasks {
        0 => 0,
        1 => 1,
        2..=5 => 2,
        _ => 3,
    }
}

fn phase_of(task: &Task, rules: &Rules) -> Option<Phase> {
    rules.flow.state(task.kind, &task.state)?.phase
}

/// The least advanced member decides.
fn open_phase(tasks: &[&Task], rules: &Rules) -> (Phase, String) {
    let Some(phase) = tasks.iter().filter_map(|task| phase_of(task, rules)).min() else {
        return (Phase::Implement, "the workflow names no phase for these states".into());
    };
    let there = tasks.iter().filter(|task| phase_of(task, rules) == Some(phase));
    let states: std::collections::BTreeSet<&str> = there.clone().map(|task| task.state.as_str()).collect();
    let reason =
        format!("{} of {} in {}", there.count(), tasks.len(), states.into_iter().collect::<Vec<_>>().join(" or "));
    let human = phase == Phase::Review && rules.mode == ReviewMode::Interactive;
    (if human { Phase::Human } else { phase }, reason)
}

fn remaining(phase: Phase, mode: ReviewMode) -> Vec<Phase> {
    let Some(from) = PIPELINE.iter().position(|other| *other == phase) else { return Vec::new() };
    PIPELINE[from..]
        .iter()
        .copied()
        .filter(|p| *p != Phase::Review || *p == phase || mode != ReviewMode::Skip)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Estimate, StateName};
    use crate::workflow::Workflow;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn board(states: &[(&str, &str)]) -> Board {
        let mut parent = Task::new(id("p"), "P", StateName::new("Backlog"));
        parent.atomic = true;
        let child = |(name, state): &(&str, &str)| {
            let mut task = Task::new(id(name), *name, StateName::new(*state));
            task.parent = Some(id("p"));
            task
        };
        Board::new(states.iter().map(child).chain([parent]).collect(), Vec::new(), Vec::new())
    }

    fn position(board: &Board, who: &str, mode: ReviewMode) -> Position {
        let rules = Rules { mode, ..Rules::of(Workflow::builtin()) };
        board.position(board.index_of(&id(who)).unwrap(), &rules).unwrap()
    }

    #[test]
    fn the_least_advanced_member_decides_and_finished_ones_hold_nobody_back() {
        use Phase::{Done, Human, Implement, Integrate, Plan, Research, Review, Triage};
        for (states, phase, met) in [
            (vec!["Backlog", "In Progress"], Triage, false),
            (vec!["Research Needed", "Ready for Plan"], Research, false),
            (vec!["Research in Progress"], Research, false),
            (vec!["Ready for Plan", "Ready for Plan"], Plan, true),
            (vec!["Ready for Plan", "Done"], Plan, true),
            (vec!["Ready for Plan", "Canceled"], Plan, true),
            (vec!["Plan in Progress", "In Review"], Plan, true),
            (vec!["Plan in Review"], Review, true),
            (vec!["In Progress", "In Review"], Implement, true),
            (vec!["In Review", "In Review"], Integrate, true),
            (vec!["Ready for Plan", "Human Needed"], Human, false),
            (vec!["Done", "Canceled"], Done, true),
        ] {
            let names = ["a", "b", "c"];
            let rows: Vec<(&str, &str)> = names.iter().copied().zip(states.iter().copied()).collect();
            let board = board(&rows);
            let asked = if states.iter().all(|s| ["Done", "Canceled"].contains(s)) {
                "p"
            } else {
                rows.iter().find(|(_, s)| *s != "Done" && *s != "Canceled").unwrap().0
            };
            let got = position(&board, asked, ReviewMode::Skip);
            assert_eq!((got.phase, got.convergence.met), (phase, met), "{states:?}: {got:?}");
            assert_eq!(got.convergence.recommendation == "escalate", phase == Human, "{states:?}");
        }
        assert_eq!(position(&board(&[("a", "Plan in Review")]), "a", ReviewMode::Interactive).phase, Human);
    }

    #[test]
    fn every_member_gives_the_same_group() {
        let mut board = board(&[("a", "Ready for Plan"), ("b", "Research Needed"), ("c", "Backlog"), ("d", "Done")]);
        let mut tasks = board.tasks().to_vec();
        tasks[0].blocked_by = vec![id("c")];
        board = Board::new(tasks, Vec::new(), Vec::new());
        let first = position(&board, "a", ReviewMode::Skip);
        assert_eq!(first.members, [id("b"), id("c"), id("a")]);
        for who in ["b", "c", "p"] {
            assert_eq!(position(&board, who, ReviewMode::Skip), first, "{who}");
        }
        assert_eq!(first.roster, Roster { analyst: 2, builder: 1, validator: 0, integrator: 1 });
    }

    #[test]
    fn a_chain_of_blockers_is_not_a_group() {
        let mut one = Task::new(id("a"), "A", StateName::new("Ready for Plan"));
        one.blocked_by = vec![id("b")];
        let board = Board::new(vec![one, Task::new(id("b"), "B", StateName::new("Backlog"))], Vec::new(), Vec::new());
        assert_eq!(position(&board, "a", ReviewMode::Skip).members, [id("a")]);
        assert_eq!(position(&board, "b", ReviewMode::Skip).members, [id("b")]);
    }

    #[test]
    fn a_large_leaf_is_to_be_split_unless_it_is_over() {
        let sized = |state: &str| {
            let mut task = Task::new(id("a"), "A", StateName::new(state));
            task.estimate = Some(Estimate::M);
            position(&Board::new(vec![task], Vec::new(), Vec::new()), "a", ReviewMode::Skip).phase
        };
        assert_eq!((sized("Research Needed"), sized("Done")), (Phase::Split, Phase::Done));
    }
}

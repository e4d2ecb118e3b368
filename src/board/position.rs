//! The position of a task or its group in the pipeline, the remaining phases, and the workers that would help.

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
        let members = self.members(at, &Links::new(self), rules)?;
        Ok(self.position_of(&members, rules))
    }

    /// The position of tasks that are worked on together, whatever group they belong to; at least one. The first is the primary.
    pub fn position_of(&self, members: &[usize], rules: &Rules) -> Position {
        let links = Links::new(self);
        let tasks: Vec<&Task> = members.iter().map(|&at| &self.tasks()[at]).collect();
        let leaf = |place: usize| links.children(members[place]).is_empty();
        let oversized = (0..tasks.len()).any(|n| {
            leaf(n)
                && !self.is_over(tasks[n], rules)
                && tasks[n].estimate.is_some_and(|estimate| estimate.is_oversized())
        });
        let handed_over = tasks.iter().any(|task| rules.needs_person(task));
        let (stage, reason) = if handed_over {
            (Phase::Human, "handed to a person".to_owned())
        } else if tasks.iter().all(|task| self.is_over(task, rules)) {
            (Phase::Done, "all tasks are finished".to_owned())
        } else if oversized {
            (Phase::Split, "a task of size M or above must be split first".to_owned())
        } else {
            open_phase(&tasks, rules)
        };
        // A person takes part in the review, but its members meet and its validator works as in every other phase.
        let reviews = stage == Phase::Review && rules.mode == ReviewMode::Interactive;
        let phase = if reviews { Phase::Human } else { stage };
        let convergence = self.meeting(stage, members, rules);
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
        Position {
            roster: self.roster(stage, &tasks, rules),
            remaining: remaining(phase, rules.mode),
            phase,
            reason,
            primary: ids[0].clone(),
            members: ids,
            convergence,
        }
    }

    /// Whether all members have reached the gate of the phase, or the phase's end if each member goes through it alone.
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

    /// The group of a task, without finished members; for a parent that is not atomic, its children.
    pub fn members(&self, at: usize, links: &Links<'_>, rules: &Rules) -> Result<Vec<usize>, Refusal> {
        let group = self.group_of(at, links, rules)?;
        if group.parent.is_none() && !links.children(at).is_empty() {
            return Ok(links.children(at).to_vec());
        }
        Ok(group.members)
    }

    fn is_over(&self, task: &Task, rules: &Rules) -> bool {
        rules.flow.is_terminal(task.kind, &task.state)
    }

    fn stuck(&self, members: &[usize], rules: &Rules) -> Vec<TaskId> {
        let tasks = members.iter().map(|&at| &self.tasks()[at]);
        tasks.filter(|task| rules.needs_person(task)).map(|task| task.id.clone()).collect()
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
        // A group has one worktree; other tasks run in parallel unless one blocks another.
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

/// How many analysts help if this many tasks must be triaged or researched.
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

/// The phase of the least advanced member, and the reason.
fn open_phase(tasks: &[&Task], rules: &Rules) -> (Phase, String) {
    let Some(phase) = tasks.iter().filter_map(|task| phase_of(task, rules)).min() else {
        return (Phase::Implement, "the workflow assigns no phase to these states".into());
    };
    let there = tasks.iter().filter(|task| phase_of(task, rules) == Some(phase));
    let states: std::collections::BTreeSet<&str> = there.clone().map(|task| task.state.as_str()).collect();
    let reason =
        format!("{} of {} in {}", there.count(), tasks.len(), states.into_iter().collect::<Vec<_>>().join(" or "));
    (phase, reason)
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
    use crate::board::testing::{Sample, at, id, ids, rules_in};
    use crate::task::Estimate;
    use crate::workflow::Workflow;

    fn group(states: &[(&str, &str)]) -> Sample {
        Sample::board().task("p", "Backlog").atomic().children("p", states)
    }

    fn position(sample: Sample, who: &str, mode: ReviewMode) -> Position {
        let board = sample.build();
        board.position(at(&board, who), &rules_in(mode)).unwrap()
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
            let rows: Vec<(&str, &str)> = ["a", "b", "c"].into_iter().zip(states.iter().copied()).collect();
            let open = rows.iter().find(|(_, state)| !["Done", "Canceled"].contains(state));
            let got = position(group(&rows), open.map_or("p", |(name, _)| name), ReviewMode::Skip);
            assert_eq!((got.phase, got.convergence.met), (phase, met), "{states:?}: {got:?}");
            let advice = match (phase, met) {
                (Human, _) => "escalate",
                (_, true) => "proceed",
                (_, false) => "wait",
            };
            assert_eq!(got.convergence.recommendation, advice, "{states:?}");
        }
        let reviewed = position(group(&[("a", "Plan in Review")]), "a", ReviewMode::Interactive);
        assert_eq!((reviewed.phase, &reviewed.convergence.waiting_for), (Human, &Vec::new()));
        assert_eq!((reviewed.convergence.met, reviewed.convergence.recommendation), (true, "proceed"));
        assert_eq!(reviewed.roster, Roster { analyst: 0, builder: 1, validator: 1, integrator: 1 });
    }

    #[test]
    fn members_that_are_behind_are_named() {
        let waiting = |rows: &[(&str, &str)]| {
            let convergence = position(group(rows), "a", ReviewMode::Skip).convergence;
            (convergence.required, convergence.waiting_for)
        };
        assert_eq!(waiting(&[("a", "Ready for Plan"), ("b", "Research Needed")]), (true, ids(&["b"])));
        assert_eq!(waiting(&[("a", "Ready for Plan"), ("b", "Human Needed")]), (true, ids(&["b"])));
        assert_eq!(waiting(&[("a", "Research Needed")]), (false, ids(&["a"])));
        assert_eq!(waiting(&[("a", "Backlog")]), (false, vec![]), "one waits for nobody");
        assert_eq!(waiting(&[("a", "Backlog"), ("b", "Ready for Plan")]), (true, vec![]), "each is triaged alone");
    }

    #[test]
    fn every_member_gives_the_same_position() {
        let children = [("b", "Research Needed"), ("c", "Backlog"), ("d", "Done"), ("a", "Ready for Plan")];
        let sample = group(&children).blocked_by(&["c"]);
        let first = position(sample.clone(), "a", ReviewMode::Skip);
        assert_eq!((&first.members, &first.primary), (&ids(&["b", "c", "a"]), &id("b")));
        for who in ["b", "c", "p"] {
            assert_eq!(position(sample.clone(), who, ReviewMode::Skip), first, "{who}");
        }
        assert_eq!(first.roster, Roster { analyst: 2, builder: 1, validator: 0, integrator: 1 });
        assert_eq!(first.reason, "1 of 3 in Backlog");
    }

    #[test]
    fn the_position_of_a_parent_that_is_not_atomic_is_that_of_its_children() {
        let family = Sample::board().task("p", "Backlog").children("p", &[("a", "In Review"), ("b", "In Progress")]);
        let got = position(family.clone(), "p", ReviewMode::Skip);
        assert_eq!((got.members, got.phase), (ids(&["a", "b"]), Phase::Implement));
        assert_eq!(position(family, "a", ReviewMode::Skip).members, ids(&["a"]));
        let both =
            Sample::board().task("p", "Backlog").children("p", &[("a", "Plan in Progress"), ("b", "Ready for Plan")]);
        assert_eq!(position(both, "p", ReviewMode::Skip).reason, "2 of 2 in Plan in Progress or Ready for Plan");
    }

    #[test]
    fn a_chain_of_blockers_is_not_a_group() {
        let chain = Sample::board().task("a", "Ready for Plan").blocked_by(&["b"]).task("b", "Backlog");
        for who in ["a", "b"] {
            assert_eq!(position(chain.clone(), who, ReviewMode::Skip).members, ids(&[who]));
        }
    }

    #[test]
    fn a_large_leaf_is_to_be_split_unless_it_is_over() {
        let sized = |state: &str| Sample::board().task("a", state).estimate(Estimate::M);
        let phase = |sample: Sample, who: &str| position(sample, who, ReviewMode::Skip).phase;
        assert_eq!((phase(sized("Research Needed"), "a"), phase(sized("Done"), "a")), (Phase::Split, Phase::Done));
        assert_eq!(phase(Sample::board().task("a", "Backlog").estimate(Estimate::S), "a"), Phase::Triage);
        let part = Sample::board().task("p", "Backlog").task("a", "Backlog").parent("p").estimate(Estimate::L);
        assert_eq!(phase(part.clone(), "p"), Phase::Split);
        assert_eq!(phase(part.children("a", &[("b", "Backlog")]), "p"), Phase::Triage, "it is split");
        let over = Sample::board().task("p", "Backlog").children("p", &[("a", "In Review"), ("b", "Done")]);
        assert_eq!(phase(over.estimate(Estimate::L), "p"), Phase::Integrate);
    }

    #[test]
    fn the_remaining_phases_start_at_the_current_one_and_include_a_review_unless_it_is_skipped() {
        use Phase::{Implement, Integrate, Plan, Research, Review, Triage};
        let remains = |state: &str, mode| position(Sample::board().task("a", state), "a", mode).remaining;
        assert_eq!(remains("Backlog", ReviewMode::Skip), [Triage, Research, Plan, Implement, Integrate]);
        assert_eq!(remains("Ready for Plan", ReviewMode::Auto), [Plan, Review, Implement, Integrate]);
        assert_eq!(remains("Plan in Review", ReviewMode::Skip), [Review, Implement, Integrate], "it is there");
        assert_eq!(remains("In Review", ReviewMode::Auto), [Integrate]);
        assert_eq!((remains("Done", ReviewMode::Auto), remains("Human Needed", ReviewMode::Auto)), (vec![], vec![]));
    }

    #[test]
    fn the_roster_has_one_stream_for_each_task_that_waits_for_no_other() {
        use ReviewMode::{Auto, Interactive, Skip};
        let family = |states: &[&str]| {
            let rows: Vec<(&str, &str)> =
                ["a", "b", "c", "d", "e", "f"].into_iter().zip(states.iter().copied()).collect();
            Sample::board().task("p", "Backlog").children("p", &rows)
        };
        for (sample, mode, roster) in [
            (family(&["Backlog"]), Skip, [1, 1, 0, 1]),
            (family(&["Backlog"]), Auto, [1, 1, 0, 1]),
            (family(&["Backlog"]), Interactive, [1, 1, 1, 1]),
            (family(&["In Progress"]), Interactive, [0, 1, 0, 1]),
            (family(&["Backlog"; 2]), Skip, [2, 2, 0, 1]),
            (family(&["Backlog", "Research Needed", "Ready for Plan"]), Skip, [2, 3, 0, 1]),
            (family(&["Backlog"; 5]), Skip, [2, 3, 0, 1]),
            (family(&["Backlog"; 6]), Skip, [3, 3, 0, 1]),
            (family(&["Ready for Plan", "Ready for Plan"]).blocked_by(&["a"]), Skip, [0, 1, 0, 1]),
            (family(&["Done", "Ready for Plan", "Ready for Plan"]).blocked_by(&["a"]), Skip, [0, 2, 0, 1]),
            (family(&["In Review"; 2]), Skip, [0, 0, 0, 1]),
            (family(&["Ready for Plan"; 2]).task("p2", "Done"), Skip, [0, 2, 0, 1]),
            (family(&["Human Needed", "Backlog"]), Skip, [0, 0, 0, 0]),
            (family(&["Done"]), Skip, [0, 0, 0, 0]),
        ] {
            let got = position(sample.clone(), "p", mode).roster;
            assert_eq!(got.by_role().map(|(_, count)| count), roster, "{mode:?} {sample:?}");
        }
        assert_eq!(
            Roster::default().by_role().map(|(role, _)| role),
            ["analyst", "builder", "validator", "integrator"]
        );
    }

    #[test]
    fn no_role_is_asked_for_beyond_its_limit() {
        let board = Sample::board().task("a", "Backlog").build();
        let mut rules = rules_in(ReviewMode::Interactive);
        rules.limits = [("builder".to_owned(), 0), ("analyst".to_owned(), 1)].into();
        let roster = board.position(0, &rules).unwrap().roster;
        assert_eq!(roster, Roster { analyst: 1, builder: 0, validator: 0, integrator: 0 });
    }

    #[test]
    fn a_workflow_without_phases_is_in_the_implement_phase() {
        let text = "format = 1\nname = \"plain\"\ninitial = \"Todo\"\n[[state]]\nname = \"Todo\"\n\
                    [[state]]\nname = \"Done\"\nterminal = true\n";
        let board = Sample::board().task("a", "Todo").build();
        let got = board.position(0, &Rules::of(Workflow::parse(text).unwrap())).unwrap();
        assert_eq!(
            (got.phase, got.reason.as_str()),
            (Phase::Implement, "the workflow assigns no phase to these states")
        );
        assert_eq!(got.convergence.recommendation, "wait");
    }
}

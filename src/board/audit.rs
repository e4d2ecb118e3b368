//! State changes between two versions of a board that the workflow does not allow, and who made them.
//!
//! [`Board::admit`] judges every move. The journal tells which moves were made and by whom; a move that is not in it is
//! judged as one that happened outside of ralph.

use std::collections::BTreeSet;

use super::{Actor, Board, Change, Goal, Links, Refusal, Request, Rules};
use crate::task::{Kind, StateName, TaskId, Value, Worker};
use crate::workflow::ReviewMode;

/// One entry of the journal.
#[derive(Debug, Clone, Copy)]
pub struct JournalEntry<'a> {
    pub by: &'a Worker,
    pub verb: &'a str,
    pub changes: &'a [Change],
}

/// A state change that the workflow does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IrregularMove {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub by: MovedBy,
    /// Another reason against it than that the workflow has no such move.
    pub why: Option<String>,
}

/// Who made a move, according to the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovedBy {
    /// A person: a name without a role. People can move tasks outside the workflow.
    Person(Worker),
    /// An agent, which must follow the workflow.
    Worker(Worker),
    /// The journal does not contain the move.
    Unrecorded,
}

/// Commands whose state changes are not requests: they follow from other changes, or restore an earlier state.
const CONSEQUENCES: [&str; 10] =
    ["advance", "doctor", "enforce", "pull", "reap", "release", "steps", "sync", "undo", "workflow"];

impl JournalEntry<'_> {
    /// The requested move; other state changes of the entry follow from it.
    fn request(&self) -> Option<(&TaskId, StateName)> {
        let verb = self.verb.split(' ').next().unwrap_or_default();
        self.changes.iter().find_map(Change::new_state).filter(|_| !CONSEQUENCES.contains(&verb))
    }
}

impl Board {
    /// The moves from this board to `later` that the workflow does not allow. `journal` has the entries that were added in
    /// between, oldest first. Both boards must have been read with the workflow of `rules`.
    pub fn irregular_moves(&self, later: &Board, journal: &[JournalEntry<'_>], rules: &Rules) -> Vec<IrregularMove> {
        let moved = later.tasks().iter().filter(|task| self.get(&task.id).is_some_and(|old| old.state != task.state));
        let moved: Vec<&TaskId> = moved.map(|task| &task.id).collect();
        let recorded: BTreeSet<&TaskId> =
            moved.iter().filter(|id| is_recorded(self, later, id, journal, rules)).copied().collect();
        let unrecorded = moved.iter().filter(|id| !recorded.contains(*id));
        let mut found: Vec<IrregularMove> =
            unrecorded.filter_map(|id| unrecorded_move(self, later, id, journal, rules)).collect();
        found.extend(self.recorded_moves(later, &recorded, journal, rules));
        found.sort_by(|one, other| one.task.cmp(&other.task));
        found
    }

    /// Judges each recorded move on the board as it was at that time.
    fn recorded_moves(
        &self,
        later: &Board,
        recorded: &BTreeSet<&TaskId>,
        journal: &[JournalEntry<'_>],
        rules: &Rules,
    ) -> Vec<IrregularMove> {
        let mut found = Vec::new();
        let added = later.tasks.iter().filter(|task| self.get(&task.id).is_none());
        let tasks = self.tasks.iter().chain(added).cloned().collect();
        let mut board = Board::new(tasks, self.broken.clone(), self.archived.clone());
        for entry in journal {
            if let Some((task, to)) = entry.request().filter(|(task, _)| recorded.contains(task)) {
                let follows = board.index_of(task).is_some_and(|at| !Links::new(&board).children(at).is_empty());
                // A parent moves with its children, so its move may only follow from theirs.
                found.extend(irregular(&board, task, &to, entry.moved_by(rules), rules).filter(|_| !follows));
            }
            board = board.with(entry.changes);
        }
        found
    }
}

impl JournalEntry<'_> {
    fn moved_by(&self, rules: &Rules) -> MovedBy {
        match rules.role_of(self.by) {
            Some(_) => MovedBy::Worker(self.by.clone()),
            None => MovedBy::Person(self.by.clone()),
        }
    }

    /// The state changes of one task, each as the old and the new value.
    fn states_of<'a>(&'a self, id: &'a TaskId) -> impl Iterator<Item = (Option<&'a Value>, Option<&'a Value>)> {
        self.changes.iter().filter(|change| change.is_state_of(id)).filter_map(|change| match change {
            Change::Set { old, new, .. } => Some((old.as_ref(), new.as_ref())),
            Change::File { .. } => None,
        })
    }
}

/// The state that a file's value means; a missing value means the initial state.
fn read_state(value: Option<&Value>, kind: Kind, rules: &Rules) -> StateName {
    let Some(value) = value else { return rules.flow.initial(kind).clone() };
    let typed = value.to_string();
    rules.flow.find_state(kind, &typed).map_or_else(|_| StateName::new(&typed), |state| state.name.clone())
}

/// Whether the journal leads from the old state of a task to the new one, without a gap.
fn is_recorded(old: &Board, new: &Board, id: &TaskId, journal: &[JournalEntry<'_>], rules: &Rules) -> bool {
    let (Some(old), Some(new)) = (old.get(id), new.get(id)) else { return false };
    let mut at = old.state.clone();
    for (from, to) in journal.iter().flat_map(|entry| entry.states_of(id)) {
        if read_state(from, new.kind, rules) != at {
            return false;
        }
        at = read_state(to, new.kind, rules);
    }
    at == new.state
}

/// Judges the whole change as one move, because the journal has a gap. The mover is the worker that the journal last names
/// for the new state.
fn unrecorded_move(
    old: &Board,
    new: &Board,
    id: &TaskId,
    journal: &[JournalEntry<'_>],
    rules: &Rules,
) -> Option<IrregularMove> {
    let (from, task) = (&old.get(id)?.state, new.get(id)?);
    let board = new.with_state(id, from);
    let children: Vec<TaskId> =
        new.tasks().iter().filter(|t| t.parent.as_ref() == Some(id)).map(|t| t.id.clone()).collect();
    let follows = board.parents_over(&children, rules);
    if follows.iter().filter_map(Change::new_state).any(|(parent, state)| parent == id && state == task.state) {
        return None;
    }
    let ends_there = |entry: &&JournalEntry<'_>| {
        entry.states_of(id).last().is_some_and(|(_, to)| read_state(to, task.kind, rules) == task.state)
    };
    let by = journal.iter().rev().find(ends_there).map_or(MovedBy::Unrecorded, |entry| entry.moved_by(rules));
    irregular(&board, id, &task.state, by, rules)
}

/// Judges one move, on a board on which the task has not moved yet. The review mode may have been set for one command only,
/// so a move is irregular only if no mode allows it.
fn irregular(board: &Board, id: &TaskId, to: &StateName, by: MovedBy, rules: &Rules) -> Option<IrregularMove> {
    let from = board.get(id)?.state.clone();
    let Objection(why) = objection(board, id, to, &by, rules)?;
    let in_mode = |mode: &ReviewMode| objection(board, id, to, &by, &Rules { mode: *mode, ..rules.clone() });
    let is_irregular = from != *to && ReviewMode::ALL.iter().all(|mode| in_mode(mode).is_some());
    is_irregular.then(|| IrregularMove { task: id.clone(), from, to: to.clone(), by, why })
}

/// A move is not allowed; the text is a reason other than that the workflow has no such move.
struct Objection(Option<String>);

fn objection(board: &Board, id: &TaskId, to: &StateName, by: &MovedBy, rules: &Rules) -> Option<Objection> {
    let request = Request::new(id, Goal::State(to.clone()));
    let outside = |worker: &Worker| match board.admit(rules, &Actor::outside(worker.clone()), &request) {
        Ok(admission) => admission.flag,
        Err(refusal) => Some(refusal),
    };
    let named = |worker: &Worker| board.admit(rules, &Actor::named(worker.clone()), &request);
    Some(match by {
        MovedBy::Person(person) => match named(person) {
            Ok(admission) => Objection(Some(admission.departure?.to_string())),
            Err(refusal) => Objection(Some(refusal.to_string())),
        },
        // A revision has neither claims nor documents to check, so a refusal because they are missing does not count.
        MovedBy::Worker(worker) => {
            let of_role =
                |refusal: &Refusal| matches!(refusal, Refusal::NotAllowed { .. } | Refusal::NeedsPerson { .. });
            Objection(reason(&outside(worker).or_else(|| named(worker).err().filter(of_role))?))
        }
        MovedBy::Unrecorded => Objection(reason(&outside(&Worker::new("somebody").ok()?)?)),
    })
}

/// The reason, unless it only repeats that the workflow does not allow the move.
fn reason(refusal: &Refusal) -> Option<String> {
    match refusal {
        Refusal::NotAllowed { .. } | Refusal::NotClaimed { .. } => None,
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, id, rules, worker};

    const FROM: &str = "Backlog";

    fn set(task: &str, from: &str, to: &str) -> Change {
        Change::set(&id(task), "state", Some(Value::text(from)), Some(Value::text(to)))
    }

    /// The moves that are found, as `by: task from → to`.
    fn found(old: Sample, new: Sample, journal: &[(&str, &str, Vec<Change>)]) -> Vec<String> {
        let workers: Vec<Worker> = journal.iter().map(|(by, ..)| worker(by)).collect();
        let entries: Vec<JournalEntry<'_>> =
            journal.iter().zip(&workers).map(|((_, verb, changes), by)| JournalEntry { by, verb, changes }).collect();
        let found = old.build().irregular_moves(&new.build(), &entries, &rules());
        let by = |by: &MovedBy| match by {
            MovedBy::Person(person) => format!("person {person}"),
            MovedBy::Worker(worker) => format!("worker {worker}"),
            MovedBy::Unrecorded => "unrecorded".into(),
        };
        found.iter().map(|found| format!("{}: {} {} → {}", by(&found.by), found.task, found.from, found.to)).collect()
    }

    fn one(state: &str) -> Sample {
        Sample::board().task("a", state)
    }

    #[test]
    fn a_move_that_nobody_recorded_is_irregular_only_if_the_table_lacks_it() {
        assert_eq!(found(one(FROM), one("In Review"), &[]), ["unrecorded: a Backlog → In Review"]);
        assert_eq!(found(one(FROM), one("Research Needed"), &[]), [""; 0]);
        assert_eq!(
            found(one("No Such State"), one("In Review"), &[]),
            [""; 0],
            "a person mends a state that is no state"
        );
    }

    #[test]
    fn many_legal_moves_are_not_one_illegal_move() {
        let steps = [(FROM, "Research Needed"), ("Research Needed", "Research in Progress")];
        let journal: Vec<_> = steps.iter().map(|(from, to)| ("analyst", "move", vec![set("a", from, to)])).collect();
        assert_eq!(found(one(FROM), one("Research in Progress"), &journal), [""; 0]);
        let gap = &journal[1..];
        assert_eq!(
            found(one(FROM), one("Research in Progress"), gap),
            ["worker analyst: a Backlog → Research in Progress"]
        );
    }

    #[test]
    fn whoever_is_recorded_decides_how_it_counts() {
        let by = |by, verb| found(one(FROM), one("In Review"), &[(by, verb, vec![set("a", FROM, "In Review")])]);
        assert_eq!(by("ada", "move"), ["person ada: a Backlog → In Review"]);
        assert_eq!(by("ada", "hand-edit"), ["person ada: a Backlog → In Review"]);
        assert_eq!(by("builder-2", "move"), ["worker builder-2: a Backlog → In Review"]);
        assert_eq!(by("builder-2", "workflow use lite"), [""; 0], "nobody asked for this move");
    }

    #[test]
    fn a_move_that_another_review_mode_allows_is_regular() {
        let (from, to) = ("Plan in Review", "In Progress");
        let by = |by| found(one(from), one(to), &[(by, "move", vec![set("a", from, to)])]);
        assert_eq!(by("validator"), [""; 0], "it reviews plans in the mode interactive, and the default is skip");
        assert_eq!(by("integrator"), ["worker integrator: a Plan in Review → In Progress"]);
    }

    #[test]
    fn a_worker_that_takes_a_task_from_people_is_irregular() {
        let to = "Backlog";
        let by = |by| found(one("Human Needed"), one(to), &[(by, "move", vec![set("a", "Human Needed", to)])]);
        assert_eq!(by("builder"), ["worker builder: a Human Needed → Backlog"]);
        assert_eq!(by("ada"), [""; 0]);
    }

    #[test]
    fn each_move_is_judged_on_the_board_of_its_time() {
        let block = Change::set(&id("a"), "blocked_by", None, Some(Value::texts(["b"])));
        let start = ("analyst", "move", vec![set("a", "Research Needed", "Research in Progress")]);
        let two = |state: &str| Sample::board().task("b", FROM).task("a", state);
        let (old, new) = (two("Research Needed"), two("Research in Progress").blocked_by(&["b"]));
        let after = [start.clone(), ("ada", "block", vec![block.clone()])];
        let before = [("ada", "block", vec![block]), start];
        assert_eq!(found(old.clone(), new.clone(), &after), [""; 0]);
        assert_eq!(found(old, new, &before), ["worker analyst: a Research Needed → Research in Progress"]);
    }

    #[test]
    fn a_parent_that_follows_its_children_is_regular() {
        let family = |parent: &str, child: &str| Sample::board().task("p", parent).children("p", &[("k", child)]);
        let (old, new) = (family(FROM, FROM), family("Research Needed", "Research Needed"));
        assert_eq!(found(old.clone(), new.clone(), &[]), [""; 0]);
        let line = ("analyst", "move", vec![set("k", FROM, "Research Needed"), set("p", FROM, "Research Needed")]);
        assert_eq!(found(old.clone(), new, &[line]), [""; 0]);
        assert_eq!(found(old, family("In Review", FROM), &[]), ["unrecorded: p Backlog → In Review"]);
    }
}

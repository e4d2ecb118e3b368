//! Undoes the changes of a command, if this harms no other worker.

use crate::board::{Actor, Board, Change, Refusal, Rules};
use crate::task::{StateName, TaskId, Worker};

impl Board {
    /// Refuses to undo moves: a worker's tasks move by the workflow only, and another worker may hold the task by now. A claim of
    /// `author`, who made the changes, does not count.
    pub fn refuse_undo(
        &self,
        rules: &Rules,
        actor: &Actor,
        changes: &[Change],
        author: &Worker,
    ) -> Result<(), Refusal> {
        let moved: Vec<&TaskId> =
            changes.iter().map(Change::task).filter(|id| changes.iter().any(|change| change.is_state_of(id))).collect();
        if !moved.is_empty() && actor.is_held(rules) {
            return Err(Refusal::PeopleOnly { worker: actor.worker.clone(), what: "undo a move" });
        }
        for change in changes {
            if let Some((task, state)) = change.new_state().filter(|(task, state)| self.lacks(rules, task, state)) {
                return Err(Refusal::UndoesState { task: task.clone(), state });
            }
        }
        for id in moved {
            let claim = self.index_of(id).and_then(|at| self.binding_claim(at));
            if let Some((held, claim)) = claim.filter(|(_, claim)| !claim.is_of(&actor.worker) && !claim.is_of(author))
            {
                return Err(Refusal::held(held, claim));
            }
        }
        Ok(())
    }

    /// Whether the workflow was changed since, so that a task of this kind can no longer be in that state.
    fn lacks(&self, rules: &Rules, task: &TaskId, state: &StateName) -> bool {
        self.get(task).is_some_and(|task| rules.flow.state(task.kind, state).is_none())
    }
}

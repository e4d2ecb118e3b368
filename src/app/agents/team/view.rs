//! The state of a running team for display: workers and steps.

use jiff::Timestamp;
use serde::Serialize;

use super::crew::Crew;
use super::{Team, steps};
use crate::app::agents::worker::WorkerEvent;
use crate::app::records::costs::Spent;
use crate::board::{Board, Standings};
use crate::task::{Kind, StateName, TaskId, Worker};
use crate::workflow::Meaning;

/// The state of a running team, for display.
#[derive(Debug, Clone, Serialize)]
pub struct TeamView {
    pub teams: Vec<TaskId>,
    pub started: Timestamp,
    pub workers: Vec<CrewView>,
    pub steps: Vec<StepView>,
    /// The usage of finished runs.
    pub spent: Spent,
    /// The request to stop, if there was one.
    pub ending: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CrewView {
    pub worker: Worker,
    pub role: String,
    pub doing: Option<Doing>,
    pub turns: usize,
    /// Why the worker is not restarted.
    pub gone: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Doing {
    pub task: TaskId,
    pub title: String,
    pub command: String,
    pub run: String,
    pub since: Timestamp,
}

#[derive(Debug, Clone, Serialize)]
pub struct StepView {
    pub id: TaskId,
    pub team: TaskId,
    pub title: String,
    pub command: String,
    pub of: Vec<TaskId>,
    pub state: StateName,
    pub owner: Option<Worker>,
    pub blocked: bool,
    pub completed: bool,
    /// Whether a worker is working on it.
    #[serde(skip)]
    pub working: bool,
    pub result: Option<String>,
    /// A task of the step was handed to a person.
    pub human: bool,
}

impl Team<'_> {
    /// Updates the view to this board.
    pub(super) fn look(&mut self, crew: &Crew<'_>, board: &Board) {
        for slot in &crew.slots {
            match self.view.workers.iter_mut().find(|seen| seen.worker == slot.worker) {
                Some(seen) => seen.gone.clone_from(&slot.given_up),
                None => self.view.workers.push(CrewView {
                    worker: slot.worker.clone(),
                    role: slot.role.clone(),
                    doing: None,
                    turns: 0,
                    gone: slot.given_up.clone(),
                }),
            }
        }
        self.view.steps = self.steps(board);
    }

    pub(super) fn steps(&self, board: &Board) -> Vec<StepView> {
        let standings = Standings::new(board, self.ws.rules());
        let mut views = Vec::new();
        for (team, steps) in steps::by_team(self.ws, board, &self.asked.teams) {
            for task in steps {
                let (Some(step), Some(at)) = (&task.step, board.index_of(&task.id)) else { continue };
                let needs_person = |id: &TaskId| board.get(id).is_some_and(|task| self.ws.rules().needs_person(task));
                views.push(StepView {
                    id: task.id.clone(),
                    team: team.clone(),
                    title: task.title.clone(),
                    command: step.command.clone(),
                    of: step.of.clone(),
                    state: task.state.clone(),
                    owner: task.owner.clone(),
                    blocked: standings.is_blocked(at),
                    working: self.ws.flow().meaning_of(Kind::Step, &task.state) == Meaning::Working,
                    completed: self.ws.flow().is_terminal(Kind::Step, &task.state),
                    result: step.result.clone(),
                    human: step.of.iter().any(needs_person),
                });
            }
        }
        views
    }

    /// Updates the view with an event of a worker.
    pub(super) fn note(&mut self, worker: &Worker, event: &WorkerEvent) {
        if let WorkerEvent::Ended { run, .. } = event {
            self.view.spent.add(run);
        }
        let Some(seen) = self.view.workers.iter_mut().find(|seen| seen.worker == *worker) else { return };
        match event {
            WorkerEvent::Began { run, title } => {
                seen.doing = Some(Doing {
                    task: run.task.clone(),
                    title: title.clone(),
                    command: run.command.clone(),
                    run: run.id.clone(),
                    since: run.started,
                });
            }
            WorkerEvent::Ended { .. } => (seen.doing, seen.turns) = (None, seen.turns + 1),
            _ => {}
        }
    }
}

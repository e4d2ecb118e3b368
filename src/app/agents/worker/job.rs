//! A job: one command on one task for one worker, with its claim and the record of its run.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::attempts;
use super::program::Agent;
use crate::app::records::runs::{Run, RunOutcome};
use crate::app::{Failure, Workspace};
use crate::board::Request;
use crate::task::{Task, TaskId, Worker};

#[derive(Debug, Clone)]
pub struct Job {
    pub task: TaskId,
    pub command: String,
    pub worker: Worker,
    pub team: Option<TaskId>,
    pub step: Option<TaskId>,
    /// When the job was chosen; the run counts from then on.
    pub since: Timestamp,
}

impl Job {
    pub(super) fn claim(&self) -> Request<'_> {
        Request { step: self.step.as_ref(), ..Request::claim(&self.task, Some(&self.command)) }
    }

    /// Creates the record of a new run.
    pub(super) fn begin(&self, ws: &Workspace, before: &Task, agent: Option<&Agent>) -> Result<Run, Failure> {
        let own = || vec!["ralph".to_owned(), self.command.clone(), self.task.to_string()];
        let run = Run {
            id: Run::new_id(ws, &self.task, &self.command),
            task: self.task.clone(),
            command: self.command.clone(),
            worker: self.worker.clone(),
            team: self.team.clone(),
            step: self.step.clone(),
            attempt: attempts::read(ws, &self.task, &self.command).failures + 1,
            program: agent.map_or_else(own, Agent::words),
            host: agent.and_then(Agent::host).map(|host| host.name.to_owned()),
            session: None,
            resumed: None,
            model: agent.and_then(Agent::model),
            usage: None,
            not_started: false,
            refused: Vec::new(),
            confined: false,
            dir: ws.store.root().to_owned(),
            started: self.since,
            ended: None,
            outcome: RunOutcome::Running,
            code: None,
            from: before.state.clone(),
            to: None,
            message: None,
            strays: Vec::new(),
            dirty: Vec::new(),
            tips: BTreeMap::new(),
        };
        run.begin(ws)
    }
}

//! The context of a policy check: worker, task and directory, from the input of the host, the claims and git.

use std::path::{Path, PathBuf};

use crate::agent::HookInput;
use crate::app::repo::worktree::{Place, place, task_of};
use crate::app::workspace::sub_agents::worker_of;
use crate::app::{Failure, Workspace};
use crate::board::{Actor, Board, Claim, Links};
use crate::fs;
use crate::git::{Repository, Worktree};
use crate::task::{Task, TaskId, Worker};
use crate::workflow::Command;

pub(super) struct Scene<'a> {
    pub ws: &'a Workspace,
    pub input: &'a HookInput,
    pub board: Board,
    /// A worker with a role; people are not checked.
    pub worker: Option<Worker>,
    pub cwd: PathBuf,
    worktrees: Vec<Worktree>,
}

impl<'a> Scene<'a> {
    pub fn new(ws: &'a Workspace, input: &'a HookInput) -> Result<Self, Failure> {
        let cwd = input.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| ws.store.root().into());
        let mut worktrees = ws.repository.worktrees()?;
        worktrees.retain(|worktree| !worktree.missing);
        let board = ws.board()?;
        let worker = worker(ws, input);
        let mut scene = Self { ws, input, board, worker, cwd: fs::settled(&cwd), worktrees };
        scene.worker = scene.of_session().or(scene.worker);
        Ok(scene)
    }

    /// The worker that claimed a task in this session of the host. If there are several, the one whose worktree this
    /// is, or else the last one. A name that the process was given comes first, and so does a sub-agent that holds a
    /// task.
    fn of_session(&self) -> Option<Worker> {
        if self.ws.named().is_some() || !self.held().is_empty() {
            return None;
        }
        let ours = self.claims_of(self.input.session.as_ref()?);
        let path = self.input.file().map_or_else(|| self.cwd.clone(), |file| self.path(&file));
        let here = self.task_at(&path).map(|task| &task.id);
        let found = ours.iter().find(|(task, _)| Some(&task.id) == here).or(ours.last());
        found.map(|(_, claim)| claim.worker.clone())
    }

    /// The claims by workers in a session of the host, oldest first.
    fn claims_of(&self, session: &str) -> Vec<(&Task, &Claim)> {
        let claims = self.board.tasks().iter().filter_map(|task| Some((task, self.board.claim(&task.id)?)));
        let mut ours: Vec<(&Task, &Claim)> = claims
            .filter(|(_, claim)| claim.live && !claim.foreign && claim.session.as_deref() == Some(session))
            .filter(|(_, claim)| self.ws.rules().role_of(&claim.worker).is_some())
            .collect();
        ours.sort_by_key(|(_, claim)| claim.since);
        ours
    }

    /// A task of the session, with its holder, that must not change main.
    pub fn claimed_in(&self, session: &str) -> Option<(TaskId, Worker)> {
        let mut ours = self.claims_of(session).into_iter();
        let (task, claim) = ours.find(|(task, _)| !self.integrates(task))?;
        Some((task.id.clone(), claim.worker.clone()))
    }

    /// Whether the task's current command changes main.
    pub fn integrates(&self, task: &Task) -> bool {
        ["pr", "merge"].iter().any(|command| self.is_doing(task, command))
    }

    /// The path that would be written, for a path as typed.
    pub fn path(&self, typed: &Path) -> PathBuf {
        let path = fs::settled(&self.cwd.join(typed));
        // A draft counts as its document.
        let document = self.ws.drafts.as_ref().and_then(|drafts| drafts.document(&path));
        document.map_or(path, |document| self.ws.store.root().join(document))
    }

    /// The linked worktree that contains a path.
    pub fn worktree_of(&self, path: &Path) -> Option<&Worktree> {
        let around = self.worktrees.iter().filter(|worktree| path.starts_with(&worktree.path));
        around.max_by_key(|worktree| worktree.path.components().count())
    }

    /// Whether a path is in this repository, in any worktree.
    pub fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(self.ws.store.root()) || self.worktree_of(path).is_some()
    }

    /// A path relative to the root of its worktree.
    pub fn within<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let root = self.worktree_of(path).map_or(self.ws.store.root(), |worktree| &worktree.path);
        path.strip_prefix(root).ok()
    }

    /// The task whose worktree contains a path, according to the branch.
    pub fn task_at(&self, path: &Path) -> Option<&Task> {
        task_of(&self.board, self.worktree_of(path)?)
    }

    /// The tasks that the worker holds.
    pub fn held(&self) -> Vec<&Task> {
        let Some(worker) = &self.worker else { return Vec::new() };
        let mine = |task: &&Task| self.board.claim(&task.id).is_some_and(|claim| claim.live && claim.is_of(worker));
        self.board.tasks().iter().filter(mine).collect()
    }

    pub fn holds(&self, task: &Task) -> bool {
        self.held().iter().any(|held| held.id == task.id)
    }

    /// The task that the worker holds, or the one of this worktree if it holds several or none.
    pub fn task(&self, path: &Path) -> Option<&Task> {
        let held = self.held();
        let here = self.task_at(path);
        match (held.as_slice(), here) {
            ([one], _) => Some(one),
            ([], here) => here,
            (_, here) => here.filter(|here| held.iter().any(|task| self.is_grouped(&task.id, &here.id))),
        }
    }

    /// Whether two tasks are equal or belong to one group.
    pub fn is_grouped(&self, one: &TaskId, other: &TaskId) -> bool {
        one == other || self.members(one).iter().any(|task| task.id == *other)
    }

    /// The members of a task's group, with the primary first.
    pub fn members(&self, id: &TaskId) -> Vec<&Task> {
        let Some(at) = self.board.index_of(id) else { return Vec::new() };
        let members = match self.board.group_of(at, &Links::new(&self.board), self.ws.rules()) {
            Ok(group) => group.members,
            Err(_) => vec![at],
        };
        members.into_iter().map(|at| &self.board.tasks()[at]).collect()
    }

    /// The command in progress on a task: that of its claim, or else the one whose lock state the task is in.
    pub fn doing(&self, task: &Task) -> Option<&Command> {
        let flow = self.ws.flow();
        let claimed = self.board.claim(&task.id).filter(|claim| claim.live).and_then(|claim| claim.command.as_deref());
        let named = claimed.and_then(|name| flow.command(name).ok());
        named.or_else(|| flow.commands().iter().find(|command| command.lock.as_ref() == Some(&task.state)))
    }

    pub fn is_doing(&self, task: &Task, command: &str) -> bool {
        self.doing(task).is_some_and(|doing| doing.name == command)
    }

    pub fn place(&self, id: &TaskId) -> Result<Place, Failure> {
        place(self.ws, &self.board, id)
    }

    pub fn linked(&self, path: &Path) -> Option<&Worktree> {
        let path = fs::settled(path);
        self.worktrees.iter().find(|worktree| worktree.path == path)
    }

    /// The branch that is checked out at a folder; `None` outside of this repository.
    pub fn branch_at(&self, folder: &Path) -> Option<Option<String>> {
        let there = fs::settled(folder);
        let there = there.ancestors().find(|folder| folder.is_dir())?;
        let repository = Repository::at(there).ok()?;
        if repository.common != self.ws.repository.common {
            return None;
        }
        repository.place_found().map(|(_, branch)| branch)
    }

    /// The worker that would act: the one named in the call, or else the one that the host names, or else ralph's
    /// default.
    pub fn actor(&self, named: Option<&str>) -> Option<Actor> {
        let named = named.and_then(|name| Worker::new(name).ok()).or_else(|| self.worker.clone());
        match (named, self.ws.actor()) {
            (Some(worker), Ok(actor)) => Some(Actor { worker, ..actor }),
            (Some(worker), Err(_)) => Some(Actor::named(worker)),
            (None, actor) => actor.ok(),
        }
    }

    /// The command line with `--as`, if necessary to act as this worker.
    pub fn signed(&self, command: String) -> String {
        match &self.worker {
            Some(worker) if self.ws.named().as_deref() != Some(worker.as_str()) => format!("{command} --as {worker}"),
            _ => command,
        }
    }
}

/// The worker's name, as given to the process, or else by the host: the earlier name of a sub-agent, the name of a
/// teammate, or the type of a sub-agent.
fn worker(ws: &Workspace, input: &HookInput) -> Option<Worker> {
    let unnamed = input.agent.as_ref().filter(|_| ws.named().is_none());
    if let Some(worker) = unnamed.and_then(|agent| worker_of(ws.store.local(), agent)) {
        return Some(worker);
    }
    let names = [ws.named(), input.teammate.clone(), input.agent_type.clone()];
    names.into_iter().flatten().find_map(|name| {
        let name = name.rsplit(':').next().unwrap_or_default();
        let bare = name.strip_prefix("ralph-").unwrap_or(name);
        Worker::new(bare).ok().filter(|worker| ws.rules().role_of(worker).is_some())
    })
}

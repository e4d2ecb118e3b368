//! `task add`: one task or many, all or none.

use std::collections::HashMap;

use serde::Serialize;

use crate::app::view::task::{TaskView, views};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Change, Links, Op, Place, Standings};
use crate::store::codec::new_file;
use crate::task::{Estimate, Key, Kind, Priority, Task, TaskId, Value, Worker, id_length, mint};

/// A task to be added; ids and states are as typed.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    /// A name by which other tasks of the same batch may refer to it.
    pub reference: Option<String>,
    pub id: Option<String>,
    pub title: String,
    pub description: String,
    pub kind: Option<Kind>,
    pub state: Option<String>,
    pub priority: Option<Priority>,
    pub estimate: Option<Estimate>,
    pub labels: Vec<String>,
    pub owner: Option<String>,
    pub parent: Option<String>,
    pub blocked_by: Vec<String>,
    pub atomic: bool,
}

#[derive(Debug, Serialize)]
pub struct Added {
    pub tasks: Vec<TaskView>,
}

pub fn add(ws: &Workspace, wanted: &[NewTask]) -> Result<Added, Failure> {
    let lock = ws.lock()?;
    let mut minted = Minted::new(ws);
    for new in wanted {
        minted.mint(new)?;
    }
    let mut tasks = Vec::new();
    let mut changes = Vec::new();
    for (new, id) in wanted.iter().zip(&minted.ids) {
        let which = |failure: Failure| match wanted.len() {
            1 => failure,
            _ => Failure { message: format!("{:?}: {}", new.title, failure.message), ..failure },
        };
        let task = minted.task(new, id).map_err(which)?;
        changes.push(Change::File {
            task: id.clone(),
            file: Place::Task,
            old: None,
            new: Some(file(&task, &new.description)),
        });
        tasks.push(task);
    }
    changes.extend(effects(ws, &tasks)?);
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("add", changes))?;
    }
    drop(lock);
    shown(ws, &minted.ids)
}

/// The ids assigned so far, and the batch's names for them.
pub(in crate::app) struct Minted<'a> {
    ws: &'a Workspace,
    names: HashMap<String, TaskId>,
    pub(in crate::app) ids: Vec<TaskId>,
}

impl<'a> Minted<'a> {
    pub(in crate::app) fn new(ws: &'a Workspace) -> Self {
        Self { ws, names: HashMap::new(), ids: Vec::new() }
    }

    pub(in crate::app) fn mint(&mut self, new: &NewTask) -> Result<(), Failure> {
        let id = match &new.id {
            Some(text) => self.own_id(text)?,
            None => self.fresh_id(),
        };
        self.reuse(new, &id)
    }

    /// Records a task of the batch that already has an id.
    pub(in crate::app) fn reuse(&mut self, new: &NewTask, id: &TaskId) -> Result<(), Failure> {
        if let Some(name) = &new.reference
            && self.names.insert(name.clone(), id.clone()).is_some()
        {
            return Err(Failure::usage(Code::SameRef, format!("two tasks of the batch have ref = {name:?}")));
        }
        self.ids.push(id.clone());
        Ok(())
    }

    fn is_taken(&self, id: &TaskId) -> bool {
        is_taken(self.ws, &self.ids, id)
    }

    fn own_id(&self, text: &str) -> Result<TaskId, Failure> {
        let id = TaskId::new(text)?;
        if self.is_taken(&id) {
            return Err(Failure::refused(Code::IdTaken, format!("{id} already exists"))
                .hint(Hint::step("omit the id to get a new one")));
        }
        Ok(id)
    }

    fn fresh_id(&self) -> TaskId {
        fresh_id(self.ws, &self.ids)
    }

    pub(in crate::app) fn find(&self, typed: &str) -> Result<TaskId, Failure> {
        let here = self.names.get(typed).or_else(|| self.ids.iter().find(|id| id.as_str() == typed));
        here.cloned().map_or_else(|| self.ws.find(typed), Ok)
    }

    pub(in crate::app) fn task(&self, new: &NewTask, id: &TaskId) -> Result<Task, Failure> {
        let title = new.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Failure::usage(Code::NoTitle, "a task needs a title"));
        }
        let flow = self.ws.flow();
        let kind = new.kind.unwrap_or(Kind::Issue);
        let state = match &new.state {
            Some(typed) => flow.find_state(kind, typed)?.name.clone(),
            None => flow.initial(kind).clone(),
        };
        self.ws.rules().refuse_start(&self.ws.actor()?, kind, &state)?;
        let mut task = Task::new(id.clone(), title, state);
        task.kind = kind;
        task.priority = new.priority;
        task.estimate = new.estimate;
        task.atomic = new.atomic;
        task.labels.clone_from(&new.labels);
        task.labels.sort();
        task.labels.dedup();
        task.owner = new.owner.as_ref().map(Worker::new).transpose()?;
        task.parent = new.parent.as_ref().map(|typed| self.find(typed)).transpose()?;
        task.blocked_by = new.blocked_by.iter().map(|typed| self.find(typed)).collect::<Result<_, _>>()?;
        task.blocked_by.sort();
        task.blocked_by.dedup();
        let now = self.ws.now();
        task.created = Some(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now));
        Ok(task)
    }
}

fn is_taken(ws: &Workspace, given: &[TaskId], id: &TaskId) -> bool {
    given.contains(id) || ws.store.exists(id) || ws.store.is_archived(id)
}

/// An id that neither the board nor `given` has.
pub(in crate::app) fn fresh_id(ws: &Workspace, given: &[TaskId]) -> TaskId {
    let prefix = ws.settings.text("board.prefix");
    let length = id_length(ws.store.rough_count() + given.len());
    loop {
        let id = mint(prefix, length, &mut ws.rng());
        if !is_taken(ws, given, &id) {
            return id;
        }
    }
}

pub(in crate::app) fn file(task: &Task, description: &str) -> String {
    let mut fields = vec![(Key::new("id"), Value::text(&task.id))];
    for key in ["title", "state", "priority", "estimate", "labels", "owner", "parent", "blocked_by", "atomic"] {
        let key = Key::new(key);
        fields.extend(task.value(&key).map(|value| (key, value)));
    }
    if task.kind != Kind::Issue {
        fields.push((Key::new("kind"), Value::text(task.kind)));
    }
    if let Some(step) = &task.step {
        fields.push((Key::new("team"), Value::text(&step.team)));
        fields.push((Key::new("command"), Value::text(&step.command)));
        fields.push((Key::new("of"), Value::texts(&step.of)));
        fields.push((Key::new("active_form"), Value::text(&step.active_form)));
        fields.push((Key::new("round"), Value::Integer(step.round.into())));
    }
    fields.extend(task.created.map(|at| (Key::new("created"), Value::time(at))));
    if !description.trim().is_empty() {
        fields.push((Key::new("description"), Value::text(crate::app::edit::fields::as_body(description))));
    }
    new_file(&fields)
}

/// The effects of new tasks on others: a dependency cycle is refused, and a parent that is ahead of its new child moves
/// back. Tasks without links affect no others.
fn effects(ws: &Workspace, new: &[Task]) -> Result<Vec<Change>, Failure> {
    if new.iter().all(|task| task.parent.is_none() && task.blocked_by.is_empty()) {
        return Ok(Vec::new());
    }
    let mut tasks = ws.board()?.into_tasks();
    tasks.extend(new.iter().cloned());
    let board = Board::new(tasks, Vec::new(), Vec::new());
    let ids: Vec<TaskId> = new.iter().map(|task| task.id.clone()).collect();
    Links::new(&board).refuse_cycles(&ids)?;
    let changes = board.parents_over(&ids, ws.rules());
    Ok(changes.into_iter().filter(|change| !ids.contains(change.task())).collect())
}

/// The new tasks as they are on the board; for a single task, only its surroundings are read.
fn shown(ws: &Workspace, ids: &[TaskId]) -> Result<Added, Failure> {
    let board = match ids {
        [one] => ws.around(one)?,
        _ => ws.board()?,
    };
    let places: Vec<usize> = ids.iter().filter_map(|id| board.index_of(id)).collect();
    let standings = Standings::new(&board, ws.rules());
    Ok(Added { tasks: views(board, &standings, &places) })
}

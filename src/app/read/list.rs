//! `task ls`: the tasks that a query finds.

use crate::app::view::task::{TaskView, views};
use crate::app::{Code, Failure, Workspace};
use crate::board::{Board, Query, Standings};
use crate::task::{Kind, ParseError, Worker};

/// A query as typed: states and roles in any spelling, tasks by any name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListAsk {
    pub state: Vec<String>,
    pub role: Option<String>,
    pub ready: bool,
    pub blocked: bool,
    pub owner: Vec<String>,
    /// Tasks of the caller.
    pub mine: bool,
    pub label: Vec<String>,
    pub priority: Vec<String>,
    pub estimate: Vec<String>,
    pub parent: Option<String>,
    pub kind: Vec<String>,
    pub all: bool,
    pub search: Option<String>,
    pub sort: Vec<String>,
    pub limit: Option<usize>,
}

impl ListAsk {
    pub fn query(&self, ws: &Workspace) -> Result<Query, Failure> {
        let kinds: Vec<Kind> = parse_all(&self.kind)?;
        let state_kind = if kinds == [Kind::Step] { Kind::Step } else { Kind::Issue };
        let mut states = Vec::new();
        for typed in &self.state {
            states.push(ws.flow().find_state(state_kind, typed)?.name.clone());
        }
        let mut owners: Vec<Worker> = self.owner.iter().map(Worker::new).collect::<Result<_, _>>()?;
        if self.mine {
            owners.push(ws.me()?);
        }
        Ok(Query {
            states,
            role: self.role.as_ref().map(|name| role(ws, name)).transpose()?,
            ready: self.ready,
            blocked: self.blocked,
            owners,
            labels: self.label.clone(),
            priorities: parse_all(&self.priority)?,
            estimates: parse_all(&self.estimate)?,
            parent: self.parent.as_ref().map(|typed| ws.find(typed)).transpose()?,
            kinds,
            all: self.all,
            search: self.search.clone(),
            sort: self.sort.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(unknown_sort)?,
            limit: self.limit,
        })
    }
}

fn unknown_sort(error: crate::board::UnknownSort) -> Failure {
    Failure::usage(Code::UnknownSort, error.to_string())
}

fn role(ws: &Workspace, name: &str) -> Result<String, Failure> {
    match ws.flow().role(name) {
        Some(role) => Ok(role.name.clone()),
        None => {
            let names: Vec<&str> = ws.flow().roles().iter().map(|role| role.name.as_str()).collect();
            Err(Failure::usage(Code::UnknownRole, format!("{name:?} is not a role: use {}", names.join(", "))))
        }
    }
}

fn parse_all<T: std::str::FromStr<Err = ParseError>>(typed: &[String]) -> Result<Vec<T>, Failure> {
    Ok(typed.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
}

pub struct Listed {
    pub tasks: Vec<TaskView>,
    /// How many matched before the limit.
    pub total: usize,
}

/// Lists archived tasks, of which none is ready or blocked.
pub fn list_archived(ws: &Workspace, query: &Query) -> Result<Listed, Failure> {
    let mut tasks = Vec::new();
    for id in ws.store.archived_ids()? {
        tasks.push(ws.store.load_archived(&id)?.task);
    }
    shown(ws, Board::new(tasks, Vec::new(), Vec::new()), query)
}

pub fn list(ws: &Workspace, query: &Query) -> Result<Listed, Failure> {
    shown(ws, ws.board()?, query)
}

fn shown(ws: &Workspace, board: Board, query: &Query) -> Result<Listed, Failure> {
    let standings = Standings::new(&board, ws.rules());
    let (places, total) = query.run(&board, ws.rules(), &standings);
    Ok(Listed { tasks: views(board, &standings, &places), total })
}

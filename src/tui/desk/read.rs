//! Reads the data of a screen.

use renderdag::{Ancestor, GraphRowRenderer, Renderer as _};

use crate::app::{self, Column, Failure, Graphed, ListAsk, LogQuery, Query, RunOutcome, Workspace};
use crate::task::{Kind, TaskId};
use crate::tui::model::{Answer, ChainLine, Counts, Named, Read, Reading, RoleLine, SeenPage, Snapshot, TaskPage};

/// The maximum number of journal lines of a task.
const HISTORY: usize = 200;
const RUNS: usize = 50;
const HITS: usize = 100;

pub fn read(ws: &Workspace, wanted: &Read) -> Result<Answer, Failure> {
    Ok(Answer::Read(match wanted {
        Read::Board { filter } => return Ok(Answer::Board(Box::new(board(ws, filter)?))),
        Read::Task(id) => Reading::Task(Box::new(page(ws, id)?)),
        Read::Chain(id) => {
            let graphed = app::graph(ws, std::slice::from_ref(id), false)?;
            Reading::Chain { id: id.clone(), verdict: app::why(ws, id)?.verdict, lines: lines(graphed) }
        }
        Read::Workers => Reading::Workers(workers(ws)?),
        Read::Inbox => Reading::Inbox(app::inbox(ws)?.items),
        Read::DocumentPage(path) => {
            Reading::DocumentPage { path: path.clone(), text: app::read_artifact(ws, path)?.text }
        }
        Read::RunLog(id) => {
            let shown = app::show_run(ws, app::find_run(ws, id)?)?;
            let told: String =
                shown.events.iter().filter_map(app::AgentEvent::line).map(|line| format!("{line}\n")).collect();
            let goes_on = shown.run.outcome == RunOutcome::Running;
            Reading::RunLog { id: id.clone(), text: if told.is_empty() { shown.tail } else { told }, goes_on }
        }
        Read::Review(id) => Reading::Review(Box::new(app::review(ws, id)?)),
        Read::Targets(id) => Reading::Targets { id: id.clone(), targets: app::targets(ws, id)? },
        Read::Search(text) => Reading::Found { text: text.clone(), hits: app::search(ws, text, true, HITS)? },
    }))
}

/// The data of the board, including finished tasks.
pub fn board(ws: &Workspace, filter: &str) -> Result<Snapshot, Failure> {
    let whole = app::columns(ws, &Query { all: true, ..Query::default() })?;
    let (counts, all) = (Counts::of(&whole), named(&whole));
    let columns = match filter.trim() {
        "" => whole,
        filter => app::columns(ws, &Query { all: true, ..ListAsk::typed(filter)?.query(ws)? })?,
    };
    Ok(Snapshot {
        name: ws.board_name(),
        me: ws.me().map(|me| me.to_string()).unwrap_or_default(),
        filter: filter.to_owned(),
        columns,
        all,
        counts,
        problems: ws.problems(),
    })
}

fn named(columns: &[Column]) -> Vec<Named> {
    let of = |column: &Column| {
        let (state, meaning) = (column.state.clone(), column.meaning);
        let name = move |task: &app::TaskView| Named {
            id: task.id.clone(),
            title: task.title.clone(),
            state: state.clone(),
            meaning,
        };
        column.tasks.iter().map(name).collect::<Vec<_>>()
    };
    columns.iter().flat_map(of).collect()
}

fn page(ws: &Workspace, id: &TaskId) -> Result<TaskPage, Failure> {
    let shown = app::show(ws, id)?;
    let query = LogQuery { task: Some(id.clone()), limit: Some(HISTORY), ..LogQuery::default() };
    let verdict = if shown.archived { "it is archived".into() } else { app::why(ws, id)?.verdict };
    Ok(TaskPage { shown, verdict, log: app::log(ws, &query)? })
}

/// Ready tasks are at the top; lines lead down to the tasks that they unblock.
fn lines(graphed: Graphed) -> Vec<ChainLine> {
    let mut renderer = GraphRowRenderer::new().output().with_min_row_height(2).build_box_drawing();
    let mut lines = Vec::new();
    for node in graphed.nodes {
        let below = node.leads_to.iter().map(|id| Ancestor::Parent(id.to_string())).collect();
        let drawn = renderer.next_row(node.task.id.to_string(), below, NODE.into(), String::new());
        let mut task = Some(Box::new(node.task));
        for line in drawn.lines() {
            let task = if line.contains(NODE) { task.take() } else { None };
            lines.push(ChainLine { drawing: line.trim_end().to_owned(), task });
        }
    }
    lines
}

/// The character for a task in the drawing.
pub const NODE: &str = "o";

fn workers(ws: &Workspace) -> Result<SeenPage, Failure> {
    let steps = app::columns(ws, &Query { kinds: vec![Kind::Step], ..Query::default() })?;
    let roles = app::status(ws)?.ready.into_iter().map(|queue| RoleLine {
        role: queue.role,
        at_work: queue.at_work,
        limit: queue.limit,
        ready: queue.count,
    });
    Ok(SeenPage {
        claims: app::list_claims(ws, false)?.claims,
        roles: roles.collect(),
        steps: steps.into_iter().flat_map(|column| column.tasks).collect(),
        runs: app::list_runs(ws, None, RUNS)?,
    })
}

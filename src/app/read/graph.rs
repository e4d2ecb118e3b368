//! `task tree` and `task graph`: parents with children, and blockers.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use crate::app::view::task::TaskView;
use crate::app::{Failure, Workspace};
use crate::board::{Board, Links, Standings};
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct TreeNode {
    #[serde(flatten)]
    pub task: TaskView,
    pub subtasks: Vec<TreeNode>,
}

/// The tasks below `root`, or all trees; finished branches only with `all`.
pub fn tree(ws: &Workspace, root: Option<&TaskId>, all: bool) -> Result<Vec<TreeNode>, Failure> {
    let board = ws.board()?;
    let standings = Standings::new(&board, ws.rules());
    let grower = Grower { ws, board: &board, links: Links::new(&board), standings: &standings, all };
    let roots: Vec<usize> = match root {
        Some(id) => vec![board.index_of(id).ok_or_else(|| ws.store.absent(id))?],
        None => (0..board.tasks().len()).filter(|&at| grower.is_root(at)).collect(),
    };
    let mut seen = BTreeSet::new();
    let mut trees: Vec<TreeNode> = roots.into_iter().filter_map(|at| grower.grow(at, 0, &mut seen)).collect();
    if root.is_none() {
        // Include tasks in a cycle of parents, which has no root, and tasks below the maximum depth.
        let steps = |at: &usize| board.tasks()[*at].kind != crate::task::Kind::Step;
        for at in (0..board.tasks().len()).filter(steps) {
            trees.extend(grower.grow(at, 0, &mut seen));
        }
    }
    Ok(trees)
}

/// The maximum depth, which limits the stack.
const DEEPEST: usize = 100;

struct Grower<'a> {
    ws: &'a Workspace,
    board: &'a Board,
    links: Links<'a>,
    standings: &'a Standings,
    all: bool,
}

impl Grower<'_> {
    fn is_root(&self, at: usize) -> bool {
        let task = &self.board.tasks()[at];
        task.kind != crate::task::Kind::Step
            && task.parent.as_ref().is_none_or(|parent| self.board.get(parent).is_none())
    }

    /// `seen` stops the recursion in a cycle of parents.
    fn grow(&self, at: usize, depth: usize, seen: &mut BTreeSet<usize>) -> Option<TreeNode> {
        if depth > DEEPEST || !seen.insert(at) {
            return None;
        }
        let children = self.links.children(at).iter();
        let subtasks: Vec<TreeNode> = children.filter_map(|&child| self.grow(child, depth + 1, seen)).collect();
        let task = &self.board.tasks()[at];
        let finished = self.ws.flow().is_terminal(task.kind, &task.state);
        if finished && subtasks.is_empty() && !self.all {
            return None;
        }
        Some(TreeNode { task: TaskView::new(self.board, &self.links, self.standings, at), subtasks })
    }
}

#[derive(Debug, Serialize)]
pub struct Graphed {
    /// Blockers before what they block.
    pub nodes: Vec<GraphNode>,
}

#[derive(Debug, Serialize)]
pub struct GraphNode {
    #[serde(flatten)]
    pub task: TaskView,
    /// The nodes of this graph that this one blocks and that come after it.
    #[serde(skip)]
    pub leads_to: Vec<TaskId>,
    /// The nodes that this one blocks and that come before it, because of a cycle.
    #[serde(skip)]
    pub leads_back: Vec<TaskId>,
}

/// The chains of blockers around `roots`, or all of them; finished tasks only with `all`.
pub fn graph(ws: &Workspace, roots: &[TaskId], all: bool) -> Result<Graphed, Failure> {
    let board = ws.board()?;
    let links = Links::new(&board);
    let standings = Standings::new(&board, ws.rules());
    let shown = |at: usize| {
        let task = &board.tasks()[at];
        all || !ws.flow().is_terminal(task.kind, &task.state)
    };
    let wanted: BTreeSet<usize> = if roots.is_empty() {
        let linked = |at: &usize| !board.tasks()[*at].blocked_by.is_empty() || !links.dependents(*at).is_empty();
        (0..board.tasks().len()).filter(linked).filter(|&at| shown(at)).collect()
    } else {
        let places: Vec<usize> = roots.iter().filter_map(|id| board.index_of(id)).collect();
        reachable(&board, &links, &places, &shown)
    };
    let order = in_order(&board, &links, &wanted);
    // Indexed by place, because a board may have a million links.
    let mut ranks: Vec<Option<usize>> = vec![None; board.tasks().len()];
    for (rank, &at) in order.iter().enumerate() {
        ranks[at] = Some(rank);
    }
    let nodes = order.iter().enumerate().map(|(here, &at)| {
        let inside = links.dependents(at).iter().copied().filter(|next| ranks[*next].is_some());
        let (next, back): (Vec<usize>, Vec<usize>) = inside.partition(|next| ranks[*next] > Some(here));
        GraphNode {
            task: TaskView::new(&board, &links, &standings, at),
            leads_to: links.ids(&next),
            leads_back: links.ids(&back),
        }
    });
    Ok(Graphed { nodes: nodes.collect() })
}

/// All direct and indirect blockers of these tasks, and all tasks that they block.
fn reachable(board: &Board, links: &Links<'_>, from: &[usize], shown: &impl Fn(usize) -> bool) -> BTreeSet<usize> {
    let blockers = |at: usize| board.blockers_of(at).filter_map(|(_, place)| place).collect::<Vec<_>>();
    let mut found: BTreeSet<usize> = from.iter().copied().collect();
    for forward in [true, false] {
        let mut seen: BTreeSet<usize> = from.iter().copied().collect();
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        while let Some(at) = queue.pop_front() {
            let next = if forward { links.dependents(at).to_vec() } else { blockers(at) };
            queue.extend(next.into_iter().filter(|&at| shown(at) && seen.insert(at)));
        }
        found.extend(seen);
    }
    found
}

/// Orders blockers first and keeps chains together; a cycle is broken at its smallest id.
fn in_order(board: &Board, links: &Links<'_>, wanted: &BTreeSet<usize>) -> Vec<usize> {
    let mut is_left = vec![false; board.tasks().len()];
    wanted.iter().for_each(|&at| is_left[at] = true);
    let blockers = |at: usize| board.blockers_of(at).filter_map(|(_, place)| place).filter(move |&b| b != at);
    let mut waits = vec![0_usize; board.tasks().len()];
    for &at in wanted {
        waits[at] = blockers(at).filter(|&blocker| is_left[blocker]).count();
    }
    let mut free: BTreeSet<usize> = wanted.iter().copied().filter(|&at| waits[at] == 0).collect();
    let mut left = wanted.clone();
    let mut order: Vec<usize> = Vec::with_capacity(left.len());
    while let Some(&first) = left.first() {
        // Prefer a task that the last one blocked, so that lines stay short.
        let follows =
            order.last().and_then(|&last| links.dependents(last).iter().copied().find(|next| free.contains(next)));
        let next = follows.or_else(|| free.first().copied()).unwrap_or(first);
        left.remove(&next);
        free.remove(&next);
        is_left[next] = false;
        order.push(next);
        for &dependent in links.dependents(next).iter().filter(|at| is_left[**at]) {
            waits[dependent] = waits[dependent].saturating_sub(1);
            if waits[dependent] == 0 {
                free.insert(dependent);
            }
        }
    }
    order
}

//! Chains of blockers as a drawing: layers from left to right, each task a link.

use std::collections::HashMap;

use super::svg::{Svg, cut};
use crate::app::{GraphNode, Graphed, Meaning, Workspace};
use crate::task::{Kind, StateName, TaskId};

/// More than these nobody can follow; those around the task come first.
const MOST: usize = 80;
const BOX: (f64, f64) = (200.0, 50.0);
const GAP: (f64, f64) = (56.0, 18.0);
const EDGE: f64 = 12.0;

/// Where each node lies.
struct Layout<'a> {
    nodes: Vec<&'a GraphNode>,
    places: Vec<(usize, usize)>,
    at: HashMap<&'a TaskId, usize>,
}

/// `page` and an id are where a task is.
pub fn draw(ws: &Workspace, graphed: &Graphed, root: Option<&TaskId>, page: &str) -> String {
    let layout = Layout::new(chosen(graphed, root));
    let left_out = graphed.nodes.len() - layout.nodes.len();
    let (columns, rows) = layout.size();
    let size = (
        EDGE * 2.0 + columns as f64 * (BOX.0 + GAP.0) - GAP.0,
        EDGE * 2.0 + rows as f64 * (BOX.1 + GAP.1) - GAP.1 + if left_out > 0 { 24.0 } else { 0.0 },
    );
    let mut svg = Svg::new("graph", size.0.max(1.0), size.1.max(1.0), "which task waits for which");
    for (at, node) in layout.nodes.iter().enumerate() {
        for next in node.leads_to.iter().filter_map(|id| layout.at.get(id)) {
            edge(&mut svg, layout.corner(at), layout.corner(*next));
        }
    }
    for (at, node) in layout.nodes.iter().enumerate() {
        svg.open_link(&format!("{page}{}", node.task.id), &class(ws, node, root));
        shape(&mut svg, node, layout.corner(at));
        svg.close_link();
    }
    if left_out > 0 {
        svg.text("dim", (EDGE, size.1 - EDGE), &format!("and {left_out} more, further away"));
    }
    svg.finish()
}

/// Those nearest to the root, in the order in which they came.
fn chosen<'a>(graphed: &'a Graphed, root: Option<&TaskId>) -> Vec<&'a GraphNode> {
    if graphed.nodes.len() <= MOST {
        return graphed.nodes.iter().collect();
    }
    let at: HashMap<&TaskId, usize> = graphed.nodes.iter().enumerate().map(|(at, node)| (&node.task.id, at)).collect();
    let mut near: Vec<usize> = root.and_then(|id| at.get(id)).copied().into_iter().collect();
    let mut seen = 0;
    while seen < near.len() && near.len() < MOST {
        let task = &graphed.nodes[near[seen]].task;
        for next in task.blocked_by.iter().chain(&task.blocks).filter_map(|id| at.get(id)) {
            if !near.contains(next) && near.len() < MOST {
                near.push(*next);
            }
        }
        seen += 1;
    }
    if near.is_empty() {
        near = (0..MOST).collect();
    }
    near.sort_unstable();
    near.into_iter().map(|at| &graphed.nodes[at]).collect()
}

impl<'a> Layout<'a> {
    /// Nodes come with blockers first: each lies one layer behind the furthest that it waits for, near those in height.
    fn new(nodes: Vec<&'a GraphNode>) -> Self {
        let at: HashMap<&TaskId, usize> = nodes.iter().enumerate().map(|(at, node)| (&node.task.id, at)).collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (here, node) in nodes.iter().enumerate() {
            for next in node.leads_to.iter().filter_map(|id| at.get(id)) {
                before[*next].push(here);
            }
        }
        let mut layer = vec![0; nodes.len()];
        for here in 0..nodes.len() {
            layer[here] = before[here].iter().map(|&blocker| layer[blocker] + 1).max().unwrap_or(0);
        }
        let mut places = vec![(0, 0); nodes.len()];
        for column in 0..=layer.iter().copied().max().unwrap_or(0) {
            let mut members: Vec<usize> = (0..nodes.len()).filter(|&here| layer[here] == column).collect();
            let height = |here: usize| {
                let sum: usize = before[here].iter().map(|&blocker| places[blocker].1).sum();
                (sum * 100).checked_div(before[here].len()).unwrap_or(usize::MAX)
            };
            members.sort_by_key(|&here| (height(here), here));
            for (row, here) in members.into_iter().enumerate() {
                places[here] = (column, row);
            }
        }
        Self { nodes, places, at }
    }

    fn size(&self) -> (usize, usize) {
        let columns = self.places.iter().map(|place| place.0 + 1).max().unwrap_or(0);
        (columns, self.places.iter().map(|place| place.1 + 1).max().unwrap_or(0))
    }

    fn corner(&self, at: usize) -> (f64, f64) {
        let (column, row) = self.places[at];
        (EDGE + column as f64 * (BOX.0 + GAP.0), EDGE + row as f64 * (BOX.1 + GAP.1))
    }
}

fn edge(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    let (x1, y1) = (from.0 + BOX.0, from.1 + BOX.1 / 2.0);
    let (x2, y2) = (to.0 - 2.0, to.1 + BOX.1 / 2.0);
    let bend = ((x2 - x1) / 2.0).max(20.0);
    let d = format!("M{x1:.1} {y1:.1}C{:.1} {y1:.1} {:.1} {y2:.1} {x2:.1} {y2:.1}", x1 + bend, x2 - bend);
    svg.path("edge", &d);
    svg.path("arrow", &format!("M{:.1} {:.1}l7 4l-7 4z", x2 - 6.0, y2 - 4.0));
}

fn class(ws: &Workspace, node: &GraphNode, root: Option<&TaskId>) -> String {
    let here = if root == Some(&node.task.id) { " here" } else { "" };
    format!("node {}{here}", meaning(ws, &node.task.state))
}

fn shape(svg: &mut Svg, node: &GraphNode, corner: (f64, f64)) {
    let task = &node.task;
    let owner = task.owner.as_ref().map(|owner| format!(" · {owner}")).unwrap_or_default();
    svg.rect("box", corner, BOX, 9.0, &task.title);
    svg.rect("bar", (corner.0, corner.1 + 9.0), (4.0, BOX.1 - 18.0), 2.0, "");
    svg.text("node-title", (corner.0 + 14.0, corner.1 + 21.0), &cut(&task.title, 22));
    svg.text(
        "node-state",
        (corner.0 + 14.0, corner.1 + 38.0),
        &cut(&format!("{} · {}{owner}", task.id, task.state), 28),
    );
}

/// The class by which the page colours a state.
pub fn meaning(ws: &Workspace, state: &str) -> &'static str {
    let known = [Kind::Issue, Kind::Step].into_iter().find_map(|kind| ws.flow().state(kind, &StateName::new(state)));
    match known.map(|state| Meaning::of(ws, state)) {
        Some(Meaning::Working) => "working",
        Some(Meaning::Person) => "person",
        Some(Meaning::Done) => "done",
        Some(Meaning::Canceled) => "canceled",
        Some(Meaning::Waiting) | None => "waiting",
    }
}

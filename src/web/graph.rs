//! Chains of blockers as a drawing: layers from left to right, each task a link.

use std::collections::HashMap;

use super::svg::{Svg, cut};
use crate::app::{GraphNode, Meaning};
use crate::task::TaskId;

const BOX: (f64, f64) = (200.0, 50.0);
const GAP: (f64, f64) = (56.0, 18.0);
const EDGE: f64 = 12.0;
const FOOT: f64 = 24.0;
/// How far a line that leads back extends below its boxes.
const BEND: f64 = 40.0;

/// The positions of the nodes.
struct Layout<'a> {
    nodes: Vec<&'a GraphNode>,
    places: Vec<(usize, usize)>,
    at: HashMap<&'a TaskId, usize>,
}

/// The parts of a drawing besides the tasks.
#[derive(Default)]
pub struct Frame<'a> {
    /// The task at the center.
    pub root: Option<&'a TaskId>,
    /// The path of a task's page, without the id.
    pub page: &'a str,
    /// A text below the drawing, and the target of its link.
    pub foot: Option<(String, Option<String>)>,
}

/// Draws a graph. Nodes must be sorted with blockers first.
pub fn draw(nodes: Vec<&GraphNode>, frame: &Frame<'_>) -> String {
    let layout = Layout::new(nodes);
    let (columns, rows) = layout.size();
    let rings = layout.nodes.iter().any(|node| !node.leads_back.is_empty());
    let below = if rings { BEND } else { 0.0 } + if frame.foot.is_some() { FOOT } else { 0.0 };
    let size = (
        EDGE * 2.0 + columns as f64 * (BOX.0 + GAP.0) - GAP.0,
        EDGE * 2.0 + rows as f64 * (BOX.1 + GAP.1) - GAP.1 + below,
    );
    let mut svg = Svg::new("graph", size.0.max(1.0), size.1.max(1.0), "graph of blockers");
    for (at, node) in layout.nodes.iter().enumerate() {
        let place = |id: &TaskId| layout.at.get(id).map(|&there| layout.corner(there));
        node.leads_to.iter().filter_map(place).for_each(|to| edge(&mut svg, layout.corner(at), to));
        node.leads_back.iter().filter_map(place).for_each(|to| back_edge(&mut svg, layout.corner(at), to));
    }
    for (at, node) in layout.nodes.iter().enumerate() {
        svg.open_link(&format!("{}{}", frame.page, node.task.id), &class(node, frame.root));
        shape(&mut svg, node, layout.corner(at));
        svg.close_link();
    }
    if let Some((text, link)) = &frame.foot {
        foot(&mut svg, (EDGE, size.1 - EDGE), text, link.as_deref());
    }
    svg.finish()
}

fn foot(svg: &mut Svg, at: (f64, f64), text: &str, link: Option<&str>) {
    let Some(link) = link else { return svg.text("dim", at, text) };
    svg.open_link(link, "more");
    svg.text("dim", at, text);
    svg.close_link();
}

impl<'a> Layout<'a> {
    /// Places each node one layer after its last blocker, and at about the same height as its blockers.
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

/// Draws a line that leads back. It is below the boxes, so that it looks different from the others.
fn back_edge(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    let (x1, y1) = (from.0 + BOX.0 / 2.0 + 14.0, from.1 + BOX.1);
    let (x2, y2) = (to.0 + BOX.0 / 2.0 - 14.0, to.1 + BOX.1 + 2.0);
    let low = y1.max(y2) + BEND;
    svg.path("edge back", &format!("M{x1:.1} {y1:.1}C{x1:.1} {low:.1} {x2:.1} {low:.1} {x2:.1} {y2:.1}"));
    svg.path("arrow back", &format!("M{:.1} {:.1}l4 -7l4 7z", x2 - 4.0, y2 + 6.0));
}

fn class(node: &GraphNode, root: Option<&TaskId>) -> String {
    let here = if root == Some(&node.task.id) { " here" } else { "" };
    format!("node {}{here}", named(node.task.meaning))
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

/// The CSS class for the color of a state.
fn named(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Working => "working",
        Meaning::Person => "person",
        Meaning::Done => "done",
        Meaning::Canceled => "canceled",
        Meaning::Waiting => "waiting",
        Meaning::Review => "review",
    }
}

//! `ralph task graph`: as a drawing, for Graphviz, or for Mermaid.

use std::collections::{HashMap, HashSet};

use renderdag::{Ancestor, GraphRowRenderer, Renderer as _};

use super::tree::line;
use crate::app::{self, GraphNode, Graphed};
use crate::cli::args::GraphArgs;
use crate::cli::style::paint;
use crate::cli::{Answer, Outcome, Session, words};
use crate::task::TaskId;

pub fn run(session: &Session<'_>, args: &GraphArgs) -> Answer {
    let graphed = session.at(&args.at).with(|ws| app::graph(ws, &ws.find_all(&args.tasks)?, args.all))?;
    if session.out.json {
        session.out.json(&graphed.nodes);
    } else if args.dot {
        session.out.text(&dot(&graphed));
    } else if args.mermaid {
        session.out.text(&mermaid(&graphed));
    } else if graphed.nodes.is_empty() {
        session.out.say("no task is blocked by another");
    } else {
        session.out.text(&drawing(&graphed, session.out.width()));
        let left = graphed.nodes.len().saturating_sub(DRAWN);
        if left > 0 {
            session.out.say(&format!("{left} more are not drawn: name a task, or use `--dot` to print all of them"));
        }
    }
    Ok(Outcome::Done)
}

/// The limits of a readable drawing: tasks, and lines from each.
const DRAWN: usize = 500;
const LINES: usize = 12;

/// Ready tasks are at the top; lines lead down to the tasks that they unblock.
fn drawing(graphed: &Graphed, width: Option<usize>) -> String {
    let mut renderer = GraphRowRenderer::new().output().with_min_row_height(2).build_box_drawing();
    let mut text = String::new();
    let nodes = &graphed.nodes[..graphed.nodes.len().min(DRAWN)];
    let drawn: HashSet<&TaskId> = nodes.iter().map(|node| &node.task.id).collect();
    for node in nodes {
        let below = node.leads_to.iter().filter(|id| drawn.contains(id)).take(LINES);
        let below = below.map(|id| Ancestor::Parent(id.to_string())).collect();
        let (mark, color) = words::mark(&node.task);
        let row = line(&node.task, width.map(|width| width.saturating_sub(12)));
        let row = row.split_once(' ').map_or(row.as_str(), |(_, rest)| rest).to_owned();
        text.push_str(&renderer.next_row(node.task.id.to_string(), below, paint(color, mark), row));
    }
    text.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn edges(graphed: &Graphed) -> impl Iterator<Item = (&GraphNode, &GraphNode)> {
    let by_id: HashMap<&TaskId, &GraphNode> = graphed.nodes.iter().map(|node| (&node.task.id, node)).collect();
    let pairs = graphed.nodes.iter().flat_map(|node| node.task.blocked_by.iter().map(move |id| (id, node)));
    pairs.filter_map(move |(id, node)| Some((*by_id.get(id)?, node)))
}

fn dot(graphed: &Graphed) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph tasks {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
    for node in &graphed.nodes {
        let task = &node.task;
        let label = quote(&format!("{} · {}", task.id, task.state)).trim_end_matches('"').to_owned();
        text.push_str(&format!("  {} [label={label}\\n{}];\n", quote(task.id.as_str()), &quote(&task.title)[1..]));
    }
    for (from, to) in edges(graphed) {
        text.push_str(&format!("  {} -> {};\n", quote(from.task.id.as_str()), quote(to.task.id.as_str())));
    }
    text + "}\n"
}

fn mermaid(graphed: &Graphed) -> String {
    let places: HashMap<&TaskId, usize> =
        graphed.nodes.iter().enumerate().map(|(at, node)| (&node.task.id, at)).collect();
    let name = |node: &GraphNode| format!("n{}", places.get(&node.task.id).copied().unwrap_or_default());
    let safe = |text: &str| text.replace('"', "#quot;").replace(['<', '>'], " ");
    let mut text = String::from("flowchart LR\n");
    for node in &graphed.nodes {
        let task = &node.task;
        text.push_str(&format!("  {}[\"{} · {}<br/>{}\"]\n", name(node), task.id, task.state, safe(&task.title)));
    }
    for (from, to) in edges(graphed) {
        text.push_str(&format!("  {} --> {}\n", name(from), name(to)));
    }
    text
}

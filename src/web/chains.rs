//! Splits a graph into parts that are drawn together.

use std::collections::HashMap;

use crate::app::{GraphNode, Graphed};
use crate::task::TaskId;

/// The maximum number of tasks in one drawing, so that it stays readable.
const MOST: usize = 80;

/// The tasks nearest to a task, in the order of the graph.
pub fn around<'a>(graphed: &'a Graphed, root: &TaskId) -> Vec<&'a GraphNode> {
    let linked = linked(&graphed.nodes);
    let start = graphed.nodes.iter().position(|node| node.task.id == *root);
    let mut near = start.map_or_else(Vec::new, |start| reached(start, &linked, MOST));
    near.sort_unstable();
    near.into_iter().map(|at| &graphed.nodes[at]).collect()
}

/// All tasks in parts. Connected tasks are in the same part as far as they fit.
pub fn parts(graphed: &Graphed) -> Vec<Vec<&GraphNode>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for chain in chains(&graphed.nodes) {
        for piece in chain.chunks(MOST) {
            match parts.last_mut() {
                Some(last) if last.len() + piece.len() <= MOST => last.extend(piece),
                _ => parts.push(piece.to_vec()),
            }
        }
    }
    let nodes = |mut part: Vec<usize>| {
        part.sort_unstable();
        part.into_iter().map(|at| &graphed.nodes[at]).collect()
    };
    parts.into_iter().map(nodes).collect()
}

/// The places of connected nodes, in the order of the graph.
fn chains(nodes: &[GraphNode]) -> Vec<Vec<usize>> {
    let linked = linked(nodes);
    let mut seen = vec![false; nodes.len()];
    let mut chains = Vec::new();
    for start in 0..nodes.len() {
        if seen[start] {
            continue;
        }
        let mut chain = reached(start, &linked, usize::MAX);
        chain.sort_unstable();
        chain.iter().for_each(|&at| seen[at] = true);
        chains.push(chain);
    }
    chains
}

/// The nodes that each node is linked to, in both directions.
fn linked(nodes: &[GraphNode]) -> Vec<Vec<usize>> {
    let at: HashMap<&TaskId, usize> = nodes.iter().enumerate().map(|(at, node)| (&node.task.id, at)).collect();
    let mut linked: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (here, node) in nodes.iter().enumerate() {
        for &there in node.leads_to.iter().chain(&node.leads_back).filter_map(|id| at.get(id)) {
            linked[here].push(there);
            linked[there].push(here);
        }
    }
    linked
}

/// The connected nodes, the nearest first.
fn reached(start: usize, linked: &[Vec<usize>], most: usize) -> Vec<usize> {
    let mut seen = vec![false; linked.len()];
    seen[start] = true;
    let mut found = vec![start];
    let mut next = 0;
    while next < found.len() {
        for &there in &linked[found[next]] {
            if !seen[there] && found.len() < most {
                seen[there] = true;
                found.push(there);
            }
        }
        next += 1;
    }
    found
}

//! `ralph task tree`.

use crate::app::{self, TreeNode};
use crate::cli::args::Tree;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &Tree) -> Answer {
    let roots = session.with(|ws| {
        let root = args.task.as_ref().map(|typed| ws.find(typed)).transpose()?;
        app::tree(ws, root.as_ref(), args.all)
    })?;
    if session.out.json {
        session.out.json(&roots);
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for root in &roots {
        draw(root, "", "", &mut text);
    }
    if text.is_empty() {
        session.out.say("no tasks");
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

fn draw(node: &TreeNode, before: &str, below: &str, text: &mut String) {
    text.push_str(&format!("{}{}\n", paint(style::DIM, before), line(&node.task)));
    for (at, child) in node.subtasks.iter().enumerate() {
        let last = at + 1 == node.subtasks.len();
        let (branch, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(child, &format!("{below}{branch}"), &format!("{below}{rest}"), text);
    }
}

/// A task in one line, for drawings.
pub fn line(task: &app::TaskView) -> String {
    let (mark, color) = words::mark(task);
    let priority = task.priority.map(|p| format!(" {}", paint(style::priority(p), p))).unwrap_or_default();
    let owner =
        task.owner.as_ref().map(|owner| format!(" {}", paint(style::OWNER, format!("@{owner}")))).unwrap_or_default();
    let state = paint(style::state(&task.state), &task.state);
    format!("{} {}{priority} {} · {state}{owner}", paint(color, mark), paint(style::ID, &task.id), task.title)
}

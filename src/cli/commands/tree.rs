//! `ralph task tree`.

use crate::app::{self, TreeNode};
use crate::cli::args::TreeArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::{clean, cut};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &TreeArgs) -> Answer {
    let roots = session.at(&args.at).with(|ws| {
        let root = args.task.as_ref().map(|typed| ws.find(typed)).transpose()?;
        app::tree(ws, root.as_ref(), args.all)
    })?;
    if session.out.json {
        session.out.json(&roots);
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for root in &roots {
        draw(root, "", "", session.out.width(), &mut text);
    }
    if text.is_empty() {
        session.out.say("no tasks");
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

fn draw(node: &TreeNode, before: &str, below: &str, width: Option<usize>, text: &mut String) {
    let room = width.map(|width| width.saturating_sub(before.chars().count()));
    text.push_str(&format!("{}{}\n", paint(style::DIM, before), line(&node.task, room)));
    for (at, child) in node.subtasks.iter().enumerate() {
        let last = at + 1 == node.subtasks.len();
        let (branch, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(child, &format!("{below}{branch}"), &format!("{below}{rest}"), width, text);
    }
}

/// A task in one line, for drawings; the title is cut to the width.
pub fn line(task: &app::TaskView, room: Option<usize>) -> String {
    let (mark, color) = words::mark(task);
    let owner = task.owner.as_ref().map(|owner| format!(" @{}", clean(owner))).unwrap_or_default();
    let priority = task.priority.map(|p| format!(" {p}")).unwrap_or_default();
    let taken = 6 + task.id.as_str().len() + priority.len() + task.state.as_str().len() + owner.len();
    let title = cut(&clean(&task.title), room.map_or(usize::MAX, |room| room.saturating_sub(taken).max(12)));
    let priority = task.priority.map(|p| format!(" {}", paint(style::priority(p), p))).unwrap_or_default();
    let state = paint(style::state(&task.state), &task.state);
    format!(
        "{} {}{priority} {title} · {state}{}",
        paint(color, mark),
        paint(style::ID, &task.id),
        paint(style::OWNER, owner)
    )
}

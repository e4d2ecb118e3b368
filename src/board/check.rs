//! Inconsistencies of a board whose files are all readable.

use super::change::unlinking;
use super::{Assignment, Board, DEEPEST_PARENTS, Links};
use crate::task::TaskId;
use crate::workflow::Workflow;

/// An inconsistency that `doctor` reports, and the assignments that fix it if that is safe.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub code: &'static str,
    pub task: Option<TaskId>,
    pub message: String,
    pub advice: String,
    pub fix: Vec<Assignment>,
}

pub fn inspect(board: &Board, flow: &Workflow) -> Vec<Finding> {
    let mut found = Vec::new();
    dangling(board, &mut found);
    cycles(board, &mut found);
    too_deep(board, &mut found);
    parents(board, flow, &mut found);
    similar_titles(board, flow, &mut found);
    found
}

fn dangling(board: &Board, found: &mut Vec<Finding>) {
    let names = |ids: &[&TaskId]| ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
    for task in board.tasks() {
        let parent: Vec<&TaskId> = task.parent.iter().filter(|id| !board.knows(id)).collect();
        let blockers: Vec<&TaskId> = task.blocked_by.iter().filter(|id| !board.knows(id)).collect();
        let waits = format!("{} is blocked by {}, which does not exist", task.id, names(&blockers));
        let belongs = format!("{} has the parent {}, which does not exist", task.id, names(&parent));
        for (code, gone, message) in [("dangling-parent", parent, belongs), ("dangling-blocker", blockers, waits)] {
            if !gone.is_empty() {
                let fix = unlinking(task, |id| gone.contains(&id) && !board.knows(id));
                let advice = "`--fix` removes the link".into();
                found.push(Finding { code, task: Some(task.id.clone()), message, advice, fix });
            }
        }
    }
}

fn cycles(board: &Board, found: &mut Vec<Finding>) {
    for cycle in Links::new(board).cycles() {
        found.push(Finding {
            code: "cycle",
            task: cycle.0.first().cloned(),
            message: format!("these tasks block each other: {cycle}"),
            advice: "remove one of these links: `ralph unblock TASK --from BLOCKER`".into(),
            fix: Vec::new(),
        });
    }
}

/// Finds a task with too many levels of parents.
fn too_deep(board: &Board, found: &mut Vec<Finding>) {
    let is_deep = |at: usize| {
        let mut above = std::iter::successors(board.parent_of(at), |&parent| board.parent_of(parent));
        above.nth(DEEPEST_PARENTS).is_some()
    };
    let Some(first) = (0..board.tasks().len()).find(|&at| is_deep(at)) else { return };
    let id = board.tasks()[first].id.clone();
    found.push(Finding {
        code: "too-deep",
        message: format!("{id} has more than {DEEPEST_PARENTS} levels of parents; those above are ignored"),
        task: Some(id),
        advice: "remove levels in between".into(),
        fix: Vec::new(),
    });
}

/// Finds a finished parent with an open child.
fn parents(board: &Board, flow: &Workflow, found: &mut Vec<Finding>) {
    for task in board.tasks() {
        let Some(parent) = task.parent.as_ref().and_then(|id| board.get(id)) else { continue };
        if flow.is_terminal(parent.kind, &parent.state) && !flow.is_terminal(task.kind, &task.state) {
            found.push(Finding {
                code: "finished-parent",
                task: Some(task.id.clone()),
                message: format!("{} is {}, but its parent {} is {}", task.id, task.state, parent.id, parent.state),
                advice: format!("finish {}, or move {} back", task.id, parent.id),
                fix: Vec::new(),
            });
        }
    }
}

fn similar_titles(board: &Board, flow: &Workflow, found: &mut Vec<Finding>) {
    let mut by_title = std::collections::HashMap::new();
    for task in board.tasks().iter().filter(|task| !flow.is_terminal(task.kind, &task.state)) {
        if let Some(other) = by_title.insert((task.title.to_lowercase(), task.parent.clone()), &task.id) {
            found.push(Finding {
                code: "same-title",
                task: Some(task.id.clone()),
                message: format!("{other} and {} have the same title {:?}", task.id, task.title),
                advice: "if they are the same work, cancel one of them".into(),
                fix: Vec::new(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, id};
    use crate::task::Key;

    fn found(sample: Sample) -> Vec<Finding> {
        inspect(&sample.build(), &Workflow::builtin())
    }

    fn two() -> Sample {
        Sample::board().tasks(&[("a", "Backlog"), ("b", "Backlog")])
    }

    #[test]
    fn each_thing_that_does_not_fit_is_found() {
        for (sample, code, message) in [
            (two().blocked_by(&["a", "x", "y"]), "dangling-blocker", "b is blocked by x, y, which does not exist"),
            (two().parent("x"), "dangling-parent", "b has the parent x, which does not exist"),
            (two().blocked_by(&["b"]), "cycle", "these tasks block each other: b → b"),
            (two().titled("A"), "same-title", r#"a and b have the same title "A""#),
            (
                Sample::board().task("p", "Done").children("p", &[("a", "Backlog")]),
                "finished-parent",
                "a is Backlog, but its parent p is Done",
            ),
        ] {
            let got: Vec<(&str, String)> = found(sample).into_iter().map(|found| (found.code, found.message)).collect();
            assert_eq!(got, [(code, message.to_owned())]);
        }
    }

    #[test]
    fn a_consistent_board_has_no_findings() {
        for sample in [
            two(),
            two().parent("a").blocked_by(&["old", "cut"]).archived("old", "Done").broken("cut"),
            two().task("c", "Done").titled("A"),
            Sample::board().task("p", "Done").children("p", &[("a", "Canceled"), ("b", "Done")]),
            Sample::board()
                .tasks(&[("p", "Backlog"), ("q", "Backlog")])
                .children("p", &[("a", "Backlog")])
                .titled("same")
                .children("q", &[("b", "Backlog")])
                .titled("same"),
        ] {
            assert_eq!(found(sample), []);
        }
    }

    #[test]
    fn only_dangling_links_have_an_automatic_fix() {
        let got = found(two().parent("x").blocked_by(&["a", "y"]));
        let fixes: Vec<&[Assignment]> = got.iter().map(|found| found.fix.as_slice()).collect();
        let parent = Assignment::Put(Key::new("parent"), None);
        let blocker = Assignment::Drop(Key::new("blocked_by"), vec!["y".into()]);
        assert_eq!(fixes, [&[parent][..], &[blocker][..]]);
        assert!(got.iter().all(|found| found.task == Some(id("b"))));
        assert!(found(two().blocked_by(&["b"]))[0].fix.is_empty(), "a person decides where a ring is cut");
    }
}

//! The subject of a document: one task, or a group with its members in order.

use crate::board::{Board, Links, Refusal, Rules, unmarked};
use crate::task::{GithubLink, Task, TaskId};

use super::DocumentKind;

#[derive(Debug, Clone)]
pub struct Subject {
    /// The group's first member, or the task itself.
    pub task: TaskId,
    pub title: String,
    /// The members of the group in the order of their phases; one for a task without a group.
    pub members: Vec<Member>,
    /// The round of the review: one more than the number of rejections.
    pub round: u32,
    /// The path of the linked plan.
    pub plan: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Member {
    pub id: TaskId,
    pub title: String,
    pub issue: Option<GithubLink>,
    pub blocked_by: Vec<TaskId>,
}

impl Subject {
    pub fn of(kind: DocumentKind, board: &Board, id: &TaskId, rules: &Rules) -> Result<Self, Refusal> {
        let at = board.index_of(id).ok_or_else(|| Refusal::Missing(id.clone()))?;
        let places = match kind.is_of_group() {
            true => board.group_of(at, &Links::new(board), rules)?.members,
            false => vec![at],
        };
        let tasks: Vec<&Task> = places.iter().map(|&at| &board.tasks()[at]).collect();
        let first = tasks[0];
        Ok(Self {
            task: first.id.clone(),
            title: first.title.clone(),
            members: tasks.iter().map(|task| Member::of(task)).collect(),
            round: first.rejections + 1,
            plan: first.artifacts.get("plan").cloned(),
        })
    }

    pub fn is_group(&self) -> bool {
        self.members.len() > 1
    }

    pub fn issue(&self) -> Option<&GithubLink> {
        self.members.first().and_then(|member| member.issue.as_ref())
    }

    /// The name in file names: `GH-0044`, or the id if there is no issue.
    pub fn label(&self) -> String {
        self.issue().map_or_else(|| self.task.to_string(), |issue| format!("GH-{:04}", issue.number))
    }
}

impl Member {
    pub fn of(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            title: task.title.clone(),
            issue: task.github.clone(),
            blocked_by: task.blocked_by.clone(),
        }
    }

    /// The name in the text of documents: `GH-44`, or the id if there is no issue.
    pub fn label(&self) -> String {
        self.issue.as_ref().map_or_else(|| self.id.to_string(), |issue| format!("GH-{}", issue.number))
    }

    /// Whether a name in a document means this task: its id, also with the mark of an issue, or its issue with or without zeros.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.trim();
        unmarked(name) == self.id.as_str() || (self.issue.is_some() && issue_number(name) == self.number())
    }

    pub fn number(&self) -> Option<u64> {
        self.issue.as_ref().map(|issue| issue.number)
    }
}

/// Parses `GH-44`, `GH-0044`, `#44` or `44`.
pub fn issue_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("GH-").or_else(|| name.strip_prefix("gh-")).or_else(|| name.strip_prefix('#'));
    let digits = digits.unwrap_or(name);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

//! Idempotent mutations, and batches of them in one request.

use serde_json::{Value, json};

use super::Node;

/// The number of calls in one request: GitHub aborts requests after ten seconds.
pub const AT_ONCE: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Title {
        issue: Node,
        title: String,
    },
    Body {
        issue: Node,
        body: String,
    },
    Close {
        issue: Node,
        reason: &'static str,
    },
    /// Closes a duplicate issue of a task, with a link to the issue that stays.
    CloseDuplicate {
        issue: Node,
        of: Node,
    },
    Reopen {
        issue: Node,
    },
    Choose {
        project: Node,
        item: Node,
        field: Node,
        option: String,
    },
    Clear {
        project: Node,
        item: Node,
        field: Node,
    },
    AddLabels {
        issue: Node,
        labels: Vec<Node>,
    },
    RemoveLabels {
        issue: Node,
        labels: Vec<Node>,
    },
    AddChild {
        parent: Node,
        child: Node,
    },
    RemoveChild {
        parent: Node,
        child: Node,
    },
    AddBlocker {
        issue: Node,
        blocker: Node,
    },
    RemoveBlocker {
        issue: Node,
        blocker: Node,
    },
    Archive {
        project: Node,
        item: Node,
    },
    Unarchive {
        project: Node,
        item: Node,
    },
    AddItem {
        project: Node,
        issue: Node,
    },
    EditComment {
        comment: Node,
        body: String,
    },
    DeleteComment {
        comment: Node,
    },
}

/// The name of the mutation, the type of its input, and the fields of the answer.
type Shape = (&'static str, &'static str, &'static str);

impl Call {
    fn shape(&self) -> Shape {
        match self {
            Self::Title { .. } => ("updateIssue", "UpdateIssueInput", "issue { title }"),
            Self::Body { .. } => ("updateIssue", "UpdateIssueInput", "issue { body }"),
            Self::Close { .. } | Self::CloseDuplicate { .. } => ("closeIssue", "CloseIssueInput", "issue { id }"),
            Self::Reopen { .. } => ("reopenIssue", "ReopenIssueInput", "issue { id }"),
            Self::Choose { .. } => {
                ("updateProjectV2ItemFieldValue", "UpdateProjectV2ItemFieldValueInput", "projectV2Item { id }")
            }
            Self::Clear { .. } => {
                ("clearProjectV2ItemFieldValue", "ClearProjectV2ItemFieldValueInput", "projectV2Item { id }")
            }
            Self::AddLabels { .. } => ("addLabelsToLabelable", "AddLabelsToLabelableInput", "labelable { __typename }"),
            Self::RemoveLabels { .. } => {
                ("removeLabelsFromLabelable", "RemoveLabelsFromLabelableInput", "labelable { __typename }")
            }
            Self::AddChild { .. } => ("addSubIssue", "AddSubIssueInput", "issue { id }"),
            Self::RemoveChild { .. } => ("removeSubIssue", "RemoveSubIssueInput", "issue { id }"),
            Self::AddBlocker { .. } => ("addBlockedBy", "AddBlockedByInput", "issue { id }"),
            Self::RemoveBlocker { .. } => ("removeBlockedBy", "RemoveBlockedByInput", "issue { id }"),
            Self::Archive { .. } => ("archiveProjectV2Item", "ArchiveProjectV2ItemInput", "item { id }"),
            Self::Unarchive { .. } => ("unarchiveProjectV2Item", "UnarchiveProjectV2ItemInput", "item { id }"),
            Self::AddItem { .. } => ("addProjectV2ItemById", "AddProjectV2ItemByIdInput", "item { id }"),
            Self::DeleteComment { .. } => ("deleteIssueComment", "DeleteIssueCommentInput", "clientMutationId"),
            Self::EditComment { .. } => ("updateIssueComment", "UpdateIssueCommentInput", "issueComment { body }"),
        }
    }

    fn input(&self) -> Value {
        match self {
            Self::Title { issue, title } => json!({ "id": issue, "title": title }),
            Self::Body { issue, body } => json!({ "id": issue, "body": body }),
            Self::Close { issue, reason } => json!({ "issueId": issue, "stateReason": reason }),
            Self::CloseDuplicate { issue, of } => {
                json!({ "issueId": issue, "stateReason": "DUPLICATE", "duplicateIssueId": of })
            }
            Self::Reopen { issue } => json!({ "issueId": issue }),
            Self::Choose { project, item, field, option } => json!({
                "projectId": project, "itemId": item, "fieldId": field, "value": { "singleSelectOptionId": option },
            }),
            Self::Clear { project, item, field } => json!({ "projectId": project, "itemId": item, "fieldId": field }),
            Self::AddLabels { issue, labels } | Self::RemoveLabels { issue, labels } => {
                json!({ "labelableId": issue, "labelIds": labels })
            }
            Self::AddChild { parent, child } => {
                json!({ "issueId": parent, "subIssueId": child, "replaceParent": true })
            }
            Self::RemoveChild { parent, child } => json!({ "issueId": parent, "subIssueId": child }),
            Self::AddBlocker { issue, blocker } | Self::RemoveBlocker { issue, blocker } => {
                json!({ "issueId": issue, "blockingIssueId": blocker })
            }
            Self::Archive { project, item } | Self::Unarchive { project, item } => {
                json!({ "projectId": project, "itemId": item })
            }
            Self::AddItem { project, issue } => json!({ "projectId": project, "contentId": issue }),
            Self::DeleteComment { comment } => json!({ "id": comment }),
            Self::EditComment { comment, body } => json!({ "id": comment, "body": body }),
        }
    }

    /// The text as GitHub has stored it.
    pub fn kept(&self, answer: &Value) -> Option<String> {
        let text = match self {
            Self::Title { .. } => &answer["issue"]["title"],
            Self::Body { .. } => &answer["issue"]["body"],
            Self::EditComment { .. } => &answer["issueComment"]["body"],
            Self::AddItem { .. } => &answer["item"]["id"],
            _ => return None,
        };
        text.as_str().map(str::to_owned)
    }
}

/// One document for all calls, with the aliases `m0`, `m1` and so on, and its variables.
pub fn batch(calls: &[Call]) -> (String, Value) {
    let (heads, lines, variables) = aliased(calls);
    (format!("mutation Batch({}) {{\n{lines}}}\n", heads.join(", ")), Value::Object(variables))
}

/// A document that creates an issue and also makes calls about other issues. GitHub runs them in this order.
pub fn create_with(input: Value, riders: &[Call]) -> (String, Value) {
    let (mut heads, lines, mut variables) = aliased(riders);
    heads.insert(0, "$input: CreateIssueInput!".to_owned());
    variables.insert("input".to_owned(), input);
    let made = "issue { id number url title body projectItems(first: 5) { nodes { id project { id } } } }";
    let document = format!(
        "mutation CreateIssue({}) {{\n  createIssue(input: $input) {{ {made} }}\n{lines}}}\n",
        heads.join(", ")
    );
    (document, Value::Object(variables))
}

fn aliased(calls: &[Call]) -> (Vec<String>, String, serde_json::Map<String, Value>) {
    let mut heads = Vec::new();
    let mut lines = String::new();
    let mut variables = serde_json::Map::new();
    for (at, call) in calls.iter().enumerate() {
        let (name, input, back) = call.shape();
        heads.push(format!("$v{at}: {input}!"));
        lines.push_str(&format!("  m{at}: {name}(input: $v{at}) {{ {back} }}\n"));
        variables.insert(format!("v{at}"), call.input());
    }
    (heads, lines, variables)
}

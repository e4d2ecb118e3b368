//! `create_comment`: adds a note, and links the document that it names if it hands in a document as the skills do.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::{GROUPING, tool, words};
use crate::app::{self, Code, Failure, Grouping, Hint};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    /// Markdown
    body: String,
}

pub fn create_comment() -> Tool {
    tool(
        "ralph_hero__create_comment",
        Nature::Writes,
        "Add a comment. The path or URL of a document in thoughts/shared, below `## Research Document`, `## Implementation Plan` or \
         `## Plan Review`, links the document to the issue.",
        &[("commentId", "string"), ("artifact", "object")],
        |call: &Call<'_>, args: Args| {
            let id = call.find_exact(&args.number)?;
            let noted = app::note(call.ws, &id, &args.body)?;
            let name = Path::new(&noted.file).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let mut reply = json!({ "commentId": name, "issueNumber": Around::of(call.ws, &id)?.number(&id) });
            if let Some((kind, path)) = handed_in(&args.body) {
                reply["artifact"] = link(call, &id, kind, path);
            }
            Ok(reply)
        },
    )
}

/// Headings under which the skills' comments name documents.
const HEADINGS: [&str; 5] = [
    "## Research Document",
    "## Implementation Plan",
    "## Group Implementation Plan",
    "## Plan Review",
    "## Plan Critique",
];

const FOLDERS: [(&str, &str); 3] = [
    ("thoughts/shared/research/", "research"),
    ("thoughts/shared/plans/", "plan"),
    ("thoughts/shared/reviews/", "review"),
];

/// The kind and path of the document that a comment names under such a heading.
fn handed_in(body: &str) -> Option<(&'static str, &str)> {
    let mut lines = body.lines().skip_while(|line| !HEADINGS.contains(&line.trim_end()));
    lines.next()?;
    let section = lines.take_while(|line| !line.starts_with("## "));
    section.filter_map(document).next()
}

fn document(line: &str) -> Option<(&'static str, &str)> {
    FOLDERS.iter().find_map(|(folder, kind)| {
        let rest = &line[line.find(folder)?..];
        let end = rest.find(".md")? + ".md".len();
        let path = &rest[..end];
        (!path.contains(char::is_whitespace)).then_some((*kind, path))
    })
}

/// Links the document. If this fails, the comment is kept, and the failure is part of the answer.
fn link(call: &Call<'_>, id: &TaskId, kind: &str, path: &str) -> Value {
    match app::link_artifact(call.ws, kind, id, Some(Path::new(path)), call.ws.store.root()) {
        Ok(linked) => json!({ "kind": kind, "path": linked.path, "linked": true }),
        Err(failure) => {
            let mut told = words::told(&words::here(hinted(call, id, failure)));
            told["kind"] = json!(kind);
            told["path"] = json!(path);
            told["linked"] = json!(false);
            told
        }
    }
}

/// The failure with a hint that this comment has not followed already: a document of another issue is of this one, too, if both are
/// one group, which their first lock declares.
fn hinted(call: &Call<'_>, id: &TaskId, failure: Failure) -> Failure {
    if failure.code != Code::OtherDocument {
        return failure;
    }
    let number = Around::of(call.ws, id).map(|around| around.number(id)).unwrap_or_default();
    let number = number.as_str().unwrap_or(id.as_str());
    let members = |grouping| app::group(call.ws, id, grouping).map_or(1, |group| group.members.len());
    let hint = match members(Grouping::Declared) < members(GROUPING) {
        true => format!(
            "if it is the plan of the group, the group is not declared yet: call ralph_hero__update_workflow_state with number \
             {number}, state __LOCK__ and your command, then comment again"
        ),
        false => format!("name a document whose file name has GH-{number} or the primary of its group"),
    };
    Failure { hints: vec![Hint::step(hint)], ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_handed_in_below_its_heading_and_nowhere_else() {
        let url = "https://github.com/o/r/blob/main/thoughts/shared/research/2026-11-16-GH-0044-x.md";
        let path = "thoughts/shared/research/2026-11-16-GH-0044-x.md";
        assert_eq!(handed_in(&format!("## Research Document\n\n{url}\n\nKey findings")), Some(("research", path)));
        assert_eq!(handed_in(&format!("## Research Document\n- [it]({path}#top)")), Some(("research", path)));
        let plan = "Hello\n## Implementation Plan\n\n`thoughts/shared/plans/a.md`\n";
        assert_eq!(handed_in(plan), Some(("plan", "thoughts/shared/plans/a.md")));
        for other in [
            format!("see {url}"),
            format!("## Notes\n{url}"),
            format!("## Research Document\nnone\n## Notes\n{url}"),
            "## Research Document\nthoughts/shared/research/a b.md".to_owned(),
            "## Research Document\nthoughts/shared/research/a".to_owned(),
            String::new(),
        ] {
            assert_eq!(handed_in(&other), None, "{other}");
        }
    }
}

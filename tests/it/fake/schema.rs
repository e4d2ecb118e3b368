//! The schema of each level, and whether a document is valid under it.

use std::sync::OnceLock;

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};

/// The version of GitHub that is faked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Dotcom,
    /// Enterprise Server 3.17: no dependencies, no option ids, no archived listing (§1.1).
    Ghes317,
}

const SDL: &str = include_str!("schema.graphql");

/// Fields that 3.17 lacks: a definition and the line to remove from it.
const LINES: [(&str, &str); 6] = [
    ("type Mutation ", "addBlockedBy("),
    ("type Mutation ", "removeBlockedBy("),
    ("type Issue ", "blockedBy("),
    ("type Issue ", "issueDependenciesSummary:"),
    ("input CreateIssueInput ", "projectV2Ids:"),
    ("input ProjectV2SingleSelectFieldOptionInput ", "id:"),
];

/// Whole definitions that 3.17 lacks.
const DEFINITIONS: [&str; 8] = [
    "input AddBlockedByInput ",
    "type AddBlockedByPayload ",
    "input RemoveBlockedByInput ",
    "type RemoveBlockedByPayload ",
    "enum IssueDependencyOrderField ",
    "input IssueDependencyOrder ",
    "type IssueDependenciesSummary ",
    "enum ProjectV2ItemArchivedState ",
];

/// The parsed schema of a level, once per process.
pub(super) fn schema(level: Level) -> &'static Valid<Schema> {
    static DOTCOM: OnceLock<Valid<Schema>> = OnceLock::new();
    static GHES: OnceLock<Valid<Schema>> = OnceLock::new();
    match level {
        Level::Dotcom => DOTCOM.get_or_init(|| load(SDL)),
        Level::Ghes317 => GHES.get_or_init(|| load(&without_new_parts(SDL))),
    }
}

fn load(sdl: &str) -> Valid<Schema> {
    Schema::parse_and_validate(sdl, "schema.graphql").unwrap_or_else(|e| panic!("the fake's schema: {}", e.errors))
}

fn without_new_parts(sdl: &str) -> String {
    let mut kept = String::new();
    let mut inside = "";
    let mut dropping = false;
    for line in sdl.lines() {
        if line.ends_with('{') {
            inside = line;
            dropping = DEFINITIONS.iter().any(|d| line.starts_with(d));
        }
        let lacks = LINES.iter().any(|(def, field)| inside.starts_with(def) && line.trim_start().starts_with(field));
        if !dropping && !lacks {
            kept.push_str(line);
            kept.push('\n');
        }
        if line == "}" {
            dropping = false;
        }
    }
    let items = "archivedStates: [ProjectV2ItemArchivedState!] = [NOT_ARCHIVED], ";
    assert!(kept.contains(items), "the arguments of ProjectV2.items moved");
    kept.replace(items, "").replacen(
        "direction: ASC}, query: String = \"\"): ProjectV2ItemConnection!",
        "direction: ASC}): ProjectV2ItemConnection!",
        1,
    )
}

/// Whether every operation of the document is valid.
///
/// # Errors
/// The validator's messages in one text.
pub fn validate(document: &str, level: Level) -> Result<(), String> {
    match ExecutableDocument::parse_and_validate(schema(level), document, "document.graphql") {
        Ok(parsed) if parsed.operations.is_empty() => Err("the document has no operation".into()),
        Ok(_) => Ok(()),
        Err(invalid) => Err(invalid.errors.to_string()),
    }
}

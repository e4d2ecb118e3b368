//! The scopes of the token, which are checked before anything runs.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;
use serde_json::{Value, json};

use super::cost::places;
use super::world::World;

/// Checks the token's scopes; fine-grained tokens have permissions instead.
pub(super) fn check(
    world: &World,
    document: &ExecutableDocument,
    operation: &Operation,
    variables: &JsonMap,
) -> Result<(), Vec<Value>> {
    if world.fine_grained {
        return Ok(());
    }
    let mut walk = Walk { world, document, errors: Vec::new() };
    walk.set(&operation.selection_set, operation.is_mutation());
    if operation.is_mutation() && mentions_projects(variables) {
        let error = walk.refusal("projectV2Ids", "project", None);
        walk.errors.extend(error);
    }
    if walk.errors.is_empty() { Ok(()) } else { Err(walk.errors) }
}

/// `createIssue(projectV2Ids:)` writes to a project although its name does not say so.
fn mentions_projects(variables: &JsonMap) -> bool {
    let text = serde_json::to_value(variables).unwrap_or_default();
    let has = |v: &Value| v["projectV2Ids"].as_array().is_some_and(|ids| !ids.is_empty());
    has(&text) || text.as_object().is_some_and(|o| o.values().any(has))
}

struct Walk<'a> {
    world: &'a World,
    document: &'a ExecutableDocument,
    errors: Vec<Value>,
}

impl Walk<'_> {
    fn set(&mut self, set: &SelectionSet, mutation: bool) {
        let of_project = set.ty.as_str().starts_with("ProjectV2") && set.ty != "ProjectV2Owner";
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => self.field(field, of_project, mutation),
                Selection::InlineFragment(inline) => self.set(&inline.selection_set, false),
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name) {
                        self.set(&fragment.selection_set, false);
                    }
                }
            }
        }
    }

    fn field(&mut self, field: &Field, of_project: bool, mutation: bool) {
        let about_projects = field.ty().inner_named_type().as_str().starts_with("ProjectV2") || of_project;
        let name = field.name.as_str();
        if mutation && name.contains("ProjectV2") {
            let error = self.refusal(name, "project", Some(field));
            self.errors.extend(error);
        } else if about_projects && !name.starts_with("__") {
            let error = self.refusal(name, "read:project", Some(field));
            self.errors.extend(error);
        }
        self.set(&field.selection_set, false);
    }

    fn refusal(&self, name: &str, scope: &str, at: Option<&Field>) -> Option<Value> {
        let granted = |s: &str| self.world.scopes.iter().any(|have| have == s);
        if granted("project") || granted(scope) {
            return None;
        }
        let have: Vec<String> = self.world.scopes.iter().map(|s| format!("'{s}'")).collect();
        let message = format!(
            "Your token has not been granted the required scopes to execute this query. The '{name}' field requires one of the \
             following scopes: ['{scope}'], but your token has only been granted the: [{}] scopes. Please modify your token's \
             scopes at: https://github.com/settings/tokens.",
            have.join(", ")
        );
        let place = at.and_then(|f| f.name.location()).and_then(|l| l.line_column(&self.document.sources));
        Some(json!({"type": "INSUFFICIENT_SCOPES", "locations": places(place), "message": message}))
    }
}

//! The cost of a query by GitHub's formula, and the limits checked before it runs (§1.3).

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::parser::LineColumn;
use apollo_compiler::response::JsonMap;
use serde_json::{Value, json};

const MOST_NODES: u64 = 500_000;
const MOST_PER_PAGE: i64 = 100;

/// Connection requests and nodes of an operation, assuming every page is full.
#[derive(Debug, Default)]
pub(super) struct Cost {
    pub requests: u64,
    pub nodes: u64,
    pub errors: Vec<Value>,
}

impl Cost {
    /// The requests divided by a hundred, rounded, at least one.
    pub fn points(&self) -> u64 {
        ((self.requests + 50) / 100).max(1)
    }
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    variables: &'a JsonMap,
    path: Vec<String>,
    cost: Cost,
}

pub(super) fn cost(document: &ExecutableDocument, operation: &Operation, variables: &JsonMap) -> Cost {
    let mut walk = Walk { document, variables, path: Vec::new(), cost: Cost::default() };
    walk.set(&operation.selection_set, 1);
    if walk.cost.nodes > MOST_NODES {
        let message = format!(
            "This query requests up to {} possible nodes which exceeds the maximum limit of 500,000.",
            walk.cost.nodes
        );
        walk.cost.errors.push(json!({"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}));
    }
    walk.cost
}

impl Walk<'_> {
    fn set(&mut self, set: &SelectionSet, times: u64) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => self.field(field, times),
                Selection::InlineFragment(inline) => self.set(&inline.selection_set, times),
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name) {
                        self.set(&fragment.selection_set, times);
                    }
                }
            }
        }
    }

    fn field(&mut self, field: &Field, times: u64) {
        self.path.push(field.response_key().to_string());
        let mut below = times;
        if field.ty().inner_named_type().as_str().ends_with("Connection") {
            let size = self.page_size(field);
            self.cost.requests += times;
            self.cost.nodes += times * size;
            below = times * size;
        } else if field.name == "nodes" && field.specified_argument_by_name("ids").is_some() {
            below = self.ids(field);
            self.cost.nodes += below;
        }
        self.set(&field.selection_set, below);
        self.path.pop();
    }

    fn ids(&mut self, field: &Field) -> u64 {
        let count = self.argument(field, "ids").as_array().map_or(1, Vec::len);
        if count > 100 {
            self.refuse(
                field,
                "ARGUMENT_LIMIT",
                &format!("You may not provide more than 100 node ids; you provided {count}."),
            );
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    fn page_size(&mut self, field: &Field) -> u64 {
        let name = field.name.to_string();
        let (first, last) = (self.argument(field, "first").as_i64(), self.argument(field, "last").as_i64());
        let (argument, size) = match (first, last) {
            (Some(_), Some(_)) => {
                self.refuse(
                    field,
                    "EXCESSIVE_PAGINATION",
                    &format!("Passing both `first` and `last` to paginate the `{name}` connection is not supported."),
                );
                return 0;
            }
            (Some(first), None) => ("first", first),
            (None, Some(last)) => ("last", last),
            (None, None) => {
                if self.lists(field) {
                    self.refuse(
                        field,
                        "MISSING_PAGINATION_BOUNDARIES",
                        &format!(
                            "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
                        ),
                    );
                }
                return 0;
            }
        };
        if size > MOST_PER_PAGE {
            self.refuse(field, "EXCESSIVE_PAGINATION", &format!("Requesting {size} records on the `{name}` connection exceeds the `{argument}` limit of 100 records."));
        }
        if size < 0 {
            self.refuse(
                field,
                "EXCESSIVE_PAGINATION",
                &format!("`{argument}` on the `{name}` connection cannot be less than zero."),
            );
        }
        u64::try_from(size).unwrap_or(0)
    }

    /// A count alone, as in `comments { totalCount }`, needs no page size.
    fn lists(&self, field: &Field) -> bool {
        field.selection_set.root_fields(self.document).any(|f| f.name == "nodes" || f.name == "edges")
    }

    fn argument(&self, field: &Field, name: &str) -> Value {
        let Ok(value) = field.argument_by_name(name) else {
            return Value::Null;
        };
        match value.as_ref() {
            ast::Value::Variable(variable) => self
                .variables
                .get(variable.as_str())
                .map(|v| serde_json::to_value(v).unwrap_or_default())
                .unwrap_or_default(),
            ast::Value::Int(int) => int.as_str().parse::<i64>().map_or(Value::Null, Value::from),
            ast::Value::List(list) => Value::from(vec![Value::Null; list.len()]),
            _ => Value::Null,
        }
    }

    fn refuse(&mut self, field: &Field, kind: &str, message: &str) {
        let place = field.name.location().and_then(|l| l.line_column(&self.document.sources));
        let error = json!({"type": kind, "path": self.path, "locations": places(place), "message": message});
        self.cost.errors.push(error);
    }
}

pub(super) fn places(place: Option<LineColumn>) -> Vec<Value> {
    place.iter().map(|p| json!({"line": p.line, "column": p.column})).collect()
}

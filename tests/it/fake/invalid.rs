//! GitHub's messages for documents or variables that do not fit its schema.

use apollo_compiler::response::GraphQLError;
use apollo_compiler::validation::DiagnosticList;
use serde_json::{Value, json};

pub(super) fn errors(found: &DiagnosticList) -> Vec<Value> {
    let plain: Vec<GraphQLError> = found.iter().map(|diagnostic| diagnostic.to_json()).collect();
    let undefined = plain.iter().any(|e| e.message.contains("does not have a field"));
    // An unknown field empties its selection; the additional error about that is apollo's, not GitHub's.
    let echo = |e: &&GraphQLError| undefined && e.message.contains("must have a subselection");
    let shaped = plain.iter().filter(|e| !echo(e)).map(|plain| {
        let (code, message, more) = worded(&plain.message);
        let mut extensions = json!({"code": code});
        for (name, value) in more {
            extensions[name] = value.into();
        }
        json!({"extensions": extensions, "locations": plain.locations, "message": message})
    });
    shaped.collect()
}

/// The names in backticks, in order.
fn names(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

type Worded = (&'static str, String, Vec<(&'static str, String)>);

fn worded(message: &str) -> Worded {
    let quoted = names(message);
    match quoted.as_slice() {
        [ty, field] if message.contains("does not have a field") => (
            "undefinedField",
            format!("Field '{field}' doesn't exist on type '{ty}'"),
            vec![("typeName", (*ty).into()), ("fieldName", (*field).into())],
        ),
        [argument, coordinate] if message.contains("is not supported by") => (
            "argumentNotAccepted",
            format!(
                "Field '{}' doesn't accept argument '{argument}'",
                coordinate.split('.').nth(1).unwrap_or(coordinate)
            ),
            vec![("argumentName", (*argument).into())],
        ),
        [field, input] if message.starts_with("field `") => (
            "argumentNotAccepted",
            format!("InputObject '{input}' doesn't accept argument '{field}'"),
            vec![("argumentName", (*field).into()), ("typeName", (*input).into())],
        ),
        [ty] if message.starts_with("cannot find type") => {
            ("variableRequiresValidType", format!("{ty} isn't a defined input type"), vec![("typeName", (*ty).into())])
        }
        _ if message.contains("type condition") => ("undefinedType", message.to_owned(), vec![]),
        _ if message.contains("unused variable") => ("variableNotUsed", message.to_owned(), vec![]),
        _ => ("invalidDocument", message.to_owned(), vec![]),
    }
}

/// A variable whose value does not fit its type.
pub(super) fn variable(message: &str) -> Value {
    json!({"extensions": {"code": "invalidVariable", "problems": [{"explanation": message}]}, "message": message})
}

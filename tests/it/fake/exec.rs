//! One GraphQL request from body text to reply: parse, check, charge, execute, shape the errors.

use std::cell::RefCell;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::resolvers::Execution;
use apollo_compiler::response::{GraphQLError, JsonMap};
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value, json};

use super::answer::{Ent, Obj, Request, SEPARATOR, UNMODELLED};
use super::cost::{Cost, cost};
use super::schema::{Level, schema};
use super::world::World;
use super::{invalid, scopes};

/// The reply without headers.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub body: Value,
    pub points: u64,
}

impl Reply {
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, body, points: 0 }
    }

    pub fn errors(errors: Vec<Value>) -> Self {
        Self::new(200, json!({ "errors": Value::from(errors) }))
    }
}

/// The parts of a request body.
pub(super) struct Call {
    pub query: String,
    pub operation: Option<String>,
    pub variables: Value,
}

impl Call {
    pub fn parse(body: &str) -> Result<Self, Reply> {
        let parsed: Value =
            serde_json::from_str(body).map_err(|_| Reply::new(400, json!({"message": "Problems parsing JSON"})))?;
        let query = parsed["query"].as_str();
        let query = query.ok_or_else(|| {
            Reply::new(400, json!({"message": "A query attribute must be specified and must be a string."}))
        })?;
        let variables = match &parsed["variables"] {
            Value::Null => json!({}),
            Value::Object(map) => Value::Object(map.clone()),
            _ => {
                return Err(Reply::new(400, json!({"message": "Variables must be a JSON object"})));
            }
        };
        let operation = parsed["operationName"].as_str().filter(|n| !n.is_empty()).map(Into::into);
        Ok(Self { query: query.into(), operation, variables })
    }
}

/// Runs a request on the world; every processed request takes a second of server time.
pub(super) fn execute(world: &mut World, level: Level, body: &str, fail_alias: Option<usize>) -> Reply {
    world.advance(1);
    world.items.values_mut().for_each(|i| i.unlisted = false);
    Call::parse(body).and_then(|call| run(world, level, &call, fail_alias)).unwrap_or_else(|refused| refused)
}

fn run(world: &mut World, level: Level, call: &Call, fail_alias: Option<usize>) -> Result<Reply, Reply> {
    let document = ExecutableDocument::parse_and_validate(schema(level), call.query.as_str(), "query")
        .map_err(|found| Reply::errors(invalid::errors(&found.errors)))?;
    let operation = document
        .operations
        .get(call.operation.as_deref())
        .map_err(|e| Reply::errors(vec![json!({"message": e.message().to_string()})]))?;
    introspects_little(&document, operation)?;
    let raw: JsonMap = serde_json::from_value(call.variables.clone()).unwrap_or_default();
    let variables = coerce_variable_values(schema(level), operation, &raw)
        .map_err(|e| Reply::errors(vec![invalid::variable(&e.message().to_string())]))?;
    scopes::check(world, &document, operation, &variables).map_err(Reply::errors)?;
    let cost = cost(&document, operation, &variables);
    if !cost.errors.is_empty() {
        return Err(Reply::new(200, json!({"data": null, "errors": cost.errors})));
    }
    world.spend(cost.points()).map_err(|_| rate_limited(world, "RATE_LIMITED"))?;
    Ok(answer(world, level, &document, operation, &variables, &cost, fail_alias))
}

/// The platform allows two `__type` in a query (§1.1).
fn introspects_little(document: &ExecutableDocument, operation: &Operation) -> Result<(), Reply> {
    let asked = operation.root_fields(document).filter(|f| f.name == "__type" || f.name == "__schema").count();
    if asked <= 2 {
        return Ok(());
    }
    let message = format!("Introspection field `__type` was requested {asked} times; at most 2 are allowed per query.");
    Err(Reply::errors(vec![json!({"type": "EXCESSIVE_INTROSPECTION", "message": message})]))
}

/// The answer when the points of this hour are used up; GitHub has two spellings of the type (§1.3).
pub(super) fn rate_limited(world: &World, kind: &str) -> Reply {
    let user = world.owner_named(&world.viewer).map(|o| o.id.clone()).unwrap_or_default();
    let message = format!("API rate limit already exceeded for user ID {user}.");
    Reply::errors(vec![json!({"type": kind, "code": "graphql_rate_limit", "message": message})])
}

fn answer(
    world: &mut World,
    level: Level,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &Valid<JsonMap>,
    cost: &Cost,
    fail_alias: Option<usize>,
) -> Reply {
    let request = Request {
        world: RefCell::new(world),
        errors: RefCell::default(),
        fail_alias,
        mutations_run: RefCell::default(),
        cost: cost.points(),
        nodes: cost.nodes,
    };
    let root = if operation.is_query() { Ent::Query } else { Ent::Mutation };
    let done = Execution::new(schema(level), document)
        .operation(operation)
        .coerced_variable_values(variables)
        .enable_schema_introspection(true)
        .execute_sync(&Obj::new(&request, root));
    let done = match done {
        Ok(done) => done,
        Err(e) => return Reply::errors(vec![json!({"message": e.message().to_string()})]),
    };
    let mut errors: Vec<Value> = done.errors.iter().map(shaped).collect();
    errors.extend(request.errors.into_inner());
    let loud = errors.iter().any(|e| e["type"].as_str().is_some_and(|t| t.starts_with("FAKE_")));
    let mut body = Map::new();
    body.insert("data".into(), serde_json::to_value(&done.data).unwrap_or_default());
    if !errors.is_empty() {
        body.insert("errors".into(), errors.into());
    }
    // 500, so that a gap in the fake cannot be mistaken for an answer of GitHub.
    Reply { status: if loud { 500 } else { 200 }, body: body.into(), points: cost.points() }
}

/// GitHub's order: type, path, locations, message; `type` at the top level (§0.4).
fn shaped(error: &GraphQLError) -> Value {
    let message = error.message.strip_prefix("resolver error: ").unwrap_or(&error.message);
    let (kind, message) = message.split_once(SEPARATOR).unwrap_or(("FAKE_BUG", message));
    let mut shaped = json!({
        "type": kind,
        "path": error.path,
        "locations": error.locations,
        "message": message,
    });
    if kind == UNMODELLED {
        shaped["extensions"] = json!({"code": UNMODELLED});
    }
    shaped
}

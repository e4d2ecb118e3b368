//! Faults that a test plans, and the log of requests.

use std::collections::BTreeMap;
use std::time::Duration;

use apollo_compiler::ast::{Definition, Document, OperationType, Selection};
use serde_json::{Value, json};

use super::exec::Call;

/// The fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Closes the socket without processing.
    DropBefore,
    /// Processes, then closes the socket without an answer.
    DropAfter,
    /// Processes, then sends half of the body with the length of the whole.
    Truncate,
    /// 502 with HTML, not processed.
    BadGateway,
    /// 502 with HTML, but processed.
    BadGatewayAfter,
    /// 403 secondary limit, not processed.
    Forbidden { retry_after: Option<u64> },
    /// 429 secondary limit, not processed.
    TooMany { retry_after: Option<u64> },
    /// 200 with type `RATE_LIMITED`, not processed.
    RateLimited,
    /// 200 with type `RATE_LIMIT`, not processed.
    RateLimit,
    /// 200 with "was submitted too quickly", not processed.
    TooQuickly,
    /// 200 with the data of a query partly null; mutations are not affected.
    ResourceLimits,
    /// The nth top-level mutation of this request fails, the others run.
    AliasFails(usize),
    /// Not processed and never answered; the socket stays open.
    HoldBefore,
    /// Processed and never answered; the socket stays open.
    HoldAfter,
    /// Processed, answered after this time.
    Slow(Duration),
}

/// The faults of future requests.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub planned: BTreeMap<usize, Fault>,
    pub always: Option<Fault>,
    pub seen: usize,
}

impl Faults {
    /// The number of this request and its fault.
    pub fn next(&mut self) -> (usize, Option<Fault>) {
        let at = self.seen;
        self.seen += 1;
        (at, self.planned.remove(&at).or(self.always))
    }
}

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct Logged {
    pub operation: Option<String>,
    /// "query" or "mutation"; empty if the body could not be read.
    pub kind: &'static str,
    /// Top-level fields and how often each was requested.
    pub fields: BTreeMap<String, usize>,
    pub points: u64,
    pub body: String,
    /// The status sent, or 0 if none was sent.
    pub status: u16,
    pub fault: Option<Fault>,
    /// Whether the request was executed, so that mutations took effect.
    pub processed: bool,
}

impl Logged {
    pub(super) fn of(body: &str) -> Self {
        let mut logged = Self {
            operation: None,
            kind: "",
            fields: BTreeMap::new(),
            points: 0,
            body: body.into(),
            status: 0,
            fault: None,
            processed: false,
        };
        logged.describe();
        logged
    }

    fn describe(&mut self) {
        let Ok(call) = Call::parse(&self.body) else {
            return;
        };
        let Ok(document) = Document::parse(call.query, "query") else {
            return;
        };
        let operations = document.definitions.iter().filter_map(|d| match d {
            Definition::OperationDefinition(operation) => Some(operation),
            _ => None,
        });
        let mut asked =
            operations.filter(|o| call.operation.is_none() || o.name.as_deref() == call.operation.as_deref());
        let Some(operation) = asked.next() else {
            return;
        };
        self.operation = operation.name.as_ref().map(ToString::to_string);
        self.kind = if operation.operation_type == OperationType::Mutation { "mutation" } else { "query" };
        for selection in &operation.selection_set {
            if let Selection::Field(field) = selection {
                *self.fields.entry(field.name.to_string()).or_default() += 1;
            }
        }
    }
}

/// Removes data as a server at its limits does: half of each list of nodes (§1.3).
pub(super) fn cut_data(body: &mut Value) {
    let mut cut = Vec::new();
    if let Some(data) = body.get_mut("data") {
        cut_below(data, &mut Vec::new(), &mut cut);
    }
    if cut.is_empty()
        && let Some(data) = body["data"].as_object_mut()
        && let Some((name, value)) = data.iter_mut().find(|(name, _)| *name != "rateLimit" && *name != "viewer")
    {
        *value = Value::Null;
        cut.push(json!([name]));
    }
    let error = |path: Value| json!({"type": "RESOURCE_LIMITS_EXCEEDED", "path": path, "message": "Resource limits for this query exceeded."});
    let mut errors = body["errors"].as_array().cloned().unwrap_or_default();
    errors.extend(cut.into_iter().map(error));
    body["errors"] = errors.into();
}

fn cut_below(value: &mut Value, path: &mut Vec<Value>, cut: &mut Vec<Value>) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    for (name, below) in object {
        path.push(name.as_str().into());
        if let Some(list) = below.as_array_mut().filter(|_| name == "nodes") {
            for (at, node) in list.iter_mut().enumerate().filter(|(at, _)| at % 2 == 1) {
                *node = Value::Null;
                let mut whole = path.clone();
                whole.push(at.into());
                cut.push(whole.into());
            }
        } else {
            cut_below(below, path, cut);
        }
        path.pop();
    }
}

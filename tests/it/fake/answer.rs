//! The answers of resolvers: values, objects by reference, and GitHub's typed errors.

use std::cell::RefCell;

use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::world::{Id, World};
use super::{read, write};

/// A failure with GitHub's `type`, which GraphQL libraries do not carry.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    pub kind: &'static str,
    pub message: String,
}

/// Separates kind and message while the executor carries the failure as one text.
pub(super) const SEPARATOR: char = '\u{1f}';
pub(super) const UNMODELLED: &str = "FAKE_UNMODELLED";

impl Fail {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new("UNPROCESSABLE", message)
    }

    pub fn no_node(id: &str) -> Self {
        Self::new("NOT_FOUND", format!("Could not resolve to a node with the global id of '{id}'"))
    }

    pub fn unmodelled(what: &str) -> Self {
        Self::new(UNMODELLED, format!("the fake has no resolver for {what}"))
    }
}

/// The value of a field.
#[derive(Clone, Debug)]
pub(super) enum Out {
    Leaf(Value),
    Obj(Ent),
    List(Vec<Out>),
}

/// An object: by reference if it has its own fields, otherwise with its fields.
#[derive(Clone, Debug)]
pub(super) enum Ent {
    Query,
    Mutation,
    Owner(Id),
    Repository(Id),
    Label(Id),
    Issue(Id),
    Comment(Id),
    Project(Id),
    Field(Id),
    Item(Id),
    Value { item: Id, field: Id },
    Pull(Id),
    Ref(Id),
    Record { ty: String, fields: Vec<(String, Out)> },
}

pub(super) fn leaf(value: impl Into<Value>) -> Out {
    Out::Leaf(value.into())
}

pub(super) fn maybe(ent: Option<Ent>) -> Out {
    ent.map_or(Out::Leaf(Value::Null), Out::Obj)
}

pub(super) fn record(ty: &str, fields: Vec<(&str, Out)>) -> Ent {
    let fields = fields.into_iter().map(|(name, out)| (name.to_owned(), out)).collect();
    Ent::Record { ty: ty.into(), fields }
}

/// The state that the resolvers of one request share.
pub(super) struct Request<'w> {
    pub world: RefCell<&'w mut World>,
    /// Errors of list elements: the executor would drop the whole list for one.
    pub errors: RefCell<Vec<Value>>,
    pub fail_alias: Option<usize>,
    pub mutations_run: RefCell<usize>,
    pub cost: u64,
    pub nodes: u64,
}

/// One field of one object, with its arguments.
pub(super) struct Ask<'a> {
    pub field: &'a str,
    pub args: &'a Value,
}

impl Ask<'_> {
    pub fn text(&self, name: &str) -> &str {
        self.args[name].as_str().unwrap_or_default()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.args[name].as_bool().unwrap_or_default()
    }
}

pub(super) struct Obj<'c, 'w> {
    pub request: &'c Request<'w>,
    pub ent: Ent,
    pub ty: String,
}

impl<'c, 'w> Obj<'c, 'w> {
    pub fn new(request: &'c Request<'w>, ent: Ent) -> Self {
        let ty = read::type_name(&request.world.borrow(), &ent);
        Self { request, ent, ty }
    }

    fn resolve(&self, info: &ResolveInfo<'_>) -> Result<Out, Fail> {
        let args = serde_json::to_value(info.arguments()).unwrap_or_default();
        let ask = Ask { field: info.field_name(), args: &args };
        match &self.ent {
            Ent::Mutation => self.mutate(&ask, info),
            Ent::Query if ask.field == "nodes" => Ok(self.nodes(&ask, info)),
            ent => read::field(self.request, ent, &self.ty, &ask),
        }
    }

    /// Each alias runs on its own: the others run even if one fails (§1.3 partial success).
    fn mutate(&self, ask: &Ask<'_>, info: &ResolveInfo<'_>) -> Result<Out, Fail> {
        let at = self.request.mutations_run.replace_with(|n| *n + 1);
        if self.request.fail_alias == Some(at) {
            return Err(Fail::unprocessable("Something went wrong while executing your query."));
        }
        let input = &ask.args["input"];
        let mut fields = write::run(&mut self.request.world.borrow_mut(), ask.field, input)?;
        fields.push(("clientMutationId", Out::Leaf(input["clientMutationId"].clone())));
        let ty = info.field_definition().ty.inner_named_type().as_str();
        Ok(Out::Obj(record(ty, fields)))
    }

    /// Each missing id is a null in the list and a separate error.
    fn nodes(&self, ask: &Ask<'_>, info: &ResolveInfo<'_>) -> Out {
        let selection = info.field_selections()[0];
        let ids = ask.args["ids"].as_array().cloned().unwrap_or_default();
        let world = self.request.world.borrow();
        let found = ids.iter().enumerate().map(|(at, id)| {
            let id = id.as_str().unwrap_or_default();
            read::node(&world, id).map_or_else(
                |fail| {
                    let place = selection.name.location().and_then(|l| l.line_column(&info.document().sources));
                    let locations: Vec<Value> =
                        place.iter().map(|p| json!({"line": p.line, "column": p.column})).collect();
                    self.request.errors.borrow_mut().push(json!({
                        "type": fail.kind,
                        "path": [selection.response_key().as_str(), at],
                        "locations": locations,
                        "message": fail.message,
                    }));
                    Out::Leaf(Value::Null)
                },
                Out::Obj,
            )
        });
        Out::List(found.collect())
    }

    fn shown<'a>(&self, out: Out) -> ResolvedValue<'a>
    where
        'c: 'a,
        'w: 'a,
    {
        match out {
            Out::Leaf(value) => ResolvedValue::leaf(value),
            Out::Obj(ent) => ResolvedValue::object(Obj::new(self.request, ent)),
            Out::List(list) => {
                let list: Vec<ResolvedValue<'a>> = list.into_iter().map(|o| self.shown(o)).collect();
                ResolvedValue::list(list)
            }
        }
    }
}

impl ObjectValue for Obj<'_, '_> {
    fn type_name(&self) -> &str {
        &self.ty
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        match self.resolve(info) {
            Ok(out) => Ok(self.shown(out)),
            Err(fail) => Err(FieldError { message: format!("{}{SEPARATOR}{}", fail.kind, fail.message) }),
        }
    }
}

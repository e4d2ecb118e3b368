//! A tool: its description for clients, and its function.

use std::sync::Arc;

use rmcp::model::{self, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::accepted;
use super::caller::{Call, arguments};
use super::reply::cut;
use crate::app::{Code, Failure};

/// What a call can do to the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    Reads,
    Writes,
    /// Depends on the arguments; the tool itself refuses changes on a read-only server.
    Either,
}

type ToolRun = dyn Fn(&Call<'_>, JsonObject) -> Result<Value, Failure> + Send + Sync;

pub struct Tool {
    pub name: &'static str,
    pub nature: Nature,
    about: &'static str,
    input: Arc<JsonObject>,
    output: Arc<JsonObject>,
    /// The names of its arguments; `None` if they are not known.
    takes: Option<&'static [&'static str]>,
    /// Arguments that its clients pass out of habit. `None` if the answer does not say which arguments were ignored.
    habits: Option<&'static [&'static str]>,
    run: Box<ToolRun>,
}

impl Tool {
    /// Makes a tool. `output` names the fields of the answer with their JSON types.
    pub fn new<A, R, F>(
        name: &'static str,
        nature: Nature,
        about: &'static str,
        output: &[(&str, &str)],
        run: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: Serialize,
        F: Fn(&Call<'_>, A) -> Result<R, Failure> + Send + Sync + 'static,
    {
        let run = move |call: &Call<'_>, given: JsonObject| {
            let answer = run(call, arguments(given)?)?;
            serde_json::to_value(answer).map_err(|error| Failure::broken(Code::Io, error.to_string()))
        };
        let mut input = input::<A>();
        if nature != Nature::Reads
            && let Some(Value::Object(properties)) = input.get_mut("properties")
        {
            properties.insert(AS.into(), json!({ "type": "string" }));
        }
        let (input, output) = (Arc::new(input), Arc::new(fields(output)));
        Self { name, nature, about, input, output, takes: accepted::fields::<A>(), habits: None, run: Box::new(run) }
    }

    /// Tells in the answer which arguments were ignored, apart from these.
    #[must_use]
    pub fn telling_ignored(self, habits: &'static [&'static str]) -> Self {
        Self { habits: Some(habits), ..self }
    }

    fn ignored(&self, given: &JsonObject) -> Vec<String> {
        let (Some(takes), Some(habits)) = (self.takes, self.habits) else { return Vec::new() };
        let known = |name: &str| takes.contains(&name) || habits.contains(&name) || name == AS;
        given.keys().filter(|name| !known(name)).cloned().collect()
    }

    pub fn call(&self, call: &Call<'_>, given: JsonObject) -> Result<Value, Failure> {
        if self.nature == Nature::Writes {
            call.refuse_reader(self.name)?;
        }
        let ignored = self.ignored(&given);
        let mut answer = (self.run)(call, given)?;
        if let Value::Object(answer) = &mut answer {
            if !ignored.is_empty() {
                answer.insert("ignored".into(), json!(ignored));
            }
            beside(call, answer);
        }
        Ok(answer)
    }

    /// The description for the client.
    pub fn described(&self) -> model::Tool {
        let annotations = match self.nature {
            Nature::Reads => ToolAnnotations::new().read_only(true).open_world(false),
            // Hosts ask for approval of tools that may affect more than this board.
            Nature::Writes | Nature::Either => ToolAnnotations::new().destructive(false).open_world(false),
        };
        model::Tool::new(self.name, self.about, self.input.clone())
            .with_raw_output_schema(self.output.clone())
            .with_annotations(annotations)
    }
}

/// The maximum number of files that a warning names.
const NAMED: usize = 3;

/// Adds warnings to a successful answer, such as unreadable files.
fn beside(call: &Call<'_>, answer: &mut JsonObject) {
    let problems = call.ws.problems();
    let more = problems.len().saturating_sub(NAMED);
    let told = problems.iter().take(NAMED).map(|problem| cut(&problem.to_string(), 200).to_owned());
    let told: Vec<String> = told.chain((more > 0).then(|| format!("and {more} more"))).collect();
    for (key, told) in [("broken_files", told), ("notices", call.ws.notices())] {
        if !told.is_empty() {
            answer.insert(key.into(), json!(told));
        }
    }
}

/// The argument for the worker name, which every tool that changes something has.
pub const AS: &str = "as";

fn fields(fields: &[(&str, &str)]) -> JsonObject {
    let properties: JsonObject =
        fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    object(json!({ "type": "object", "properties": properties }))
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => unreachable!("a schema is an object"),
    }
}

/// The schema of the arguments, without parts that models do not need.
fn input<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    slim(&mut schema);
    if let Value::Object(root) = &mut schema {
        // Clients expect this field even if there are no arguments.
        root.entry("properties").or_insert_with(|| json!({}));
        root.remove("description");
    }
    object(schema)
}

/// Removes titles, formats and defaults.
fn slim(schema: &mut Value) {
    let Value::Object(map) = schema else {
        if let Value::Array(list) = schema {
            list.iter_mut().for_each(slim);
        }
        return;
    };
    if map.get("title").is_some_and(Value::is_string) {
        map.remove("title");
    }
    for noise in ["$schema", "format", "minimum", "additionalProperties", "default"] {
        if map.get(noise).is_some_and(|value| !value.is_object()) {
            map.remove(noise);
        }
    }
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [one] = kinds.as_slice() {
            let one = one.clone();
            map.insert("type".into(), one);
        }
    }
    map.values_mut().for_each(slim);
}

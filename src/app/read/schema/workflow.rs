//! The schema of workflow.toml.

use serde_json::{Map, Value, json};

use super::DRAFT;

/// The shape of a key's value.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Texts,
    Flag,
    Positive,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
}

type Key = (&'static str, Shape, &'static str);

const PHASES: &[&str] = &["split", "triage", "research", "plan", "review", "implement", "integrate", "human", "done"];
const MODES: &[&str] = &["skip", "auto", "interactive"];

const STATE: &[Key] = &[
    ("name", Shape::Text, "The name, as task files have it"),
    ("lock", Shape::Flag, "A worker works on it; it counts as a lock only with a live claim"),
    ("terminal", Shape::Flag, "Finished"),
    ("human", Shape::Flag, "A person decides about it"),
    ("gate", Shape::Flag, "A parent moves here when all of its children have"),
    ("off", Shape::Flag, "Beside the pipeline, such as Canceled"),
    (
        "release",
        Shape::Text,
        "The state to return to when the claim is released or expires; without it, the task stays",
    ),
    ("claim", Shape::Text, "The state that `ralph claim` without a command moves it to"),
    (
        "leave",
        Shape::Texts,
        "Where a person can move it within the workflow; their other moves are allowed and reported",
    ),
    ("phase", Shape::OneOf(PHASES), "The part of the pipeline, for teams and the dashboard"),
    ("github", Shape::Text, "The value of the Status field of a GitHub project"),
];

const COMMAND: &[Key] = &[
    ("name", Shape::Text, "The name, as in `--for NAME`"),
    ("roles", Shape::Texts, "The roles that can run it"),
    ("interactive", Shape::Text, "The role that runs it instead if `review.mode` is `interactive`"),
    (
        "modes",
        Shape::SomeOf(MODES),
        "It starts from `from` only in these review modes; in others, only from its lock state",
    ),
    ("from", Shape::Texts, "The states where it starts; it also continues from its own lock state"),
    ("lock", Shape::Text, "The state that a claim for it leads to"),
    ("complete", Shape::Text, "The state that it leads to when it is complete; without it, the worker names the state"),
    ("ends", Shape::Texts, "Other states that it can end in; it can always escalate"),
    (
        "small_ends",
        Shape::Texts,
        "Those of `ends` that only tasks of size XS and S can reach: larger tasks are split first",
    ),
    ("iterate", Shape::Text, "The end that counts as a rejection"),
    ("back", Shape::Text, "The end that returns work to be fixed"),
    ("worktree", Shape::Flag, "It runs in the task's own worktree, and its result is commits there"),
    ("merges", Shape::Flag, "`ralph merge` completes it, by merging the branch of the task into main"),
    ("blocked", Shape::Flag, "It can also start on a blocked task"),
    (
        "sizes",
        Shape::OneOf(&["small", "any", "oversized"]),
        "`small` (XS and S; the default), `any`, or `oversized` (M and above)",
    ),
    ("needs", Shape::Texts, "The kinds of documents that the task must have linked before"),
    ("yields", Shape::Texts, "The kinds of documents that a worker must have linked when it completes, or rejects"),
    ("yields_in", Shape::SomeOf(MODES), "The review modes in which `yields` applies"),
    ("stay", Shape::Text, "The label for tasks that it left in their state; it does not start on them again"),
    ("group", Shape::Flag, "It runs once for a group, on its primary task"),
];

const ROLE: &[Key] = &[
    ("name", Shape::Text, "The name of the role, and the stem of its workers' names: `builder-2` is a builder"),
    (
        "limit",
        Shape::Positive,
        "How many workers of the role can hold a claim at once; `roles.ROLE.limit` overrides it",
    ),
    ("hands_off", Shape::Text, "The state in which the role passes work on"),
];

const TARGETS: &[Key] = &[
    ("close", Shape::Text, "The state that `ralph done` leads to"),
    ("cancel", Shape::Text, "The state that `ralph cancel` leads to"),
    ("escalate", Shape::Text, "The state that `ralph escalate` leads to; without it, tasks are flagged for a person"),
];

pub(super) fn workflow() -> Value {
    let named = |about: &str, keys| {
        json!({ "type": "array", "description": about, "items": {
            "type": "object", "required": ["name"], "additionalProperties": false, "properties": properties(keys) } })
    };
    json!({
        "$schema": DRAFT,
        "title": "A workflow of ralph",
        "type": "object",
        "required": ["format", "name", "initial", "state"],
        "additionalProperties": false,
        "properties": {
            "format": { "const": 1, "description": "The version of this format" },
            "name": { "type": "string", "description": "The name of the workflow" },
            "initial": { "type": "string", "description": "The state of new tasks" },
            "targets": { "type": "object", "additionalProperties": false, "properties": properties(TARGETS),
                         "description": "The states that closing, canceling and escalating lead to" },
            "state": named("The states, in the order of the board", STATE),
            "command": named("What a worker does to a task. People can move tasks freely; agents only as their commands allow", COMMAND),
            "role": named("The roles of workers", ROLE),
            "step": named("The states of a team's steps, with the keys of `state`", STATE),
        },
    })
}

fn properties(keys: &[Key]) -> Map<String, Value> {
    keys.iter().map(|&(key, shape, about)| (key.to_owned(), property(shape, about))).collect()
}

fn property(shape: Shape, about: &str) -> Value {
    let mut property = match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Positive => json!({ "type": "integer", "minimum": 1 }),
        Shape::OneOf(values) => json!({ "enum": values }),
        Shape::SomeOf(values) => json!({ "type": "array", "items": { "enum": values } }),
    };
    property["description"] = json!(about);
    property
}

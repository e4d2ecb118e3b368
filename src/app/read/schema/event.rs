//! The JSON Schema of an event, as `ralph watch --json` prints it and programs of `[[on]]` rules read it.

use serde_json::{Value, json};

use super::DRAFT;
use crate::board::EventKind;

pub(super) fn event() -> Value {
    let kind = |kind: EventKind| json!({ "const": kind.name(), "description": kind.about() });
    let text = |about: &str| json!({ "type": "string", "description": about });
    let time = |about: &str| json!({ "type": "string", "format": "date-time", "description": about });
    json!({
        "$schema": DRAFT,
        "title": "An event of a ralph board",
        "type": "object",
        "required": ["event", "at", "via"],
        "properties": {
            "event": { "oneOf": EventKind::ALL.map(kind), "description": "What happened" },
            "at": time("When"),
            "via": { "enum": ["verb", "hand", "git", "board"],
                     "description": "What made the change: a command (verb), an edit of a file (hand), git, or another change (board)" },
            "task": text("The id of the task; missing where it is about the whole board"),
            "title": text("The title of the task"),
            "id": text("The id of the line in the journal, which `ralph undo` takes"),
            "by": text("The worker or person who made the change"),
            "verb": text("The command that made the change, as `ralph log` shows it"),
            "changes": { "type": "array", "items": change(), "description": "What was written" },
            "from": text("The state that the task left"),
            "to": text("The state that the task or the group reached"),
            "role": text("The role that can start the task"),
            "command": text("The command of the workflow that the event is about"),
            "until": time("When the claim expires; missing if it lasts as long as a process"),
            "message": text("The question, the refusal or the problem"),
        },
    })
}

/// A key of a task's file, or one of its files as a whole.
fn change() -> Value {
    let task = json!({ "type": "string" });
    let set = json!({ "task": task, "key": { "type": "string" }, "old": {}, "new": {} });
    let file = json!({ "task": task, "file": {}, "old": {}, "new": {} });
    json!({ "oneOf": [
        { "type": "object", "required": ["task", "key"], "properties": set },
        { "type": "object", "required": ["task", "file"], "properties": file },
    ] })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::board::{Change, Event, Via};
    use crate::task::{StateName, TaskId, Worker};

    #[test]
    fn the_schema_has_every_field_of_an_event() {
        let id = TaskId::new("t-a").unwrap();
        let text = || Some(String::from("x"));
        let full = Event {
            title: text(),
            id: text(),
            by: Some(Worker::new("anna").unwrap()),
            verb: text(),
            changes: vec![Change::set(&id, "owner", None, None)],
            from: Some(StateName::new("A")),
            to: Some(StateName::new("B")),
            role: text(),
            command: text(),
            until: Some(Timestamp::UNIX_EPOCH),
            message: text(),
            ..Event::new(EventKind::Moved, Timestamp::UNIX_EPOCH, Via::Verb, Some(&id))
        };
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&event()["properties"]), keys(&serde_json::to_value(full).unwrap()));
    }

    #[test]
    fn the_schema_has_every_way_in_which_a_change_comes_about() {
        let ways = [Via::Verb, Via::Hand, Via::Git, Via::Board];
        assert_eq!(event()["properties"]["via"]["enum"], serde_json::to_value(ways).unwrap());
    }
}

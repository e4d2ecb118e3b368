//! The values that an editor showed, so that newer values are not overwritten.

use std::collections::BTreeMap;

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::task::{Key, TaskId};

/// Texts by key. Members of a set are separated by commas, in any order.
#[derive(Debug, Clone, Default)]
pub struct Expected(BTreeMap<String, String>);

impl Expected {
    pub fn new(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }

    /// To be called under the lock, after the changes were computed: the commit itself refuses if the file changes
    /// after that.
    pub(in crate::app) fn refuse_changed(&self, ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let file = ws.file(id)?;
        for (key, was) in &self.0 {
            let now = match key.as_str() {
                "description" => file.description.clone(),
                other => file.task.value(&Key::new(other)).map(|value| value.to_string()).unwrap_or_default(),
            };
            if compared(key, &now) != compared(key, was) {
                let message = format!("the {key} of {id} has changed since you started to edit it");
                return Err(Failure::new(FailureKind::Raced, Code::ChangedSince, message)
                    .hint(Hint::step("copy your text, reload the task, and save again")));
            }
        }
        Ok(())
    }
}

/// Normalises a text, so that texts with the same meaning compare as equal.
fn compared(key: &str, text: &str) -> String {
    if !matches!(key, "labels" | "blocked_by") {
        return text.replace("\r\n", "\n").trim_end().to_owned();
    }
    // Programs write lists as JSON, people with commas.
    let listed: Option<Vec<String>> = serde_json::from_str(text).ok();
    let text = listed.map_or_else(|| text.to_owned(), |items| items.join(","));
    let mut items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    items.sort_unstable();
    items.dedup();
    items.join(",")
}

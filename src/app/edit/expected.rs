//! The values that an editor has seen, so that newer values are not overwritten.

use std::collections::BTreeMap;

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::task::{Key, TaskId};

/// By key, as texts; sets with commas between their members, in any order.
#[derive(Debug, Clone, Default)]
pub struct Expected(BTreeMap<String, String>);

impl Expected {
    pub fn new(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }

    /// For the time under the lock, after the changes are drawn up: what is saved by hand from then on, the commit refuses.
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

/// Texts that mean the same are the same.
fn compared(key: &str, text: &str) -> String {
    if !matches!(key, "labels" | "blocked_by") {
        return text.replace("\r\n", "\n").trim_end().to_owned();
    }
    // As programs write lists, or as people do.
    let listed: Option<Vec<String>> = serde_json::from_str(text).ok();
    let text = listed.map_or_else(|| text.to_owned(), |items| items.join(","));
    let mut items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    items.sort_unstable();
    items.dedup();
    items.join(",")
}

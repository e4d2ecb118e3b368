//! What happened outside of ralph: a file that somebody saved, a card that somebody moved on GitHub.
//!
//! It has happened, so it is never refused. It is a person's doing: that person owns a task that is now in a lock. No claim
//! is made for them, so no limit counts it and nothing reaps it. A claim that it overrules ends.

use super::case::Case;
use super::{Admission, ClaimEffect, Request};
use crate::board::{Change, Refusal};
use crate::task::{Key, Value};

impl Case<'_> {
    pub fn outside(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        let command = self.command(request).unwrap_or_default();
        let to = self.target(request, command)?;
        let flag = self.refusal(command, &to);
        let mut admission = self.effect(command, to)?;
        if admission.from == admission.to {
            return Ok(admission);
        }
        if self.is_lock(&admission.to) {
            self.own(&mut admission.changes);
        }
        admission.claim = ClaimEffect::Ended;
        self.flag(&mut admission, flag);
        Ok(admission)
    }

    /// The reason stays in the task's file until somebody moves the task on, so that no worker is handed it unseen.
    fn flag(&self, admission: &mut Admission, flag: Option<Refusal>) {
        let (key, task) = (Key::new("attention"), &self.task.id);
        admission
            .changes
            .retain(|change| !matches!(change, Change::Set { task: of, key: at, .. } if of == task && *at == key));
        let new = flag.as_ref().map(|refusal| Value::text(reason(refusal)));
        let old = self.task.value(&key);
        if old != new {
            admission.changes.push(Change::Set { task: task.clone(), key, old, new });
        }
        admission.flag = flag;
    }
}

/// In words that hold as long as they stand in the file.
fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotAllowed { from, to, .. } => format!("moved from {from} to {to}, which the workflow does not allow"),
        other => format!("moved outside of ralph, though {other}"),
    }
}

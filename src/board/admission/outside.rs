//! What happened outside of ralph: somebody saved a task's file, or moved a card on GitHub.
//!
//! It has already happened, so it is never refused. It is considered a person's move: that person owns a task that is now in
//! a lock state. No claim is made for the person, so no limit counts the task and nothing reaps it. An overridden claim ends.

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

    /// Writes the reason to the task's file until somebody moves the task, so that no worker takes the task before that.
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

/// The reason, worded so that it stays true in the file.
fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotAllowed { from, to, .. } => format!("moved from {from} to {to}, which the workflow does not allow"),
        other => format!("moved outside of ralph; ralph would have refused the move: {other}"),
    }
}

//! What a worker must show before its command counts as done. A person need not show anything.

use std::collections::BTreeSet;

use super::Admission;
use super::case::Case;
use crate::board::{Actor, Refusal, Rules};
use crate::task::StateName;
use crate::workflow::Command;

/// One requirement for the end of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// The finished document of this kind; the verdict of a review must agree with the move.
    Document { kind: String, ending: Ending },
    /// Commits on the task's branch, every box of its plan ticked, and no uncommitted changes.
    Build,
    /// The merged branch of the task: only `ralph merge` completes the command.
    Merged,
}

/// How a command with requirements ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    Complete,
    Rejected,
}

/// What the actor has shown. The caller checks it on disk beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    Shown(BTreeSet<Proof>),
    /// Everything that is required, to find out what that is.
    Assumed,
}

impl Default for Evidence {
    fn default() -> Self {
        Self::Shown(BTreeSet::new())
    }
}

impl Evidence {
    fn shows(&self, proof: &Proof) -> bool {
        match self {
            Self::Shown(proofs) => proofs.contains(proof),
            Self::Assumed => true,
        }
    }
}

/// What a worker must show for this move, if it ends a command.
pub(super) fn proofs(rules: &Rules, actor: &Actor, admission: &Admission) -> Vec<Proof> {
    let command = admission.command.as_deref().and_then(|name| rules.flow.command(name).ok());
    let Some(command) = command.filter(|_| actor.is_held(rules)) else { return Vec::new() };
    let Some(ending) = ending(command, admission) else { return Vec::new() };
    let mut proofs = Vec::new();
    if command.worktree {
        proofs.push(if command.merges { Proof::Merged } else { Proof::Build });
    }
    if command.yields_in.contains(&rules.mode) {
        proofs.extend(command.yields.iter().map(|kind| Proof::Document { kind: kind.clone(), ending }));
    }
    proofs
}

/// Whether it completes a command that is done in a worktree, and that does not merge.
pub(super) fn ends_build(rules: &Rules, admission: &Admission) -> bool {
    let command = admission.command.as_deref().and_then(|name| rules.flow.command(name).ok());
    let builds = command.filter(|command| command.worktree && !command.merges);
    builds.is_some_and(|command| ending(command, admission) == Some(Ending::Complete))
}

fn ending(command: &Command, admission: &Admission) -> Option<Ending> {
    // The last rejection counts as one even though the task is handed to a person.
    if admission.is_rejection() {
        return Some(Ending::Rejected);
    }
    let completes = command.complete.as_ref() == Some(&admission.to) && admission.from != admission.to;
    completes.then_some(Ending::Complete)
}

pub(super) fn refuse_unproven(case: &Case<'_>, admission: &Admission, evidence: &Evidence) -> Result<(), Refusal> {
    let missing = proofs(case.rules, case.actor, admission).into_iter().find(|proof| !evidence.shows(proof));
    match missing {
        Some(proof) => Err(Refusal::Unproven { task: case.task.id.clone(), proof }),
        None => Ok(()),
    }
}

impl Case<'_> {
    /// The first document that the task does not link, though this end of the command requires it. Escalating requires none.
    pub(super) fn unlinked(&self, command: &Command, to: &StateName) -> Option<Refusal> {
        let ends = [&command.complete, &command.iterate].into_iter().flatten().any(|end| end == to);
        if !self.is_held() || !ends || !command.yields_in.contains(&self.rules.mode) {
            return None;
        }
        command.yields.iter().find_map(|kind| {
            let (task, kind) = (self.task.id.clone(), kind.clone());
            let Some(path) = self.task.artifacts.get(&kind) else { return Some(Refusal::Lacks { task, kind }) };
            // A command that can reject needs a new document in each round.
            let round = self.task.rejections + 1;
            let stale = command.iterate.is_some() && !is_of_round(path, round);
            stale.then_some(Refusal::Stale { task, kind, round })
        })
    }
}

/// Whether a path is of this round: `…-critique.md` is the first, `…-critique-2.md` the second.
fn is_of_round(path: &str, round: u32) -> bool {
    let end = if round > 1 { format!("-critique-{round}.md") } else { "-critique.md".into() };
    path.ends_with(&end)
}

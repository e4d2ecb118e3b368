//! What a worker must show before its command counts as done. A person is believed.

use std::collections::BTreeSet;

use super::Admission;
use super::case::Case;
use crate::board::{Actor, Refusal, Rules};
use crate::task::StateName;
use crate::workflow::Command;

/// Something to show at the end of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// The finished document of this kind; a review must say what the move says.
    Document { kind: String, ending: Ending },
    /// Commits on the task's branch, with every box of its plan ticked and nothing left elsewhere.
    Build,
    /// The branch of the task in main: `ralph merge` alone completes the command.
    Merged,
}

/// How a command ends where it has something to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    Complete,
    Rejected,
}

/// What the actor has shown. Whoever asks gathers it from disk beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    Shown(BTreeSet<Proof>),
    /// Whatever is asked for: to find out what that is.
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

/// What a worker must show for this end of its command.
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

/// Whether it completes a command that is done in a worktree, and leaves the merge to another.
pub(super) fn ends_build(rules: &Rules, admission: &Admission) -> bool {
    let command = admission.command.as_deref().and_then(|name| rules.flow.command(name).ok());
    let builds = command.filter(|command| command.worktree && !command.merges);
    builds.is_some_and(|command| ending(command, admission) == Some(Ending::Complete))
}

fn ending(command: &Command, admission: &Admission) -> Option<Ending> {
    // The last rejection ends with a person, and is one all the same.
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
    /// The document that is not linked at this end of the command. To call for a person needs none.
    pub(super) fn unlinked(&self, command: &Command, to: &StateName) -> Option<Refusal> {
        let ends = [&command.complete, &command.iterate].into_iter().flatten().any(|end| end == to);
        if !self.is_held() || !ends || !command.yields_in.contains(&self.rules.mode) {
            return None;
        }
        command.yields.iter().find_map(|kind| {
            let (task, kind) = (self.task.id.clone(), kind.clone());
            let Some(path) = self.task.artifacts.get(&kind) else { return Some(Refusal::Lacks { task, kind }) };
            // What can be rejected is judged anew each time, in a document of its own.
            let round = self.task.rejections + 1;
            let stale = command.iterate.is_some() && !is_of_round(path, round);
            stale.then_some(Refusal::Stale { task, kind, round })
        })
    }
}

/// `…-critique.md` is the first, `…-critique-2.md` the second.
fn is_of_round(path: &str, round: u32) -> bool {
    let end = if round > 1 { format!("-critique-{round}.md") } else { "-critique.md".into() };
    path.ends_with(&end)
}

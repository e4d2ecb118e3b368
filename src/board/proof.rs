//! What a worker must have handed in before its command counts as done. A person is not held to it.

use super::Refusal;
use super::judge::Court;
use crate::task::StateName;
use crate::workflow::Command;

impl Court<'_> {
    /// The document that is missing at this end of the command. To call for a person needs none.
    pub(super) fn unproven(&self, command: &Command, to: &StateName) -> Option<Refusal> {
        let ends = [&command.complete, &command.iterate].into_iter().flatten().any(|end| end == to);
        if self.role().is_none() || !ends || !command.yields_in.contains(&self.rules.mode) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::board::{Actor, Board, Claim, Move, Refusal, Rules, Target};
    use crate::task::{StateName, Task, TaskId, Worker};
    use crate::workflow::{Intent, ReviewMode, Workflow};

    /// The end of a command, as one that holds the task in `state` with these documents.
    fn end(mode: ReviewMode, who: &str, state: &str, to: &str, task: impl FnOnce(&mut Task)) -> Result<(), Refusal> {
        let id = TaskId::new("a").unwrap();
        let mut a = Task::new(id.clone(), "A", StateName::new(state));
        task(&mut a);
        let worker = Worker::new(who).unwrap();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let claim = Claim {
            worker: worker.clone(),
            host: "h".into(),
            since: now,
            until: now,
            held: false,
            token: "t".into(),
            command: None,
            live: true,
            remote: None,
            renewing: None,
            published: None,
            foreign: false,
        };
        let board = Board::new(vec![a], Vec::new(), Vec::new()).with_claims(BTreeMap::from([(id.clone(), claim)]));
        let rules = Rules { mode, ..Rules::of(Workflow::builtin()) };
        let to = Intent::parse(to).map_or_else(|| Target::State(StateName::new(to)), Target::Intent);
        let asked = Move { task: &id, to, command: None, force: false };
        board.judge(&rules, &Actor { worker, proof: None }, &asked).map(drop)
    }

    fn lacks(kind: &str) -> Result<(), Refusal> {
        Err(Refusal::Lacks { task: TaskId::new("a").unwrap(), kind: kind.into() })
    }

    fn with(kind: &'static str, path: &'static str) -> impl FnOnce(&mut Task) {
        move |task| drop(task.artifacts.insert(kind.into(), path.into()))
    }

    #[test]
    fn a_worker_completes_nothing_without_its_document_but_may_escalate() {
        for (who, state, kind) in
            [("analyst", "Research in Progress", "research"), ("builder", "Plan in Progress", "plan")]
        {
            assert_eq!(end(ReviewMode::Skip, who, state, "__COMPLETE__", |_| {}), lacks(kind));
            assert_eq!(end(ReviewMode::Skip, who, state, "__COMPLETE__", with("pr", "x")), lacks(kind));
            assert_eq!(end(ReviewMode::Skip, who, state, "__COMPLETE__", with(kind, "x.md")), Ok(()));
            assert_eq!(end(ReviewMode::Skip, who, state, "__ESCALATE__", |_| {}), Ok(()));
            assert_eq!(end(ReviewMode::Skip, "anna", state, "__COMPLETE__", |_| {}), Ok(()), "a person knows better");
        }
    }

    #[test]
    fn a_verdict_needs_the_critique_of_this_round_where_plans_are_reviewed() {
        let review = |mode, to, task: fn(&mut Task)| end(mode, "builder", "Plan in Review", to, task);
        let linked = |task: &mut Task| drop(task.artifacts.insert("review".into(), "r/d-a-critique.md".into()));
        for to in ["In Progress", "Ready for Plan"] {
            assert_eq!(review(ReviewMode::Auto, to, |_| {}), lacks("review"));
            assert_eq!(review(ReviewMode::Auto, to, linked), Ok(()));
            let stale = review(ReviewMode::Auto, to, |task| {
                task.rejections = 1;
                task.artifacts.insert("review".into(), "r/d-a-critique.md".into());
            });
            assert!(matches!(stale, Err(Refusal::Stale { round: 2, .. })), "{stale:?}");
        }
        assert_eq!(review(ReviewMode::Skip, "Ready for Plan", |_| {}), Ok(()));
    }
}

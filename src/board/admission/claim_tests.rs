//! Claims: which tasks a worker can take, what it must show at the end, and what happens to a task whose holder is gone.

use std::collections::BTreeSet;

use super::*;
use crate::board::testing::{Sample, at, claim, id, rules, rules_in, state, worker};
use crate::board::{ActorKind, AdvanceLimits, Assignment, Claim};
use crate::task::{Estimate, Key, Kind, Value};
use crate::workflow::ReviewMode;

fn actor(name: &str) -> Actor {
    Actor::named(worker(name))
}

fn claimed(board: &Board, who: &str, task: &str, command: Option<&str>) -> Result<Admission, Refusal> {
    board.admit(&rules(), &actor(who), &Request::claim(&id(task), command))
}

fn forced(board: &Board, who: &str, task: &str, command: Option<&str>) -> Result<Admission, Refusal> {
    let task = id(task);
    board.admit(&rules(), &actor(who), &Request { force: true, ..Request::claim(&task, command) })
}

/// The new value of a key, if it changes.
fn change(admission: &Admission, task: &str, key: &str) -> Option<Option<Value>> {
    admission.changes.iter().find_map(|change| match change {
        Change::Set { task: of, key: at, new, .. } if *of == id(task) && at.as_str() == key => Some(new.clone()),
        _ => None,
    })
}

#[test]
fn a_claim_leads_into_the_lock_of_its_command_and_makes_the_worker_owner() {
    let board = Sample::board().task("a", "Research Needed").build();
    let admission = claimed(&board, "analyst", "a", Some("research")).unwrap();
    assert_eq!((admission.to.as_str(), admission.claim), ("Research in Progress", ClaimEffect::Taken));
    assert_eq!(admission.command.as_deref(), Some("research"));
    assert_eq!(change(&admission, "a", "owner"), Some(Some(Value::text("analyst"))));
}

#[test]
fn the_command_of_a_claim_is_the_one_that_the_role_leaves_and_asked_for_where_there_are_two() {
    let board = Sample::board()
        .tasks(&[("r", "Research Needed"), ("p", "Ready for Plan"), ("v", "Plan in Review"), ("d", "Done")])
        .task("l", "Research Needed")
        .estimate(Estimate::L)
        .build();
    let command = |who: &str, task: &str| claimed(&board, who, task, None).map(|admission| admission.command);
    assert_eq!(command("analyst", "r"), Ok(Some("research".into())));
    assert_eq!(command("builder", "p"), Ok(Some("plan".into())));
    assert!(
        matches!(command("builder", "v"), Err(Refusal::NeedsCommand { choices, .. }) if choices == ["review", "implement"])
    );
    assert!(matches!(command("analyst", "l"), Err(Refusal::NeedsCommand { .. })), "it may be split, too");
    assert!(matches!(command("builder", "r"), Err(Refusal::NotIntake { role, .. }) if role == "builder"));
    assert!(matches!(command("analyst", "d"), Err(Refusal::Finished { .. })));
    assert_eq!(command("anna", "p"), Ok(None), "a person claims a task as it is");
}

#[test]
fn a_persons_claim_leaves_the_state_and_takes_the_task() {
    let board = Sample::board().task("a", "Backlog").build();
    let admission = claimed(&board, "anna", "a", None).unwrap();
    assert_eq!(
        (admission.from, admission.to.as_str(), admission.claim),
        (state("Backlog"), "Backlog", ClaimEffect::Taken)
    );
    assert_eq!(admission.changes, [Change::set(&id("a"), "owner", None, Some(Value::text("anna")))]);
}

#[test]
fn a_step_is_taken_up_where_its_workflow_says() {
    let board = Sample::board().task("a", "Backlog").step("s", "Pending", "a", "plan", &["a"]).build();
    let admission = claimed(&board, "anna", "s", None).unwrap();
    assert_eq!(admission.to.as_str(), "In Progress");
    let board = Sample::board().task("a", "Ready for Plan").step("s", "Pending", "a", "plan", &["a"]).build();
    let (task, step) = (id("a"), id("s"));
    let request = Request { step: Some(&step), ..Request::claim(&task, Some("plan")) };
    let served = board.admit(&rules(), &actor("builder"), &request).unwrap();
    assert_eq!(change(&served, "s", "state"), Some(Some(Value::text("In Progress"))));
    assert_eq!(change(&served, "s", "owner"), Some(Some(Value::text("builder"))));
    let again = Sample::board()
        .task("a", "Plan in Progress")
        .owner("builder")
        .claimed(Claim { command: Some("plan".into()), ..claim("builder") })
        .step("s", "In Progress", "a", "plan", &["a"])
        .owner("builder")
        .build();
    assert_eq!(again.admit(&rules(), &actor("builder"), &request).unwrap().changes, [], "nothing changes twice");
}

#[test]
fn a_live_claim_of_somebody_else_holds_and_a_dead_one_does_not() {
    let dead = Claim { live: false, ..claim("analyst") };
    let board = |claim| Sample::board().task("a", "Research Needed").claimed(claim).build();
    assert!(matches!(claimed(&board(claim("analyst-2")), "analyst", "a", None), Err(Refusal::Held { .. })));
    assert!(claimed(&board(dead), "analyst-2", "a", None).is_ok());
    let taken = forced(&board(claim("analyst-2")), "anna", "a", None).unwrap();
    assert_eq!(taken.claim, ClaimEffect::Taken, "whoever insists takes it over");
    let foreign = Claim { foreign: true, ..claim("analyst") };
    assert!(matches!(claimed(&board(foreign), "analyst", "a", None), Err(Refusal::Held { .. })), "of another clone");
}

#[test]
fn what_is_in_hand_is_renewed_whatever_blocks_it_since() {
    let mine = Claim { command: Some("plan".into()), ..claim("builder") };
    let board = Sample::board()
        .tasks(&[("b", "Backlog")])
        .task("a", "Plan in Progress")
        .owner("builder")
        .blocked_by(&["b"])
        .claimed(mine)
        .build();
    for command in [None, Some("plan")] {
        let renewed = claimed(&board, "builder", "a", command).unwrap();
        assert_eq!((renewed.claim, renewed.changes.len()), (ClaimEffect::Renewed, 0));
        assert_eq!(renewed.command.as_deref(), Some("plan"));
    }
    let other = claimed(&board, "builder", "a", Some("implement"));
    assert!(other.is_err(), "for another command it is asked again: {other:?}");
}

#[test]
fn a_lock_that_nobody_holds_is_taken_by_claim_and_by_move_alike() {
    let board = Sample::board().task("a", "In Progress").document("plan", "p.md").build();
    let task = id("a");
    let by = |who: &str, goal: Goal| {
        board.admit(&rules(), &actor(who), &Request { command: Some("implement"), ..Request::new(&task, goal) })
    };
    let lock = Goal::Intent(Intent::Lock);
    for who in ["builder", "anna"] {
        let claimed = by(who, Goal::Claim).unwrap();
        assert_eq!(claimed, by(who, lock.clone()).unwrap());
        assert_eq!(claimed.claim, ClaimEffect::Taken);
    }
    assert_eq!(by("builder", Goal::State(state("In Progress"))).unwrap().claim, ClaimEffect::Taken);
    let idle = by("anna", Goal::State(state("In Progress"))).unwrap();
    assert_eq!(idle.claim, ClaimEffect::Unchanged, "a person who names the state that it is in asks for nothing");
}

#[test]
fn limits_hold_for_one_more_and_count_workers_not_claims() {
    let mut sample = Sample::board().task("free", "Ready for Plan");
    for name in ["builder-1", "builder-2", "builder-3"] {
        sample = sample.task(name, "Plan in Progress").claimed_by(name);
    }
    let board = sample.build();
    let full = claimed(&board, "builder-4", "free", None);
    assert!(matches!(&full, Err(Refusal::RoleFull { limit: 3, holders, .. }) if holders.len() == 3), "{full:?}");
    assert!(matches!(claimed(&board, "builder-1", "free", None), Err(Refusal::WorkerFull { .. })));
    assert!(claimed(&board, "anna", "free", None).is_ok(), "a person is not counted");
    let two = Sample::board()
        .task("free", "Ready for Plan")
        .task("x", "Plan in Progress")
        .claimed_by("builder-1")
        .task("y", "Plan in Progress")
        .claimed_by("builder-1")
        .build();
    assert!(claimed(&two, "builder-2", "free", None).is_ok(), "one worker with two claims is one");
    let roomy = Rules { per_worker: 2, ..rules() };
    let task = id("free");
    assert!(board.admit(&roomy, &actor("builder-1"), &Request::claim(&task, None)).is_ok());
}

#[test]
fn a_command_is_claimed_where_it_starts_by_its_role_and_by_a_person_anywhere() {
    let board = Sample::board().task("a", "Backlog").task("r", "In Review").build();
    assert!(matches!(claimed(&board, "integrator", "a", Some("merge")), Err(Refusal::NotStart { .. })));
    assert!(matches!(claimed(&board, "builder", "r", Some("merge")), Err(Refusal::NotYourCommand { .. })));
    assert!(claimed(&board, "integrator", "r", Some("merge")).is_ok());
    let departs = claimed(&board, "anna", "a", Some("merge")).unwrap().departure.unwrap();
    assert!(matches!(departs.reason, Refusal::NotStart { .. }), "a person is free, and is told");
    assert!(forced(&board, "integrator", "a", Some("merge")).is_err(), "a worker does not insist");
    let blocked = Sample::board().task("b", "Backlog").task("a", "In Review").blocked_by(&["b"]).build();
    assert!(matches!(claimed(&blocked, "integrator", "a", Some("merge")), Err(Refusal::Blocked { .. })));
    assert!(matches!(claimed(&blocked, "anna", "a", Some("merge")), Err(Refusal::Blocked { .. })));
    assert!(forced(&blocked, "anna", "a", Some("merge")).unwrap().forced);
}

#[test]
fn a_worker_shows_its_work_at_the_end_of_its_command_and_a_person_is_believed() {
    let end = |mode: ReviewMode, who: &str, from: &str, to: &str, evidence: &[Proof]| {
        let board = Sample::board()
            .task("a", from)
            .document("research", "r.md")
            .document("plan", "p.md")
            .document("review", "d-critique.md")
            .claimed_by(who)
            .build();
        let task = id("a");
        let request = Request {
            evidence: Evidence::Shown(evidence.iter().cloned().collect::<BTreeSet<_>>()),
            ..Request::new(&task, Goal::State(state(to)))
        };
        let proofs = board.proofs(&rules_in(mode), &actor(who), &request);
        (board.admit(&rules_in(mode), &actor(who), &request).map(drop), proofs)
    };
    let document = |kind: &str, ending| Proof::Document { kind: kind.into(), ending };
    let research = document("research", Ending::Complete);
    let (refused, wanted) = end(ReviewMode::Skip, "analyst", "Research in Progress", "Ready for Plan", &[]);
    assert_eq!(refused, Err(Refusal::Unproven { task: id("a"), proof: research.clone() }));
    assert_eq!(wanted, std::slice::from_ref(&research));
    assert!(end(ReviewMode::Skip, "analyst", "Research in Progress", "Ready for Plan", &[research]).0.is_ok());
    assert_eq!(end(ReviewMode::Skip, "anna", "Research in Progress", "Ready for Plan", &[]), (Ok(()), Vec::new()));
    assert_eq!(end(ReviewMode::Skip, "builder", "In Progress", "In Review", &[]).1, [Proof::Build]);
    assert_eq!(end(ReviewMode::Skip, "builder", "In Progress", "Human Needed", &[]), (Ok(()), Vec::new()));
    let rejected = end(ReviewMode::Auto, "builder", "Plan in Review", "Ready for Plan", &[]).1;
    assert_eq!(rejected, [document("review", Ending::Rejected)]);
    let passed = end(ReviewMode::Auto, "builder", "Plan in Review", "In Progress", &[]).1;
    assert_eq!(passed, [document("review", Ending::Complete)]);
    let skipped = end(ReviewMode::Skip, "builder", "Plan in Review", "Ready for Plan", &[]);
    assert_eq!(skipped, (Ok(()), Vec::new()), "nobody reviews in this mode");
}

#[test]
fn a_task_that_is_given_back_returns_with_the_members_that_were_locked_along() {
    let board = Sample::board()
        .task("p", "Backlog")
        .epic()
        .atomic()
        .children("p", &[("a", "Plan in Progress"), ("b", "Plan in Progress"), ("c", "Research Needed")])
        .task("x", "In Progress")
        .owner("builder")
        .build();
    let back = board.give_back(&id("a"), Some(&worker("builder")), &rules()).unwrap();
    assert_eq!((back.from.as_str(), back.to.as_str()), ("Plan in Progress", "Ready for Plan"));
    let moved: Vec<&TaskId> = back.changes.iter().map(Change::task).collect();
    assert_eq!(moved, [&id("a"), &id("b")]);
    let stays = board.give_back(&id("x"), Some(&worker("builder")), &rules()).unwrap();
    assert_eq!(stays.changes, [Change::set(&id("x"), "owner", Some(Value::text("builder")), None)]);
    let others = board.give_back(&id("x"), Some(&worker("anna")), &rules()).unwrap();
    assert_eq!(others.changes, [], "an owner who did not hold it stays");
    assert!(board.give_back(&id("gone"), None, &rules()).is_none());
}

#[test]
fn members_of_a_group_are_bound_by_the_claim_with_which_they_were_locked() {
    let board = Sample::board()
        .task("p", "Backlog")
        .epic()
        .atomic()
        .children("p", &[("a", "Plan in Progress")])
        .claimed_by("builder")
        .children("p", &[("b", "Plan in Progress"), ("c", "Research Needed")])
        .task("x", "Plan in Progress")
        .build();
    let binding = |name: &str| board.binding_claim(at(&board, name)).map(|(task, _)| task.to_string());
    assert_eq!((binding("a"), binding("b")), (Some("a".into()), Some("a".into())));
    assert_eq!((binding("c"), binding("x"), binding("p")), (None, None, None));
    assert!(board.is_kept(at(&board, "b"), &rules()) && !board.is_kept(at(&board, "c"), &rules()));
}

#[test]
fn a_dead_claim_is_an_orphan_and_its_return_frees_the_task() {
    let dead = Claim { live: false, ..claim("analyst") };
    let board = Sample::board().task("a", "Research in Progress").owner("analyst").claimed(dead).build();
    let orphans = board.orphans(&rules());
    assert_eq!(orphans.len(), 1);
    let freed = board.with_returned(&orphans);
    assert_eq!((freed.get(&id("a")).unwrap().state.as_str(), freed.claims().len()), ("Research Needed", 0));
    assert!(claimed(&freed, "analyst-2", "a", None).is_ok());
}

#[test]
fn a_worker_leaves_what_another_holds_alone_and_a_person_may_put_it_right() {
    let board = Sample::board().task("a", "In Progress").claimed_by("builder").build();
    let held = |who: &str| board.refuse_held(&rules(), &actor(who), &id("a"));
    assert!(held("builder").is_ok() && held("anna").is_ok() && held("builder-2").is_err());
    let program = Actor { kind: ActorKind::Program, ..actor("codex") };
    assert!(board.refuse_held(&rules(), &program, &id("a")).is_err());
}

#[test]
fn a_worker_starts_tasks_where_the_workflow_does_and_may_not_clear_flags() {
    let start = |who: &str, to: &str| rules().refuse_start(&actor(who), Kind::Issue, &state(to));
    assert!(start("analyst", "Backlog").is_ok() && start("anna", "In Review").is_ok());
    let refused = start("analyst", "In Review");
    assert_eq!(refused, Err(Refusal::NotInitial { state: state("In Review"), initial: state("Backlog") }));
    let other = [Assignment::Put(Key::new("title"), None)];
    assert!(rules().refuse_fields(&actor("analyst"), &other).is_ok());
}

#[test]
fn what_a_command_needs_is_named() {
    let board = Sample::board().task("a", "In Progress").task("b", "In Progress").document("plan", "p.md").build();
    let rules = rules();
    let command = rules.flow.command("implement").unwrap();
    let lacks = |task: &str| rules.refuse_lacking(board.get(&id(task)).unwrap(), command).is_err();
    assert!(lacks("a") && !lacks("b"));
    assert_eq!(board.choose(Some("builder"), None, &rules).map(|choice| choice.task), Some(id("b")));
}

#[test]
fn a_member_that_is_not_first_or_waits_for_the_others_is_told_so() {
    let group = |b: &str| {
        Sample::board().task("p", "Backlog").epic().atomic().children("p", &[("a", "Ready for Plan"), ("b", b)]).build()
    };
    let turn = |board: &Board, name: &str| board.not_its_turn(at(board, name), &rules());
    assert!(matches!(turn(&group("Ready for Plan"), "b"), Some(Refusal::NotPrimary { .. })));
    assert!(matches!(turn(&group("Research Needed"), "a"), Some(Refusal::NotConverged { .. })));
    assert_eq!((turn(&group("Ready for Plan"), "a"), turn(&group("Research Needed"), "b")), (None, None));
}

#[test]
fn only_a_lock_that_returns_and_that_nobody_has_is_unowned() {
    let unowned = |state: &str, owner: Option<&str>, holder: Option<&str>| {
        let sample = Sample::board().task("a", state);
        let sample = owner.into_iter().fold(sample, |sample, owner| sample.owner(owner));
        let sample = holder.into_iter().fold(sample, |sample, holder| sample.claimed_by(holder));
        sample.build().unowned_locks(&rules()).len()
    };
    assert_eq!(unowned("Plan in Progress", None, None), 1);
    assert_eq!(unowned("Plan in Progress", Some("anna"), None), 0);
    assert_eq!(unowned("Plan in Progress", None, Some("builder")), 0);
    assert_eq!((unowned("In Progress", None, None), unowned("Ready for Plan", None, None)), (0, 0));
}

#[test]
fn a_person_who_insists_advances_what_the_table_refuses() {
    let board = Sample::board().task("p", "Backlog").epic().children("p", &[("a", "Backlog")]).build();
    let moved = |who: &str, force| {
        let limits = AdvanceLimits { force, ..AdvanceLimits::default() };
        let advance = board.advance(at(&board, "p"), &state("In Review"), &rules(), &actor(who), &limits).unwrap();
        advance.moved.len()
    };
    assert_eq!((moved("anna", false), moved("anna", true), moved("analyst", true)), (0, 1, 0));
}

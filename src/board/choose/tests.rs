//! Which task is chosen, for whom, for which command, and in which order.

use proptest::prelude::*;

use super::*;
use crate::board::testing::{Sample, any_board, at, claim, id, laws, names, rules, rules_in, state, worker};
use crate::board::{Actor, Change, Claim, ClaimEffect, Goal, Request};
use crate::task::{Priority, Value};
use crate::workflow::{ReviewMode, Workflow};

fn labeled(labels: &[&str], estimate: Estimate) -> Board {
    Sample::board().task("a", "Backlog").labels(labels).estimate(estimate).build()
}

fn chosen(board: &Board) -> Option<String> {
    board.choose(Some("analyst"), None, &rules()).and_then(|choice| choice.command)
}

/// The next task for a role, as `task command`.
fn next(sample: Sample, role: &str) -> Option<String> {
    let choice = sample.build().choose(Some(role), Some(&worker(role)), &rules())?;
    Some(format!("{} {}", choice.task, choice.command.unwrap_or_default()))
}

fn triaged(board: &Board, who: &str, to: &str, command: Option<&str>) -> (Vec<Change>, bool) {
    let actor = Actor::named(worker(who));
    let task = id("a");
    let request = Request { command, ..Request::new(&task, Goal::State(state(to))) };
    let verdict = board.admit(&rules(), &actor, &request).unwrap();
    (verdict.changes, verdict.claim == ClaimEffect::Ended)
}

fn labels(old: &[&str], new: &[&str]) -> Change {
    let value = |all: &[&str]| (!all.is_empty()).then(|| Value::texts(all));
    Change::set(&id("a"), "labels", value(old), value(new))
}

#[test]
fn what_triage_leaves_is_marked_and_not_taken_up_for_ever() {
    let fresh = labeled(&["bug"], Estimate::S);
    assert_eq!(chosen(&fresh).as_deref(), Some("triage"));
    let (changes, hands_off) = triaged(&fresh, "analyst", "Backlog", Some("triage"));
    assert_eq!((changes, hands_off), (vec![labels(&["bug"], &["bug", "ralph-triage"])], true));
    let left = labeled(&["bug", "ralph-triage"], Estimate::S);
    assert_eq!(chosen(&left), None);
    assert!(!Standings::new(&left, &rules()).is_ready(0));
    assert_eq!(chosen(&labeled(&["ralph-triage"], Estimate::L)).as_deref(), Some("split"), "too large is too large");
}

#[test]
fn the_mark_goes_with_the_first_move() {
    let left = labeled(&["ralph-triage"], Estimate::S);
    for who in ["analyst", "anna"] {
        let (changes, _) = triaged(&left, who, "Research Needed", None);
        assert!(changes.contains(&labels(&["ralph-triage"], &[])), "{changes:?}");
    }
}

#[test]
fn a_person_who_moves_a_task_to_where_it_is_marks_nothing() {
    assert_eq!(triaged(&labeled(&[], Estimate::S), "anna", "Backlog", None), (Vec::new(), false));
}

#[test]
fn a_task_left_by_triage_names_the_command_and_its_label_unless_another_command_takes_it() {
    let left =
        |board: &Board| left_by(&board.tasks()[0], &rules()).map(|(command, mark)| format!("{} {mark}", command.name));
    assert_eq!(left(&labeled(&["ralph-triage"], Estimate::S)).as_deref(), Some("triage ralph-triage"));
    assert_eq!(left(&labeled(&[], Estimate::S)), None);
    assert_eq!(left(&labeled(&["ralph-triage"], Estimate::M)), None, "it is still to be split");
    let elsewhere = Sample::board().task("a", "Research Needed").labels(&["ralph-triage"]).build();
    assert_eq!(left(&elsewhere), None);
}

#[test]
fn a_role_takes_a_task_up_for_the_command_that_fits_its_state_and_size() {
    let sized = |state: &str, estimate: Option<Estimate>| {
        let task = Sample::board().task("a", state);
        estimate.map_or(task.clone(), |estimate| task.estimate(estimate)).build()
    };
    let large = Some(Estimate::L);
    for (role, state, estimate, parent, command) in [
        ("analyst", "Backlog", None, false, Some("triage")),
        ("analyst", "Backlog", large, false, Some("split")),
        ("analyst", "Backlog", large, true, Some("triage")),
        ("analyst", "Research Needed", None, false, Some("research")),
        ("analyst", "Research Needed", large, false, Some("split")),
        ("analyst", "Research Needed", large, true, Some("research")),
        ("analyst", "Ready for Plan", None, false, None),
        ("builder", "Ready for Plan", large, false, Some("plan")),
        ("builder", "Plan in Review", None, false, Some("implement")),
        ("builder", "In Progress", None, false, Some("implement")),
        ("integrator", "In Review", None, false, Some("merge")),
        ("integrator", "Nowhere", None, false, None),
    ] {
        let (board, rules) = (sized(state, estimate), rules());
        let got = command_for(&board.tasks()[0], parent, role, &rules).map(|command| command.name.as_str());
        assert_eq!(got, command, "{role} {state} {estimate:?}");
    }
    let rules = rules_in(ReviewMode::Auto);
    let got = command_for(&sized("Plan in Review", None).tasks()[0], false, "builder", &rules).map(|c| c.name.clone());
    assert_eq!(got.as_deref(), Some("review"));
}

#[test]
fn a_mirrored_task_gets_its_pull_request_before_it_is_merged() {
    let task = || Sample::board().task("a", "In Review");
    for (sample, command) in
        [(task(), "a merge"), (task().issue(4), "a pr"), (task().issue(4).document("pr", "https://x/1"), "a merge")]
    {
        assert_eq!(next(sample, "integrator").as_deref(), Some(command));
    }
}

#[test]
fn held_blocked_broken_and_finished_tasks_are_never_chosen() {
    let ready = || Sample::board().task("a", "Research Needed");
    for (sample, expected) in [
        (ready(), Some("a research")),
        (ready().owner("analyst-2"), Some("a research")),
        (ready().owner("anna"), None),
        (ready().claimed_by("analyst-2"), None),
        (ready().claimed(Claim { live: false, ..claim("analyst-2") }), Some("a research")),
        (ready().problem("no title"), None),
        (ready().blocked_by(&["b"]).task("b", "Human Needed"), None),
        (ready().children("a", &[("b", "Done")]), None),
        (Sample::board().task("a", "Done"), None),
        (Sample::board().task("a", "Nowhere"), None),
        (Sample::board().task("a", "Backlog").blocked_by(&["gone"]), Some("a triage")),
        (Sample::board().step("a", "Pending", "t", "research", &["t"]), None),
        (Sample::board().task("a", "Backlog").epic().estimate(Estimate::Xl), Some("a split")),
    ] {
        assert_eq!(next(sample.clone(), "analyst").as_deref(), expected, "{sample:?}");
    }
}

#[test]
fn a_group_is_chosen_by_its_first_member_when_all_are_there() {
    let group = |rows: &[(&str, &str)]| Sample::board().task("p", "Backlog").atomic().children("p", rows);
    let ready = group(&[("a", "Ready for Plan"), ("b", "Ready for Plan")]);
    assert_eq!(next(ready.clone(), "builder").as_deref(), Some("a plan"));
    let without = |id: &TaskId| id.as_str() == "a";
    assert_eq!(ready.build().choose_but(Some("builder"), None, &without, &rules()), None, "b is not its first member");
    let waiting = group(&[("a", "Ready for Plan"), ("b", "Research Needed")]);
    assert_eq!(next(waiting.clone(), "builder"), None);
    assert_eq!(next(waiting, "analyst").as_deref(), Some("b research"));
}

#[test]
fn a_worker_resumes_what_it_holds_with_the_command_of_its_claim() {
    let sample = || Sample::board().task("urgent", "Research Needed").priority(Priority::P0);
    let held = |claim: Claim| sample().task("held", "Research in Progress").claimed(claim).build();
    let own = Claim { command: Some("research".into()), ..claim("analyst") };
    let choose = |board: &Board| board.choose(Some("analyst"), Some(&worker("analyst")), &rules()).unwrap();
    let resumed = Choice { task: id("held"), command: Some("research".into()), resume: true };
    assert_eq!(choose(&held(own.clone())), resumed);
    for other in [
        Claim { live: false, ..own.clone() },
        Claim { foreign: true, ..own.clone() },
        Claim { worker: worker("analyst-2"), ..own.clone() },
    ] {
        let fresh = Choice { task: id("urgent"), command: Some("research".into()), resume: false };
        assert_eq!(choose(&held(other)), fresh);
    }
    let finished = sample().task("held", "Done").claimed(own).build();
    assert_eq!(choose(&finished).task, id("urgent"));
}

#[test]
fn without_a_role_anything_ready_is_chosen_for_no_command() {
    let board = Sample::board().tasks(&[("a", "Plan in Progress"), ("b", "In Review")]).build();
    let choice = Choice { task: id("b"), command: None, resume: false };
    assert_eq!(board.choose(None, None, &rules()), Some(choice));
    let plain = Workflow::parse(
        "format = 1\nname = \"plain\"\ninitial = \"Todo\"\n[[state]]\nname = \"Todo\"\n[[state]]\nname = \"Done\"\nterminal = true\n",
    );
    let board = Sample::board().tasks(&[("a", "Done"), ("b", "Todo")]).build();
    let got = board.choose(None, None, &Rules::of(plain.unwrap())).map(|choice| choice.task);
    assert_eq!(got, Some(id("b")));
}

#[test]
fn what_somebody_else_has_or_is_blocked_or_too_large_is_not_takeable_and_ones_own_comes_first() {
    let doing = |name: &str, sample: Sample| sample.task(name, "In Progress");
    let sample = doing("urgent", doing("free", Sample::board())).priority(Priority::P0);
    let sample = doing("theirs", doing("mine", sample).owner("anna")).owner("ben");
    let sample = doing("held", sample).claimed_by("ben");
    let sample = doing("waits", doing("large", sample).estimate(Estimate::M)).blocked_by(&["free"]);
    let sample = doing("stuck", sample).owner("anna").blocked_by(&["free"]);
    let sample = doing("torn", sample).owner("anna").problem("no title");
    let board =
        doing("parent", sample).children("parent", &[("child", "In Progress")]).task("elsewhere", "Backlog").build();
    let taken = |most: Estimate, who: Option<&str>| {
        let found = board.takeable(&state("In Progress"), most, who.map(worker).as_ref(), &rules());
        found.iter().map(|(at, own)| (names(&board, &[*at]).remove(0), *own)).collect::<Vec<_>>()
    };
    let row = |name: &str, own: bool| (name.to_owned(), own);
    let all = vec![row("mine", true), row("urgent", false), row("child", false), row("free", false)];
    assert_eq!(taken(Estimate::S, Some("anna")), all);
    assert!(taken(Estimate::M, Some("anna")).contains(&row("large", false)));
    assert_eq!(taken(Estimate::S, Some("ben"))[..2], [row("held", true), row("theirs", true)]);
    assert!(!taken(Estimate::S, None).iter().any(|(name, own)| *own || name == "mine"));
    let done = Sample::board().task("a", "Done").owner("anna").build();
    assert_eq!(done.takeable(&state("Done"), Estimate::Xl, Some(&worker("anna")), &rules()), []);
    let step = Sample::board().step("a", "Pending", "t", "plan", &["t"]).build();
    assert_eq!(step.takeable(&state("Pending"), Estimate::Xl, None, &rules()), []);
}

#[test]
fn claimed_work_stays_takeable_by_its_holder_when_it_becomes_blocked() {
    let sample = Sample::board().task("a", "In Progress").claimed_by("anna").blocked_by(&["gone"]);
    assert_eq!(
        sample.build().takeable(&state("In Progress"), Estimate::S, Some(&worker("anna")), &rules()),
        [(0, true)]
    );
}

/// The rule in words: one's own tasks first, then by priority, progress, age and id.
fn first_of<'b>(tasks: Vec<&'b Task>, own: &dyn Fn(&Task) -> bool) -> Option<&'b TaskId> {
    let flow = Workflow::builtin();
    let mut tasks = tasks;
    tasks.sort_by(|one, other| {
        let missing_last =
            |one: Option<i64>, other: Option<i64>| one.unwrap_or(i64::MAX).cmp(&other.unwrap_or(i64::MAX));
        let rank = |task: &Task| flow.position(task.kind, &task.state);
        let priority = |task: &Task| task.priority.map(|priority| priority as i64);
        let created = |task: &Task| task.created.map(|at| at.as_second());
        own(other)
            .cmp(&own(one))
            .then(missing_last(priority(one), priority(other)))
            .then(rank(other).cmp(&rank(one)))
            .then(missing_last(created(one), created(other)))
            .then(one.id.cmp(&other.id))
    });
    tasks.first().map(|task| &task.id)
}

proptest! {
    #![proptest_config(laws(300))]

    #[test]
    fn the_choice_is_the_first_of_all_that_could_be_chosen(
        board in any_board(),
        role in proptest::option::of(proptest::sample::select(vec!["analyst", "builder", "integrator"])),
        held in proptest::collection::btree_set(0..6_usize, 0..3),
    ) {
        let (rules, who) = (rules(), worker("builder"));
        let held = held.into_iter().filter_map(|at| board.tasks().get(at));
        let claims = held.map(|task| (task.id.clone(), claim("builder"))).collect();
        let board = board.with_claims(claims);
        let alone = |task: &&Task| board.choose_but(role, Some(&who), &|id| *id != task.id, &rules).is_some();
        let candidates: Vec<&Task> = board.tasks().iter().filter(alone).collect();
        for task in &candidates {
            prop_assert!(!rules.flow.is_terminal(task.kind, &task.state));
            let place = at(&board, task.id.as_str());
            let own = board.claim(&task.id).is_some();
            prop_assert!(own || board.binding_claim(place).is_none());
            prop_assert!(own || task.state == state("Backlog") || board.open_blockers(place, &rules).is_empty());
        }
        let choice = board.choose(role, Some(&who), &rules);
        let own = |task: &Task| board.claim(&task.id).is_some();
        prop_assert_eq!(choice.as_ref().map(|choice| &choice.task), first_of(candidates, &own));
    }
}

#[test]
fn the_oldest_comes_first_and_what_has_no_age_last() {
    let sample = Sample::board().task("a", "Backlog").task("b", "Backlog").created(2).task("c", "Backlog").created(1);
    let board = sample.build();
    let mut order = Vec::new();
    while let Some(choice) = board.choose_but(Some("analyst"), None, &|id| order.contains(id), &rules()) {
        order.push(choice.task);
    }
    assert_eq!(order, [id("c"), id("b"), id("a")]);
}

//! The table of WORKFLOW.md, and what each actor may do with a claim.

use std::collections::BTreeMap;

use super::*;
use crate::board::testing::{Sample, claim, id};
use crate::board::{ActorKind, AdvanceLimits};
use crate::task::{Estimate, Kind, Task, Value, Worker};
use crate::workflow::{ReviewMode, Sizes, Workflow};

/// One task in a state, claimed by `holder` if there is one.
fn board(state: &str, holder: Option<&str>) -> Board {
    let task = documented(Task::new(id("a"), "A", StateName::new(state)));
    let claims = holder.map(|holder| (id("a"), claim(holder))).into_iter().collect::<BTreeMap<_, _>>();
    Board::new(vec![task], Vec::new(), Vec::new()).with_claims(claims)
}

/// The task with all documents that workers must have.
fn documented(mut task: Task) -> Task {
    let round = if task.rejections > 0 { format!("-{}", task.rejections + 1) } else { String::new() };
    let paths = [("research", "r.md".into()), ("plan", "p.md".into()), ("review", format!("d-critique{round}.md"))];
    task.artifacts = paths.into_iter().map(|(kind, path)| (kind.to_owned(), path)).collect();
    task
}

fn rules(mode: ReviewMode) -> Rules {
    Rules { mode, ..Rules::of(Workflow::builtin()) }
}

fn actor(name: &str) -> Actor {
    Actor::named(Worker::new(name).unwrap())
}

fn judge(
    board: &Board,
    mode: ReviewMode,
    who: &str,
    to: &str,
    command: Option<&str>,
    force: bool,
) -> Result<Admission, Refusal> {
    let to = Intent::parse(to).map_or_else(|| Goal::State(StateName::new(to)), Goal::Intent);
    let task = id("a");
    board.admit(
        &rules(mode),
        &actor(who),
        &Request { command, force, evidence: Evidence::Assumed, ..Request::new(&task, to) },
    )
}

type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// WORKFLOW.md, "Commands": command, role, and every move that it allows.
const TABLE: &[Row] = &[
    (
        "triage",
        "analyst",
        &[
            ("Backlog", "Research Needed"),
            ("Backlog", "Ready for Plan"),
            ("Backlog", "Done"),
            ("Backlog", "Canceled"),
            ("Backlog", "Backlog"),
            ("Backlog", "Human Needed"),
        ],
    ),
    (
        "split",
        "analyst",
        &[
            ("Backlog", "Backlog"),
            ("Research Needed", "Backlog"),
            ("Backlog", "Human Needed"),
            ("Research Needed", "Human Needed"),
        ],
    ),
    (
        "research",
        "analyst",
        &[
            ("Research Needed", "Research in Progress"),
            ("Research Needed", "Human Needed"),
            ("Research in Progress", "Research in Progress"),
            ("Research in Progress", "Ready for Plan"),
            ("Research in Progress", "Human Needed"),
        ],
    ),
    (
        "plan",
        "builder",
        &[
            ("Ready for Plan", "Plan in Progress"),
            ("Ready for Plan", "Human Needed"),
            ("Plan in Progress", "Plan in Progress"),
            ("Plan in Progress", "Plan in Review"),
            ("Plan in Progress", "Human Needed"),
        ],
    ),
    (
        "review",
        "builder",
        &[("Plan in Review", "In Progress"), ("Plan in Review", "Ready for Plan"), ("Plan in Review", "Human Needed")],
    ),
    (
        "implement",
        "builder",
        &[
            ("Plan in Review", "In Progress"),
            ("Plan in Review", "Human Needed"),
            ("In Progress", "In Progress"),
            ("In Progress", "In Review"),
            ("In Progress", "Human Needed"),
        ],
    ),
    ("pr", "integrator", &[("In Review", "In Review"), ("In Review", "Human Needed")]),
    ("merge", "integrator", &[("In Review", "Done"), ("In Review", "In Progress"), ("In Review", "Human Needed")]),
];

#[test]
fn each_command_leads_where_the_table_says_and_nowhere_else() {
    let flow = Workflow::builtin();
    for (command, role, pairs) in TABLE {
        for from in flow.states() {
            let holder = from.lock.then_some(*role);
            for to in flow.states() {
                let (from, to) = (from.name.as_str(), to.name.as_str());
                let mut board = board(from, holder);
                let large = flow.command(command).is_ok_and(|command| command.sizes == Sizes::Oversized);
                board.tasks[0].estimate = large.then_some(Estimate::L);
                let got = judge(&board, ReviewMode::Skip, role, to, Some(command), false);
                assert_eq!(got.is_ok(), pairs.contains(&(from, to)), "{command}: {from} → {to}: {got:?}");
            }
        }
    }
}

#[test]
fn a_command_belongs_to_its_role() {
    for (command, role, pairs) in TABLE {
        for other in ["analyst", "builder", "validator", "integrator"] {
            let (from, to) = pairs[0];
            let got = judge(&board(from, None), ReviewMode::Skip, other, to, Some(command), false);
            assert_eq!(
                matches!(got, Err(Refusal::NotYourCommand { .. })),
                other != *role,
                "{command} by {other}: {got:?}"
            );
        }
    }
}

#[test]
fn intents_mean_what_the_command_says_and_an_unknown_one_lists_the_others() {
    for (command, from, intent, to) in [
        ("research", "Research Needed", "__LOCK__", "Research in Progress"),
        ("research", "Research in Progress", "__COMPLETE__", "Ready for Plan"),
        ("plan", "Ready for Plan", "__LOCK__", "Plan in Progress"),
        ("plan", "Plan in Progress", "__COMPLETE__", "Plan in Review"),
        ("implement", "Plan in Review", "__LOCK__", "In Progress"),
        ("implement", "In Progress", "__COMPLETE__", "In Review"),
        ("review", "Plan in Review", "__COMPLETE__", "In Progress"),
        ("merge", "In Review", "__COMPLETE__", "Done"),
        ("merge", "In Review", "__CLOSE__", "Done"),
        ("triage", "Backlog", "__CLOSE__", "Done"),
        ("triage", "Backlog", "__CANCEL__", "Canceled"),
        ("plan", "Ready for Plan", "__ESCALATE__", "Human Needed"),
    ] {
        let role = TABLE.iter().find(|(name, ..)| *name == command).unwrap().1;
        let got = judge(&board(from, Some(role)), ReviewMode::Skip, role, intent, Some(command), false).unwrap();
        assert_eq!(got.to.as_str(), to, "{command} {intent}");
    }
    for (command, intent) in [
        ("triage", "__COMPLETE__"),
        ("triage", "__LOCK__"),
        ("review", "__LOCK__"),
        ("plan", "__CLOSE__"),
        ("research", "__CANCEL__"),
    ] {
        let (_, role, pairs) = TABLE.iter().find(|(name, ..)| *name == command).unwrap();
        let refusal =
            judge(&board(pairs[0].0, None), ReviewMode::Skip, role, intent, Some(command), false).unwrap_err();
        assert!(matches!(&refusal, Refusal::NoSuchIntent { .. }), "{refusal:?}");
        assert!(refusal.to_string().contains("__ESCALATE__"), "{refusal}");
    }
}

#[test]
fn done_never_goes_back_to_research() {
    let got = judge(&board("Done", None), ReviewMode::Skip, "analyst", "__LOCK__", Some("research"), false);
    assert!(matches!(got, Err(Refusal::Finished { .. })), "{got:?}");
}

#[test]
fn only_a_person_takes_a_task_from_a_person() {
    let got = judge(&board("Human Needed", None), ReviewMode::Skip, "builder", "In Progress", Some("implement"), false);
    assert_eq!(got, Err(Refusal::NeedsPerson { task: id("a") }));
    for to in ["Backlog", "Research Needed", "Ready for Plan", "In Progress"] {
        assert!(judge(&board("Human Needed", None), ReviewMode::Skip, "anna", to, None, false).is_ok(), "{to}");
    }
}

#[test]
fn a_person_moves_a_task_anywhere_and_is_told_what_the_workflow_does_not_have() {
    let flow = Workflow::builtin();
    for (from, to) in flow.states().iter().flat_map(|from| flow.states().iter().map(move |to| (from, to))) {
        let moved = judge(&board(from.name.as_str(), None), ReviewMode::Skip, "anna", to.name.as_str(), None, false);
        let moved = moved.unwrap_or_else(|refusal| panic!("{} → {}: {refusal}", from.name, to.name));
        assert_eq!((moved.to, moved.forced), (to.name.clone(), false));
    }
    let go = |from: &str, to: &str| judge(&board(from, None), ReviewMode::Skip, "anna", to, None, false).unwrap();
    assert_eq!(go("Done", "Backlog").departure, None);
    assert_eq!(go("Backlog", "Research Needed").departure, None);
    let said = |from: &str, to: &str| go(from, to).departure.unwrap().to_string();
    assert_eq!(said("Backlog", "In Review"), "skips Research Needed, Ready for Plan, Plan in Review");
    assert_eq!(said("In Review", "Backlog"), "the workflow has no move from In Review to Backlog");
    let worker = judge(&board("Backlog", None), ReviewMode::Skip, "analyst", "In Review", Some("triage"), true);
    assert!(worker.is_err(), "a worker is held to the table");
}

#[test]
fn a_person_is_refused_only_what_harms_somebody_else() {
    let flow = Workflow::builtin();
    let held = board("In Progress", Some("builder"));
    let go = |board: &Board, to: &str, force| judge(board, ReviewMode::Skip, "anna", to, None, force);
    assert!(matches!(go(&held, "Done", false), Err(Refusal::Held { .. })));
    assert!(go(&held, "Done", true).is_ok());
    let blocked = Sample::board().task("b", "Backlog").task("a", "Backlog").blocked_by(&["b"]).build();
    for state in flow.states() {
        let moved = go(&blocked, state.name.as_str(), false);
        match state.lock {
            true => assert!(matches!(moved, Err(Refusal::Blocked { .. })), "{}", state.name),
            false => assert!(moved.is_ok(), "{}", state.name),
        }
        assert!(go(&blocked, state.name.as_str(), true).is_ok());
    }
}

#[test]
fn an_open_task_is_escalated_with_any_command_by_whoever_has_no_role() {
    let flow = Workflow::builtin();
    let program = Actor { kind: ActorKind::Program, ..actor("anna") };
    for state in flow.states().iter().filter(|state| !state.terminal && !state.off) {
        for command in flow.commands() {
            for actor in [&actor("anna"), &program] {
                let (task, goal) = (id("a"), Goal::Intent(Intent::Escalate));
                let request = Request { command: Some(&command.name), ..Request::new(&task, goal) };
                let moved = board(state.name.as_str(), None).admit(&rules(ReviewMode::Skip), actor, &request);
                let to = moved.map(|admission| admission.to);
                assert_eq!(to.as_ref(), Ok(&StateName::new("Human Needed")), "{} as {}", state.name, command.name);
            }
        }
    }
    let worker =
        judge(&board("Ready for Plan", None), ReviewMode::Skip, "analyst", "__ESCALATE__", Some("research"), false);
    assert!(matches!(worker, Err(Refusal::NotAllowed { .. })), "a worker keeps to its role: {worker:?}");
}

#[test]
fn a_program_is_held_to_the_table_whatever_name_it_gives() {
    let program = Actor { kind: ActorKind::Program, ..actor("anna") };
    let asked = |command, to: &str, force| {
        let task = id("a");
        let goal = Goal::State(StateName::new(to));
        let request = Request { command, force, ..Request::new(&task, goal) };
        board("Backlog", None).admit(&rules(ReviewMode::Skip), &program, &request)
    };
    assert!(matches!(asked(None, "In Progress", true), Err(Refusal::ProgramNeedsCommand { .. })));
    assert!(matches!(asked(Some("triage"), "In Progress", true), Err(Refusal::NotAllowed { .. })));
    assert!(asked(Some("triage"), "Research Needed", false).is_ok());
}

#[test]
fn a_merge_that_is_reserved_for_people_is_refused_to_everybody_else() {
    let mut rules = rules(ReviewMode::Skip);
    rules.flow.reserve_merging();
    let asked = |by: &Actor, command, intent| {
        let task = id("a");
        let request = Request { command, evidence: Evidence::Assumed, ..Request::new(&task, Goal::Intent(intent)) };
        board("In Review", None).admit(&rules, by, &request)
    };
    let hosted = Actor { kind: ActorKind::Hosted, ..actor("claude-code-1") };
    for by in [&actor("integrator"), &hosted] {
        let refused = asked(by, Some("merge"), Intent::Complete);
        assert!(matches!(refused, Err(Refusal::PeopleOnly { what: "merge", .. })), "{refused:?}");
        let unnamed = asked(by, None, Intent::Complete);
        assert!(unnamed.as_ref().is_ok_and(|moved| moved.command.as_deref() == Some("pr")), "{unnamed:?}");
    }
    assert!(asked(&hosted, None, Intent::Escalate).is_ok(), "anything else stays possible");
    assert_eq!(asked(&actor("anna"), Some("merge"), Intent::Complete).unwrap().to.as_str(), "Done");
}

#[test]
fn a_hosted_session_neither_reopens_nor_leaves_as_a_person_does() {
    let flow = Workflow::builtin();
    let hosted = Actor { kind: ActorKind::Hosted, ..actor("claude-code-1") };
    let asked = |from: &str, to: &str, command| {
        let (task, mut board) = (id("a"), board(from, None));
        board.tasks[0].estimate = (command == Some("split")).then_some(Estimate::L);
        let goal = Intent::parse(to).map_or_else(|| Goal::State(StateName::new(to)), Goal::Intent);
        let request = Request { command, ..Request::new(&task, goal) };
        board.admit(&rules(ReviewMode::Skip), &hosted, &request)
    };
    for from in ["Done", "Canceled"] {
        for command in flow.commands().iter().map(|command| Some(command.name.as_str())).chain([None]) {
            let refused = asked(from, "Backlog", command).unwrap_err();
            assert!(matches!(refused, Refusal::PeopleOnly { .. }), "{from} as {command:?}: {refused:?}");
        }
    }
    for (from, command, allowed) in [
        ("Backlog", Some("triage"), true),
        ("Backlog", None, true),
        ("Backlog", Some("research"), false),
        ("Research Needed", Some("research"), false),
        ("Ready for Plan", Some("plan"), false),
        ("Plan in Review", Some("review"), false),
        ("In Progress", Some("implement"), false),
        ("In Review", Some("merge"), false),
        ("In Review", None, false),
    ] {
        assert_eq!(asked(from, "Canceled", command).is_ok(), allowed, "{from} as {command:?}");
        assert_eq!(asked(from, "__CANCEL__", command).is_ok(), allowed, "__CANCEL__ in {from} as {command:?}");
    }
    assert!(asked("Backlog", "Done", Some("triage")).is_ok());
    let refused = asked("Research Needed", "Ready for Plan", None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "claude-code-1 cannot move a from Research Needed to Ready for Plan; allowed: Backlog, Research in Progress, Human Needed"
    );
}

#[test]
fn a_second_agent_cannot_take_the_same_lock() {
    for holder in ["analyst-2", "anna"] {
        let got = judge(
            &board("Research in Progress", Some(holder)),
            ReviewMode::Skip,
            "analyst",
            "__LOCK__",
            Some("research"),
            false,
        );
        assert!(matches!(got, Err(Refusal::Held { .. })), "{got:?}");
    }
    let nobody = judge(
        &board("Research in Progress", None),
        ReviewMode::Skip,
        "analyst",
        "__COMPLETE__",
        Some("research"),
        false,
    );
    assert!(matches!(nobody, Err(Refusal::NotClaimed { .. })), "{nobody:?}");
    let unlocked =
        judge(&board("Research Needed", None), ReviewMode::Skip, "analyst", "Ready for Plan", Some("research"), false);
    assert!(matches!(unlocked, Err(Refusal::NotClaimed { .. })), "{unlocked:?}");
}

#[test]
fn a_claim_that_was_lost_is_noticed_by_its_token() {
    let moved = |proof: &str, board: &Board| {
        let actor = Actor { proof: Some(proof.into()), ..actor("builder") };
        let task = id("a");
        let asked = Request {
            command: Some("implement"),
            evidence: Evidence::Assumed,
            ..Request::new(&task, Goal::Intent(Intent::Complete))
        };
        board.admit(&rules(ReviewMode::Skip), &actor, &asked)
    };
    assert!(moved("a:t", &board("In Progress", Some("builder"))).is_ok());
    assert!(
        moved("b:other", &board("In Progress", Some("builder"))).is_ok(),
        "a claim on another task says nothing here"
    );
    assert_eq!(moved("a:old", &board("In Progress", Some("builder"))), Err(Refusal::Lost { task: id("a") }));
    assert_eq!(moved("a:t", &board("In Progress", None)), Err(Refusal::Lost { task: id("a") }));
}

#[test]
fn the_review_mode_decides_who_reviews_and_whether_implementing_may_skip_it() {
    let review =
        |mode, who| judge(&board("Plan in Review", None), mode, who, "__COMPLETE__", Some("review"), false).is_ok();
    let implement =
        |mode| judge(&board("Plan in Review", None), mode, "builder", "__LOCK__", Some("implement"), false).is_ok();
    assert!(
        review(ReviewMode::Skip, "builder")
            && review(ReviewMode::Auto, "builder")
            && !review(ReviewMode::Interactive, "builder")
    );
    assert!(
        !review(ReviewMode::Skip, "validator")
            && !review(ReviewMode::Auto, "validator")
            && review(ReviewMode::Interactive, "validator")
    );
    assert!(implement(ReviewMode::Skip) && !implement(ReviewMode::Auto) && !implement(ReviewMode::Interactive));
}

#[test]
fn the_third_rejection_calls_for_a_person() {
    let reject = |rejections: u32| {
        let mut task = Task::new(id("a"), "A", StateName::new("Plan in Review"));
        task.rejections = rejections;
        let board = Board::new(vec![documented(task)], Vec::new(), Vec::new());
        judge(&board, ReviewMode::Auto, "builder", "Ready for Plan", Some("review"), false).unwrap()
    };
    let first = reject(0);
    assert_eq!(first.to.as_str(), "Ready for Plan");
    assert!(first.changes.contains(&Change::set(&id("a"), "labels", None, Some(Value::texts(["needs-iteration"])))));
    assert!(first.changes.contains(&Change::set(&id("a"), "review.rejections", None, Some(Value::Integer(1)))));
    assert_eq!((reject(1).to.as_str(), reject(2).to.as_str()), ("Ready for Plan", "Human Needed"));
}

#[test]
fn a_blocked_task_may_be_triaged_and_nothing_else() {
    let blocked = |state: &str| {
        let mut task = Task::new(id("a"), "A", StateName::new(state));
        task.blocked_by = vec![id("b")];
        Board::new(vec![task, Task::new(id("b"), "B", StateName::new("Backlog"))], Vec::new(), Vec::new())
    };
    assert!(judge(&blocked("Backlog"), ReviewMode::Skip, "analyst", "Research Needed", Some("triage"), false).is_ok());
    for (command, role, from) in [
        ("research", "analyst", "Research Needed"),
        ("plan", "builder", "Ready for Plan"),
        ("implement", "builder", "Plan in Review"),
    ] {
        let got = judge(&blocked(from), ReviewMode::Skip, role, "__LOCK__", Some(command), false);
        assert!(matches!(got, Err(Refusal::Blocked { .. })), "{command}: {got:?}");
    }
    let merged = judge(&blocked("In Review"), ReviewMode::Skip, "integrator", "__COMPLETE__", Some("merge"), false);
    assert!(matches!(merged, Err(Refusal::Blocked { .. })), "{merged:?}");
}

#[test]
fn a_large_task_is_split_before_research_except_by_a_person() {
    let sized = |estimate| {
        let mut task = Task::new(id("a"), "A", StateName::new("Research Needed"));
        task.estimate = Some(estimate);
        Board::new(vec![task], Vec::new(), Vec::new())
    };
    let research = |size, who, force| judge(&sized(size), ReviewMode::Skip, who, "__LOCK__", Some("research"), force);
    assert!(research(Estimate::S, "analyst", false).is_ok());
    assert!(matches!(research(Estimate::M, "analyst", true), Err(Refusal::Oversized { .. })));
    let departure = research(Estimate::M, "anna", false).unwrap().departure.unwrap();
    assert!(matches!(departure.reason, Refusal::Oversized { .. }));
    assert!(judge(&sized(Estimate::Xl), ReviewMode::Skip, "analyst", "__COMPLETE__", Some("split"), false).is_ok());
}

fn family(children: &[(&str, &str)], parent: &str, atomic: bool) -> Board {
    let mut top = Task::new(id("p"), "P", StateName::new(parent));
    (top.kind, top.atomic) = (Kind::Epic, atomic);
    let child = |(name, state): &(&str, &str)| {
        let mut task = documented(Task::new(id(name), *name, StateName::new(*state)));
        task.parent = Some(id("p"));
        task
    };
    Board::new(children.iter().map(child).chain([top]).collect(), Vec::new(), Vec::new())
}

fn parent_goes(verdict: &Admission) -> Option<&str> {
    verdict.along.iter().find(|(task, _)| *task == id("p")).map(|(_, state)| state.as_str())
}

#[test]
fn a_parent_moves_to_the_least_gate_that_all_children_have_reached() {
    for (others, goes) in [
        (vec![("b", "Ready for Plan")], Some("Ready for Plan")),
        (vec![("b", "In Progress")], Some("Ready for Plan")),
        (vec![("b", "Done"), ("c", "Canceled")], Some("Ready for Plan")),
        (vec![("b", "Backlog")], None),
        (vec![("b", "Human Needed")], None),
    ] {
        let mut children = vec![("a", "Backlog")];
        children.extend(others.iter());
        let verdict = judge(
            &family(&children, "Backlog", false),
            ReviewMode::Skip,
            "analyst",
            "Ready for Plan",
            Some("triage"),
            false,
        );
        assert_eq!(parent_goes(&verdict.unwrap()), goes, "{others:?}");
    }
    let canceled = family(&[("a", "Backlog"), ("b", "Canceled")], "Backlog", false);
    assert_eq!(
        parent_goes(&judge(&canceled, ReviewMode::Skip, "analyst", "Canceled", Some("triage"), false).unwrap()),
        None
    );
}

#[test]
fn a_parent_is_never_ahead_of_its_children() {
    let level = family(&[("a", "Plan in Review"), ("b", "Plan in Review")], "Plan in Review", false);
    let rejected = judge(&level, ReviewMode::Auto, "builder", "Ready for Plan", Some("review"), false).unwrap();
    assert_eq!(parent_goes(&rejected), Some("Ready for Plan"));
    let done = family(&[("a", "Done")], "Done", false);
    assert_eq!(parent_goes(&judge(&done, ReviewMode::Skip, "anna", "Backlog", None, false).unwrap()), Some("Backlog"));
    let reopened = family(&[("a", "Canceled"), ("b", "Done")], "Done", false);
    assert_eq!(
        parent_goes(&judge(&reopened, ReviewMode::Skip, "anna", "Backlog", None, false).unwrap()),
        Some("Backlog")
    );
    let to = Goal::State(StateName::new("Ready for Plan"));
    let ahead = family(&[("a", "Backlog")], "Backlog", false);
    let task = id("p");
    let asked = Request { command: Some("triage"), ..Request::new(&task, to) };
    let got = ahead.admit(&rules(ReviewMode::Skip), &actor("analyst"), &asked);
    assert!(matches!(got, Err(Refusal::AheadOfChildren { .. })), "{got:?}");
}

#[test]
fn a_group_is_planned_once_on_its_first_member_when_all_are_there() {
    let lock = |board: &Board, who: &str| {
        let task = id(who);
        let asked = Request {
            command: Some("plan"),
            evidence: Evidence::Assumed,
            ..Request::new(&task, Goal::Intent(Intent::Lock))
        };
        board.admit(&rules(ReviewMode::Skip), &actor("builder"), &asked)
    };
    let ready = family(&[("a", "Ready for Plan"), ("b", "Ready for Plan")], "Backlog", true);
    let verdict = lock(&ready, "a").unwrap();
    assert!(verdict.along.contains(&(id("b"), StateName::new("Plan in Progress"))), "{verdict:?}");
    assert!(matches!(lock(&ready, "b"), Err(Refusal::NotPrimary { .. })));
    let waiting = family(&[("a", "Ready for Plan"), ("b", "Research Needed")], "Backlog", true);
    assert!(matches!(lock(&waiting, "a"), Err(Refusal::NotConverged { .. })));
    let done = family(&[("a", "Ready for Plan"), ("b", "Done"), ("c", "Canceled")], "Backlog", true);
    assert!(lock(&done, "a").is_ok(), "finished members hold nobody back");
    let stuck = family(&[("a", "Ready for Plan"), ("b", "Human Needed")], "Backlog", true);
    assert!(lock(&stuck, "a").is_err());
    let apart = family(&[("a", "Ready for Plan"), ("b", "Ready for Plan")], "Backlog", false);
    let alone = lock(&apart, "b").unwrap();
    assert!(!alone.along.iter().any(|(task, _)| *task == id("a")), "without an atomic parent there is no group");
}

#[test]
fn members_wait_for_those_behind_them_and_go_on_without_those_ahead() {
    let asked = |board: &Board, who: &str, actor_name: &str, command: &str, goal: Goal| {
        let task = id(who);
        let request = Request { command: Some(command), evidence: Evidence::Assumed, ..Request::new(&task, goal) };
        board.admit(&rules(ReviewMode::Skip), &actor(actor_name), &request)
    };
    let waits = |states: [&str; 3]| {
        let board = family(&[("a", states[0]), ("b", states[1]), ("c", states[2])], "Backlog", true);
        match asked(&board, "b", "integrator", "merge", Goal::Intent(Intent::Complete)) {
            Err(Refusal::NotConverged { waiting_for, for_person, .. }) => (waiting_for, for_person),
            other => panic!("{states:?}: {other:?}"),
        }
    };
    let behind = |name: &str, state: &str| vec![(id(name), StateName::new(state))];
    assert_eq!(waits(["Human Needed", "In Review", "In Review"]), (behind("a", "Human Needed"), true));
    assert_eq!(waits(["Backlog", "In Review", "In Review"]), (behind("a", "Backlog"), false));
    assert_eq!(waits(["In Review", "In Review", "Ready for Plan"]), (behind("c", "Ready for Plan"), false));
    // The primary is ahead: the first of those that follow acts for them.
    let follows = family(&[("a", "In Review"), ("b", "Ready for Plan"), ("c", "Ready for Plan")], "Backlog", true);
    let lock = |board: &Board, who: &str| asked(board, who, "builder", "plan", Goal::Intent(Intent::Lock));
    let along = lock(&follows, "b").unwrap().along;
    assert!(along.contains(&(id("c"), StateName::new("Plan in Progress"))), "{along:?}");
    assert!(matches!(lock(&follows, "c"), Err(Refusal::NotPrimary { primary, .. }) if primary == id("b")));
    assert!(matches!(lock(&follows, "a"), Err(Refusal::NotAllowed { .. })), "it is further already");
}

#[test]
fn a_member_that_follows_is_not_taken_while_another_worker_holds_those_ahead() {
    let lock = |who: &str| {
        let board = family(&[("a", "In Progress"), ("b", "Ready for Plan")], "Backlog", true);
        let board = board.with_claims(BTreeMap::from([(id("a"), claim("builder-1"))]));
        let task = id("b");
        let goal = Goal::Intent(Intent::Lock);
        let request = Request { command: Some("plan"), evidence: Evidence::Assumed, ..Request::new(&task, goal) };
        board.admit(&Rules { per_worker: 2, ..rules(ReviewMode::Skip) }, &actor(who), &request)
    };
    assert!(matches!(lock("builder-2"), Err(Refusal::Held { task, .. }) if task == id("a")));
    assert_eq!(lock("builder-1").unwrap().claim, ClaimEffect::Taken);
}

/// Ends a command, as the holder of the task in `state` with these documents.
fn end(mode: ReviewMode, who: &str, state: &str, to: &str, task: impl FnOnce(&mut Task)) -> Result<(), Refusal> {
    let id = TaskId::new("a").unwrap();
    let mut a = Task::new(id.clone(), "A", StateName::new(state));
    task(&mut a);
    let worker = Worker::new(who).unwrap();
    let board = Board::new(vec![a], Vec::new(), Vec::new()).with_claims(BTreeMap::from([(id.clone(), claim(who))]));
    let rules = Rules { mode, ..Rules::of(Workflow::builtin()) };
    let to = Intent::parse(to).map_or_else(|| Goal::State(StateName::new(to)), Goal::Intent);
    let request = Request { evidence: Evidence::Assumed, ..Request::new(&id, to) };
    board.admit(&rules, &Actor::named(worker), &request).map(drop)
}

fn lacks(kind: &str) -> Result<(), Refusal> {
    Err(Refusal::Lacks { task: TaskId::new("a").unwrap(), kind: kind.into() })
}

fn with(kind: &'static str, path: &'static str) -> impl FnOnce(&mut Task) {
    move |task| drop(task.artifacts.insert(kind.into(), path.into()))
}

#[test]
fn a_worker_completes_nothing_without_its_document_but_may_escalate() {
    for (who, state, kind) in [("analyst", "Research in Progress", "research"), ("builder", "Plan in Progress", "plan")]
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

#[test]
fn advancing_children_is_a_move_of_each_with_its_whole_effect() {
    let mut board = family(&[("a", "Backlog"), ("b", "Research in Progress"), ("c", "Backlog")], "Backlog", false);
    board.tasks[0].owner = Some(Worker::new("bob").unwrap());
    board.tasks[0].attention = Some("look".into());
    board.tasks[2].estimate = Some(Estimate::L);
    let parent = board.index_of(&id("p")).unwrap();
    let to = StateName::new("Ready for Plan");
    let advance =
        board.advance(parent, &to, &rules(ReviewMode::Skip), &actor("anna"), &AdvanceLimits::default()).unwrap();
    let limits = AdvanceLimits { unmerged: BTreeMap::from([(id("a"), "not merged".to_owned())]), force: false };
    let kept = board.advance(parent, &to, &rules(ReviewMode::Skip), &actor("anna"), &limits).unwrap();
    assert!(kept.moved.is_empty() && kept.stay.contains(&(id("a"), "not merged".to_owned())), "{kept:?}");
    assert_eq!(advance.moved, [id("a")]);
    assert_eq!(advance.stay.iter().map(|(task, _)| task.clone()).collect::<Vec<_>>(), [id("b"), id("c")]);
    let set = |key: &str| {
        let of = |change: &&Change| matches!(change, Change::Set { task, key: at, .. } if *task == id("a") && at.as_str() == key);
        advance.changes.iter().find(of).map(|change| match change {
            Change::Set { new, .. } => new.clone(),
            Change::File { .. } => None,
        })
    };
    assert_eq!(set("state"), Some(Some(Value::text("Ready for Plan"))));
    assert_eq!((set("owner"), set("attention")), (Some(None), Some(None)), "the owner and the flag go with the move");
}

fn outside(board: &Board, who: &str, to: &str) -> Admission {
    let task = id("a");
    let actor = Actor::outside(Worker::new(who).unwrap());
    let request = Request::new(&task, Goal::State(StateName::new(to)));
    board.admit(&rules(ReviewMode::Skip), &actor, &request).unwrap()
}

fn new_value(admission: &Admission, key: &str) -> Option<Value> {
    admission.changes.iter().find_map(|change| match change {
        Change::Set { task, key: at, new, .. } if *task == id("a") && at.as_str() == key => new.clone(),
        _ => None,
    })
}

#[test]
fn whatever_happens_outside_is_taken_in_and_flagged_where_the_table_says_no() {
    let flow = Workflow::builtin();
    for from in flow.states() {
        for to in flow.states().iter().filter(|to| to.name != from.name) {
            let held = board(from.name.as_str(), from.lock.then_some("builder"));
            let free = board(from.name.as_str(), None);
            let person = judge(&free, ReviewMode::Skip, "anna", to.name.as_str(), None, false);
            let admission = outside(&held, "anna", to.name.as_str());
            assert_eq!(admission.to, to.name, "it is where it is");
            let departs = person.unwrap().departure.is_some();
            assert_eq!(admission.flag.is_some(), departs, "{} → {}", from.name, to.name);
            assert_eq!(new_value(&admission, "attention").is_some(), admission.flag.is_some());
            assert_eq!(admission.claim, ClaimEffect::Ended, "no machine claim is made, and one that is overruled ends");
            let owner = new_value(&admission, "owner");
            assert_eq!(owner, to.lock.then(|| Value::text("anna")), "{} → {}", from.name, to.name);
        }
    }
}

#[test]
fn what_happens_outside_counts_against_no_limit_and_is_a_persons_whatever_their_name() {
    let mut board = board("Ready for Plan", None);
    let others = ["builder-1", "builder-2", "builder-3"].map(|name| (id(name), claim(name)));
    board = board.with_claims(others.into_iter().collect());
    let admission = outside(&board, "builder-4", "Plan in Progress");
    assert_eq!((admission.flag, admission.claim), (None, ClaimEffect::Ended));
}

#[test]
fn a_lock_that_a_person_owns_is_not_given_back_and_a_workers_is() {
    let lock = |owner: Option<&str>, kind: Kind| {
        let mut task = Task::new(
            id("a"),
            "A",
            StateName::new(if kind == Kind::Step { "In Progress" } else { "Plan in Progress" }),
        );
        task.owner = owner.map(|owner| Worker::new(owner).unwrap());
        task.kind = kind;
        let board = Board::new(vec![task], Vec::new(), Vec::new());
        let rules = rules(ReviewMode::Skip);
        (board.orphans(&rules).len(), board.unowned_locks(&rules).len())
    };
    assert_eq!(lock(Some("builder"), Kind::Issue), (1, 0));
    assert_eq!(lock(Some("anna"), Kind::Issue), (0, 0));
    assert_eq!(lock(None, Kind::Issue), (0, 1), "somebody put it there by hand");
    assert_eq!(lock(None, Kind::Step), (1, 0), "steps are the team's own");
}

#[test]
fn a_flagged_task_is_handed_to_nobody_until_somebody_moves_it() {
    let mut board = board("Ready for Plan", None);
    let rules = rules(ReviewMode::Skip);
    assert!(board.choose(Some("builder"), None, &rules).is_some());
    board.tasks[0].attention = Some("look".into());
    assert_eq!(board.choose(Some("builder"), None, &rules), None);
    let moved = judge(&board, ReviewMode::Skip, "anna", "Plan in Progress", None, false).unwrap();
    assert!(moved.changes.contains(&Change::set(&id("a"), "attention", Some(Value::text("look")), None)));
}

#[test]
fn only_people_insist_and_only_people_clear_a_flag() {
    let board = board("Backlog", None);
    let rules = rules(ReviewMode::Skip);
    let insists = |kind: ActorKind, who: &str| {
        let actor = Actor { kind, ..actor(who) };
        let task = id("a");
        let goal = Goal::State(StateName::new("In Review"));
        let request = Request { force: true, command: Some("triage"), ..Request::new(&task, goal) };
        board.admit(&rules, &actor, &request).is_ok()
    };
    assert!(insists(ActorKind::Named, "anna") && insists(ActorKind::Hosted, "anna"));
    assert!(!insists(ActorKind::Program, "anna") && !insists(ActorKind::Named, "analyst"));
    let clear = [crate::board::Assignment::Put(crate::task::Key::new("attention"), None)];
    assert!(
        rules.refuse_fields(&actor("anna"), &clear).is_ok() && rules.refuse_fields(&actor("analyst"), &clear).is_err()
    );
}

#[test]
fn a_program_without_a_name_says_as_which_command_it_moves() {
    let board = board("Backlog", None);
    let task = id("a");
    let actor = Actor { kind: ActorKind::Program, ..actor("codex-7") };
    let ask = |command| {
        let request = Request { command, ..Request::new(&task, Goal::State(StateName::new("Research Needed"))) };
        board.admit(&rules(ReviewMode::Skip), &actor, &request)
    };
    assert_eq!(ask(None), Err(Refusal::ProgramNeedsCommand { task: id("a") }));
    assert!(ask(Some("triage")).is_ok());
}

#[test]
fn undo_moves_nothing_that_somebody_else_holds_and_nothing_for_a_worker() {
    let back = [Change::set(&id("a"), "state", Some(Value::text("Done")), Some(Value::text("Backlog")))];
    let undo = |holder: Option<&str>, who: &str| {
        let author = Worker::new("bob").unwrap();
        board("Done", holder).refuse_undo(&rules(ReviewMode::Skip), &actor(who), &back, &author)
    };
    assert!(undo(None, "anna").is_ok() && undo(Some("anna"), "anna").is_ok() && undo(Some("bob"), "anna").is_ok());
    assert!(matches!(undo(Some("builder"), "anna"), Err(Refusal::Held { .. })));
    assert!(matches!(undo(None, "builder"), Err(Refusal::PeopleOnly { .. })));
}

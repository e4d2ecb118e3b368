//! The meaning of changes, and the events between two boards.

use super::*;
use crate::board::testing::{Sample, claim, hour, id, rules, state, worker};

fn set(key: &str, old: &str, new: &str) -> Change {
    let value = |text: &str| (!text.is_empty()).then(|| Value::text(text));
    Change::set(&id("a"), key, value(old), value(new))
}

fn file(place: Place, old: Option<&str>, new: Option<&str>) -> Change {
    Change::File { task: id("a"), file: place, old: old.map(Into::into), new: new.map(Into::into) }
}

#[test]
fn every_kind_is_read_by_the_name_it_is_written_with() {
    for kind in EventKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    assert_eq!(EventKind::RuleFailed.name(), "rule-failed");
    let error = "exploded".parse::<EventKind>().unwrap_err().to_string();
    assert!(error.starts_with(r#""exploded" is not an event: use created, changed, moved,"#), "{error}");
}

#[test]
fn the_kind_of_an_event_follows_from_its_changes() {
    let note = || file(Place::Note("n.md".into()), None, Some("x"));
    for (verb, changes, kind) in [
        ("add", vec![file(Place::Task, None, Some("x"))], EventKind::Created),
        ("remove", vec![file(Place::Task, Some("x"), None)], EventKind::Removed),
        ("edit", vec![file(Place::Task, Some("x"), Some("y"))], EventKind::Changed),
        (
            "archive",
            vec![file(Place::Task, Some("x"), None), file(Place::Archive, None, Some("x"))],
            EventKind::Archived,
        ),
        (
            "restore",
            vec![file(Place::Archive, Some("x"), None), file(Place::Task, None, Some("x"))],
            EventKind::Created,
        ),
        ("move", vec![set("owner", "anna", ""), set("state", "Backlog", "Done"), note()], EventKind::Moved),
        ("reap", vec![set("state", "In Progress", "Backlog")], EventKind::Reaped),
        ("note", vec![note()], EventKind::Noted),
        ("set", vec![set("owner", "", "anna")], EventKind::Changed),
    ] {
        let event = changed(hour(0), Via::Verb, &id("a"), verb, changes.clone());
        assert_eq!((event.event, event.task, event.via), (kind, Some(id("a")), Via::Verb), "{verb}");
        assert_eq!(event.changes, changes);
        let moved = changes.iter().any(|change| change.is_state_of(&id("a")));
        assert_eq!((event.from.is_some(), event.to.is_some()), (moved, moved), "{verb}");
    }
    let moved = changed(hour(0), Via::Hand, &id("a"), "", vec![set("state", "Backlog", "Done")]);
    assert_eq!((moved.from, moved.to), (Some(state("Backlog")), Some(state("Done"))));
}

fn facts(sample: Sample) -> Facts {
    Facts::of(&sample.build(), &rules())
}

/// The events between two boards, as `kind task` with the role and command, the state or the message.
fn reported(before: Sample, after: Sample) -> Vec<String> {
    let event = |event: Event| {
        let task = event.task.map(|task| task.to_string());
        let to = event.to.map(StateName::into_string);
        let parts = [Some(event.event.name()), task, event.role, event.command, to, event.message];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    facts(after).since(&facts(before), hour(0)).into_iter().map(event).collect()
}

#[test]
fn a_task_is_reported_ready_once_for_each_role_that_can_take_it() {
    let task = |state: &str| Sample::board().task("a", state);
    assert_eq!(reported(task("Backlog"), task("Research Needed")), ["ready a analyst research"]);
    assert_eq!(reported(task("Backlog"), task("In Review")), ["ready a integrator merge"]);
    assert_eq!(reported(task("Backlog"), task("Backlog")), [""; 0]);
    assert_eq!(reported(task("Backlog"), task("Done")), [""; 0]);
    let large = task("Backlog").estimate(crate::task::Estimate::L);
    assert_eq!(reported(task("Done"), large), ["ready a analyst split"]);
    let step = Sample::board().step("a", "Pending", "t", "plan", &["t"]);
    assert_eq!(reported(Sample::board(), step.clone()), ["ready a"], "for no role");
    assert_eq!(reported(step.clone(), step), [""; 0]);
}

#[test]
fn a_task_that_becomes_free_is_reported_as_unblocked() {
    let waits = |state: &str, blocker: &str| Sample::board().task("a", state).blocked_by(&["b"]).task("b", blocker);
    let freed = reported(waits("Ready for Plan", "Human Needed"), waits("Ready for Plan", "Done"));
    assert_eq!(freed, ["unblocked a", "ready a builder plan"]);
    assert_eq!(reported(waits("Done", "Human Needed"), waits("Done", "Done")), [""; 0]);
    let kept =
        |blocker: &str| Sample::board().task("b", blocker).task("a", "Ready for Plan").owner("anna").blocked_by(&["b"]);
    assert_eq!(reported(kept("Human Needed"), kept("Done")), [""; 0], "its owner has it already");
    assert_eq!(reported(waits("Ready for Plan", "Done"), waits("Ready for Plan", "Human Needed")), [""; 0]);
}

#[test]
fn a_group_is_reported_converged_at_the_furthest_gate_that_all_have_reached() {
    let group = |one: &str, other: &str| {
        Sample::board().task("p", "Human Needed").atomic().children("p", &[("a", one), ("b", other)])
    };
    let met = |before: (&str, &str), after: (&str, &str)| -> Vec<String> {
        let events = reported(group(before.0, before.1), group(after.0, after.1));
        events.into_iter().filter(|event| event.starts_with("converged")).collect()
    };
    assert_eq!(met(("Backlog", "Ready for Plan"), ("Ready for Plan", "In Review")), ["converged p Ready for Plan"]);
    assert_eq!(met(("Ready for Plan", "In Review"), ("In Review", "In Review")), ["converged p In Review"]);
    assert_eq!(met(("Ready for Plan", "In Review"), ("Plan in Progress", "In Review")), [""; 0]);
    assert_eq!(met(("Backlog", "Backlog"), ("Backlog", "In Review")), [""; 0]);
    let loose = Sample::board().task("p", "Human Needed").children("p", &[("a", "Ready for Plan")]);
    assert_eq!(facts(loose).converged.len(), 0, "only a group meets");
    assert_eq!(facts(Sample::board().task("p", "Human Needed").atomic()).converged.len(), 0, "nobody is no group");
}

#[test]
fn problems_are_reported_when_they_appear_and_when_they_are_solved() {
    let well = || Sample::board().task("a", "Human Needed");
    let torn = || well().problem("no title").broken("b");
    assert_eq!(reported(well(), torn()), ["problem a.toml: no title", "problem b.toml: cannot be read"]);
    assert_eq!(reported(torn(), well()), ["solved a.toml: no title", "solved b.toml: cannot be read"]);
    assert_eq!(reported(torn(), torn()), [""; 0]);
    let dangling = well().parent("gone");
    assert_eq!(reported(well(), dangling), ["problem a a has the parent gone, which does not exist"]);
}

fn held(claim: Option<Claim>) -> Sample {
    let task = Sample::board().task("a", "Research in Progress");
    claim.map_or(task.clone(), |claim| task.claimed(claim))
}

#[test]
fn a_claim_is_reported_when_it_starts_ends_and_changes_hands() {
    let anna = || Claim { command: Some("plan".into()), ..claim("anna") };
    let since = |before: Option<Claim>, after: Option<Claim>| facts(held(after)).since(&facts(held(before)), hour(9));
    let brief = |events: Vec<Event>| -> Vec<(EventKind, Option<Worker>, Option<Timestamp>)> {
        events.into_iter().map(|event| (event.event, event.by, event.until)).collect()
    };
    let claimed = |who: &str, until: Option<Timestamp>| (EventKind::Claimed, Some(worker(who)), until);
    let released = |who: &str| (EventKind::Released, Some(worker(who)), None);
    let lease = Some(hour(1));
    for (before, after, events) in [
        (None, Some(anna()), vec![claimed("anna", lease)]),
        (None, Some(Claim { held: true, ..anna() }), vec![claimed("anna", None)]),
        (Some(anna()), None, vec![released("anna")]),
        (Some(anna()), Some(Claim { live: false, ..anna() }), vec![released("anna")]),
        (Some(anna()), Some(claim("ben")), vec![released("anna"), claimed("ben", lease)]),
        (Some(anna()), Some(Claim { since: hour(3), ..anna() }), vec![released("anna"), claimed("anna", lease)]),
        (Some(anna()), Some(claim("anna")), vec![released("anna"), claimed("anna", lease)]),
        (Some(anna()), Some(Claim { until: hour(5), ..anna() }), vec![]),
    ] {
        assert_eq!(brief(since(before.clone(), after.clone())), events, "{before:?} → {after:?}");
    }
    let both = [since(None, Some(anna())).remove(0), since(Some(anna()), None).remove(0)];
    assert!(both.iter().all(|event| event.command.as_deref() == Some("plan") && event.task == Some(id("a"))));
    assert!(both.iter().all(|event| event.at == hour(9) && event.via == Via::Board));
}

#[test]
fn only_an_extended_lease_is_reported_as_renewed() {
    let old = || claim("anna");
    let renewed = |before: Option<Claim>, after: Option<Claim>| {
        facts(held(after)).renewed_since(&facts(held(before)), hour(9)).pop()
    };
    let longer = || Claim { until: hour(5), command: Some("plan".into()), ..old() };
    let before = || Claim { command: Some("plan".into()), ..old() };
    let event = renewed(Some(before()), Some(longer())).unwrap();
    let expected = (EventKind::Claimed, Some(worker("anna")), Some("plan".to_owned()), Some(hour(5)));
    assert_eq!((event.event, event.by, event.command, event.until), expected);
    assert_eq!(event.task, Some(id("a")));
    let running = renewed(Some(before()), Some(Claim { held: true, ..longer() })).unwrap();
    assert_eq!(running.until, None, "a program that runs has no end");
    for (before, after) in [
        (Some(before()), Some(before())),
        (None, Some(longer())),
        (Some(before()), None),
        (Some(before()), Some(Claim { worker: worker("ben"), ..longer() })),
        (Some(before()), Some(Claim { live: false, ..longer() })),
        (Some(Claim { live: false, ..before() }), Some(longer())),
    ] {
        assert_eq!(renewed(before, after), None);
    }
}

#[test]
fn the_counts_are_ready_claimed_blocked_and_problems() {
    let sample = Sample::board()
        .tasks(&[("a", "Backlog"), ("b", "Ready for Plan"), ("c", "In Review"), ("done", "Done")])
        .task("held", "In Progress")
        .claimed_by("anna")
        .task("dead", "In Progress")
        .claimed(Claim { live: false, ..claim("ben") })
        .owner("ben")
        .task("waits", "Backlog")
        .blocked_by(&["a"])
        .task("also", "Backlog")
        .blocked_by(&["a"])
        .broken("x")
        .broken("y")
        .broken("z");
    assert_eq!(facts(sample).counts(), [3, 1, 2, 3]);
}

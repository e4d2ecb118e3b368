//! Which keys can be assigned, what the assignments change, and which links are refused.

use proptest::prelude::*;

use super::*;
use crate::board::testing::{Sample, any_board, id, laws};

fn board() -> Board {
    Sample::board().task("a", "Backlog").task("b", "Backlog").blocked_by(&["a"]).labels(&["x"]).build()
}

fn found(typed: &str) -> Result<TaskId, String> {
    TaskId::new(typed).map_err(|_| format!("no task {typed:?}"))
}

fn parse(typed: &str) -> Result<Assignment, Refusal> {
    parse_assignment(typed, false, &mut found)
}

/// The value that an assignment gives a key; none if it clears the key.
fn value(typed: &str, custom: bool) -> Option<Value> {
    match parse_assignment(typed, custom, &mut found) {
        Ok(Assignment::Put(_, value)) => value,
        other => panic!("{typed}: {other:?}"),
    }
}

fn set(task: &str, typed: &[&str]) -> Result<Vec<Change>, Refusal> {
    let board = board();
    let task = id(task);
    let wanted: Vec<Assignment> = typed.iter().map(|typed| parse(typed)).collect::<Result<_, _>>()?;
    Ok(set_keys(&task, &wanted, |key| board.get(&task).unwrap().value(key)))
}

#[test]
fn values_are_checked_and_spelled_the_one_way() {
    let priority = Change::set(&id("a"), "priority", None, Some(Value::text("P1")));
    assert_eq!(set("a", &["priority=p1"]).unwrap(), [priority]);
    for (typed, spelled) in [
        ("prio=p0", Value::text("P0")),
        ("size=xl", Value::text("XL")),
        ("kind= Epic ", Value::text("epic")),
        ("owner= anna ", Value::text("anna")),
        ("title=  Make   it\tso ", Value::text("Make it so")),
        ("description=one\n\ntwo  \n\n", Value::text("one\n\ntwo\n")),
        ("body=  indented", Value::text("  indented\n")),
        ("result= done ", Value::text("done")),
        ("parent= b ", Value::text("b")),
        ("atomic=true", Value::Bool(true)),
        ("artifacts.plan= p.md ", Value::text("p.md")),
        ("title=a=b", Value::text("a=b")),
    ] {
        assert_eq!(value(typed, false), Some(spelled), "{typed}");
    }
}

#[test]
fn each_invalid_assignment_is_refused_with_its_reason() {
    for (typed, message) in [
        ("priority", r#""priority" is not KEY=VALUE"#),
        ("state=ready", r#""state" cannot be set: ralph sets it itself"#),
        ("id=b", r#""id" cannot be set: ralph sets it itself"#),
        ("review.rejections=0", r#""review.rejections" cannot be set: ralph sets it itself"#),
        ("github.number=4", r#""github.number" cannot be set: ralph sets it itself"#),
        ("kind=step", r#""kind = step" cannot be set: ralph sets it itself"#),
        ("priority=P7", r#""P7" is not a priority: use P0, P1, P2, P3"#),
        ("estimate=huge", r#""huge" is not an estimate: use XS, S, M, L, XL"#),
        ("kind=story", r#""story" is not a kind: use issue, epic, step"#),
        ("atomic=perhaps", r#""perhaps" is not true or false: use true, false"#),
        ("title= ", "the title cannot be empty"),
        ("priority+=P1", r#""priority" has a single value: use `priority=VALUE`"#),
        ("priority-=P1", r#""priority" has a single value: use `priority=VALUE`"#),
        ("prioritty=P1", r#""prioritty" is not a field of a task: did you mean "priority"?"#),
        ("colour=red", r#""colour" is not a field of a task"#),
        ("colour=", r#""colour" is not a field of a task"#),
        ("artifacts.=x", r#""artifacts." is not a field of a task"#),
        ("artifacts.Plan=x", r#""artifacts.Plan" is not a field of a task"#),
        ("parent=../x", r#"no task "../x""#),
        ("blocked_by=a,../x", r#"no task "../x""#),
    ] {
        assert_eq!(parse(typed).map_err(|refusal| refusal.to_string()), Err(message.to_owned()), "{typed}");
    }
}

#[test]
fn an_empty_value_takes_a_key_out() {
    for key in ["description", "kind", "priority", "estimate", "owner", "parent", "atomic", "result", "artifacts.plan"]
    {
        assert_eq!(value(&format!("{key}= "), false), None, "{key}");
    }
    assert_eq!((value("labels=", false), value("blocked_by= , ", false)), (None, None));
    assert_eq!(value("colour=", true), None);
}

#[test]
fn a_custom_key_keeps_numbers_and_booleans_and_has_a_plain_name() {
    for (typed, kept) in [
        ("points=3", Value::Integer(3)),
        ("ratio=0.5", Value::Float(0.5)),
        ("ratio=inf", Value::text("inf")),
        ("urgent=false", Value::Bool(false)),
        ("colour= red ", Value::text(" red ")),
        ("my.own-key_2=x", Value::text("x")),
    ] {
        assert_eq!(value(typed, true), Some(kept), "{typed}");
    }
    for typed in ["a b=1", "a..b=1", ".a=1", "ä=1"] {
        let got = parse_assignment(typed, true, &mut found);
        assert!(matches!(got, Err(Refusal::BadKey(_))), "{typed}: {got:?}");
    }
    assert!(
        matches!(parse_assignment("priority=P9", true, &mut found), Err(Refusal::Value(_))),
        "ralph's own stay checked"
    );
}

#[test]
fn the_items_of_a_set_are_separated_by_commas_or_come_as_a_programs_list() {
    let key = || Key::new("labels");
    let items = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(parse("label+= y , x,, x").unwrap(), Assignment::Add(key(), items(&["x", "y"])));
    assert_eq!(parse(r#"labels-=["a, b", " "]"#).unwrap(), Assignment::Drop(key(), items(&["a, b"])));
    assert_eq!(value("labels=y,x", false), Some(Value::texts(["x", "y"])));
    for typed in ["blocked-by+=b", "blocks-on+=b", "blocked_by+=b"] {
        assert_eq!(parse(typed).unwrap(), Assignment::Add(Key::new("blocked_by"), items(&["b"])));
    }
}

#[test]
fn sets_grow_and_shrink_and_nothing_to_do_is_no_change() {
    let labels = |new: Option<Value>| vec![Change::set(&id("b"), "labels", Some(Value::texts(["x"])), new)];
    assert_eq!(set("b", &["labels+=y,x"]).unwrap(), labels(Some(Value::texts(["x", "y"]))));
    assert_eq!(set("b", &["label-=x"]).unwrap(), labels(None));
    assert_eq!(set("b", &["labels=x"]).unwrap(), []);
    assert_eq!(set("a", &["priority="]).unwrap(), []);
}

#[test]
fn several_assignments_to_one_key_are_one_change() {
    let labels = Change::set(&id("b"), "labels", Some(Value::texts(["x"])), Some(Value::texts(["z"])));
    let owner = Change::set(&id("b"), "owner", None, Some(Value::text("anna")));
    assert_eq!(set("b", &["labels+=y", "owner=anna", "labels-=x,y", "labels+=z"]).unwrap(), [labels, owner]);
    assert_eq!(set("b", &["labels+=y", "labels-=y"]).unwrap(), []);
}

#[test]
fn only_parents_and_blockers_relink() {
    for (typed, relinks) in [("parent=b", true), ("blocked_by-=b", true), ("labels+=b", false), ("title=b", false)] {
        assert_eq!(parse(typed).unwrap().relinks(), relinks, "{typed}");
    }
}

#[test]
fn a_link_that_closes_a_ring_is_refused_with_the_ring() {
    let changes = set("a", &["blocked_by+=b"]).unwrap();
    let refusal = board().refuse_cycles(&changes).unwrap_err();
    assert_eq!(refusal.to_string(), "this would create a cycle: a → b → a");
    assert!(board().refuse_cycles(&set("b", &["parent=a"]).unwrap()).is_err());
}

#[test]
fn in_an_existing_ring_links_can_be_removed_but_not_added() {
    let ring = Sample::board().task("a", "Backlog").blocked_by(&["b"]).task("b", "Backlog").blocked_by(&["a"]);
    let board = ring.parent("p").tasks(&[("c", "Backlog"), ("p", "Backlog")]).build();
    let check = |task: &str, typed: &str| {
        let task = id(task);
        let current = |key: &Key| board.get(&task).unwrap().value(key);
        board.refuse_cycles(&set_keys(&task, &[parse(typed).unwrap()], current)).is_ok()
    };
    for (task, typed, allowed) in [
        ("b", "blocked_by-=a", true),
        ("b", "parent=", true),
        ("b", "title=B", true),
        ("b", "blocked_by+=c", false),
        ("b", "parent=c", false),
        ("c", "blocked_by+=p", true),
    ] {
        assert_eq!(check(task, typed), allowed, "{task} {typed}");
    }
    let made = Change::File { task: id("new"), file: crate::board::Place::Task, old: None, new: Some(String::new()) };
    assert_eq!(board.refuse_cycles(&[made]), Ok(()));
}

#[test]
fn a_needed_task_stays_unless_its_links_go_too() {
    let board = Sample::board()
        .tasks(&[("a", "Backlog"), ("x", "Backlog")])
        .task("b", "Backlog")
        .blocked_by(&["a", "x"])
        .children("a", &[("c", "Backlog"), ("d", "Backlog")])
        .build();
    assert_eq!(board.unlink(&[id("a")], false).unwrap_err().to_string(), "other tasks link to a: b, c, d");
    assert_eq!(board.unlink(&[id("a"), id("b")], false).unwrap_err().to_string(), "other tasks link to a: c, d");
    let blocker = Assignment::Drop(Key::new("blocked_by"), vec!["a".into()]);
    let parent = || vec![Assignment::Put(Key::new("parent"), None)];
    assert_eq!(
        board.unlink(&[id("a")], true).unwrap(),
        [(id("b"), vec![blocker]), (id("c"), parent()), (id("d"), parent())]
    );
    assert_eq!(board.unlink(&[id("a"), id("b"), id("c"), id("d")], false).unwrap(), []);
}

#[test]
fn joined_changes_go_from_the_first_value_to_the_last() {
    let change = |key: &str, old: &str, new: &str| {
        let value = |text: &str| (!text.is_empty()).then(|| Value::text(text));
        Change::set(&id("a"), key, value(old), value(new))
    };
    let file = Change::File { task: id("a"), file: crate::board::Place::Task, old: None, new: Some("x".into()) };
    let first = vec![file.clone(), change("state", "1", "2"), change("owner", "", "anna"), change("title", "A", "B")];
    let then =
        vec![change("state", "2", "3"), change("owner", "anna", ""), change("kind", "issue", "epic"), file.clone()];
    let expected =
        [file.clone(), change("state", "1", "3"), change("title", "A", "B"), change("kind", "issue", "epic"), file];
    assert_eq!(joined(first, then), expected);
}

/// Assignments of every kind, to keys that the board has.
fn any_assignments() -> impl Strategy<Value = Vec<Assignment>> {
    let typed = [
        "owner=anna",
        "owner=",
        "labels+=x,y",
        "labels-=x",
        "labels=z",
        "title=T",
        "parent=c",
        "parent=",
        "blocked_by+=c",
    ];
    proptest::collection::vec(proptest::sample::select(typed.to_vec()), 0..6)
        .prop_map(|typed| typed.into_iter().map(|typed| parse(typed).unwrap()).collect())
}

proptest! {
    #![proptest_config(laws(200))]

    #[test]
    fn assignments_made_at_once_or_one_by_one_or_joined_come_to_the_same(
        board in any_board(), first in any_assignments(), then in any_assignments(),
    ) {
        let task = id("a");
        let changes = |board: &Board, wanted: &[Assignment]| {
            set_keys(&task, wanted, |key| board.get(&task).unwrap().value(key))
        };
        let one = changes(&board, &first);
        let middle = board.clone().with(&one);
        let two = changes(&middle, &then);
        let apart = middle.with(&two);
        let together = board.clone().with(&changes(&board, &[first, then].concat()));
        prop_assert_eq!(apart.tasks(), together.tasks());
        let joined = board.with(&joined(one, two));
        prop_assert_eq!(joined.tasks(), apart.tasks());
    }
}

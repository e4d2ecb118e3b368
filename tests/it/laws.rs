//! Properties that hold for any task and any sequence of commands.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ralph::store::codec::{Doc, new_file, read};
use ralph::store::merge::merge;
use ralph::task::{Key, TaskId, Value};
use ralph::workflow::Workflow;

use crate::sandbox::Sandbox;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z ]{1,20}", "\\PC{1,30}", "[\"'\\\\\n\t#=\\[\\] a]{1,20}"]
}

fn words() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set("[a-z][a-z0-9-]{0,6}", 0..5).prop_map(|set| set.into_iter().collect())
}

fn fields() -> impl Strategy<Value = BTreeMap<&'static str, Value>> {
    (
        text(),
        proptest::option::of(text()),
        words(),
        words(),
        proptest::option::of("P[0-3]"),
        proptest::option::of("[a-z]{1,8}"),
    )
        .prop_map(|(title, body, labels, blockers, priority, owner)| {
            let mut map = BTreeMap::from([("title", Value::text(format!("x{title}")))]);
            map.extend(body.map(|body| ("description", Value::text(body))));
            map.extend((!labels.is_empty()).then(|| ("labels", Value::texts(labels))));
            map.extend((!blockers.is_empty()).then(|| ("blocked_by", Value::texts(blockers))));
            map.extend(priority.map(|p| ("priority", Value::text(p))));
            map.extend(owner.map(|o| ("owner", Value::text(o))));
            map
        })
}

fn rendered(fields: &BTreeMap<&'static str, Value>) -> String {
    new_file(&fields.iter().map(|(key, value)| (Key::new(*key), value.clone())).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_is_read(fields in fields()) {
        let text = rendered(&fields);
        let doc = Doc::new(text.clone()).unwrap();
        for (key, value) in &fields {
            prop_assert!(doc.says(&Key::new(*key), Some(value)), "{key}: {text}");
        }
        let task = read(&TaskId::new("t-x").unwrap(), "f", &text, &Workflow::builtin()).unwrap().task;
        prop_assert_eq!(task.problems, vec![]);
    }

    /// A change of one key keeps all other values, comments and unknown tables, and undoing it restores the text.
    #[test]
    fn one_key_at_a_time(fields in fields(), new in proptest::option::of("P[0-3]"), crlf: bool) {
        let comments = format!("# top\n{}# bottom\n\n[custom] # own\nx = {{ a = 1,b = 2 }}\n", rendered(&fields));
        let before = if crlf { comments.replace('\n', "\r\n") } else { comments };
        let key = Key::new("priority");
        let new = new.map(Value::text);
        let after = Doc::new(before.clone()).unwrap().with(&key, new.as_ref()).unwrap();
        let doc = Doc::new(after.clone()).unwrap();
        prop_assert!(doc.says(&key, new.as_ref()));
        for (name, value) in fields.iter().filter(|(name, _)| **name != "priority") {
            prop_assert!(doc.says(&Key::new(*name), Some(value)), "{name}");
        }
        for kept in ["# top", "# bottom", "[custom] # own", "x = { a = 1,b = 2 }"] {
            prop_assert!(after.contains(kept), "{after}");
        }
        prop_assert_eq!(crlf, after.contains("\r\n"));
        let back = doc.with(&key, fields.get("priority")).unwrap();
        prop_assert_eq!(back.split_whitespace().collect::<String>(), before.split_whitespace().collect::<String>());
    }

    /// A merge gives the same values and the same conflicts from either side.
    #[test]
    fn a_merge_has_no_favourite(base in fields(), ours in fields(), theirs in fields()) {
        let [b, o, t] = [&base, &ours, &theirs].map(rendered);
        let (one, two) = (merge(&b, &o, &t).unwrap(), merge(&b, &t, &o).unwrap());
        prop_assert_eq!(&one.conflicts, &two.conflicts);
        if one.conflicts.is_empty() {
            let (left, right) = (Doc::new(one.text).unwrap(), Doc::new(two.text).unwrap());
            for (key, value) in left.leaves() {
                prop_assert!(right.says(&key, Some(&value)), "{key}");
            }
        }
    }
}

/// Random commands in three clones, merged in any order, agree; no task is lost.
#[test]
fn three_clones_agree_after_merging() {
    let sandbox = Sandbox::new();
    for id in ["a", "b", "c"] {
        sandbox.write_task(id, format!("title = '{id}'\n\nlabels = ['base']\n"));
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "base"]);
    let clones = ["one", "two", "three"].map(|name| {
        let path = sandbox.outside(name);
        sandbox.git(&["clone", "-q", ".", path.to_str().unwrap()]);
        sandbox.ralph_in(&path, &["init"]).ok();
        path
    });
    let mut rng = fastrand::Rng::with_seed(3);
    for (n, clone) in clones.iter().enumerate() {
        for step in 0..6 {
            let id = ["a", "b", "c"][rng.usize(..3)];
            match rng.u8(..4) {
                0 => sandbox.ralph_in(clone, &["task", "set", id, &format!("labels+=l{n}{step}")]).ok(),
                1 => sandbox.ralph_in(clone, &["note", id, &format!("note {n} {step}")]).ok(),
                2 => sandbox.ralph_in(clone, &["task", "add", &format!("new {n} {step}")]).ok(),
                _ => sandbox.ralph_in(clone, &["task", "set", id, "labels-=base"]).ok(),
            };
        }
        sandbox.git_in(clone, &["add", "-A"]).ok();
        sandbox.git_in(clone, &["commit", "-qm", "work"]).ok();
    }
    let boards = [[0, 1, 2], [2, 1, 0], [1, 0, 2]].map(|order| {
        let target = sandbox.outside(&format!("merged{}{}{}", order[0], order[1], order[2]));
        sandbox.git(&["clone", "-q", clones[order[0]].to_str().unwrap(), target.to_str().unwrap()]);
        sandbox.ralph_in(&target, &["init"]).ok();
        for &other in &order[1..] {
            sandbox
                .git_in(&target, &["pull", "-q", "--no-rebase", "--no-edit", clones[other].to_str().unwrap(), "main"])
                .ok();
        }
        let listed = sandbox.ralph_in(&target, &["task", "ls", "--json", "--all", "--sort", "id"]).json();
        let brief = |task: &serde_json::Value| {
            let mut labels: Vec<String> = task["labels"].as_array().unwrap().iter().map(ToString::to_string).collect();
            labels.sort();
            format!("{} {labels:?}", task["title"])
        };
        listed.as_array().unwrap().iter().map(brief).collect::<Vec<_>>()
    });
    assert_eq!(boards[0], boards[1]);
    assert_eq!(boards[0], boards[2]);
}

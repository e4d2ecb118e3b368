//! The API of the web server: what it returns and changes, and how soon it reports changes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Served, ralph_of};
use crate::sandbox::{Sandbox, finish};

#[test]
fn the_board_is_the_columns_of_the_workflow_with_slim_cards() {
    let sandbox = Sandbox::new();
    let one = sandbox.add(&["First", "--priority", "P1", "--label", "bug"]);
    let two = sandbox.add(&["Second"]);
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    let served = Served::new(&sandbox, &[]);
    let board = served.get("/api/board").json();
    assert_eq!(board["total"], 2);
    assert_eq!(board["columns"].as_array().unwrap().len(), 11);
    let column = &board["columns"][0];
    assert_eq!(
        (&column["state"], &column["meaning"], &column["count"]),
        (&json!("Backlog"), &json!("waiting"), &json!(2))
    );
    let mut card = column["cards"][1].clone();
    card.as_object_mut().unwrap().remove("updated");
    assert_eq!(card, json!({ "id": two, "title": "Second", "blocked": true, "blockers": 1 }));
    assert_eq!(served.get("/api/board?label=bug").json()["total"], 1);
    assert_eq!(served.get("/api/board?q=second").json()["total"], 1);
    assert_eq!(served.get("/api/board?blocked=1&label=bug").json()["total"], 0);
    let wrong = served.get("/api/board?priority=P9");
    assert_eq!((wrong.status, wrong.code().as_str()), (422, "bad-value"));
}

#[test]
fn every_linked_task_is_drawn_in_some_part_of_the_graph() {
    let sandbox = Sandbox::new();
    for at in 0..90 {
        sandbox.write_task(&format!("t-b{at:03}"), "title = \"First\"\n");
        sandbox.write_task(&format!("t-c{at:03}"), format!("title = \"Second\"\nblocked_by = [\"t-b{at:03}\"]\n"));
    }
    let served = Served::new(&sandbox, &[]);
    let parts: Vec<Value> = (1..=3).map(|part| served.get(&format!("/api/graph?part={part}")).json()).collect();
    assert_eq!((&parts[0]["nodes"], &parts[0]["parts"]), (&json!(180), &json!(3)));
    assert_eq!(served.get("/api/graph").json(), parts[0]);
    let drawn: Vec<&str> = parts.iter().map(|part| part["svg"].as_str().unwrap()).collect();
    for at in 0..90 {
        let with = |letter: char| drawn.iter().position(|svg| svg.contains(&format!("/task/t-{letter}{at:03}\"")));
        assert!(with('b').is_some() && with('b') == with('c'), "a chain is in one drawing: {at}");
    }
    assert!(drawn[0].contains("href=\"/graph?part=2\"") && drawn[2].contains("href=\"/graph?part=1\""));
}

#[test]
fn what_closes_a_ring_is_drawn_apart() {
    let sandbox = Sandbox::new();
    for (id, on) in [("t-b1", "t-b3"), ("t-b2", "t-b1"), ("t-b3", "t-b2")] {
        sandbox.write_task(id, format!("title = \"{id}\"\nblocked_by = [\"{on}\"]\n"));
    }
    let svg = Served::new(&sandbox, &[]).get("/api/graph").json()["svg"].as_str().unwrap().to_owned();
    assert_eq!((svg.matches("class=\"edge\"").count(), svg.matches("class=\"edge back\"").count()), (2, 1), "{svg}");
}

#[test]
fn an_owner_at_work_without_a_live_claim_is_stale_and_one_who_is_set_aside_is_not() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-b1", "title = \"Left\"\nstate = \"In Progress\"\nowner = \"bob\"\n");
    sandbox.write_task("t-b2", "title = \"For later\"\nowner = \"bob\"\n");
    let three = sandbox.add(&["At work"]);
    assert_eq!(finish(ralph_of(&sandbox).args(["claim", &three, "--as", "bob"])).code, 0);
    let served = Served::new(&sandbox, &[]);
    let columns = served.get("/api/board").json()["columns"].clone();
    let cards: Vec<&Value> =
        columns.as_array().unwrap().iter().flat_map(|column| column["cards"].as_array().unwrap()).collect();
    let stale: Vec<&Value> = cards.iter().filter(|card| card["stale"] == true).map(|card| &card["id"]).collect();
    assert_eq!((cards.len(), stale), (3, vec![&json!("t-b1")]));
}

#[test]
fn long_columns_are_sent_in_parts() {
    let sandbox = Sandbox::new();
    for at in 0..80 {
        sandbox.write_task(&format!("t-b{at:03}"), format!("title = \"Task {at}\"\n"));
    }
    let served = Served::new(&sandbox, &[]);
    let counts = |path: &str| {
        let column = &served.get(path).json()["columns"][0];
        (column["count"].as_u64().unwrap(), column["cards"].as_array().unwrap().len())
    };
    assert_eq!(counts("/api/board"), (80, 60));
    assert_eq!(counts("/api/board?more=0:70"), (80, 70));
    assert_eq!(counts("/api/board?more=1:70&more=x&more=0:-1"), (80, 60));
}

#[test]
fn a_task_comes_with_all_that_its_page_shows() {
    let sandbox = Sandbox::new();
    let one = sandbox.add(&["First", "--body", "some **bold** <b>text</b>"]);
    let two = sandbox.add(&["Second"]);
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    sandbox.ralph(&["note", &one, "a *note*"]).ok();
    sandbox.ralph(&["move", &one, "Research Needed", "--for", "triage"]).ok();
    let served = Served::new(&sandbox, &[]);
    let whole = served.get(&format!("/api/task/{one}")).json();
    assert_eq!(whole["task"]["id"], one.as_str());
    assert_eq!(whole["description_html"], "<p>some <strong>bold</strong> &lt;b&gt;text&lt;/b&gt;</p>\n");
    assert_eq!(whole["notes_html"][0], "<p>a <em>note</em></p>\n");
    let states: Vec<&str> =
        whole["timeline"].as_array().unwrap().iter().map(|stay| stay["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["Backlog", "Research Needed"]);
    assert!(whole["timeline"][0]["until"].is_string() && whole["timeline"][1]["until"].is_null());
    assert!(whole["graph"].as_str().unwrap().contains(&format!("href=\"/task/{two}\"")));
    let targets = whole["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 10);
    assert!(targets.iter().any(|target| target["allowed"] == true));
    let outside = targets.iter().find(|target| target["outside"].is_string()).unwrap();
    assert!(outside["outside"].as_str().unwrap().contains("the workflow has no move"), "{outside}");
    let targets = served.get(&format!("/api/task/{two}/targets")).json();
    let no = targets.as_array().unwrap().iter().find(|target| target["allowed"] == false).unwrap();
    assert!(no["refusal"]["message"].as_str().unwrap().contains(&one), "{no}");
    assert!(whole["history"].as_array().unwrap().len() >= 3);
    assert_eq!(served.get("/api/task/none").status, 404);
}

#[test]
fn changes_are_made_by_the_verbs_and_refused_by_their_rules() {
    let sandbox = Sandbox::new();
    let served = Served::new(&sandbox, &[]);
    let new = json!({ "title": "From the page", "priority": "P1", "labels": ["web"], "description": "text" });
    let id = served.post("/api/task", &new).json()["tasks"][0]["id"].as_str().unwrap().to_owned();
    let path = |verb: &str| format!("/api/task/{id}/{verb}");
    let fields = json!({ "fields": { "title": "Renamed", "priority": null, "labels": ["a", "b"] }, "note": "why" });
    assert_eq!(served.post(&path("save"), &fields).status, 200);
    let shown = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    assert_eq!(
        (&shown["title"], &shown["priority"], &shown["labels"]),
        (&json!("Renamed"), &json!(null), &json!(["a", "b"]))
    );
    assert_eq!(shown["notes"][0]["by"], "Ada");

    let blocker = sandbox.add(&["First"]);
    sandbox.ralph(&["block", &id, "--on", &blocker]).ok();
    let refused = served.post(&path("save"), &json!({ "state": "In Progress" }));
    assert_eq!((refused.status, refused.code().as_str()), (422, "blocked"));
    assert_eq!(refused.json()["error"]["insist"], true);
    assert!(!refused.body.contains("--force"), "the page has no options: {}", refused.body);
    assert_eq!(served.post(&path("save"), &json!({ "state": "In Progress", "force": true })).status, 200);

    let seen = json!({ "fields": { "description": "mine" }, "seen": { "description": "something older" } });
    let stale = served.post(&path("save"), &seen);
    assert_eq!((stale.status, stale.code().as_str()), (409, "changed-since"));
    for (body, code) in [
        (json!({ "fields": { "state": "Done" } }), "fixed-key"),
        (json!({ "fields": { "colour": "red" } }), "unknown-key"),
        (json!({ "fields": { "labels+": "x" } }), "unknown-key"),
        (json!({ "fields": { "priority": "P9" } }), "bad-value"),
        (json!({ "field": {} }), "bad-json"),
    ] {
        assert_eq!(served.post(&path("save"), &body).code(), code, "{body}");
    }
    assert_eq!(served.post(&path("unblock"), &json!({ "tasks": [] })).code(), "no-blocker");
}

#[test]
fn of_many_who_saw_the_same_text_one_saves_over_it_and_the_others_are_told() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task", "--body", "first"]);
    let served = Served::new(&sandbox, &[]);
    let path = format!("/api/task/{id}/save");
    let mut now = "first".to_owned();
    for round in 0..4 {
        let save = |who: usize| {
            let text = format!("round {round}, by {who}");
            let body = json!({ "fields": { "description": text }, "seen": { "description": now } });
            (served.post(&path, &body).status, text)
        };
        let answers: Vec<(u16, String)> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8).map(|who| scope.spawn(move || save(who))).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        let saved: Vec<&String> = answers.iter().filter(|(status, _)| *status == 200).map(|(_, text)| text).collect();
        assert_eq!(saved.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|(status, _)| [200, 409].contains(status)), "{answers:?}");
        now.clone_from(saved[0]);
        let shown = sandbox.ralph(&["task", "show", &id, "--json"]).json();
        assert_eq!(shown["description"].as_str().unwrap().trim_end(), now);
    }
}

#[test]
fn fields_that_somebody_else_has_changed_meanwhile_are_not_written_over() {
    let sandbox = Sandbox::new();
    let parent = sandbox.add(&["An epic", "--kind", "epic"]);
    let id = sandbox.add(&["A task", "--label", "b", "--label", "a"]);
    let served = Served::new(&sandbox, &[]);
    let save = |fields: Value, seen: Value| {
        let answer = served.post(&format!("/api/task/{id}/save"), &json!({ "fields": fields, "seen": seen }));
        (answer.status, if answer.status == 200 { String::new() } else { answer.code() })
    };
    let (done, raced) = ((200, String::new()), (409, "changed-since".to_owned()));
    for labels in [json!("b, a"), json!("a,b"), json!(["b", "a"])] {
        assert_eq!(save(json!({ "labels": ["a", "b"] }), json!({ "labels": labels })), done, "{labels}");
    }
    assert_eq!(save(json!({ "labels": ["mine"] }), json!({ "labels": "a" })), raced);
    for (key, seen, new) in [("title", "A task", "New"), ("owner", "", "bob"), ("parent", "", parent.as_str())] {
        assert_eq!(save(json!({ key: new }), json!({ key: seen })), done, "{key}");
        assert_eq!(save(json!({ key: new }), json!({ key: seen })), raced, "{key}");
    }
    let seen =
        json!({ "fields": { "labels": [] }, "seen": { "labels": "a" }, "state": "Research Needed", "force": true });
    assert_eq!(served.post(&format!("/api/task/{id}/save"), &seen).code(), "changed-since", "with a move, too");
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["labels"], json!(["a", "b"]));
}

#[test]
fn what_a_person_should_know_comes_with_the_answer_to_a_change() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "board"]);
    let served = Served::new(&sandbox, &[]);
    let note = || served.post(&format!("/api/task/{id}/note"), &json!({ "text": "x" })).json();
    assert_eq!(note()["notices"], json!(null), "nothing is reported");
    sandbox.ralph(&["config", "set", "git.commit", "each"]).ok();
    std::fs::write(sandbox.root().join(".git/MERGE_HEAD"), sandbox.git(&["rev-parse", "HEAD"])).unwrap();
    let noted = note();
    assert!(noted["notices"][0].as_str().unwrap().starts_with("the board was not committed"), "{noted}");
    assert_eq!(noted["task"], id.as_str(), "next to the other fields");
}

#[test]
fn a_claim_is_the_persons_who_serves_and_another_worker_is_told() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    let served = Served::new(&sandbox, &[]);
    let claimed = served.post(&format!("/api/task/{id}/claim"), &json!({})).json();
    assert_eq!(claimed["worker"], "Ada");
    let workers = served.get("/api/workers").json();
    assert_eq!((&workers["claims"][0]["worker"], &workers["claims"][0]["live"]), (&json!("Ada"), &json!(true)));
    assert!(served.get("/api/board").body.contains("\"since\""));
    assert_eq!(finish(ralph_of(&sandbox).args(["claim", &id, "--as", "bob"])).code, 3);
    assert_eq!(served.post(&format!("/api/task/{id}/release"), &json!({})).status, 200);
    assert_eq!(served.post(&format!("/api/task/{id}/release"), &json!({})).code(), "unclaimed");
}

#[test]
fn the_dashboard_counts_from_the_journal() {
    let sandbox = Sandbox::new();
    let (one, two) = (sandbox.add(&["One"]), sandbox.add(&["Two"]));
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    let three = sandbox.add(&["Three"]);
    sandbox.ralph(&["done", &three, "--force"]).ok();
    // The sandbox's own clock makes the day predictable.
    let mut command = ralph_of(&sandbox);
    let served =
        Served::start(command.args(["serve", "--addr", "127.0.0.1:0"]).env("RALPH_NOW", "2026-11-16T12:00:00Z"));
    let answer = served.get("/api/trends?days=3").json();
    let trends = &answer["trends"];
    let now = &trends["days"][2];
    assert_eq!((&now["open"], &now["ready"], &now["blocked"]), (&json!(2), &json!(1), &json!(1)));
    assert_eq!(trends["days"][0]["open"], 0, "two days ago there was nothing");
    assert_eq!(trends["finished"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 1);
    assert!(answer["charts"]["standing"].as_str().unwrap().contains("now 2 open, 1 ready, 1 blocked"));
}

/// The event stream, line by line.
fn listen(served: &Served, last: &str) -> impl FnMut(&str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let host = format!("127.0.0.1:{}", served.port);
    let token = &served.token;
    let asked =
        format!("GET /api/events HTTP/1.1\r\nhost: {host}\r\nralph-token: {token}\r\nlast-event-id: {last}\r\n\r\n");
    stream.write_all(asked.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    move |start| loop {
        let line = lines.next().unwrap().unwrap();
        if line.starts_with(start) {
            return line;
        }
    }
}

#[test]
fn a_file_that_is_saved_by_hand_is_told_within_a_second() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    let served = Served::new(&sandbox, &[]);
    let mut next = listen(&served, "");
    assert_eq!(next("event"), "event: hello");
    // One of three may be late on a busy machine; a server that polls every second or two is always late.
    let mut delays = Vec::new();
    for round in 0..3 {
        let text = sandbox.read_task(&id).replace("A task", &format!("A task {round}"));
        sandbox.write_task(&id, text);
        let start = Instant::now();
        while !next("data").contains(&id) {}
        delays.push(start.elapsed());
        let board = served.get("/api/board").json();
        assert!(board["columns"][0]["cards"][0]["title"].as_str().unwrap().starts_with(&format!("A task {round}")));
    }
    assert!(delays.iter().min().unwrap() < &Duration::from_secs(1), "{delays:?}");
}

#[test]
fn a_claim_that_is_renewed_is_told_and_shown_with_its_new_end() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    let bob = |verb: &str| assert_eq!(finish(ralph_of(&sandbox).args([verb, &id, "--as", "bob"])).code, 0);
    bob("claim");
    let served = Served::new(&sandbox, &[]);
    let mut next = listen(&served, "");
    next("event: hello");
    next("data");
    let until = |path: &str| served.get(path).json()["claims"][0]["until"].as_str().unwrap().to_owned();
    let before = [until("/api/workers"), until("/api/status")];
    bob("renew");
    // The server sends heartbeats even without changes.
    assert!((0..3).any(|_| next("event") == "event: change"), "no change was reported");
    assert!(next("data").contains(&id));
    let after = [until("/api/workers"), until("/api/status")];
    assert!(before.iter().zip(&after).all(|(before, after)| before < after), "{before:?} {after:?}");
}

#[test]
fn a_page_that_comes_back_hears_what_it_missed() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    let served = Served::new(&sandbox, &[]);
    let mut next = listen(&served, "");
    next("event: hello");
    let seen = next("id: ")[4..].to_owned();
    served.post(&format!("/api/task/{id}/note"), &json!({ "text": "while you were away" }));
    let mut again = listen(&served, &seen);
    again("event: hello");
    let missed: Value = serde_json::from_str(&again("data: ")[6..]).unwrap();
    assert_eq!((&missed["tasks"], &missed["all"]), (&json!([id]), &json!(false)));
    let mut stranger = listen(&served, "other-7");
    stranger("event: hello");
    assert!(stranger("data: ").contains("\"all\":true"));
}

/// The board's agent program is not trusted yet; and with read-only access nothing can be started.
#[test]
fn a_team_is_started_only_after_trust_and_never_where_the_board_is_read_only() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mark = sandbox.outside("ran");
    let agent = format!("[agent]\ncommand = [\"touch\", {:?}]\n", mark.display().to_string());
    std::fs::write(sandbox.root().join(".ralph/config.toml"), format!("format = 1\n{agent}")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "board"]);
    let served = Served::new(&sandbox, &[]);
    let team = format!("/api/task/{id}/team");
    let refused = served.post(&team, &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (422, "not-trusted"), "{}", refused.body);
    assert_eq!(served.ask("POST", &team, &[("content-type", "application/json")], "{}").status, 401);
    let reading = Served::new(&sandbox, &["--read-only"]);
    assert_eq!(reading.post(&team, &json!({})).code(), "read-only");
    let hosted = Served::start(ralph_of(&sandbox).args(["serve", "--addr", "127.0.0.1:0"]).env("CLAUDECODE", "1"));
    assert_eq!(hosted.post(&team, &json!({})).status, 422, "a program cannot start one");
    assert!(!mark.exists());
}

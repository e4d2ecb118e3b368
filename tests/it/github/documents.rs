//! Every GraphQL document is checked against GitHub's schema, and the client against every answer that the schema
//! permits.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ralph::github::{
    Call, Client, Effect, Features, FieldNames, GithubError, Host, Knowledge, NewText, Node, Pace, Patience, Slug,
    Wait, batch, create_with, documents, find_token,
};

use crate::fake::{Level, Sample, sample, validate};

fn node(text: &str) -> Node {
    Node::new(text)
}

fn all_calls() -> Vec<Call> {
    let (issue, project, item, field) = (node("I_1"), node("PVT_1"), node("PVTI_1"), node("PVTSSF_1"));
    vec![
        Call::Title { issue: issue.clone(), title: "t".into() },
        Call::Body { issue: issue.clone(), body: "b".into() },
        Call::Close { issue: issue.clone(), reason: "NOT_PLANNED" },
        Call::Reopen { issue: issue.clone() },
        Call::Choose { project: project.clone(), item: item.clone(), field: field.clone(), option: "ab12".into() },
        Call::Clear { project: project.clone(), item: item.clone(), field },
        Call::AddLabels { issue: issue.clone(), labels: vec![node("LA_1")] },
        Call::RemoveLabels { issue: issue.clone(), labels: vec![node("LA_1")] },
        Call::AddChild { parent: issue.clone(), child: node("I_2") },
        Call::RemoveChild { parent: issue.clone(), child: node("I_2") },
        Call::AddBlocker { issue: issue.clone(), blocker: node("I_2") },
        Call::RemoveBlocker { issue: issue.clone(), blocker: node("I_2") },
        Call::Archive { project: project.clone(), item: item.clone() },
        Call::Unarchive { project: project.clone(), item },
        Call::AddItem { project, issue },
        Call::EditComment { comment: node("IC_1"), body: "c".into() },
    ]
}

#[test]
fn every_document_is_valid_and_the_plain_ones_are_on_an_old_server() {
    for (name, document) in documents::ALL {
        validate(document, Level::Dotcom).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let old = [
        "scan_plain",
        "details_plain",
        "project",
        "owner",
        "repository",
        "features",
        "comments",
        "heads",
        "recent",
        "create",
        "setup",
        "pull",
    ];
    for (name, document) in documents::ALL.iter().filter(|(name, _)| old.contains(name)) {
        validate(document, Level::Ghes317).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    assert!(validate(documents::SCAN, Level::Ghes317).is_err(), "otherwise the plain document would not be needed");
    let (document, _) = batch(&all_calls());
    validate(&document, Level::Dotcom).unwrap();
    for riders in [Vec::new(), all_calls()] {
        validate(&create_with(serde_json::json!({}), &riders).0, Level::Dotcom).unwrap();
    }
    validate(&create_with(serde_json::json!({}), &[]).0, Level::Ghes317).unwrap();
}

struct Hurried;

impl Patience for Hurried {
    fn waiting(&self, _: &Wait) {}
    fn is_over(&self) -> bool {
        false
    }
}

/// Answers every request with data that the schema permits. After three full answers it sends the smallest ones, so
/// that pages end.
fn permissive(mode: Sample, seed: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/graphql", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = String::new();
            let mut buffer = [0; 65_536];
            let body = loop {
                let read = stream.read(&mut buffer).unwrap();
                text.push_str(&String::from_utf8_lossy(&buffer[..read]));
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length: usize = head
                    .to_lowercase()
                    .split("content-length: ")
                    .nth(1)
                    .unwrap()
                    .split("\r\n")
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap();
                if body.len() >= length {
                    break body.to_owned();
                }
            };
            let request: serde_json::Value = serde_json::from_str(&body).unwrap();
            let turn = asked.fetch_add(1, Ordering::Relaxed);
            let mode = if turn >= 3 && mode == Sample::Fullest { Sample::Emptiest } else { mode };
            let data = sample(
                request["query"].as_str().unwrap(),
                request["operationName"].as_str().unwrap(),
                mode,
                seed + turn,
            );
            let answer = serde_json::json!({ "data": data }).to_string();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    url
}

/// Missing data is an expected answer; data that cannot be read is not.
fn readable<T>(what: &str, result: Result<T, GithubError>) {
    match result {
        Err(GithubError::Odd(why))
            if !why.contains("does not contain") && !why.contains("were requested") && !why.contains("has no data") =>
        {
            panic!("{what}: {why}")
        }
        Err(GithubError::Ambiguous(why)) if !why.contains("does not contain") => panic!("{what}: {why}"),
        _ => {}
    }
}

#[test]
fn every_answer_that_the_schema_permits_can_be_read() {
    let rounds = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5_u64);
    let slug = Slug { owner: "acme".into(), name: "app".into() };
    let names = FieldNames { state: "Workflow State".into(), priority: "Priority".into(), estimate: "Estimate".into() };
    let modes = [Sample::Fullest, Sample::Emptiest].into_iter().chain((0..rounds * 4).map(|_| Sample::Random));
    for (seed, mode) in modes.enumerate() {
        let ask = |what: &str, go: &dyn Fn(&Client<'_>) -> Result<(), GithubError>| {
            let token = find_token(&Host("github.com".into()), &|_| Some("ghp_0123456789abcdef".into())).unwrap();
            let client = Client::new(permissive(mode, seed as u64 * 100), token, Pace::new(Duration::ZERO), &Hurried);
            readable(what, go(&client));
        };
        for features in [
            Features::default(),
            Features { dependencies: true, archived_items: true, create_in_project: true, option_ids: true },
        ] {
            ask("scan", &|client| client.scan(&node("P"), &names, features, &mut |_, _| {}).map(|_| ()));
            ask("details", &|client| client.details(&[node("I")], features).map(|_| ()));
            let text = NewText { title: "t", body: "b", labels: Vec::new() };
            ask("create", &|client| {
                client.create_issue(&node("R"), &node("P"), &text, features, &all_calls())?.created.map(|_| ())
            });
        }
        ask("features", &|client| client.features(&mut Knowledge::default()).map(|_| ()));
        ask("project", &|client| client.project("acme", 1, &slug).map(|_| ()));
        ask("projects", &|client| client.projects_titled("acme", "x").map(|_| ()));
        ask("repository", &|client| client.repository(&slug).map(|_| ()));
        ask("recent", &|client| client.created_since(&slug, "me", jiff::Timestamp::UNIX_EPOCH).map(|_| ()));
        ask("comment", &|client| client.add_comment(&node("I"), "b").map(|_| ()));
        ask("label", &|client| client.create_label(&node("R"), "b").map(|_| ()));
        ask("batch", &|client| client.call(&all_calls()).map(|_| ()));
        ask("pulls", &|client| client.pulls_of(&slug, "b").map(|_| ()));
        ask("pull", &|client| client.pull_state(&slug, 1).map(|_| ()));
        ask("checks", &|client| client.checks(&node("PR")).map(|_| ()));
        ask("new pull", &|client| client.create_pull(serde_json::json!({})).map(|_| ()));
        let heads = std::collections::BTreeSet::from([node("I")]);
        ask("heads", &|client| client.changed_since(&Knowledge::default(), &heads).map(|_| ()));
        ask("setup", &|client| client.create_project(&node("O"), &node("R"), "t").map(|_| ()));
        ask("raw", &|client| {
            client
                .ask::<serde_json::Value>(documents::REPOSITORY, "RepoLookup", serde_json::json!({}), Effect::Read)
                .map(|_| ())
        });
    }
}

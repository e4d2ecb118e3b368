//! Many clients at once: no task is given to two of them, and none is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

const CLIENTS: usize = 10;
const TASKS: usize = 200;

/// From when to when a client had a task, as far as it can know: from the answer to its claim to the question that ended it.
struct Held {
    task: String,
    from: Instant,
    to: Instant,
    done: bool,
}

/// Takes tasks until there are none; gives some back, and closes the others.
fn work(mut client: Client, seed: u64, arguments: &Value) -> Vec<Held> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut held = Vec::new();
    loop {
        let chosen = client.ok("next", arguments.clone());
        if chosen["found"] != true {
            break;
        }
        let (from, task) = (Instant::now(), chosen["task"]["id"].as_str().unwrap().to_owned());
        let done = rng.usize(..5) > 0;
        let to = Instant::now();
        match done {
            true => {
                client.ok("save", json!({ "task": task, "command": "triage", "state": "__CLOSE__", "note": "done" }))
            }
            false => client.ok("release", json!({ "task": task })),
        };
        held.push(Held { task, from, to, done });
    }
    client.end();
    held
}

fn race(names: impl Fn(usize) -> Vec<String>, arguments: Value) {
    let sandbox = Sandbox::new();
    for (key, value) in [("roles.analyst.limit", "10"), ("claims.per_worker", "2")] {
        sandbox.ralph(&["config", "set", key, value]).ok();
    }
    for n in 0..TASKS {
        sandbox.write_task(&format!("t-{n:03}"), format!("title = 'T{n}'\n"));
    }
    let start = |n: usize| Client::start(&sandbox, &names(n).iter().map(String::as_str).collect::<Vec<_>>());
    let clients: Vec<Client> = (0..CLIENTS).map(start).collect();
    let all: Vec<Held> = std::thread::scope(|scope| {
        let arguments = &arguments;
        let running: Vec<_> =
            clients.into_iter().zip(0..).map(|(client, n)| scope.spawn(move || work(client, n, arguments))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut by_task: BTreeMap<&str, Vec<&Held>> = BTreeMap::new();
    for held in &all {
        by_task.entry(&held.task).or_default().push(held);
    }
    for (task, mut times) in by_task {
        times.sort_by_key(|held| held.from);
        assert!(times.windows(2).all(|pair| pair[0].to <= pair[1].from), "{task} was with two at once");
        assert_eq!(times.iter().filter(|held| held.done).count(), 1, "{task} was not done exactly once");
        assert!(times.last().unwrap().done, "{task} was given out after it was done");
    }
    let done: BTreeSet<&str> = all.iter().filter(|held| held.done).map(|held| held.task.as_str()).collect();
    assert_eq!(done.len(), TASKS, "none is lost");
    let status = sandbox.ralph(&["status", "--json"]).json();
    assert_eq!(status["claims"], json!([]));
    let closed = sandbox.ralph(&["task", "ls", "--state", "done", "--json"]).json();
    assert_eq!(closed.as_array().unwrap().len(), TASKS);
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0);
}

#[test]
fn ten_named_clients_get_each_task_once() {
    race(|n| vec!["--as".into(), format!("analyst-{}", n + 1)], json!({}));
}

#[test]
fn ten_sessions_of_one_host_get_each_task_once() {
    race(|_| Vec::new(), json!({ "role": "analyst" }));
}

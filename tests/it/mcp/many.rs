//! Many clients at once: no task is given to two of them, and none is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::{Value, json};

use crate::mcp_client::{Client, ralph};
use crate::sandbox::Sandbox;

const CLIENTS: usize = 10;
const TASKS: usize = 200;

/// The time for which a client surely had a task: from the response to its claim until it asked to end it.
struct Held {
    task: String,
    from: Instant,
    to: Instant,
    done: bool,
}

/// Takes tasks until none is left; releases some, and closes the others.
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
            // The note counts as progress: a task that is released five times without progress is handed to a person.
            false => {
                client.ok("note", json!({ "task": task, "text": "not now" }));
                client.ok("release", json!({ "task": task }))
            }
        };
        held.push(Held { task, from, to, done });
    }
    client.end();
    held
}

/// As the skills of ralph-hero do: pick, lock, and pick again if another client was faster.
fn pick(mut client: Client) -> Vec<Held> {
    let mut held = Vec::new();
    loop {
        let picked = client.ok("ralph_hero__pick_actionable_issue", json!({ "workflowState": "Research Needed" }));
        if picked["found"] != true {
            break;
        }
        let task = picked["issue"]["id"].as_str().unwrap().to_owned();
        let state = |to: &str| json!({ "number": task, "state": to, "command": "ralph_research" });
        let (refused, answer) = client.call("ralph_hero__update_workflow_state", state("__LOCK__"));
        if refused {
            let code = answer["code"].as_str().unwrap();
            assert!(["held", "raced", "not-allowed"].contains(&code), "{answer}");
            continue;
        }
        let from = Instant::now();
        let to = Instant::now();
        client.ok("ralph_hero__update_workflow_state", state("__COMPLETE__"));
        held.push(Held { task, from, to, done: true });
    }
    client.end();
    held
}

/// Ten clients with their own arguments, and two hundred tasks that start in one state and end in another.
fn race(
    names: impl Fn(usize) -> Vec<String>,
    (begin, end): (&str, &str),
    work: impl Fn(Client, u64) -> Vec<Held> + Sync,
) {
    let sandbox = Sandbox::new();
    for (key, value) in [("roles.analyst.limit", "10"), ("claims.per_worker", "2")] {
        sandbox.ralph(&["config", "set", key, value]).ok();
    }
    for n in 0..TASKS {
        sandbox.write_task(&format!("t-{n:03}"), format!("title = 'T{n}'\nstate = '{begin}'\nestimate = 'S'\n"));
    }
    let start = |n: usize| Client::start(&sandbox, &names(n).iter().map(String::as_str).collect::<Vec<_>>());
    let clients: Vec<Client> = (0..CLIENTS).map(start).collect();
    let all: Vec<Held> = std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> =
            clients.into_iter().zip(0..).map(|(client, n)| scope.spawn(move || work(client, n))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut by_task: BTreeMap<&str, Vec<&Held>> = BTreeMap::new();
    for held in &all {
        by_task.entry(&held.task).or_default().push(held);
    }
    for (task, mut times) in by_task {
        times.sort_by_key(|held| held.from);
        assert!(times.windows(2).all(|pair| pair[0].to <= pair[1].from), "two clients had {task} at once");
        assert_eq!(times.iter().filter(|held| held.done).count(), 1, "{task} was not done exactly once");
        assert!(times.last().unwrap().done, "{task} was claimed after it was done");
    }
    let done: BTreeSet<&str> = all.iter().filter(|held| held.done).map(|held| held.task.as_str()).collect();
    assert_eq!(done.len(), TASKS, "none is lost");
    let status = ralph(&sandbox, &["status", "--json"]).json();
    assert_eq!(status["claims"], json!([]));
    let ended = sandbox.ralph(&["task", "ls", "--state", end, "--json"]).json();
    assert_eq!(ended.as_array().unwrap().len(), TASKS);
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0);
}

#[test]
fn ten_named_clients_get_each_task_once() {
    let name = |n| vec!["--as".into(), format!("analyst-{}", n + 1)];
    race(name, ("Backlog", "Done"), |client, n| work(client, n, &json!({})));
}

#[test]
fn ten_sessions_of_one_host_get_each_task_once() {
    race(|_| Vec::new(), ("Backlog", "Done"), |client, n| work(client, n, &json!({ "role": "analyst" })));
}

#[test]
fn ten_skills_of_ralph_hero_lock_each_task_once() {
    let profile = |_| vec!["--profile".into(), "ralph-hero".into()];
    race(profile, ("Research Needed", "Ready for Plan"), |client, _| pick(client));
}

//! Claims: one holder, limits that hold under a race, and release as soon as a holder dies.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::sandbox::{RALPH, Sandbox, eventually, finish, is_watching};

/// A command with the real clock and random seed, for processes that run side by side.
fn real(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(RALPH, &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args);
    command
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    sandbox.ralph(&["config", "set", key, value]).ok();
}

fn state(sandbox: &Sandbox, id: &str) -> (String, Option<String>) {
    let task = finish(&mut real(sandbox, &["task", "show", id, "--json"])).json();
    (task["state"].as_str().unwrap().to_owned(), task["claim"]["by"].as_str().map(str::to_owned))
}

#[test]
fn a_claim_is_exclusive_and_says_who_has_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let claimed = sandbox.ralph(&["claim", &id, "--as", "analyst", "--json"]).json();
    assert_eq!((&claimed["state"], &claimed["command"]), (&"Research in Progress".into(), &"research".into()));
    let lost = sandbox.ralph(&["claim", &id, "--as", "analyst-2"]).fails(3);
    assert!(lost.contains("claimed by analyst, until 2026-") && lost.contains("ralph wait"), "{lost}");
    assert_eq!(sandbox.ralph(&["claim", &id, "--as", "analyst", "--json"]).json()["renewed"], true);
    sandbox.ralph(&["move", &id, "__COMPLETE__", "--for", "research", "--as", "analyst-2"]).fails(3);
    sandbox.hand_in("research", &id);
    sandbox.ralph(&["move", &id, "__COMPLETE__", "--as", "analyst"]).ok();
    let task = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    assert_eq!(
        (&task["state"], &task["claim"], &task["owner"]),
        (&"Ready for Plan".into(), &serde_json::Value::Null, &serde_json::Value::Null)
    );
}

#[test]
fn a_refused_move_writes_nothing() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    sandbox.ralph(&["claim", &id, "--as", "analyst"]).ok();
    let before = sandbox.read_task(&id);
    for args in [
        vec!["move", &id, "__LOCK__", "--for", "plan", "--as", "builder"],
        vec!["move", &id, "done", "--as", "anna"],
        vec!["move", &id, "nowhere"],
        vec!["task", "set", &id, "title=changed", "state=Done"],
        vec!["claim", &id, "--for", "plan", "--as", "analyst"],
    ] {
        assert_ne!(sandbox.ralph(&args).code, 0, "{args:?}");
        assert_eq!(sandbox.read_task(&id), before, "{args:?}");
    }
}

#[test]
fn a_released_task_goes_back_and_a_forced_takeover_is_journaled() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "ready-for-plan"]);
    sandbox.ralph(&["claim", &id, "--as", "builder"]).ok();
    assert!(sandbox.ralph(&["release", &id, "--as", "builder-2"]).fails(3).contains("claimed by builder"));
    sandbox.ralph(&["release", &id, "--as", "builder"]).ok();
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["state"], "Ready for Plan");
    assert!(sandbox.ralph(&["release", &id, "--as", "builder"]).fails(1).contains("not claimed"));
    sandbox.ralph(&["claim", &id, "--as", "builder"]).ok();
    sandbox.ralph(&["claim", &id, "--as", "builder-2", "--for", "plan", "--force"]).fails(3);
    let taken = sandbox.ralph(&["claim", &id, "--as", "Bob", "--for", "plan", "--force", "--json"]).json();
    assert_eq!(taken["taken_from"], "builder");
    assert_eq!(sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["verb"], "claim --force");
    sandbox.ralph(&["move", &id, "__COMPLETE__", "--as", "builder"]).fails(3);
    let token = taken["claim"].as_str().unwrap();
    let with = |proof: &str, verb: &[&str]| {
        finish(sandbox.command(RALPH, &sandbox.root()).args(verb).env("RALPH_CLAIM", proof))
    };
    assert!(
        with(&format!("{id}:stale"), &["note", &id, "mine", "--as", "Bob"])
            .fails(3)
            .contains("expired or was taken over"),
        "every verb notices"
    );
    sandbox.hand_in("plan", &id);
    with(token, &["move", &id, "__COMPLETE__", "--for", "plan", "--as", "Bob"]).ok();
}

#[test]
fn a_lease_runs_out_unless_its_holder_gives_a_sign() {
    let sandbox = Sandbox::new();
    set(&sandbox, "claims.lease", "5m");
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    sandbox.ralph(&["claim", &id, "--as", "analyst"]).ok();
    // Each command advances the clock by a minute.
    for n in 0..8 {
        sandbox.ralph(&["note", &id, &format!("still here {n}"), "--as", "analyst"]).ok();
    }
    assert!(sandbox.ralph(&["reap"]).stderr.contains("all claims are live"));
    for _ in 0..5 {
        sandbox.ralph(&["task", "ls"]).ok();
    }
    assert!(sandbox.ralph(&["move", &id, "__COMPLETE__", "--as", "analyst"]).code != 0, "it slept past its lease");
    assert!(
        sandbox.ralph(&["reap"]).ok().contains("the claim of analyst ended  Research in Progress → Research Needed")
    );
    assert_eq!(sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["verb"], "reap");
    sandbox.ralph(&["claim", &id, "--as", "analyst-2"]).ok();
}

#[test]
fn a_person_claims_without_a_command_and_keeps_what_they_own() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "ready-for-plan"]);
    sandbox.ralph(&["claim", &id, "--as", "anna"]).ok();
    let task = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    assert_eq!((&task["state"], &task["owner"]), (&"Ready for Plan".into(), &"anna".into()));
    assert_eq!(sandbox.ralph(&["next", "--role", "builder"]).code, 5);
    sandbox.write_task("mine", "title = 'By hand'\nstate = 'Plan in Progress'\nowner = 'bert'\n");
    assert!(sandbox.ralph(&["reap"]).stderr.contains("nothing to do"), "a person keeps the lock");
    sandbox.write_task("theirs", "title = 'By hand'\nstate = 'Plan in Progress'\nowner = 'builder-3'\n");
    assert!(
        sandbox.ralph(&["reap"]).ok().contains("Plan in Progress → Ready for Plan"),
        "a worker's lock state without a claim is released"
    );
}

#[test]
fn limits_hold_per_role_and_per_worker() {
    let sandbox = Sandbox::new();
    let add = |state: &str| sandbox.add(&["x", "--state", state]);
    for (role, limit, start) in
        [("analyst", 3, "research-needed"), ("builder", 3, "ready-for-plan"), ("integrator", 1, "in-review")]
    {
        for n in 1..=limit {
            let command = if role == "integrator" { "merge" } else { "" };
            let (id, name) = (add(start), format!("{role}-{n}"));
            let mut args = vec!["claim", &id, "--as", &name];
            args.extend(if command.is_empty() { vec![] } else { vec!["--for", command] });
            sandbox.ralph(&args).ok();
            if n == 1 {
                args[1] = "zzz";
                let second = add(start);
                args[1] = &second;
                assert!(sandbox.ralph(&args).fails(1).contains("has already claimed"), "one task per worker");
            }
        }
        let (id, name) = (add(start), format!("{role}-9"));
        let full = sandbox.ralph(&[
            "claim",
            &id,
            "--as",
            &name,
            "--for",
            if role == "integrator" {
                "merge"
            } else if role == "builder" {
                "plan"
            } else {
                "research"
            },
        ]);
        assert!(full.fails(3).contains(&format!("the limit of {limit} for {role} is reached")));
    }
    set(&sandbox, "roles.integrator.limit", "2");
    sandbox.ralph(&["next", "--claim", "--as", "integrator-2"]).ok();
}

#[test]
fn limits_hold_under_a_race() {
    let sandbox = Sandbox::new();
    set(&sandbox, "review.mode", "interactive");
    let roles = [
        ("analyst", "Research Needed"),
        ("builder", "Ready for Plan"),
        ("validator", "Plan in Review"),
        ("integrator", "In Review"),
    ];
    for (role, state) in roles {
        for n in 0..24 {
            sandbox.write_task(&format!("{role}{n}"), format!("title = 'x'\nstate = '{state}'\n"));
        }
    }
    let workers = (0..8).flat_map(|n| roles.map(|(role, _)| format!("{role}-{n}")));
    let children: Vec<(String, Child)> = workers
        .map(|name| {
            let mut command = real(&sandbox, &["next", "--claim", "--as", &name]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            (name, child)
        })
        .collect();
    let mut won: HashMap<String, usize> = HashMap::new();
    for (name, mut child) in children {
        match child.wait().unwrap().code() {
            Some(0) => *won.entry(name.split('-').next().unwrap().to_owned()).or_default() += 1,
            code => assert_eq!(code, Some(3), "{name}"),
        }
    }
    assert_eq!(
        won,
        HashMap::from([
            ("analyst".into(), 3),
            ("builder".into(), 3),
            ("validator".into(), 1),
            ("integrator".into(), 1)
        ])
    );
}

/// Thirty-two workers and two hundred tasks with blockers: each task is done once, after its blockers.
#[test]
fn every_task_is_done_exactly_once_in_the_order_of_the_chain() {
    const TASKS: usize = 200;
    let rounds: usize = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    for round in 0..rounds {
        let sandbox = Sandbox::new();
        set(&sandbox, "roles.integrator.limit", "32");
        let mut rng = fastrand::Rng::with_seed(round as u64);
        let blockers: Vec<Vec<usize>> =
            (0..TASKS).map(|n| (0..rng.usize(..3).min(n)).map(|_| n - 1 - rng.usize(..n.min(12))).collect()).collect();
        for (n, on) in blockers.iter().enumerate() {
            let on: Vec<String> = on.iter().map(|b| format!("\"w{b:03}\"")).collect();
            sandbox.write_task(
                &format!("w{n:03}"),
                format!("title = 'T{n}'\nstate = 'In Review'\nblocked_by = [{}]\n", on.join(", ")),
            );
        }
        let done: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for worker in 0..32 {
                let (sandbox, done) = (&sandbox_env(&sandbox), &done);
                let env = sandbox.clone();
                scope.spawn(move || work(&env, &format!("integrator-{worker}"), done, TASKS));
            }
        });
        let order = done.into_inner().unwrap();
        let place: HashMap<usize, usize> = order.iter().enumerate().map(|(at, &task)| (task, at)).collect();
        assert_eq!((order.len(), place.len()), (TASKS, TASKS), "each exactly once");
        for (task, on) in blockers.iter().enumerate() {
            assert!(on.iter().all(|blocker| place[blocker] < place[&task]), "round {round}: {task} before {on:?}");
        }
    }
}

/// What a process needs to run in the sandbox, shared between threads.
#[derive(Clone)]
struct Env {
    root: std::path::PathBuf,
    home: std::path::PathBuf,
}

fn sandbox_env(sandbox: &Sandbox) -> Env {
    Env { root: sandbox.root(), home: sandbox.home() }
}

impl Env {
    fn ralph(&self, args: &[&str]) -> (i32, serde_json::Value) {
        let mut command = Command::new(RALPH);
        command.current_dir(&self.root).env("HOME", &self.home).stdin(Stdio::null()).args(args).arg("--json");
        let output = command.output().unwrap();
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}

fn work(env: &Env, name: &str, done: &Mutex<Vec<usize>>, all: usize) {
    while done.lock().unwrap().len() < all {
        let (code, chosen) = env.ralph(&["next", "--claim", "--as", name, "--wait", "1s"]);
        assert!([0, 3, 5].contains(&code), "{name}: exit {code}");
        let Some(id) = chosen["task"].as_str() else { continue };
        let number = id[1..].parse().unwrap();
        // Recorded before the move: the tasks that it blocks can start only after it.
        done.lock().unwrap().push(number);
        let (code, moved) = env.ralph(&["move", id, "__COMPLETE__", "--for", "merge", "--as", name]);
        assert_eq!((code, moved["to"].as_str()), (0, Some("Done")), "{name}: {id}");
    }
}

/// Starts `ralph run` on a task and returns once its program runs: the ralph process, and the program's process id.
fn start(sandbox: &Sandbox, id: &str, worker: &str) -> (Child, String) {
    let mut command =
        real(sandbox, &["run", id, "--for", "research", "--as", worker, "--", "sh", "-c", "echo $$; exec sleep 600"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

fn within_a_second(what: &str, mut met: impl FnMut() -> bool) {
    let start = Instant::now();
    while !met() {
        assert!(start.elapsed() < Duration::from_secs(1), "not within a second: {what}");
    }
}

/// The program, ralph, or both are killed: the claim is released at once and the next worker gets the task.
#[test]
fn a_killed_run_frees_its_task_at_once() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let kill = |pid: &str| {
        let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
    };
    for round in 0..200 {
        let worker = format!("analyst-{}", round % 3 + 1);
        let (mut ralph, program) = start(&sandbox, &id, &worker);
        if round % 20 == 0 {
            assert_eq!(state(&sandbox, &id), ("Research in Progress".into(), Some(worker.clone())));
        }
        let own = ralph.id().to_string();
        match round % 3 {
            0 => [own.as_str(), &program].iter().for_each(|pid| kill(pid)),
            1 => kill(&own),
            _ => kill(&program),
        }
        let status = ralph.wait().unwrap();
        if round % 3 == 2 {
            assert_eq!(status.code(), Some(137), "ralph has the exit code of its program");
        }
        within_a_second("the program ends with ralph", || !is_alive(&program));
        if round % 10 == 0 {
            within_a_second("free", || state(&sandbox, &id).1.is_none());
        }
        let successor = format!("analyst-{}", round % 3 + 4);
        if round % 4 == 0 {
            // The note counts as progress; a task that is claimed repeatedly without progress is handed to a person.
            finish(&mut real(&sandbox, &["note", &id, "something was found out"])).ok();
        }
        within_a_second("the next worker gets it", || {
            let next = finish(&mut real(&sandbox, &["next", "--claim", "--as", &successor]));
            next.code == 0 && next.stdout.contains(&id)
        });
        finish(&mut real(&sandbox, &["release", &id, "--as", &format!("analyst-{}", round % 3 + 4)])).ok();
        if round % 20 == 0 {
            assert_eq!(state(&sandbox, &id), ("Research Needed".into(), None));
        }
    }
}

#[test]
fn a_holder_that_lives_is_never_reaped_whatever_its_lease_says() {
    let sandbox = Sandbox::new();
    set(&sandbox, "claims.lease", "1s");
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let (mut ralph, _) = start(&sandbox, &id, "analyst");
    // The clock of these commands is far past the end of the lease.
    let late = |args: &[&str]| {
        finish(sandbox.command(RALPH, &sandbox.root()).args(args).env("RALPH_NOW", "2030-01-01T00:00:00Z"))
    };
    assert!(late(&["reap"]).stderr.contains("all claims are live"));
    assert_eq!(late(&["next", "--claim", "--as", "analyst-2"]).code, 5);
    assert!(late(&["claim", &id, "--as", "analyst-2"]).fails(3).contains("while its process runs"));
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    within_a_second("reaped", || late(&["reap"]).stdout.contains("Research Needed"));
}

#[test]
fn run_passes_code_signals_and_environment() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let script = format!(
        "test \"$RALPH_TASK $RALPH_WORKER $RALPH_ROLE $RALPH_COMMAND\" = '{id} analyst analyst research' && exit 7"
    );
    let output = sandbox.ralph(&["run", &id, "--as", "analyst", "--", "sh", "-c", &script]);
    assert_eq!(output.code, 7, "{output}");
    assert!(output.stderr.contains("Research in Progress → Research Needed"), "{output}");
    let complete = format!("{RALPH} move $RALPH_TASK __COMPLETE__");
    sandbox.hand_in("research", &id);
    sandbox.ralph(&["run", &id, "--as", "analyst", "--", "sh", "-c", &complete]).ok();
    assert_eq!(state(&sandbox, &id), ("Ready for Plan".into(), None));
    let missing = sandbox.ralph(&["run", &id, "--as", "builder", "--", "no-such-program"]);
    assert!(missing.code != 0 && missing.stderr.contains("cannot start"), "{missing}");
    assert_eq!(state(&sandbox, &id), ("Ready for Plan".into(), None));
    let mut command = real(
        &sandbox,
        &["run", &id, "--as", "builder", "--", "sh", "-c", "trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done"],
    );
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    finish(Command::new("kill").args(["-TERM", &child.id().to_string()])).ok();
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn waiting_ends_when_it_comes_true_or_when_time_is_up() {
    let sandbox = Sandbox::new();
    let a = sandbox.add(&["a", "--state", "in-review"]);
    let b = sandbox.add(&["b", "--state", "research-needed", "--blocked-by", &a]);
    sandbox.add(&["c", "--state", "ready-for-plan", "--blocked-by", &a]);
    let waiting = |args: &[&str]| real(&sandbox, args).stdout(Stdio::null()).spawn().unwrap();
    let mut ready = waiting(&["wait", &b, "--until", "ready", "--timeout", "60s"]);
    let mut work = waiting(&["next", "--claim", "--as", "builder", "--wait", "60s"]);
    assert!(ready.try_wait().unwrap().is_none() && work.try_wait().unwrap().is_none());
    finish(&mut real(&sandbox, &["done", &a, "--as", "anna"])).ok();
    assert!(ready.wait().unwrap().success() && work.wait().unwrap().success());
    let (mut ralph, _) = start(&sandbox, &b, "analyst-2");
    let mut free = waiting(&["wait", &b, "--until", "free", "--timeout", "60s"]);
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    assert!(free.wait().unwrap().success(), "a dead holder is noticed without a file changing");
    assert_eq!(finish(&mut real(&sandbox, &["wait", &b, "--until", "done", "--timeout", "0s"])).code, 5);
}

/// Of several waiting processes, one watches the board. When it is killed or suspended, another one takes over.
#[test]
fn of_those_who_wait_for_the_same_one_watches_and_none_is_held_up_by_it() {
    let sandbox = Sandbox::new();
    let waiting = |n: usize| {
        let args = ["next", "--claim", "--as", &format!("builder-{n}"), "--wait", "120s"];
        real(&sandbox, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut waiters: Vec<Child> = (1..=3).map(waiting).collect();
    let watches = |waiters: &[Child]| waiters.iter().map(|child| is_watching(child.id())).collect::<Vec<_>>();
    let mut first = || {
        eventually("one of them watches", || watches(&waiters).contains(&true));
        assert_eq!(watches(&waiters).iter().filter(|watches| **watches).count(), 1, "only one");
        let at = watches(&waiters).iter().position(|watches| *watches).unwrap();
        waiters.remove(at)
    };
    let mut killed = first();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut suspended = first();
    let signal = |name: &str| finish(Command::new("kill").args([name, &suspended.id().to_string()])).ok();
    let lock = sandbox.root().join(".git/ralph/lock");
    eventually("it is suspended without the board's lock", || {
        signal("-STOP");
        let free = finish(Command::new("flock").arg("-n").arg(&lock).arg("true")).code == 0;
        if !free {
            signal("-CONT");
        }
        free
    });
    sandbox.add(&["x", "--state", "ready-for-plan"]);
    let mut last = waiters.remove(0);
    assert!(last.wait().unwrap().success(), "it gets the task");
    suspended.kill().unwrap();
    suspended.wait().unwrap();
}

#[test]
fn a_holder_keeps_its_task_when_something_comes_in_the_way() {
    let sandbox = Sandbox::new();
    let (a, x) = (sandbox.add(&["a", "--state", "in-review"]), sandbox.add(&["x"]));
    sandbox.ralph(&["claim", &a, "--for", "merge", "--as", "integrator"]).ok();
    sandbox.ralph(&["block", &a, "--on", &x]).ok();
    sandbox.ralph(&["renew", &a, "--as", "integrator"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--claim", "--as", "integrator", "--json"]).json()["resume"], true);
}

#[test]
fn a_claimed_task_is_removed_only_by_force_and_its_claim_with_it() {
    let sandbox = Sandbox::new();
    let (a, b) = (sandbox.add(&["a", "--state", "ready-for-plan"]), sandbox.add(&["b", "--state", "ready-for-plan"]));
    sandbox.ralph(&["claim", &a, "--as", "builder"]).ok();
    assert!(sandbox.ralph(&["task", "rm", &a]).fails(3).contains("claimed by builder"));
    sandbox.ralph(&["task", "rm", &a, "--force"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--claim", "--as", "builder", "--json"]).json()["task"], b.as_str());
}

/// A builder continues with the next step of the same task within one run.
#[test]
fn a_program_takes_one_step_after_the_other() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "ready-for-plan"]);
    sandbox.hand_in("plan", &id);
    let script = format!(
        "{RALPH} move $RALPH_TASK __COMPLETE__ && {RALPH} claim $RALPH_TASK --for implement && {RALPH} next --claim --json"
    );
    let output = sandbox.ralph(&["run", &id, "--as", "builder", "--", "sh", "-c", &script]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("\"resume\":true"), "{output}");
}

/// All descendants of the program end with ralph, not only the program itself.
#[test]
fn nobody_works_on_when_ralph_is_killed() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let script = "sleep 601 & echo $!; (setsid sleep 602 & echo $!); wait";
    let mut command = real(&sandbox, &["run", &id, "--for", "research", "--as", "analyst", "--", "bash", "-c", script]);
    let mut ralph = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(ralph.stdout.take().unwrap()).lines();
    let below: Vec<String> = (0..2).map(|_| lines.next().unwrap().unwrap()).collect();
    assert!(below.iter().all(|pid| is_alive(pid)));
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    within_a_second("all of them end", || below.iter().all(|pid| !is_alive(pid)));
    within_a_second("free", || finish(&mut real(&sandbox, &["next", "--claim", "--as", "analyst-2"])).code == 0);
}

#[test]
fn the_programs_end_is_ralphs_whatever_became_of_the_task() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "research-needed"]);
    let file = sandbox.task_file(&id).display().to_string();
    let broken =
        sandbox.ralph(&["run", &id, "--as", "analyst", "--", "sh", "-c", &format!("echo '= =' > {file}; exit 8")]);
    assert!(broken.code == 8 && broken.stderr.contains("cannot release"), "{broken}");
    let other = sandbox.add(&["y", "--state", "research-needed"]);
    let script = format!("{RALPH} task rm $RALPH_TASK --force; exit 7");
    assert_eq!(sandbox.ralph(&["run", &other, "--as", "analyst-2", "--", "sh", "-c", &script]).code, 7);
}

/// A move into a lock state keeps an existing claim.
#[test]
fn a_move_into_a_lock_keeps_the_claim_of_whoever_has_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "ready-for-plan"]);
    let script =
        format!("{RALPH} move {id} 'Plan in Progress' && {RALPH} note {id} done && {RALPH} task set {id} priority=P1");
    sandbox.ralph(&["run", &id, "--as", "ada", "--", "sh", "-c", &script]).ok();
}

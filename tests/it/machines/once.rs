//! Six machines work through a board: each task is done once, whatever is killed or cut meanwhile.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::processes::Bound;
use super::proxy::Way;
use super::servers::Transport;
use super::{Fleet, Machine, Plan};
use crate::sandbox::{RALPH, eventually, finish};

const MACHINES: usize = 6;

/// The number of tasks, kills and cuts.
fn amounts() -> (usize, usize, usize) {
    let rounds: usize = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    if rounds >= 50 { (60, 40, 20) } else { (12, 6, 4) }
}

/// The remaining faults to inject.
struct Chaos {
    kills: AtomicUsize,
    killed: AtomicUsize,
    cuts: usize,
    ended: AtomicBool,
}

impl Chaos {
    fn of(kills: usize, cuts: usize) -> Self {
        Self { kills: kills.into(), killed: 0.into(), cuts, ended: false.into() }
    }

    /// Whether to kill this worker.
    fn kill(&self, dice: &mut fastrand::Rng) -> bool {
        dice.u8(0..3) == 0 && self.kills.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// One run of a machine's worker, which may be killed.
fn turn(machine: &Machine, chaos: &Chaos, dice: &mut fastrand::Rng) {
    let mut command = machine.command(&["worker", "builder"]);
    let pace = format!("0.{:02}", dice.u8(1..30));
    let mut worker = Bound(command.env("PACE", pace).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let fate = chaos.kill(dice).then(|| Duration::from_millis(dice.u64(20..3000)));
    let began = Instant::now();
    while worker.0.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(600), "{}: a worker does not end", machine.name);
        if fate.is_some_and(|fate| began.elapsed() > fate) {
            worker.0.kill().unwrap();
            worker.0.wait().unwrap();
            chaos.killed.fetch_add(1, SeqCst);
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs until the server has every task done, or more was started than the faults explain.
fn work(fleet: &Fleet, tasks: usize, chaos: &Chaos) {
    let began = Instant::now();
    let most = tasks + chaos.kills.load(SeqCst) + chaos.cuts;
    let hub = fleet.sandbox.outside("hub.git");
    // `Sandbox` is not `Sync`; the paths of the server's repository and of the log can be shared.
    let log = fleet.sandbox.outside("begun");
    let is_over = || {
        let mut asked = std::process::Command::new("git");
        asked.args(["grep", "-c", "^state = \"Done\"", "main", "--", ".ralph/tasks"]).current_dir(&hub);
        let done = String::from_utf8(asked.output().unwrap().stdout).unwrap().lines().count();
        let begun = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
        done == tasks || begun > most || began.elapsed() > Duration::from_secs(60 + 6 * tasks as u64)
    };
    let machines = &fleet.machines;
    std::thread::scope(|scope| {
        scope.spawn(|| cut_at_random(machines, chaos));
        let workers: Vec<_> = machines
            .iter()
            .enumerate()
            .map(|(number, machine)| {
                let is_over = &is_over;
                scope.spawn(move || {
                    let mut dice = fastrand::Rng::with_seed(number as u64);
                    while !is_over() {
                        turn(machine, chaos, &mut dice);
                        std::thread::sleep(Duration::from_millis(dice.u64(20..200)));
                    }
                })
            })
            .collect();
        let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        chaos.ended.store(true, SeqCst);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
}

fn cut_at_random(machines: &[Machine], chaos: &Chaos) {
    let mut dice = fastrand::Rng::with_seed(99);
    for _ in 0..chaos.cuts {
        std::thread::sleep(Duration::from_millis(dice.u64(100..1500)));
        if chaos.ended.load(SeqCst) {
            return;
        }
        let proxy = &dice.choice(machines).unwrap().proxy;
        let hole = Way::HoleAfter(dice.u64(0..6000));
        let cut = Way::CutAfter(dice.u64(0..6000));
        proxy.set(*dice.choice(&[Way::Drop, Way::Refuse, Way::Silent, hole, cut]).unwrap());
        if dice.bool() {
            proxy.cut();
        }
        std::thread::sleep(Duration::from_millis(dice.u64(200..1500)));
        proxy.set(Way::Forward);
    }
}

fn all_agree(fleet: &Fleet, tasks: usize) {
    assert_eq!(fleet.done(), tasks, "begun: {:?}", fleet.begun());
    // A machine that was killed may have changes that are not on the server.
    for machine in &fleet.machines {
        let said = machine.ralph(&["push"]);
        assert_eq!(said.code, 0, "{}: {said}\n{}", machine.name, fleet.histories());
    }
    for machine in &fleet.machines {
        machine.ralph(&["pull"]).ok();
        assert_eq!(machine.git(&["status", "--porcelain"]), "", "{}", machine.name);
    }
    let boards: BTreeSet<String> = fleet.machines.iter().map(Machine::board).collect();
    assert_eq!(boards.len(), 1, "the boards differ");
    let finished = fleet.machines[0].finished();
    let more_than_once: Vec<_> = finished.iter().filter(|(_, times)| **times != 1).collect();
    let told = || more_than_once.iter().flat_map(|(task, _)| fleet.machines[0].journal_of(task)).collect::<Vec<_>>();
    assert!(finished.len() == tasks && more_than_once.is_empty(), "{more_than_once:?}: {:#?}", told());
}

fn each_task_is_done_once(transport: Transport) {
    let (tasks, ..) = amounts();
    let plan = Plan { machines: MACHINES, tasks, ..Plan::of(transport) };
    let Some(fleet) = plan.fleet() else { return };
    work(&fleet, tasks, &Chaos::of(0, 0));
    let begun = fleet.begun();
    let distinct: BTreeSet<&String> = begun.iter().map(|(task, _)| task).collect();
    assert_eq!((distinct.len(), begun.len()), (tasks, tasks), "a task was done twice: {begun:?}");
    let busy: BTreeSet<&String> = begun.iter().map(|(_, machine)| machine).collect();
    assert!(busy.len() > MACHINES / 2, "most machines took part: {begun:?}");
    all_agree(&fleet, tasks);
    assert_eq!(fleet.claims(), Vec::<String>::new());
}

#[test]
fn each_task_is_done_once_over_ssh() {
    each_task_is_done_once(Transport::Ssh);
}

#[test]
fn each_task_is_done_once_over_http() {
    each_task_is_done_once(Transport::Http);
}

fn kills_and_cuts_leave_nothing_stuck(transport: Transport) {
    let (tasks, kills, cuts) = amounts();
    let plan = Plan { machines: MACHINES, tasks, lease: "8s", timeout: "3s", ..Plan::of(transport) };
    let Some(fleet) = plan.fleet() else { return };
    let chaos = Chaos::of(kills, cuts);
    work(&fleet, tasks, &chaos);
    all_agree(&fleet, tasks);
    let begun = fleet.begun();
    // Only tasks that were interrupted are started again.
    let most = tasks + chaos.killed.load(SeqCst) + cuts;
    assert!(begun.len() <= most, "{} starts, at most {most} expected: {begun:?}", begun.len());
    eventually("no claim is left on the server", || {
        fleet.machines.iter().for_each(|machine| drop(machine.ralph(&["claims", "ls", "--remote"])));
        fleet.claims().is_empty()
    });
    for machine in &fleet.machines {
        drop(machine.ralph(&["doctor", "--fix"]));
        machine.ralph(&["doctor"]).ok();
        machine.git(&["fsck", "--strict"]);
    }
}

#[test]
fn kills_and_cuts_leave_nothing_stuck_over_ssh() {
    kills_and_cuts_leave_nothing_stuck(Transport::Ssh);
}

#[test]
fn kills_and_cuts_leave_nothing_stuck_over_http() {
    kills_and_cuts_leave_nothing_stuck(Transport::Http);
}

/// A task finished on one machine is not taken on another, even by hand and before a pull.
fn what_is_finished_elsewhere_is_not_taken(exchange: &'static str) {
    let plan = Plan { tasks: 1, exchange, ..Plan::of(Transport::Http) };
    let Some(fleet) = plan.fleet() else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    one.ralph(&["next", "--claim", "--as", "builder"]).ok();
    one.ralph(&["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"]).ok();
    let said = two.ralph(&["next", "--claim", "--as", "builder"]);
    assert_ne!(two.state("t-0"), "Doing", "{said}");
    two.ralph(&["claim", "t-0", "--for", "triage", "--as", "builder"]).fails(3);
    one.ralph(&["push"]).ok();
    two.ralph(&["pull"]).ok();
    assert_eq!((two.state("t-0").as_str(), fleet.claims()), ("Done", vec![]));
    assert_eq!(one.board(), two.board());
}

#[test]
fn what_is_finished_elsewhere_is_not_taken_before_the_board_is_pushed() {
    what_is_finished_elsewhere_is_not_taken("");
}

#[test]
fn what_is_finished_elsewhere_is_not_taken_where_nothing_is_exchanged() {
    what_is_finished_elsewhere_is_not_taken("off");
}

/// With `always`, the end of a claim and the board arrive together, or not at all.
#[test]
fn a_move_and_the_end_of_its_claim_arrive_together() {
    let plan = Plan { tasks: 1, exchange: "always", ..Plan::of(Transport::Http) };
    let Some(fleet) = plan.fleet() else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    one.ralph(&["next", "--claim", "--as", "builder"]).ok();
    // Until then the other machines need only the claim.
    assert_eq!((fleet.claims(), fleet.states().get("t-0")), (vec!["t-0".to_owned()], None));
    let seen = fleet.sandbox.outside("seen");
    fleet.hook("pre-receive", Some(&format!("cat >> '{}'; echo >> '{}'", seen.display(), seen.display())));
    one.ralph(&["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"]).ok();
    assert_eq!((fleet.claims(), fleet.done()), (vec![], 1));
    let seen = std::fs::read_to_string(seen).unwrap();
    let together = seen.split("\n\n").any(|push| push.contains("refs/heads/main") && push.contains("claims/t-0"));
    assert!(together, "{seen}");
    two.ralph(&["pull"]).ok();
    assert_eq!(two.state("t-0"), "Done");
}

/// Exchanges between machines add no merge commits to the history unless pushes race.
#[test]
fn exchanges_do_not_pile_up_merges() {
    let Some(fleet) = (Plan { tasks: 8, ..Plan::of(Transport::Http) }).fleet() else { return };
    let before: usize = fleet.in_hub(&["rev-list", "--count", "main"]).trim().parse().unwrap();
    for number in 0..8 {
        let machine = &fleet.machines[number % 2];
        machine.ralph(&["task", "set", &format!("t-{number}"), "priority=P1"]).ok();
        // The other machine has pushed since, so this clone is behind.
        machine.ralph(&["push"]).ok();
    }
    let merges = fleet.in_hub(&["rev-list", "--count", "--merges", "main"]);
    let commits: usize = fleet.in_hub(&["rev-list", "--count", "main"]).trim().parse().unwrap();
    assert_eq!(merges.trim(), "0");
    assert!(commits - before <= 8, "{} commits for 8 exchanges", commits - before);
    finish(fleet.machines[0].program(RALPH, &fleet.machines[0].clone).args(["doctor"])).ok();
}

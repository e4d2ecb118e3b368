//! The cost of a claim: connections, bytes, and time compared with one `git push`.

use std::time::{Duration, Instant};

use super::proxy::Counts;
use super::servers::Transport;
use super::{Fleet, Machine, Plan};

/// A fleet whose first machine has asked the server before, so that it is not a new clone.
fn fleet(transport: Transport, exchange: &'static str) -> Option<Fleet> {
    let fleet = (Plan { tasks: 12, exchange, ..Plan::of(transport) }).fleet()?;
    let machine = &fleet.machines[0];
    machine.ralph(&["pull"]).ok();
    machine.ralph(&["claims", "ls", "--remote"]).ok();
    machine.proxy.take_counts();
    Some(fleet)
}

fn taken(machine: &Machine, args: &[&str]) -> Counts {
    machine.ralph(args).ok();
    machine.proxy.take_counts()
}

fn a_claim_is_one_connection(transport: Transport) {
    let Some(fleet) = fleet(transport, "") else { return };
    let machine = &fleet.machines[0];
    let next = taken(machine, &["next", "--claim", "--as", "builder"]);
    assert_eq!((next.connections, fleet.claims().len()), (1, 1), "{next:?}");
    let more = taken(machine, &["next", "--claim", "--as", "builder-2"]);
    assert_eq!((more.connections, fleet.claims().len()), (1, 2), "{more:?}");
}

#[test]
fn a_claim_is_one_connection_over_ssh() {
    a_claim_is_one_connection(Transport::Ssh);
}

#[test]
fn a_claim_is_one_connection_over_http() {
    a_claim_is_one_connection(Transport::Http);
}

fn claim_finish_and_board_are_two_connections(transport: Transport) {
    let Some(fleet) = fleet(transport, "always") else { return };
    let machine = &fleet.machines[0];
    let next = machine.ralph(&["next", "--claim", "--as", "builder", "--json"]).json();
    let claimed = fleet.claims();
    assert_eq!(claimed.len(), 1, "{next}");
    machine.ralph(&["move", &claimed[0], "__COMPLETE__", "--for", "triage", "--as", "builder"]).ok();
    let counts = machine.proxy.take_counts();
    assert_eq!((fleet.claims(), fleet.done()), (vec![], 1));
    assert!(counts.connections <= 2, "{counts:?}");
}

#[test]
fn claim_finish_and_board_are_two_connections_over_ssh() {
    claim_finish_and_board_are_two_connections(Transport::Ssh);
}

#[test]
fn claim_finish_and_board_are_two_connections_over_http() {
    claim_finish_and_board_are_two_connections(Transport::Http);
}

/// Finishing a task and claiming the next is one push: n tasks need n + 1 pushes, and one more finds no task.
fn a_worker_pays_for_one_connection_a_task(transport: Transport) {
    let Some(fleet) = fleet(transport, "") else { return };
    let machine = &fleet.machines[0];
    let counts = taken(machine, &["worker", "builder"]);
    assert_eq!((fleet.claims(), fleet.done()), (vec![], 12));
    assert!(counts.connections <= 12 + 2, "{counts:?}");
}

#[test]
fn a_worker_pays_for_one_connection_a_task_over_ssh() {
    a_worker_pays_for_one_connection_a_task(Transport::Ssh);
}

#[test]
fn a_worker_pays_for_one_connection_a_task_over_http() {
    a_worker_pays_for_one_connection_a_task(Transport::Http);
}

/// Asking for the claims costs the same, however many branches the server has.
fn branches_cost_nothing(transport: Transport) {
    let Some(fleet) = fleet(transport, "") else { return };
    let machine = &fleet.machines[0];
    let look = || taken(machine, &["claims", "ls", "--remote"]);
    let few = look();
    let tip = fleet.in_hub(&["rev-parse", "main"]);
    let lines: String = (0..3000).map(|n| format!("{} refs/heads/feature/{n:04}-of-many\n", tip.trim())).collect();
    let packed = fleet.sandbox.outside("hub.git/packed-refs");
    std::fs::write(packed, format!("# pack-refs with: peeled fully-peeled sorted \n{lines}")).unwrap();
    assert!(fleet.in_hub(&["for-each-ref"]).lines().count() > 3000);
    let many = look();
    let (few, many) = (few.up + few.down, many.up + many.down);
    assert!(many < few + 2000, "{few} bytes without the branches, {many} with them");
}

#[test]
fn branches_cost_nothing_over_ssh() {
    branches_cost_nothing(Transport::Ssh);
}

#[test]
fn branches_cost_nothing_over_http() {
    branches_cost_nothing(Transport::Http);
}

/// The shortest time of several tries, for a claim and for one `git push`.
fn times(machine: &Machine, tries: usize, round_trip: Duration) -> (Duration, Duration) {
    let clock = |run: &dyn Fn(usize)| {
        let one = |number| {
            let began = Instant::now();
            run(number);
            began.elapsed()
        };
        (0..tries).map(one).min().unwrap()
    };
    let object = machine.git(&["rev-parse", "HEAD"]).trim().to_owned();
    machine.proxy.delay(round_trip / 2);
    let push =
        clock(&|number| _ = machine.git(&["push", "-q", "origin", &format!("{object}:refs/ralph/figures/{number}")]));
    let next = clock(&|number| {
        machine.ralph(&["next", "--claim", "--as", &format!("builder-{}", number + 2)]).ok();
    });
    machine.proxy.delay(Duration::ZERO);
    (next, push)
}

/// Figures for `docs`: `cargo nextest run --run-ignored only --no-capture -E 'test(machines::cost::figures)'`.
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stdout, reason = "that is what it is for")]
fn figures() {
    for transport in [Transport::Ssh, Transport::Http] {
        let Some(fleet) = fleet(transport, "") else { continue };
        let machine = &fleet.machines[0];
        let (next, push) = times(machine, 5, Duration::from_millis(100));
        println!("{transport:?}, 100 ms round trip: next --claim {next:?}, git push {push:?}");
        machine.proxy.take_counts();
        println!("  next --claim: {:?}", taken(machine, &["next", "--claim", "--as", "builder-20"]));
        machine.git(&["push", "-q", "origin", "HEAD:refs/ralph/figures/last"]);
        println!("  git push: {:?}", machine.proxy.take_counts());
    }
}

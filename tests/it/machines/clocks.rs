//! Wrong clocks: a live claim stays its holder's, and a dead one expires.

use super::servers::Transport;
use super::{Fleet, Machine, Plan, Time};

const HOUR: i64 = 3600;
const OFF: [i64; 4] = [2 * HOUR, -2 * HOUR, 240 * HOUR, -240 * HOUR];

fn fleet(tasks: usize) -> Option<Fleet> {
    (Plan { tasks, lease: "10m", ..Plan::of(Transport::Http) }).fleet()
}

#[track_caller]
fn leaves_it(machine: &Machine, time: Time, task: &str) {
    machine.at(time, &["claims", "ls", "--remote"]).ok();
    assert_eq!(machine.at(time, &["reap", "--json"]).json(), serde_json::json!([]), "{time:?}");
    machine.at(time, &["claim", task, "--for", "triage", "--as", "builder"]).fails(3);
}

#[track_caller]
fn takes_nothing(machine: &Machine, time: Time, task: &str) {
    leaves_it(machine, time, task);
    let next = machine.at(time, &["next", "--claim", "--as", "builder-2"]);
    assert_eq!(machine.state(task), "Todo", "{time:?}: {next}");
}

/// A fast clock does not end the leases of others, and a slow one does not hide them.
#[test]
fn a_machine_whose_clock_is_wrong_takes_nothing_that_is_alive() {
    for off in OFF {
        let Some(fleet) = fleet(1) else { return };
        let [right, wrong] = &fleet.machines[..] else { unreachable!() };
        let start = Time::start();
        right.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
        takes_nothing(wrong, start.later(10).off(off), "t-0");
        right.at(start.later(300), &["renew", "t-0", "--as", "builder"]).ok();
        takes_nothing(wrong, start.later(700).off(off), "t-0");
        right.at(start.later(710), &["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"]).ok();
        assert_eq!(right.state("t-0"), "Done", "off by {off}");
    }
}

/// A machine with a wrong clock does not lose its own claim, and does not keep it for longer than its lease.
#[test]
fn a_machine_whose_clock_is_wrong_keeps_its_own_and_no_longer() {
    for off in OFF {
        let Some(fleet) = fleet(2) else { return };
        let [right, wrong] = &fleet.machines[..] else { unreachable!() };
        let start = Time::start();
        let own = |after: u32, args: &[&str]| wrong.at(start.later(after).off(off), args);
        own(0, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
        leaves_it(right, start.later(5), "t-0");
        own(60, &["renew", "t-0", "--as", "builder"]).ok();
        own(70, &["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"]).ok();
        own(80, &["claim", "t-1", "--for", "triage", "--as", "builder"]).ok();
        // Seen for the first time now, and unchanged for the length of a lease.
        right.at(start.later(90), &["claim", "t-1", "--for", "triage", "--as", "builder-2"]).fails(3);
        right.at(start.later(90 + 590), &["claim", "t-1", "--for", "triage", "--as", "builder-2"]).fails(3);
        right.at(start.later(90 + 660), &["claim", "t-1", "--for", "triage", "--as", "builder-2"]).ok();
    }
}

/// A lease expires when it was seen unchanged for its length. A renewal starts it again, and so does the first
/// sighting.
#[test]
fn a_lease_of_another_machine_is_measured_from_its_last_change() {
    let Some(fleet) = fleet(2) else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let start = Time::start();
    one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    // Long after the claim, but seen for the first time.
    two.at(start.later(5000), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    two.at(start.later(5300), &["claims", "ls", "--remote"]).ok();
    one.at(start.later(5310), &["renew", "t-0", "--as", "builder"]).ok();
    two.at(start.later(5620), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    two.at(start.later(6100), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    two.at(start.later(6300), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).ok();
    let said = one.at(start.later(6310), &["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"]);
    assert_eq!(said.code, 3, "{said}");
}

/// A restart sets the monotonic clock to zero: the time that was measured before does not count.
#[test]
fn after_a_restart_a_lease_is_measured_anew() {
    let Some(fleet) = fleet(1) else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let start = Time::start();
    one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    two.at(start.later(10), &["claims", "ls", "--remote"]).ok();
    let restarted = |seconds: u64| Time { ticks: seconds, ..start.later(20) };
    two.at(restarted(5), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    two.at(restarted(500), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    two.at(restarted(700), &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).ok();
}

/// A clock that is set back does not keep a machine from asking the server.
#[test]
fn a_clock_that_was_set_back_does_not_keep_from_looking() {
    let Some(fleet) = fleet(2) else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let start = Time::start();
    two.at(start.off(240 * HOUR), &["claims", "ls", "--remote"]).ok();
    one.at(start.later(10), &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    let listed = two.at(start.later(20), &["claims", "ls", "--remote", "--json"]).json();
    assert_eq!(listed[0]["task"], "t-0", "{listed}");
    let said = two.at(start.later(30), &["escalate", "t-0", "--as", "builder-2"]);
    assert!(said.code == 3 && two.state("t-0") == "Todo", "{said}");
}

/// Claims of other machines may be wrong or hostile: no lease lasts longer than this machine allows.
#[test]
fn a_claim_with_an_endless_lease_binds_for_a_bounded_time() {
    let Some(fleet) = fleet(1) else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let start = Time::start();
    let claimed =
        one.at(start, &["--config", "claims.lease=9000h", "claim", "t-0", "--for", "triage", "--as", "builder"]);
    drop(claimed.ok());
    two.at(start.later(10), &["claims", "ls", "--remote"]).ok();
    let month = start.later(31 * 24 * 3600);
    two.at(month, &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).ok();
}

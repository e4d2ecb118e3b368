//! A holder that is offline past its lease is refused, and its program is stopped; its files stay.

use std::time::{Duration, Instant};

use super::processes::{Bound, left_at, running_at};
use super::proxy::Way;
use super::servers::Transport;
use super::{Fleet, Plan, Time};
use crate::sandbox::eventually;

fn fleet(lease: &'static str) -> Option<Fleet> {
    (Plan { lease, timeout: "2s", ..Plan::of(Transport::Http) }).fleet()
}

#[test]
fn past_its_lease_and_cut_off_a_holder_is_refused() {
    for way in [Way::Refuse, Way::Silent] {
        let Some(fleet) = fleet("10m") else { return };
        let [one, two] = &fleet.machines[..] else { unreachable!() };
        let start = Time::start();
        one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
        two.at(start.later(1), &["claims", "ls", "--remote"]).ok();
        one.proxy.set(way);
        let late = start.later(700);
        let moves: [&[&str]; 3] = [
            &["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"],
            &["escalate", "t-0", "--for", "triage", "--as", "builder"],
            &["renew", "t-0", "--as", "builder"],
        ];
        for args in moves {
            let said = one.at(late, args).fails(6);
            assert!(said.contains("has expired") && said.contains("origin"), "{said}");
        }
        assert_eq!(one.state("t-0"), "Doing");
        two.at(late, &["claim", "t-0", "--for", "triage", "--as", "builder-2"]).ok();
        one.proxy.cut();
        one.proxy.set(Way::Forward);
        let said = one.at(late.later(1), moves[0]);
        assert_eq!(said.code, 3, "another worker has claimed it: {said}");
    }
}

/// No other worker can take the claim within the lease, so an offline holder may continue.
#[test]
fn within_its_lease_a_holder_that_is_cut_off_goes_on() {
    let Some(fleet) = fleet("10m") else { return };
    let one = &fleet.machines[0];
    let start = Time::start();
    one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    one.proxy.set(Way::Refuse);
    let args = ["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"];
    let said = one.at(start.later(300), &args);
    assert!(said.code == 0 && one.state("t-0") == "Done", "{said}");
}

/// The claim was not taken meanwhile: it is renewed, and the move is made.
#[test]
fn a_holder_that_comes_back_and_finds_its_claim_goes_on() {
    let Some(fleet) = fleet("10m") else { return };
    let one = &fleet.machines[0];
    let start = Time::start();
    one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    one.proxy.set(Way::Refuse);
    let args = ["move", "t-0", "__COMPLETE__", "--for", "triage", "--as", "builder"];
    drop(one.at(start.later(700), &args).fails(6));
    one.proxy.set(Way::Forward);
    one.at(start.later(710), &args).ok();
    assert_eq!(one.state("t-0"), "Done");
}

/// `--force` of a person works without the server, and its message says what that means.
#[test]
fn a_person_who_is_cut_off_may_force_a_move() {
    let Some(fleet) = fleet("10m") else { return };
    let one = &fleet.machines[0];
    let start = Time::start();
    one.at(start, &["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    one.proxy.set(Way::Refuse);
    one.at(start.later(700), &["move", "t-0", "Done", "--force"]).ok();
    assert_eq!(one.state("t-0"), "Done");
}

/// The program of `run` continues while the lease lasts, and is stopped soon after; its files stay.
#[test]
fn a_program_is_stopped_after_its_lease() {
    let Some(fleet) = fleet("5s") else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let work = one.clone.join("work");
    let script = format!("while :; do date +%s >> '{}'; sleep 0.2; done", work.display());
    let mut command = one.command(&["run", "t-0", "--as", "builder", "--", "sh", "-c", &script]);
    let mut run = Bound::start(&mut command);
    eventually("the program runs", || std::fs::read_to_string(&work).is_ok_and(|text| text.lines().count() > 2));
    one.proxy.set(Way::Silent);
    one.proxy.cut();
    let cut = Instant::now();
    std::thread::sleep(Duration::from_secs(2));
    assert!(run.0.try_wait().unwrap().is_none(), "its lease has not expired yet");
    while run.0.try_wait().unwrap().is_none() {
        assert!(cut.elapsed() < Duration::from_secs(60), "the program still runs: {:?}", running_at(&one.home));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!run.0.wait().unwrap().success(), "it did not complete");
    assert_eq!(left_at(&one.home), Vec::<String>::new());
    assert!(work.exists());
    eventually("another machine can claim it", || {
        two.ralph(&["claim", "t-0", "--for", "triage", "--as", "builder-2"]).code == 0
    });
}

/// A short outage does not stop the program, and the claim is renewed when the server is back.
#[test]
fn a_program_survives_a_short_cut() {
    let Some(fleet) = fleet("12s") else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let go = fleet.sandbox.outside("go");
    let script = format!("until [ -e '{}' ]; do sleep 0.05; done", go.display());
    let mut command = one.command(&["run", "t-0", "--as", "builder", "--", "sh", "-c", &script]);
    let mut run = Bound::start(&mut command);
    eventually("the claim is on the server", || fleet.claims() == ["t-0"]);
    one.proxy.set(Way::Refuse);
    std::thread::sleep(Duration::from_secs(5));
    one.proxy.set(Way::Forward);
    // More than a lease after the claim, so only a renewal can have kept it.
    std::thread::sleep(Duration::from_secs(12));
    assert!(run.0.try_wait().unwrap().is_none(), "it was stopped");
    two.ralph(&["claim", "t-0", "--for", "triage", "--as", "builder-2"]).fails(3);
    std::fs::write(go, "").unwrap();
    assert!(run.0.wait().unwrap().success());
    assert_eq!(fleet.claims(), Vec::<String>::new());
}

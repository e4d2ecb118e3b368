//! Every command ends and names the kind of failure, whatever the server does.

use std::time::Duration;

use super::processes::left_at;
use super::proxy::Way;
use super::servers::{Server, Transport, can_serve};
use super::ways::{Scheme, TROUBLES, Trouble};
use super::{Fleet, Machine, Plan};

/// `net.timeout` is two seconds; the rest allows for a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// All that is wrong with the commands of one case, so that the test reports everything at once.
fn complaints(machine: &Machine, name: &str, says: &[&str], number: usize) -> Vec<String> {
    let (held, other) = (format!("t-{}", 3 * number), format!("t-{}", 3 * number + 1));
    let commands: [&[&str]; 6] = [
        &["claims", "ls", "--remote"],
        &["pull"],
        &["push"],
        &["next", "--claim", "--as", "builder-9"],
        &["move", &held, "__COMPLETE__", "--for", "triage", "--as", "builder"],
        &["done", &other, "--as", "ada"],
    ];
    let mut wrong = Vec::new();
    for args in commands {
        let ended = machine.within(LIMIT, args);
        let command = format!("{name}: {}", args.iter().take(2).copied().collect::<Vec<_>>().join(" "));
        let said = ended.said();
        if !ended.by_itself {
            wrong.push(format!("{command} is still running after {LIMIT:?}"));
        } else if ![0, 6].contains(&ended.output.code) {
            wrong.push(format!("{command} exits {}: {said}", ended.output.code));
        }
        if ended.by_itself && !says.iter().any(|words| said.to_lowercase().contains(&words.to_lowercase())) {
            wrong.push(format!("{command} names none of {says:?}: {said}"));
        }
        wrong.extend(left_at(&machine.home).into_iter().map(|left| format!("{command} leaves running: {left}")));
    }
    wrong
}

/// Each machine has a claim and a change that is not pushed.
fn prepare(fleet: &Fleet) {
    for (number, machine) in fleet.machines.iter().enumerate() {
        machine.ralph(&["claim", &format!("t-{}", 3 * number), "--for", "triage", "--as", "builder"]).ok();
        machine.ralph(&["task", "set", &format!("t-{}", 3 * number + 2), "priority=P1"]).ok();
    }
}

#[track_caller]
fn every_command_ends(transport: Transport, schemes: &[Scheme]) {
    let troubles: Vec<&Trouble> = TROUBLES.iter().filter(|trouble| schemes.contains(&trouble.scheme)).collect();
    let plan = Plan { machines: troubles.len(), tasks: 3 * troubles.len(), timeout: "2s", ..Plan::of(transport) };
    let Some(fleet) = plan.fleet() else { return };
    prepare(&fleet);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let ask = |(number, trouble): (usize, &'static Trouble)| {
            let machine = &fleet.machines[number];
            scope.spawn(move || {
                trouble.befall(machine);
                complaints(machine, &trouble.name(), trouble.says, number)
            })
        };
        let asked: Vec<_> = troubles.iter().copied().enumerate().map(ask).collect();
        asked.into_iter().flat_map(|asked| asked.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} failures:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_command_ends_over_http() {
    every_command_ends(Transport::Http, &[Scheme::Http]);
}

#[test]
fn every_command_ends_over_https_and_git() {
    every_command_ends(Transport::Http, &[Scheme::Https, Scheme::Git]);
}

#[test]
fn every_command_ends_over_ssh() {
    every_command_ends(Transport::Ssh, &[Scheme::Ssh]);
}

/// With the default timeout: thirty seconds in total.
fn by_default(transport: Transport, way: Way) {
    let Some(fleet) = (Plan { machines: 1, timeout: "", ..Plan::of(transport) }).fleet() else { return };
    let machine = &fleet.machines[0];
    machine.proxy.set(way);
    let ended = machine.within(Duration::from_secs(60), &["next", "--claim", "--as", "builder"]);
    assert!(ended.by_itself && ended.output.code == 6, "{:?}: {}", ended.took, ended.output);
    assert!(ended.said().contains("timed out"), "{}", ended.output);
    assert_eq!(left_at(&machine.home), Vec::<String>::new());
}

#[test]
fn by_default_a_command_ends_within_a_minute_over_http() {
    by_default(Transport::Http, Way::EndlessAnswer);
}

#[test]
fn by_default_a_command_ends_within_a_minute_over_ssh() {
    by_default(Transport::Ssh, Way::HoleAfter(3000));
}

/// Authentication failures are not retried.
#[test]
fn unknown_hosts_passwords_and_prohibitions_are_told_apart() {
    let Some(fleet) = (Plan { machines: 4, tasks: 12, timeout: "5s", ..Plan::of(Transport::Http) }).fleet() else {
        return;
    };
    prepare(&fleet);
    let (closed, forbidden) = (Server::unauthorized(&fleet.sandbox), Server::forbidden(&fleet.sandbox));
    let unknown: &[&str] = &["unknown host", "cannot find the host", "could not resolve"];
    let cases: [(String, &[&str]); 4] = [
        (closed.url(), &["unauthorized"]),
        (forbidden.url(), &["forbidden"]),
        ("http://no-such-host.invalid/hub.git".to_owned(), unknown),
        ("ssh://no-such-host.invalid/hub.git".to_owned(), unknown),
    ];
    let mut wrong = Vec::new();
    for (number, (url, says)) in cases.iter().enumerate() {
        let machine = &fleet.machines[number];
        machine.go_to(url);
        wrong.extend(complaints(machine, url, says, number));
        let said = machine.within(LIMIT, &["push"]).said();
        if number < 2 && said.contains("try again") {
            wrong.push(format!("{url}: it would be in vain to try again: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{} failures:\n{}", wrong.len(), wrong.join("\n"));
}

/// A key that the server does not know is an authentication failure, not an unreachable server.
#[test]
fn a_key_that_the_server_does_not_know_is_unauthorized() {
    if !can_serve(Transport::Ssh) {
        return;
    }
    let Some(fleet) = (Plan { machines: 1, timeout: "5s", ..Plan::of(Transport::Ssh) }).fleet() else { return };
    prepare(&fleet);
    std::fs::write(fleet.server.folder().join("authorized_keys"), "").unwrap();
    let wrong = complaints(&fleet.machines[0], "no key", &["unauthorized"], 0);
    assert!(wrong.is_empty(), "{} failures:\n{}", wrong.len(), wrong.join("\n"));
}

/// Only the claims are rejected: the push of the board has succeeded, and the message says so.
#[test]
fn a_push_whose_board_arrived_is_no_failure() {
    let Some(fleet) = Plan::of(Transport::Http).fleet() else { return };
    let machine = &fleet.machines[0];
    machine.ralph(&["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    machine.ralph(&["task", "set", "t-1", "priority=P1"]).ok();
    fleet.hook("update", Some("case $1 in refs/ralph/*) echo 'ask the owner' >&2; exit 1;; esac"));
    machine.ralph(&["release", "t-0", "--as", "builder"]).ok();
    let said = machine.ralph(&["push"]);
    let there = fleet.in_hub(&["show", "main:.ralph/tasks/t-1.toml"]).contains("P1");
    assert!(there && said.code == 0 && said.stderr.contains("ask the owner"), "{there}: {said}");
}

/// git takes an HTTP answer that ends within its header for the empty list of an old server, and `fetch --prune` then
/// succeeds as if all claims were gone. Such an answer must count as a failure.
#[test]
fn an_answer_that_is_cut_in_its_header_hides_no_claims() {
    let Some(fleet) = (Plan { timeout: "5s", ..Plan::of(Transport::Http) }).fleet() else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    one.ralph(&["claim", "t-0", "--for", "triage", "--as", "builder"]).ok();
    one.ralph(&["push"]).ok();
    two.ralph(&["pull"]).ok();
    two.ralph(&["claims", "ls", "--remote"]).ok();
    two.proxy.set(Way::HalfHeader);
    for args in [&["claims", "ls", "--remote"][..], &["pull"], &["reap"]] {
        let said = two.within(LIMIT, args);
        assert!([0, 6].contains(&said.output.code), "{args:?}: {}", said.output);
        let listed = two.ralph(&["claims", "ls", "--json"]).json();
        assert_eq!(listed[0]["task"], "t-0", "after {args:?}: {listed}\n{}", said.output);
        assert_eq!(two.state("t-0"), "Doing", "{args:?}: {}", said.output);
    }
    let said = two.ralph(&["claims", "ls", "--remote"]);
    assert!(said.code == 6 || !said.stderr.is_empty(), "the claim was not seen: {said}");
}

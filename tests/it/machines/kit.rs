//! Checks the test kit itself: the servers work, and the proxy fails as configured.

use std::time::{Duration, Instant};

use super::processes::within;
use super::proxy::Way;
use super::servers::{Server, Transport, can_serve};
use super::{Fleet, Machine, Plan};
use crate::sandbox::{Sandbox, finish};

fn fleet(transport: Transport) -> Option<Fleet> {
    Plan::of(transport).fleet()
}

/// Runs git without ralph: the time it took, and its output.
fn git(machine: &Machine, limit: Duration, args: &[&str]) -> super::processes::Ended {
    within(limit, machine.program("git", &machine.clone).env("GIT_TERMINAL_PROMPT", "0").args(args))
}

fn boards_travel(transport: Transport) {
    let Some(fleet) = fleet(transport) else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let cloned = fleet.sandbox.outside("cloned");
    let mut command = one.program("git", fleet.sandbox.outside("").as_path());
    finish(command.args(["clone", "-q", &fleet.server.url()]).arg(&cloned)).ok();
    assert!(cloned.join(".ralph/tasks/t-0.toml").exists());
    one.ralph(&["task", "set", "t-0", "priority=P1"]).ok();
    one.ralph(&["push"]).ok();
    two.ralph(&["task", "set", "t-1", "priority=P2"]).ok();
    two.ralph(&["push"]).ok();
    one.ralph(&["pull"]).ok();
    assert_eq!(one.board(), two.board());
    one.ralph(&["claim", "t-0", "--as", "builder"]).ok();
    assert_eq!(fleet.claims(), ["t-0"]);
    assert!(fleet.claim("t-0").contains("builder"), "{}", fleet.claim("t-0"));
    two.ralph(&["claim", "t-0", "--as", "builder"]).fails(3);
}

#[test]
fn a_board_travels_over_ssh() {
    boards_travel(Transport::Ssh);
}

#[test]
fn a_board_travels_over_http() {
    boards_travel(Transport::Http);
}

#[test]
fn a_server_that_wants_a_password_or_forbids_says_so() {
    let Some(fleet) = fleet(Transport::Http) else { return };
    let machine = &fleet.machines[0];
    for (server, code) in [(Server::unauthorized(&fleet.sandbox), "401"), (Server::forbidden(&fleet.sandbox), "403")] {
        machine.go_to(&server.url());
        let said = git(machine, Duration::from_secs(20), &["ls-remote", "origin"]);
        let log = std::fs::read_to_string(server.folder().join("access")).unwrap();
        assert!(said.output.code == 128 && log.contains(&format!("\" {code} ")), "{code}: {}\n{log}", said.output);
    }
}

fn servers_end(transport: Transport) {
    if !can_serve(transport) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "--bare", "-b", "main", "../hub.git"]);
    let server = Server::new(&sandbox, transport);
    let (port, folder) = (server.port, server.folder().display().to_string());
    let running = || {
        let lines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let line = std::fs::read(entry.unwrap().path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        lines.filter(|line| line.contains(&folder)).collect::<Vec<_>>()
    };
    assert!(!running().is_empty() && std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    drop(server);
    crate::sandbox::eventually("all of its processes have ended", || running().is_empty());
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn servers_end_with_their_test() {
    servers_end(Transport::Ssh);
    servers_end(Transport::Http);
}

fn proxy_counts_and_delays(transport: Transport, connections: u64, round_trips: u32) {
    let Some(fleet) = fleet(transport) else { return };
    let machine = &fleet.machines[0];
    machine.proxy.take_counts();
    let ask = || git(machine, Duration::from_secs(60), &["ls-remote", "origin", "refs/heads/main"]);
    assert_eq!(ask().output.code, 0, "{}", fleet.server.log());
    let counts = machine.proxy.take_counts();
    assert_eq!(counts.connections, connections);
    assert!(counts.up > 100 && counts.down > 100, "{counts:?}");
    machine.proxy.delay(Duration::from_millis(100));
    let slow = ask();
    assert!(slow.output.code == 0 && slow.took > Duration::from_millis(200) * round_trips, "{:?}", slow.took);
    machine.proxy.delay(Duration::ZERO);
    assert_eq!(machine.proxy.take_counts().connections, connections);
    assert_eq!(ask().output.code, 0);
}

#[test]
fn the_proxy_counts_and_delays_ssh() {
    proxy_counts_and_delays(Transport::Ssh, 1, 5);
}

#[test]
fn the_proxy_counts_and_delays_http() {
    proxy_counts_and_delays(Transport::Http, 1, 2);
}

/// With the first ways git never times out, with the others it fails at once; afterwards it works again.
fn ways_hang(transport: Transport, hanging: &[Way], ending: &[Way]) {
    let Some(fleet) = fleet(transport) else { return };
    let machine = &fleet.machines[0];
    let ask = |limit: u64| git(machine, Duration::from_secs(limit), &["ls-remote", "origin", "refs/heads/main"]);
    for way in hanging {
        machine.proxy.set(*way);
        let ended = ask(2);
        assert!(!ended.by_itself, "{way:?}: {}", ended.output);
    }
    for way in ending {
        machine.proxy.set(*way);
        let ended = ask(20);
        assert!(ended.by_itself && ended.output.code == 128, "{way:?}: {}", ended.output);
    }
    machine.proxy.cut();
    machine.proxy.set(Way::Forward);
    assert_eq!(ask(20).output.code, 0);
}

#[test]
fn the_proxy_hangs_http() {
    let hanging = [
        Way::NoAnswer,
        Way::Silent,
        Way::HoleAfter(300),
        Way::Drip,
        Way::HeaderOnly,
        Way::EndlessHeader,
        Way::EndlessAnswer,
    ];
    ways_hang(Transport::Http, &hanging, &[Way::Refuse, Way::Drop, Way::CutAfter(100)]);
}

#[test]
fn the_proxy_hangs_ssh() {
    let hanging = [Way::NoAnswer, Way::Silent, Way::HoleAfter(3000), Way::EndlessBanner];
    ways_hang(Transport::Ssh, &hanging, &[Way::Refuse, Way::Drop, Way::CutAfter(3000)]);
}

#[test]
fn the_proxy_hangs_https_and_git() {
    let Some(fleet) = fleet(Transport::Http) else { return };
    let machine = &fleet.machines[0];
    for (scheme, way) in [("https", Way::HalfHandshake), ("git", Way::Silent)] {
        machine.go_to(&format!("{scheme}://127.0.0.1:{}/hub.git", machine.proxy.port));
        machine.proxy.set(way);
        assert!(!git(machine, Duration::from_secs(2), &["ls-remote", "origin"]).by_itself, "{scheme}");
    }
}

/// `set` returns once the change is complete: the first connection after it is treated the new way.
#[test]
fn a_proxy_changes_at_once() {
    let Some(fleet) = fleet(Transport::Http) else { return };
    let machine = &fleet.machines[0];
    for _ in 0..20 {
        for way in [Way::Refuse, Way::Forward, Way::Drop, Way::Forward] {
            machine.proxy.set(way);
            let began = Instant::now();
            let ended = git(machine, Duration::from_secs(20), &["ls-remote", "origin"]);
            assert_eq!(ended.output.code == 0, way == Way::Forward, "{way:?} after {:?}", began.elapsed());
        }
    }
}

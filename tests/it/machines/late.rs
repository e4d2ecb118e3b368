//! Pushes that arrive after their sender timed out do not block a task.

use std::time::Duration;

use super::servers::Transport;
use super::{Fleet, Plan};
use crate::sandbox::eventually;

/// The server takes six seconds for a push while the file `slow` exists.
fn fleet(transport: Transport, timeout: &'static str) -> Option<Fleet> {
    let fleet = (Plan { tasks: 1, timeout, ..Plan::of(transport) }).fleet()?;
    let [slow, asked] = ["slow", "asked"].map(|name| fleet.sandbox.outside(name).display().to_string());
    fleet.hook("pre-receive", Some(&format!("cat > /dev/null\n[ -e '{slow}' ] || exit 0\n: > '{asked}'\nsleep 6")));
    Some(fleet)
}

/// The first machine times out on a claim, which arrives nevertheless.
fn give_up(fleet: &Fleet) {
    let slow = fleet.sandbox.outside("slow");
    std::fs::write(&slow, "").unwrap();
    let ended = fleet.machines[0].within(Duration::from_secs(30), &["next", "--claim", "--as", "builder"]);
    assert!(ended.by_itself && ended.output.code == 6, "{}", ended.output);
    assert_eq!(fleet.claims(), Vec::<String>::new(), "the push has not arrived yet");
    eventually("the push arrives", || fleet.claims() == ["t-0"]);
    std::fs::remove_file(slow).unwrap();
}

fn a_late_push_blocks_nobody(transport: Transport) {
    // Its own worker, another worker of the same clone, and another machine after any command of the first.
    std::thread::scope(|scope| {
        for (machine, worker) in [(0, "builder"), (0, "builder-2"), (1, "builder-3")] {
            scope.spawn(move || a_late_push_does_not_block(transport, machine, worker));
        }
    });
}

fn a_late_push_does_not_block(transport: Transport, machine: usize, worker: &str) {
    let Some(fleet) = fleet(transport, "2s") else { return };
    give_up(&fleet);
    if machine == 1 {
        drop(fleet.machines[0].ralph(&["claims", "ls"]));
        assert_eq!(fleet.claims(), Vec::<String>::new(), "the next command of its clone removes it");
    }
    // Two seconds may be too short for a busy machine; a person would retry as well.
    let mut said = String::new();
    for _ in 0..5 {
        let output = fleet.machines[machine].ralph(&["next", "--claim", "--as", worker]);
        if output.code == 0 && fleet.machines[machine].state("t-0") == "Doing" {
            return;
        }
        said = output.to_string();
    }
    panic!("{worker} on {} cannot claim it: {said}", fleet.machines[machine].name);
}

#[test]
fn a_late_push_blocks_nobody_over_ssh() {
    a_late_push_blocks_nobody(Transport::Ssh);
}

#[test]
fn a_late_push_blocks_nobody_over_http() {
    a_late_push_blocks_nobody(Transport::Http);
}

/// ralph is killed while it waits: git ends with it, and the claim that arrives is removed.
#[test]
fn a_push_that_outlives_its_ralph_blocks_nobody() {
    let Some(fleet) = fleet(Transport::Ssh, "20s") else { return };
    let [one, two] = &fleet.machines[..] else { unreachable!() };
    let slow = fleet.sandbox.outside("slow");
    std::fs::write(&slow, "").unwrap();
    let mut command = one.command(&["next", "--claim", "--as", "builder"]);
    let mut ralph = super::processes::Bound::start(&mut command);
    eventually("the server has been asked", || fleet.sandbox.outside("asked").exists());
    ralph.0.kill().unwrap();
    ralph.0.wait().unwrap();
    assert_eq!(super::processes::left_at(&one.home), Vec::<String>::new(), "git ends with ralph");
    eventually("the push arrives", || fleet.claims() == ["t-0"]);
    std::fs::remove_file(slow).unwrap();
    drop(one.ralph(&["claims", "ls"]));
    assert_eq!(fleet.claims(), Vec::<String>::new());
    two.ralph(&["next", "--claim", "--as", "builder"]).ok();
    assert_eq!(fleet.claims(), ["t-0"]);
}

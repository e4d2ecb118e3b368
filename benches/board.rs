//! How long a frame of the terminal board takes, beside one of an empty board on the same machine at the same time.
//!
//!     cargo bench --bench board              10,000 tasks
//!     cargo bench --bench board -- 100000    another number
//!
//! Each frame follows a key, as on a terminal: down, to the next column, to the end, to the top.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ralph::app::{Options, Workspace};
use ralph::tui::Frames;

const RALPH: &str = env!("CARGO_BIN_EXE_ralph");
const FRAMES: usize = 400;
/// A frame at sixty in a second.
const BAR: Duration = Duration::from_millis(16);

fn main() {
    let tasks: usize = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    board(folder.path(), tasks);
    let ws = Workspace::open(&Options { dir: folder.path().to_owned(), ..Options::default() }).unwrap();
    for (width, height) in [(80, 24), (120, 40), (300, 90)] {
        let begun = Instant::now();
        let mut full = Frames::new(Some(&ws), width, height).unwrap();
        let read = begun.elapsed();
        let mut empty = Frames::new(None, width, height).unwrap();
        let (mut drawn, mut floor) = (Vec::new(), Vec::new());
        for (at, key) in "jljGlkggjj".chars().cycle().take(FRAMES).enumerate() {
            full.press(key);
            drawn.push(full.draw());
            empty.press(if at % 2 == 0 { 'j' } else { 'k' });
            floor.push(empty.draw());
        }
        let ((median, worst), (base, _)) = (middle(&mut drawn), middle(&mut floor));
        println!(
            "{tasks} tasks, {width}×{height}: a frame takes {:.2} ms, at worst {:.2} ms, {:.1} × an empty one; read in {:.0} ms",
            ms(median),
            ms(worst),
            median.as_secs_f64() / base.as_secs_f64(),
            ms(read)
        );
        assert!(median < BAR, "a frame takes {} ms", ms(median));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The median, and the last of a hundred.
fn middle(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Every state has some, each with a title, labels and blockers of its own.
fn board(root: &Path, tasks: usize) {
    const STATES: [&str; 6] = ["Backlog", "Research Needed", "Ready for Plan", "Plan in Review", "In Review", "Done"];
    run(Command::new("git").args(["init", "-q", "-b", "main"]), root);
    run(Command::new(RALPH).arg("init"), root);
    let line = |n: usize| {
        let blocker =
            if n > 10 && n.is_multiple_of(3) { format!(",\"blocked_by\":[\"r{}\"]", n - 7) } else { String::new() };
        format!(
            "{{\"ref\":\"r{n}\",\"title\":\"Task number {n} with a title that takes two lines of a card 日本\",\"state\":\"{}\",\
             \"priority\":\"P{}\",\"estimate\":\"S\",\"labels\":[\"area-{}\",\"bug\"]{blocker}}}\n",
            STATES[n % 6],
            n % 4,
            n % 17
        )
    };
    std::fs::write(root.join("tasks.jsonl"), (0..tasks).map(line).collect::<String>()).unwrap();
    run(Command::new(RALPH).args(["task", "add", "--from", "tasks.jsonl"]), root);
}

fn run(command: &mut Command, root: &Path) {
    for (name, value) in [("NAME", "b"), ("EMAIL", "b@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.current_dir(root).env("HOME", root).env("RALPH_WORKER", "b").output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

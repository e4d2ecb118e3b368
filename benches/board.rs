//! Measures how long a frame of the terminal board takes, compared with a frame of an empty board on the same machine.
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
use ratatui::crossterm::event::KeyCode::{self, Char, Enter};

const RALPH: &str = env!("CARGO_BIN_EXE_ralph");
const FRAMES: usize = 400;
/// The time of one frame at 60 frames per second.
const BAR: Duration = Duration::from_millis(16);

fn main() {
    let tasks: usize = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    board(folder.path(), tasks);
    let ws = Workspace::open(&Options { dir: folder.path().to_owned(), ..Options::default() }).unwrap();
    for size in [(80, 24), (120, 40), (300, 90)] {
        let begun = Instant::now();
        drop(Frames::new(Some(&ws), size.0, size.1));
        println!("{tasks} tasks, {}×{}, read in {:.0} ms", size.0, size.1, ms(begun.elapsed()));
        measure(&ws, size, "board", &[], "jljGlkggjj");
        measure(&ws, size, "graph", &[Char('/'), Char('h'), Char('u'), Char('b'), Enter, Char('g')], "jjGkgg");
        measure(&ws, size, "long page", &[Char('/'), Char('s'), Char('a'), Char('g'), Char('a'), Enter], "jjG jkgg");
    }
}

/// Measures frames of the screen that `opening` leads to, each after another key, compared with those of an empty board.
fn measure(ws: &Workspace, (width, height): (u16, u16), what: &str, opening: &[KeyCode], keys: &str) {
    let mut full = Frames::new(Some(ws), width, height);
    let mut empty = Frames::new(None, width, height);
    opening.iter().for_each(|key| full.press(*key));
    full.rest();
    let first = full.draw();
    let (mut drawn, mut floor) = (Vec::new(), Vec::new());
    for (at, key) in keys.chars().cycle().take(FRAMES).enumerate() {
        full.press(Char(key));
        drawn.push(full.draw());
        empty.press(Char(if at % 2 == 0 { 'j' } else { 'k' }));
        floor.push(empty.draw());
    }
    let ((median, worst), (base, _)) = (middle(&mut drawn), middle(&mut floor));
    println!(
        "  {what}: a frame takes {:.2} ms, one of a hundred {:.2} ms, the first {:.2} ms; {:.1} × an empty one",
        ms(median),
        ms(worst),
        ms(first),
        median.as_secs_f64() / base.as_secs_f64(),
    );
    assert!(worst < BAR, "a frame of the {what} takes {} ms", ms(worst));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The median and the 99th percentile.
fn middle(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Fills every state with tasks, each with its own title and labels, many with blockers. One task blocks forty others; one has
/// a description of a megabyte, half of it without a space.
fn board(root: &Path, tasks: usize) {
    const STATES: [&str; 6] = ["Backlog", "Research Needed", "Ready for Plan", "Plan in Review", "In Review", "Done"];
    run(Command::new("git").args(["init", "-q", "-b", "main"]), root);
    run(Command::new(RALPH).arg("init"), root);
    let line = |n: usize| {
        let blocker = match n {
            0..=10 => String::new(),
            11..=50 => ",\"blocked_by\":[\"hub\"]".to_owned(),
            _ if n.is_multiple_of(3) => format!(",\"blocked_by\":[\"r{}\"]", n - 7),
            _ => String::new(),
        };
        format!(
            "{{\"ref\":\"r{n}\",\"title\":\"Task number {n} with a title that takes two lines of a card 日本\",\"state\":\"{}\",\
             \"priority\":\"P{}\",\"estimate\":\"S\",\"labels\":[\"area-{}\",\"bug\"]{blocker}}}\n",
            STATES[n % 6],
            n % 4,
            n % 17
        )
    };
    let hub = "{\"ref\":\"hub\",\"title\":\"The hub\"}\n".to_owned();
    let text = format!("{} {}", "word ".repeat(100_000), "x".repeat(500_000));
    let saga = format!("{{\"title\":\"The saga\",\"description\":\"{text}\"}}\n");
    let lines: String = [hub, saga].into_iter().chain((0..tasks).map(line)).collect();
    std::fs::write(root.join("tasks.jsonl"), lines).unwrap();
    run(Command::new(RALPH).args(["task", "add", "--from", "tasks.jsonl"]), root);
}

fn run(command: &mut Command, root: &Path) {
    for (name, value) in [("NAME", "b"), ("EMAIL", "b@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.current_dir(root).env("HOME", root).env("RALPH_WORKER", "b").output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

//! The page in a real Chromium: scripts in tests/browser, each with its own board.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::ralph_of;
use crate::sandbox::{RALPH, Sandbox, finish};
use crate::team::Squad;

/// The folder of the packages, once they are installed.
fn packages() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let done = Command::new(root.join("tests/browser/setup")).status().unwrap();
        assert!(done.success(), "tests/browser/setup failed");
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("browser")
    })
}

/// A board with this many tasks; the first ten are at the top of the backlog.
fn board(count: usize) -> Sandbox {
    let letters: Vec<char> = "0123456789bcdfghjkmnpqrstvwxyz".chars().collect();
    let sandbox = Sandbox::new();
    for at in 0..count {
        let id: String = [at / 900, at / 30 % 30, at % 30].iter().map(|&place| letters[place]).collect();
        let state = if at < 10 || at % 4 < 2 { "Backlog" } else { ["Research Needed", "Ready for Plan"][at % 2] };
        let priority = if at < 10 { 0 } else { 1 + at % 3 };
        let waits = if at == 1 { "blocked_by = [\"t-b000\"]\n" } else { "" };
        sandbox.write_task(
            &format!("t-b{id}"),
            format!(
                "title = \"Task {at} of many\"\nstate = \"{state}\"\npriority = \"P{priority}\"\nestimate = \"S\"\n\
                 labels = [\"l{}\"]\n{waits}created = 2026-11-01T00:00:00Z\ndescription = \"This is **bold**.\"\n",
                at % 7
            ),
        );
    }
    sandbox
}

fn run(sandbox: &Sandbox, script: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser").join(script);
    let mut node = sandbox.command("node", &sandbox.root());
    node.env_remove("RALPH_NOW").env_remove("RALPH_SEED").env("RALPH_WORKER", "Ada");
    node.env("PACKAGES", packages()).env("RALPH", RALPH).env("REPO", sandbox.root()).arg(path);
    node.env("CTL", sandbox.outside("ctl"));
    // The limit is one second, and two for debug builds.
    node.env("LIMIT", if cfg!(debug_assertions) { "2000" } else { "1000" });
    for name in ["SECONDS", "TABS", "CHROMIUM", "LIMIT"] {
        node.envs(std::env::var(format!("RALPH_BROWSER_{name}")).ok().map(|value| (name, value)));
    }
    let done = finish(&mut node);
    assert_eq!(done.code, 0, "{done}");
    // The measured figures, for a run with `--nocapture`.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), done.stdout.as_bytes());
}

#[test]
fn a_person_works_with_a_thousand_tasks() {
    run(&board(1000), "board.mjs");
}

#[test]
fn every_view_can_be_used_without_seeing_it() {
    let sandbox = board(40);
    assert_eq!(finish(ralph_of(&sandbox).args(["claim", "t-b003", "--as", "bob"])).code, 0);
    run(&sandbox, "axe.mjs");
}

#[test]
fn what_a_task_says_never_runs_and_other_sites_stay_out() {
    run(&board(3), "hostile.mjs");
}

#[test]
fn the_token_that_fits_wins_and_other_tabs_have_it() {
    run(&board(40), "tokens.mjs");
}

#[test]
fn what_is_asked_for_last_is_shown_and_the_keyboard_stays_where_it_was() {
    run(&board(40), "views.mjs");
}

#[test]
fn what_somebody_writes_is_neither_lost_nor_written_over() {
    run(&board(40), "careful.mjs");
}

#[test]
fn a_finger_carries_a_card_to_where_it_aims() {
    run(&board(40), "phone.mjs");
}

#[test]
fn ten_thousand_tasks_are_painted_at_once() {
    run(&board(10_000), "many.mjs");
}

/// `RALPH_BROWSER_SECONDS=600` runs it for ten minutes.
#[test]
fn fifty_tabs_stay_fresh_and_the_server_small() {
    run(&board(200), "tabs.mjs");
}

/// A question, a plan in review with work already begun, and a change of ten thousand lines.
#[test]
fn a_person_decides_without_leaving_the_page() {
    let sandbox = board(3);
    let root = sandbox.root();
    std::fs::write(root.join(".ralph/config.toml"), "format = 1\n[review]\nmode = \"interactive\"\n").unwrap();
    std::fs::create_dir_all(root.join("thoughts/shared/plans")).unwrap();
    std::fs::write(root.join("thoughts/shared/plans/p.md"), "# The plan\n\nDo it.\n").unwrap();
    let plan = "[artifacts]\nplan = \"thoughts/shared/plans/p.md\"\n";
    sandbox.write_task("t-plan", format!("title = \"A plan\"\nstate = \"Plan in Review\"\n{plan}"));
    sandbox.write_task("t-big", format!("title = \"Much\"\nstate = \"In Review\"\n{plan}"));
    sandbox.write_task("t-ask", "title = \"Keep invoices\"\nstate = \"Ready for Plan\"\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    for (id, file, text) in [
        ("t-plan", "src/a.rs", "// one\nlet sum = a + b; // \"two\"\nreturn 3;\n".to_owned()),
        ("t-big", "src/big.rs", (0..10_000).map(|line| format!("let x{line} = \"{line}\";\n")).collect()),
    ] {
        assert_eq!(finish(ralph_of(&sandbox).args(["worktree", "add", id])).code, 0);
        let worktree = root.join(format!("worktrees/{id}"));
        std::fs::create_dir_all(worktree.join("src")).unwrap();
        std::fs::write(worktree.join(file), text).unwrap();
        assert_eq!(sandbox.git_in(&worktree, &["add", "-A"]).code, 0);
        assert_eq!(sandbox.git_in(&worktree, &["commit", "-q", "-m", "work"]).code, 0);
    }
    let ask = ["ask", "t-ask", "How long?", "--option", "1 year", "--option", "10 years", "--recommend", "10 years"];
    assert_eq!(finish(ralph_of(&sandbox).args(["claim", "t-ask", "--as", "builder"])).code, 0);
    assert_eq!(finish(ralph_of(&sandbox).args(ask).args(["--as", "builder"])).code, 0);
    run(&sandbox, "review.mjs");
}

/// Starts a team, reads and stops its run, and retries it.
#[test]
fn a_person_starts_stops_and_retries_agents_from_the_page() {
    let squad = Squad::new();
    squad.sandbox.write_task("t-one", "title = \"one\"\nstate = \"Backlog\"\n");
    squad.sandbox.git(&["add", "-A"]);
    squad.sandbox.git(&["commit", "-q", "-m", "board"]);
    squad.behave("one", "triage", "hang");
    run(&squad.sandbox, "runs.mjs");
}

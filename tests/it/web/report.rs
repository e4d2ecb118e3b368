//! The HTML report.

use serde_json::json;

use super::Served;
use crate::sandbox::Sandbox;

const EVIL: &str = "<img src=x onerror=alert(1)></script></style><script>alert(1)</script>";

#[test]
fn a_report_holds_nothing_that_runs() {
    let sandbox = Sandbox::new();
    let one = sandbox.add(&[EVIL, "--label", "<b>", "--body", &format!("{EVIL}\n\n[x](javascript:alert(1))")]);
    let two = sandbox.add(&["Second"]);
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    sandbox.ralph(&["note", &one, EVIL]).ok();
    sandbox.ralph(&["report", "--html", "board.html"]).ok();
    let html = std::fs::read_to_string(sandbox.root().join("board.html")).unwrap();
    for wrong in ["<script", "<img", "href=\"javascript", "</script>", "<b>", " style=", "http://", "src="] {
        let place = html.replace("http://www.w3.org/2000/svg", "");
        let found = place.find(wrong).filter(|_| wrong != "src=");
        assert_eq!(found.map(|at| &place[at.saturating_sub(60)..at + 60]), None, "{wrong}");
    }
    assert_eq!(html.matches("</style>").count(), 1);
    assert!(html.contains("default-src 'none'; style-src 'sha256-"), "nothing but its own style is allowed");
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "the title is shown as it is written");
    for part in ["id=\"board\"", "id=\"dashboard\"", "id=\"graph\"", &format!("id=\"{one}\""), "class=\"chart\""] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn a_report_is_written_where_it_is_asked_for_or_not_at_all() {
    let sandbox = Sandbox::new();
    let refused = sandbox.ralph(&["report", "--html", "nowhere/board.html"]).fails(2);
    assert!(refused.contains("nowhere/board.html"), "{refused}");
    assert!(sandbox.ralph(&["report", "--html", "-"]).ok().starts_with("<!doctype html>"));
    let _ = sandbox.ralph(&["report"]).fails(2);
}

#[test]
#[cfg(unix)]
fn a_report_is_written_into_a_pipe_and_through_a_link_and_leaves_both_there() {
    use crate::sandbox::finish;
    use crate::system::symlink;
    use std::os::unix::fs::FileTypeExt as _;
    let sandbox = Sandbox::new();
    let pipe = sandbox.root().join("pipe");
    finish(std::process::Command::new("mkfifo").arg(&pipe)).ok();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    sandbox.ralph(&["report", "--html", "pipe"]).ok();
    assert!(reader.join().unwrap().starts_with("<!doctype html>"));
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());

    let (link, to) = (sandbox.root().join("link.html"), sandbox.root().join("real.html"));
    std::fs::write(&to, "old").unwrap();
    symlink("real.html", &link).unwrap();
    sandbox.ralph(&["report", "--html", "link.html"]).ok();
    assert!(link.is_symlink() && std::fs::read_to_string(&to).unwrap().starts_with("<!doctype html>"));
    // A link from a clone that leads out of the repository.
    let (link, to) = (sandbox.root().join("out.html"), sandbox.outside("mine.html"));
    std::fs::write(&to, "mine").unwrap();
    symlink(&to, &link).unwrap();
    assert!(sandbox.ralph(&["report", "--html", "out.html"]).fails(4).contains("leads out of the repository"));
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
}

#[test]
fn a_task_whose_file_cannot_be_read_is_named_in_the_report_and_by_the_server() {
    let sandbox = Sandbox::new();
    sandbox.add(&["A task"]);
    sandbox.write_task("t-bad1", "title = \"Fine\"\nstate = <b>\n");
    sandbox.ralph(&["report", "--html", "board.html"]).ok();
    let html = std::fs::read_to_string(sandbox.root().join("board.html")).unwrap();
    assert!(html.contains(".ralph/tasks/t-bad1.toml:2"), "the file and the line");
    assert!(html.contains("1 problem"), "seen at the top");
    let status = Served::new(&sandbox, &[]).get("/api/status").json();
    let problem = &status["problem_list"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&json!(".ralph/tasks/t-bad1.toml"), &json!(2)));
    assert!(problem["message"].as_str().is_some_and(|text| !text.is_empty()), "{status}");
}

#[test]
fn a_report_tells_all_that_the_dashboard_and_a_tasks_page_tell() {
    let sandbox = Sandbox::new();
    let large = sandbox.add(&["Too large", "--estimate", "XL"]);
    let root = sandbox.add(&["In the way"]);
    let waits = sandbox.add(&["Waits"]);
    sandbox.ralph(&["block", &waits, "--on", &root]).ok();
    let asks = sandbox.add(&["Needs somebody"]);
    sandbox.ralph(&["escalate", &asks]).ok();
    sandbox.write_task("t-old1", "title = \"Old\"\nstate = \"Backlog\"\ncreated = 2026-01-01T00:00:00Z\n");
    let done: Vec<String> = ["One", "Two", "Three"].map(|title| sandbox.add(&[title])).into();
    for at in [1, 2, 0] {
        sandbox.ralph(&["done", &done[at], "--force"]).ok();
    }
    let html = sandbox.ralph(&["report", "--html", "-"]).ok();
    let panel = |title: &str| {
        let start = html.find(&format!("<h3>{title}</h3>")).unwrap_or_else(|| panic!("no panel {title}"));
        html[start..].split("</section>").next().unwrap().to_owned()
    };
    for (title, id) in [
        ("Blockers", root.as_str()),
        ("Handed to a person", &asks),
        ("Stuck", "t-old1"),
        ("Too large", &large),
        ("Roles", "analyst"),
    ] {
        assert!(panel(title).contains(id), "{title}: {}", panel(title));
    }
    let sheet = html.split(&format!("<article class=\"sheet\" id=\"{}\"", done[0])).nth(1).unwrap();
    assert!(sheet.split("</article>").next().unwrap().contains("state: Backlog → Done"), "its history");
    let places: Vec<usize> = [0, 2, 1]
        .map(|at: usize| html.find(&format!("href=\"#{}\">{}", done[at], ["One", "Two", "Three"][at])).unwrap())
        .into();
    assert!(places.is_sorted(), "what was finished last comes first, as on the board");
}

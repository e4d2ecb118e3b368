//! The script of the GitHub Action, with a real repository and a fake of GitHub's API for comments.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::fake::http::{Incoming, Outgoing, read_request};
use crate::sandbox::{Output, RALPH, Sandbox, finish};

const BOT: &str = "github-actions[bot]";
const MARKER: &str = "<!-- ralph-board-check -->";

/// The permissions of the token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Writes,
    Reads,
    Nothing,
}

/// Comments by id: author and text.
type Comments = Arc<Mutex<BTreeMap<u64, (String, String)>>>;

/// The comments of pull request 7 of acme/app.
struct Api {
    url: String,
    comments: Comments,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Api {
    fn start(token: Token) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (comments, requests): (Comments, Arc<Mutex<Vec<String>>>) = Default::default();
        let (shared, log) = (Arc::clone(&comments), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), token, &shared, &log);
            }
        });
        Self { url, comments, requests }
    }

    fn put(&self, id: u64, author: &str, body: &str) {
        self.comments.lock().unwrap().insert(id, (author.to_owned(), body.to_owned()));
    }

    /// The ids and texts of the action's own comments.
    fn ours(&self) -> Vec<(u64, String)> {
        let comments = self.comments.lock().unwrap();
        let ours = comments.iter().filter(|(_, (author, _))| author == BOT);
        ours.map(|(id, (_, body))| (*id, body.clone())).collect()
    }
}

fn serve(stream: TcpStream, token: Token, comments: &Comments, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = read_request(&mut reader) {
        log.lock().unwrap().push(format!("{} {}", request.method, request.path));
        let (status, body) = answer(&request, token, &mut comments.lock().unwrap());
        let answer = Outgoing { status, headers: Vec::new(), body: body.to_string() };
        if answer.send(reader.get_mut(), usize::MAX).is_err() || request.wants_close() {
            return;
        }
    }
}

fn answer(request: &Incoming, token: Token, comments: &mut BTreeMap<u64, (String, String)>) -> (u16, Value) {
    assert_eq!(request.header("authorization"), "Bearer s3cret");
    let refused = (403, json!({ "message": "Resource not accessible by integration" }));
    let text = || serde_json::from_str::<Value>(&request.body).unwrap()["body"].as_str().unwrap().to_owned();
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match (request.method.as_str(), path.strip_prefix("/repos/acme/app/issues/")) {
        _ if token == Token::Nothing => refused,
        ("GET", Some("7/comments")) => {
            let page: usize = query.strip_prefix("per_page=100&page=").unwrap().parse().unwrap();
            let shown = |(id, (login, body)): (&u64, &(String, String))| json!({ "id": id, "body": body, "user": { "login": login } });
            (200, comments.iter().skip((page - 1) * 100).take(100).map(shown).collect())
        }
        _ if token == Token::Reads => refused,
        ("POST", Some("7/comments")) => {
            let id = comments.keys().last().map_or(1, |last| last + 1);
            comments.insert(id, (BOT.into(), text()));
            (201, json!({ "id": id }))
        }
        ("PATCH", Some(rest)) => {
            let id: u64 = rest.strip_prefix("comments/").unwrap().parse().unwrap();
            comments.get_mut(&id).unwrap().1 = text();
            (200, json!({ "id": id }))
        }
        other => panic!("{other:?}"),
    }
}

/// A repository with a board on main, and the branch of a pull request checked out.
struct PullRequest {
    sandbox: Sandbox,
    api: Api,
}

impl PullRequest {
    fn new(token: Token) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write_task("a", "title = 'First'\nstate = 'Backlog'\n");
        let pull = Self { sandbox, api: Api::start(token) };
        pull.commit("board");
        pull.sandbox.git(&["switch", "-qc", "change"]);
        pull
    }

    fn commit(&self, message: &str) {
        self.sandbox.git(&["add", "-A"]);
        self.sandbox.git(&["commit", "-qm", message]);
    }

    fn write(&self, id: &str, text: &str) {
        self.sandbox.write_task(id, text);
        self.commit(id);
    }

    fn file(&self, name: &str) -> PathBuf {
        self.sandbox.outside(name)
    }

    fn run(&self, set: &[(&str, &str)]) -> Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/action/check.sh");
        let mut command = self.sandbox.command("bash", &self.sandbox.root());
        let sha = |name: &str| self.sandbox.git(&["rev-parse", name]).trim().to_owned();
        std::fs::create_dir_all(self.file("runner")).unwrap();
        command.arg(script).env("RALPH", RALPH).env("GITHUB_API_URL", &self.api.url).env("GITHUB_TOKEN", "s3cret");
        command.env("GITHUB_REPOSITORY", "acme/app").env("PULL_REQUEST", "7");
        command.env("BASE_SHA", sha("main")).env("HEAD_SHA", sha("change")).env("RUNNER_TEMP", self.file("runner"));
        command.env("GITHUB_OUTPUT", self.file("output")).env("GITHUB_STEP_SUMMARY", self.file("summary"));
        finish(command.envs(set.iter().copied()))
    }

    fn output(&self, key: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.file("output")).unwrap_or_default();
        text.lines().rev().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned)
    }
}

#[test]
fn the_first_run_comments_and_the_next_updates_the_comment() {
    let pull = PullRequest::new(Token::Writes);
    for id in 1..=120 {
        pull.api.put(id, "ada", &format!("{MARKER} I quote the board, comment {id}"));
    }
    pull.write("b", "title = 'Second @ada'\nstate = 'Backlog'\n");
    let said = pull.run(&[]).ok();
    assert!(said.contains("commented on the pull request"), "{said}");
    let [(id, body)] = pull.api.ours().try_into().unwrap();
    assert!(
        body.starts_with(MARKER) && body.contains("| `b` | Second &#64;&#8203;ada | **new** in Backlog |"),
        "{body}"
    );
    assert!(body.contains("No problems found in 2 tasks."), "{body}");

    pull.write("c", "title = 'Third'\n");
    let said = pull.run(&[]).ok();
    assert!(said.contains("updated the comment on the pull request"), "{said}");
    let [(same, body)] = pull.api.ours().try_into().unwrap();
    assert!(same == id && body.contains("2 tasks changed: 2 new") && body.contains("`c`"), "{body}");
    assert_eq!(pull.api.comments.lock().unwrap().len(), 121, "other people's comments are unchanged");
}

#[test]
fn a_broken_board_fails_the_job_and_names_file_and_line() {
    let pull = PullRequest::new(Token::Writes);
    pull.write("b", "title = 'Second'\nstate = 'Nowhere'\n");
    pull.write("c", "title = 'Third\n");
    pull.write("a", "title = 'First'\nstate = 'In Review'\n");
    let output = pull.run(&[]);
    assert_eq!(output.code, 1, "{output}");
    for expected in [
        "error .ralph/tasks/b.toml:2:9: ",
        "error .ralph/tasks/c.toml:1:",
        "a moved from Backlog to In Review, which the workflow does not allow",
        "::error title=bad-file,file=.ralph/tasks/b.toml,line=2::",
        "::error title=illegal-move,file=.ralph/tasks/a.toml,line=2::",
        "::error::the board has problems: 3 tasks checked at ",
    ] {
        assert!(output.stdout.contains(expected), "{expected}\n{output}");
    }
    let [(_, body)] = pull.api.ours().try_into().unwrap();
    assert!(body.contains("3 errors in 3 tasks") && body.contains(".ralph/tasks/b.toml&#58;&#8203;2"), "{body}");
    assert_eq!((pull.output("errors").as_deref(), pull.output("warnings").as_deref()), (Some("3"), Some("0")));
    assert!(pull.output("report").is_some(), "the report is written for a broken board too");
    pull.run(&[("FAIL_ON", "never")]).ok();
}

#[test]
fn a_token_that_may_not_write_does_not_fail_the_job() {
    for (token, problem) in [
        (Token::Reads, "::notice::the pull request could not be commented: the token may not do that (HTTP 403)"),
        (
            Token::Nothing,
            "::notice::the comments of the pull request could not be read: the token may not do that (HTTP 403)",
        ),
    ] {
        let pull = PullRequest::new(token);
        pull.write("b", "title = 'Second'\n");
        let said = pull.run(&[]).ok();
        assert!(said.contains(problem), "{said}");
        assert_eq!(pull.api.ours(), []);
    }
    let pull = PullRequest::new(Token::Writes);
    pull.write("b", "title = 'Second'\n");
    let said = pull.run(&[("GITHUB_API_URL", "http://127.0.0.1:9")]).ok();
    assert!(said.contains("::warning::the comments of the pull request could not be read: curl: "), "{said}");
}

#[test]
fn summary_and_report_are_written_where_github_looks_for_them() {
    let pull = PullRequest::new(Token::Writes);
    pull.write("b", "title = 'Second'\n");
    pull.run(&[]).ok();
    let summary = std::fs::read_to_string(pull.file("summary")).unwrap();
    assert!(summary.contains("### Board\n\n1 task changed: 1 new\n"), "{summary}");
    let report = std::fs::read_to_string(pull.output("report").unwrap()).unwrap();
    assert!(report.contains("<html") && report.contains("Second"));
    let pull = PullRequest::new(Token::Writes);
    pull.write("b", "title = 'Second'\n");
    pull.run(&[("REPORT", "false"), ("COMMENT", "false")]).ok();
    assert_eq!((pull.output("report"), pull.api.requests.lock().unwrap().len()), (None, 0));
}

#[test]
fn warnings_fail_the_job_only_where_it_is_asked_for() {
    let pull = PullRequest::new(Token::Writes);
    pull.sandbox.ralph(&["move", "a", "In Review"]).ok();
    pull.commit("done");
    let said = pull.run(&[]).ok();
    assert!(said.contains("::warning title=outside-workflow,file=.ralph/tasks/a.toml,line=2::Ada moved a"), "{said}");
    assert_eq!(pull.run(&[("FAIL_ON", "warning")]).code, 1);
    let wrong = pull.run(&[("FAIL_ON", "sometimes")]);
    assert!(wrong.code == 1 && wrong.stdout.contains("fail-on must be error, warning or never"), "{wrong}");
}

#[test]
fn a_test_merge_is_compared_with_the_base_that_it_merged() {
    let pull = PullRequest::new(Token::Writes);
    let old = pull.sandbox.git(&["rev-parse", "main"]).trim().to_owned();
    pull.write("b", "title = 'Second'\n");
    pull.sandbox.git(&["switch", "-q", "main"]);
    pull.write("theirs", "title = 'Merged meanwhile'\n");
    pull.sandbox.git(&["switch", "-q", "--detach", "main"]);
    pull.sandbox.git(&["merge", "-q", "--no-ff", "-m", "test merge", "change"]);
    pull.run(&[("BASE_SHA", &old)]).ok();
    let [(_, body)] = pull.api.ours().try_into().unwrap();
    assert!(body.contains("1 task changed: 1 new") && !body.contains("theirs"), "{body}");
}

#[test]
fn a_pull_request_without_changes_of_the_board_gets_no_comment() {
    let pull = PullRequest::new(Token::Writes);
    std::fs::write(pull.sandbox.root().join("code.txt"), "x").unwrap();
    pull.commit("code");
    assert!(pull.run(&[]).ok().contains("the board did not change: no comment"));
    assert_eq!(pull.api.ours(), []);
    pull.api.put(5, BOT, &format!("{MARKER}\nold news"));
    pull.run(&[]).ok();
    assert!(pull.api.ours()[0].1.contains("The board did not change."), "an old comment is updated");
}

#[test]
fn a_repository_without_a_board_is_left_alone() {
    let pull = PullRequest::new(Token::Writes);
    pull.sandbox.git(&["switch", "-q", "--orphan", "change-2"]);
    pull.sandbox.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    pull.sandbox.git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    let said = pull.run(&[("BASE_SHA", ""), ("HEAD_SHA", "")]).ok();
    assert!(said.contains("there is no ralph board in this repository"), "{said}");
}

#[test]
fn titles_cannot_run_workflow_commands() {
    let pull = PullRequest::new(Token::Writes);
    let title = "::add-mask::x\\n::set-output name=report::/etc/passwd";
    for id in ["b", "c"] {
        pull.write(id, &format!("title = \"{title}\"\nstate = 'Backlog'\n"));
    }
    let said = pull.run(&[]).ok();
    assert!(said.contains("have the same title"), "{said}");
    let commands = said.lines().filter(|line| line.trim_start().starts_with("::"));
    let names: Vec<&str> = commands.map(|line| line.trim_start().split(' ').next().unwrap()).collect();
    let [stop, resume, warning] = names.try_into().unwrap();
    assert!(stop.starts_with("::stop-commands::") && warning == "::warning", "{said}");
    assert_eq!(resume, format!("::{}::", stop.strip_prefix("::stop-commands::").unwrap()));
}

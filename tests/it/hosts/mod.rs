//! The real agent hosts with the shipped profiles; only the model is a script (`tests/hosts`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Output, RALPH, Sandbox, finish};

/// A board, a home folder, and one agent host on the PATH.
struct Stage {
    sandbox: Sandbox,
    host: &'static str,
}

/// The folder into which `tests/hosts/setup` installs the hosts.
fn programs() -> PathBuf {
    let cache = || {
        let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        own.or_else(|| Some(std::env::home_dir()?.join(".cache"))).map(|cache| cache.join("ralph-test-hosts"))
    };
    std::env::var_os("RALPH_TEST_HOSTS_DIR").map(PathBuf::from).or_else(cache).unwrap_or_default().join("bin")
}

/// `None` if the host is not installed or not selected; the reason is on stderr.
#[allow(clippy::print_stderr, reason = "a test that is skipped says why")]
fn stage(host: &'static str) -> Option<Stage> {
    let wanted = std::env::var("RALPH_TEST_HOSTS").unwrap_or_else(|_| "claude,codex,gemini,opencode".into());
    let skipped = |why: &str| {
        eprintln!("SKIPPED: {host}: {why}");
        None
    };
    if !wanted.split(',').any(|name| name == host) {
        return skipped("RALPH_TEST_HOSTS leaves it out");
    }
    if !programs().join(host).exists() {
        return skipped("it is not installed; run tests/hosts/setup");
    }
    if !ralph::app::can_confine() {
        return skipped("this kernel has no Landlock");
    }
    let sandbox = Sandbox::new();
    let stage = Stage { sandbox, host };
    stage.prepare();
    Some(stage)
}

impl Stage {
    fn prepare(&self) {
        let (root, home) = (self.sandbox.root(), self.sandbox.home());
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(root.join("src/main.rs"), "fn main() { println!(\"hello\"); }\n");
        write(home.join(".gitconfig"), "[user]\nname = Anna\nemail = anna@example.org\n");
        let model = if self.host == "opencode" { "model = \"anthropic/claude-sonnet-4-5\"\n" } else { "" };
        write(
            home.join(".config/ralph/config.toml"),
            &format!("[agent]\nprofile = {:?}\n{model}backoff = \"0s\"\n", self.host),
        );
        let provider = "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
                        base_url = \"http://127.0.0.1:1/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n";
        write(home.join(".codex/config.toml"), provider);
        write(home.join(".gemini/settings.json"), "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n");
        self.sandbox.git(&["init", "-q", "--bare", &self.remote().display().to_string()]);
        self.sandbox.git(&["remote", "add", "origin", &self.remote().display().to_string()]);
        self.commit();
    }

    fn remote(&self) -> PathBuf {
        self.sandbox.outside("remote.git")
    }

    fn commit(&self) {
        self.sandbox.git(&["add", "-A"]);
        self.sandbox.git(&["commit", "-q", "-m", "base"]);
    }

    /// A command that runs with the scripted model and without this machine's environment.
    fn alone(&self, scenario: &str, keys: Keys, program: &[&str]) -> Command {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/alone");
        let mut command = Command::new(here);
        let ralph = Path::new(RALPH).parent().unwrap();
        let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", programs().display(), ralph.display());
        command.arg(scenario).arg(self.sandbox.outside("")).args(program).current_dir(self.sandbox.root());
        command
            .env_clear()
            .env("HOME", self.sandbox.home())
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm");
        for name in [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
        ] {
            command.env(name, "1");
        }
        if keys == Keys::Set {
            command.envs(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"].map(|name| (name, "scripted")));
        }
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, scenario: &str, program: &[&str]) -> Output {
        finish(&mut self.alone(scenario, Keys::Set, program))
    }

    fn states(&self) -> Vec<(String, String)> {
        let all = self.sandbox.ralph(&["task", "ls", "--all", "--json"]).json();
        let text = |task: &Value, key: &str| task[key].as_str().unwrap().to_owned();
        all.as_array().unwrap().iter().map(|task| (text(task, "title"), text(task, "state"))).collect()
    }

    /// The outcomes of the runs, oldest first.
    fn outcomes(&self) -> Vec<String> {
        let runs = self.sandbox.ralph(&["runs", "ls", "--json"]).json();
        runs.as_array().unwrap().iter().rev().map(|run| run["outcome"].as_str().unwrap().to_owned()).collect()
    }

    /// Asserts that the main worktree, the task file and the remote are unchanged.
    fn is_untouched(&self, task: &str, log: &str) {
        let root = self.sandbox.root();
        assert!(!root.join("outside.txt").exists(), "{log}");
        let code = std::fs::read_to_string(root.join("src/main.rs")).unwrap();
        assert!(code.contains("hello"), "{log}");
        assert!(self.sandbox.read_task(task).contains("title = "), "{log}");
        assert_eq!(self.sandbox.git_in(&self.remote(), &["branch", "--list"]).ok(), "", "{log}");
    }

    /// The log of the model, for the message of a failed test.
    fn model(&self) -> String {
        std::fs::read_to_string(self.sandbox.outside("model.jsonl")).unwrap_or_default()
    }

    fn main(&self) -> String {
        self.sandbox.git(&["rev-parse", "main"])
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Set,
    /// The host is not logged in.
    Missing,
}

/// From Backlog to Done with the shipped profile, in the sandbox.
fn carries_a_task_to_done(host: &'static str) {
    let Some(stage) = stage(host) else { return };
    stage.sandbox.add(&["Say goodbye too", "--estimate", "S"]);
    stage.commit();
    let said = stage.run("honest", &["ralph", "team", "--ready"]);
    assert_eq!(stage.states(), [("Say goodbye too".into(), "Done".into())], "{said}\n{}", stage.model());
    assert_eq!(said.code, 0, "{said}");
    let runs = stage.sandbox.ralph(&["runs", "ls", "--json"]).json();
    let agents: Vec<&Value> = runs.as_array().unwrap().iter().filter(|run| !run["host"].is_null()).collect();
    assert!(agents.len() >= 4, "{runs:#}");
    receipts_equal_what_the_model_said(&stage, &agents);
    for run in agents {
        assert_eq!((&run["confined"], &run["outcome"]), (&true.into(), &"done".into()), "{run:#}");
        assert!(run["session"].is_string() && run["usage"]["output_tokens"].as_u64() > Some(0), "{run:#}");
        let shown = stage.sandbox.ralph(&["runs", "show", run["id"].as_str().unwrap()]).ok();
        assert!(shown.contains("ralph move"), "each tool call is shown: {shown}");
    }
}

/// The model charges 10 tokens in and 5 out for each answer. Some hosts also ask it for titles, and not all of them
/// count those answers.
fn receipts_equal_what_the_model_said(stage: &Stage, runs: &[&Value]) {
    let sum = |key: &str| runs.iter().map(|run| run["usage"][key].as_u64().unwrap()).sum::<u64>();
    let log = stage.model();
    let aside = log.lines().filter(|line| line.contains("\"aside\"")).count() as u64;
    let answers = log.lines().count() as u64 - aside;
    let used = (sum("input_tokens") + sum("cached_tokens"), sum("output_tokens"));
    let charged = [answers, answers + aside].map(|count| (10 * count, 5 * count));
    assert!(charged.contains(&used), "{}: {used:?}, the model charged {charged:?}\n{runs:#?}", stage.host);
    let costs = stage.sandbox.ralph(&["costs", "--json"]).json();
    assert_eq!(costs["total"]["output_tokens"], used.1);
    assert_eq!((&costs["total"]["runs"], &costs["merged"]["tasks"]), (&runs.len().into(), &1.into()), "{costs:#}");
    let known = ["claude", "opencode"].contains(&stage.host);
    assert_eq!(costs["total"]["cost_usd"].is_number(), known, "two programs know the price of this model: {costs:#}");
}

/// The agent cannot change main, the board's files, or anything outside its worktree.
fn is_kept_in(host: &'static str) {
    let Some(stage) = stage(host) else { return };
    let research = stage.sandbox.add(&["Greet by name", "--state", "Research Needed"]);
    let planned = planned(&stage, "Greet in Czech");
    stage.commit();
    let before = stage.main();
    for (role, task) in [("analyst", &research), ("builder", &planned)] {
        let said = stage.run("bad", &["ralph", "worker", role, "--once"]);
        let log = format!("{role}: {said}\n{}", stage.model());
        assert_eq!(stage.main(), before, "{log}");
        stage.is_untouched(task, &log);
        let root = stage.sandbox.root();
        assert!(!root.join("evil").exists(), "{log}");
        assert!(!stage.sandbox.home().join("evil.txt").exists(), "{log}");
        let config = std::fs::read_to_string(stage.sandbox.home().join(".config/ralph/config.toml")).unwrap();
        assert!(!config.contains("x = 1"), "{log}");
        assert!(!stage.sandbox.read_task(task).contains("Done"), "{log}");
        let notes = stage.sandbox.ralph(&["task", "show", task, "--json"]).json()["notes"].to_string();
        assert!(!notes.contains("It was me."), "{notes}");
    }
}

/// The host is not logged in: its message is shown, and no task moves.
fn not_logged_in_moves_nothing(host: &'static str) {
    let Some(stage) = stage(host) else { return };
    for title in ["One", "Two", "Three"] {
        stage.sandbox.add(&[title, "--estimate", "S"]);
    }
    stage.commit();
    let before = stage.states();
    let said = finish(&mut stage.alone("honest", Keys::Missing, &["ralph", "team", "--ready"]));
    assert_eq!(stage.states(), before, "{said}");
    assert_eq!(said.code, 4, "{said}");
    assert!(said.stderr.contains("is unavailable: "), "{said}");
}

/// A run that timed out, and one that resumes its session.
fn goes_on_after_a_cut(host: &'static str) {
    let Some(stage) = stage(host) else { return };
    stage.sandbox.add(&["One"]);
    stage.commit();
    let script = "ralph worker analyst --once --config agent.timeout=15s; ralph worker analyst --once";
    let said = stage.run("cut", &["sh", "-c", script]);
    let log = format!("{said}\n{}", stage.model());
    assert_eq!(stage.outcomes(), ["timed-out", "done"], "{log}");
    assert_eq!(stage.states(), [("One".into(), "Research Needed".into())], "{log}");
    let runs = stage.sandbox.ralph(&["runs", "ls", "--json"]).json();
    assert!(runs[1]["session"].is_string(), "{runs:#}");
    assert_eq!(runs[0]["resumed"], runs[1]["session"], "{runs:#}");
}

/// The host crashes during the work: the run is repeated once, then the task is handed to a person and its claim ends.
fn dies_in_the_middle(host: &'static str) {
    let Some(stage) = stage(host) else { return };
    let id = planned(&stage, "One");
    stage.commit();
    let said = stage.run("crash", &["ralph", "worker", "builder", "--max", "4", "--config", "agent.retries=1"]);
    let log = format!("{said}\n{}", stage.model());
    assert_eq!(stage.outcomes(), ["failed", "failed"], "{log}");
    assert_eq!(stage.states(), [("One".into(), "Human Needed".into())], "{log}");
    let claim = stage.sandbox.ralph(&["task", "show", &id, "--json"]).json()["claim"].clone();
    assert!(claim.is_null(), "{claim}");
}

macro_rules! with_each_host {
    ($($name:ident),+) => {$(
        mod $name {
            #[test]
            fn carries_a_task_from_backlog_to_done() {
                super::carries_a_task_to_done(stringify!($name));
            }

            #[test]
            fn cannot_write_outside_its_worktree_or_on_main() {
                super::is_kept_in(stringify!($name));
            }

            #[test]
            fn goes_on_with_a_session_that_was_cut_off() {
                super::goes_on_after_a_cut(stringify!($name));
            }

            #[test]
            fn that_dies_in_the_middle_is_tried_again_and_then_a_person_is_called() {
                super::dies_in_the_middle(stringify!($name));
            }

            #[test]
            fn that_is_not_logged_in_leaves_every_task_where_it_was() {
                super::not_logged_in_moves_nothing(stringify!($name));
            }
        }
    )+};
}

with_each_host!(claude, codex, gemini, opencode);

/// The host reports the reset time to the minute, so this takes up to a minute.
#[test]
fn a_usage_limit_parks_the_work_until_the_time_that_the_program_says_and_then_it_goes_on() {
    let Some(stage) = stage("codex") else { return };
    stage.sandbox.add(&["One"]);
    stage.commit();
    let said = stage.run("limited", &["ralph", "worker", "analyst", "--max", "2"]);
    assert!(said.stdout.contains("paused until") && said.stdout.contains("usage limit"), "{said}");
    assert_eq!(stage.states(), [("One".into(), "Research Needed".into())], "{said}\n{}", stage.model());
    assert_eq!(stage.outcomes(), ["limited", "done"], "{said}");
}

#[test]
fn an_agent_is_tested_without_a_task() {
    let Some(stage) = stage("claude") else { return };
    let said = stage.run("honest", &["ralph", "agent", "test"]);
    assert!(said.stdout.contains("claude can work here"), "{said}\n{}", stage.model());
    let said = stage.run("quiet", &["ralph", "agent", "test", "--json"]);
    let tested: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&tested["passed"], said.code), (&false.into(), 1), "{said}");
    let listed = stage.run("quiet", &["ralph", "agent", "ls"]);
    assert!(listed.stdout.contains("the profile of this board"), "{listed}");
}

/// A planned task in progress without a claim.
fn planned(stage: &Stage, title: &str) -> String {
    let id = stage.sandbox.add(&[title, "--state", "Ready for Plan"]);
    stage.sandbox.ralph(&["claim", &id, "--for", "plan", "--as", "builder-9"]).ok();
    stage.sandbox.hand_in("plan", &id);
    stage.sandbox.ralph(&["move", &id, "In Progress", "--force"]).ok();
    id
}

#[test]
fn two_sub_agents_of_one_kind_have_a_task_each() {
    let Some(stage) = stage("claude") else { return };
    stage.sandbox.ralph(&["setup", "claude"]).ok();
    let ids = [planned(&stage, "Greet in Czech"), planned(&stage, "Greet in French")];
    stage.commit();
    let before = stage.main();
    let words = ["claude", "-p", "Go", "--permission-mode", "dontAsk", "--allowedTools", "Bash", "Agent", "Task"];
    let said = stage.run("pair", &words);
    let owner = |id: &String| stage.sandbox.ralph(&["task", "show", id, "--json"]).json()["claim"]["by"].to_string();
    let mut owners: Vec<String> = ids.iter().map(owner).collect();
    owners.sort();
    assert_eq!(owners, ["\"builder\"", "\"builder-2\""], "{said}\n{}", stage.model());
    assert_eq!(stage.main(), before, "{said}\n{}", stage.model());
    ids.iter().for_each(|id| stage.is_untouched(id, &stage.model()));
}

#[test]
fn a_main_session_that_takes_a_task_is_held_to_it() {
    for role in ["builder", "analyst"] {
        let Some(stage) = stage("claude") else { return };
        stage.sandbox.ralph(&["setup", "claude"]).ok();
        let id = match role {
            "builder" => planned(&stage, "Greet in Czech"),
            _ => stage.sandbox.add(&["Greet by name", "--state", "Research Needed"]),
        };
        stage.commit();
        let before = stage.main();
        let prompt = format!("Go, {role}");
        let said =
            stage.run("session", &["claude", "-p", &prompt, "--permission-mode", "dontAsk", "--allowedTools", "Bash"]);
        let log = format!("{role}: {said}\n{}", stage.model());
        stage.is_untouched(&id, &log);
        assert_eq!(stage.main(), before, "{log}");
    }
}

#[test]
fn a_session_that_takes_a_task_through_mcp_is_held_to_it() {
    let Some(stage) = stage("claude") else { return };
    stage.sandbox.ralph(&["setup", "claude"]).ok();
    let id = planned(&stage, "Greet in Czech");
    stage.commit();
    let before = stage.main();
    let words = ["claude", "-p", "Go", "--permission-mode", "dontAsk", "--allowedTools", "Bash", "mcp__ralph"];
    let said = stage.run("mcp", &[&words[..], &["--mcp-config", ".mcp.json"]].concat());
    assert!(stage.model().contains(&format!("{id} is being implemented")), "{said}\n{}", stage.model());
    assert_eq!(stage.main(), before, "{said}\n{}", stage.model());
    stage.is_untouched(&id, &stage.model());
}

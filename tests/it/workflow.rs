//! The workflow on the command line: custom workflows, the dashboard, and the reasons for refusals.

use insta::assert_snapshot;
use proptest::prelude::*;
use ralph::board::{Actor, Board, Change, Claim, ClaimEffect, Evidence, Goal, Request, Rules, Scope};
use ralph::task::{StateName, Task, TaskId, Worker};
use ralph::workflow::{Intent, Workflow};

use crate::sandbox::Sandbox;

const PLAIN: &str = r#"
format = 1
name = "plain"
initial = "Todo"

[[state]]
name = "Todo"
claim = "Doing"

[[state]]
name = "Doing"
lock = true
release = "Todo"

[[state]]
name = "Done"
terminal = true
"#;

#[test]
fn a_plain_board_works_with_all_commands() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.root().join(".ralph/workflow.toml"), PLAIN).unwrap();
    let id = sandbox.add(&["x"]);
    let state = || sandbox.ralph(&["task", "show", &id, "--json"]).json()["state"].as_str().unwrap().to_owned();
    assert_eq!(state(), "Todo");
    sandbox.ralph(&["claim", &id]).ok();
    assert_eq!(state(), "Doing");
    sandbox.ralph(&["release", &id]).ok();
    assert_eq!(state(), "Todo");
    sandbox.ralph(&["move", &id, "doing"]).ok();
    sandbox.ralph(&["done", &id]).ok();
    assert_eq!(state(), "Done");
    for command in [
        &["status"][..],
        &["workflow"],
        &["task", "ls", "--all"],
        &["task", "tree", "--all"],
        &["position", &id],
        &["group", &id],
        &["why", &id],
        &["doctor"],
    ] {
        sandbox.ralph(command).ok();
    }
    assert!(sandbox.ralph(&["escalate", &id]).fails(1).contains("is already Done"));
    assert!(sandbox.ralph(&["next", "--role", "analyst"]).fails(2).contains("this board has none"));
    let second = sandbox.add(&["y"]);
    let chosen = sandbox.ralph(&["next", "--claim", "--json"]).json();
    assert_eq!((&chosen["task"], &chosen["state"]), (&second.as_str().into(), &"Doing".into()));
}

#[test]
fn a_workflow_that_could_not_work_says_where() {
    let sandbox = Sandbox::new();
    let path = sandbox.root().join(".ralph/workflow.toml");
    std::fs::write(&path, PLAIN.replace("terminal = true", "")).unwrap();
    assert!(sandbox.ralph(&["task", "add", "x"]).fails(4).contains("workflow.toml:1:1: no state is terminal"));
    std::fs::write(&path, PLAIN.replace("lock = true", "lock = = true")).unwrap();
    assert!(sandbox.ralph(&["task", "add", "x"]).fails(4).contains("workflow.toml:12:8"));
}

#[test]
fn the_table_is_printed() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.ralph(&["workflow"]));
    assert_snapshot!(sandbox.ralph(&["workflow", "--mermaid"]));
    let json = sandbox.ralph(&["workflow", "--json"]).json();
    assert_eq!((json["states"].as_array().unwrap().len(), json["commands"].as_array().unwrap().len()), (11, 8));
}

#[test]
fn refusals_say_what_would_be_allowed() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    assert_snapshot!(sandbox.ralph(&["move", &id, "in-review", "--for", "triage", "--as", "analyst"]));
    assert_snapshot!(sandbox.ralph(&["move", &id, "__COMPLETE__", "--for", "triage", "--as", "analyst"]));
    assert_snapshot!(sandbox.ralph(&["move", &id, "research", "--for", "plan", "--as", "analyst"]));
    let said = sandbox.ralph(&["move", &id, "in-review"]).ok();
    assert!(said.contains("outside the workflow: skips Research Needed, Ready for Plan, Plan in Review"), "{said}");
    assert_eq!(
        sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["verb"],
        "move (outside the workflow: skips Research Needed, Ready for Plan, Plan in Review)"
    );
}

#[test]
fn a_state_changed_in_the_editor_is_a_move_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\nstate = 'Backlog'\n");
    let edit = |to: &str| {
        let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
        crate::sandbox::finish(command.args(["task", "edit", "a"]).env("EDITOR", format!("sed -i \"s/Backlog/{to}/\"")))
    };
    sandbox.write_task("b", "title = 'y'\nstate = 'Backlog'\n");
    sandbox.ralph(&["block", "a", "--on", "b"]).ok();
    assert!(edit("In Progress").fails(1).contains("a is blocked by b"));
    edit("Research Needed").ok();
}

#[test]
fn why_shows_the_chain_down_to_what_can_never_be_done() {
    let sandbox = Sandbox::new();
    for (id, text) in [
        ("a", "title = 'Release'\nblocked_by = ['b', 'gone']\n"),
        ("b", "title = 'Test'\nblocked_by = ['c', 'd']\n"),
        ("c", "title = 'Build'\nstate = 'In Progress'\nowner = 'builder'\n"),
        ("d", "title = 'Ask'\nstate = 'Human Needed'\n"),
        ("e", "title = 'Notes'\nparent = 'a'\n"),
    ] {
        sandbox.write_task(id, text);
    }
    assert_snapshot!(sandbox.ralph(&["why", "a"]));
    assert_snapshot!(sandbox.ralph(&["why", "e"]));
    assert!(sandbox.ralph(&["why", "c"]).ok().contains("ready for builder"));
}

#[test]
fn the_dashboard_counts_and_names() {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.ralph(&["init", "--demo"]).ok();
    sandbox.ralph(&["next", "--claim", "--as", "integrator"]).ok();
    sandbox.ralph(&["move", "--as", "integrator", "--for", "merge", &claimed(&sandbox), "__COMPLETE__"]).ok();
    sandbox.ralph(&["next", "--claim", "--as", "analyst"]).ok();
    assert_snapshot!(sandbox.ralph(&["status"]));
    let json = sandbox.ralph(&["status", "--json"]).json();
    assert_eq!((&json["claims"][0]["by"], json["throughput"][13].as_u64()), (&"analyst".into(), Some(3)));
    assert!(sandbox.ralph(&["status", "--markdown"]).ok().starts_with("# repo\n\n| state |"));
    let late = crate::sandbox::finish(
        sandbox
            .command(crate::sandbox::RALPH, &sandbox.root())
            .args(["status", "--json"])
            .env("RALPH_NOW", "2026-11-19T12:00:00Z"),
    );
    let stuck = late.json()["stuck"].as_array().unwrap().clone();
    assert!(
        !stuck.is_empty() && stuck.iter().all(|s| s["critical"] == false && s["hours"].as_i64().unwrap() >= 48),
        "{stuck:?}"
    );
}

fn claimed(sandbox: &Sandbox) -> String {
    sandbox.ralph(&["status", "--json"]).json()["claims"][0]["task"].as_str().unwrap().to_owned()
}

#[test]
fn children_are_brought_on_and_the_others_say_why_they_stay() {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", "title = 'P'\nkind = 'epic'\n");
    for (id, state) in
        [("a", "Backlog"), ("b", "Research in Progress"), ("c", "Human Needed"), ("d", "Done"), ("e", "Ready for Plan")]
    {
        sandbox.write_task(id, format!("title = '{id}'\nparent = 'p'\nstate = '{state}'\n"));
    }
    assert_snapshot!(sandbox.ralph(&["advance", "p", "--children", "--to", "ready-for-plan"]));
    assert!(
        sandbox.ralph(&["advance", "p", "--children", "--to", "in-progress"]).fails(1).contains("is not a gate state")
    );
}

#[derive(Debug, Clone)]
enum Act {
    Claim { who: usize, task: usize, command: usize, force: bool },
    Go { who: usize, task: usize, command: Option<usize>, to: usize },
    Intend { who: usize, task: usize, command: usize, intent: usize },
    Release { task: usize },
    Die { task: usize },
    Reap,
}

const WHO: [&str; 7] = ["analyst", "analyst-2", "builder", "builder-2", "validator", "integrator", "anna"];
const INTENTS: [Intent; 5] = [Intent::Lock, Intent::Complete, Intent::Escalate, Intent::Close, Intent::Cancel];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..7_usize, 0..6_usize, 0..8_usize, any::<bool>()).prop_map(|(who, task, command, force)| Act::Claim { who, task, command, force }),
        3 => (0..7_usize, 0..6_usize, proptest::option::of(0..8_usize), 0..11_usize).prop_map(|(who, task, command, to)| Act::Go { who, task, command, to }),
        4 => (0..7_usize, 0..6_usize, 0..8_usize, 0..5_usize).prop_map(|(who, task, command, intent)| Act::Intend { who, task, command, intent }),
        1 => (0..6_usize).prop_map(|task| Act::Release { task }),
        1 => (0..6_usize).prop_map(|task| Act::Die { task }),
        1 => Just(Act::Reap),
    ];
    proptest::collection::vec(act, 1..60)
}

/// A board in memory, with the effects that commands would have on disk.
struct Model {
    tasks: Vec<Task>,
    claims: std::collections::BTreeMap<TaskId, Claim>,
    rules: Rules,
}

impl Model {
    /// Two atomic siblings, two plain ones, and two tasks without a parent, one of them blocked by the other.
    fn new() -> Self {
        let id = |text: &str| TaskId::new(text).unwrap();
        let mut tasks: Vec<Task> = ["a0", "a1", "b0", "b1", "c0", "c1"]
            .iter()
            .map(|name| Task::new(id(name), *name, StateName::new("Backlog")))
            .collect();
        for (at, parent) in [(0, "p"), (1, "p"), (2, "q"), (3, "q")] {
            tasks[at].parent = Some(id(parent));
        }
        tasks[5].blocked_by = vec![id("c0")];
        for (name, atomic) in [("p", true), ("q", false)] {
            let mut parent = Task::new(id(name), name, StateName::new("Backlog"));
            parent.atomic = atomic;
            tasks.push(parent);
        }
        Self { tasks, claims: std::collections::BTreeMap::new(), rules: Rules::of(Workflow::builtin()) }
    }

    fn board(&self) -> Board {
        Board::new(self.tasks.clone(), Vec::new(), Vec::new()).with_claims(self.claims.clone())
    }

    fn apply(&mut self, changes: &[Change]) -> Vec<(String, String)> {
        let mut moved = Vec::new();
        for change in changes {
            let Change::Set { task, key, new, .. } = change else { continue };
            let task = self.tasks.iter_mut().find(|t| t.id == *task).unwrap();
            match (key.as_str(), new) {
                ("state", Some(state)) => {
                    moved.push((task.state.to_string(), state.to_string()));
                    task.state = StateName::new(state.to_string());
                }
                ("owner", owner) => task.owner = owner.as_ref().map(|o| Worker::new(o.to_string()).unwrap()),
                ("review.rejections", Some(count)) => task.rejections = count.to_string().parse().unwrap(),
                _ => {}
            }
        }
        moved
    }

    fn actor(who: usize) -> Actor {
        Actor::named(Worker::new(WHO[who]).unwrap())
    }

    fn act(&mut self, act: &Act) {
        let board = self.board();
        let flow = self.rules.flow.clone();
        let command = |at: usize| flow.commands()[at].name.clone();
        match act {
            Act::Claim { who, task, command: at, force } => {
                let (id, actor, name) = (self.tasks[*task].id.clone(), Self::actor(*who), command(*at));
                let ask = Request { force: *force, ..Request::claim(&id, Some(&name)) };
                if let Ok(grant) = board.admit(&self.rules, &actor, &ask) {
                    self.apply(&grant.changes);
                    self.claims.insert(id, claim(actor.worker, grant.command));
                }
            }
            Act::Go { who, task, command: at, to } => {
                let to = Goal::State(flow.states()[*to].name.clone());
                let name = at.map(command);
                self.judge(*who, *task, to, name.as_deref());
            }
            Act::Intend { who, task, command: at, intent } => {
                self.judge(*who, *task, Goal::Intent(INTENTS[*intent]), Some(&command(*at)));
            }
            Act::Release { task } => {
                let id = self.tasks[*task].id.clone();
                if let Some(claim) = self.claims.remove(&id) {
                    let back = board.give_back(&id, Some(&claim.worker), &self.rules).unwrap();
                    self.apply(&back.changes);
                }
            }
            Act::Die { task } => {
                if let Some(claim) = self.claims.get_mut(&self.tasks[*task].id) {
                    claim.live = false;
                }
            }
            Act::Reap => {
                for back in board.orphans(&self.rules) {
                    self.claims.remove(&back.task);
                    self.apply(&back.changes);
                }
            }
        }
    }

    fn judge(&mut self, who: usize, task: usize, to: Goal, command: Option<&str>) {
        let (id, actor) = (self.tasks[task].id.clone(), Self::actor(who));
        let verdict = {
            let request = Request { command, evidence: Evidence::Assumed, ..Request::new(&id, to) };
            self.board().admit(&self.rules, &actor, &request)
        };
        let Ok(verdict) = verdict else { return };
        let flow = self.rules.flow.clone();
        let (from, to) = (verdict.from.clone(), verdict.to.clone());
        let by_table = flow.commands().iter().any(|command| command.leads(&from, &to, self.rules.mode, &flow));
        let third = to == StateName::new("Human Needed");
        let state = flow.state(self.tasks[task].kind, &from).unwrap();
        let cancels = !state.terminal && flow.canceling() == Some(&to);
        let by_person = state.leave.contains(&to) || (cancels && self.rules.role_of(&actor.worker).is_none());
        let departs = verdict.departure.is_some();
        assert!(
            !departs || self.rules.role_of(&actor.worker).is_none(),
            "{from} → {to}: only a person may leave the workflow"
        );
        assert!(from == to || by_table || by_person || third || departs, "{from} → {to} is not in the table");
        if verdict.claim == ClaimEffect::Ended {
            self.claims.remove(&id);
        }
        self.apply(&verdict.changes);
        if verdict.takes() {
            self.claims.insert(id, claim(actor.worker, verdict.command));
        }
    }

    fn check(&self) {
        let flow = &self.rules.flow;
        let rank = |task: &Task| flow.position(task.kind, &task.state);
        for parent in self.tasks.iter().filter(|t| ["p", "q"].contains(&t.id.as_str())) {
            let state = flow.state(parent.kind, &parent.state).unwrap();
            let children: Vec<&Task> = self.tasks.iter().filter(|t| t.parent.as_ref() == Some(&parent.id)).collect();
            let counted =
                children.iter().filter(|t| t.state.as_str() != "Canceled" && t.state.as_str() != "Human Needed");
            for child in counted.filter(|_| !state.off) {
                assert!(
                    rank(parent) <= rank(child),
                    "{} ({}) is ahead of {} ({})",
                    parent.id,
                    parent.state,
                    child.id,
                    child.state
                );
            }
        }
        let mut per_role: std::collections::BTreeMap<&str, std::collections::BTreeSet<&Worker>> =
            std::collections::BTreeMap::new();
        for claim in self.claims.values().filter(|claim| claim.live) {
            if let Some(role) = self.rules.role_of(&claim.worker) {
                per_role.entry(role).or_default().insert(&claim.worker);
                assert!(
                    self.claims.values().filter(|c| c.live && c.worker == claim.worker).count()
                        <= self.rules.per_worker
                );
            }
        }
        for (role, workers) in per_role {
            assert!(workers.len() <= self.rules.limits[role], "{role}: {workers:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_116), ..ProptestConfig::default() })]

    /// Random commands by random workers follow the workflow, keep one holder and the limits, and keep parents behind
    /// children.
    #[test]
    fn whatever_is_tried_the_rules_hold(acts in acts()) {
        let mut model = Model::new();
        for act in &acts {
            model.act(act);
            model.check();
        }
    }
}

#[test]
fn a_file_without_a_state_moves_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write_task("bare", "title = 'x' # mine\n");
    sandbox.write_task("odd", "title = 'x'\nstate = \"ready-for-plan\"\n");
    sandbox.ralph(&["move", "bare", "research-needed"]).ok();
    assert_eq!(sandbox.read_task("bare"), "title = 'x' # mine\nstate = \"Research Needed\"\n");
    sandbox.ralph(&["claim", "odd", "--as", "builder"]).ok();
    assert!(sandbox.read_task("odd").contains("state = \"Plan in Progress\""));
    sandbox.ralph(&["undo", "--force"]).ok();
    assert!(sandbox.ralph(&["reap"]).stderr.contains("nothing to do"), "no claim remains after the undo");
}

#[test]
fn a_blocked_lock_is_not_taken_up() {
    let sandbox = Sandbox::new();
    sandbox.write_task("x", "title = 'x'\n");
    for (id, state) in [("a", "In Progress"), ("c", "Plan in Progress")] {
        sandbox.write_task(id, format!("title = '{id}'\nstate = '{state}'\nblocked_by = ['x']\n"));
        assert!(sandbox.ralph(&["claim", id, "--as", "builder"]).fails(1).contains("is blocked by x"));
    }
}

#[test]
fn advance_moves_only_whom_its_mover_may() {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", "title = 'P'\nkind = 'epic'\n");
    sandbox.write_task("c", "title = 'C'\nkind = 'epic'\nparent = 'p'\n");
    sandbox.write_task("g", "title = 'G'\nparent = 'c'\n");
    sandbox.write_task("h", "title = 'H'\nparent = 'p'\nestimate = 'XL'\n");
    let said = sandbox.ralph(&["advance", "p", "--children", "--to", "ready-for-plan", "--as", "analyst"]).ok();
    assert!(
        said.contains("c stays: it moves with its own children") && said.contains("h stays: h is of size XL"),
        "{said}"
    );
    sandbox.ralph(&["advance", "p", "--children", "--to", "plan-in-progress", "--force", "--as", "analyst"]).fails(1);
    assert_eq!(sandbox.ralph(&["task", "show", "p", "--json"]).json()["state"], "Backlog");
}

#[test]
fn a_move_into_a_lock_is_a_claim() {
    let sandbox = Sandbox::new();
    for n in 0..5 {
        sandbox.write_task(&format!("t{n}"), "title = 'x'\nstate = 'Ready for Plan'\n");
    }
    for n in 1..=3 {
        sandbox.ralph(&["move", &format!("t{n}"), "__LOCK__", "--for", "plan", "--as", &format!("builder-{n}")]).ok();
    }
    assert!(sandbox.ralph(&["reap"]).stderr.contains("nothing to do"));
    assert_eq!(sandbox.ralph(&["task", "show", "t1", "--json"]).json()["claim"]["by"], "builder-1");
    assert!(
        sandbox
            .ralph(&["move", "t4", "__LOCK__", "--for", "plan", "--as", "builder-4"])
            .fails(3)
            .contains("limit of 3")
    );
    assert!(sandbox.ralph(&["move", "t0", "__BOGUS__", "--as", "builder-1"]).fails(2).contains("__COMPLETE__"));
}

#[test]
fn a_state_changed_in_the_editor_brings_everything_along() {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", "title = 'P'\nkind = 'epic'\nstate = 'Plan in Review'\n");
    sandbox.write_task("c", "title = 'C'\nparent = 'p'\nstate = 'Plan in Review'\n");
    let edit = |script: &str| {
        let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
        crate::sandbox::finish(command.args(["task", "edit", "c"]).env("EDITOR", format!("sed -i \"{script}\"")))
    };
    edit("s/Plan in Review/Ready for Plan/").ok();
    assert!(sandbox.read_task("c").contains("needs-iteration") && sandbox.read_task("c").contains("rejections = 1"));
    assert_eq!(sandbox.ralph(&["task", "show", "p", "--json"]).json()["state"], "Ready for Plan");
    edit("s/Ready for Plan/Plan in Progress/").ok();
    let shown = sandbox.ralph(&["task", "show", "c", "--json"]).json();
    assert_eq!((&shown["owner"], &shown["claim"]["by"]), (&"Ada".into(), &"Ada".into()), "as a move into the lock");
}

#[test]
fn a_new_child_is_never_behind_its_parent_unseen() {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", "title = 'P'\nkind = 'epic'\nstate = 'Done'\n");
    sandbox.write_task("q", "title = 'Q'\nkind = 'epic'\nstate = 'In Review'\n");
    sandbox.write_task("o", "title = 'O'\nstate = 'Plan in Review'\n");
    sandbox.add(&["x", "--parent", "p"]);
    sandbox.ralph(&["task", "set", "o", "parent=q"]).ok();
    let state = |id: &str| sandbox.ralph(&["task", "show", id, "--json"]).json()["state"].as_str().unwrap().to_owned();
    assert_eq!((state("p"), state("q")), ("Backlog".into(), "Plan in Review".into()));
}

#[test]
fn why_stays_short_however_the_chains_cross() {
    let sandbox = Sandbox::new();
    for layer in 0..25 {
        for side in ["a", "b"] {
            let on = if layer < 24 { format!("['a{0}', 'b{0}']", layer + 1) } else { "[]".into() };
            sandbox.write_task(&format!("{side}{layer}"), format!("title = 'x'\nblocked_by = {on}\n"));
        }
    }
    assert!(sandbox.ralph(&["why", "a0"]).ok().lines().count() < 120);
}

#[test]
fn a_large_task_is_neither_skipped_past_research_nor_stuck_after_it() {
    let sandbox = Sandbox::new();
    sandbox.write_task("m", "title = 'M'\nestimate = 'M'\n");
    assert!(
        sandbox
            .ralph(&["move", "m", "ready-for-plan", "--for", "triage", "--as", "analyst"])
            .fails(1)
            .contains("too large")
    );
    sandbox.write_task("n", "title = 'N'\nestimate = 'M'\nstate = 'Research Needed'\n");
    sandbox.ralph(&["claim", "n", "--for", "research", "--force", "--as", "anna"]).ok();
    sandbox.ralph(&["move", "n", "__COMPLETE__", "--for", "research", "--as", "anna"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--role", "builder", "--json"]).json()["task"], "n");
    sandbox.write_task("r", "title = 'R'\nstate = 'Research Needed'\n");
    assert!(
        sandbox
            .ralph(&["move", "r", "__COMPLETE__", "--as", "analyst"])
            .fails(1)
            .contains("not claimed by you for research")
    );
}

#[test]
fn nothing_to_do_is_success_and_an_unknown_state_is_mended_by_a_person() {
    let sandbox = Sandbox::new();
    sandbox.write_task("d", "title = 'D'\nstate = 'Done'\n");
    let again = sandbox.ralph(&["done", "d"]);
    assert!(again.code == 0 && again.stderr.contains("nothing to do: d is already Done"), "{again}");
    sandbox.write_task("u", "title = 'U'\nstate = 'Weird'\n");
    sandbox.ralph(&["move", "u", "backlog"]).ok();
    assert_eq!(sandbox.ralph(&["task", "show", "u", "--json"]).json()["state"], "Backlog");
}

fn claim(worker: Worker, command: Option<String>) -> Claim {
    let now = jiff::Timestamp::UNIX_EPOCH;
    Claim {
        worker,
        host: "h".into(),
        since: now,
        until: now,
        held: false,
        token: "t".into(),
        command,
        paths: Scope::default(),
        live: true,
        remote: None,
        renewing: None,
        session: None,
        published: None,
        leased: None,
        foreign: false,
    }
}

/// The variables were read from the shells of the real hosts.
#[test]
fn whoever_runs_inside_an_agent_host_is_held_to_the_workflow_whatever_its_name() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    for variable in ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"] {
        let ralph = |args: &[&str]| {
            let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
            crate::sandbox::finish(command.args(args).env(variable, "1"))
        };
        let said = ralph(&["move", &id, "In Progress", "--force"]).fails(2);
        assert!(said.contains("--for COMMAND is required") && said.contains(variable), "{said}");
        ralph(&["move", &id, "In Progress", "--for", "triage", "--as", "Grace"]).fails(1);
        ralph(&["note", &id, "a note is free"]).ok();
        ralph(&["move", &id, "Research Needed", "--for", "triage"]).ok();
        sandbox.ralph(&["move", &id, "Backlog"]).ok();
    }
}

#[test]
fn a_person_closes_a_task_with_unmerged_commits_only_knowingly() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-x7", "title = 'x'\n");
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    sandbox.ralph(&["worktree", "add", "t-x7"]).ok();
    let worktree = sandbox.root().join("worktrees/t-x7");
    sandbox.ralph(&["done", "t-x7"]).ok();
    sandbox.ralph(&["move", "t-x7", "Backlog"]).ok();
    assert_eq!(sandbox.git_in(&worktree, &["commit", "-q", "--allow-empty", "-m", "work"]).code, 0);
    let said = sandbox.ralph(&["done", "t-x7"]).fails(1);
    assert!(said.contains("feature/t-x7 has 1 commit that main lacks"), "{said}");
    assert!(said.contains("ralph merge t-x7") && said.contains("--force"), "{said}");
    sandbox.ralph(&["cancel", "t-x7"]).ok();
    sandbox.ralph(&["done", "t-x7", "--force"]).ok();
}

#[test]
fn next_without_a_role_is_the_best_task_for_a_person() {
    let sandbox = Sandbox::new();
    sandbox.add(&["Somebody's", "--priority", "P0", "--owner", "grace"]);
    let urgent = sandbox.add(&["Urgent", "--priority", "P0"]);
    let mine = sandbox.add(&["Mine", "--priority", "P3", "--owner", "Ada"]);
    let next = || sandbox.ralph(&["next", "--json"]).json()["task"].as_str().unwrap().to_owned();
    assert_eq!(next(), mine);
    sandbox.ralph(&["done", &mine]).ok();
    assert_eq!(next(), urgent);
    sandbox.ralph(&["next", "--claim"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--json"]).json()["resume"], true);
}

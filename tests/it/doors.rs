//! One set of rules for every interface: a move has the same answer and the same effect, however it is requested.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use ralph::app::{self, Failure, Options, Reach, SaveAsk, TakenFor, Workspace};
use ralph::board::{Claim, Scope};
use ralph::task::{TaskId, Worker};
use serde_json::json;

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

const WHO: [&str; 7] = ["anna", "bob", "analyst", "builder", "builder-2", "validator", "integrator"];
const IDS: [&str; 6] = ["t-a", "t-b", "t-c", "t-d", "t-e", "t-p"];
const STATES: [&str; 11] = [
    "Backlog",
    "Research Needed",
    "Research in Progress",
    "Ready for Plan",
    "Plan in Progress",
    "Plan in Review",
    "In Progress",
    "In Review",
    "Done",
    "Canceled",
    "Human Needed",
];
const COMMANDS: [&str; 8] = ["triage", "split", "research", "plan", "review", "implement", "pr", "merge"];

/// One generated task: state, estimate, documents, owner, holder.
#[derive(Debug, Clone)]
struct Drawn {
    state: usize,
    estimate: Option<usize>,
    planned: bool,
    owner: Option<usize>,
    holder: Option<(usize, usize)>,
    blocked: bool,
}

#[derive(Debug, Clone)]
struct Scene {
    tasks: Vec<Drawn>,
    atomic: bool,
    who: usize,
    task: usize,
    to: usize,
    command: Option<usize>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let rare = |range: std::ops::Range<usize>| proptest::option::weighted(0.25, range);
    let holder = proptest::option::weighted(0.2, (0..WHO.len(), 0..COMMANDS.len()));
    (0..STATES.len(), rare(0..5), any::<bool>(), rare(0..WHO.len()), holder, proptest::bool::weighted(0.2)).prop_map(
        |(state, estimate, planned, owner, holder, blocked)| Drawn { state, estimate, planned, owner, holder, blocked },
    )
}

fn scene() -> impl Strategy<Value = Scene> {
    let tasks = proptest::collection::vec(drawn(), IDS.len());
    let command = proptest::option::weighted(0.6, 0..COMMANDS.len());
    (tasks, any::<bool>(), 0..WHO.len(), 0..IDS.len(), 0..STATES.len(), command)
        .prop_map(|(tasks, atomic, who, task, to, command)| Scene { tasks, atomic, who, task, to, command })
}

impl Scene {
    fn who(&self) -> &'static str {
        WHO[self.who]
    }

    fn id(&self) -> TaskId {
        TaskId::new(IDS[self.task]).unwrap()
    }

    fn to(&self) -> &'static str {
        STATES[self.to]
    }

    fn command(&self) -> Option<&'static str> {
        self.command.map(|at| COMMANDS[at])
    }

    /// Replaces the board with the generated one.
    fn lay_out(&self, root: &Path) {
        for folder in [".ralph/tasks", ".ralph/journal", ".ralph/notes", ".git/ralph"] {
            let _ = std::fs::remove_dir_all(root.join(folder));
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::create_dir_all(root.join(".git/ralph/claims")).unwrap();
        // All plans change the file that every other implementation has claimed.
        std::fs::write(root.join("p.md"), "# Plan\n## Phase 1: It\n- **files**: `src/a.rs`\n").unwrap();
        for (at, (id, task)) in IDS.iter().zip(&self.tasks).enumerate() {
            std::fs::write(root.join(format!(".ralph/tasks/{id}.toml")), self.file(at, task)).unwrap();
            if let Some((holder, command)) = task.holder {
                let claim = claim(WHO[holder], COMMANDS[command]);
                std::fs::write(root.join(format!(".git/ralph/claims/{id}.toml")), claim).unwrap();
            }
        }
    }

    fn file(&self, at: usize, task: &Drawn) -> String {
        let mut text = format!("title = \"{}\"\nstate = \"{}\"\n", IDS[at], STATES[task.state]);
        let epic = at == IDS.len() - 1;
        match epic {
            true => text.push_str(&format!("kind = \"epic\"\natomic = {}\n", self.atomic)),
            // The first three tasks are children of the epic.
            false if at < 3 => text.push_str("parent = \"t-p\"\n"),
            false => {}
        }
        if let Some(size) = task.estimate {
            text.push_str(&format!("estimate = \"{}\"\n", ["XS", "S", "M", "L", "XL"][size]));
        }
        let owner = task.holder.map(|(holder, _)| holder).or(task.owner);
        if let Some(owner) = owner {
            text.push_str(&format!("owner = \"{}\"\n", WHO[owner]));
        }
        if task.blocked && !epic {
            text.push_str(&format!("blocked_by = [\"{}\"]\n", IDS[(at + 1) % (IDS.len() - 1)]));
        }
        if task.planned {
            text.push_str("\n[artifacts]\nresearch = \"r.md\"\nplan = \"p.md\"\nreview = \"d-critique.md\"\n");
        }
        text
    }
}

fn claim(worker: &str, command: &str) -> String {
    let now = jiff::Timestamp::now();
    let claim = Claim {
        worker: Worker::new(worker).unwrap(),
        host: "h".into(),
        since: now,
        until: now.checked_add(jiff::SignedDuration::from_hours(1)).unwrap(),
        held: false,
        token: "t".into(),
        command: Some(command.into()),
        paths: Scope::new((command == "implement").then_some("src/")),
        live: true,
        remote: None,
        renewing: None,
        session: None,
        published: None,
        leased: None,
        foreign: false,
    };
    toml::to_string(&claim).unwrap()
}

/// The outcome of a request: the code of the refusal, or all task files and claims afterwards.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused(String),
    Board(BTreeMap<String, String>),
}

fn outcome<T>(root: &Path, result: Result<T, Failure>) -> Outcome {
    match result {
        Ok(_) => Outcome::Board(board(root)),
        Err(failure) => Outcome::Refused(failure.code.to_string()),
    }
}

/// Each task's file, and the worker and command of its claim.
fn board(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for id in IDS {
        let text = std::fs::read_to_string(root.join(format!(".ralph/tasks/{id}.toml"))).unwrap();
        let parsed: toml::Table = text.parse().unwrap();
        found.insert(id.to_owned(), format!("{parsed:?}"));
        let claim = std::fs::read_to_string(root.join(format!(".git/ralph/claims/{id}.toml"))).ok();
        let claim = claim.map(|text| text.parse::<toml::Table>().unwrap());
        let shown = claim.map(|claim| format!("{:?} for {:?}", claim["worker"], claim.get("command")));
        found.insert(format!("claim on {id}"), shown.unwrap_or_default());
    }
    found
}

/// The repository and the servers, shared by all cases.
struct House {
    sandbox: Sandbox,
    plain: RefCell<Client>,
    hero: RefCell<BTreeMap<&'static str, Client>>,
}

impl House {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let plain = Client::start(&sandbox, &[]);
        Self { sandbox, plain: RefCell::new(plain), hero: RefCell::default() }
    }

    fn open(&self, who: &str) -> Workspace {
        let options = Options { dir: self.sandbox.root(), worker: Some(who.into()), ..Options::default() };
        Workspace::open(&options).unwrap()
    }

    /// One interface, on a freshly written board.
    fn through(&self, scene: &Scene, door: impl FnOnce(&Workspace, &TaskId) -> Outcome) -> Outcome {
        scene.lay_out(&self.sandbox.root());
        door(&self.open(scene.who()), &scene.id())
    }

    fn moved(&self, scene: &Scene) -> Outcome {
        self.through(scene, |ws, id| {
            outcome(&self.sandbox.root(), app::move_task(ws, id, scene.to(), scene.command(), false))
        })
    }

    /// The same move by a process of this kind.
    fn moved_by(&self, scene: &Scene, program: TakenFor) -> Outcome {
        scene.lay_out(&self.sandbox.root());
        let mut ws = self.open(scene.who());
        ws.take_for(program);
        outcome(&self.sandbox.root(), app::move_task(&ws, &scene.id(), scene.to(), scene.command(), false))
    }

    fn saved(&self, scene: &Scene) -> Outcome {
        let ask =
            SaveAsk { to: Some(scene.to().into()), command: scene.command().map(str::to_owned), ..SaveAsk::default() };
        self.through(scene, |ws, id| outcome(&self.sandbox.root(), app::save(ws, id, &ask)))
    }

    fn edited(&self, scene: &Scene) -> Outcome {
        self.through(scene, |ws, id| {
            let editing = app::begin_edit(ws, id).unwrap();
            let old = format!("state = \"{}\"", STATES[scene.tasks[scene.task].state]);
            let text = editing.text.replace(&old, &format!("state = \"{}\"", scene.to()));
            outcome(&self.sandbox.root(), app::finish_edit(ws, &editing, &text, app::Doubts::Accept))
        })
    }

    fn claimed(&self, scene: &Scene) -> Outcome {
        self.through(scene, |ws, id| {
            outcome(&self.sandbox.root(), app::claim(ws, id, scene.command(), false, Reach::default()))
        })
    }

    fn called(&self, scene: &Scene) -> Outcome {
        self.through(scene, |_, id| {
            let mut arguments = json!({ "task": id, "state": scene.to(), "as": scene.who() });
            if let Some(command) = scene.command() {
                arguments["command"] = json!(command);
            }
            let (refused, answer) = self.plain.borrow_mut().call("save", arguments);
            let outcome = answered(&self.sandbox.root(), refused, &answer);
            if outcome.has_claim(id) {
                // A session remembers its claims, and the next case has another board.
                self.plain.replace(Client::start(&self.sandbox, &[]));
            }
            outcome
        })
    }

    fn called_as_hero(&self, scene: &Scene) -> Outcome {
        self.through(scene, |_, id| {
            let mut all = self.hero.borrow_mut();
            let client = all
                .entry(scene.who())
                .or_insert_with(|| Client::start(&self.sandbox, &["--profile", "ralph-hero", "--as", scene.who()]));
            let mut arguments = json!({ "number": id, "state": scene.to() });
            if let Some(command) = scene.command() {
                arguments["command"] = json!(command);
            }
            let (refused, answer) = client.call("ralph_hero__update_workflow_state", arguments);
            let outcome = answered(&self.sandbox.root(), refused, &answer);
            if outcome.has_claim(id) {
                all.remove(scene.who());
            }
            outcome
        })
    }

    /// Whether `targets` offers the move.
    fn offers(&self, scene: &Scene) -> bool {
        scene.lay_out(&self.sandbox.root());
        let targets = app::targets(&self.open(scene.who()), &scene.id()).unwrap();
        let target = targets.into_iter().find(|target| target.state.as_str() == scene.to());
        target.is_some_and(|target| target.refused.is_none())
    }
}

impl Outcome {
    fn has_claim(&self, id: &TaskId) -> bool {
        match self {
            Self::Board(board) => board.get(&format!("claim on {id}")).is_some_and(|claim| !claim.is_empty()),
            Self::Refused(_) => false,
        }
    }
}

fn answered(root: &Path, refused: bool, answer: &serde_json::Value) -> Outcome {
    match refused {
        false => Outcome::Board(board(root)),
        // The ralph-hero profile has a text as `error`, and the code next to it.
        true => {
            let code = answer["error"]["code"].as_str().or(answer["code"].as_str());
            Outcome::Refused(code.unwrap_or_default().to_owned())
        }
    }
}

/// The lock state of a command.
fn lock_of(command: &str) -> Option<&'static str> {
    match command {
        "research" => Some("Research in Progress"),
        "plan" => Some("Plan in Progress"),
        "implement" => Some("In Progress"),
        _ => None,
    }
}

#[test]
fn every_door_gives_the_same_verdict_and_the_same_effect() {
    let house = House::new();
    let cases: u32 = std::env::var("RALPH_DOOR_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(250);
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_117),
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&scene(), |scene| {
        let moved = house.moved(&scene);
        prop_assert_eq!(&moved, &house.saved(&scene), "save");
        let program = house.moved_by(&scene, TakenFor::Program);
        prop_assert_eq!(&program, &house.called(&scene), "the tool `save`");
        let hosted = house.moved_by(&scene, TakenFor::Person);
        if !matches!(&hosted, Outcome::Refused(code) if code == "small-enough") {
            prop_assert_eq!(&hosted, &house.called_as_hero(&scene), "update_workflow_state");
        }
        if scene.who > 1 {
            prop_assert_eq!(&moved, &program, "the same rules for a worker on every interface");
        }
        let here = STATES[scene.tasks[scene.task].state];
        if scene.command.is_none() {
            prop_assert_eq!(house.offers(&scene), matches!(moved, Outcome::Board(_)), "targets: {:?}", moved);
            if here != scene.to() {
                prop_assert_eq!(&moved, &house.edited(&scene), "task edit");
            }
        }
        if scene.command().and_then(lock_of) == Some(scene.to()) && (here != scene.to() || scene.who > 1) {
            prop_assert_eq!(&moved, &house.claimed(&scene), "claim");
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

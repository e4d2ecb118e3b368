//! The context of a verb: the board, its settings, the worker, the clock and the random numbers.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::agent::host::running_in;
use crate::app::workspace::drafts::Drafts;
use crate::app::workspace::layers::{Setup, rules};
use crate::app::workspace::past::Past;
use crate::app::workspace::remote::LostMove;
use crate::app::workspace::session::{ClientSession, TakenFor};
use crate::app::workspace::sub_agents;
use crate::app::{Code, Failure, Hint};
use crate::board::{
    Actor, ActorKind, Board, EventKind, Named, RefError, Rules, issue_number, resolve, resolve_exact, unmarked,
};
use crate::config::{OnRule, Settings};
use crate::fs;
use crate::git::Repository;
use crate::store::{Line, Note, Store, TaskFile};
use crate::task::{ParseError, Problem, Task, TaskId, Worker};
use crate::workflow::Workflow;

/// The options for opening a workspace.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory where the search for the board starts.
    pub dir: PathBuf,
    /// `--board`: another repository's board.
    pub board: Option<PathBuf>,
    /// `--as`.
    pub worker: Option<String>,
    /// `--config key=value`.
    pub settings: Vec<String>,
    /// `--at`: the board of another revision.
    pub at: Option<String>,
}

/// An open board, and everything that a verb needs: store, settings, workflow rules, worker, clock and random numbers.
///
/// It caches no tasks of the current board: each read goes to the store, and adds the claims that this clone knows. It
/// collects the problems of the files that were read, and notices for the user, for the face to show at the end.
///
/// A verb takes `lock` first, then reads, then commits through `commit` or `commit_as`. A commit is
/// refused if the worker shows a claim that it has lost; otherwise it renews the worker's leases on the changed tasks.
/// The caller runs [`finish`](Workspace::finish) when the verb is done and no lock is held; it updates remote claims.
///
/// It belongs to one thread, and to one command or one call of a server. With `--at` it reads another revision, and is
/// only for verbs that read.
pub struct Workspace {
    pub store: Store,
    pub settings: Settings,
    pub repository: Repository,
    pub(super) rules: Rules,
    worker: Option<String>,
    at: Option<String>,
    /// The claim that the caller was given, if it is not in the environment.
    proof: RefCell<Option<String>>,
    /// The session that acts if no worker was named.
    pub(in crate::app) session: Option<ClientSession>,
    /// Whether a connected program counts as a person, whatever name it gives; `None` on the command line.
    taken_for: Option<TakenFor>,
    /// The drafts of the sandboxed run that this command belongs to.
    pub(in crate::app) drafts: Option<Drafts>,
    past: OnceCell<Past>,
    rng: RefCell<fastrand::Rng>,
    clock: Cell<Option<Timestamp>>,
    pub(super) problems: RefCell<BTreeSet<Problem>>,
    /// The problems of the board's settings and workflow.
    pub(super) setup: Vec<Problem>,
    /// The settings or the workflow cannot be used at all.
    pub(super) unusable: bool,
    notices: RefCell<Vec<String>>,
    /// The claims on the remote have already been fetched.
    pub(in crate::app) fresh: Cell<bool>,
    /// Tasks that verbs have changed.
    pub(in crate::app) touched: RefCell<BTreeSet<TaskId>>,
    /// The journal lines of this workspace's own verbs.
    pub(in crate::app) own_lines: RefCell<Vec<String>>,
    /// Moves under a claim that another worker had taken by then.
    pub(super) lost: RefCell<Vec<LostMove>>,
    /// This process runs programs on tasks.
    pub(super) runs_programs: Cell<bool>,
    /// The board cannot be pushed, because the remote rejects it or it cannot be merged.
    pub(super) board_kept_back: Cell<bool>,
    options: Options,
}

/// A path below the board's folder, to check whether git ignores it.
pub(in crate::app) const IGNORED_PROBE: &str = ".ralph/tasks/t-x.toml";
pub(in crate::app) const IGNORED_BOARD: &str =
    "git ignores .ralph, so the board cannot be committed: remove the line from .gitignore";

impl Workspace {
    /// Finds the board; fails if there is none.
    pub fn open(options: &Options) -> Result<Self, Failure> {
        let ws = Self::open_repository(options)?;
        if ws.repository.needs_care() {
            ws.complete_forward();
        }
        if ws.store.board_dir().is_dir() {
            ws.tell_of_missing_driver();
            if let Some(drafts) = &ws.drafts {
                drafts.take_in(&ws)?;
            }
            return ws.named_for_sub_agent();
        }
        let message = format!("no board in {}", ws.store.root().display());
        Err(Failure::broken(Code::NoBoard, message).hint(Hint::Init))
    }

    /// Changes the worker name to that of the calling sub-agent, if the host names one.
    fn named_for_sub_agent(mut self) -> Result<Self, Failure> {
        let agent = std::env::var(sub_agents::VARIABLE).ok().filter(|id| sub_agents::is_id(id));
        let (Some(agent), Some(name)) = (agent, self.named()) else { return Ok(self) };
        let worker = Worker::new(name.as_str())?;
        let Some(role) = self.rules.role_of(&worker).map(str::to_owned) else { return Ok(self) };
        let claims = self.claims()?;
        let is_held = |name: &str| claims.values().any(|claim| claim.live && claim.worker.as_str() == name);
        let own = sub_agents::name_for(self.store.local(), &agent, &name, &role, &is_held)?;
        self.worker = Some(own);
        Ok(self)
    }

    /// Opens the repository without requiring a board, for `init`.
    pub(in crate::app) fn open_repository(options: &Options) -> Result<Self, Failure> {
        let start = options.board.as_ref().unwrap_or(&options.dir);
        let start = if start.file_name().is_some_and(|name| name == ".ralph") {
            start.parent().unwrap_or(start)
        } else {
            start
        };
        if options.board.is_none() && !start.is_dir() {
            return Err(Failure::broken(Code::NoBoard, "the current directory no longer exists")
                .hint(Hint::step("change to an existing directory")));
        }
        if options.board.is_some() && !start.is_dir() {
            return Err(Failure::broken(Code::NoBoard, format!("{} is not a folder", start.display())));
        }
        let mut repository = match options.board {
            Some(_) => Repository::at(start)?,
            None => Repository::discover(start)?,
        };
        fs::keep_within(&repository.root)?;
        let local = repository.common.join("ralph");
        let Setup { settings, flow, problems: setup, unusable } =
            Setup::read(&repository.root, &local, &options.settings)?;
        let mut rules = rules(flow.clone(), &settings)?;
        if !settings.text("claims.remote").is_empty() {
            rules.spread = Some(number_of(&repository.common));
        }
        let limit = settings.duration("net.timeout").as_secs().unsigned_abs();
        repository.set_network(Duration::from_secs(limit), settings.text("net.ssh_sharing") == "auto");
        let mistyped = settings.unknown.iter().filter(|problem| problem.hint.is_some());
        let problems = setup.iter().chain(mistyped).cloned().chain(unknown_events(&settings)).collect();
        let store = Store::new(repository.root.clone(), repository.common.join("ralph"), flow);
        let seed = test_switch("RALPH_SEED").and_then(|seed| seed.parse().ok());
        let clock = test_switch("RALPH_NOW").and_then(|now| now.parse().ok());
        Ok(Self {
            store,
            settings,
            repository,
            rules,
            worker: options.worker.clone(),
            at: options.at.clone(),
            proof: RefCell::default(),
            session: None,
            taken_for: None,
            drafts: Drafts::of_environment(),
            past: OnceCell::new(),
            rng: RefCell::new(seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed)),
            clock: Cell::new(clock),
            problems: RefCell::new(problems),
            setup,
            unusable,
            notices: RefCell::default(),
            fresh: Cell::new(false),
            touched: RefCell::default(),
            own_lines: RefCell::default(),
            lost: RefCell::default(),
            runs_programs: Cell::new(false),
            board_kept_back: Cell::new(false),
            options: options.clone(),
        })
    }

    /// Reports that git ignores the board, so that nobody else would get it.
    pub(in crate::app) fn tell_if_ignored(&self) {
        if self.repository.is_ignored(IGNORED_PROBE) {
            self.notice(IGNORED_BOARD.to_owned());
        }
    }

    /// Reports a missing merge driver once per clone: without it, git merges tasks line by line.
    fn tell_of_missing_driver(&self) {
        let told = self.store.local().join("told-of-driver");
        if told.exists()
            || self.repository.merge_driver().is_some()
            || !self.store.root().join(".gitattributes").exists()
        {
            return;
        }
        if fs::make_dir(self.store.local()).is_ok() && fs::replace(&told, b"", false).is_ok() {
            self.notice("this clone has no merge driver for tasks: run `ralph init` to install it".to_owned());
        }
    }

    pub(in crate::app) fn setup_problems(&self) -> &[Problem] {
        &self.setup
    }

    /// Completes an interrupted merge or pull before reading. If that fails, it is reported, and the board is shown as
    /// it is.
    fn complete_forward(&self) {
        if let Err(failure) = self.lock() {
            self.notice(format!("an interrupted merge or pull cannot be completed: {}", failure.message));
        }
    }

    pub fn flow(&self) -> &Workflow {
        self.store.flow()
    }

    /// The rules for moves and claims.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn lease(&self) -> jiff::SignedDuration {
        self.settings.duration("claims.lease")
    }

    /// The acting worker, with the claim that it was given, if any.
    pub fn actor(&self) -> Result<Actor, Failure> {
        let proof = self.proof.borrow().clone().or_else(|| std::env::var("RALPH_CLAIM").ok());
        let kind = match self.taken_for {
            Some(TakenFor::Program) => ActorKind::Program,
            Some(TakenFor::Person) => ActorKind::Hosted,
            None if running_in().is_some() => ActorKind::Program,
            None => ActorKind::Named,
        };
        Ok(Actor { worker: self.me()?, kind, proof: proof.filter(|proof| !proof.is_empty()) })
    }

    /// Sets whether the caller counts as a program or as a person, whatever name it gives.
    pub fn take_for(&mut self, taken_for: TakenFor) {
        self.taken_for = Some(taken_for);
    }

    /// The options that another thread needs to open the same board.
    pub(super) fn options(&self) -> Options {
        Options { dir: self.store.root().to_owned(), worker: self.worker.clone(), ..self.options.clone() }
    }

    /// Sets the name of the acting worker.
    pub(in crate::app) fn act_as(&mut self, name: String) {
        self.worker = Some(name);
    }

    /// Passes the claim that the caller was given, if another worker has claimed the task since: changes are then
    /// refused, because the claim is lost. A claim that merely expired is not passed.
    pub fn bring(&self, id: &TaskId, proof: String) -> Result<(), Failure> {
        let lost = self.claims()?.get(id).is_some_and(|claim| claim.live && claim.proof(id) != proof);
        self.proof.replace(lost.then_some(proof));
        Ok(())
    }

    /// The claim of the caller for a task, if it has one.
    pub fn proof_of(&self, id: &TaskId) -> Result<Option<String>, Failure> {
        let me = self.me()?;
        let claim = self.claims()?.remove(id).filter(|claim| claim.live && claim.is_of(&me));
        Ok(claim.map(|claim| claim.proof(id)))
    }

    pub fn now(&self) -> Timestamp {
        self.clock.get().unwrap_or_else(Timestamp::now)
    }

    pub(in crate::app) fn rng(&self) -> std::cell::RefMut<'_, fastrand::Rng> {
        self.rng.borrow_mut()
    }

    /// The given worker name: `--as`, or else `RALPH_WORKER`.
    pub(in crate::app) fn named(&self) -> Option<String> {
        self.worker.clone().or_else(|| std::env::var("RALPH_WORKER").ok().filter(|name| !name.is_empty()))
    }

    /// The acting worker: `--as`, or else `RALPH_WORKER`, or else git's user.
    pub fn me(&self) -> Result<Worker, Failure> {
        let name = self.named().or_else(|| self.repository.user_name());
        let name = name.ok_or_else(|| Failure::usage(Code::Nobody, "no worker name is set").hint(Hint::SayWho))?;
        Ok(Worker::new(name)?)
    }

    /// The whole board; problems in its files are recorded for the face to show.
    pub fn board(&self) -> Result<Board, Failure> {
        if let Some(past) = self.past()? {
            return Ok(self.remember(past.board.clone()));
        }
        let board = self.with_others(self.store.snapshot()?)?;
        Ok(self.remember(self.with_scopes(board)))
    }

    /// One task with the tasks that it is linked to.
    pub fn around(&self, id: &TaskId) -> Result<Board, Failure> {
        if self.at.is_some() {
            return self.board();
        }
        let board = self.with_others(self.store.around(id)?)?;
        Ok(self.remember(board))
    }

    pub(in crate::app) fn is_past(&self) -> bool {
        self.at.is_some()
    }

    /// The board of `--at`, if one was asked for.
    fn past(&self) -> Result<Option<&Past>, Failure> {
        let Some(revision) = &self.at else { return Ok(None) };
        if self.past.get().is_none() {
            let _ = self.past.set(Past::read(&self.repository, &self.store, revision)?);
        }
        Ok(self.past.get())
    }

    /// The complete file of one task.
    pub(in crate::app) fn file(&self, id: &TaskId) -> Result<TaskFile, Failure> {
        Ok(match self.past()? {
            Some(past) => past.file(&self.store, id)?,
            None => self.store.load(id)?,
        })
    }

    pub(in crate::app) fn notes(&self, id: &TaskId) -> Result<Vec<Note>, Failure> {
        Ok(match self.past()? {
            Some(past) => past.notes(id),
            None => self.store.notes(id)?,
        })
    }

    /// The journal, oldest first.
    pub(in crate::app) fn journal(&self) -> Result<Vec<Line>, Failure> {
        Ok(match self.past()? {
            Some(past) => past.lines.clone(),
            None => self.store.journal()?.0,
        })
    }

    /// One task with all tasks that its move can affect.
    pub fn family(&self, id: &TaskId) -> Result<Board, Failure> {
        let board = self.with_others(self.store.family(id)?)?;
        Ok(self.remember(board))
    }

    /// Like `family`, but also finds links that were just edited by hand, by checking every file.
    pub fn family_by_hand(&self, id: &TaskId) -> Result<Board, Failure> {
        let board = self.with_others(self.store.family_by_hand(id)?)?;
        Ok(self.remember(board))
    }

    fn remember(&self, board: Board) -> Board {
        self.problems.borrow_mut().extend(board.problems().into_iter().cloned());
        board
    }

    /// Problems in the files that were read so far.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.borrow().iter().cloned().collect()
    }

    /// Discards problems that only exist while `act` runs.
    pub(in crate::app) fn without_problems<T>(&self, act: impl FnOnce() -> T) -> T {
        let known = self.problems.borrow().clone();
        let done = act();
        self.problems.replace(known);
        done
    }

    /// Records a message for the person; the verb itself succeeded.
    pub(in crate::app) fn notice(&self, text: impl Into<String>) {
        self.notices.borrow_mut().push(text.into());
    }

    pub fn notices(&self) -> Vec<String> {
        self.notices.borrow().clone()
    }

    /// The id of the task that a person typed. A complete id needs only one disk access.
    pub fn find(&self, typed: &str) -> Result<TaskId, Failure> {
        let prefix = self.settings.text("board.prefix");
        let exact = [typed.trim().to_owned(), format!("{prefix}{}", typed.trim())];
        for id in exact.into_iter().filter_map(|text| TaskId::new(text).ok()) {
            if self.at.is_none() && (self.store.exists(&id) || self.store.is_archived(&id)) {
                return Ok(id);
            }
        }
        self.resolved(typed, resolve)
    }

    /// Finds exactly one task, by its complete id or the number of its issue.
    pub fn find_exact(&self, typed: &str) -> Result<TaskId, Failure> {
        let text = unmarked(typed);
        let whole = TaskId::new(text).ok().filter(|_| self.at.is_none() && text.parse::<u64>().is_err());
        if let Some(id) = whole.filter(|id| self.store.exists(id) || self.store.is_archived(id)) {
            return Ok(id);
        }
        self.resolved(typed, resolve_exact)
    }

    fn resolved(
        &self,
        typed: &str,
        resolve: impl FnOnce(&str, &str, &[Named<'_>]) -> Result<TaskId, RefError>,
    ) -> Result<TaskId, Failure> {
        let board = self.board()?;
        let archived = self.archived_issue(typed, &board)?;
        let archived = archived.iter().map(|task| Named {
            id: &task.id,
            title: &task.title,
            number: task.github.as_ref().map(|link| link.number),
        });
        let tasks = board.tasks().iter().map(|task| Named {
            id: &task.id,
            title: &task.title,
            number: task.github.as_ref().map(|link| link.number),
        });
        let broken = board.broken().iter().map(|broken| Named { id: &broken.id, title: "(unreadable)", number: None });
        let all: Vec<Named<'_>> = tasks.chain(broken).chain(archived).collect();
        Ok(resolve(typed, self.settings.text("board.prefix"), &all)?)
    }

    /// The archived task that mirrors the issue with this number, unless a task on the board does.
    fn archived_issue(&self, typed: &str, board: &Board) -> Result<Option<Task>, Failure> {
        let is = |task: &Task, number: u64| task.github.as_ref().is_some_and(|link| link.number == number);
        let wanted = issue_number(typed).filter(|number| !board.tasks().iter().any(|task| is(task, *number)));
        let Some(number) = wanted.filter(|_| self.at.is_none()) else { return Ok(None) };
        let tasks = self.store.archived_ids()?.into_iter().filter_map(|id| self.store.load_archived(&id).ok());
        Ok(tasks.map(|file| file.task).find(|task| is(task, number)))
    }

    /// For links that are to be removed: their task may not exist any more.
    pub fn find_or_literal(&self, typed: &str) -> Result<TaskId, Failure> {
        self.find(typed).or_else(|failure| TaskId::new(typed.trim()).map_err(|_| failure))
    }

    /// Like `find_or_literal`, for an exact reference.
    pub fn find_exact_or_literal(&self, typed: &str) -> Result<TaskId, Failure> {
        self.find_exact(typed).or_else(|failure| TaskId::new(unmarked(typed)).map_err(|_| failure))
    }

    pub fn find_all(&self, typed: &[String]) -> Result<Vec<TaskId>, Failure> {
        let mut ids = Vec::new();
        for text in typed {
            let id = self.find(text)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }
}

/// The failure for a task that does not exist, or whose file cannot be read.
pub(in crate::app) fn missing(ws: &Workspace, board: &Board, id: &TaskId) -> Failure {
    match board.broken_file(id) {
        Some(problem) => problem.clone().into(),
        None => ws.store.absent(id).into(),
    }
}

/// A number for this clone, which differs between hosts and between clones on one host.
fn number_of(clone: &std::path::Path) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    (crate::os::process::host_name(), clone).hash(&mut hasher);
    hasher.finish()
}

/// Settings of tests for repeatable runs; release builds ignore them.
pub(super) fn test_switch(name: &str) -> Option<String> {
    if cfg!(debug_assertions) { std::env::var(name).ok() } else { None }
}

/// Problems of rules whose event does not exist.
fn unknown_events(settings: &Settings) -> Vec<Problem> {
    let wrong = settings.rules.iter().filter_map(|rule| Some((rule, rule.event.parse::<EventKind>().err()?)));
    let problem = |(rule, error): (&OnRule, ParseError)| Problem {
        line: rule.line,
        ..Problem::whole(rule.source.to_string(), error.to_string()).hint("correct the event of this rule")
    };
    wrong.map(problem).collect()
}

//! The screens besides the board: a task, its graph, the workers, the inbox, problems, a document.

use super::Row;
use super::review::ReviewScreen;
use crate::app::{ClaimLine, Hit, InboxItem, LogLine, MoveView, Review, Run, Shown, TaskView};
use crate::task::{Problem, TaskId};

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there are a handful")]
pub enum Screen {
    Task(TaskScreen),
    Graph(Chain),
    Workers(Workers),
    Inbox(InboxScreen),
    Review(ReviewScreen),
    Problems { at: usize },
    DocumentPage(DocumentPage),
}

/// The screen of a task with all its data.
#[derive(Debug)]
pub struct TaskScreen {
    pub id: TaskId,
    /// `None` until it is read.
    pub page: Option<Box<TaskPage>>,
    pub scroll: usize,
    /// The index of the selected link.
    pub link: Option<usize>,
    /// The link was just selected, and must be made visible.
    pub reveal: bool,
    pub wrapped: Option<Wrapped>,
}

impl TaskScreen {
    pub fn new(id: TaskId) -> Self {
        Self { id, page: None, scroll: 0, link: None, reveal: false, wrapped: None }
    }
}

/// A text that is wrapped at a width. It is kept, because wrapping a long text takes longer than a frame may take.
#[derive(Debug)]
pub struct Wrapped {
    pub width: usize,
    pub rows: Vec<Row>,
    /// The first row of each note, whose age is updated.
    pub notes: Vec<usize>,
}

#[derive(Debug)]
pub struct TaskPage {
    pub shown: Shown,
    /// Why it cannot start.
    pub verdict: String,
    pub log: Vec<LogLine>,
}

/// The target of a link of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageLink {
    Task(TaskId),
    DocumentPage(String),
}

impl TaskPage {
    /// The links in the order in which they are shown, each with its relation to the task.
    pub fn links(&self) -> Vec<(&'static str, PageLink)> {
        let task = &self.shown.task;
        let of = |name: &'static str, ids: &[TaskId]| -> Vec<_> {
            ids.iter().map(|id| (name, PageLink::Task(id.clone()))).collect()
        };
        let mut links = of("blockers", &task.blocked_by);
        links.extend(of("blocks", &task.blocks));
        links.extend(of("parent", task.parent.as_slice()));
        links.extend(of("child", &task.children));
        links.extend(task.artifacts.values().map(|path| ("document", PageLink::DocumentPage(path.clone()))));
        links
    }
}

/// The graph of the blockers of a task and of the tasks that it blocks.
#[derive(Debug)]
pub struct Chain {
    pub id: TaskId,
    pub verdict: String,
    /// `None` until it is read.
    pub lines: Option<Vec<ChainLine>>,
    pub at: usize,
}

#[derive(Debug)]
pub struct ChainLine {
    /// The lines between tasks, as text.
    pub drawing: String,
    pub task: Option<Box<TaskView>>,
}

impl Chain {
    /// The lines that have a task.
    pub fn stops(&self) -> Vec<usize> {
        let lines = self.lines.iter().flatten().enumerate();
        lines.filter(|(_, line)| line.task.is_some()).map(|(at, _)| at).collect()
    }

    pub fn selected(&self) -> Option<&TaskView> {
        let line = *self.stops().get(self.at)?;
        self.lines.as_ref()?.get(line)?.task.as_deref()
    }
}

/// The inbox.
#[derive(Debug, Default)]
pub struct InboxScreen {
    pub items: Option<Vec<InboxItem>>,
    pub at: usize,
}

impl InboxScreen {
    pub fn selected(&self) -> Option<&InboxItem> {
        self.items.as_ref()?.get(self.at)
    }
}

/// The screen of the workers.
#[derive(Debug, Default)]
pub struct Workers {
    pub seen: Option<SeenPage>,
    pub at: usize,
}

#[derive(Debug)]
pub struct SeenPage {
    pub claims: Vec<ClaimLine>,
    pub roles: Vec<RoleLine>,
    pub steps: Vec<TaskView>,
    pub runs: Vec<Run>,
}

#[derive(Debug)]
pub struct RoleLine {
    pub role: String,
    pub at_work: usize,
    pub limit: Option<usize>,
    pub ready: usize,
}

impl SeenPage {
    /// The tasks of the lines that can be selected, in order.
    pub fn tasks(&self) -> Vec<&TaskId> {
        let claims = self.claims.iter().map(|claim| &claim.task);
        claims.chain(self.steps.iter().map(|step| &step.id)).chain(self.runs.iter().map(|run| &run.task)).collect()
    }
}

#[derive(Debug)]
pub struct DocumentPage {
    pub path: String,
    pub source: DocumentSource,
    pub text: Option<String>,
    pub scroll: usize,
    pub wrapped: Option<Wrapped>,
}

/// The content of a text page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentSource {
    File,
    /// The output of an agent; the path is the id of its run.
    Run {
        goes_on: bool,
    },
}

impl DocumentPage {
    pub fn new(path: String, source: DocumentSource) -> Self {
        Self { path, source, text: None, scroll: 0, wrapped: None }
    }
}

/// The data that was read for a screen or a popup.
#[derive(Debug)]
pub enum Reading {
    Task(Box<TaskPage>),
    Chain { id: TaskId, verdict: String, lines: Vec<ChainLine> },
    Workers(SeenPage),
    Inbox(Vec<InboxItem>),
    DocumentPage { path: String, text: String },
    RunLog { id: String, text: String, goes_on: bool },
    Review(Box<Review>),
    Targets { id: TaskId, targets: Vec<MoveView> },
    Found { text: String, hits: Vec<Hit> },
}

/// The task of a file that cannot be parsed, so that the person can fix it.
pub fn task_of(problem: &Problem) -> Option<TaskId> {
    let name = problem.file.rsplit('/').next()?.strip_suffix(".toml")?;
    TaskId::new(name).ok()
}

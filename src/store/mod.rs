//! The board on disk: task files, notes, the journal, and the index that makes reading them fast.

mod board_path;
mod claims;
pub mod codec;
mod commit;
mod guard;
mod here;
pub(crate) mod index;
mod journal;
mod lock;
pub mod merge;
mod mirror;
mod notes;
mod snapshot;

use std::path::{Path, PathBuf};

use crate::board::Place;
use crate::fs::{self, FsError};
use crate::task::{Key, Problem, Task, TaskId};
use crate::workflow::Workflow;

pub use board_path::{FOLDERS, is_board};
pub use claims::{Hold, OutboxNote, Outgoing, Sightings, Why};
pub use commit::Committed;
pub use journal::{Line, lines_of as parse_journal, merge as merge_journals, problems_of as journal_problems};
pub use lock::{BoardLock, FileLock};
pub use mirror::{Delta, Difference, Mirror};
pub use notes::{
    Note, NoteFacts, NoteKind, agreed as agreed_note, new as new_note, parse_text as parse_note,
    rewritten as rewritten_note, tagged as tagged_note, tagged_with_facts as tagged_note_with_facts,
    with_facts as note_with_facts, with_progress as note_with_progress,
};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("the board is locked by {holder}")]
    Busy { holder: String },
    #[error("{task} was changed by another process{}", key.as_ref().map(|k| format!(" ({k})")).unwrap_or_default())]
    Raced { task: TaskId, key: Option<Key> },
    #[error("{0}")]
    Broken(Problem),
    #[error("the change would make the file unreadable: {0}")]
    Unwritable(Problem),
    #[error("no task {0}")]
    Missing(TaskId),
    #[error("{0} is archived")]
    Archived(TaskId),
    #[error("{task} cannot be edited: {source}")]
    Edit { task: TaskId, source: codec::EditError },
}

/// The board on disk: `.ralph/` in the main worktree, and the machine-local folder in git's common directory.
///
/// Guarantees: a commit is written as a whole or not at all, even if the process is killed. A file that somebody else saved
/// after it was read is never overwritten. A snapshot never shows half of a commit.
///
/// Callers hold the [`BoardLock`] from [`Store::lock`] while they read, decide and [`commit`](Store::commit). Reading
/// alone needs no lock.
///
/// It never decides whether a change is allowed, never uses the network, and never writes a task from the index, which
/// is only a cache.
pub struct Store {
    root: PathBuf,
    local: PathBuf,
    flow: Workflow,
}

/// One task with the complete content of its file.
pub struct TaskFile {
    pub task: Task,
    pub description: String,
    pub text: String,
}

impl Store {
    /// `root` is the main worktree, `local` this machine's own folder for the repository.
    pub fn new(root: PathBuf, local: PathBuf, flow: Workflow) -> Self {
        Self { root, local, flow }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn local(&self) -> &Path {
        &self.local
    }

    pub fn flow(&self) -> &Workflow {
        &self.flow
    }

    pub fn board_dir(&self) -> PathBuf {
        self.root.join(".ralph")
    }

    pub fn tasks_dir(&self) -> PathBuf {
        self.root.join(".ralph/tasks")
    }

    pub fn journal_dir(&self) -> PathBuf {
        self.root.join(".ralph/journal")
    }

    pub fn path(&self, task: &TaskId, place: &Place) -> PathBuf {
        let board = self.board_dir();
        match place {
            Place::Task => board.join(format!("tasks/{task}.toml")),
            Place::Archive => board.join(format!("archive/{task}.toml")),
            Place::Note(name) => board.join(format!("notes/{task}/{name}")),
        }
    }

    /// The real path of a file of the board. A link that leads out of the repository is refused, because it may have come with a
    /// clone and point to any file.
    pub(crate) fn inside(&self, path: PathBuf) -> Result<PathBuf, StoreError> {
        let links = path.ancestors().take_while(|folder| *folder != self.root).any(Path::is_symlink);
        if !links {
            return Ok(path);
        }
        let shown = self.shown(&path);
        let real = path.canonicalize().or_else(|_| {
            let folder = path.parent().unwrap_or(&path).canonicalize();
            folder.map(|folder| folder.join(path.file_name().unwrap_or_default()))
        });
        match real {
            Ok(real) if real.starts_with(&self.root) && !real.is_symlink() => Ok(real),
            _ => {
                let problem = Problem::whole(&shown, "this symbolic link leads out of the repository");
                Err(StoreError::Broken(problem.hint("replace it with the file itself")))
            }
        }
    }

    /// The path as a person in the repository would type it.
    pub fn shown(&self, path: &Path) -> String {
        fs::slashed(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// One task with all its details.
    pub fn load(&self, id: &TaskId) -> Result<TaskFile, StoreError> {
        self.load_at(id, &Place::Task)
    }

    pub fn load_archived(&self, id: &TaskId) -> Result<TaskFile, StoreError> {
        self.load_at(id, &Place::Archive)
    }

    fn load_at(&self, id: &TaskId, place: &Place) -> Result<TaskFile, StoreError> {
        let path = self.path(id, place);
        let text = self.text_of(&path)?.ok_or_else(|| self.absent(id))?;
        self.task_file(id, &self.shown(&path), text)
    }

    /// A task from the content of a file in another revision.
    pub fn file_of(&self, id: &TaskId, bytes: &[u8]) -> Result<TaskFile, StoreError> {
        let shown = self.shown(&self.path(id, &Place::Task));
        let text = codec::utf8(&shown, bytes).map_err(StoreError::Broken)?;
        self.task_file(id, &shown, text.to_owned())
    }

    fn task_file(&self, id: &TaskId, shown: &str, text: String) -> Result<TaskFile, StoreError> {
        let read = codec::read(id, shown, &text, &self.flow).map_err(StoreError::Broken)?;
        Ok(TaskFile { task: read.task, description: read.description.replace("\r\n", "\n"), text })
    }

    /// The error for a task that is not on the board.
    pub fn absent(&self, id: &TaskId) -> StoreError {
        if self.is_archived(id) { StoreError::Archived(id.clone()) } else { StoreError::Missing(id.clone()) }
    }

    /// The text of a task file; `None` if there is no such file.
    pub(crate) fn text_of(&self, path: &Path) -> Result<Option<String>, StoreError> {
        if let Ok(Some(fs::ReadFile { bytes: Some(bytes), .. })) = fs::read_with(path, codec::MAX_FILE_SIZE) {
            return codec::utf8(&self.shown(path), &bytes)
                .map(|text| Some(text.to_owned()))
                .map_err(StoreError::Broken);
        }
        // The file cannot be read in the fast way; this finds the reason.
        let path = &self.inside(path.to_owned())?;
        let Some(meta) = fs::metadata(path)? else { return Ok(None) };
        let shown = self.shown(path);
        if !meta.is_file() {
            return Err(StoreError::Broken(
                Problem::whole(&shown, "this is not a regular file").hint("move or remove it"),
            ));
        }
        if meta.len() > codec::MAX_FILE_SIZE {
            return Err(StoreError::Broken(too_large(&shown)));
        }
        let Some(bytes) = fs::read(path)? else { return Ok(None) };
        codec::utf8(&shown, &bytes).map(|text| Some(text.to_owned())).map_err(StoreError::Broken)
    }

    pub fn is_archived(&self, id: &TaskId) -> bool {
        self.path(id, &Place::Archive).exists()
    }

    pub fn archived_ids(&self) -> Result<Vec<TaskId>, StoreError> {
        let names = fs::names(&self.board_dir().join("archive"))?;
        Ok(names.iter().filter_map(|name| TaskId::new(name.strip_suffix(".toml")?).ok()).collect())
    }

    pub fn exists(&self, id: &TaskId) -> bool {
        self.path(id, &Place::Task).exists()
    }

    /// The journal in the order in which it was written.
    pub fn written_journal(&self) -> Result<Vec<Line>, StoreError> {
        Ok(journal::written(&self.journal_dir())?)
    }

    /// The whole journal, oldest first, and the problems of damaged lines.
    pub fn journal(&self) -> Result<(Vec<Line>, Vec<Problem>), StoreError> {
        Ok(journal::read(&self.journal_dir(), |path| self.shown(path))?)
    }
}

fn too_large(shown: &str) -> Problem {
    Problem::whole(shown, "the file is larger than 1 MiB").hint("move long text into a document and link it")
}

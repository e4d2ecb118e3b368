//! The board at another revision: read from git, without a checkout, and read-only.

use std::collections::BTreeMap;

use crate::app::Failure;
use crate::board::Board;
use crate::git::{OldFile, Repository};
use crate::store::{Line, Note, Store, StoreError, TaskFile, parse_journal, parse_note};
use crate::task::TaskId;

/// The data of a board that read-only verbs need.
pub(in crate::app) struct Past {
    pub board: Board,
    pub lines: Vec<Line>,
    texts: BTreeMap<TaskId, Vec<u8>>,
    notes: BTreeMap<TaskId, Vec<Note>>,
}

impl Past {
    pub fn read(repository: &Repository, store: &Store, revision: &str) -> Result<Self, Failure> {
        Ok(Self::of(repository.files_at(revision, ".ralph")?, store))
    }

    /// Reads a board from its files below `.ralph`.
    pub fn of(files: Vec<OldFile>, store: &Store) -> Self {
        let (mut texts, mut archive, mut notes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut lines = Vec::new();
        for file in files.into_iter().filter(|file| !file.is_link) {
            let task = |name: &str| name.strip_suffix(".toml").and_then(|stem| TaskId::new(stem).ok());
            match file.path.split('/').collect::<Vec<_>>().as_slice() {
                ["tasks", name] => texts.extend(task(name).map(|id| (id, file.content))),
                ["archive", name] => archive.extend(task(name).map(|id| (id, file.content))),
                ["journal", _] => lines.extend(parse_journal(&file.content)),
                ["notes", id, name] => {
                    let text = String::from_utf8_lossy(&file.content).into_owned();
                    let Ok(id) = TaskId::new(*id) else { continue };
                    notes.entry(id).or_insert_with(Vec::new).push(parse_note((*name).to_owned(), &text));
                }
                _ => {}
            }
        }
        lines.sort_by_key(|line: &Line| line.at);
        Self { board: store.board_of(&texts, &archive, &lines), lines, texts, notes }
    }

    pub fn file(&self, store: &Store, id: &TaskId) -> Result<TaskFile, StoreError> {
        let bytes = self.texts.get(id).ok_or_else(|| StoreError::Missing(id.clone()))?;
        store.file_of(id, bytes)
    }

    pub fn notes(&self, id: &TaskId) -> Vec<Note> {
        let mut notes = self.notes.get(id).cloned().unwrap_or_default();
        notes.sort_by(|a, b| (a.at, &a.file).cmp(&(b.at, &b.file)));
        notes
    }

    /// The text of each task's file; invalid UTF-8 is replaced.
    pub fn texts(&self) -> BTreeMap<TaskId, String> {
        self.texts.iter().map(|(id, bytes)| (id.clone(), String::from_utf8_lossy(bytes).into_owned())).collect()
    }
}

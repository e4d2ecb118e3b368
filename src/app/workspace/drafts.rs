//! Drafts: copies of a sandboxed run's documents, in a folder that its agent may write to. Every later command, and the
//! end of the run, copies changed drafts to their documents, but not over a document that somebody else changed in the
//! meantime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::app::{Code, Failure, Workspace};
use crate::fs;
use crate::store::codec::MAX_FILE_SIZE;
use crate::task::TaskId;

/// The environment variable with the path of the run's ledger, for commands of the agent that the worker process runs.
pub const VARIABLE: &str = "RALPH_DRAFTS";

/// The drafts of a run. It is stored where the agent cannot write.
#[derive(Debug, Serialize, Deserialize)]
struct Ledger {
    folder: PathBuf,
    task: TaskId,
    /// The kinds of document that the run's command writes.
    kinds: Vec<String>,
    /// The digest of each text when draft and document were last equal, by path from the root.
    same: BTreeMap<String, String>,
}

/// The drafts of one run.
#[derive(Debug, Clone)]
pub(in crate::app) struct Drafts {
    ledger: PathBuf,
}

fn digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Drafts {
    /// Begins the drafts of a run, with the copies in `folder`. The ledger is in the folder of the run; the copies are
    /// not, because some agents refuse to write below `.git`, where runs are kept.
    pub fn begin(run: &Path, folder: PathBuf, task: &TaskId, kinds: Vec<String>) -> Result<Self, Failure> {
        fs::make_dir(&folder)?;
        let drafts = Self { ledger: run.join("drafts.json") };
        drafts.write(&Ledger { folder, task: task.clone(), kinds, same: BTreeMap::new() })?;
        Ok(drafts)
    }

    pub fn of_environment() -> Option<Self> {
        let ledger = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        Some(Self { ledger: ledger.into() })
    }

    pub fn ledger(&self) -> &Path {
        &self.ledger
    }

    fn read(&self) -> Result<Ledger, Failure> {
        let text = fs::read_text(&self.ledger)?.unwrap_or_default();
        let broken = |error| Failure::broken(Code::UnreadableFile, format!("{}: {error}", self.ledger.display()));
        serde_json::from_str(&text).map_err(broken)
    }

    fn write(&self, ledger: &Ledger) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(ledger).expect("a ledger is text");
        Ok(fs::replace(&self.ledger, text.as_bytes(), false)?)
    }

    /// The draft of a document, created if necessary; `None` for documents that the run does not write.
    pub fn place(&self, root: &Path, kind: &str, owners: &[&TaskId], path: &str) -> Result<Option<PathBuf>, Failure> {
        let mut ledger = self.read()?;
        let own = ledger.kinds.iter().any(|known| known == kind) && owners.contains(&&ledger.task);
        let Some(name) = Path::new(path).file_name().filter(|_| own) else { return Ok(None) };
        let copy = ledger.folder.join(name);
        let text = fs::read(&root.join(path))?.unwrap_or_default();
        let was = ledger.same.get(path);
        let edited = || matches!(fs::read_plain(&copy, MAX_FILE_SIZE), Ok(Some(text)) if Some(&digest(&text)) != was);
        // A draft that the agent has not changed is updated to its document.
        if was.is_none() || (*was.unwrap_or(&String::new()) != digest(&text) && !edited()) {
            fs::replace(&copy, &text, false)?;
            ledger.same.insert(path.to_owned(), digest(&text));
            self.write(&ledger)?;
        }
        Ok(Some(copy))
    }

    /// The path of the document that a draft belongs to.
    pub fn document(&self, copy: &Path) -> Option<String> {
        let ledger = self.read().ok()?;
        let of = |path: &&String| Path::new(path).file_name().is_some_and(|name| ledger.folder.join(name) == copy);
        ledger.same.keys().find(of).cloned()
    }

    /// Writes changed drafts to their documents.
    pub fn take_in(&self, ws: &Workspace) -> Result<(), Failure> {
        if self.changed(&self.read()?).is_empty() {
            return Ok(());
        }
        let _lock = ws.lock()?;
        let mut ledger = self.read()?;
        for (path, text) in self.changed(&ledger) {
            let place = ws.store.inside(ws.store.root().join(&path))?;
            let there = fs::read(&place)?.unwrap_or_default();
            if digest(&there) != ledger.same[&path] && there != text {
                let copy = ledger.folder.join(Path::new(&path).file_name().unwrap_or_default());
                ws.notice(format!(
                    "{path} was changed by another process; the agent's version is in {}",
                    copy.display()
                ));
                continue;
            }
            fs::replace(&place, &text, true)?;
            ledger.same.insert(path, digest(&text));
        }
        self.write(&ledger)
    }

    /// The agent created these files, so links, large files and files that are not plain text are skipped.
    fn changed(&self, ledger: &Ledger) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for (path, was) in &ledger.same {
            let copy = ledger.folder.join(Path::new(path).file_name().unwrap_or_default());
            let Ok(Some(text)) = fs::read_plain(&copy, MAX_FILE_SIZE) else { continue };
            if digest(&text) != *was && std::str::from_utf8(&text).is_ok() {
                found.push((path.clone(), text));
            }
        }
        found
    }
}

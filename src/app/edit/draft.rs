//! A text that is edited in the person's editor and kept if it cannot be saved.

use std::path::Path;

use crate::app::{Code, Failure, Hint};
use crate::fs;
use crate::os;

/// A folder for the file being edited, removed when dropped unless it is kept.
pub struct Draft {
    folder: tempfile::TempDir,
    name: String,
}

impl Draft {
    pub fn new(name: &str, text: &str) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("ralph-").tempdir();
        let folder =
            folder.map_err(|error| Failure::broken(Code::Io, format!("cannot create a temporary folder: {error}")))?;
        let draft = Self { folder, name: name.to_owned() };
        fs::write_new(&draft.folder.path().join(&draft.name), text.as_bytes(), false)?;
        Ok(draft)
    }

    /// Opens the editor and returns the text; may be called repeatedly.
    pub fn edit(&self) -> Result<String, Failure> {
        let path = self.folder.path().join(&self.name);
        open(&path)?;
        Ok(fs::read_text(&path)?.unwrap_or_default())
    }

    /// Keeps the file on disk, and adds its path to the failure as a hint.
    pub fn kept(self, failure: Failure) -> Failure {
        let path = self.folder.keep().join(self.name);
        failure.hint(Hint::step(format!("nothing was changed; your text is in {}", path.display())))
    }
}

/// Opens a file in `$RALPH_EDITOR`, `$VISUAL` or `$EDITOR`, and waits until the editor exits.
fn open(path: &Path) -> Result<(), Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let editor =
        ["RALPH_EDITOR", "VISUAL", "EDITOR"].into_iter().find_map(set).unwrap_or_else(|| os::terminal::EDITOR.into());
    // Like git: the variable may hold options, so a shell reads it.
    match os::process::shell(&editor, Some(path)).status() {
        Ok(status) if status.success() => Ok(()),
        // The status with which a shell reports an unknown program.
        Ok(status) if status.code() == Some(127) => {
            Err(Failure::broken(Code::Editor, format!("cannot start the editor {editor:?}: not found"))
                .hint(Hint::variable("EDITOR", "to an editor that is installed")))
        }
        Ok(_) => Err(Failure::broken(Code::Editor, format!("the editor {editor:?} exited with an error"))),
        Err(error) => Err(Failure::broken(Code::Editor, format!("cannot start the editor {editor:?}: {error}"))),
    }
}

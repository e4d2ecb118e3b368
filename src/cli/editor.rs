//! The person's editor.

use std::io::Write as _;
use std::path::Path;

use crate::app::Failure;
use crate::fs;

/// Opens a file in `$RALPH_EDITOR`, `$VISUAL` or `$EDITOR`, and waits.
pub fn open(path: &Path) -> Result<(), Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let editor = ["RALPH_EDITOR", "VISUAL", "EDITOR"].into_iter().find_map(set).unwrap_or_else(|| "vi".into());
    // Like git: the variable may hold options, so a shell reads it.
    let status =
        std::process::Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            Err(Failure::broken("editor", format!("the editor {editor:?} did not end well"))
                .advice("nothing was changed"))
        }
        Err(error) => Err(Failure::broken("editor", format!("cannot start the editor {editor:?}: {error}"))),
    }
}

/// A folder for the file being edited, removed when dropped unless it is kept.
pub struct Draft {
    folder: tempfile::TempDir,
    name: String,
}

impl Draft {
    pub fn new(name: &str, text: &str) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("ralph-").tempdir();
        let folder =
            folder.map_err(|error| Failure::broken("io", format!("cannot make a temporary folder: {error}")))?;
        let draft = Self { folder, name: name.to_owned() };
        draft.write(text)?;
        Ok(draft)
    }

    pub fn write(&self, text: &str) -> Result<(), Failure> {
        Ok(fs::write_new(&self.folder.path().join(&self.name), text.as_bytes(), false)?)
    }

    pub fn edit(&self) -> Result<String, Failure> {
        let path = self.folder.path().join(&self.name);
        open(&path)?;
        Ok(fs::read_text(&path)?.unwrap_or_default())
    }

    /// Leaves the text on disk and says where.
    pub fn keep(self) -> String {
        self.folder.keep().join(self.name).display().to_string()
    }
}

/// A text from an empty file; lines that start with `#` are for the person.
pub fn compose(what: &str) -> Result<String, Failure> {
    let draft = Draft::new(
        "TEXT.md",
        &format!("\n# {what}\n# Lines that start with # are left out; an empty text changes nothing.\n"),
    )?;
    let text = draft.edit()?;
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("# ") && *line != "#").collect();
    Ok(kept.join("\n").trim().to_owned())
}

/// One letter from the person; `None` where nobody can answer.
pub fn ask(question: &str) -> Option<char> {
    use std::io::IsTerminal as _;
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let mut err = anstream::stderr();
    let _ = write!(err, "{question} ").and_then(|()| err.flush());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok()?;
    line.trim().chars().next()
}

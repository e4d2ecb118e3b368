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
        Ok(_) => Err(Failure::broken("editor", format!("the editor {editor:?} did not end well"))),
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

    /// It cannot be saved: the text stays on disk, and the failure says where.
    pub fn kept(self, failure: Failure) -> Failure {
        let path = self.folder.keep().join(self.name);
        failure.advice(format!("nothing was changed; your text is in {}", path.display()))
    }
}

/// A text, and the draft that it was written in until it is used.
pub struct Typed {
    pub text: String,
    draft: Option<Draft>,
}

impl Typed {
    pub fn plain(text: String) -> Self {
        Self { text, draft: None }
    }

    /// What became of it; on a failure nothing that was typed is lost.
    pub fn used<T>(self, result: Result<T, Failure>) -> Result<T, Failure> {
        match (result, self.draft) {
            (Err(failure), Some(draft)) if !self.text.is_empty() => Err(draft.kept(failure)),
            (result, _) => result,
        }
    }
}

/// A text from an empty file; what stands below the line is for the person.
pub fn compose(what: &str) -> Result<Typed, Failure> {
    const LINE: &str = "# ------ what stands below this line is left out ------";
    let draft = Draft::new("TEXT.md", &format!("\n{LINE}\n# {what}\n# An empty text changes nothing.\n"))?;
    match draft.edit() {
        Ok(text) => {
            let text = text.split(LINE).next().unwrap_or_default().trim().to_owned();
            Ok(Typed { text, draft: Some(draft) })
        }
        Err(failure) => Err(draft.kept(failure)),
    }
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

//! The person's editor.

use std::io::Write as _;

use crate::app::{Draft, Failure};

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
pub fn compose(what: &str, initial: &str) -> Result<Typed, Failure> {
    const LINE: &str = "# ------ what stands below this line is left out ------";
    let draft = Draft::new("TEXT.md", &format!("{initial}\n{LINE}\n# {what}\n# An empty text changes nothing.\n"))?;
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
    let _ = write!(err, "{} ", super::door::shown(question, true)).and_then(|()| err.flush());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok()?;
    line.trim().chars().next()
}

//! The person's editor.

use std::io::Write as _;

use crate::app::{Draft, Failure};

/// A text, and the draft file that it was written in, which exists until the text is used.
pub struct Typed {
    pub text: String,
    draft: Option<Draft>,
}

impl Typed {
    pub fn plain(text: String) -> Self {
        Self { text, draft: None }
    }

    /// Returns the result; on a failure, the draft is kept.
    pub fn used<T>(self, result: Result<T, Failure>) -> Result<T, Failure> {
        match (result, self.draft) {
            (Err(failure), Some(draft)) if !self.text.is_empty() => Err(draft.kept(failure)),
            (result, _) => result,
        }
    }
}

/// A text that the person writes in the editor, starting with `initial`. Everything below the line is ignored.
pub fn compose(what: &str, initial: &str) -> Result<Typed, Failure> {
    const LINE: &str = "# ------ everything below this line is ignored ------";
    let draft = Draft::new("TEXT.md", &format!("{initial}\n{LINE}\n# {what}\n# Leave it empty to cancel.\n"))?;
    match draft.edit() {
        Ok(text) => {
            let text = text.split(LINE).next().unwrap_or_default().trim().to_owned();
            Ok(Typed { text, draft: Some(draft) })
        }
        Err(failure) => Err(draft.kept(failure)),
    }
}

/// One letter from the person; `None` if standard input is not a terminal.
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

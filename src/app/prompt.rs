//! stub
use super::{Failure, Workspace};
use crate::task::TaskId;
pub struct Prompt {
    pub text: String,
}
pub fn prompt(_ws: &Workspace, command: &str, id: &TaskId) -> Result<Prompt, Failure> {
    Ok(Prompt { text: format!("{command} {id}") })
}

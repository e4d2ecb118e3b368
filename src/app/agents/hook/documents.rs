//! Checks whether the document of a command exists, is linked and is complete.

use super::scene::Scene;
use super::{Code, Failure, Gate};
use crate::agent::document::DocumentKind;
use crate::app::records::artifact::check_artifact;
use crate::task::TaskId;

/// Blocks if a task's document is missing, incomplete or not linked, and says how to correct that.
pub fn lacking(scene: &Scene<'_>, kind: DocumentKind, id: &TaskId) -> Result<Option<Gate>, Failure> {
    let found = match check_artifact(scene.ws, kind.as_str(), id) {
        Ok(found) => found,
        Err(failure) if matches!(failure.code, Code::NoDocument | Code::NoFile) => {
            let instead = format!("`ralph artifact new {kind} {id}` creates the file");
            return Ok(Some(Gate::block(failure.message, instead)));
        }
        Err(failure) => return Err(failure),
    };
    if let Some(finding) = found.findings.first() {
        let why = format!("{}:{finding}", found.path);
        return Ok(Some(Gate::block(
            why,
            format!("fix it; `ralph artifact check {kind} {id}` lists everything that is missing"),
        )));
    }
    if !found.linked {
        let instead = scene.signed(format!("ralph artifact link {kind} {id}"));
        return Ok(Some(Gate::block(format!("{} is not linked to {id}", found.path), format!("link it: `{instead}`"))));
    }
    Ok(None)
}

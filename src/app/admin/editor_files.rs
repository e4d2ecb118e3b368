//! The JSON schemas of the board for editors, and the Taplo configuration that names them.

use crate::app::read::schema::{FILE_SCHEMAS, schema};
use crate::app::workspace::git_commit::TAPLO;
use crate::app::{Failure, Workspace};
use crate::fs;

/// Writes missing or outdated files and returns what was written. An existing Taplo configuration is left alone.
pub(in crate::app) fn write_editor_files(ws: &Workspace) -> Result<Vec<&'static str>, Failure> {
    let mut written = Vec::new();
    let folder = ws.store.board_dir().join("schema");
    fs::make_dir(&folder)?;
    let mut changed = false;
    for name in FILE_SCHEMAS {
        let text = format!("{:#}\n", schema(name, ws.flow())?);
        let path = folder.join(format!("{name}.json"));
        if fs::read_text(&path)?.as_deref() != Some(&text) {
            fs::replace(&path, text.as_bytes(), false)?;
            changed = true;
        }
    }
    if changed {
        written.push(".ralph/schema: JSON schemas for editors");
    }
    let taplo = ws.store.root().join(".taplo.toml");
    if !taplo.exists() && !ws.store.root().join("taplo.toml").exists() {
        fs::replace(&taplo, TAPLO.as_bytes(), false)?;
        written.push(".taplo.toml: the paths of the schemas, for editors");
    }
    Ok(written)
}

//! Sub-agents of a host session: each has its own worker name, so that two of the same kind do not share a task.
//!
//! A sub-agent's shell does not know the id of the sub-agent, but the host's hooks do: the hook before a command puts
//! the id into the command's environment (`RALPH_AGENT`).

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::app::Failure;
use crate::fs;
use crate::store::FileLock;
use crate::task::Worker;

/// The environment variable with the id.
pub const VARIABLE: &str = "RALPH_AGENT";

/// How long a name is reserved after its last command.
const KEPT: Duration = Duration::from_secs(3600);

#[derive(Debug, Serialize, Deserialize)]
struct SubAgent {
    worker: String,
}

fn folder(local: &Path) -> PathBuf {
    local.join("agents")
}

/// Ids come from an agent host and end up in paths and shells, so only safe characters are accepted.
pub(in crate::app) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn read(path: &Path) -> Option<String> {
    let found: SubAgent = serde_json::from_str(&fs::read_text(path).ok()??).ok()?;
    Some(found.worker)
}

/// The worker name of a sub-agent, if it has one yet.
pub(in crate::app) fn worker_of(local: &Path, id: &str) -> Option<Worker> {
    let name = is_id(id).then(|| read(&folder(local).join(format!("{id}.json"))))??;
    Worker::new(name).ok()
}

/// The worker name for a sub-agent that asks for `name`: its earlier name, or else the first of `name`, `name-2` … that
/// no other sub-agent uses and that holds no task.
pub(in crate::app) fn name_for(
    local: &Path,
    id: &str,
    name: &str,
    role: &str,
    is_held: &dyn Fn(&str) -> bool,
) -> Result<String, Failure> {
    fs::make_dir(&folder(local))?;
    let _lock = FileLock::take(&folder(local).join(".lock"))?;
    let path = folder(local).join(format!("{id}.json"));
    let taken = taken(local, id)?;
    let own = read(&path).filter(|own| own.starts_with(role));
    let mut numbered = (2..).map(|number| format!("{role}-{number}"));
    let is_free = |name: &String| !taken.contains(name) && !is_held(name);
    let chosen = match own {
        Some(own) => own,
        None if is_free(&name.to_owned()) => name.to_owned(),
        None => numbered.find(is_free).unwrap_or_else(|| name.to_owned()),
    };
    let text = serde_json::to_string(&SubAgent { worker: chosen.clone() }).expect("a name is text");
    fs::replace(&path, text.as_bytes(), false)?;
    Ok(chosen)
}

/// The names of other sub-agents that acted recently; older records are deleted.
fn taken(local: &Path, id: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for file in
        fs::names(&folder(local))?.into_iter().filter(|file| file.ends_with(".json") && *file != format!("{id}.json"))
    {
        let path = folder(local).join(file);
        let age = fs::metadata(&path)?.and_then(|meta| SystemTime::now().duration_since(meta.modified().ok()?).ok());
        match age.is_some_and(|age| age > KEPT) {
            true => fs::remove(&path)?,
            false => found.extend(read(&path)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_of_one_kind_have_names_of_their_own_and_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        let name =
            |id: &str, name: &str| name_for(folder.path(), id, name, "builder", &|held| held == "builder-2").unwrap();
        assert_eq!(name("a1", "builder"), "builder");
        assert_eq!(name("a2", "builder"), "builder-3", "builder-2 holds something");
        assert_eq!((name("a1", "builder"), name("a2", "builder")), ("builder".into(), "builder-3".into()));
        assert_eq!(worker_of(folder.path(), "a2").unwrap().as_str(), "builder-3");
        assert_eq!(worker_of(folder.path(), "../a2"), None);
        assert!(is_id("aa2c9b171115d6dfb") && !is_id("a;b") && !is_id(""));
    }
}

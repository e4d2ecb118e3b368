//! Claims on this machine: one small file each, and a lock file for those that last as long as a process.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FileLock, Store, StoreError};
use crate::board::Claim;
use crate::fs;
use crate::os;
use crate::task::TaskId;

/// The lock of a claim. The claim is live as long as it is locked; the kernel unlocks it when the process dies.
pub struct Hold {
    file: File,
}

/// A claim of this clone that must be removed or changed on the remote. It is stored before the remote is contacted, so that it
/// can be completed after a crash or a timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub task: TaskId,
    /// The object of the claim.
    pub object: String,
    pub note: OutboxNote,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxNote {
    #[serde(default)]
    pub why: Why,
    /// The journal line of the move that ended the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The time of that, in seconds of the monotonic clock.
    #[serde(default)]
    pub since: u64,
    /// How often the remote's claims had been fetched when it accepted the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A push was started and its outcome is unknown: the remote may still accept it.
    Unsettled,
    /// The claim was released, and the task is as before.
    #[default]
    GivenUp,
    /// The task has moved, and the remote does not have this yet.
    Moved,
    /// The claim on the remote says that the task has moved. It is removed once the remote has a board with that move.
    Told,
}

/// What this clone has read of the remote's claims, with times of the monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sightings {
    /// How often the remote's claims were fetched.
    #[serde(default)]
    pub looks: u64,
    /// The time of the last fetch, in milliseconds of the monotonic clock, and by the wall clock for people.
    #[serde(default)]
    pub last: u64,
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// The time since which it has not answered.
    #[serde(default)]
    pub silent: Option<u64>,
    /// The time at which each object was first read, in milliseconds of the monotonic clock.
    #[serde(default)]
    pub first: BTreeMap<String, u64>,
}

impl Store {
    pub fn claims_dir(&self) -> PathBuf {
        self.local.join("claims")
    }

    fn claim_path(&self, id: &TaskId, ending: &str) -> PathBuf {
        self.claims_dir().join(format!("{id}.{ending}"))
    }

    /// All claims, each with whether its holder is alive.
    pub fn claims(&self, now: Timestamp) -> Result<BTreeMap<TaskId, Claim>, StoreError> {
        let mut claims = BTreeMap::new();
        for name in fs::names(&self.claims_dir())? {
            let Some(id) = name.strip_suffix(".toml").and_then(|stem| TaskId::new(stem).ok()) else { continue };
            let Some(text) = fs::read_text(&self.claims_dir().join(&name))? else { continue };
            // Claim files are written as a whole; one that cannot be parsed is ignored.
            let Ok(mut claim) = toml::from_str::<Claim>(&text) else { continue };
            claim.live = if claim.held { self.is_held(&id) } else { now < claim.until };
            claims.insert(id, claim);
        }
        Ok(claims)
    }

    /// The path of a claim's lock file. A held claim is live while the file is locked.
    pub fn claim_lock(&self, id: &TaskId) -> PathBuf {
        self.claim_path(id, "lock")
    }

    /// Whether the claim's lock is held. Tries a shared lock, so that several readers do not disturb each other.
    pub fn is_held(&self, id: &TaskId) -> bool {
        let Ok(file) = File::options().read(true).open(self.claim_path(id, "lock")) else { return false };
        file.try_lock_shared().is_err()
    }

    pub fn write_claim(&self, id: &TaskId, claim: &Claim) -> Result<(), StoreError> {
        fs::make_dir(&self.claims_dir())?;
        let text = toml::to_string(claim).expect("a claim is a flat table");
        Ok(fs::replace(&self.claim_path(id, "toml"), text.as_bytes(), true)?)
    }

    /// The claims that must be settled on the remote through which machines agree.
    pub fn outbox(&self) -> Result<Vec<Outgoing>, StoreError> {
        let mut found = Vec::new();
        for name in fs::names(&self.claims_dir())? {
            let Some((id, object)) = name.strip_suffix(".gone").and_then(|stem| stem.rsplit_once('.')) else {
                continue;
            };
            let Ok(task) = TaskId::new(id) else { continue };
            let text = fs::read_text(&self.claims_dir().join(&name))?.unwrap_or_default();
            // Older versions of ralph wrote an empty file.
            let note = toml::from_str(&text).unwrap_or_default();
            found.push(Outgoing { task, object: object.to_owned(), note });
        }
        Ok(found)
    }

    pub fn put_in_outbox(&self, outgoing: &Outgoing) -> Result<(), StoreError> {
        fs::make_dir(&self.claims_dir())?;
        let text = toml::to_string(&outgoing.note).expect("a note is a flat table");
        let path = self.claim_path(&outgoing.task, &format!("{}.gone", outgoing.object));
        Ok(fs::replace(&path, text.as_bytes(), true)?)
    }

    pub fn drop_from_outbox(&self, id: &TaskId, object: &str) -> Result<(), StoreError> {
        Ok(fs::remove(&self.claim_path(id, &format!("{object}.gone")))?)
    }

    /// What this clone has read of the remote's claims.
    pub fn sightings(&self) -> Sightings {
        let text = fs::read_text(&self.local.join("claims.seen")).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn write_sightings(&self, sightings: &Sightings) -> Result<(), StoreError> {
        let text = serde_json::to_vec(sightings).expect("sightings are plain values");
        Ok(fs::replace(&self.local.join("claims.seen"), &text, false)?)
    }

    /// One task's claim as it is in its file.
    pub fn claim_file(&self, id: &TaskId) -> Result<Option<Claim>, StoreError> {
        Ok(fs::read_text(&self.claim_path(id, "toml"))?.and_then(|text| toml::from_str(&text).ok()))
    }

    /// Lets only one process at a time change a task's claim on the remote.
    pub fn hold_remote(&self, id: &TaskId) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.claims_dir())?;
        FileLock::take(&self.claim_path(id, "remote"))
    }

    pub fn try_hold_remote(&self, id: &TaskId) -> Result<Option<FileLock>, StoreError> {
        fs::make_dir(&self.claims_dir())?;
        FileLock::try_take(&self.claim_path(id, "remote"))
    }

    /// Lets only one process at a time fetch the claims of the remote.
    pub fn remote_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("remote.lock"))
    }

    pub fn try_remote_lock(&self) -> Result<Option<FileLock>, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::try_take(&self.local.join("remote.lock"))
    }

    pub fn remove_claim(&self, id: &TaskId) -> Result<(), StoreError> {
        Ok(fs::remove(&self.claim_path(id, "toml"))?)
    }
}

impl Hold {
    /// Takes the lock of a claim for this process. Readers lock it for a moment, so several tries may be necessary.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        let file = fs::open_lock(path)?;
        let start = Instant::now();
        while file.try_lock().is_err() {
            if start.elapsed() > Duration::from_secs(2) {
                return Err(StoreError::Busy { holder: "another program that works on this task".into() });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Self { file })
    }

    /// Lets programs that this process starts keep the lock, on systems where the kernel does not end them with this process.
    pub fn share(&self) {
        os::files::let_inherit(&self.file);
    }

    /// Waits until the lock is free, and takes it.
    pub fn inherit(path: &Path) -> Result<Self, StoreError> {
        let file = fs::open_lock(path)?;
        let locked = file.lock();
        locked.map_err(|source| fs::FsError { doing: "lock", path: path.to_owned(), source })?;
        Ok(Self { file })
    }
}

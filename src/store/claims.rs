//! Claims on this machine: one small file each, and a lock file for those that live as long as a process.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{FileLock, Store, StoreError};
use crate::board::Claim;
use crate::fs;
use crate::os;
use crate::task::TaskId;

/// A claim's lock: as long as this lives, so does the claim, and the kernel lets go of it when the process dies.
pub struct Hold {
    file: File,
}

impl Store {
    pub fn claims_dir(&self) -> PathBuf {
        self.local.join("claims")
    }

    fn claim_path(&self, id: &TaskId, ending: &str) -> PathBuf {
        self.claims_dir().join(format!("{id}.{ending}"))
    }

    /// All claims, with whether their holders live.
    pub fn claims(&self, now: Timestamp) -> Result<BTreeMap<TaskId, Claim>, StoreError> {
        let mut claims = BTreeMap::new();
        for name in fs::names(&self.claims_dir())? {
            let Some(id) = name.strip_suffix(".toml").and_then(|stem| TaskId::new(stem).ok()) else { continue };
            let Some(text) = fs::read_text(&self.claims_dir().join(&name))? else { continue };
            // Written whole; one that cannot be read is nobody's.
            let Ok(mut claim) = toml::from_str::<Claim>(&text) else { continue };
            claim.live = if claim.held { self.is_held(&id) } else { now < claim.until };
            claims.insert(id, claim);
        }
        Ok(claims)
    }

    /// Whose holder lives, the claim lives.
    pub fn claim_lock(&self, id: &TaskId) -> PathBuf {
        self.claim_path(id, "lock")
    }

    /// Shared, so that those who look do not hinder each other.
    pub fn is_held(&self, id: &TaskId) -> bool {
        let Ok(file) = File::options().read(true).open(self.claim_path(id, "lock")) else { return false };
        file.try_lock_shared().is_err()
    }

    pub fn write_claim(&self, id: &TaskId, claim: &Claim) -> Result<(), StoreError> {
        fs::make_dir(&self.claims_dir())?;
        let text = toml::to_string(claim).expect("a claim is a flat table");
        Ok(fs::replace(&self.claim_path(id, "toml"), text.as_bytes(), true)?)
    }

    /// What is to be taken back on the remote: a task, and the object that holds its claim there.
    pub fn retired_claims(&self) -> Result<Vec<(TaskId, String)>, StoreError> {
        let name = |name: &str| {
            let (id, object) = name.strip_suffix(".gone")?.rsplit_once('.')?;
            Some((TaskId::new(id).ok()?, object.to_owned()))
        };
        Ok(fs::names(&self.claims_dir())?.iter().filter_map(|text| name(text)).collect())
    }

    pub fn retire_claim(&self, id: &TaskId, object: &str) -> Result<(), StoreError> {
        fs::make_dir(&self.claims_dir())?;
        Ok(fs::replace(&self.claim_path(id, &format!("{object}.gone")), b"", true)?)
    }

    pub fn forget_retired(&self, id: &TaskId, object: &str) -> Result<(), StoreError> {
        Ok(fs::remove(&self.claim_path(id, &format!("{object}.gone")))?)
    }

    /// When the last look at the remote began.
    pub fn claims_seen(&self) -> Option<Timestamp> {
        fs::read_text(&self.local.join("claims.seen")).ok()??.parse().ok()
    }

    pub fn note_claims_seen(&self, began: Timestamp) -> Result<(), StoreError> {
        Ok(fs::replace(&self.local.join("claims.seen"), began.to_string().as_bytes(), false)?)
    }

    /// One task's claim, as its file has it.
    pub fn claim_file(&self, id: &TaskId) -> Result<Option<Claim>, StoreError> {
        Ok(fs::read_text(&self.claim_path(id, "toml"))?.and_then(|text| toml::from_str(&text).ok()))
    }

    /// One process at a time changes a task's claim on the remote.
    pub fn hold_remote(&self, id: &TaskId) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.claims_dir())?;
        FileLock::take(&self.claim_path(id, "remote"))
    }

    pub fn try_hold_remote(&self, id: &TaskId) -> Result<Option<FileLock>, StoreError> {
        fs::make_dir(&self.claims_dir())?;
        FileLock::try_take(&self.claim_path(id, "remote"))
    }

    /// One process at a time fetches what the remote knows.
    pub fn remote_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("remote.lock"))
    }

    pub fn remove_claim(&self, id: &TaskId) -> Result<(), StoreError> {
        Ok(fs::remove(&self.claim_path(id, "toml"))?)
    }
}

impl Hold {
    /// Takes the lock of a claim for this process. Those who look at it hold it for an instant, so it may take a few tries.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        let file = fs::open_lock(path)?;
        let start = Instant::now();
        while file.try_lock().is_err() {
            if start.elapsed() > Duration::from_secs(2) {
                return Err(StoreError::Busy { holder: "another program on this task".into() });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Self { file })
    }

    /// The program that is started under it keeps it, too, where the kernel does not end both together.
    pub fn share(&self) {
        os::files::let_inherit(&self.file);
    }

    /// Waits for as long as somebody else has it.
    pub fn inherit(path: &Path) -> Result<Self, StoreError> {
        let file = fs::open_lock(path)?;
        let locked = file.lock();
        locked.map_err(|source| fs::FsError { doing: "lock", path: path.to_owned(), source })?;
        Ok(Self { file })
    }
}

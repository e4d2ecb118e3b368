//! The binary format of the index file: header, records, two sorted tables, and a tail to which verbs append.
//!
//! | part    | content                                                                    |
//! |---------|----------------------------------------------------------------------------|
//! | magic   | 8 bytes                                                                    |
//! | lengths | header, records, ids, links as u32, and their crc                          |
//! | header  | `Header`                                                                   |
//! | records | per task: length, crc, `Entry`                                             |
//! | ids     | per task: hash of the id, position of the record; sorted                   |
//! | links   | per parent or blocker: hash of its id, position of the record; sorted      |
//! | tail    | per verb: length, crc, `Touched`                                           |

use std::fs::File;
use std::hash::Hasher as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Content, Entry, Header, Nanos};
use crate::fs::{self, FsError};
use crate::os::files::read_exact_at;
use crate::task::TaskId;

const MAGIC: &[u8; 8] = b"ralphix1";
const PREFIX: usize = 8 + 5 * 4;
const ROW: usize = 12;
/// After this many verbs, writing a new index is cheaper than reading the files that they have changed.
const MAX_TOUCHED: usize = 256;

/// The tasks that a verb has changed, and the folder's stamp after it.
#[derive(Debug, Serialize, Deserialize)]
struct TouchedTasks {
    folder: Nanos,
    ids: Vec<TaskId>,
}

/// An open index. Its header has been read; the rest is read on demand.
pub struct IndexFile {
    file: File,
    pub header: Header,
    records: (u64, u32),
    ids: (u64, u32),
    links: (u64, u32),
    touched: Vec<TouchedTasks>,
}

fn hash(id: &TaskId) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(id.as_str().as_bytes());
    hasher.finish()
}

fn frame(out: &mut Vec<u8>, value: &impl Serialize) {
    let Ok(bytes) = postcard::to_stdvec(value) else { return };
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(&bytes).to_le_bytes());
    out.extend(bytes);
}

/// The framed value at `at`, and the position after it.
fn unframe<T: serde::de::DeserializeOwned>(bytes: &[u8], at: usize) -> Option<(T, usize)> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (length, crc) = (number(at)? as usize, number(at + 4)?);
    let body = bytes.get(at + 8..at + 8 + length)?;
    let intact = crc32fast::hash(body) == crc;
    Some((postcard::from_bytes(body).ok().filter(|_| intact)?, at + 8 + length))
}

fn table(mut rows: Vec<(u64, u32)>) -> Vec<u8> {
    rows.sort_unstable();
    rows.iter().flat_map(|(hash, at)| hash.to_le_bytes().into_iter().chain(at.to_le_bytes())).collect()
}

/// Writes a complete index to `temp`, then renames it to `path`.
pub fn write(path: &Path, temp: &Path, header: &Header, entries: &[Entry]) -> Result<(), FsError> {
    let mut head = Vec::new();
    frame(&mut head, header);
    let mut records = Vec::with_capacity(entries.len() * 256);
    let (mut ids, mut links) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        let at = records.len() as u32;
        ids.push((hash(entry.id()), at));
        if let Content::Task(task) = &entry.content {
            links.extend(task.parent.iter().chain(&task.blocked_by).map(|id| (hash(id), at)));
        }
        frame(&mut records, entry);
    }
    let (ids, links) = (table(ids), table(links));
    let mut bytes = MAGIC.to_vec();
    for part in [&head, &records, &ids, &links] {
        bytes.extend((part.len() as u32).to_le_bytes());
    }
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    for part in [head, records, ids, links] {
        bytes.extend(part);
    }
    fs::write_over(temp, &bytes, false)?;
    fs::rename(temp, path)
}

impl IndexFile {
    /// Opens an index; `None` if it does not exist or cannot be used by this version of ralph.
    pub fn open(path: &Path, reader: u32) -> Option<Self> {
        Self::read(path).filter(|index| index.header.reader == reader)
    }

    /// Whether an index is complete. An index for another version or workflow is outdated, but not damaged.
    pub fn is_whole(path: &Path) -> bool {
        Self::read(path).is_some_and(|index| index.entries().is_some())
    }

    fn read(path: &Path) -> Option<Self> {
        let file = File::options().read(true).open(path).ok()?;
        let mut prefix = [0; PREFIX];
        read_exact_at(&file, &mut prefix, 0).ok()?;
        let number = |at: usize| prefix[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let lengths = [number(8)?, number(12)?, number(16)?, number(20)?];
        if prefix[..8] != *MAGIC || crc32fast::hash(&prefix[..24]) != number(24)? {
            return None;
        }
        let mut at = PREFIX as u64;
        let parts = lengths.map(|length| {
            let part = (at, length);
            at += u64::from(length);
            part
        });
        let header: Header = unframe(&part(&file, parts[0])?, 0)?.0;
        let size = file.metadata().ok()?.len();
        let tail = part(&file, (at, u32::try_from(size.checked_sub(at)?).ok()?))?;
        let mut index = Self { file, header, records: parts[1], ids: parts[2], links: parts[3], touched: Vec::new() };
        let mut place = 0;
        while let Some((touched, next)) = unframe::<TouchedTasks>(&tail, place) {
            index.touched.push(touched);
            place = next;
        }
        Some(index)
    }

    /// All records, or `None` if one is damaged.
    pub fn entries(&self) -> Option<Vec<Entry>> {
        let bytes = part(&self.file, self.records)?;
        let mut entries = Vec::with_capacity(self.header.tasks as usize);
        let mut at = 0;
        while at < bytes.len() {
            let (entry, next) = unframe(&bytes, at)?;
            entries.push(entry);
            at = next;
        }
        (entries.len() as u64 == self.header.tasks).then_some(entries)
    }

    /// The tasks that verbs have changed since the index was written.
    pub fn touched(&self) -> std::collections::HashSet<TaskId> {
        self.touched.iter().flat_map(|touched| touched.ids.iter().cloned()).collect()
    }

    /// The folder's stamp after the index or the last verb was written.
    pub fn folder(&self) -> Nanos {
        self.touched.last().map_or(self.header.folder, |touched| touched.folder)
    }

    pub fn entry(&self, id: &TaskId) -> Option<Entry> {
        let places = self.rows(self.ids, hash(id))?;
        places.into_iter().filter_map(|at| self.record(at)).find(|entry| entry.id() == id)
    }

    /// Tasks that may have `id` as parent or blocker: those that had it, and those that verbs have changed since.
    pub fn may_name(&self, id: &TaskId) -> Option<Vec<TaskId>> {
        let mut ids: Vec<TaskId> = self.touched.iter().flat_map(|touched| touched.ids.clone()).collect();
        for at in self.rows(self.links, hash(id))? {
            ids.push(self.record(at)?.id().clone());
        }
        ids.sort();
        ids.dedup();
        Some(ids)
    }

    /// Records which tasks a verb has changed, for readers of single tasks. `before` is the folder's stamp before the verb.
    pub fn touch(path: &Path, reader: u32, before: Nanos, folder: Nanos, ids: Vec<TaskId>) {
        let Some(index) = Self::open(path, reader) else { return };
        // Somebody else has changed the folder, or the tail is too long, so the next reader must check all files.
        if index.folder() != before || index.touched.len() >= MAX_TOUCHED {
            return;
        }
        let mut bytes = Vec::new();
        frame(&mut bytes, &TouchedTasks { folder, ids });
        if let Ok(mut file) = File::options().append(true).open(path) {
            let _ = std::io::Write::write_all(&mut file, &bytes);
        }
    }

    fn record(&self, at: u32) -> Option<Entry> {
        let mut head = [0; 8];
        let place = self.records.0 + u64::from(at);
        read_exact_at(&self.file, &mut head, place).ok()?;
        let length = u32::from_le_bytes(head[..4].try_into().ok()?);
        let whole = part(&self.file, (place, length.checked_add(8).filter(|l| *l <= self.records.1)?))?;
        Some(unframe(&whole, 0)?.0)
    }

    /// The record positions for a hash in a sorted table.
    fn rows(&self, table: (u64, u32), wanted: u64) -> Option<Vec<u32>> {
        let count = table.1 as usize / ROW;
        let row = |at: usize| -> Option<(u64, u32)> {
            let mut bytes = [0; ROW];
            read_exact_at(&self.file, &mut bytes, table.0 + (at * ROW) as u64).ok()?;
            Some((u64::from_le_bytes(bytes[..8].try_into().ok()?), u32::from_le_bytes(bytes[8..].try_into().ok()?)))
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if row(middle)?.0 < wanted { low = middle + 1 } else { high = middle }
        }
        let mut places = Vec::new();
        while low < count {
            let (hash, at) = row(low)?;
            if hash != wanted {
                break;
            }
            places.push(at);
            low += 1;
        }
        Some(places)
    }
}

fn part(file: &File, (at, length): (u64, u32)) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    read_exact_at(file, &mut bytes, at).ok()?;
    Some(bytes)
}

//! Task files as text: parsing a file, writing a new one, and changing one key without touching any other byte.

mod array;
mod doc;
mod read;
mod render;

pub use doc::{Doc, EditError, comments};
pub use read::{KEYS, MAX_FILE_SIZE, Read, has_conflict_markers, read, utf8};
pub use render::{new_file, value as render_value};

//! The documents of agents: kinds, names, front matter, templates, and checks.

mod check;
mod front;
mod kind;
mod markdown;
mod name;
mod plan;
mod skeleton;
mod subject;

pub use check::{Finding, check};
pub use front::FrontMatter;
pub use kind::{DocumentKind, Status, Template};
pub use name::{DocumentName, file_name, slug};
pub use plan::{Phase, files_modified, is_surely_name, phases};
pub use skeleton::{MARKER, skeleton};
pub use subject::{Member, Subject};

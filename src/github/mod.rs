//! GitHub: the client, what it is asked, what both sides say, and the pure plan that brings them together.

mod answer;
mod body;
mod calls;
mod client;
pub mod documents;
mod error;
mod fields;
mod host;
mod knowledge;
mod pace;
mod plan;
mod project;
mod pull_request;
mod reading;
mod state;
mod token;
mod unanswered;
mod writing;

pub use crate::task::mirrored::{Field, canonical, fingerprint, hash, title_of};
pub use answer::{Label, Node};
pub use body::{LONGEST_BODY, LONGEST_TITLE, Marker, comment_body, issue_body, read_comment, read_issue_body};
pub use calls::{Call, batch, create_with};
pub use client::{Answer, Client, Effect, Patience, Wait};
pub use error::{ApiError, GithubError};
pub use fields::{Link, NoteLink, Values};
pub use host::{Host, Slug, endpoint};
pub use knowledge::{Features, Item, Knowledge, RemoteComment, RemoteIssue};
pub use pace::Pace;
pub use plan::{Decision, decide};
pub use project::{Lookup, OptionField, Project, Repo, Wanted};
pub use pull_request::{Check, CheckResult, Checks, Head, PullRequest, PullState};
pub use reading::{FieldNames, Names, remote_values};
pub use state::{Representation, Shown};
pub use token::{Token, find_token};
pub use writing::{BATCH, Created, NewText, Outcome, WithRiders};

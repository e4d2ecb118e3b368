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
mod plan;
mod project;
mod pull_request;
mod reading;
mod state;
mod token;
mod unanswered;
mod writing;

pub use answer::{Label, Node};
pub use body::{
    LONGEST_BODY, LONGEST_TITLE, Marker, canonical, comment_body, hash, issue_body, read_body_of, read_comment,
    read_issue_body, title_of,
};
pub use calls::{Call, batch};
pub use client::{Answer, Client, Effect, Pace, Patience, Wait};
pub use error::{ApiError, GithubError};
pub use fields::{Field, Link, NoteLink, Values};
pub use host::{Host, Slug, endpoint};
pub use knowledge::{Features, Item, Knowledge, RemoteComment, RemoteIssue};
pub use plan::{Decision, decide, fingerprint};
pub use project::{Lookup, OptionField, Project, Repo, Wanted};
pub use pull_request::{Check, CheckResult, Checks, Head, PullRequest, PullState};
pub use reading::{FieldNames, Names, remote_values};
pub use state::{Representation, Shown};
pub use token::{Token, find_token};
pub use writing::{BATCH, Created, Outcome};

//! All GraphQL documents; `tests/it/github.rs` checks each against GitHub's schema.

pub const PROJECT: &str = include_str!("documents/project.graphql");
pub const OWNER: &str = include_str!("documents/owner.graphql");
pub const REPOSITORY: &str = include_str!("documents/repository.graphql");
pub const FEATURES: &str = include_str!("documents/features.graphql");
pub const SCAN: &str = concat!(include_str!("documents/scan.graphql"), include_str!("documents/scan_parts.graphql"));
/// The scan for servers that support neither dependencies nor archived items.
pub const SCAN_PLAIN: &str =
    concat!(include_str!("documents/scan_plain.graphql"), include_str!("documents/scan_parts.graphql"));
pub const DETAILS: &str =
    concat!(include_str!("documents/details.graphql"), include_str!("documents/details_parts.graphql"));
pub const DETAILS_PLAIN: &str =
    concat!(include_str!("documents/details_plain.graphql"), include_str!("documents/details_parts.graphql"));
pub const COMMENTS: &str = include_str!("documents/comments.graphql");
pub const HEADS: &str = include_str!("documents/heads.graphql");
pub const RECENT: &str = include_str!("documents/recent.graphql");
pub const CREATE: &str = include_str!("documents/create.graphql");
pub const SETUP: &str = include_str!("documents/setup.graphql");
pub const FEEDBACK: &str = include_str!("documents/feedback.graphql");
pub const PULL: &str = include_str!("documents/pull.graphql");

/// All documents by their names.
pub const ALL: &[(&str, &str)] = &[
    ("project", PROJECT),
    ("owner", OWNER),
    ("repository", REPOSITORY),
    ("features", FEATURES),
    ("scan", SCAN),
    ("scan_plain", SCAN_PLAIN),
    ("details", DETAILS),
    ("details_plain", DETAILS_PLAIN),
    ("comments", COMMENTS),
    ("heads", HEADS),
    ("recent", RECENT),
    ("create", CREATE),
    ("setup", SETUP),
    ("pull", PULL),
    ("feedback", FEEDBACK),
];

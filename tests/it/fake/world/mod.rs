//! The state of the fake GitHub: its entities, its clock, its viewer and its switches.

mod issues;
mod items;
mod kinds;
mod limits;
mod look;
mod people;
mod pulls;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

pub(super) use self::issues::{MAX_CHILDREN, MAX_DEPTH};
pub use self::kinds::*;
pub use self::limits::{Limits, Refusal};
pub use self::people::Place;

/// The whole state of the server; tests change it as other people would.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // independent switches that tests flip
pub struct World {
    pub now: Timestamp,
    /// The login of the token.
    pub viewer: String,
    /// The login that acts in the helper methods, which is not the viewer.
    pub actor: String,
    pub scopes: Vec<String>,
    pub fine_grained: bool,
    /// The token no longer works.
    pub revoked: bool,
    /// Repositories (`owner/name`) that the viewer cannot see any more.
    pub hidden_repo: BTreeSet<String>,
    pub item_listing_lag: bool,
    /// How many attempts to add a new issue to a project answer `NOT_FOUND` first.
    pub not_yet_addable: u32,
    /// How many reads of a new or pushed pull request return UNKNOWN.
    pub mergeable_unknown_reads: u32,
    pub limits: Option<Limits>,
    pub points_limit: u64,
    pub points_used: u64,
    pub points_reset: Timestamp,
    /// Times of content creation, and whether each was an issue.
    pub created_content: Vec<(Timestamp, bool)>,
    pub owners: BTreeMap<Id, Owner>,
    pub repositories: BTreeMap<Id, Repository>,
    pub labels: BTreeMap<Id, Label>,
    pub issues: BTreeMap<Id, Issue>,
    pub comments: BTreeMap<Id, Comment>,
    pub projects: BTreeMap<Id, Project>,
    pub fields: BTreeMap<Id, Field>,
    pub items: BTreeMap<Id, Item>,
    pub pulls: BTreeMap<Id, Pull>,
    pub refs: BTreeMap<Id, Ref>,
    serial: u64,
}

pub(super) const START: &str = "2026-11-16T12:00:00Z";

impl Default for World {
    fn default() -> Self {
        let now: Timestamp = START.parse().expect("a timestamp");
        let mut world = Self {
            now,
            viewer: "octocat".into(),
            actor: "hubot".into(),
            scopes: vec!["project".into(), "repo".into()],
            fine_grained: false,
            revoked: false,
            hidden_repo: BTreeSet::new(),
            item_listing_lag: false,
            not_yet_addable: 0,
            mergeable_unknown_reads: 0,
            limits: None,
            points_limit: 5_000,
            points_used: 0,
            points_reset: now + SignedDuration::from_hours(1),
            created_content: Vec::new(),
            owners: BTreeMap::new(),
            repositories: BTreeMap::new(),
            labels: BTreeMap::new(),
            issues: BTreeMap::new(),
            comments: BTreeMap::new(),
            projects: BTreeMap::new(),
            fields: BTreeMap::new(),
            items: BTreeMap::new(),
            pulls: BTreeMap::new(),
            refs: BTreeMap::new(),
            serial: 0,
        };
        world.add_owner("octocat", false);
        world.add_owner("hubot", false);
        world.add_owner("acme", true);
        world.add_repository("acme", "app");
        world.add_repo_label("acme/app", "bug", "d73a4a");
        world.add_repo_label("acme/app", "enhancement", "a2eeef");
        world
    }
}

impl World {
    /// Moves the server's clock.
    pub fn advance(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub(super) fn new_id(&mut self, prefix: &str) -> Id {
        let serial = self.next_serial();
        format!("{prefix}_kwDOBf{serial:06X}")
    }

    /// An option id is an eight-digit hex string, not a node id (§1.2).
    pub(super) fn new_option_id(&mut self) -> String {
        let serial = self.next_serial();
        let mixed = serial.wrapping_mul(2_654_435_761) & 0xffff_ffff;
        format!("{mixed:08x}")
    }

    pub fn new_oid(&mut self) -> String {
        let serial = self.next_serial();
        format!("{:016x}{serial:024x}", serial.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn add_owner(&mut self, login: &str, is_organization: bool) -> Id {
        let id = self.new_id(if is_organization { "O" } else { "U" });
        let owner = Owner { id: id.clone(), login: login.into(), is_organization };
        self.owners.insert(id.clone(), owner);
        id
    }

    /// A repository with `main`, one commit, issues on and every merge method allowed.
    pub fn add_repository(&mut self, owner: &str, name: &str) -> Id {
        let id = self.new_id("R");
        let repository = Repository {
            id: id.clone(),
            owner: owner.into(),
            name: name.into(),
            has_issues: true,
            archived: false,
            permission: "WRITE".into(),
            visibility: "PRIVATE".into(),
            default_branch: "main".into(),
            merge_commit: true,
            squash: true,
            rebase: true,
            auto_merge: false,
            delete_branch_on_merge: false,
            merge_queue: false,
            next_number: 1,
        };
        self.repositories.insert(id.clone(), repository);
        let oid = self.new_oid();
        self.write_ref(&id, "refs/heads/main", &oid);
        id
    }

    pub fn add_repo_label(&mut self, repo: &str, name: &str, color: &str) -> Id {
        let repo = self.repo_id(repo);
        self.new_label(&repo, name, color, None)
    }

    pub(super) fn new_label(&mut self, repo: &str, name: &str, color: &str, description: Option<String>) -> Id {
        let id = self.new_id("LA");
        let label = Label { id: id.clone(), repo: repo.into(), name: name.into(), color: color.into(), description };
        self.labels.insert(id.clone(), label);
        id
    }

    /// The id of `owner/name`, whether the viewer sees it or not.
    ///
    /// # Panics
    /// If there is no such repository.
    #[must_use]
    pub fn repo_id(&self, full_name: &str) -> Id {
        let found = self.repositories.values().find(|r| r.full_name().eq_ignore_ascii_case(full_name));
        found.unwrap_or_else(|| panic!("the fake has no repository {full_name}")).id.clone()
    }

    /// Changes the settings of a repository.
    ///
    /// # Panics
    /// If there is no such repository.
    pub fn repo_mut(&mut self, full_name: &str) -> &mut Repository {
        let id = self.repo_id(full_name);
        self.repositories.get_mut(&id).expect("just found")
    }

    pub(super) fn is_hidden(&self, repo: &str) -> bool {
        self.repositories.get(repo).is_none_or(|r| self.hidden_repo.contains(&r.full_name()))
    }

    pub(super) fn owner_named(&self, login: &str) -> Option<&Owner> {
        self.owners.values().find(|o| o.login.eq_ignore_ascii_case(login))
    }
}

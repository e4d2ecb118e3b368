//! Merges a task's branch into main: prepared in memory, then applied in one step.

use serde::{Deserialize, Serialize};

use gix::bstr::ByteSlice as _;
use gix::refs::FullName;

use super::commit::new_commit;
use super::history::LANDING;
use super::merge::MergeFiles;
use super::repository::{GitError, Repository, other};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Merge,
    Squash,
    Forward,
    /// One commit on top of the other side that replaces the branch's own commits: for a branch that was not published.
    Onto,
}

/// A commit that exists, and to which a branch is to be moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    pub into: String,
    pub old: String,
    pub new: String,
    /// The tip of the other side.
    pub tip: String,
    log: String,
}

impl Landing {
    pub fn is_elsewhere(&self) -> bool {
        self.old.is_empty()
    }

    /// A merge that was made on the server.
    pub fn elsewhere(into: &str, new: &str, tip: &str) -> Self {
        Self { into: into.to_owned(), old: String::new(), new: new.to_owned(), tip: tip.to_owned(), log: String::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// The branch contains all of it already.
    Nothing,
    Conflicts(Vec<String>),
    Ready(Landing),
}

/// One side of a merge: a name for people, and its commit.
struct MergeSide<'a> {
    name: &'a str,
    id: gix::ObjectId,
}

/// The short name of a reference, such as `origin/main`.
fn short(name: &str) -> String {
    name.trim_start_matches("refs/remotes/").trim_start_matches("refs/heads/").to_owned()
}

impl Repository {
    /// The result of merging `theirs` into the branch `into`. Only objects are written; no reference changes.
    pub fn prepare(
        &self,
        into: &str,
        theirs: &str,
        style: Style,
        message: &str,
        files: &dyn MergeFiles,
    ) -> Result<Prepared, GitError> {
        let ours = MergeSide { name: into, id: self.commit_of(&format!("refs/heads/{into}"))? };
        let theirs = MergeSide { name: theirs, id: self.commit_of(theirs)? };
        let landing = |new: gix::ObjectId, how: &str| {
            Prepared::Ready(Landing {
                into: into.to_owned(),
                old: ours.id.to_string(),
                new: new.to_string(),
                tip: theirs.id.to_string(),
                log: format!("{LANDING}{}: {how}", short(theirs.name)),
            })
        };
        if self.reaches(ours.id, theirs.id)? {
            return Ok(Prepared::Nothing);
        }
        if style == Style::Forward {
            return match self.reaches(theirs.id, ours.id)? {
                true => Ok(landing(theirs.id, "Fast-forward")),
                false => Err(GitError::NotForward(theirs.name.to_owned(), ours.name.to_owned())),
            };
        }
        let bases = self.inner.merge_bases_many(ours.id, &[theirs.id]).map_err(|e| other("compare commits", &e))?;
        if bases.is_empty() {
            return Err(GitError::Unrelated(ours.name.to_owned(), short(theirs.name)));
        }
        let merged = self.merged_tree(ours.id, theirs.id, files)?;
        if !merged.conflicts.is_empty() {
            return Ok(Prepared::Conflicts(merged.conflicts));
        }
        if style == Style::Onto && merged.tree == self.tree_of(theirs.id)? {
            return Ok(landing(theirs.id, "already there"));
        }
        let (parents, how) = match style {
            Style::Squash => (vec![ours.id], "squashed"),
            Style::Onto => (vec![theirs.id], "rebased"),
            Style::Merge | Style::Forward => (vec![ours.id, theirs.id], "merged"),
        };
        let new = new_commit(&self.main()?, merged.tree, parents, message)?;
        Ok(landing(new, how))
    }

    fn tree_of(&self, commit: gix::ObjectId) -> Result<gix::ObjectId, GitError> {
        let doing = "read a commit";
        let commit = self.inner.find_commit(commit).map_err(|e| other(doing, &e))?;
        commit.tree_id().map(|id| id.detach()).map_err(|e| other(doing, &e))
    }

    /// The commit that a reference points to, if it exists.
    pub fn commit_named(&self, name: &str) -> Option<String> {
        self.commit_of(name).ok().map(|id| id.to_string())
    }

    /// The last commit that both histories have in common.
    pub fn common_commit(&self, one: &str, other_one: &str) -> Result<Option<String>, GitError> {
        let (one, two) = (self.commit_of(one)?, self.commit_of(other_one)?);
        let bases = self.inner.merge_bases_many(one, &[two]).map_err(|e| other("compare commits", &e))?;
        Ok(bases.first().map(|base| base.detach().to_string()))
    }

    /// Whether another local branch contains commits of `branch` that `published` does not have.
    pub fn has_branch_on(&self, branch: &str, published: &str) -> Result<bool, GitError> {
        let doing = "list the branches";
        let (own, published) = (self.commit_of(&format!("refs/heads/{branch}"))?, self.commit_of(published)?);
        let references = self.inner.references().map_err(|e| other(doing, &e))?;
        for reference in references.local_branches().map_err(|e| other(doing, &e))?.flatten() {
            if reference.name().shorten() == branch.as_bytes().as_bstr() {
                continue;
            }
            let Some(tip) = reference.try_id().map(gix::Id::detach) else { continue };
            let bases = self.inner.merge_bases_many(own, &[tip]).map_err(|e| other("compare commits", &e))?;
            for base in bases {
                if !self.reaches(published, base.detach())? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The paths that landing it would change.
    pub fn landing_paths(&self, landing: &Landing) -> Result<Vec<String>, GitError> {
        self.paths_between(&landing.old, &landing.new)
    }

    /// The paths that landing it would turn into links.
    pub fn landing_links(&self, landing: &Landing) -> Result<Vec<String>, GitError> {
        let (old, new) = (self.commit_of(&landing.old)?, self.commit_of(&landing.new)?);
        let touched = super::update::touched(&self.inner, old, new)?;
        let links = touched.iter().filter(|touch| touch.becomes_link());
        Ok(links.map(|touch| touch.path.to_string()).collect())
    }

    /// Paths that differ between two revisions.
    pub fn paths_between(&self, old: &str, new: &str) -> Result<Vec<String>, GitError> {
        let touched = super::update::touched(&self.inner, self.commit_of(old)?, self.commit_of(new)?)?;
        Ok(touched.iter().map(|touch| touch.path.to_string()).collect())
    }

    /// All paths of a revision.
    pub fn paths_of(&self, revision: &str) -> Result<Vec<String>, GitError> {
        let files = super::update::files_of(&self.inner, self.commit_of(revision)?)?;
        Ok(files.keys().map(ToString::to_string).collect())
    }

    pub fn land(&self, landing: &Landing) -> Result<(), GitError> {
        self.forward(&landing.into, self.commit_of(&landing.old)?, self.commit_of(&landing.new)?, &landing.log)
    }

    /// Whether a commit is in the history of a revision.
    pub fn contains(&self, revision: &str, commit: &str) -> bool {
        let ids = self.commit_of(revision).and_then(|tip| Ok((tip, self.commit_of(commit)?)));
        ids.and_then(|(tip, commit)| self.reaches(tip, commit)).unwrap_or(false)
    }

    fn reaches(&self, tip: gix::ObjectId, commit: gix::ObjectId) -> Result<bool, GitError> {
        if tip == commit {
            return Ok(true);
        }
        let bases = self.inner.merge_bases_many(tip, &[commit]).map_err(|e| other("compare commits", &e))?;
        Ok(bases.iter().any(|base| base.detach() == commit))
    }

    /// Deletes a branch if it still points to `tip`.
    pub fn delete_branch_at(&self, branch: &str, tip: &str) -> Result<bool, GitError> {
        if !self.has_branch(branch) || self.tip_of(branch)? != tip {
            return Ok(false);
        }
        let name: FullName = format!("refs/heads/{branch}").try_into().map_err(|e| other("resolve the branch", &e))?;
        let tip = self.commit_of(tip)?;
        self.delete_branch(name, tip).map(|()| true)
    }

    /// The subjects of the commits that are in `branch` but not in `without`, oldest first.
    pub fn subjects(&self, branch: &str, without: &str) -> Result<Vec<String>, GitError> {
        let doing = "read the commits";
        let walk = self.inner.rev_walk([self.commit_of(branch)?]).with_hidden([self.commit_of(without)?]);
        let mut subjects = Vec::new();
        for step in walk.all().map_err(|e| other(doing, &e))? {
            let commit = step.map_err(|e| other(doing, &e))?.object().map_err(|e| other(doing, &e))?;
            let message = commit.message_raw_sloppy().to_string();
            subjects.push(message.lines().next().unwrap_or_default().to_owned());
        }
        subjects.reverse();
        Ok(subjects)
    }
}

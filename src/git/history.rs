//! What the repository held at another point: the files under a folder, as some revision has them.

use gix::objs::FindExt as _;

use super::repository::{GitError, Repository, other};

/// A file of another revision, by its path inside the folder that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFile {
    pub path: String,
    pub content: Vec<u8>,
}

impl Repository {
    /// Every file below `folder` at a branch, tag or commit; none where it has no such folder. Nothing is checked out.
    pub fn files_at(&self, revision: &str, folder: &str) -> Result<Vec<OldFile>, GitError> {
        let unknown = |_| GitError::NoRevision(revision.to_owned());
        let id = self.inner.rev_parse_single(revision).map_err(unknown)?;
        let commit = id.object().and_then(gix::Object::peel_to_commit).map_err(unknown)?;
        let tree = commit.tree().map_err(|e| other("read the tree of that revision", &e))?;
        let entry = tree.lookup_entry_by_path(folder).map_err(|e| other("look the folder up", &e))?;
        let mut files = Vec::new();
        if let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) {
            self.collect(entry.object_id(), "", &mut files)?;
        }
        Ok(files)
    }

    /// One file at a branch, tag or commit; `None` where it has none, or where there is no commit at all yet.
    pub fn file_at(&self, revision: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Ok(id) = self.inner.rev_parse_single(revision) else { return Ok(None) };
        let doing = "read a file of that revision";
        let commit = id.object().and_then(gix::Object::peel_to_commit).map_err(|e| other(doing, &e))?;
        let tree = commit.tree().map_err(|e| other(doing, &e))?;
        let Some(entry) = tree.lookup_entry_by_path(path).map_err(|e| other(doing, &e))? else { return Ok(None) };
        let blob = self.inner.find_blob(entry.object_id()).map_err(|e| other(doing, &e))?;
        Ok(Some(blob.data.clone()))
    }

    fn collect(&self, tree: gix::ObjectId, path: &str, files: &mut Vec<OldFile>) -> Result<(), GitError> {
        let mut buffer = Vec::new();
        let entries: Vec<(String, gix::ObjectId, bool)> = self
            .inner
            .objects
            .find_tree_iter(&tree, &mut buffer)
            .map_err(|e| other("read a tree", &e))?
            .filter_map(Result::ok)
            .filter(|entry| entry.mode.is_tree() || entry.mode.is_blob())
            .map(|entry| (format!("{path}{}", entry.filename), entry.oid.to_owned(), entry.mode.is_tree()))
            .collect();
        for (name, id, is_tree) in entries {
            if is_tree {
                self.collect(id, &format!("{name}/"), files)?;
                continue;
            }
            let mut content = Vec::new();
            let blob = self
                .inner
                .objects
                .find_blob(&id, &mut content)
                .map_err(|e| other("read a file of that revision", &e))?;
            let content = blob.data.to_vec();
            files.push(OldFile { path: name, content });
        }
        Ok(())
    }
}

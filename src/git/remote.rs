//! Branches and claims on a remote, through the git program: gix cannot push.

use gix::bstr::ByteSlice as _;

use super::repository::{GitError, Repository, other};
use super::said::{GitSaid, PushRefused, Trouble};

/// The remote branch that the branch of the main worktree is pushed to and pulled from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Upstream {
    pub remote: String,
    /// The name of the local branch.
    pub branch: String,
    /// The name of the branch on the remote.
    pub theirs: String,
}

impl Upstream {
    /// The reference with the remote branch as it was last fetched.
    pub fn tracking(&self) -> String {
        format!("refs/remotes/{}/{}", self.remote, self.theirs)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// The remote already had all commits.
    Same,
    /// The remote branch has commits that this clone does not have.
    Behind,
}

/// The references of claims on the remote.
const CLAIMS: &str = "refs/ralph/claims";

/// A change of one reference on a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    pub name: String,
    /// The expected old object; `None` if the reference must not exist.
    pub expected: Option<String>,
    /// The new object; `None` removes the reference.
    pub new: Option<String>,
}

impl RefUpdate {
    pub fn claim(task: &str, expected: Option<String>, new: Option<String>) -> Self {
        Self { name: format!("{CLAIMS}/{task}"), expected, new }
    }

    /// Moves the remote's branch to a commit, if the branch is where this clone last saw it.
    pub fn branch(upstream: &Upstream, expected: Option<String>, new: String) -> Self {
        Self { name: format!("refs/heads/{}", upstream.theirs), expected, new: Some(new) }
    }

    /// Whether it changes the reference. Otherwise it only requires the expected object.
    fn changes(&self) -> bool {
        self.expected != self.new
    }
}

/// A remote's answer to an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefAnswer {
    Done,
    /// The reference had this value already.
    Same,
    /// The reference was not as expected.
    Stale,
    /// It was not done because another update of the same push failed.
    Dropped,
    Denied(String),
    NotTold,
}

/// The reference of a claim, as this clone knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRef {
    pub task: String,
    /// The object that it points to, which the next update must expect.
    pub object: String,
    pub text: String,
}

impl Repository {
    /// The branch that is checked out in the main worktree; `None` if HEAD is detached.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        let name = self.main()?.head_name().map_err(|e| other("read HEAD", &e))?;
        Ok(name.map(|name| name.shorten().to_string()))
    }

    /// The remote branch of the branch that is checked out: as configured in git, otherwise of the same name.
    pub fn upstream(&self, remote: Option<&str>) -> Result<Upstream, GitError> {
        let branch = self.current_branch()?.ok_or(GitError::Detached)?;
        let settings = self.inner.config_snapshot();
        let set = |key: &str| settings.string(format!("branch.{branch}.{key}").as_str()).map(|value| value.to_string());
        let names: Vec<String> =
            self.inner.remote_names().iter().map(|name| name.to_str_lossy().into_owned()).collect();
        let named = remote.map(str::to_owned).or_else(|| set("remote").filter(|name| name != "."));
        let found = named.or_else(|| match names.as_slice() {
            [one] => Some(one.clone()),
            many => many.iter().find(|name| *name == "origin").cloned(),
        });
        let remote = match found {
            Some(remote) => remote,
            None if names.is_empty() => return Err(GitError::NoRemote(None)),
            None => return Err(GitError::ManyRemotes(names)),
        };
        if !names.contains(&remote) {
            return Err(GitError::NoRemote(Some(remote)));
        }
        let theirs = set("merge").filter(|_| set("remote").as_ref() == Some(&remote));
        let theirs = theirs.map(|name| name.trim_start_matches("refs/heads/").to_owned());
        Ok(Upstream { theirs: theirs.unwrap_or_else(|| branch.clone()), remote, branch })
    }

    /// Fetches the remote's branch; `false` if the remote has no such branch.
    pub fn fetch(&self, upstream: &Upstream) -> Result<bool, GitError> {
        let refspec = format!("+refs/heads/{}:{}", upstream.theirs, upstream.tracking());
        let said =
            self.ask(&upstream.remote, &["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"], &[&refspec])?;
        if said.ok {
            return Ok(true);
        }
        // Git reports some truncated answers as a list without branches.
        if said.trouble() == Trouble::NoRemoteRef && self.commit_named(&upstream.tracking()).is_none() {
            return Ok(false);
        }
        Err(unreachable(&upstream.remote, &said))
    }

    pub fn push(&self, upstream: &Upstream) -> Result<Pushed, GitError> {
        let refspec = format!("refs/heads/{}:refs/heads/{}", upstream.branch, upstream.theirs);
        let said = self.ask(&upstream.remote, &["push", "--porcelain"], &[&refspec])?;
        if said.ok {
            let same = said.stdout.lines().any(|line| line.starts_with('='));
            return Ok(if same { Pushed::Same } else { Pushed::Done });
        }
        match said.refused() {
            Some(PushRefused::Behind) => Ok(Pushed::Behind),
            Some(PushRefused::Denied(message)) => Err(GitError::Denied { remote: upstream.remote.clone(), message }),
            None => Err(unreachable(&upstream.remote, &said)),
        }
    }

    /// Replaces the remote's branch, if it still points to `expected`: for a branch whose commits were rewritten.
    pub fn push_over(&self, upstream: &Upstream, expected: &str) -> Result<Pushed, GitError> {
        let refspec = format!("refs/heads/{}:refs/heads/{}", upstream.branch, upstream.theirs);
        let lease = format!("--force-with-lease=refs/heads/{}:{expected}", upstream.theirs);
        let said = self.ask(&upstream.remote, &["push", "--porcelain", &lease], &[&refspec])?;
        if said.ok {
            return Ok(Pushed::Done);
        }
        match said.refused() {
            Some(PushRefused::Behind) => Ok(Pushed::Behind),
            Some(PushRefused::Denied(message)) => Err(GitError::Denied { remote: upstream.remote.clone(), message }),
            None => Err(unreachable(&upstream.remote, &said)),
        }
    }

    /// The remote whose URL `fits`.
    pub fn remote_where(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let settings = self.inner.config_snapshot();
        self.remotes().into_iter().find(|name| {
            settings.string(format!("remote.{name}.url").as_str()).is_some_and(|url| fits(&url.to_str_lossy()))
        })
    }

    /// Deletes a branch on a remote, if it still points to `tip`. It is not an error if the branch is gone.
    pub fn delete_remote_branch(&self, remote: &str, branch: &str, tip: &str) -> Result<bool, GitError> {
        self.known(remote)?;
        let lease = format!("--force-with-lease=refs/heads/{branch}:{tip}");
        let said =
            self.ask(remote, &["push", "--porcelain", "--no-verify", &lease], &[&format!(":refs/heads/{branch}")])?;
        if said.ok || said.trouble() == Trouble::NoRemoteRef {
            return Ok(said.ok);
        }
        match said.refused() {
            Some(PushRefused::Behind) => Ok(false),
            Some(PushRefused::Denied(message)) => Err(GitError::Denied { remote: remote.to_owned(), message }),
            None => Err(unreachable(remote, &said)),
        }
    }

    /// Fetches the claims of a remote and one of its branches over one connection, and forgets claims that are gone there.
    pub fn fetch_claims(&self, remote: &str, branch: Option<&Upstream>) -> Result<(), GitError> {
        self.known(remote)?;
        let claims = format!("+{CLAIMS}/*:{}/*", cached(remote));
        let refspec = branch.map(|upstream| format!("+refs/heads/{}:{}", upstream.theirs, upstream.tracking()));
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let mut refspecs = vec![claims.as_str()];
        refspecs.extend(refspec.as_deref());
        let mut said = self.ask(remote, &options, &refspecs)?;
        // Git reports some truncated answers as a list without references. This is believed only of a remote that never had the
        // branch: otherwise all claims would be forgotten.
        let never = branch.is_some_and(|upstream| self.commit_named(&upstream.tracking()).is_none());
        if !said.ok && said.trouble() == Trouble::NoRemoteRef && never {
            said = self.ask(remote, &options, &refspecs[..1])?;
        }
        if said.ok { Ok(()) } else { Err(unreachable(remote, &said)) }
    }

    /// The claims as they were last fetched.
    pub fn claims_of(&self, remote: &str) -> Result<Vec<ClaimRef>, GitError> {
        self.known(remote)?;
        let doing = "read the claims of the remote";
        let prefix = format!("{}/", cached(remote));
        let references = self.inner.references().map_err(|e| other(doing, &e))?;
        let mut found = Vec::new();
        for reference in references.prefixed(prefix.as_str()).map_err(|e| other(doing, &e))? {
            let Ok(reference) = reference else { continue };
            let name = reference.name().as_bstr().to_str_lossy().into_owned();
            let Some(task) = name.strip_prefix(&prefix) else { continue };
            let id = reference.id();
            // The reference may point to anything; an object that is not text gives an empty claim.
            let text = self.inner.find_blob(id.detach()).map(|blob| blob.data.to_str_lossy().into_owned());
            let text = text.unwrap_or_default();
            found.push(ClaimRef { task: task.to_owned(), object: id.to_string(), text });
        }
        Ok(found)
    }

    /// Changes references of a remote in one step: all of them, or none. The remote compares each with the expected object, so
    /// the first of several clones wins. The answers are in the order of the updates.
    pub fn push_refs(&self, remote: &str, updates: &[RefUpdate]) -> Result<Vec<RefAnswer>, GitError> {
        self.known(remote)?;
        let leases: Vec<String> = updates
            .iter()
            .map(|update| {
                format!("--force-with-lease={}:{}", update.name, update.expected.as_deref().unwrap_or_default())
            })
            .collect();
        let refspecs: Vec<String> = updates
            .iter()
            .map(|update| format!("{}:{}", update.new.as_deref().unwrap_or_default(), update.name))
            .collect();
        let mut options = vec!["push", "--porcelain"];
        // A pre-push hook is meant for branches, not for claims.
        if !updates.iter().any(|update| update.changes() && update.name.starts_with("refs/heads/")) {
            options.push("--no-verify");
        }
        options.extend(leases.iter().map(String::as_str));
        let plain = options.clone();
        if updates.len() > 1 {
            options.push("--atomic");
        }
        let refspecs: Vec<&str> = refspecs.iter().map(String::as_str).collect();
        let mut said = self.ask(remote, &options, &refspecs)?;
        if said.trouble() == Trouble::NotAtomic {
            said = self.ask(remote, &plain, &refspecs)?;
        }
        let answers: Vec<RefAnswer> = updates.iter().map(|update| said.answer(&update.name)).collect();
        let told = answers.iter().any(|answer| *answer != RefAnswer::NotTold);
        match said.refused() {
            _ if told => {}
            Some(PushRefused::Denied(message)) => {
                return Err(GitError::Denied { remote: remote.to_owned(), message });
            }
            // The reference that was to be removed does not exist.
            _ if said.ok || said.trouble() == Trouble::NoRemoteRef => {
                return Ok(vec![RefAnswer::Stale; updates.len()]);
            }
            _ => return Err(unreachable(remote, &said)),
        }
        if answers.iter().all(|answer| matches!(answer, RefAnswer::Done | RefAnswer::Same)) {
            for update in updates.iter().filter(|update| update.changes()) {
                self.keep_answer(remote, update)?;
            }
        }
        Ok(answers)
    }

    /// Records the new value of a reference on the remote in this clone.
    fn keep_answer(&self, remote: &str, update: &RefUpdate) -> Result<(), GitError> {
        if let Some(task) = update.name.strip_prefix(&format!("{CLAIMS}/")) {
            return self.keep_claim(remote, task, update.new.as_deref());
        }
        Ok(())
    }

    /// Writes a text as an object, and returns its id.
    pub fn object_of(&self, text: &str) -> Result<String, GitError> {
        Ok(self.inner.write_blob(text).map_err(|e| other("write the claim", &e))?.to_string())
    }

    /// Records a claim on the remote in this clone, without asking the remote.
    fn keep_claim(&self, remote: &str, task: &str, object: Option<&str>) -> Result<(), GitError> {
        use gix::refs::transaction::{PreviousValue, RefEdit};
        let doing = "record a claim of the remote";
        let name: gix::refs::FullName =
            format!("{}/{task}", cached(remote)).try_into().map_err(|e| other(doing, &e))?;
        let edit = match object {
            Some(object) => {
                let id = gix::ObjectId::from_hex(object.as_bytes()).map_err(|e| other(doing, &e))?;
                RefEdit::update(name, id, PreviousValue::Any, "ralph: claim")
            }
            None => RefEdit::delete(name, PreviousValue::Any),
        };
        self.edit_reference(&self.inner, edit, doing).map(|_| ())
    }

    /// The names of the remotes, `origin` first.
    fn remotes(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.inner.remote_names().iter().map(|name| name.to_str_lossy().into_owned()).collect();
        names.sort_by_key(|name| (name != "origin", name.clone()));
        names
    }

    /// The URLs of all remotes, that of `origin` first.
    pub fn remote_urls(&self) -> Vec<String> {
        let settings = self.inner.config_snapshot();
        let names = self.remotes();
        names
            .iter()
            .filter_map(|name| settings.string(format!("remote.{name}.url").as_str()))
            .map(|url| url.to_string())
            .collect()
    }

    pub fn has_remote(&self, remote: &str) -> bool {
        self.inner.remote_names().iter().any(|name| name.as_bstr() == remote.as_bytes())
    }

    fn known(&self, remote: &str) -> Result<(), GitError> {
        if self.has_remote(remote) { Ok(()) } else { Err(GitError::NoRemote(Some(remote.to_owned()))) }
    }
}

fn cached(remote: &str) -> String {
    format!("refs/ralph/remotes/{remote}/claims")
}

/// The error for a failed command. A local reference that another process holds is not the remote's fault.
fn unreachable(remote: &str, said: &GitSaid) -> GitError {
    match said.trouble() {
        Trouble::RefBusy => other("record the state of the remote", &said.reason()),
        _ => GitError::Remote { remote: remote.to_owned(), trouble: said.net_trouble(), message: said.reason() },
    }
}

//! Branches and claims on a remote, through the git program: gix cannot push.

use gix::bstr::ByteSlice as _;

use super::repository::{GitError, Repository, other};
use super::said::{GitSaid, PushRefused, Trouble};

/// Where the branch of the main worktree goes to and comes from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Upstream {
    pub remote: String,
    /// Its name here.
    pub branch: String,
    /// Its name there.
    pub theirs: String,
}

impl Upstream {
    /// Where git keeps what was last fetched.
    pub fn tracking(&self) -> String {
        format!("refs/remotes/{}/{}", self.remote, self.theirs)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// The remote had it all already.
    Same,
    /// Somebody else was quicker.
    Behind,
}

/// Claims on the remote, and what was last fetched of them.
const CLAIMS: &str = "refs/ralph/claims";

/// One reference that is to change on a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    pub name: String,
    /// What has to be there; `None` for nothing.
    pub expected: Option<String>,
    /// `None` takes it away.
    pub new: Option<String>,
}

impl RefUpdate {
    pub fn claim(task: &str, expected: Option<String>, new: Option<String>) -> Self {
        Self { name: format!("{CLAIMS}/{task}"), expected, new }
    }

    /// The remote's branch to this commit, from where this clone last saw it.
    pub fn branch(upstream: &Upstream, expected: Option<String>, new: String) -> Self {
        Self { name: format!("refs/heads/{}", upstream.theirs), expected, new: Some(new) }
    }

    /// Otherwise it only has to be as expected.
    fn changes(&self) -> bool {
        self.expected != self.new
    }
}

/// What a remote made of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefAnswer {
    Done,
    /// It was so already.
    Same,
    /// Something else is there than was expected.
    Stale,
    /// It could have been done, and another one could not.
    Dropped,
    Denied(String),
    NotTold,
}

/// A claim's reference as this clone knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRef {
    pub task: String,
    /// The object that holds it: what the next one who changes it expects to be there.
    pub object: String,
    pub text: String,
}

impl Repository {
    /// What is checked out in the main worktree; `None` where HEAD is detached.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        let name = self.main()?.head_name().map_err(|e| other("read HEAD", &e))?;
        Ok(name.map(|name| name.shorten().to_string()))
    }

    /// The remote branch that belongs to the one that is checked out: as git is set up, else of the same name.
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

    /// Brings the remote's branch here; `false` where it has none.
    pub fn fetch(&self, upstream: &Upstream) -> Result<bool, GitError> {
        let refspec = format!("+refs/heads/{}:{}", upstream.theirs, upstream.tracking());
        let said =
            self.ask(&upstream.remote, &["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"], &[&refspec])?;
        if said.ok {
            return Ok(true);
        }
        // Git takes some answers that were cut off for a list without any branch.
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

    /// Replaces the remote's branch, if it is still at `expected`: for a branch whose commits were rewritten here.
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

    /// The remote whose address `fits`.
    pub fn remote_where(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let settings = self.inner.config_snapshot();
        self.remotes().into_iter().find(|name| {
            settings.string(format!("remote.{name}.url").as_str()).is_some_and(|url| fits(&url.to_str_lossy()))
        })
    }

    /// Takes a branch away on a remote, if it is still where it was; that it has gone by itself is as good.
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

    /// Fetches the claims of a remote and one of its branches, over one connection, and forgets the claims that are gone there.
    pub fn fetch_claims(&self, remote: &str, branch: Option<&Upstream>) -> Result<(), GitError> {
        self.known(remote)?;
        let claims = format!("+{CLAIMS}/*:{}/*", cached(remote));
        let refspec = branch.map(|upstream| format!("+refs/heads/{}:{}", upstream.theirs, upstream.tracking()));
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let mut refspecs = vec![claims.as_str()];
        refspecs.extend(refspec.as_deref());
        let mut said = self.ask(remote, &options, &refspecs)?;
        // Git takes some answers that were cut off for a list without any reference. Only a server that never had the branch may have
        // none: otherwise every claim would be forgotten.
        let never = branch.is_some_and(|upstream| self.commit_named(&upstream.tracking()).is_none());
        if !said.ok && said.trouble() == Trouble::NoRemoteRef && never {
            said = self.ask(remote, &options, &refspecs[..1])?;
        }
        if said.ok { Ok(()) } else { Err(unreachable(remote, &said)) }
    }

    /// The claims as they were last seen.
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
            // Somebody may have put anything there; what is no claim is an empty one.
            let text = self.inner.find_blob(id.detach()).map(|blob| blob.data.to_str_lossy().into_owned());
            let text = text.unwrap_or_default();
            found.push(ClaimRef { task: task.to_owned(), object: id.to_string(), text });
        }
        Ok(found)
    }

    /// Changes references of a remote in one step: all of them, or none. The remote compares each with what is expected there, so
    /// it decides who was first. The answers are in the order of the updates.
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
        // The user's hook is for branches; claims are ralph's own.
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
            // What was to be taken away is gone.
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

    /// What this clone knows of a reference on the remote, now that it has been changed there.
    fn keep_answer(&self, remote: &str, update: &RefUpdate) -> Result<(), GitError> {
        if let Some(task) = update.name.strip_prefix(&format!("{CLAIMS}/")) {
            return self.keep_claim(remote, task, update.new.as_deref());
        }
        Ok(())
    }

    /// The name that a text has as an object.
    pub fn object_of(&self, text: &str) -> Result<String, GitError> {
        Ok(self.inner.write_blob(text).map_err(|e| other("write the claim", &e))?.to_string())
    }

    /// What this clone knows of a claim on the remote, without asking it.
    fn keep_claim(&self, remote: &str, task: &str, object: Option<&str>) -> Result<(), GitError> {
        use gix::refs::transaction::{PreviousValue, RefEdit};
        let doing = "remember a claim of the remote";
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

    /// Their names, `origin` first.
    fn remotes(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.inner.remote_names().iter().map(|name| name.to_str_lossy().into_owned()).collect();
        names.sort_by_key(|name| (name != "origin", name.clone()));
        names
    }

    /// The addresses of all remotes, that of `origin` first.
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

/// No answer, or one that git could not use; a reference here that somebody holds is not the remote's fault.
fn unreachable(remote: &str, said: &GitSaid) -> GitError {
    match said.trouble() {
        Trouble::RefBusy => other("note what the remote has", &said.reason()),
        _ => GitError::Remote { remote: remote.to_owned(), trouble: said.net_trouble(), message: said.reason() },
    }
}

//! Changes of branches and pull requests, by the viewer or by other people.

use super::{Check, Content, Id, Place, Pull, QueueEntry, Ref, Review, Thread, ThreadComment, World};

/// The keywords that link an issue to a pull request.
const CLOSING: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

#[allow(clippy::missing_panics_doc)]
impl World {
    /// Creates or moves a branch, as a push does; open pull requests of that head follow.
    pub fn push_ref(&mut self, repo: &str, branch: &str, oid: &str) {
        let repo = self.repo_id(repo);
        self.write_ref(&repo, &format!("refs/heads/{branch}"), oid);
    }

    pub fn delete_branch(&mut self, repo: &str, branch: &str) {
        let repo = self.repo_id(repo);
        if let Some(id) = self.ref_of(&repo, branch).map(|r| r.id.clone()) {
            self.refs.remove(&id);
        }
    }

    pub(in super::super) fn write_ref(&mut self, repo: &str, name: &str, oid: &str) -> Id {
        let known = self.refs.values().find(|r| r.repo == repo && r.name == name).map(|r| r.id.clone());
        let id = known.unwrap_or_else(|| self.new_id("REF"));
        let entry = Ref { id: id.clone(), repo: repo.into(), name: name.into(), oid: oid.into() };
        let branch = entry.short().to_owned();
        self.refs.insert(id.clone(), entry);
        let (now, unknown) = (self.now, self.mergeable_unknown_reads);
        for pull in self.pulls.values_mut() {
            if pull.repo == repo && pull.head == branch && pull.state == "OPEN" && pull.head_oid != oid {
                (pull.head_oid, pull.updated, pull.unknown_reads) = (oid.into(), now, unknown);
            }
        }
        id
    }

    pub(in super::super) fn ref_of(&self, repo: &str, branch: &str) -> Option<&Ref> {
        self.refs.values().find(|r| r.repo == repo && (r.name == branch || r.short() == branch))
    }

    /// Opens a pull request as another person; a missing head branch is created.
    pub fn create_pr(&mut self, repo: &str, head: &str, title: &str, body: &str) -> u32 {
        let repo = self.repo_id(repo);
        if self.ref_of(&repo, head).is_none() {
            let oid = self.new_oid();
            self.write_ref(&repo, &format!("refs/heads/{head}"), &oid);
        }
        let (base, author) = (self.repositories[&repo].default_branch.clone(), self.actor.clone());
        let id = self.open_pull(&repo, (head, &base), (title, body), &author);
        self.pulls[&id].number
    }

    pub(in super::super) fn open_pull(
        &mut self,
        repo: &str,
        refs: (&str, &str),
        text: (&str, &str),
        author: &str,
    ) -> Id {
        let id = self.new_id("PR");
        let number = self.take_number(repo);
        let head_oid = self.ref_of(repo, refs.0).expect("the caller looked it up").oid.clone();
        let pull = Pull {
            id: id.clone(),
            repo: repo.into(),
            number,
            title: text.0.trim().into(),
            body: text.1.into(),
            author: author.into(),
            head: refs.0.into(),
            base: refs.1.into(),
            head_oid,
            draft: false,
            cross_repository: false,
            state: "OPEN".into(),
            mergeable: "MERGEABLE".into(),
            unknown_reads: self.mergeable_unknown_reads,
            merge_state: "CLEAN".into(),
            review_decision: None,
            reviews: Vec::new(),
            checks: Vec::new(),
            threads: Vec::new(),
            labels: Vec::new(),
            queue: None,
            auto_merge: None,
            merge_commit: None,
            merged_at: None,
            created: self.now,
            updated: self.now,
        };
        self.pulls.insert(id.clone(), pull);
        id
    }

    /// Changes a pull request: `mergeable`, `merge_state`, `draft`, `review_decision` and so on.
    pub fn change_pr(&mut self, place: impl Into<Place>, change: impl FnOnce(&mut Pull)) {
        let (id, now) = (self.pull(place).id.clone(), self.now);
        let pull = self.pulls.get_mut(&id).expect("just found");
        change(pull);
        pull.updated = now;
    }

    /// Adds a check run, or sets its conclusion.
    pub fn set_check(&mut self, place: impl Into<Place>, name: &str, status: &str, conclusion: Option<&str>) {
        let id = self.new_id("CR");
        let check = Check {
            id,
            name: name.into(),
            status: status.into(),
            conclusion: conclusion.map(Into::into),
            required: true,
            log: None,
            job: self.next_serial(),
        };
        self.change_pr(place, |pull| {
            pull.checks.retain(|c| c.name != name);
            pull.checks.push(check);
        });
    }

    /// Adds a review, and sets the decision that follows from it.
    pub fn review(&mut self, place: impl Into<Place>, login: &str, state: &str) {
        let review = Review {
            id: self.new_id("PRR"),
            author: login.into(),
            state: state.into(),
            body: String::new(),
            submitted: Some(self.now),
        };
        self.change_pr(place, |pull| {
            if matches!(state, "APPROVED" | "CHANGES_REQUESTED") {
                pull.review_decision = Some(state.into());
            }
            pull.reviews.retain(|r| r.author != login);
            pull.reviews.push(review);
        });
    }

    /// Starts a review thread on a line, as this login.
    pub fn comment_on_line(&mut self, place: impl Into<Place>, login: &str, at: (&str, u32), body: &str) -> Id {
        let id = self.new_id("PRRT");
        let comment = self.thread_comment(login, body);
        let thread = Thread { id: id.clone(), path: at.0.into(), line: at.1, resolved: false, comments: vec![comment] };
        self.change_pr(place, |pull| pull.threads.push(thread));
        id
    }

    /// Adds a comment to a thread, which reopens it.
    pub fn comment_in_thread(&mut self, thread: &str, login: &str, body: &str) {
        let comment = self.thread_comment(login, body);
        let found = self.pulls.values_mut().flat_map(|pull| &mut pull.threads).find(|known| known.id == thread);
        let found = found.expect("a thread with this id");
        found.comments.push(comment);
        found.resolved = false;
    }

    pub(in super::super) fn thread_comment(&mut self, login: &str, body: &str) -> ThreadComment {
        ThreadComment { id: self.new_id("PRRC"), author: login.into(), body: body.into(), created: self.now }
    }

    /// The log of a failed job, by the number of its check run.
    pub(in super::super) fn job_log(&self, job: u64) -> Option<String> {
        self.pulls.values().flat_map(|pull| &pull.checks).find(|check| check.job == job)?.log.clone()
    }

    pub fn merge_pr(&mut self, place: impl Into<Place>) {
        let id = self.pull(place).id.clone();
        self.merge(&id);
    }

    pub fn close_pr(&mut self, place: impl Into<Place>) {
        self.change_pr(place, |pull| pull.state = "CLOSED".into());
    }

    pub(in super::super) fn enqueue(&mut self, id: &str) -> QueueEntry {
        let waiting = self.pulls.values().filter(|p| p.queue.is_some()).count();
        let position = u32::try_from(waiting + 1).unwrap_or(u32::MAX);
        let entry = QueueEntry { id: self.new_id("MQE"), position, state: "QUEUED".into() };
        let now = self.now;
        if let Some(pull) = self.pulls.get_mut(id) {
            (pull.queue, pull.updated) = (Some(entry.clone()), now);
        }
        entry
    }

    /// Merges; issues it closes are closed only when the base is the default branch (§6).
    pub(in super::super) fn merge(&mut self, id: &str) {
        let commit = self.new_oid();
        let now = self.now;
        let pull = self.pulls.get_mut(id).expect("the caller looked it up");
        (pull.state, pull.merged_at, pull.updated) = ("MERGED".into(), Some(now), now);
        (pull.merge_commit, pull.queue, pull.auto_merge) = (Some(commit.clone()), None, None);
        let pull = pull.clone();
        self.write_ref(&pull.repo, &format!("refs/heads/{}", pull.base), &commit);
        for issue in self.closes(&pull) {
            self.close(&issue, "COMPLETED");
        }
        self.run_closed_workflow(&Content::Pull(id.into()));
        if self.repositories[&pull.repo].delete_branch_on_merge
            && let Some(head) = self.ref_of(&pull.repo, &pull.head).map(|r| r.id.clone())
        {
            self.refs.remove(&head);
        }
    }

    /// The issues named by "Closes #n", if the base is the default branch.
    #[must_use]
    pub fn closes(&self, pull: &Pull) -> Vec<Id> {
        if self.repositories[&pull.repo].default_branch != pull.base {
            return Vec::new();
        }
        let words: Vec<&str> = pull.body.split_whitespace().collect();
        let mut found = Vec::new();
        for pair in words.windows(2) {
            let verb = pair[0].trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
            if CLOSING.contains(&verb.as_str())
                && let Some(issue) = self.named_issue(&pull.repo, pair[1])
                && !found.contains(&issue)
            {
                found.push(issue);
            }
        }
        found
    }

    fn named_issue(&self, home: &str, word: &str) -> Option<Id> {
        let (repo, number) = word.trim_end_matches(['.', ',', ';', ')']).split_once('#')?;
        let number: u32 = number.parse().ok()?;
        let same = |r: &&super::Repository| {
            if repo.is_empty() { r.id == home } else { r.full_name() == repo }
        };
        let repo = &self.repositories.values().find(same)?.id;
        self.issues.values().find(|i| i.repo == *repo && i.number == number).map(|i| i.id.clone())
    }
}

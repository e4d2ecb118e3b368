//! Changes of issues and comments, by the viewer or by other people.

use std::collections::BTreeSet;

use super::{Comment, Content, Id, Issue, World};

/// The deepest sub-issue hierarchy and the most children of one parent (§1.2 limits).
pub(in super::super) const MAX_DEPTH: usize = 8;
pub(in super::super) const MAX_CHILDREN: usize = 100;

impl World {
    pub(in super::super) fn open_issue(&mut self, repo: &str, title: &str, body: &str, author: &str) -> Id {
        let id = self.new_id("I");
        let number = self.take_number(repo);
        let issue = Issue {
            id: id.clone(),
            repo: repo.into(),
            number,
            title: title.trim().into(),
            body: body.into(),
            closed: false,
            reason: None,
            duplicate_of: None,
            author: author.into(),
            editor: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            parent: None,
            children: Vec::new(),
            blocked_by: Vec::new(),
            created: self.now,
            updated: self.now,
            closed_at: None,
            edited: None,
            not_yet_addable: 0,
        };
        self.issues.insert(id.clone(), issue);
        id
    }

    pub(super) fn take_number(&mut self, repo: &str) -> u32 {
        let repo = self.repositories.get_mut(repo).expect("the caller looked it up");
        let number = repo.next_number;
        repo.next_number += 1;
        number
    }

    /// Changes an issue and marks it as updated now.
    pub(in super::super) fn touch(&mut self, id: &str, change: impl FnOnce(&mut Issue)) {
        let now = self.now;
        if let Some(issue) = self.issues.get_mut(id) {
            change(issue);
            issue.updated = now;
        }
    }

    /// Only an edit of the body counts as an edit (`lastEditedAt`, `editor`); a new title does not.
    pub(in super::super) fn edit(&mut self, id: &str, title: Option<&str>, body: Option<&str>, by: &str) {
        let now = self.now;
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        let title = title.map(str::trim).filter(|t| *t != issue.title);
        let body = body.filter(|b| *b != issue.body);
        if title.is_none() && body.is_none() {
            return; // Saving what is there already is not an update.
        }
        self.touch(id, |issue| {
            if let Some(title) = title {
                issue.title = title.into();
            }
            if let Some(body) = body {
                issue.body = body.into();
                issue.editor = Some(by.into());
                issue.edited = Some(now);
            }
        });
    }

    /// Closing a closed issue can only change its reason.
    pub(in super::super) fn close(&mut self, id: &str, reason: &str) {
        let now = self.now;
        let Some(issue) = self.issues.get(id) else {
            return;
        };
        if issue.closed && issue.reason.as_deref() == Some(reason) {
            return;
        }
        let was_open = !issue.closed;
        self.touch(id, |issue| {
            issue.closed = true;
            issue.reason = Some(reason.into());
            issue.closed_at = Some(now);
        });
        if was_open {
            self.run_closed_workflow(&Content::Issue(id.into()));
        }
    }

    pub(in super::super) fn reopen(&mut self, id: &str) {
        if self.issues.get(id).is_some_and(|i| i.closed) {
            self.touch(id, |issue| {
                issue.closed = false;
                issue.reason = Some("REOPENED".into());
                issue.closed_at = None;
            });
        }
    }

    /// A comment bumps its issue; editing or deleting one does not (§7, taken as the strict reading).
    pub(in super::super) fn write_comment(&mut self, subject: &str, author: &str, body: &str) -> Id {
        let id = self.new_id("IC");
        let serial = self.next_serial();
        let comment = Comment {
            id: id.clone(),
            serial,
            subject: subject.into(),
            author: author.into(),
            body: body.into(),
            created: self.now,
            updated: self.now,
            edited: None,
            minimized: false,
        };
        self.comments.insert(id.clone(), comment);
        self.touch(subject, |_| ());
        let now = self.now;
        if let Some(pull) = self.pulls.get_mut(subject) {
            pull.updated = now;
        }
        id
    }

    pub(in super::super) fn rewrite_comment(&mut self, id: &str, body: &str) {
        let now = self.now;
        if let Some(comment) = self.comments.get_mut(id)
            && comment.body != body
        {
            comment.body = body.into();
            comment.updated = now;
            comment.edited = Some(now);
        }
    }

    /// Removes an issue with everything that refers to it.
    pub(in super::super) fn erase_issue(&mut self, id: &str) {
        self.detach(id);
        self.issues.remove(id);
        self.comments.retain(|_, c| c.subject != id);
        self.items.retain(|_, i| i.content != Content::Issue(id.into()));
    }

    fn detach(&mut self, id: &str) {
        for issue in self.issues.values_mut() {
            issue.children.retain(|c| c != id);
            issue.blocked_by.retain(|b| b != id);
            if issue.parent.as_deref() == Some(id) {
                issue.parent = None;
            }
        }
    }

    /// Moves an issue: it gets a new node id and number, and items, comments and relations follow it. Whether the id
    /// really changes is not verified (§7); here the old one answers `NOT_FOUND`.
    pub(in super::super) fn move_issue(&mut self, id: &str, repo: &str) -> Id {
        let new = self.new_id("I");
        let number = self.take_number(repo);
        let mut issue = self.issues.remove(id).expect("the caller looked it up");
        let names: Vec<String> =
            issue.labels.iter().filter_map(|l| self.labels.get(l)).map(|l| l.name.clone()).collect();
        issue.labels = names.iter().filter_map(|n| self.label_named(repo, n)).collect();
        (issue.id, issue.repo, issue.number, issue.updated) = (new.clone(), repo.into(), number, self.now);
        self.issues.insert(new.clone(), issue);
        self.repoint(id, &new);
        new
    }

    fn repoint(&mut self, old: &str, new: &str) {
        let swap = |id: &mut Id| {
            if id == old {
                *id = new.into();
            }
        };
        for issue in self.issues.values_mut() {
            issue.children.iter_mut().for_each(swap);
            issue.blocked_by.iter_mut().for_each(swap);
            issue.parent.iter_mut().for_each(swap);
        }
        self.comments.values_mut().for_each(|c| swap(&mut c.subject));
        for item in self.items.values_mut() {
            if let Content::Issue(id) = &mut item.content {
                swap(id);
            }
        }
    }

    pub(in super::super) fn label_named(&self, repo: &str, name: &str) -> Option<Id> {
        let same = |l: &&super::Label| l.repo == repo && l.name.to_lowercase() == name.to_lowercase();
        self.labels.values().find(same).map(|l| l.id.clone())
    }

    /// Relations do not mark an issue as updated (§7, taken as the strict reading).
    pub(in super::super) fn put_under(&mut self, child: &str, parent: Option<&str>) {
        for issue in self.issues.values_mut() {
            issue.children.retain(|c| c != child);
        }
        if let Some(parent) = parent.and_then(|p| self.issues.get_mut(p)) {
            parent.children.push(child.into());
        }
        if let Some(issue) = self.issues.get_mut(child) {
            issue.parent = parent.map(Into::into);
        }
    }

    pub(in super::super) fn ancestors(&self, id: &str) -> Vec<Id> {
        let mut chain = Vec::new();
        let mut at = self.issues.get(id).and_then(|i| i.parent.clone());
        while let Some(parent) = at {
            at = self.issues.get(&parent).and_then(|i| i.parent.clone());
            chain.push(parent);
        }
        chain
    }

    /// The number of levels below and including this issue.
    pub(in super::super) fn height(&self, id: &str) -> usize {
        let children = self.issues.get(id).map(|i| i.children.clone()).unwrap_or_default();
        1 + children.iter().map(|c| self.height(c)).max().unwrap_or(0)
    }

    /// Whether `from` is blocked by `target`, directly or not.
    pub(in super::super) fn waits_for(&self, from: &str, target: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut todo = vec![from.to_owned()];
        while let Some(id) = todo.pop() {
            if id == target {
                return true;
            }
            if seen.insert(id.clone()) {
                todo.extend(self.issues.get(&id).map(|i| i.blocked_by.clone()).unwrap_or_default());
            }
        }
        false
    }
}

//! Actions of other people on GitHub, as one-line helpers for tests.

use super::{Content, Id, Item, Setting, World};

/// An issue or pull request: a bare number means `acme/app`.
#[derive(Clone, Debug)]
pub struct Place {
    pub repo: String,
    pub number: u32,
}

impl From<u32> for Place {
    fn from(number: u32) -> Self {
        Self { repo: "acme/app".into(), number }
    }
}

impl From<(&str, u32)> for Place {
    fn from((repo, number): (&str, u32)) -> Self {
        Self { repo: repo.into(), number }
    }
}

/// Helpers panic if the named object does not exist: that is a mistake in the test.
#[allow(clippy::missing_panics_doc)]
impl World {
    /// Returns the project's number.
    pub fn create_project(&mut self, owner: &str, title: &str) -> u32 {
        let id = self.open_project(owner, title);
        self.projects[&id].number
    }

    pub fn add_single_select(&mut self, project: u32, name: &str, options: &[&str]) -> Id {
        let project = self.project_id(project);
        let options = options.iter().map(|o| self.new_choice(o, "GRAY", "")).collect();
        self.new_field(&project, name, "SINGLE_SELECT", options)
    }

    /// A field of another kind: TEXT, NUMBER or DATE.
    pub fn add_plain_field(&mut self, project: u32, name: &str, kind: &str) -> Id {
        let project = self.project_id(project);
        self.new_field(&project, name, kind, Vec::new())
    }

    pub fn add_issue(&mut self, repo: &str, title: &str, body: &str) -> u32 {
        let repo = self.repo_id(repo);
        let actor = self.actor.clone();
        let id = self.open_issue(&repo, title, body, &actor);
        self.issues[&id].number
    }

    pub fn edit_title(&mut self, issue: impl Into<Place>, title: &str) {
        let (id, actor) = (self.issue_id(issue), self.actor.clone());
        self.edit(&id, Some(title), None, &actor);
    }

    pub fn edit_body(&mut self, issue: impl Into<Place>, body: &str) {
        let (id, actor) = (self.issue_id(issue), self.actor.clone());
        self.edit(&id, None, Some(body), &actor);
    }

    /// `reason`: COMPLETED, `NOT_PLANNED` or DUPLICATE.
    pub fn close_issue(&mut self, issue: impl Into<Place>, reason: &str) {
        let id = self.issue_id(issue);
        self.close(&id, reason);
    }

    pub fn reopen_issue(&mut self, issue: impl Into<Place>) {
        let id = self.issue_id(issue);
        self.reopen(&id);
    }

    pub fn delete_issue(&mut self, issue: impl Into<Place>) {
        let id = self.issue_id(issue);
        self.erase_issue(&id);
    }

    /// Returns the number in the other repository.
    pub fn transfer_issue(&mut self, issue: impl Into<Place>, to: &str) -> u32 {
        let (id, repo) = (self.issue_id(issue), self.repo_id(to));
        let new = self.move_issue(&id, &repo);
        self.issues[&new].number
    }

    pub fn assign(&mut self, issue: impl Into<Place>, login: &str) {
        let user = self.owner_named(login).expect("a user").id.clone();
        let id = self.issue_id(issue);
        self.touch(&id, |i| i.assignees.push(user));
    }

    pub fn add_to_project(&mut self, project: u32, issue: impl Into<Place>) -> Id {
        let (project, issue) = (self.project_id(project), self.issue_id(issue));
        self.put_item(&project, Content::Issue(issue))
    }

    pub fn add_draft(&mut self, project: u32, title: &str) -> Id {
        let project = self.project_id(project);
        let (id, updated) = (self.new_id("DI"), self.now);
        self.put_item(&project, Content::Draft { id, title: title.into(), body: String::new(), updated })
    }

    pub fn remove_from_project(&mut self, issue: impl Into<Place>) {
        let item = self.item_id(issue);
        self.items.remove(&item);
    }

    /// Hides an item, as if it did not exist yet.
    pub fn hide_item(&mut self, issue: impl Into<Place>) -> (Id, Item) {
        let id = self.item_id(issue);
        let item = self.items.remove(&id).expect("just found");
        (id, item)
    }

    pub fn show_item(&mut self, (id, item): (Id, Item)) {
        self.items.insert(id, item);
    }

    /// The numbers of the open issues with this title, oldest first.
    pub fn open_issues_titled(&self, title: &str) -> Vec<u32> {
        let open = self.issues.values().filter(|issue| issue.title == title && issue.closed_at.is_none());
        let mut numbers: Vec<u32> = open.map(|issue| issue.number).collect();
        numbers.sort_unstable();
        numbers
    }

    pub fn archive_item(&mut self, issue: impl Into<Place>) {
        self.change_item(issue, |i| i.archived = true);
    }

    pub fn unarchive_item(&mut self, issue: impl Into<Place>) {
        self.change_item(issue, |i| i.archived = false);
    }

    fn change_item(&mut self, issue: impl Into<Place>, change: impl FnOnce(&mut Item)) {
        let (id, now) = (self.item_id(issue), self.now);
        let item = self.items.get_mut(&id).expect("just found");
        change(item);
        item.updated = now;
    }

    /// Picks an option by name in the issue's (first) project, or clears the field.
    pub fn set_field(&mut self, issue: impl Into<Place>, field: &str, option: Option<&str>) {
        let item = self.item_id(issue);
        let found = self.field_named(&self.items[&item].project, field).expect("a field of that name");
        let set = option.map(|name| {
            let option = found.options.iter().find(|o| o.name == name);
            Setting::Option(option.expect("an option of that name").id.clone())
        });
        let field = found.id.clone();
        self.set_value(&item, &field, set);
        let by = self.actor.clone();
        if let Some(value) = self.items.get_mut(&item).and_then(|item| item.values.get_mut(&field)) {
            value.by = by;
        }
    }

    /// The id stays, and so do the values of items.
    pub fn rename_option(&mut self, project: u32, field: &str, from: &str, to: &str) {
        self.change_options(project, field, |options| {
            let option = options.iter_mut().find(|o| o.name == from);
            option.expect("an option of that name").name = to.into();
        });
    }

    pub fn add_option(&mut self, project: u32, field: &str, name: &str) {
        let choice = self.new_choice(name, "GRAY", "");
        self.change_options(project, field, |options| options.push(choice));
    }

    pub fn remove_option(&mut self, project: u32, field: &str, name: &str) {
        self.change_options(project, field, |options| options.retain(|o| o.name != name));
    }

    fn change_options(&mut self, project: u32, field: &str, change: impl FnOnce(&mut Vec<super::Choice>)) {
        let project = self.project_id(project);
        let field = self.field_named(&project, field).expect("a field of that name");
        let (id, mut options) = (field.id.clone(), field.options.clone());
        change(&mut options);
        self.replace_options(&id, options);
    }

    pub fn delete_field(&mut self, project: u32, field: &str) {
        let project = self.project_id(project);
        let id = self.field_named(&project, field).expect("a field of that name").id.clone();
        self.fields.remove(&id);
        self.items.values_mut().for_each(|i| {
            i.values.remove(&id);
        });
    }

    pub fn delete_project(&mut self, project: u32) {
        let id = self.project_id(project);
        self.erase_project(&id);
    }

    pub fn close_project(&mut self, project: u32) {
        let id = self.project_id(project);
        self.projects.get_mut(&id).expect("just found").closed = true;
    }

    pub fn set_workflow(&mut self, project: u32, name: &str, enabled: bool) {
        let id = self.project_id(project);
        let project = self.projects.get_mut(&id).expect("just found");
        project.workflows.iter_mut().filter(|w| w.name == name).for_each(|w| w.enabled = enabled);
    }

    /// Creates the label in the repository if it is missing.
    pub fn add_label(&mut self, issue: impl Into<Place>, name: &str) {
        let id = self.issue_id(issue);
        let repo = self.issues[&id].repo.clone();
        let label = self.label_named(&repo, name).unwrap_or_else(|| self.new_label(&repo, name, "ededed", None));
        if !self.issues[&id].labels.contains(&label) {
            self.touch(&id, |i| i.labels.push(label));
        }
    }

    pub fn remove_label(&mut self, issue: impl Into<Place>, name: &str) {
        let id = self.issue_id(issue);
        let label = self.label_named(&self.issues[&id].repo, name).expect("a label of that name");
        self.touch(&id, |i| i.labels.retain(|l| *l != label));
    }

    pub fn comment(&mut self, issue: impl Into<Place>, login: &str, text: &str) -> Id {
        let id = self.issue_id(issue);
        self.write_comment(&id, login, text)
    }

    pub fn edit_comment(&mut self, comment: &str, text: &str) {
        assert!(self.comments.contains_key(comment), "the fake has no comment {comment}");
        self.rewrite_comment(comment, text);
    }

    pub fn delete_comment(&mut self, comment: &str) {
        self.comments.remove(comment).expect("a comment of that id");
    }

    pub fn set_parent(&mut self, child: impl Into<Place>, parent: Option<u32>) {
        let (child, parent) = (self.issue_id(child), parent.map(|p| self.issue_id(p)));
        self.put_under(&child, parent.as_deref());
    }

    pub fn add_blocked_by(&mut self, issue: impl Into<Place>, blocker: impl Into<Place>) {
        let (issue, blocker) = (self.issue_id(issue), self.issue_id(blocker));
        let issue = self.issues.get_mut(&issue).expect("just found");
        if !issue.blocked_by.contains(&blocker) {
            issue.blocked_by.push(blocker);
        }
    }

    pub fn remove_blocked_by(&mut self, issue: impl Into<Place>, blocker: impl Into<Place>) {
        let (issue, blocker) = (self.issue_id(issue), self.issue_id(blocker));
        self.issues.get_mut(&issue).expect("just found").blocked_by.retain(|b| *b != blocker);
    }
}

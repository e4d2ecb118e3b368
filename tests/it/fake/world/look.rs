//! Queries of the world for tests, by number and name rather than by node id.

use std::collections::BTreeMap;

use super::{Comment, Content, Field, Id, Issue, Item, Place, Project, Pull, Setting, World};

/// Accessors panic if the named object does not exist; `find_*` do not.
#[allow(clippy::missing_panics_doc)]
impl World {
    #[must_use]
    pub fn find_issue(&self, place: impl Into<Place>) -> Option<&Issue> {
        let place = place.into();
        let repo = self.repo_id(&place.repo);
        self.issues.values().find(|i| i.repo == repo && i.number == place.number)
    }

    #[must_use]
    pub fn issue(&self, place: impl Into<Place>) -> &Issue {
        let place = place.into();
        let name = format!("{}#{}", place.repo, place.number);
        self.find_issue(place).unwrap_or_else(|| panic!("the fake has no issue {name}"))
    }

    #[must_use]
    pub fn issue_id(&self, place: impl Into<Place>) -> Id {
        self.issue(place).id.clone()
    }

    /// Issues of `acme/app` by number.
    #[must_use]
    pub fn issues(&self) -> Vec<&Issue> {
        self.issues_in("acme/app")
    }

    #[must_use]
    pub fn issues_in(&self, repo: &str) -> Vec<&Issue> {
        let repo = self.repo_id(repo);
        let mut found: Vec<&Issue> = self.issues.values().filter(|i| i.repo == repo).collect();
        found.sort_by_key(|i| i.number);
        found
    }

    #[must_use]
    pub fn comments(&self, place: impl Into<Place>) -> Vec<&Comment> {
        self.comments_on(&self.issue_id(place))
    }

    #[must_use]
    pub fn comments_on(&self, subject: &str) -> Vec<&Comment> {
        self.comments.values().filter(|c| c.subject == subject).collect()
    }

    #[must_use]
    pub fn find_project(&self, number: u32) -> Option<&Project> {
        self.projects.values().find(|p| p.number == number)
    }

    /// The first project with this number, of any owner.
    #[must_use]
    pub fn project(&self, number: u32) -> &Project {
        self.find_project(number).unwrap_or_else(|| panic!("the fake has no project {number}"))
    }

    #[must_use]
    pub fn project_id(&self, number: u32) -> Id {
        self.project(number).id.clone()
    }

    #[must_use]
    pub fn field(&self, project: u32, name: &str) -> &Field {
        let found = self.field_named(&self.project(project).id, name);
        found.unwrap_or_else(|| panic!("project {project} has no field {name}"))
    }

    /// The items of a project in order, including archived ones.
    #[must_use]
    pub fn project_items(&self, project: u32) -> Vec<&Item> {
        let id = self.project_id(project);
        self.items.values().filter(|i| i.project == id).collect()
    }

    #[must_use]
    pub fn find_item(&self, place: impl Into<Place>) -> Option<&Item> {
        let content = Content::Issue(self.issue_id(place));
        self.items.values().find(|i| i.content == content)
    }

    #[must_use]
    pub fn item(&self, place: impl Into<Place>) -> &Item {
        self.find_item(place).expect("the issue is in a project")
    }

    #[must_use]
    pub fn item_id(&self, place: impl Into<Place>) -> Id {
        self.item(place).id.clone()
    }

    /// The values of the issue's item: field name to option name (or text).
    #[must_use]
    pub fn values(&self, place: impl Into<Place>) -> BTreeMap<String, String> {
        let item = self.item(place);
        let named = item.values.iter().filter_map(|(field, value)| {
            let field = self.fields.get(field)?;
            Some((field.name.clone(), Self::shown(field, &value.set)?))
        });
        named.collect()
    }

    #[must_use]
    pub fn value(&self, place: impl Into<Place>, field: &str) -> Option<String> {
        self.values(place).remove(field)
    }

    fn shown(field: &Field, set: &Setting) -> Option<String> {
        match set {
            Setting::Option(id) => field.options.iter().find(|o| o.id == *id).map(|o| o.name.clone()),
            Setting::Text(text) | Setting::Date(text) => Some(text.clone()),
            Setting::Number(number) => Some(number.to_string()),
        }
    }

    /// Label names, sorted.
    #[must_use]
    pub fn labels(&self, place: impl Into<Place>) -> Vec<String> {
        let issue = self.issue(place);
        let mut names: Vec<String> = issue.labels.iter().map(|l| self.labels[l].name.clone()).collect();
        names.sort();
        names
    }

    #[must_use]
    pub fn parent(&self, place: impl Into<Place>) -> Option<u32> {
        let parent = self.issue(place).parent.clone()?;
        Some(self.issues[&parent].number)
    }

    /// The numbers of the blockers, sorted.
    #[must_use]
    pub fn blocked_by(&self, place: impl Into<Place>) -> Vec<u32> {
        let issue = self.issue(place);
        let mut numbers: Vec<u32> = issue.blocked_by.iter().map(|b| self.issues[b].number).collect();
        numbers.sort_unstable();
        numbers
    }

    #[must_use]
    pub fn find_pull(&self, place: impl Into<Place>) -> Option<&Pull> {
        let place = place.into();
        let repo = self.repo_id(&place.repo);
        self.pulls.values().find(|p| p.repo == repo && p.number == place.number)
    }

    #[must_use]
    pub fn pull(&self, place: impl Into<Place>) -> &Pull {
        self.find_pull(place).expect("a pull request of that number")
    }

    #[must_use]
    pub fn pulls(&self) -> Vec<&Pull> {
        self.pulls.values().collect()
    }

    /// The commit of a branch.
    #[must_use]
    pub fn branch(&self, repo: &str, branch: &str) -> Option<String> {
        let repo = self.repo_id(repo);
        self.ref_of(&repo, branch).map(|r| r.oid.clone())
    }
}

//! Changes of projects, their fields and items, by the viewer or by other people.

use std::collections::BTreeMap;

use super::{Choice, Content, Field, FieldValue, Id, Item, Project, Setting, Workflow, World};

/// The fields of every new project, besides Status.
const BUILT_IN: [(&str, &str); 9] = [
    ("Title", "TITLE"),
    ("Assignees", "ASSIGNEES"),
    ("Labels", "LABELS"),
    ("Linked pull requests", "LINKED_PULL_REQUESTS"),
    ("Milestone", "MILESTONE"),
    ("Repository", "REPOSITORY"),
    ("Reviewers", "REVIEWERS"),
    ("Parent issue", "PARENT_ISSUE"),
    ("Sub-issues progress", "SUB_ISSUES_PROGRESS"),
];

/// Built-in workflows; the first two are on by default and write only Status (§0.7).
const WORKFLOWS: [(&str, bool); 6] = [
    ("Item closed", true),
    ("Pull request merged", true),
    ("Auto-add sub-issues to project", false),
    ("Auto-add to project", false),
    ("Auto-archive items", false),
    ("Item reopened", false),
];

impl World {
    pub(in super::super) fn open_project(&mut self, owner: &str, title: &str) -> Id {
        let id = self.new_id("PVT");
        let number = 1 + self.projects.values().filter(|p| p.owner == owner).map(|p| p.number).max().unwrap_or(0);
        let mut workflows = Vec::new();
        for (at, (name, enabled)) in (1..).zip(WORKFLOWS) {
            let id = self.new_id("PWF");
            workflows.push(Workflow { id, number: at, name: name.into(), enabled });
        }
        let project = Project {
            id: id.clone(),
            number,
            owner: owner.into(),
            title: title.into(),
            closed: false,
            public: false,
            viewer_can_update: true,
            updated: self.now,
            created: self.now,
            repositories: Vec::new(),
            workflows,
        };
        self.projects.insert(id.clone(), project);
        self.add_built_in_fields(&id);
        id
    }

    fn add_built_in_fields(&mut self, project: &str) {
        let status = [("Todo", "GREEN"), ("In Progress", "YELLOW"), ("Done", "PURPLE")];
        for (at, (name, kind)) in BUILT_IN.into_iter().enumerate() {
            if at == 2 {
                let options = status.iter().map(|(n, c)| self.new_choice(n, c, "")).collect();
                self.new_field(project, "Status", "SINGLE_SELECT", options);
            }
            self.new_field(project, name, kind, Vec::new());
        }
    }

    pub(in super::super) fn new_choice(&mut self, name: &str, color: &str, description: &str) -> Choice {
        let id = self.new_option_id();
        Choice { id, name: name.into(), color: color.into(), description: description.into() }
    }

    pub(in super::super) fn new_field(&mut self, project: &str, name: &str, kind: &str, options: Vec<Choice>) -> Id {
        let id = self.new_id(if kind == "SINGLE_SELECT" { "PVTSSF" } else { "PVTF" });
        let field = Field {
            id: id.clone(),
            project: project.into(),
            name: name.into(),
            kind: kind.into(),
            options,
            updated: self.now,
        };
        self.fields.insert(id.clone(), field);
        id
    }

    /// The fields in order of creation, which is that of the serial number at the end of their ids.
    pub(in super::super) fn project_fields(&self, project: &str) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.values().filter(|f| f.project == project).collect();
        fields.sort_by_key(|f| f.id.rsplit('_').next().unwrap_or_default().to_owned());
        fields
    }

    pub(in super::super) fn field_named(&self, project: &str, name: &str) -> Option<&Field> {
        self.project_fields(project).into_iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// Replaces the options. Those without an id are new; a missing option is removed together with the values that
    /// used it, so a full replacement clears every item (§4 project setup, §1.2).
    pub(in super::super) fn replace_options(&mut self, field: &str, options: Vec<Choice>) {
        let kept: Vec<String> = options.iter().map(|o| o.id.clone()).collect();
        let now = self.now;
        if let Some(field) = self.fields.get_mut(field) {
            field.options = options;
            field.updated = now;
        }
        for item in self.items.values_mut() {
            let gone =
                matches!(item.values.get(field), Some(FieldValue { set: Setting::Option(o), .. }) if !kept.contains(o));
            if gone {
                item.values.remove(field);
                item.updated = now;
            }
        }
    }

    /// The item for this content: adding existing content returns its item, and an archived one stays archived (§1.2).
    pub(in super::super) fn put_item(&mut self, project: &str, content: Content) -> Id {
        if let Some(item) = self.items.values().find(|i| i.project == project && i.content == content) {
            return item.id.clone();
        }
        let id = self.new_id("PVTI");
        let item = Item {
            id: id.clone(),
            project: project.into(),
            content,
            archived: false,
            created: self.now,
            updated: self.now,
            values: BTreeMap::new(),
            unlisted: false,
        };
        self.items.insert(id.clone(), item);
        self.touch_project(project);
        id
    }

    pub(in super::super) fn touch_project(&mut self, project: &str) {
        let now = self.now;
        if let Some(project) = self.projects.get_mut(project) {
            project.updated = now;
        }
    }

    /// Sets or clears a value. This updates the item, but not the issue (§0.8).
    pub(in super::super) fn set_value(&mut self, item: &str, field: &str, set: Option<Setting>) {
        let now = self.now;
        let (id, by) = (self.new_id("PVTFSV"), self.viewer.clone());
        let Some(item) = self.items.get_mut(item) else {
            return;
        };
        let before = item.values.get(field).map(|v| v.set.clone());
        if before == set {
            return;
        }
        match set {
            Some(set) => item.values.insert(field.into(), FieldValue { id, by, updated: now, set }),
            None => item.values.remove(field),
        };
        item.updated = now;
        let project = item.project.clone();
        self.touch_project(&project);
    }

    /// The built-in workflow "Item closed": Status becomes Done in every project the content is in.
    pub(super) fn run_closed_workflow(&mut self, content: &Content) {
        let workflow = if matches!(content, Content::Pull(_)) { "Pull request merged" } else { "Item closed" };
        let items: Vec<(Id, Id)> = self
            .items
            .values()
            .filter(|i| i.content == *content && !i.archived)
            .map(|i| (i.id.clone(), i.project.clone()))
            .collect();
        for (item, project) in items {
            let on = self
                .projects
                .get(&project)
                .is_some_and(|p| p.workflows.iter().any(|w| w.name == workflow && w.enabled));
            let done = self
                .field_named(&project, "Status")
                .and_then(|f| f.options.iter().find(|o| o.name == "Done").map(|o| (f.id.clone(), o.id.clone())));
            if let (true, Some((field, option))) = (on, done) {
                self.set_value(&item, &field, Some(Setting::Option(option)));
            }
        }
    }

    pub(in super::super) fn erase_project(&mut self, project: &str) {
        self.projects.remove(project);
        self.fields.retain(|_, f| f.project != project);
        self.items.retain(|_, i| i.project != project);
    }
}

//! The repository and the project: finds or creates them, and adds fields without losing options.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Label, Login, NameWithOwner, Nodes};
use super::writing::Ignored;
use super::{Client, Effect, Features, GithubError, Node, Slug, documents};

/// A project with the fields that ralph uses.
#[derive(Debug, Clone)]
pub struct Project {
    pub id: Node,
    pub number: u64,
    pub title: String,
    pub url: String,
    pub closed: bool,
    pub writable: bool,
    pub fields: Vec<OptionField>,
    /// The names of fields that are not single-select.
    pub others: Vec<String>,
    /// The project's own workflows that are enabled.
    pub workflows: Vec<String>,
}

/// A field with options.
#[derive(Debug, Clone)]
pub struct OptionField {
    pub id: Node,
    pub name: String,
    pub options: Vec<FieldOption>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct FieldOption {
    pub id: String,
    pub name: String,
    pub color: String,
    pub description: String,
}

/// A field that the project should have.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub name: String,
    /// The setting that can name another field instead.
    pub setting: &'static str,
    /// The names of the options with their colors.
    pub options: Vec<(String, &'static str)>,
}

/// The owner and its project, if there is a project with that number.
#[derive(Debug)]
pub struct Lookup {
    pub viewer: String,
    /// The repository's name, if it exists.
    pub repo: Option<String>,
    pub project: Option<Project>,
}

/// A repository, with the values that writes need.
#[derive(Debug)]
pub struct Repo {
    pub viewer: String,
    pub id: Node,
    pub slug: Slug,
    pub issues: bool,
    pub archived: bool,
    pub permission: Option<String>,
    pub public: bool,
    /// The labels by their names in lower case, because GitHub ignores case.
    pub labels: BTreeMap<String, Label>,
}

impl Repo {
    /// A repository that was not read: only its name is known.
    pub fn unread(slug: &Slug) -> Self {
        Self {
            viewer: String::new(),
            id: Node::new(""),
            slug: slug.clone(),
            issues: true,
            archived: false,
            permission: None,
            public: false,
            labels: BTreeMap::new(),
        }
    }

    pub fn may_write(&self) -> bool {
        matches!(self.permission.as_deref(), Some("ADMIN" | "MAINTAIN" | "WRITE" | "TRIAGE"))
    }
}

impl Project {
    pub fn field(&self, name: &str) -> Option<&OptionField> {
        self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }
}

impl OptionField {
    pub fn option(&self, name: &str) -> Option<&FieldOption> {
        self.options.iter().find(|option| option.name == name)
    }

    pub fn lacks<'a>(&self, wanted: &'a Wanted) -> Vec<&'a str> {
        wanted.options.iter().map(|(name, _)| name.as_str()).filter(|name| self.option(name).is_none()).collect()
    }
}

impl Client<'_> {
    /// Reads a project. `slug` is the repository of the issues; the result has its current name.
    pub fn project(&self, owner: &str, number: u64, slug: &Slug) -> Result<Lookup, GithubError> {
        let variables = json!({ "login": owner, "number": number, "owner": slug.owner, "name": slug.name });
        let answer = self.ask_partly::<OfOwner>(documents::PROJECT, "ProjectLookup", variables, Effect::Read)?;
        // A project that does not exist is a valid answer; other errors are not.
        if let Some(error) = answer.errors.iter().find(|error| !error.is("NOT_FOUND")) {
            return Err(error.into());
        }
        let data = answer.data.ok_or_else(|| GithubError::Odd("ProjectLookup has no data".into()))?;
        let owner =
            data.repository_owner.ok_or_else(|| GithubError::NotFound(format!("{owner} does not exist on GitHub")))?;
        Ok(Lookup {
            viewer: data.viewer.map(|viewer| viewer.login).unwrap_or_default(),
            repo: data.repository.map(|repository| repository.name_with_owner),
            project: owner.project_v2.map(Project::of),
        })
    }

    /// The owner's id, and the numbers of its projects with exactly this title.
    pub fn projects_titled(&self, owner: &str, title: &str) -> Result<(Node, Vec<u64>), GithubError> {
        let variables = json!({ "login": owner, "title": title });
        let answer: OfOwners = self.ask(documents::OWNER, "OwnerProjects", variables, Effect::Read)?;
        let owner = answer
            .repository_owner
            .ok_or_else(|| GithubError::NotFound(format!("{owner} does not exist on GitHub")))?;
        let projects = owner.projects_v2.into_iter().flat_map(|list| list.into_vec());
        let open = projects.filter(|project| project.title == title && !project.closed).map(|project| project.number);
        Ok((owner.id, open.collect()))
    }

    pub fn create_project(&self, owner: &Node, repository: &Node, title: &str) -> Result<u64, GithubError> {
        let input = json!({ "input": { "ownerId": owner, "repositoryId": repository, "title": title } });
        let made = |data: Value| data["createProjectV2"]["projectV2"]["number"].as_u64();
        self.create(documents::SETUP, "CreateProject", input, made)
    }

    pub fn link_repository(&self, project: &Node, repository: &Node) -> Result<(), GithubError> {
        let input = json!({ "input": { "projectId": project, "repositoryId": repository } });
        let answer = self.ask_partly::<Ignored>(documents::SETUP, "LinkRepository", input, Effect::Set)?;
        match answer.errors.iter().find(|error| !error.is_already()) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Creates a field. A retry is harmless, because names are unique.
    pub fn create_field(&self, project: &Node, wanted: &Wanted) -> Result<(), GithubError> {
        let options: Vec<Value> = wanted.options.iter().map(|(name, color)| option(name, color)).collect();
        let input = json!({ "input": {
            "projectId": project, "name": wanted.name, "dataType": "SINGLE_SELECT", "singleSelectOptions": options,
        } });
        let answer = self.ask_partly::<Ignored>(documents::SETUP, "CreateField", input, Effect::Set)?;
        match answer.errors.iter().find(|error| !error.is_already()) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Adds options after the existing ones, each of which is sent with its id: otherwise, GitHub would replace all options and
    /// clear the values of all items.
    pub fn add_options(&self, field: &OptionField, wanted: &Wanted, features: Features) -> Result<(), GithubError> {
        if !features.option_ids {
            return Err(GithubError::Refused(
                "this GitHub server replaces all options of a field when one is added".into(),
            ));
        }
        let kept = field.options.iter().map(|there| {
            json!({ "id": there.id, "name": there.name, "color": there.color, "description": there.description })
        });
        let missing = wanted.options.iter().filter(|(name, _)| field.option(name).is_none());
        let options: Vec<Value> = kept.chain(missing.map(|(name, color)| option(name, color))).collect();
        let input = json!({ "input": { "fieldId": field.id, "singleSelectOptions": options } });
        self.ask::<Ignored>(documents::SETUP, "UpdateField", input, Effect::Set).map(|_| ())
    }

    pub fn repository(&self, slug: &Slug) -> Result<Repo, GithubError> {
        let mut found: Option<Repo> = None;
        let mut after = None::<String>;
        loop {
            let variables = json!({ "owner": slug.owner, "name": slug.name, "after": after });
            let answer: OfRepository = self.ask(documents::REPOSITORY, "RepoLookup", variables, Effect::Read)?;
            let missing = || {
                GithubError::NotFound(format!("repository {slug} does not exist, or this token has no access to it"))
            };
            let raw = answer.repository.ok_or_else(missing)?;
            let page = raw.labels.as_ref().and_then(|labels| labels.page_info.as_ref());
            after = page.and_then(|page| page.next()).map(str::to_owned);
            let viewer = answer.viewer.map(|viewer| viewer.login).unwrap_or_default();
            let (repo, labels) = raw.split(viewer, slug);
            found.get_or_insert(repo).labels.extend(labels);
            if after.is_none() {
                return found.ok_or_else(missing);
            }
        }
    }
}

fn option(name: &str, color: &str) -> Value {
    json!({ "name": name, "color": color, "description": "" })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfOwner {
    viewer: Option<Login>,
    repository: Option<NameWithOwner>,
    repository_owner: Option<Owner>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    project_v2: Option<RawProject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfOwners {
    repository_owner: Option<OwnerOfMany>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnerOfMany {
    id: Node,
    projects_v2: Option<Nodes<ListedProject>>,
}

#[derive(Deserialize)]
struct ListedProject {
    number: u64,
    title: String,
    closed: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawProject {
    id: Node,
    number: u64,
    title: String,
    url: String,
    closed: bool,
    viewer_can_update: bool,
    fields: Nodes<RawField>,
    workflows: Nodes<RawWorkflow>,
}

#[derive(Deserialize)]
struct RawField {
    id: Option<Node>,
    name: Option<String>,
    options: Option<Vec<FieldOption>>,
}

#[derive(Deserialize)]
struct RawWorkflow {
    name: String,
    enabled: bool,
}

impl Project {
    fn of(raw: RawProject) -> Self {
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for field in raw.fields.into_vec() {
            match (field.id, field.name, field.options) {
                (Some(id), Some(name), Some(options)) => fields.push(OptionField { id, name, options }),
                (_, Some(name), None) => others.push(name),
                _ => {}
            }
        }
        let workflows = raw.workflows.into_vec().into_iter().filter(|workflow| workflow.enabled);
        Self {
            id: raw.id,
            number: raw.number,
            title: raw.title,
            url: raw.url,
            closed: raw.closed,
            writable: raw.viewer_can_update,
            fields,
            others,
            workflows: workflows.map(|workflow| workflow.name).collect(),
        }
    }
}

#[derive(Deserialize)]
struct OfRepository {
    viewer: Option<Login>,
    repository: Option<RawRepo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRepo {
    id: Node,
    name_with_owner: String,
    has_issues_enabled: bool,
    is_archived: bool,
    viewer_permission: Option<String>,
    visibility: String,
    labels: Option<Nodes<Label>>,
}

impl RawRepo {
    fn split(self, viewer: String, asked: &Slug) -> (Repo, Vec<(String, Label)>) {
        let labels = self.labels.into_iter().flat_map(|labels| labels.into_vec());
        let labels = labels.map(|label| (label.name.to_lowercase(), label)).collect();
        let repo = Repo {
            viewer,
            id: self.id,
            // GitHub returns the current name of a renamed or moved repository.
            slug: Slug::parse(&self.name_with_owner).unwrap_or_else(|| asked.clone()),
            issues: self.has_issues_enabled,
            archived: self.is_archived,
            permission: self.viewer_permission,
            public: self.visibility == "PUBLIC",
            labels: BTreeMap::new(),
        };
        (repo, labels)
    }
}

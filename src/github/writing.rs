//! Writes to GitHub: creates one at a time, everything else in batches with separate results.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{AddComment, CreateLabel, CreatedIssue, Label, NewIssue};
use super::calls::{AT_ONCE, batch, create_with};
use super::{ApiError, Call, Client, Effect, Features, GithubError, Node, documents};

/// An issue that was just created.
#[derive(Debug, Clone)]
pub struct Created {
    pub node: Node,
    pub number: u64,
    pub url: String,
    pub title: String,
    pub body: String,
    /// The row in the project, if GitHub has already added it.
    pub item: Option<Node>,
}

/// The content of a new issue.
#[derive(Debug)]
pub struct NewText<'a> {
    pub title: &'a str,
    pub body: &'a str,
    pub labels: Vec<Node>,
}

/// The result of creating an issue, and of the calls in the same request.
#[derive(Debug)]
pub struct WithRiders {
    pub created: Result<Created, GithubError>,
    pub riders: Vec<Outcome>,
}

/// The result of one call of a batch.
#[derive(Debug)]
pub enum Outcome {
    /// Done, with the text as GitHub stored it, if a text was sent.
    Done(Option<String>),
    Failed(ApiError),
}

impl Client<'_> {
    pub fn create_issue(
        &self,
        repository: &Node,
        project: &Node,
        text: &NewText<'_>,
        features: Features,
        riders: &[Call],
    ) -> Result<WithRiders, GithubError> {
        let mut input = json!({
            "repositoryId": repository, "title": text.title, "body": text.body, "labelIds": text.labels,
        });
        if features.create_in_project {
            input["projectV2Ids"] = json!([project]);
        }
        let (document, variables) = create_with(input, riders);
        let answer = self.ask_partly::<Map<String, Value>>(&document, "CreateIssue", variables, Effect::Create)?;
        let data = answer.data.unwrap_or_default();
        let made = data.get("createIssue").filter(|made| !made.is_null()).cloned();
        let made = made.map(serde_json::from_value::<CreatedIssue>).transpose();
        let mine = answer.errors.iter().find(|error| error.about().is_none_or(|about| about == "createIssue"));
        let created = match (made.map(|made| made.and_then(|made| made.issue)), mine) {
            (Ok(Some(issue)), _) => Ok(Created::of(issue, project)),
            (Err(error), _) => Err(GithubError::Ambiguous(format!("CreateIssue: {error}"))),
            (Ok(None), Some(error)) => Err(error.into()),
            (Ok(None), None) => Err(GithubError::Ambiguous("the response does not contain the new issue".into())),
        };
        Ok(WithRiders { created, riders: outcomes(riders, &data, &answer.errors) })
    }

    pub fn add_comment(&self, issue: &Node, body: &str) -> Result<(Node, String), GithubError> {
        let input = json!({ "input": { "subjectId": issue, "body": body } });
        let made = |data: Value| serde_json::from_value::<AddComment>(data).ok()?.add_comment?.comment_edge?.node;
        let comment = self.create(documents::CREATE, "AddComment", input, made)?;
        Ok((comment.id, comment.body))
    }

    /// Creates a label. A retry is harmless, because names are unique.
    pub fn create_label(&self, repository: &Node, name: &str) -> Result<Option<Label>, GithubError> {
        let input = json!({ "input": { "repositoryId": repository, "name": name, "color": "ededed" } });
        let answer = self.ask_partly::<CreateLabel>(documents::CREATE, "CreateLabel", input, Effect::Set)?;
        let label = answer.data.and_then(|data| data.create_label).and_then(|created| created.label);
        match (label, answer.errors.first()) {
            (Some(label), _) => Ok(Some(label)),
            (None, Some(error)) if error.is_already() => Ok(None),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(GithubError::Odd("the response does not contain the new label".into())),
        }
    }

    /// The outcome of each call, in the order of the calls. A change that was already made counts as done.
    pub fn call(&self, calls: &[Call]) -> Result<Vec<Outcome>, GithubError> {
        debug_assert!(calls.len() <= AT_ONCE);
        let (document, variables) = batch(calls);
        let answer = self.ask_partly::<Map<String, Value>>(&document, "Batch", variables, Effect::Set)?;
        let data = answer.data.unwrap_or_default();
        // An error without a path applies to all calls.
        if let Some(error) = answer.errors.iter().find(|error| error.about().is_none()) {
            return Err(error.into());
        }
        Ok(outcomes(calls, &data, &answer.errors))
    }
}

impl Created {
    fn of(issue: NewIssue, project: &Node) -> Self {
        let items = issue.project_items.into_iter().flat_map(|items| items.into_vec());
        let item = items.into_iter().find(|item| item.project.id == *project);
        Self {
            node: issue.id,
            number: issue.number,
            url: issue.url,
            title: issue.title,
            body: issue.body,
            item: item.map(|item| item.id),
        }
    }
}

/// The results of the calls, by alias.
fn outcomes(calls: &[Call], data: &Map<String, Value>, errors: &[ApiError]) -> Vec<Outcome> {
    let outcome = |(at, call): (usize, &Call)| {
        let alias = format!("m{at}");
        match errors.iter().find(|error| error.about() == Some(&alias)) {
            Some(error) if error.is_already() => Outcome::Done(None),
            Some(error) => Outcome::Failed(error.clone()),
            None => Outcome::Done(data.get(&alias).and_then(|answer| call.kept(answer))),
        }
    };
    calls.iter().enumerate().map(outcome).collect()
}

/// The maximum number of calls in a batch.
pub const BATCH: usize = AT_ONCE;

#[derive(Deserialize)]
pub(super) struct Ignored {}

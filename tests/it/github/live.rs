//! One scenario that uses only ralph and GitHub's API: against the fake, or against a real repository that
//! `RALPH_LIVE_REPO`, `RALPH_LIVE_PROJECT` and `GH_TOKEN` name.

use std::process::Command;
use std::time::Duration;

use ralph::github::{
    Call, Client, Features, FieldNames, Host, Item, Node, Pace, Patience, Project, RemoteIssue, Slug, Wait, endpoint,
    find_token,
};

use crate::fake::Fake;
use crate::sandbox::{Output, RALPH, Sandbox, finish};

struct Patient;

impl Patience for Patient {
    fn waiting(&self, _: &Wait) {}
    fn is_over(&self) -> bool {
        false
    }
}

/// The board, and the GitHub that it is mirrored to.
struct Stage {
    sandbox: Sandbox,
    url: String,
    token: String,
    slug: Slug,
    project: Option<u64>,
    pace: Duration,
    _fake: Option<Fake>,
}

impl Stage {
    fn set() -> Self {
        let sandbox = Sandbox::new();
        let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let live = var("RALPH_LIVE_REPO").map(|repo| {
            let url = var("RALPH_GITHUB_API").unwrap_or_else(|| endpoint(&Host("github.com".into()), "").unwrap());
            let token = var("GH_TOKEN").expect("GH_TOKEN is set for a live run");
            let project = var("RALPH_LIVE_PROJECT").map(|number| number.parse().unwrap());
            (url, token, Slug::parse(&repo).unwrap(), project)
        });
        let stage = match live {
            Some((url, token, slug, project)) => {
                Self { sandbox, url, token, slug, project, pace: Duration::from_secs(3), _fake: None }
            }
            None => {
                let fake = Fake::start();
                let slug = Slug { owner: "acme".into(), name: "app".into() };
                Self {
                    sandbox,
                    url: fake.url(),
                    token: fake.token(),
                    slug,
                    project: None,
                    pace: Duration::ZERO,
                    _fake: Some(fake),
                }
            }
        };
        let url = format!("git@github.com:{}.git", stage.slug);
        stage.sandbox.git(&["remote", "add", "origin", &url]);
        stage
    }

    fn command(&self) -> Command {
        let mut command = self.sandbox.command(RALPH, &self.sandbox.root());
        command.env("GH_TOKEN", &self.token).env("RALPH_GITHUB_API", &self.url);
        command.env("RALPH_GITHUB_PACE", format!("{}s", self.pace.as_secs()));
        command
    }

    fn ralph(&self, args: &[&str]) -> Output {
        finish(self.command().args(args))
    }

    fn client(&self) -> Client<'static> {
        let token = find_token(&Host("github.com".into()), &|_| Some(self.token.clone())).unwrap();
        Client::new(self.url.clone(), token, Pace::new(self.pace), &Patient)
    }

    fn project(&self) -> Project {
        let settings = self.ralph(&["config", "get", "github.project", "--json"]).json();
        let number = settings["value"].as_str().unwrap().parse().unwrap();
        self.client().project(&self.slug.owner, number, &self.slug).unwrap().project.unwrap()
    }

    /// The item and the issue of a task, as GitHub has them now.
    fn look(&self, task: &str) -> (Item, RemoteIssue) {
        let shown = self.ralph(&["task", "show", task, "--json"]).json();
        let number = shown["github"]["number"].as_u64().expect("it is mirrored");
        let names =
            FieldNames { state: "Workflow State".into(), priority: "Priority".into(), estimate: "Estimate".into() };
        let features = Features { dependencies: true, create_in_project: true, archived_items: true, option_ids: true };
        let items = self.client().scan(&self.project().id, &names, features, &mut |_, _| {}).unwrap();
        let item = items.into_iter().find(|item| item.number == number).unwrap();
        let issue = self.client().details(std::slice::from_ref(&item.issue), features).unwrap().remove(0).1.unwrap();
        (item, issue)
    }

    fn act(&self, calls: &[Call]) {
        for outcome in self.client().call(calls).unwrap() {
            assert!(matches!(outcome, ralph::github::Outcome::Done(_)), "{outcome:?}");
        }
    }

    fn sync(&self) {
        self.ralph(&["sync", "--full"]).ok();
    }

    fn field(&self, task: &str, name: &str) -> String {
        self.ralph(&["task", "show", task, "--json"]).json()[name].as_str().unwrap_or_default().to_owned()
    }
}

#[test]
fn one_story_from_both_sides() {
    let stage = Stage::set();
    let mut init = vec!["sync", "init"];
    let number = stage.project.map(|number| number.to_string());
    init.extend(number.iter().flat_map(|number| ["--project", number.as_str()]));
    stage.ralph(&init).ok();
    let stamp = format!("{:x}", std::process::id());
    let parent = stage.sandbox.add(&[&format!("Parent {stamp}")]);
    let task = stage.sandbox.add(&[
        &format!("Story {stamp}"),
        "--parent",
        &parent,
        "--priority",
        "P1",
        "--label",
        "bug",
        "--body",
        "Once.\n",
    ]);
    let _ = stage.ralph(&["block", &task, "--on", &parent]);
    stage.ralph(&["note", &task, "Upon a time."]).ok();
    stage.sync();
    let (item, issue) = stage.look(&task);
    assert_eq!((item.state.as_deref(), item.priority.as_deref()), (Some("Backlog"), Some("P1")));
    assert_eq!((issue.labels.as_slice(), issue.comments.len()), (["bug".to_owned()].as_slice(), 1));
    assert!(issue.parent.is_some());
    // A change on GitHub.
    let project = stage.project();
    let field = project.field("Workflow State").unwrap();
    let option = field.option("Ready for Plan").unwrap().id.clone();
    stage.act(&[
        Call::Title { issue: issue.node.clone(), title: format!("Retold {stamp}") },
        Call::Choose { project: project.id.clone(), item: item.id, field: field.id.clone(), option },
    ]);
    stage.client().add_comment(&issue.node, "There was.").unwrap();
    stage.sync();
    assert_eq!(
        (stage.field(&task, "title"), stage.field(&task, "state")),
        (format!("Retold {stamp}"), "Ready for Plan".into())
    );
    // Both sides change the title: a person decides.
    stage.ralph(&["task", "set", &task, "title=Mine"]).ok();
    stage.act(&[Call::Title { issue: issue.node.clone(), title: "Theirs".into() }]);
    assert_eq!(stage.ralph(&["sync", "--full"]).code, 1);
    stage.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    stage.sync();
    assert_eq!(stage.look(&task).1.title, "Mine");
    // Closed on GitHub, the task is done. Then both tasks are deleted, and their issues are closed and archived.
    stage.act(&[Call::Close { issue: issue.node, reason: "COMPLETED" }]);
    stage.sync();
    assert_eq!(stage.field(&task, "state"), "Done");
    assert_eq!(stage.look(&task).0.state.as_deref(), Some("Done"));
    let nodes: Vec<Node> = [&task, &parent].map(|task| stage.look(task).1.node).to_vec();
    stage.ralph(&["task", "rm", &task, &parent]).ok();
    stage.sync();
    let features = Features { dependencies: true, ..Features::default() };
    for (_, issue) in stage.client().details(&nodes, features).unwrap() {
        assert!(issue.unwrap().closed);
    }
}

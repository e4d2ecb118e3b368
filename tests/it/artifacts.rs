//! `ralph artifact`: documents of tasks and groups, by exact names.

use std::fs;

use crate::sandbox::Sandbox;
use crate::system::symlink;

fn new(sandbox: &Sandbox, kind: &str, task: &str) -> String {
    sandbox.ralph(&["artifact", "new", kind, task, "--json"]).json()["path"].as_str().unwrap().to_owned()
}

#[test]
fn a_document_is_made_once_checked_and_linked() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Sync drops labels"]);
    let made = sandbox.ralph(&["artifact", "new", "research", &id, "--json"]).json();
    let path = format!("thoughts/shared/research/2026-11-16-{id}-sync-drops-labels.md");
    assert_eq!((made["path"].as_str(), made["created"].as_bool()), (Some(path.as_str()), Some(true)));
    assert!(made["file"].as_str().unwrap().ends_with(&path));

    let refused = sandbox.ralph(&["artifact", "link", "research", &id]).fails(1);
    assert!(refused.contains("replace TO BE WRITTEN with your text"), "{refused}");
    assert!(!sandbox.read_task(&id).contains("[artifacts]"));
    let checked = sandbox.ralph(&["artifact", "check", "research", &id]);
    assert_eq!(checked.code, 1, "{checked}");

    sandbox.fill(&path);
    let text = fs::read_to_string(sandbox.root().join(&path)).unwrap();
    let again = sandbox.ralph(&["artifact", "new", "research", &id, "--slug", "other", "--json"]).json();
    assert_eq!((again["path"].as_str(), again["created"].as_bool()), (Some(path.as_str()), Some(false)));
    assert_eq!(fs::read_to_string(sandbox.root().join(&path)).unwrap(), text, "nothing is overwritten");

    sandbox.ralph(&["artifact", "check", "research", &id]).ok();
    assert_eq!(sandbox.ralph(&["artifact", "link", "research", &id, "--json"]).json()["linked"], true);
    assert!(sandbox.read_task(&id).contains(&format!("research = \"{path}\"")));
    sandbox.ralph(&["undo"]).ok();
    assert!(!sandbox.read_task(&id).contains(&path), "a link is a verb like any other");
}

#[test]
fn a_kind_that_is_none_says_which_there_are() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A"]);
    let said = sandbox.ralph(&["artifact", "new", "essay", &id]).fails(2);
    assert!(said.contains("use research, plan, review, report"), "{said}");
    let none = sandbox.ralph(&["artifact", "check", "plan", &id]).fails(1);
    assert!(none.contains(&format!("`ralph artifact new plan {id}`")), "{none}");
}

#[test]
fn a_mirrored_task_is_named_by_its_issue_and_not_by_one_that_begins_alike() {
    let sandbox = Sandbox::new();
    for (id, number) in [("t-aa", 14), ("t-bb", 147)] {
        let url = format!("https://github.com/o/r/issues/{number}");
        sandbox.write_task(id, format!("title = \"A\"\n\n[github]\nnumber = {number}\nurl = \"{url}\"\n"));
    }
    let long = new(&sandbox, "plan", "t-bb");
    assert_eq!(long, "thoughts/shared/plans/2026-11-16-GH-0147-a.md");
    let short = new(&sandbox, "plan", "t-aa");
    assert_eq!(short, "thoughts/shared/plans/2026-11-16-GH-0014-a.md");
    sandbox.fill(&long);
    sandbox.fill(&short);
    let said = sandbox.ralph(&["artifact", "link", "plan", "t-aa", &long]).fails(1);
    assert!(said.contains("is the plan of t-bb"), "{said}");
    // A document with any name is still checked against the task that it names.
    fs::rename(sandbox.root().join(&long), sandbox.root().join("plan.md")).unwrap();
    let said = sandbox.ralph(&["artifact", "link", "plan", "t-aa", "plan.md"]).fails(1);
    assert!(said.contains("the document names t-bb, 147"), "{said}");
    sandbox.ralph(&["artifact", "link", "plan", "t-bb", "plan.md"]).ok();
    sandbox.ralph(&["artifact", "link", "plan", "#14"]).ok();
    let text = fs::read_to_string(sandbox.root().join(&short)).unwrap();
    assert!(text.contains("github_issue: 14\ngithub_url: https://github.com/o/r/issues/14\n"), "{text}");
}

#[test]
fn a_path_that_leads_out_of_the_repository_is_refused() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A"]);
    let path = new(&sandbox, "research", &id);
    sandbox.fill(&path);
    fs::copy(sandbox.root().join(&path), sandbox.outside("r.md")).unwrap();
    for typed in ["../r.md", sandbox.outside("r.md").to_str().unwrap()] {
        assert!(
            sandbox.ralph(&["artifact", "link", "research", &id, typed]).fails(1).contains("is outside the repository")
        );
    }
    assert!(
        sandbox.ralph(&["artifact", "link", "research", &id, "none.md"]).fails(1).contains("no such file: none.md")
    );
    let copy = sandbox.root().join("worktrees/x/r.md");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::copy(sandbox.root().join(&path), &copy).unwrap();
    let said = sandbox.ralph_in(copy.parent().unwrap(), &["artifact", "link", "research", &id, "r.md"]).fails(1);
    assert!(said.contains("is in the worktree of a task"), "{said}");
    let plans = sandbox.root().join("thoughts/shared/plans");
    let _ = fs::remove_dir_all(&plans);
    symlink(sandbox.home(), plans).unwrap();
    sandbox.ralph(&["artifact", "new", "plan", &id]).fails(4);
    assert_eq!(fs::read_dir(sandbox.home()).unwrap().count(), 0, "nothing is written through a link that leads out");
}

#[test]
fn a_group_has_one_plan_and_every_member_links_it() {
    let sandbox = Sandbox::new();
    let parent = sandbox.add(&["Epic", "--atomic"]);
    let first = sandbox.add(&["One", "--parent", &parent, "--state", "ready-for-plan"]);
    let second = sandbox.add(&["Two", "--parent", &parent, "--state", "ready-for-plan", "--blocked-by", &first]);
    let path = new(&sandbox, "plan", &second);
    assert_eq!(path, format!("thoughts/shared/plans/2026-11-16-group-{first}-one.md"));
    assert_eq!(new(&sandbox, "plan", &first), path);
    let text = fs::read_to_string(sandbox.root().join(&path)).unwrap();
    assert!(text.contains(&format!("## Phase 2: Two ({second})\n\n- **depends_on**: [phase-1]\n")), "{text}");
    sandbox.fill(&path);
    sandbox.ralph(&["artifact", "link", "plan", &second]).ok();
    for id in [&first, &second] {
        assert!(sandbox.read_task(id).contains(&format!("plan = \"{path}\"")), "{id}");
    }
    assert!(!sandbox.read_task(&parent).contains(&path));
}

#[test]
fn each_round_of_review_has_its_own_critique() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "plan-in-review"]);
    let plan = new(&sandbox, "plan", &id);
    sandbox.fill(&plan);
    sandbox.ralph(&["artifact", "link", "plan", &id]).ok();
    let first = new(&sandbox, "review", &id);
    assert_eq!(first, format!("thoughts/shared/reviews/2026-11-16-{id}-critique.md"));
    sandbox.fill(&first);
    sandbox.ralph(&["artifact", "link", "review", &id]).ok();
    sandbox.ralph(&["move", &id, "ready-for-plan", "--for", "review"]).ok();
    let second = new(&sandbox, "review", &id);
    assert_eq!(second, format!("thoughts/shared/reviews/2026-11-16-{id}-critique-2.md"));
    fs::copy(sandbox.root().join(&first), sandbox.root().join("r.md")).unwrap();
    assert!(
        sandbox
            .ralph(&["artifact", "link", "review", &id, "r.md"])
            .fails(1)
            .contains("does not have the file name of a review")
    );
    let said = sandbox.ralph(&["artifact", "link", "review", &id, &first]).fails(1);
    assert!(said.contains("is from round 1, but this is round 2"), "{said}");
}

#[test]
fn a_worker_does_not_link_to_what_another_holds() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "research-needed"]);
    let path = new(&sandbox, "research", &id);
    sandbox.fill(&path);
    sandbox.ralph(&["claim", &id, "--as", "analyst"]).ok();
    sandbox.ralph(&["artifact", "link", "research", &id, "--as", "analyst-2"]).fails(3);
    sandbox.ralph(&["artifact", "link", "research", &id, "--as", "analyst"]).ok();
}

#[test]
fn a_worker_is_not_believed_without_its_document() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "research-needed"]);
    sandbox.ralph(&["claim", &id, "--as", "analyst"]).ok();
    let complete = ["move", &id, "__COMPLETE__", "--for", "research", "--as", "analyst"];
    let said = sandbox.ralph(&complete).fails(1);
    assert!(
        said.contains("has no research") && said.contains(&format!("`ralph artifact new research {id}`")),
        "{said}"
    );
    // A link set by hand does not bypass the check.
    fs::write(sandbox.outside("r.md"), "anything").unwrap();
    for typed in ["../r.md", sandbox.outside("r.md").to_str().unwrap(), ".ralph/config.toml"] {
        sandbox.ralph(&["task", "set", &id, &format!("artifacts.research={typed}")]).ok();
        sandbox.ralph(&complete).fails(1);
    }
    let path = sandbox.hand_in("research", &id);
    let text = fs::read_to_string(sandbox.root().join(&path)).unwrap();
    // A document may have become incomplete since it was linked.
    fs::write(sandbox.root().join(&path), text.replace("## Risks", "## Hopes")).unwrap();
    assert!(sandbox.ralph(&complete).fails(1).contains("no section `## Risks`"));
    fs::remove_file(sandbox.root().join(&path)).unwrap();
    assert!(sandbox.ralph(&complete).fails(1).contains("does not exist"));
    fs::write(sandbox.root().join(&path), text).unwrap();
    sandbox.ralph(&complete).ok();
}

#[test]
fn a_verdict_and_the_move_must_agree() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["config", "set", "review.mode", "auto"]).ok();
    let id = sandbox.add(&["A", "--state", "plan-in-review"]);
    sandbox.hand_in("plan", &id);
    let path = sandbox.hand_in("review", &id);
    let reject = ["move", &id, "ready-for-plan", "--for", "review", "--as", "builder"];
    assert!(sandbox.ralph(&reject).fails(1).contains("has the status approved, which does not match this move"));
    let file = sandbox.root().join(&path);
    let text = fs::read_to_string(&file).unwrap();
    let rejecting =
        text.replace("status: approved", "status: needs-iteration").replace(": APPROVED", ": NEEDS_ITERATION");
    fs::write(&file, rejecting).unwrap();
    let approve = ["move", &id, "__COMPLETE__", "--for", "review", "--as", "builder"];
    assert!(sandbox.ralph(&approve).fails(1).contains("has the status needs-iteration"));
    sandbox.ralph(&reject).ok();
    // The critique of the first round does not count in the second.
    sandbox.ralph(&["move", &id, "plan-in-review", "--force"]).ok();
    assert!(sandbox.ralph(&reject).fails(1).contains("this is round 2"));
    sandbox.hand_in("review", &id);
    sandbox.ralph(&approve).ok();
}

#[test]
fn an_implementation_is_committed_in_the_tasks_own_worktree() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "plan-in-review"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "board"]);
    sandbox.ralph(&["claim", &id, "--for", "implement", "--as", "builder"]).ok();
    let complete = ["move", &id, "__COMPLETE__", "--for", "implement", "--as", "builder"];
    assert!(sandbox.ralph(&complete).fails(1).contains("has no worktree"));
    sandbox.ralph(&["worktree", "add", &id]).ok();
    assert!(sandbox.ralph(&complete).fails(1).contains("has no commits that main lacks"));
    let place = sandbox.root().join(format!("worktrees/{id}"));
    fs::write(place.join("a.txt"), "a").unwrap();
    let git = |args: &[&str]| sandbox.git_in(&place, args).ok();
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "a"]);
    fs::write(place.join("b.txt"), "b").unwrap();
    assert!(sandbox.ralph(&complete).fails(1).contains("uncommitted changes"));
    fs::remove_file(place.join("b.txt")).unwrap();
    git(&["checkout", "-q", "-b", "other"]);
    assert!(sandbox.ralph(&complete).fails(1).contains("is on branch other"));
    git(&["checkout", "-q", &format!("feature/{id}")]);
    sandbox.ralph(&complete).ok();
}

#[test]
fn a_task_that_triage_leaves_is_not_offered_again_and_says_why() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A"]);
    sandbox.ralph(&["next", "--claim", "--as", "analyst"]).ok();
    sandbox.ralph(&["move", &id, "backlog", "--for", "triage", "--as", "analyst"]).ok();
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["claim"], serde_json::Value::Null);
    let none = sandbox.ralph(&["next", "--claim", "--as", "analyst"]).fails(5);
    assert!(none.contains("triage left tasks to a person"), "{none}");
    assert!(sandbox.ralph(&["why", &id]).ok().contains("label ralph-triage"));
    sandbox.ralph(&["task", "set", &id, "labels-=ralph-triage"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--role", "analyst", "--json"]).json()["task"], id.as_str());
}

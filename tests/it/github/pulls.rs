//! `ralph pr` and `ralph merge` with GitHub: branches go to a real git server, pull requests to the fake.

use std::path::PathBuf;

use super::Mirror;
use crate::fake::Fault;

const PLAN: &str = "thoughts/shared/plans/p.md";

pub(super) struct Work {
    pub mirror: Mirror,
    pub task: String,
    number: u32,
}

impl Work {
    /// A mirrored task in review, with a plan, and with commits in its worktree.
    pub fn new() -> Self {
        let mirror = Mirror::new();
        let server = mirror.sandbox.outside("server.git");
        mirror.sandbox.git(&["init", "-q", "--bare", server.to_str().unwrap()]);
        // The remote has a GitHub address, which git rewrites to a folder.
        let rewrite = format!("url.{}.insteadOf", server.display());
        mirror.sandbox.git(&["config", &rewrite, "git@github.com:acme/app.git"]);
        let task = mirror.add(&["Label case", "--body", "Labels differ only in case."]);
        let plan = mirror.sandbox.root().join(PLAN);
        std::fs::create_dir_all(plan.parent().unwrap()).unwrap();
        std::fs::write(&plan, "plan\n").unwrap();
        mirror.ralph(&["task", "set", &task, &format!("artifacts.plan={PLAN}")]).ok();
        mirror.ralph(&["move", &task, "In Review", "--force"]).ok();
        mirror.sync();
        mirror.sandbox.git(&["add", "-A"]);
        mirror.sandbox.git(&["commit", "-qm", "board"]);
        mirror.sandbox.git(&["push", "-q", "origin", "main"]);
        let number = mirror.number(&task);
        let work = Self { mirror, task, number };
        work.mirror.ralph(&["worktree", "add", &work.task]).ok();
        work.commit("one");
        let main = work.mirror.sandbox.git(&["rev-parse", "main"]).trim().to_owned();
        work.mirror.world(|world| world.push_ref("acme/app", "main", &main));
        work
    }

    pub fn branch(&self) -> String {
        format!("feature/GH-{}", self.number)
    }

    pub fn worktree(&self) -> PathBuf {
        self.mirror.sandbox.root().join(format!("worktrees/GH-{}", self.number))
    }

    /// Commits, and adds the branch that will be pushed to the fake.
    fn commit(&self, text: &str) {
        let tip = self.commit_only(text);
        self.mirror.world(|world| world.push_ref("acme/app", &self.branch(), &tip));
    }

    fn commit_only(&self, text: &str) -> String {
        std::fs::write(self.worktree().join("code.txt"), text).unwrap();
        self.mirror.sandbox.git_in(&self.worktree(), &["add", "-A"]).ok();
        self.mirror.sandbox.git_in(&self.worktree(), &["commit", "-qm", text]).ok();
        self.mirror.sandbox.git_in(&self.worktree(), &["rev-parse", "HEAD"]).ok().trim().to_owned()
    }

    pub fn pr(&self) -> u32 {
        let made = self.mirror.ralph(&["pr", &self.task, "--json"]).json();
        u32::try_from(made["number"].as_u64().unwrap()).unwrap()
    }

    pub fn state(&self) -> String {
        self.mirror.field(&self.task, "state")
    }

    #[track_caller]
    fn refuses(&self, code: i32, words: &str) {
        let said = self.mirror.ralph(&["merge", &self.task]).fails(code);
        assert!(said.contains(words), "no {words:?} in {said}");
        assert!(self.worktree().exists());
        assert!(!self.mirror.world(|world| world.issue(self.number).closed));
    }

    #[track_caller]
    pub fn is_merged(&self) {
        assert_eq!(self.state(), "Done");
        assert!(!self.worktree().exists());
        assert_eq!(self.mirror.sandbox.git(&["branch", "--list", &self.branch()]), "");
        assert_eq!(self.mirror.sandbox.git(&["ls-remote", "origin", &self.branch()]), "");
    }
}

#[test]
fn a_pull_request_is_made_once_and_closes_its_issue() {
    let work = Work::new();
    let said = work.mirror.ralph(&["pr", &work.task]).ok();
    let number = work.mirror.world(|world| world.pulls()[0].number);
    assert!(
        said.contains(&format!("#{number} made")) && said.contains(&format!("its merge closes #{}", work.number)),
        "{said}"
    );
    let body = work.mirror.world(|world| world.pull(number).body.clone());
    assert_eq!(body, format!("Labels differ only in case.\n\nDocuments:\n- plan: {PLAN}\n\nCloses #{}\n", work.number));
    assert!(work.mirror.field(&work.task, "artifacts").contains(&format!("/acme/app/pull/{number}")));
    assert_eq!(work.state(), "In Review");
    let again = work.mirror.ralph(&["pr", &work.task]).ok();
    assert!(again.contains("already exists"), "{again}");
    work.commit("two");
    let more = work.mirror.ralph(&["pr", &work.task]).ok();
    assert!(more.contains("has new commits"), "{more}");
    assert_eq!(work.mirror.world(|world| world.pulls().len()), 1);
    let there = work.mirror.sandbox.git(&["ls-remote", "origin", &work.branch()]);
    assert!(there.starts_with(work.mirror.sandbox.git(&["rev-parse", &work.branch()]).trim()));
}

#[test]
fn a_pull_request_whose_answer_is_lost_is_found_by_its_branch() {
    for fault in [Fault::DropAfter, Fault::Truncate, Fault::BadGatewayAfter] {
        let work = Work::new();
        work.mirror.fake.plan([(1, fault)]);
        work.pr();
        assert_eq!(work.mirror.world(|world| world.pulls().len()), 1, "{fault:?}");
    }
}

#[test]
fn work_goes_nowhere_without_a_token_that_works() {
    let work = Work::new();
    work.mirror.world(|world| world.revoked = true);
    let said = work.mirror.ralph(&["pr", &work.task]).fails(6);
    assert!(said.contains("rejected the token"), "{said}");
    assert_eq!(work.mirror.sandbox.git(&["ls-remote", "origin", &work.branch()]), "");
}

#[test]
fn without_a_github_there_is_nothing_to_do() {
    let work = Work::new();
    work.mirror.sandbox.git(&[
        "remote",
        "set-url",
        "origin",
        work.mirror.sandbox.outside("server.git").to_str().unwrap(),
    ]);
    for key in ["github.repo", "github.project"] {
        work.mirror.ralph(&["config", "set", key, ""]).ok();
    }
    work.mirror.requests();
    let said = work.mirror.ralph(&["pr", &work.task]).ok();
    assert!(said.starts_with("nothing to do"), "{said}");
    work.mirror.ralph(&["merge", &work.task]).ok();
    assert_eq!((work.state().as_str(), work.mirror.requests().len()), ("Done", 0));
}

#[test]
fn a_merge_on_github_cleans_up_like_one_here() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| {
        world.set_check(number, "build", "COMPLETED", Some("SUCCESS"));
        world.review(number, "hubot", "APPROVED");
        world.change_pr(number, |pull| pull.unknown_reads = 2);
    });
    let said = work.mirror.ralph(&["merge", &work.task, "--json"]).json();
    assert_eq!(
        (said["checks"].as_u64(), said["worktree_removed"].as_bool(), said["branch_deleted"].as_bool()),
        (Some(1), Some(true), Some(true))
    );
    work.is_merged();
    assert_eq!(work.mirror.world(|world| world.pull(number).state.clone()), "MERGED");
    assert!(work.mirror.world(|world| world.issue(work.number).closed));
    let synced = work.mirror.sync();
    assert_eq!(synced["conflicts"], serde_json::json!([]));
    assert_eq!(work.state(), "Done");
}

#[test]
fn nothing_is_merged_that_is_not_certainly_ready() {
    let work = Work::new();
    let number = work.pr();
    let change = |change: &dyn Fn(&mut crate::fake::Pull)| {
        work.mirror.world(|world| world.change_pr(number, |pull| change(pull)));
    };
    change(&|pull| pull.draft = true);
    work.refuses(1, "is a draft");
    change(&|pull| pull.draft = false);
    work.mirror.world(|world| world.review(number, "hubot", "CHANGES_REQUESTED"));
    work.refuses(1, "has changes requested by hubot");
    change(&|pull| pull.review_decision = Some("REVIEW_REQUIRED".into()));
    work.refuses(1, "is waiting for a review");
    change(&|pull| pull.review_decision = None);
    work.mirror.world(|world| world.set_check(number, "build", "IN_PROGRESS", None));
    work.refuses(3, "checks of #");
    work.mirror.world(|world| world.set_check(number, "build", "COMPLETED", Some("FAILURE")));
    work.refuses(1, "failed: build");
    work.mirror.world(|world| world.fine_grained = true);
    work.refuses(1, "cannot tell whether the checks of");
    work.mirror.world(|world| world.fine_grained = false);
    work.mirror.world(|world| world.set_check(number, "build", "COMPLETED", Some("SUCCESS")));
    for (status, words) in [("BEHIND", "is behind main"), ("BLOCKED", "a rule of the repository")] {
        change(&|pull| pull.merge_state = status.into());
        work.refuses(1, words);
    }
    change(&|pull| pull.merge_state = "CLEAN".into());
    change(&|pull| pull.base = "other".into());
    work.refuses(1, "is other, not main");
    change(&|pull| pull.base = "main".into());
    let tip = work.commit_only("not pushed");
    work.refuses(1, "differs from the branch of");
    work.mirror.world(|world| world.push_ref("acme/app", &work.branch(), &tip));
    work.pr();
    work.mirror.world(|world| world.repo_mut("acme/app").merge_commit = false);
    work.refuses(1, "does not allow the merge method merge");
    work.mirror.ralph(&["config", "set", "merge.style", "squash"]).ok();
    work.mirror.ralph(&["merge", &work.task]).ok();
    work.is_merged();
}

#[test]
fn a_conflict_calls_a_person() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| world.change_pr(number, |pull| pull.mergeable = "CONFLICTING".into()));
    let said = work.mirror.ralph(&["merge", &work.task]).fails(1);
    assert!(said.contains("conflicts with"), "{said}");
    assert_eq!(work.state(), "Human Needed");
}

#[test]
fn a_merge_whose_answer_is_lost_is_not_done_twice_and_not_forgotten() {
    for fault in [Fault::DropAfter, Fault::BadGatewayAfter, Fault::Truncate] {
        let work = Work::new();
        let number = work.pr();
        // The requests are: status, checks, merge.
        work.mirror.fake.plan([(2, fault)]);
        work.mirror.ralph(&["merge", &work.task]).ok();
        work.is_merged();
        assert_eq!(work.mirror.world(|world| world.pull(number).state.clone()), "MERGED", "{fault:?}");
    }
}

#[test]
fn a_merge_that_was_killed_or_done_by_somebody_else_is_completed() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| world.merge_pr(number));
    work.mirror.ralph(&["merge", &work.task]).ok();
    work.is_merged();
    let work = Work::new();
    work.pr();
    work.mirror.fake.plan([(2, Fault::HoldAfter)]);
    let mut child = work.mirror.command(&work.mirror.sandbox.root()).args(["merge", &work.task]).spawn().unwrap();
    assert!(work.mirror.fake.wait_held(std::time::Duration::from_secs(30)));
    child.kill().unwrap();
    child.wait().unwrap();
    work.mirror.fake.plan([]);
    // Meanwhile sync reads that the merge closed the issue.
    work.mirror.ralph(&["merge", &work.task]).ok();
    work.is_merged();
}

#[test]
fn a_merge_queue_is_waited_for() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| world.repo_mut("acme/app").merge_queue = true);
    let fake = work.mirror.fake.clone();
    let merger = std::thread::spawn(move || {
        for _ in 0..600 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut world = fake.world();
            if world.pull(number).queue.is_some() {
                world.merge_pr(number);
                return;
            }
        }
    });
    work.mirror.ralph(&["merge", &work.task]).ok();
    merger.join().unwrap();
    work.is_merged();
}

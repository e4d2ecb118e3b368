//! Reviews and failed checks are handed to the builder, and its replies go to GitHub.

use super::pulls::Work;
use crate::sandbox::{Output, RALPH, finish};

/// Commits a change, replies to every point, and completes.
const FIXES: &str = r#"
set -e
cd "$RALPH_WORKTREE"
date +%N >> code.txt
git add code.txt
git commit -qm "Address the review"
for point in $("$RALPH" feedback "$RALPH_TASK" --json | tr ',' '\n' | sed -n 's/.*"number":\([0-9]*\).*/\1/p'); do
    "$RALPH" reply "$RALPH_TASK" "$point" "Fixed in the last commit ($point)."
done
"$RALPH" move "$RALPH_TASK" __COMPLETE__ --for implement
"#;

impl Work {
    fn worker(&self, args: &[&str]) -> Output {
        let mut command = self.mirror.command(&self.mirror.sandbox.root());
        command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").env("RALPH", RALPH).arg("worker").args(args);
        finish(&mut command)
    }

    /// Runs the integrator once; returns how its run ended.
    fn integrate(&self) -> String {
        let said = self.worker(&["integrator", "--once"]);
        let run = &self.mirror.ralph(&["runs", "ls", "-n", "1", "--json"]).json()[0];
        assert_eq!(run["command"], "merge", "{said}");
        format!("{} {}", run["outcome"].as_str().unwrap(), run["message"].as_str().unwrap_or_default())
    }

    /// The builder addresses every point; returns its prompt.
    fn build(&self) -> String {
        let said = self.worker(&["builder", "--once", "--", "sh", "-c", FIXES]);
        assert_eq!(self.state(), "In Review", "{said}");
        let run = self.mirror.ralph(&["runs", "show", &self.task, "--json"]).json();
        let tip = self.mirror.sandbox.git(&["rev-parse", &self.branch()]).trim().to_owned();
        self.mirror.world(|world| world.push_ref("acme/app", &self.branch(), &tip));
        std::fs::read_to_string(run["prompt"].as_str().unwrap()).unwrap()
    }

    fn points(&self) -> Vec<serde_json::Value> {
        let found = self.mirror.ralph(&["feedback", &self.task, "--json"]).json();
        found["points"].as_array().unwrap().clone()
    }
}

#[test]
fn threads_and_failed_checks_reach_the_builder_and_its_replies_reach_github() {
    let work = Work::new();
    let number = work.pr();
    let lines = [("code.txt", 1, "This can overflow."), ("code.txt", 2, "Name it."), ("docs/a.md", 7, "A typo: teh.")];
    let threads = work.mirror.world(|world| {
        world.set_check(number, "build", "COMPLETED", Some("FAILURE"));
        world.change_pr(number, |pull| {
            let log: String = (0..500).map(|n| format!("2026-11-18T17:00:00.0000000Z line {n}\n")).collect();
            pull.checks[0].log = Some(format!("{log}2026-11-18T17:00:01.0000000Z error: it does not build\n"));
        });
        lines.map(|(path, line, text)| world.comment_on_line(number, "hubot", (path, line), text))
    });
    assert!(work.integrate().starts_with("returned checks of #"), "{:?}", work.points());
    assert_eq!((work.state().as_str(), work.points().len()), ("In Progress", 4));
    let prompt = work.build();
    for text in
        lines.iter().map(|(_, _, text)| *text).chain(["on line 7 of", "error: it does not build", "ralph reply"])
    {
        assert!(prompt.contains(text), "no {text:?} in {prompt}");
    }
    assert!(!prompt.contains("line 3\n"), "only the end of the log: {prompt}");
    work.mirror.world(|world| world.set_check(number, "build", "COMPLETED", Some("SUCCESS")));
    assert!(work.integrate().starts_with("done"));
    work.mirror.world(|world| {
        let pull = world.pull(number);
        assert_eq!(
            pull.threads.iter().map(|thread| &thread.id).collect::<Vec<_>>(),
            threads.iter().collect::<Vec<_>>()
        );
        for thread in &pull.threads {
            assert!(thread.resolved && thread.comments.len() == 2, "{thread:?}");
            assert!(thread.comments[1].body.starts_with("Fixed in the last commit"), "{thread:?}");
        }
    });
    work.is_merged();
}

#[test]
fn a_reviewer_who_never_agrees_ends_at_a_person() {
    let work = Work::new();
    let number = work.pr();
    let thread = work.mirror.world(|world| world.comment_on_line(number, "hubot", ("code.txt", 1), "No."));
    for round in 1..=2 {
        let ended = work.integrate();
        assert!(ended.starts_with("returned") && ended.contains("1 open review thread"), "{round}: {ended}");
        work.build();
        work.mirror.ralph(&["pr", &work.task]).ok();
        assert!(work.mirror.world(|world| world.pull(number).threads[0].resolved));
        work.mirror.world(|world| world.comment_in_thread(&thread, "hubot", &format!("Still no ({round}).")));
    }
    assert!(work.integrate().starts_with("escalated"));
    assert_eq!(work.state(), "Human Needed");
    let notes = work.mirror.field(&work.task, "notes");
    assert!(notes.contains("round by round: 1, 1, 1") && notes.contains("Still no (2)."), "{notes}");
}

#[test]
fn a_reply_that_declines_leaves_the_thread_open_and_then_the_reviewer_decides() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| {
        world.comment_on_line(number, "hubot", ("code.txt", 1), "Use tabs.");
        world.review(number, "hubot", "CHANGES_REQUESTED");
    });
    assert!(work.integrate().starts_with("returned"));
    work.mirror.ralph(&["reply", &work.task, "1", "--declined", "The style guide says blanks."]).ok();
    work.mirror.ralph(&["move", &work.task, "In Review"]).ok();
    assert!(work.integrate().starts_with("waiting"), "everything is answered");
    let threads = work.mirror.world(|world| world.pull(number).threads.clone());
    assert!(!threads[0].resolved && threads[0].comments.len() == 2, "{threads:?}");
    work.mirror.world(|world| {
        world.change_pr(number, |pull| pull.threads[0].resolved = true);
        world.review(number, "hubot", "APPROVED");
    });
    work.mirror.ralph(&["merge", &work.task]).ok();
    work.is_merged();
}

#[test]
fn a_reply_whose_answer_is_lost_is_not_posted_twice() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| world.comment_on_line(number, "hubot", ("code.txt", 1), "Why?"));
    work.mirror.ralph(&["feedback", &work.task, "--fetch"]).ok();
    work.mirror.ralph(&["reply", &work.task, "1", "Because."]).ok();
    // The requests are: the branch, the threads, the reply.
    work.mirror.fake.plan([(2, crate::fake::Fault::DropAfter)]);
    let _ = work.mirror.ralph(&["pr", &work.task]);
    work.mirror.ralph(&["pr", &work.task]).ok();
    let thread = work.mirror.world(|world| world.pull(number).threads[0].clone());
    assert!(thread.resolved && thread.comments.len() == 2, "{thread:?}");
    // Feedback and replies belong to the pull request, so the issue gets no comments.
    work.mirror.sync();
    assert_eq!(work.mirror.world(|world| world.comments.len()), 0);
    assert_eq!(work.points().len(), 0);
}

#[test]
fn a_point_keeps_its_number_when_a_reviewer_resolves_another_meanwhile() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| {
        for (line, text) in [(1, "One."), (2, "Two."), (3, "Three.")] {
            world.comment_on_line(number, "hubot", ("code.txt", line), text);
        }
    });
    work.mirror.ralph(&["feedback", &work.task, "--fetch"]).ok();
    work.mirror.world(|world| world.change_pr(number, |pull| pull.threads[0].resolved = true));
    work.mirror.sync();
    let numbers: Vec<u64> = work.points().iter().map(|point| point["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3]);
    let gone = work.mirror.ralph(&["reply", &work.task, "1", "Done."]).fails(2);
    assert!(gone.contains("has no open point 1: open are 2, 3"), "{gone}");
    work.mirror.ralph(&["reply", &work.task, "2", "Two is done."]).ok();
    work.mirror.ralph(&["pr", &work.task]).ok();
    let threads = work.mirror.world(|world| world.pull(number).threads.clone());
    let told: Vec<(bool, usize)> = threads.iter().map(|thread| (thread.resolved, thread.comments.len())).collect();
    assert_eq!(told, [(true, 1), (true, 2), (false, 1)], "{threads:?}");
    // The reviewer resolved the thread between the reply and the push, so no reply is sent.
    work.mirror.ralph(&["reply", &work.task, "3", "Three is done."]).ok();
    work.mirror.world(|world| world.change_pr(number, |pull| pull.threads[2].resolved = true));
    work.mirror.ralph(&["pr", &work.task]).ok();
    assert_eq!(work.mirror.world(|world| world.pull(number).threads[2].comments.len()), 1);
}

#[test]
fn failed_checks_of_one_name_are_one_point_with_both_logs() {
    let work = Work::new();
    let number = work.pr();
    work.mirror.world(|world| {
        world.set_check(number, "build", "COMPLETED", Some("FAILURE"));
        world.change_pr(number, |pull| {
            let mut other = pull.checks[0].clone();
            (other.id, other.job) = ("CR_other".into(), other.job + 1_000);
            other.log = Some("error: from the second workflow\n".into());
            pull.checks[0].log = Some("error: from the first workflow\n".into());
            pull.checks.push(other);
        });
    });
    for _ in 0..2 {
        work.mirror.ralph(&["feedback", &work.task, "--fetch"]).ok();
        let points = work.points();
        assert_eq!(points.len(), 1, "{points:?}");
        let text = points[0]["text"].as_str().unwrap();
        assert!(text.contains("from the first") && text.contains("from the second"), "{text}");
    }
}

#[test]
fn a_reviewer_who_quotes_a_reply_is_heard() {
    let work = Work::new();
    let number = work.pr();
    let thread = work.mirror.world(|world| world.comment_on_line(number, "hubot", ("code.txt", 1), "Why?"));
    work.mirror.ralph(&["feedback", &work.task, "--fetch"]).ok();
    work.mirror.ralph(&["reply", &work.task, "1", "Because."]).ok();
    work.mirror.ralph(&["pr", &work.task]).ok();
    work.mirror.world(|world| {
        let reply = world.pull(number).threads[0].comments[1].body.clone();
        let quoted: String = reply.lines().map(|line| format!("> {line}\n")).collect();
        world.comment_in_thread(&thread, "hubot", &format!("{quoted}\nThat is no reason."));
    });
    work.mirror.ralph(&["feedback", &work.task, "--fetch"]).ok();
    let points = work.points();
    assert!(points[0]["waiting"] == true, "{points:?}");
    let text = points[0]["text"].as_str().unwrap();
    assert!(text.contains("hubot: > Because.") && text.contains("That is no reason."), "{text}");
}

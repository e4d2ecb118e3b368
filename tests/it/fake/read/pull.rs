//! Resolvers of pull requests, their checks and reviews.

use serde_json::Value;

use super::super::answer::{Ask, Ent, Fail, Out, leaf, maybe, record};
use super::super::page::connection;
use super::super::world::{Check, Pull, Review, Thread, ThreadComment, World};
use super::repository::commit;
use super::{actor, issue, maybe_text, maybe_time, time};

pub(super) fn url(world: &World, pull: &Pull) -> String {
    format!("https://github.com/{}/pull/{}", world.repositories[&pull.repo].full_name(), pull.number)
}

/// UNKNOWN while the server computes it, which the first read starts (§6).
pub(super) fn mergeable(world: &mut World, id: &str) -> Out {
    let Some(pull) = world.pulls.get_mut(id) else {
        return leaf("UNKNOWN");
    };
    if pull.unknown_reads > 0 {
        pull.unknown_reads -= 1;
        return leaf("UNKNOWN");
    }
    leaf(pull.mergeable.as_str())
}

pub(super) fn field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let pull = world.pulls.get(id).ok_or_else(|| Fail::no_node(id))?;
    let out = match ask.field {
        "id" => leaf(id),
        "number" => leaf(pull.number),
        "url" => leaf(url(world, pull)),
        "title" => leaf(pull.title.as_str()),
        "body" => leaf(pull.body.as_str()),
        "state" => leaf(pull.state.as_str()),
        "isDraft" => leaf(pull.draft),
        "merged" => leaf(pull.state == "MERGED"),
        "mergedAt" => maybe_time(pull.merged_at),
        "mergeStateStatus" => leaf(if pull.unknown_reads > 0 { "UNKNOWN" } else { pull.merge_state.as_str() }),
        "reviewDecision" => maybe_text(pull.review_decision.as_deref()),
        "updatedAt" => time(pull.updated),
        "headRefName" => leaf(pull.head.as_str()),
        "headRefOid" => leaf(pull.head_oid.as_str()),
        "baseRefName" => leaf(pull.base.as_str()),
        "isCrossRepository" => leaf(pull.cross_repository),
        "isInMergeQueue" => leaf(pull.queue.is_some()),
        "isMergeQueueEnabled" => leaf(world.repositories[&pull.repo].merge_queue),
        "viewerCanUpdateBranch" => leaf(pull.merge_state == "BEHIND" && pull.state == "OPEN"),
        _ => return related(world, pull, ask),
    };
    Ok(Some(out))
}

fn related(world: &World, pull: &Pull, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let out = match ask.field {
        "headRef" => maybe(world.ref_of(&pull.repo, &pull.head).map(|r| Ent::Ref(r.id.clone()))),
        "mergeCommit" => maybe(pull.merge_commit.as_deref().map(commit)),
        "mergeQueueEntry" => maybe(pull.queue.as_ref().map(queue_entry)),
        "autoMergeRequest" => maybe(pull.auto_merge.as_ref().map(|a| {
            record("AutoMergeRequest", vec![("enabledAt", time(a.enabled)), ("mergeMethod", leaf(a.method.as_str()))])
        })),
        "closingIssuesReferences" => {
            let all = world.closes(pull).into_iter().map(|i| (i.clone(), Ent::Issue(i)));
            connection("IssueConnection", all.collect(), ask.args)?
        }
        "labels" => connection("LabelConnection", issue::labels(&pull.labels), ask.args)?,
        "latestReviews" => {
            let all = pull.reviews.iter().map(|r| (r.id.clone(), review(world, r)));
            connection("PullRequestReviewConnection", all.collect(), ask.args)?
        }
        "statusCheckRollup" => rollup(world, pull)?,
        "reviewThreads" => {
            let all = pull.threads.iter().map(|t| Ok((t.id.clone(), thread(world, t)?)));
            connection("PullRequestReviewThreadConnection", all.collect::<Result<_, Fail>>()?, ask.args)?
        }
        _ => return Ok(None),
    };
    Ok(Some(out))
}

pub(in super::super) fn queue_entry(entry: &super::super::world::QueueEntry) -> Ent {
    let fields = vec![
        ("id", leaf(entry.id.as_str())),
        ("position", leaf(entry.position)),
        ("state", leaf(entry.state.as_str())),
    ];
    record("MergeQueueEntry", fields)
}

fn review(world: &World, review: &Review) -> Ent {
    let fields = vec![
        ("id", leaf(review.id.as_str())),
        ("author", actor(world, &review.author)),
        ("body", leaf(review.body.as_str())),
        ("state", leaf(review.state.as_str())),
        ("submittedAt", maybe_time(review.submitted)),
    ];
    record("PullRequestReview", fields)
}

/// All comments are on one page of fifty, which is enough for a fake.
pub(in super::super) fn thread(world: &World, thread: &Thread) -> Result<Ent, Fail> {
    let all = thread.comments.iter().map(|c| (c.id.clone(), thread_comment(world, c)));
    let all = connection("PullRequestReviewCommentConnection", all.collect(), &serde_json::json!({"first": 50}))?;
    let fields = vec![
        ("id", leaf(thread.id.as_str())),
        ("path", leaf(thread.path.as_str())),
        ("line", leaf(thread.line)),
        ("originalLine", leaf(thread.line)),
        ("isResolved", leaf(thread.resolved)),
        ("isOutdated", leaf(false)),
        ("comments", all),
    ];
    Ok(record("PullRequestReviewThread", fields))
}

pub(in super::super) fn thread_comment(world: &World, comment: &ThreadComment) -> Ent {
    let fields = vec![
        ("id", leaf(comment.id.as_str())),
        ("author", actor(world, &comment.author)),
        ("body", leaf(comment.body.as_str())),
        ("createdAt", time(comment.created)),
        ("url", leaf(format!("https://github.com/discussion/{}", comment.id))),
        ("viewerDidAuthor", leaf(comment.author == world.viewer)),
    ];
    record("PullRequestReviewComment", fields)
}

/// Null without checks; FORBIDDEN for fine-grained tokens, which have no Checks permission (§6).
fn rollup(world: &World, pull: &Pull) -> Result<Out, Fail> {
    if world.fine_grained {
        return Err(Fail::new("FORBIDDEN", "Resource not accessible by personal access token"));
    }
    if pull.checks.is_empty() {
        return Ok(leaf(Value::Null));
    }
    // All contexts are on one page of a hundred, which is enough for a fake.
    let all = pull.checks.iter().map(|c| (c.id.clone(), check(world, c))).collect();
    let contexts = connection("StatusCheckRollupContextConnection", all, &serde_json::json!({"first": 100}))?;
    let fields = vec![
        ("id", leaf(format!("SCR_{}", pull.id))),
        ("state", leaf(rollup_state(&pull.checks))),
        ("contexts", contexts),
    ];
    Ok(Out::Obj(record("StatusCheckRollup", fields)))
}

fn rollup_state(checks: &[Check]) -> &'static str {
    let good = |c: &Check| matches!(c.conclusion.as_deref(), Some("SUCCESS" | "NEUTRAL" | "SKIPPED"));
    let pending = |c: &Check| matches!(c.conclusion.as_deref(), None | Some("PENDING" | "EXPECTED"));
    if checks.iter().all(good) {
        "SUCCESS"
    } else if checks.iter().all(|c| good(c) || pending(c)) {
        "PENDING"
    } else {
        "FAILURE"
    }
}

fn check(world: &World, check: &Check) -> Ent {
    let link = match &check.log {
        Some(_) => leaf(format!("https://github.com/acme/app/actions/runs/1/job/{}", check.job)),
        None => leaf(format!("https://ci.example/{}", check.id)),
    };
    if check.status.is_empty() {
        let state = check.conclusion.as_deref().unwrap_or("PENDING");
        let fields = vec![
            ("id", leaf(check.id.as_str())),
            ("context", leaf(check.name.as_str())),
            ("state", leaf(state)),
            ("targetUrl", link),
            ("description", leaf(Value::Null)),
            ("isRequired", leaf(check.required)),
        ];
        return record("StatusContext", fields);
    }
    let done = check.status == "COMPLETED";
    let fields = vec![
        ("id", leaf(check.id.as_str())),
        ("name", leaf(check.name.as_str())),
        ("databaseId", leaf(check.job)),
        ("title", leaf(Value::Null)),
        ("summary", leaf(Value::Null)),
        ("status", leaf(check.status.as_str())),
        ("conclusion", maybe_text(check.conclusion.as_deref().filter(|_| done))),
        ("detailsUrl", link),
        ("isRequired", leaf(check.required)),
        ("startedAt", time(world.now)),
        ("completedAt", if done { time(world.now) } else { leaf(Value::Null) }),
    ];
    record("CheckRun", fields)
}

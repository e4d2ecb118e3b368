//! The file name of a document: made from a subject, and parsed without mistaking one id for another.

use super::{DocumentKind, Subject};
use crate::task::{Task, TaskId};

const TEAM: &str = "ralph-team-";
const GROUP: &str = "group-";
const CRITIQUE: &str = "-critique";

/// The parts of a document's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentName {
    pub kind: DocumentKind,
    /// The date, such as `2026-11-16`.
    pub date: String,
    pub group: bool,
    /// The round of a review; 1 for other kinds.
    pub round: u32,
    /// The id, followed by the slug if the kind has one.
    rest: String,
}

impl DocumentName {
    /// Parses a path from the root of the repository.
    pub fn parse(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/')?;
        let kind = DocumentKind::ALL.into_iter().find(|kind| kind.folder() == folder)?;
        let stem = name.strip_suffix(".md")?;
        let date = stem.get(..10).filter(|date| is_date(date))?;
        let rest = stem[10..].strip_prefix('-')?;
        let (group, rest) = match rest.strip_prefix(GROUP) {
            Some(rest) if kind == DocumentKind::Plan => (true, rest),
            _ => (false, rest),
        };
        let (rest, round) = match kind {
            DocumentKind::Review => split_round(rest)?,
            DocumentKind::Report => (rest.strip_prefix(TEAM)?, 1),
            _ => (rest, 1),
        };
        (!rest.is_empty()).then(|| Self { kind, date: date.to_owned(), group, round, rest: rest.to_owned() })
    }

    /// The task that it is about. If the name matches two tasks, such as t-ab and t-ab-c, the task with the longer id wins.
    pub fn owner<'a>(&self, tasks: &'a [Task]) -> Option<&'a Task> {
        let matched = |task: &&Task| self.matched(&task.id, task.github.as_ref().map(|issue| issue.number));
        tasks.iter().filter(|task| matched(task).is_some()).max_by_key(matched)
    }

    /// The length of the part that names this task; none if it names another.
    fn matched(&self, id: &TaskId, number: Option<u64>) -> Option<usize> {
        let slugged = matches!(self.kind, DocumentKind::Research | DocumentKind::Plan);
        let ends = |rest: &str| rest.is_empty() || (slugged && rest.starts_with('-'));
        if self.rest.strip_prefix(id.as_str()).is_some_and(ends) {
            return Some(id.as_str().len());
        }
        let digits = self.rest.strip_prefix("GH-")?;
        if digits.strip_prefix(id.as_str()).is_some_and(ends) {
            return Some(id.as_str().len() + 3);
        }
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let same = digits[..end].parse::<u64>().ok() == number && number.is_some();
        (same && ends(&digits[end..])).then_some(end + 3)
    }
}

fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok()
}

/// `t-x7kq-critique-2` is round 2 of t-x7kq.
fn split_round(rest: &str) -> Option<(&str, u32)> {
    if let Some(id) = rest.strip_suffix(CRITIQUE) {
        return Some((id, 1));
    }
    let (front, round) = rest.rsplit_once('-')?;
    let round = round.parse().ok().filter(|round| *round > 1)?;
    Some((front.strip_suffix(CRITIQUE)?, round))
}

/// The path of a new document, from the root of the repository.
pub fn file_name(kind: DocumentKind, date: &str, subject: &Subject, slug: &str) -> String {
    let (folder, id) = (kind.folder(), subject.label());
    match kind {
        DocumentKind::Review if subject.round > 1 => format!("{folder}/{date}-{id}{CRITIQUE}-{}.md", subject.round),
        DocumentKind::Review => format!("{folder}/{date}-{id}{CRITIQUE}.md"),
        DocumentKind::Report => format!("{folder}/{date}-{TEAM}{id}.md"),
        DocumentKind::Plan if subject.is_group() => format!("{folder}/{date}-{GROUP}{id}-{slug}.md"),
        _ => format!("{folder}/{date}-{id}-{slug}.md"),
    }
}

/// A title as part of a file name: its words of letters and digits, up to a limited length.
pub fn slug(title: &str) -> String {
    const LONGEST: usize = 40;
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() && slug.len() + word.len() >= LONGEST {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().take(LONGEST).map(|c| c.to_ascii_lowercase()));
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{GithubLink, StateName};

    fn task(id: &str, number: Option<u64>) -> Task {
        let mut task = Task::new(TaskId::new(id).unwrap(), "A", StateName::new("Backlog"));
        task.github = number.map(|number| GithubLink { number, url: None });
        task
    }

    fn owner(path: &str, tasks: &[Task]) -> Option<String> {
        DocumentName::parse(path)?.owner(tasks).map(|task| task.id.to_string())
    }

    #[test]
    fn an_issue_is_never_taken_for_one_whose_number_begins_like_it() {
        let tasks = [task("t-a", Some(14)), task("t-b", Some(147))];
        let plan = |id: &str| owner(&format!("thoughts/shared/plans/2026-11-16-{id}-x.md"), &tasks);
        assert_eq!(plan("GH-0014").as_deref(), Some("t-a"));
        assert_eq!(plan("GH-14").as_deref(), Some("t-a"));
        assert_eq!(plan("GH-0147").as_deref(), Some("t-b"));
        assert_eq!(plan("group-GH-0147").as_deref(), Some("t-b"));
        assert_eq!(plan("GH-1"), None);
        assert_eq!(plan("GH-1470"), None);
        assert_eq!(plan("GH-14b"), None);
    }

    #[test]
    fn an_id_is_never_taken_for_one_that_begins_like_it() {
        let tasks = [task("t-ab", None), task("t-abc", None), task("t-ab-c", None)];
        let research = |id: &str| owner(&format!("thoughts/shared/research/2026-11-16-{id}.md"), &tasks);
        assert_eq!(research("t-ab-slug").as_deref(), Some("t-ab"));
        assert_eq!(research("t-abc-slug").as_deref(), Some("t-abc"));
        assert_eq!(research("t-ab-c-slug").as_deref(), Some("t-ab-c"));
        assert_eq!(research("t-abd-slug"), None);
        assert_eq!(research("GH-t-abc-slug").as_deref(), Some("t-abc"), "as ralph-hero's skills name it");
        let review = |id: &str| owner(&format!("thoughts/shared/reviews/2026-11-16-{id}.md"), &tasks);
        assert_eq!(review("t-ab-critique").as_deref(), Some("t-ab"));
        assert_eq!(review("t-abx-critique"), None);
    }

    #[test]
    fn the_round_of_a_review_is_in_its_name() {
        let round = |name: &str| {
            DocumentName::parse(&format!("thoughts/shared/reviews/2026-11-16-{name}.md")).map(|name| name.round)
        };
        assert_eq!(
            [round("t-a-critique"), round("t-a-critique-2"), round("GH-0044-critique-12")],
            [Some(1), Some(2), Some(12)]
        );
        assert_eq!([round("t-a-critique-1"), round("t-a-critique-x"), round("t-a-slug")], [None, None, None]);
    }

    #[test]
    fn what_is_no_document_has_no_name() {
        for path in [
            "thoughts/shared/plans/notes.md",
            "plans/2026-11-16-t-a-x.md",
            "thoughts/shared/plans/2026-11-16-t-a.txt",
            "thoughts/shared/plans/2026-13-16-t-a-x.md",
            "thoughts/shared/plans/2026-11-1ä-t-a.md",
        ] {
            assert_eq!(DocumentName::parse(path), None, "{path}");
        }
    }

    #[test]
    fn a_slug_is_short_and_plain() {
        assert_eq!(
            slug("Sync drops labels that differ ONLY in case, sometimes"),
            "sync-drops-labels-that-differ-only-in"
        );
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("日本"), "");
    }
}

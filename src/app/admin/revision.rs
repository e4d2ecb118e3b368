//! `doctor --at`: the problems of the board at a revision, and moves since another revision that the workflow forbids.
//!
//! Everything comes from the revision itself: tasks, journal, settings and workflow. Nothing is checked out, and this
//! machine's settings do not count, so the answer is the same in every clone.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::edit::fields::conflicts_in;
use crate::app::workspace::layers::{Setup, rules};
use crate::app::workspace::past::Past;
use crate::app::{Failure, Workspace};
use crate::board::{Finding, IrregularMove, JournalEntry, MovedBy, Rules, inspect};
use crate::store::codec::Doc;
use crate::store::{Line, Store, journal_problems};
use crate::task::{Key, Problem, TaskId};

#[derive(Debug, Serialize)]
pub struct RevisionCheck {
    pub revision: String,
    pub since: Option<String>,
    pub tasks: usize,
    pub errors: usize,
    pub warnings: usize,
    pub findings: Vec<RevisionFinding>,
}

#[derive(Debug, Serialize)]
pub struct RevisionFinding {
    pub severity: Severity,
    pub code: &'static str,
    pub task: Option<TaskId>,
    /// Relative to the repository.
    pub file: Option<String>,
    /// 1-based; `None` if the finding is about the whole file.
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub message: String,
    pub advice: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Must be fixed.
    Error,
    /// A warning.
    Warning,
}

/// The files of a board at a revision, and the board that they make up.
struct Revision {
    /// By path below `.ralph`.
    files: BTreeMap<String, Vec<u8>>,
    /// Paths of symbolic links, which are not followed.
    links: Vec<String>,
    setup: Setup,
    past: Past,
    texts: BTreeMap<TaskId, String>,
}

/// Moves are checked from the revision `since`.
pub fn check_revision(ws: &Workspace, revision: &str, since: Option<&str>) -> Result<RevisionCheck, Failure> {
    let now = Revision::read(ws, revision, None)?;
    let mut findings = now.broken_files();
    findings.extend(now.inconsistencies());
    findings.extend(now.duplicates());
    findings.extend(now.leftovers());
    if let Some(since) = since {
        let base = Revision::read(ws, since, Some(&now.setup))?;
        findings.extend(now.moves_since(&base)?);
        findings.extend(now.workflow_change(&base));
    }
    findings.sort_by(|one, other| (one.severity, &one.file, one.line).cmp(&(other.severity, &other.file, other.line)));
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    Ok(RevisionCheck {
        revision: revision.to_owned(),
        since: since.map(str::to_owned),
        tasks: now.past.board.tasks().len() + now.past.board.broken().len(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        findings,
    })
}

impl Revision {
    /// Reads the board with the workflow of another revision, if the two are to be compared.
    fn read(ws: &Workspace, revision: &str, like: Option<&Setup>) -> Result<Self, Failure> {
        let listed = ws.repository.files_at(revision, ".ralph")?;
        let plain = listed.iter().filter(|file| !file.is_link);
        let files: BTreeMap<String, Vec<u8>> = plain.map(|file| (file.path.clone(), file.content.clone())).collect();
        let links = listed.iter().filter(|file| file.is_link).map(|file| file.path.clone()).collect();
        let setup = Setup::of_texts(text_of(&files, "config.toml").as_deref(), text_of(&files, WORKFLOW).as_deref())?;
        let flow = like.unwrap_or(&setup).flow.clone();
        let store = Store::new(ws.store.root().to_owned(), ws.store.local().to_owned(), flow);
        let past = Past::of(listed, &store);
        let texts = past.texts();
        Ok(Self { files, links, setup, past, texts })
    }

    /// Files that cannot be read, or that have invalid content.
    fn broken_files(&self) -> Vec<RevisionFinding> {
        let misnamed = self.names("tasks").filter_map(|name| {
            let stem = name.strip_suffix(".toml").filter(|stem| !stem.starts_with('.'))?;
            let why = TaskId::new(stem).err()?;
            Some(Problem::whole(format!(".ralph/tasks/{name}"), why.to_string()).hint("rename the file"))
        });
        let journals = self.files.iter().filter(|(path, _)| path.starts_with("journal/") && path.ends_with(".jsonl"));
        let lines = journals.flat_map(|(path, bytes)| journal_problems(&format!(".ralph/{path}"), bytes));
        let links = self.links.iter().map(|path| {
            Problem::whole(format!(".ralph/{path}"), "this is a symbolic link, which ralph does not follow")
                .hint("replace it with the file itself")
        });
        let tasks = self.past.board.problems().into_iter().cloned();
        let all = self.setup.problems.iter().cloned().chain(tasks).chain(misnamed).chain(lines).chain(links);
        all.map(|problem| RevisionFinding::of_problem(Severity::Error, "bad-file", &problem)).collect()
    }

    fn inconsistencies(&self) -> Vec<RevisionFinding> {
        inspect(&self.past.board, &self.setup.flow)
            .into_iter()
            .map(|found| {
                let (severity, key) = rank(&found);
                let Finding { code, task, message, advice, fix } = found;
                let advice = if fix.is_empty() { advice } else { UNLINK.to_owned() };
                let place = task.as_ref().and_then(|id| self.place(id, key));
                RevisionFinding::new(severity, code, message, advice).about(task).at(place)
            })
            .collect()
    }

    /// Tasks with two files.
    fn duplicates(&self) -> Vec<RevisionFinding> {
        let mut found = Vec::new();
        let archived: BTreeSet<&str> = self.names("archive").collect();
        let mut folded: BTreeMap<String, &str> = BTreeMap::new();
        for name in self.names("tasks") {
            let file = Some(Problem::whole(format!(".ralph/tasks/{name}"), ""));
            if archived.contains(name) {
                let message = format!("{name} is both in .ralph/tasks and in .ralph/archive");
                let advice = "delete the file that is out of date";
                let finding = RevisionFinding::new(Severity::Error, "duplicate-id", message, advice);
                found.push(finding.at(file.clone()));
            }
            if let Some(other) = folded.insert(name.to_lowercase(), name) {
                let message = format!("{other} and {name} are the same file on file systems that ignore case");
                let finding = RevisionFinding::new(Severity::Error, "duplicate-id", message, "rename one of them");
                found.push(finding.at(file));
            }
        }
        found
    }

    /// Warnings about single tasks.
    fn leftovers(&self) -> Vec<RevisionFinding> {
        let warn =
            |code, message: String, advice: String| RevisionFinding::new(Severity::Warning, code, message, advice);
        let unknown = self.setup.settings.unknown.iter();
        let mut found: Vec<RevisionFinding> =
            unknown.map(|problem| RevisionFinding::of_problem(Severity::Warning, "unknown-setting", problem)).collect();
        for (id, text) in &self.texts {
            let over = conflicts_in(text.clone());
            if !over.is_empty() {
                let message = format!("{id} and its issue on GitHub differ in {}", over.join(", "));
                let advice = format!("run `ralph sync resolve {id}` with `--take local` or `--take remote`");
                found.push(warn("sync-conflict", message, advice).about(Some(id.clone())).at(self.place(id, "github")));
            }
        }
        found
    }

    /// Moves that the workflow does not allow. Those of people are only warnings, because people may move tasks outside
    /// the workflow.
    fn moves_since(&self, base: &Self) -> Result<Vec<RevisionFinding>, Failure> {
        if self.setup.flow.is_guess {
            return Ok(Vec::new());
        }
        let rules: Rules = rules(self.setup.flow.clone(), &self.setup.settings)?;
        let known: BTreeSet<&str> = base.past.lines.iter().map(|line| line.id.as_str()).collect();
        let mut seen = BTreeSet::new();
        let is_new = |line: &&Line| !known.contains(line.id.as_str()) && seen.insert(line.id.clone());
        let added = self.past.lines.iter().filter(is_new);
        let entries: Vec<JournalEntry<'_>> =
            added.map(|line| JournalEntry { by: &line.by, verb: &line.verb, changes: &line.changes }).collect();
        let found = base.past.board.irregular_moves(&self.past.board, &entries, &rules);
        Ok(found.iter().map(|moved| told(moved).at(self.place(&moved.task, "state"))).collect())
    }

    /// Moves are checked by the workflow of the later revision, so a change of the workflow itself is reported.
    fn workflow_change(&self, base: &Self) -> Option<RevisionFinding> {
        let before = text_of(&base.files, WORKFLOW);
        let now = text_of(&self.files, WORKFLOW);
        // The base revision has no board, so there is no older workflow to compare.
        if before == now || base.files.is_empty() {
            return None;
        }
        let message = "the workflow of the board changed, and moves were checked against the new one";
        let advice = "review the changes to the workflow";
        let file = Problem::whole(format!(".ralph/{WORKFLOW}"), "");
        Some(RevisionFinding::new(Severity::Warning, "workflow-changed", message, advice).at(Some(file)))
    }

    /// The names in a folder.
    fn names(&self, folder: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{folder}/");
        self.files.keys().filter_map(move |path| path.strip_prefix(&prefix)).filter(|name| !name.contains('/'))
    }

    /// The position of a key in a task's file, or the whole file if it lacks the key.
    fn place(&self, id: &TaskId, key: &str) -> Option<Problem> {
        let (file, text) = (format!(".ralph/tasks/{id}.toml"), self.texts.get(id)?);
        let statement = Doc::new(text.as_str()).ok().and_then(|doc| doc.statement(&Key::new(key)));
        Some(match statement {
            Some(range) => Problem::at(file, text, range.start, ""),
            None => Problem::whole(file, ""),
        })
    }
}

const WORKFLOW: &str = "workflow.toml";
const UNLINK: &str = "add the missing task, or check out the branch and run `ralph doctor --fix` to remove the link";

fn text_of(files: &BTreeMap<String, Vec<u8>>, path: &str) -> Option<String> {
    files.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The severity of an inconsistency, and the key that shows it.
fn rank(found: &Finding) -> (Severity, &'static str) {
    match found.code {
        "dangling-blocker" | "cycle" => (Severity::Error, "blocked_by"),
        "dangling-parent" => (Severity::Error, "parent"),
        "finished-parent" | "too-deep" => (Severity::Warning, "parent"),
        _ => (Severity::Warning, "title"),
    }
}

fn told(moved: &IrregularMove) -> RevisionFinding {
    let IrregularMove { task, from, to, by, why } = moved;
    let because = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let finding = match by {
        MovedBy::Person(person) => RevisionFinding::new(
            Severity::Warning,
            "outside-workflow",
            format!("{person} moved {task} from {from} to {to}, outside the workflow{because}"),
            "people may do this; check that it was intended",
        ),
        MovedBy::Worker(worker) => RevisionFinding::new(
            Severity::Error,
            "illegal-move",
            format!("{worker} moved {task} from {from} to {to}, which the workflow does not allow{because}"),
            format!("move it back to {from}, or have a person move it with `ralph move`"),
        ),
        MovedBy::Unrecorded => RevisionFinding::new(
            Severity::Error,
            "illegal-move",
            format!(
                "{task} moved from {from} to {to}, which the workflow does not allow, and the journal does not say who \
                 moved it{because}"
            ),
            format!("set its state back to {from}, then move it with `ralph move`"),
        ),
    };
    finding.about(Some(task.clone()))
}

impl RevisionFinding {
    fn new(severity: Severity, code: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        let (message, advice) = (message.into(), advice.into());
        Self { severity, code, task: None, file: None, line: None, column: None, message, advice }
    }

    fn of_problem(severity: Severity, code: &'static str, problem: &Problem) -> Self {
        let advice = problem.hint.clone().unwrap_or_else(|| "correct the file".into());
        Self::new(severity, code, &problem.message, advice).at(Some(problem.clone()))
    }

    fn about(self, task: Option<TaskId>) -> Self {
        Self { task, ..self }
    }

    fn at(self, place: Option<Problem>) -> Self {
        let Some(Problem { file, line, column, .. }) = place else { return self };
        let known = |number: u32| (number > 0).then_some(number);
        Self { file: Some(file), line: known(line), column: known(column), ..self }
    }
}

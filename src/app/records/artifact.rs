//! `artifact`: creates, checks and links the documents of a task.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::agent::document::{
    DocumentKind, DocumentName, Finding, FrontMatter, Subject, Template, check, file_name, skeleton, slug,
};
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Change, Op};
use crate::fs;
use crate::task::{TaskId, Value};

#[derive(Debug, Serialize)]
pub struct Artifact {
    pub kind: DocumentKind,
    /// The primary, if the document belongs to a group.
    pub task: TaskId,
    /// Relative to the root of the repository.
    pub path: String,
    /// The absolute path, or the draft in which a sandboxed run writes the document.
    pub file: PathBuf,
    pub created: bool,
    pub linked: bool,
    /// Why it cannot be linked.
    pub findings: Vec<Finding>,
}

/// Returns the existing document for this task and round, or creates one.
pub fn new_artifact(ws: &Workspace, kind: &str, id: &TaskId, words: Option<&str>) -> Result<Artifact, Failure> {
    let kind: DocumentKind = kind.parse()?;
    let words = words.map(named_slug).transpose()?;
    let _lock = ws.lock()?;
    let board = ws.board()?;
    let subject = subject(ws, &board, kind, id)?;
    if let Some(path) = existing(ws, &board, kind, &subject)? {
        return found(ws, &board, kind, &subject, path, false);
    }
    let date = ws.now().strftime("%Y-%m-%d").to_string();
    let title = Some(slug(&subject.title)).filter(|slug| !slug.is_empty());
    let path = file_name(kind, &date, &subject, &words.or(title).unwrap_or_else(|| kind.to_string()));
    let created = write(ws, &path, &skeleton(kind, &date, &subject))?;
    found(ws, &board, kind, &subject, path, created)
}

fn named_slug(words: &str) -> Result<String, Failure> {
    Some(slug(words)).filter(|slug| !slug.is_empty()).ok_or_else(|| {
        Failure::usage(Code::BadSlug, format!("{words:?} has no letter or digit for a file name"))
            .hint(Hint::step("use a name such as label-case"))
    })
}

/// Creates a file; `false` if it already exists.
fn write(ws: &Workspace, path: &str, text: &str) -> Result<bool, Failure> {
    let place = ws.store.inside(ws.store.root().join(path))?;
    let folder = place.parent().unwrap_or(&place);
    fs::make_dir(folder)?;
    Ok(fs::create(&place, text.as_bytes(), true)?)
}

/// A document with its current text.
#[derive(Debug, Serialize)]
pub struct Document {
    pub path: String,
    pub text: String,
    /// Its front matter, key by key.
    pub facts: Vec<(String, String)>,
    /// The text after the front matter.
    #[serde(skip)]
    pub body: String,
    /// Changes with every change of the text.
    pub version: String,
}

/// Reads a document that is in a documents folder, or that a task links.
pub fn read_artifact(ws: &Workspace, path: &str) -> Result<Document, Failure> {
    // Anyone may write a link: hidden files, and files that are not Markdown, are not shown.
    let shown =
        |part: Component<'_>| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."));
    let plain = path.ends_with(".md") && Path::new(path).components().all(shown);
    let usual = DocumentKind::ALL.iter().any(|kind| Path::new(path).parent() == Some(Path::new(kind.folder())));
    let linked =
        || Ok::<_, Failure>(ws.board()?.tasks().iter().any(|task| task.artifacts.values().any(|at| at == path)));
    if !plain || !(usual || linked()?) {
        return Err(Failure::refused(Code::NoDocument, format!("{path} is not a document of a task")).hint(Hint::List));
    }
    let text = ws.store.text_of(&ws.store.root().join(path))?.ok_or_else(|| no_file(path))?;
    let front = FrontMatter::read(&text);
    let body: Vec<&str> = text.lines().skip(front.end.unwrap_or(0) as usize).collect();
    let (facts, body) = (front.entries(), body.join("\n"));
    Ok(Document { path: path.to_owned(), version: version(&text), facts, body, text })
}

/// The document of this kind that a task, or its group, links.
pub fn linked_artifact(ws: &Workspace, kind: &str, id: &TaskId) -> Result<Document, Failure> {
    let board = ws.family(id)?;
    let kind: DocumentKind = kind.parse()?;
    let subject = subject(ws, &board, kind, id)?;
    match linked(&board, kind, &subject) {
        Some(path) => read_artifact(ws, &path),
        None => Err(Failure::refused(Code::NoArtifact, format!("{id} has no {kind}")).hint(Hint::artifact(kind, id))),
    }
}

fn version(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// Writes the document of a task, for an agent that cannot write to the documents folder. Existing text is replaced
/// only if `seen` is its version, so that nobody overwrites a text that they have not read.
pub fn write_artifact(
    ws: &Workspace,
    kind: &str,
    id: &TaskId,
    text: &str,
    seen: Option<&str>,
) -> Result<Artifact, Failure> {
    let made = new_artifact(ws, kind, id, None)?;
    let lock = ws.lock()?;
    let board = ws.board()?;
    let subject = subject(ws, &board, made.kind, id)?;
    board.refuse_held(ws.rules(), &ws.actor()?, &subject.task)?;
    let before = read_artifact(ws, &made.path)?;
    let date = FrontMatter::read(&before.text).get("date").unwrap_or_default().to_owned();
    let blank = before.text == skeleton(made.kind, &date, &subject);
    if !blank && before.text != text && seen != Some(before.version.as_str()) {
        let message = format!("{} already has content (version {})", made.path, before.version);
        return Err(
            Failure::refused(Code::WrittenAlready, message).hint(Hint::step("read it first, then pass its version"))
        );
    }
    let place = ws.store.inside(ws.store.root().join(&made.path))?;
    fs::replace(&place, text.as_bytes(), true)?;
    drop(lock);
    found(ws, &board, made.kind, &subject, made.path, made.created)
}

/// Sets `artifacts.<kind>` on the task, and for a document of a group on the members that are in the same state.
/// `typed` is relative to `from`.
pub fn link_artifact(
    ws: &Workspace,
    kind: &str,
    id: &TaskId,
    typed: Option<&Path>,
    from: &Path,
) -> Result<Artifact, Failure> {
    let kind: DocumentKind = kind.parse()?;
    let lock = ws.lock()?;
    let board = ws.board()?;
    let subject = subject(ws, &board, kind, id)?;
    board.refuse_held(ws.rules(), &ws.actor()?, &subject.task)?;
    let path = match typed {
        Some(typed) => inside(ws, typed, from)?,
        None => existing(ws, &board, kind, &subject)?.ok_or_else(|| none_yet(kind, &subject))?,
    };
    refuse_foreign(ws, &board, kind, &subject, &path)?;
    let mut linked = found(ws, &board, kind, &subject, path, false)?;
    if !linked.findings.is_empty() {
        return Err(unready(&linked));
    }
    let changes = links(&board, kind, &subject, &linked.path);
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("artifact", changes))?;
    }
    linked.linked = true;
    Ok(linked)
}

/// The document of a task, with the reasons why it cannot be linked.
pub fn check_artifact(ws: &Workspace, kind: &str, id: &TaskId) -> Result<Artifact, Failure> {
    let kind: DocumentKind = kind.parse()?;
    let board = ws.board()?;
    let subject = subject(ws, &board, kind, id)?;
    let path = existing(ws, &board, kind, &subject)?.ok_or_else(|| none_yet(kind, &subject))?;
    found(ws, &board, kind, &subject, path, false)
}

pub(in crate::app) fn subject(
    ws: &Workspace,
    board: &Board,
    kind: DocumentKind,
    id: &TaskId,
) -> Result<Subject, Failure> {
    if board.get(id).is_none() {
        return Err(missing(ws, board, id));
    }
    Ok(Subject::of(kind, board, id, ws.rules())?)
}

/// The path that a task links, if the document is of the current round.
pub(in crate::app) fn linked(board: &Board, kind: DocumentKind, subject: &Subject) -> Option<String> {
    let path = board.get(&subject.task)?.artifacts.get(kind.as_str())?;
    let stale =
        kind == DocumentKind::Review && DocumentName::parse(path).is_some_and(|name| name.round != subject.round);
    // A person may have edited the link to point anywhere.
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    (!stale && inside).then(|| path.clone())
}

/// The linked document, or else the newest whose name fits the task and round.
fn existing(ws: &Workspace, board: &Board, kind: DocumentKind, subject: &Subject) -> Result<Option<String>, Failure> {
    let root = ws.store.root();
    if let Some(path) = linked(board, kind, subject) {
        // A link that a person edited may name another file, which must not be filled in.
        let text = fs::read_text(&root.join(&path)).ok().flatten().unwrap_or_default();
        let front = FrontMatter::read(&text);
        if Template::of(&front).names(kind, front.get("type")) {
            return Ok(Some(path));
        }
    }
    let names = fs::names(&root.join(kind.folder()))?;
    let mut paths = names.iter().map(|name| format!("{}/{name}", kind.folder()));
    let fits = |path: &String| {
        DocumentName::parse(path).is_some_and(|name| {
            let round = kind != DocumentKind::Review || name.round == subject.round;
            let group = kind != DocumentKind::Plan || name.group == subject.is_group();
            round && group && name.owner(board.tasks()).is_some_and(|task| task.id == subject.task)
        })
    };
    Ok(paths.rfind(fits))
}

fn found(
    ws: &Workspace,
    board: &Board,
    kind: DocumentKind,
    subject: &Subject,
    path: String,
    created: bool,
) -> Result<Artifact, Failure> {
    let file = ws.store.root().join(&path);
    let text = ws.store.text_of(&file)?.ok_or_else(|| no_file(&path))?;
    let linked = linked(board, kind, subject).as_ref() == Some(&path);
    let findings = check(kind, &text, subject);
    let file = draft(ws, kind, subject, &path)?.unwrap_or(file);
    Ok(Artifact { kind, task: subject.task.clone(), path, file, created, linked, findings })
}

/// The path at which the agent of a sandboxed run writes the document.
fn draft(ws: &Workspace, kind: DocumentKind, subject: &Subject, path: &str) -> Result<Option<PathBuf>, Failure> {
    let Some(drafts) = &ws.drafts else { return Ok(None) };
    let owners: Vec<&TaskId> = subject.members.iter().map(|member| &member.id).collect();
    drafts.place(ws.store.root(), kind.as_str(), &owners, path)
}

/// Converts a path as typed to one relative to the root; the file must be in the main worktree.
fn inside(ws: &Workspace, typed: &Path, from: &Path) -> Result<String, Failure> {
    let root = ws.store.root();
    let places = [from.join(typed), root.join(typed)];
    let draft = |place: &PathBuf| ws.drafts.as_ref().and_then(|drafts| drafts.document(place));
    if let Some(path) = places.iter().find_map(draft) {
        return Ok(path);
    }
    let there = places.iter().find(|place| place.is_file()).ok_or_else(|| no_file(&typed.display().to_string()))?;
    let real = there.canonicalize().unwrap_or_else(|_| there.clone());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let outside = || {
        Failure::refused(Code::Outside, format!("{} is outside the repository of the board", typed.display()))
            .hint(Hint::step(format!("documents belong under {}/thoughts/shared", root.display())))
    };
    let path = real.strip_prefix(&root).map_err(|_| outside())?;
    if path.starts_with("worktrees") || path.starts_with(".git") {
        return Err(Failure::refused(
            Code::Outside,
            format!("{} is in the worktree of a task, not in the main worktree", typed.display()),
        )
        .hint(Hint::step(format!("write it under {}/thoughts/shared", root.display()))));
    }
    path.to_str().map(|_| fs::slashed(path)).ok_or_else(outside)
}

fn no_file(path: &str) -> Failure {
    Failure::refused(Code::NoFile, format!("no such file: {path}"))
}

fn none_yet(kind: DocumentKind, subject: &Subject) -> Failure {
    let round = if kind == DocumentKind::Review { format!(" {}", subject.round) } else { String::new() };
    Failure::refused(Code::NoDocument, format!("no {kind}{round} of {} yet", subject.task))
        .hint(Hint::artifact(kind, &subject.task))
}

/// Refuses a document whose file name states another task or round.
fn refuse_foreign(
    ws: &Workspace,
    board: &Board,
    kind: DocumentKind,
    subject: &Subject,
    path: &str,
) -> Result<(), Failure> {
    let right = Hint::artifact(kind, &subject.task);
    let Some(name) = DocumentName::parse(path) else {
        return match kind {
            // The file name of a review contains the round.
            DocumentKind::Review => {
                Err(Failure::refused(Code::OtherDocument, format!("{path} does not have the file name of a review"))
                    .hint(right))
            }
            _ => Ok(()),
        };
    };
    let owner = name.owner(board.tasks()).map(|task| &task.id);
    if owner.is_some_and(|owner| !subject.members.iter().any(|member| member.id == *owner)) || name.kind != kind {
        let whose = owner.map_or_else(|| "of another task".to_owned(), |owner| format!("the {} of {owner}", name.kind));
        return Err(Failure::refused(Code::OtherDocument, format!("{path} is {whose}")).hint(right));
    }
    // ralph-hero gives all reviews of a task the same file name.
    let unnumbered = || -> Result<bool, Failure> {
        let text = ws.store.text_of(&ws.store.root().join(path))?.unwrap_or_default();
        Ok(name.round == 1 && Template::of(&FrontMatter::read(&text)) == Template::Hero)
    };
    if kind == DocumentKind::Review && name.round != subject.round && !unnumbered()? {
        let message = format!("{path} is from round {}, but this is round {}", name.round, subject.round);
        return Err(Failure::refused(Code::OtherRound, message).hint(right));
    }
    Ok(())
}

fn unready(artifact: &Artifact) -> Failure {
    const MOST: usize = 8;
    let Artifact { kind, task, path, findings, .. } = artifact;
    let failure = Failure::refused(Code::UnreadyDocument, format!("{path} is not complete"));
    let failure = findings.iter().take(MOST).fold(failure, |failure, finding| {
        failure.hint(Hint::Edit { file: path.clone(), line: finding.line, change: Some(finding.message.clone()) })
    });
    match findings.len() > MOST {
        true => failure.hint(Hint::CheckArtifact { kind: kind.to_string(), task: task.clone() }),
        false => failure,
    }
}

fn links(board: &Board, kind: DocumentKind, subject: &Subject, path: &str) -> Vec<Change> {
    let key = format!("artifacts.{kind}");
    let state = board.get(&subject.task).map(|task| &task.state);
    let tasks = subject.members.iter().filter_map(|member| board.get(&member.id));
    let together = tasks.filter(|task| Some(&task.state) == state);
    let change = |task: &crate::task::Task| {
        let old = task.artifacts.get(kind.as_str()).map(Value::text);
        (old != Some(Value::text(path))).then(|| Change::set(&task.id, &key, old, Some(Value::text(path))))
    };
    together.filter_map(change).collect()
}

//! `prompt`: the prompt for one command on one task.

use serde::Serialize;

use crate::agent::document::{DocumentKind, DocumentName, Subject};
use crate::agent::prompt::{
    About, Context, Decision, Fellow, History, LineRemark, Linked, PromptPoint, PromptWorktree, Remark, commands,
    embedded, render,
};
use crate::app::records::artifact::subject;
use crate::app::repo::worktree::{main_branch, place};
use crate::app::work::feedback::{Point, points};
use crate::app::workspace::drafts::Drafts;
use crate::app::{Code, Failure, Workspace};
use crate::board::{Board, Links, ScopeMode};
use crate::fs;
use crate::store::{Note, NoteKind};
use crate::task::{Task, TaskId};
use crate::workflow::{Command, ReviewMode};

/// How many notes the prompt contains.
const NOTES: usize = 20;

#[derive(Debug, Serialize)]
pub struct Prompt {
    pub command: String,
    /// The primary, if the command is for a whole group.
    pub task: TaskId,
    pub text: String,
    /// The path of the board's own template; `None` for ralph's template.
    pub template: Option<String>,
    /// The path at which the agent can write the plan.
    pub plan: Option<String>,
}

pub fn prompt(ws: &Workspace, command: &str, id: &TaskId) -> Result<Prompt, Failure> {
    prompt_for(ws, command, id, ws.drafts.as_ref())
}

/// With drafts, the prompt names the draft of the plan, whose boxes a sandboxed agent can tick.
pub(in crate::app) fn prompt_for(
    ws: &Workspace,
    command: &str,
    id: &TaskId,
    drafts: Option<&Drafts>,
) -> Result<Prompt, Failure> {
    let file = format!(".ralph/prompts/{command}.md");
    let known = ws.flow().command(command).ok();
    let own = match known {
        Some(_) => ws.store.text_of(&ws.store.root().join(&file))?,
        None => None,
    };
    let (Some(known), Some(text)) = (known, own.as_deref().or_else(|| embedded(command))) else {
        let all: Vec<&str> = commands().collect();
        return Err(Failure::usage(Code::NoPrompt, format!("{command:?} has no prompt: use {}", all.join(", "))));
    };
    let mut context = context(ws, known, id)?;
    context.confined = drafts.is_some();
    if let (Some(plan), Some(drafts)) = (&context.plan, drafts) {
        let copy = drafts.place(ws.store.root(), DocumentKind::Plan.as_str(), &[id], plan)?;
        context.plan_file = copy.map(|copy| copy.display().to_string()).or(context.plan_file);
    }
    let template = own.is_some().then_some(file);
    let name = template.as_deref().unwrap_or(command);
    let text = render(name, text, &context)?;
    let task = if known.group { TaskId::new(context.primary)? } else { id.clone() };
    Ok(Prompt { command: command.to_owned(), task, text, template, plan: context.plan_file })
}

fn context(ws: &Workspace, command: &Command, id: &TaskId) -> Result<Context, Failure> {
    let board = ws.board()?;
    let subject = subject(ws, &board, DocumentKind::Plan, id)?;
    let id = if command.group { &subject.task } else { id };
    let at = board.index_of(id).ok_or_else(|| ws.store.absent(id))?;
    let task = &board.tasks()[at];
    let me = ws.me()?;
    let abouts = |ids: &mut dyn Iterator<Item = &TaskId>| ids.filter_map(|id| board.get(id)).map(about).collect();
    let children = Links::new(&board).children(at).iter().map(|&child| about(&board.tasks()[child])).collect();
    let notes = ws.notes(id)?;
    let remark = |note: &Note| Remark {
        by: note.by.clone(),
        at: note.at.map(|at| at.strftime("%Y-%m-%d").to_string()),
        text: note.text.clone(),
    };
    // Comments of the last review are a separate list in the prompt.
    let last = last_review(&notes);
    let is_listed = |note: &&Note| matches!(note.facts.kind, Some(NoteKind::Feedback | NoteKind::Reply));
    let others: Vec<&Note> = notes
        .iter()
        .filter(|note| (last.is_none() || note.facts.review.as_ref() != last) && !is_listed(note))
        .collect();
    let state = |state: &Option<crate::task::StateName>| state.as_ref().map(ToString::to_string);
    let ends: Vec<String> = command.may_end_in(ws.flow()).iter().map(ToString::to_string).collect();
    Ok(Context {
        command: command.name.clone(),
        role: ws.rules().role_of(&me).map(str::to_owned),
        worker: me.to_string(),
        board: ws.store.root().display().to_string(),
        main: main_branch(ws),
        description: ws.file(id)?.description,
        parent: board.parent_of(at).map(|parent| about(&board.tasks()[parent])),
        blockers: abouts(&mut task.blocked_by.iter()),
        children,
        decisions: decisions(&notes),
        comments: comments(&notes),
        feedback: points(&notes).into_iter().filter(|point| point.waiting).map(listed).collect(),
        notes: others[others.len().saturating_sub(NOTES)..].iter().map(|note| remark(note)).collect(),
        artifacts: linked(task),
        group: fellows(ws, &board, &subject)?,
        primary: subject.task.to_string(),
        together: command.group && subject.is_group(),
        plan: subject.plan.clone(),
        plan_file: subject.plan.as_ref().map(|plan| ws.store.root().join(plan).display().to_string()),
        review: history(ws, &board, command, &subject.task)?,
        worktree: worktree(ws, &board, id)?,
        scope: scope(ws, &board, command, &subject.task),
        strict: ws.rules().scopes == ScopeMode::Strict,
        split_limit: ws.settings.number("split.limit").unwrap_or(5),
        complete: state(&command.complete),
        iterate: state(&command.iterate),
        back: command.ends.first().map(ToString::to_string),
        ends,
        merges: command.merges && command.worktree,
        confined: false,
        task: about(task),
    })
}

/// The files of the plan, for a command that changes code.
fn scope(ws: &Workspace, board: &Board, command: &Command, task: &TaskId) -> Vec<String> {
    let task = board.get(task).filter(|task| ws.rules().has_scope(task, Some(command), &task.state));
    task.and_then(|task| ws.scope_of(task)).map(|scope| scope.paths().to_vec()).unwrap_or_default()
}

/// All answers with their questions.
fn decisions(notes: &[Note]) -> Vec<Decision> {
    let answers = notes.iter().filter(|note| note.facts.kind == Some(NoteKind::Answer));
    let decided = answers.map(|answer| {
        let question = notes.iter().find(|note| Some(&note.file) == answer.facts.answers.as_ref());
        let question = question.map(|note| note.text.clone()).unwrap_or_default();
        Decision { question, answer: answer.text.clone(), by: answer.by.clone() }
    });
    decided.collect()
}

fn listed(point: Point) -> PromptPoint {
    let Point { number, kind, path, line, by, text, .. } = point;
    PromptPoint { number, kind: kind.to_owned(), path, line, by, text }
}

fn last_review(notes: &[Note]) -> Option<&String> {
    notes.iter().rev().find_map(|note| note.facts.review.as_ref())
}

/// The comments of the last review.
fn comments(notes: &[Note]) -> Vec<LineRemark> {
    let Some(last) = last_review(notes) else { return Vec::new() };
    let said = notes.iter().filter(|note| note.facts.review.as_ref() == Some(last));
    said.map(|note| LineRemark { path: note.facts.path.clone(), line: note.facts.line, text: note.text.clone() })
        .collect()
}

fn about(task: &Task) -> About {
    About {
        id: task.id.to_string(),
        title: task.title.clone(),
        state: task.state.to_string(),
        kind: task.kind.to_string(),
        priority: task.priority.map(|priority| priority.to_string()),
        estimate: task.estimate.map(|estimate| estimate.to_string()),
        labels: task.labels.iter().map(|label| label.split_whitespace().collect::<Vec<_>>().join(" ")).collect(),
        number: task.github.as_ref().map(|issue| issue.number),
        url: task.github.as_ref().and_then(|issue| issue.url.clone()),
    }
}

fn linked(task: &Task) -> Vec<Linked> {
    task.artifacts.iter().map(|(kind, path)| Linked { kind: kind.clone(), path: path.clone() }).collect()
}

/// The members of a group; empty for a single task.
fn fellows(ws: &Workspace, board: &Board, subject: &Subject) -> Result<Vec<Fellow>, Failure> {
    let members = subject.members.iter().filter(|_| subject.is_group()).filter_map(|member| board.get(&member.id));
    members
        .map(|task| {
            let description = ws.file(&task.id)?.description;
            Ok(Fellow { about: about(task), description, artifacts: linked(task) })
        })
        .collect()
}

/// The reviews so far. A command that writes a review sees only the earlier ones.
fn history(ws: &Workspace, board: &Board, command: &Command, id: &TaskId) -> Result<History, Failure> {
    let rejections = board.get(id).map_or(0, |task| task.rejections);
    let folder = DocumentKind::Review.folder();
    let names = fs::names(&ws.store.root().join(folder))?;
    let named = names.iter().map(|name| format!("{folder}/{name}"));
    let reviews = command.yields.iter().any(|kind| kind == DocumentKind::Review.as_str());
    let mut found: Vec<(u32, String)> = named
        .filter_map(|path| {
            let name = DocumentName::parse(&path)?;
            let own = name.owner(board.tasks()).is_some_and(|task| task.id == *id);
            (own && !(reviews && name.round > rejections)).then_some((name.round, path))
        })
        .collect();
    found.sort();
    let mode = match ws.rules().mode {
        ReviewMode::Skip => "skip",
        ReviewMode::Auto => "auto",
        ReviewMode::Interactive => "interactive",
    };
    Ok(History {
        mode: mode.to_owned(),
        round: rejections + 1,
        rejections,
        max: ws.rules().max_rejections,
        critiques: found.into_iter().map(|(_, path)| path).collect(),
    })
}

fn worktree(ws: &Workspace, board: &Board, id: &TaskId) -> Result<PromptWorktree, Failure> {
    let place = place(ws, board, id)?;
    let there = ws.repository.worktree_at(&place.path)?.is_some_and(|there| !there.missing);
    Ok(PromptWorktree { path: place.path.display().to_string(), branch: place.branch, there })
}

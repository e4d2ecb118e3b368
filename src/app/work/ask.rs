//! `ask` and `answer`: a question to a person, with choices, and the answer.

use serde::Serialize;

use crate::app::work::admit::admit;
use crate::app::work::moves::{Moved, carry_out};
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Admission, Board, Change, ClaimEffect, Goal, Request};
use crate::store::{Note, NoteFacts, NoteKind, note_with_facts};
use crate::task::{Key, StateName, TaskId};
use crate::workflow::{Command, Intent};

/// The parameters of `ask`.
#[derive(Debug, Clone, Default)]
pub struct QuestionAsk {
    pub question: String,
    pub options: Vec<String>,
    pub recommend: Option<String>,
    /// The command that the worker acts for.
    pub command: Option<String>,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    pub text: String,
    pub options: Vec<String>,
    pub recommend: Option<String>,
    pub by: Option<String>,
    #[serde(skip)]
    pub file: String,
    #[serde(skip)]
    from: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct QuestionAnswer {
    pub task: TaskId,
    pub question: Option<String>,
    pub answer: String,
    pub from: StateName,
    pub to: StateName,
}

/// Hands the task to a person with the question, in one change; the asking worker's claim ends.
pub fn ask(ws: &Workspace, id: &TaskId, asked: &QuestionAsk) -> Result<Moved, Failure> {
    let question = asked.question.trim();
    if question.is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "a question cannot be empty"));
    }
    if let Some(unknown) = asked.recommend.as_ref().filter(|name| !asked.options.contains(name)) {
        return Err(Failure::usage(Code::BadValue, format!("the recommended {unknown:?} is not one of the options"))
            .hint(Hint::option("--option", "to name each choice")));
    }
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let actor = ws.actor()?;
    // A program without a role may ask, under any command that fits the state.
    let fits = |command: &&Command| command.from.contains(&task.state) || command.lock.as_ref() == Some(&task.state);
    let any = || ws.flow().commands().iter().find(fits).map(|command| command.name.as_str());
    let unnamed = actor.is_program() && actor.role(ws.rules()).is_none();
    let command = asked.command.as_deref().or_else(|| if unnamed { any() } else { None });
    let request = Request { command, ..Request::new(id, Goal::Intent(Intent::Escalate)) };
    let mut admission = admit(ws, &board, &actor, &request)?;
    // A second question keeps the state from before the first one.
    let from = if ws.rules().needs_person(task) { origin(ws, id)? } else { Some(task.state.to_string()) };
    let facts = NoteFacts {
        kind: Some(NoteKind::Question),
        options: asked.options.clone(),
        recommend: asked.recommend.clone(),
        from,
        ..NoteFacts::default()
    };
    admission.changes.push(note(ws, id, &worded(question, asked), &facts)?);
    carry_out(ws, &lock, &board, id, "ask", admission)
}

/// The question with its options as plain text.
fn worded(question: &str, asked: &QuestionAsk) -> String {
    let mark = |option: &String| if Some(option) == asked.recommend.as_ref() { " (recommended)" } else { "" };
    let options: String = asked.options.iter().map(|option| format!("- {option}{}\n", mark(option))).collect();
    if options.is_empty() { question.to_owned() } else { format!("{question}\n\n{options}") }
}

/// Adds the person's answer as a note, and returns the task to its previous state. `typed` is an option, its number, or
/// free text.
pub fn answer(ws: &Workspace, id: &TaskId, typed: &str) -> Result<QuestionAnswer, Failure> {
    let actor = ws.actor()?;
    ws.refuse_programs("answer")?;
    if typed.trim().is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "an answer cannot be empty"));
    }
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let question = open_question(ws, id)?;
    let waits = ws.rules().needs_person(task) || task.attention.is_some();
    if question.is_none() && !waits {
        return Err(Failure::refused(Code::NothingToDo, format!("{id} has no open question"))
            .hint(Hint::run("inbox", "to see what needs your decision"))
            .hint(Hint::run(&format!("note {id} TEXT"), "to add a note")));
    }
    let text = match &question {
        Some(question) => chosen(question, typed).ok_or_else(|| no_option(question, typed))?,
        None => typed.trim().to_owned(),
    };
    let to = goal(ws, &board, id, question.as_ref())?;
    let request = Request { force: true, ..Request::new(id, Goal::State(to)) };
    let mut admission = handed_on(id, admit(ws, &board, &actor, &request)?);
    if admission.from == admission.to && task.attention.is_some() {
        let attention = Key::new("attention");
        admission.changes.push(Change::set(id, "attention", task.value(&attention), None));
    }
    let facts = NoteFacts {
        kind: Some(NoteKind::Answer),
        answers: question.as_ref().map(|question| question.file.clone()),
        ..NoteFacts::default()
    };
    admission.changes.push(note(ws, id, &text, &facts)?);
    let moved = carry_out(ws, &lock, &board, id, "answer", admission)?;
    let question = question.map(|question| question.text);
    Ok(QuestionAnswer { task: id.clone(), question, answer: text, from: moved.from, to: moved.to })
}

/// Leaves the owner as it is and takes no claim: the task belongs to the worker that asked, not to the person who
/// answers. The return to the earlier state does not count as a move outside the workflow.
fn handed_on(id: &TaskId, mut admission: Admission) -> Admission {
    let owns =
        |change: &Change| matches!(change, Change::Set { task, key, .. } if task == id && key.as_str() == "owner");
    admission.changes.retain(|change| !owns(change));
    Admission { claim: ClaimEffect::Ended, departure: None, forced: false, ..admission }
}

fn note(ws: &Workspace, id: &TaskId, text: &str, facts: &NoteFacts) -> Result<Change, Failure> {
    Ok(note_with_facts(id, &ws.me()?, ws.now(), &mut ws.rng(), text, facts))
}

fn no_option(question: &Question, typed: &str) -> Failure {
    let count = question.options.len();
    Failure::usage(Code::BadValue, format!("no option {}: use 1 to {count}, or your own words", typed.trim()))
}

/// Finds an option by its number, its name or an unambiguous prefix; otherwise returns the text as typed. A number
/// without an option is invalid.
fn chosen(question: &Question, typed: &str) -> Option<String> {
    let typed = typed.trim();
    let options = &question.options;
    let by_number = typed.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let folded = typed.to_lowercase();
    let exact = || options.iter().find(|option| option.to_lowercase() == folded);
    let starting = || {
        let mut found = options.iter().filter(|option| option.to_lowercase().starts_with(&folded));
        found.next().filter(|_| found.next().is_none())
    };
    let found = by_number.or_else(exact).or_else(starting).cloned();
    let mistyped = !options.is_empty() && typed.parse::<usize>().is_ok();
    found.or_else(|| (!mistyped).then(|| typed.to_owned()))
}

impl Question {
    /// Who asks what, on one line.
    pub fn reported(&self) -> String {
        let text: Vec<&str> = self.text.split_whitespace().collect();
        format!("{} asks: {}", self.by.as_deref().unwrap_or("somebody"), text.join(" "))
    }
}

/// The newest unanswered question.
pub fn open_question(ws: &Workspace, id: &TaskId) -> Result<Option<Question>, Failure> {
    Ok(unanswered(&ws.notes(id)?))
}

fn unanswered(notes: &[Note]) -> Option<Question> {
    let is = |note: &&Note, kind| note.facts.kind == Some(kind);
    let answered = |note: &Note| {
        notes
            .iter()
            .filter(|other| is(other, NoteKind::Answer))
            .any(|other| other.facts.answers.as_ref() == Some(&note.file))
    };
    let asked = notes.iter().rev().find(|note| is(note, NoteKind::Question) && !answered(note))?;
    let NoteFacts { options, recommend, from, .. } = asked.facts.clone();
    // The text of the note repeats the options for readers of the plain text.
    let text = if options.is_empty() { &asked.text } else { asked.text.split("\n\n- ").next().unwrap_or_default() };
    Some(Question { text: text.to_owned(), options, recommend, by: asked.by.clone(), file: asked.file.clone(), from })
}

/// The state to which an answered task returns: its earlier state, or the release state of that if it was a lock state.
fn goal(ws: &Workspace, board: &Board, id: &TaskId, question: Option<&Question>) -> Result<StateName, Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    if ws.flow().escalation() != Some(&task.state) {
        return Ok(task.state.clone());
    }
    let from = question.and_then(|question| question.from.clone());
    let from = match from {
        Some(from) => Some(from),
        None => origin(ws, id)?,
    };
    let state = from.and_then(|from| ws.flow().state(task.kind, &StateName::new(from)));
    let state = state.filter(|state| Some(&state.name) != ws.flow().escalation());
    Ok(state.map_or_else(
        || ws.flow().initial(task.kind).clone(),
        |state| state.release.clone().unwrap_or_else(|| state.name.clone()),
    ))
}

/// The state from which the task was last escalated.
fn origin(ws: &Workspace, id: &TaskId) -> Result<Option<String>, Failure> {
    let lines = ws.journal()?;
    let escalation = ws.flow().escalation().map(ToString::to_string);
    let came = |change: &Change| match change {
        Change::Set { task, key, old, new } if task == id && key.as_str() == "state" => {
            let to = new.as_ref().map(ToString::to_string);
            old.as_ref().filter(|_| to == escalation).map(ToString::to_string)
        }
        _ => None,
    };
    Ok(lines.iter().rev().flat_map(|line| line.changes.iter()).find_map(came))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[&str]) -> Question {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Question { text: String::new(), options, recommend: None, by: None, file: String::new(), from: None }
    }

    #[test]
    fn an_option_is_chosen_by_number_name_or_beginning_and_words_stay_words() {
        let asked = question(&["One year", "Ten years", "10"]);
        for (typed, answer) in [
            ("1", "One year"),
            (" ten years ", "Ten years"),
            ("on", "One year"),
            ("10", "10"),
            ("keep them", "keep them"),
        ] {
            assert_eq!(chosen(&asked, typed).as_deref(), Some(answer), "{typed}");
        }
        assert_eq!((chosen(&asked, "4"), chosen(&asked, "0")), (None, None), "there is no such option");
        assert_eq!(chosen(&question(&[]), "4").as_deref(), Some("4"), "nobody asked to choose");
        assert_eq!(chosen(&question(&["alpha", "alpine"]), "al").as_deref(), Some("al"), "two begin so");
    }
}

//! Carries out each wish as one verb, and words the result in a line.

use crate::app::{self, Doubts, Editing, Failure, NewTask, Reach, Workspace};
use crate::task::TaskId;
use crate::tui::model::Verb;
use crate::tui::view::text::cut;
use crate::tui::words;

pub struct VerbOutcome {
    pub task: TaskId,
    pub text: String,
}

pub fn carry_out(ws: &Workspace, verb: &Verb) -> Result<VerbOutcome, Failure> {
    let (task, text) = match verb {
        Verb::Move { task, to, insist } => (task, moved(&app::move_task(ws, task, to, None, *insist)?)),
        Verb::Claim(task) => (task, claimed(&app::claim(ws, task, None, false, Reach::Remote)?)),
        Verb::Release(task) => (task, format!("released, in {}", app::release(ws, task, false)?.to)),
        Verb::Note { task, text } => {
            app::note(ws, task, text)?;
            (task, "noted".into())
        }
        Verb::Answer { task, text } => {
            let done = app::answer(ws, task, text)?;
            (task, format!("answered: {}, now in {}", done.answer, done.to))
        }
        Verb::Approve(task) => (task, format!("approved: {}", moved(&app::approve(ws, task)?))),
        Verb::Merge(task) => {
            let merged = app::merge(ws, task, false, &mut |_| {})?;
            (task, format!("merged into {}, now in {}", merged.into, merged.to))
        }
        Verb::Reject { task, why, comments } => {
            (task, format!("rejected: {}", moved(&app::reject(ws, task, why, comments)?)))
        }
        Verb::StopRun { task, run } => {
            app::stop_run(ws, &app::find_run(ws, run)?)?;
            (task, "is being stopped; it will be in the inbox".into())
        }
        Verb::Retry(task) => (task, format!("will be tried again, in {}", app::retry(ws, task)?.state)),
        Verb::Block { task, on } => {
            let linked = app::block(ws, task, std::slice::from_ref(on))?;
            (task, format!("{} {on}", if linked.changed { "is now blocked by" } else { "was already blocked by" }))
        }
        Verb::Unblock { task, from } => {
            app::unblock(ws, task, std::slice::from_ref(from))?;
            (task, format!("is no longer blocked by {from}"))
        }
        Verb::Add { title } => return added(ws, title),
        Verb::Save { task, old, new, doubts } => {
            let editing = Editing { id: task.clone(), text: old.clone() };
            return saved(ws, &editing, new, *doubts);
        }
    };
    Ok(VerbOutcome { task: task.clone(), text })
}

fn moved(moved: &app::Moved) -> String {
    let how = match (&moved.command, moved.forced) {
        (_, true) => " (forced)".to_owned(),
        (Some(command), false) => format!(" ({command})"),
        (None, false) if moved.outside.is_some() => " (outside the workflow)".to_owned(),
        (None, false) => String::new(),
    };
    let along: String = moved.along.iter().map(|along| format!(", with {} → {}", along.task, along.to)).collect();
    match moved.changed {
        true => format!("{} → {}{how}{along}", moved.from, moved.to),
        false => format!("is already in {}", moved.to),
    }
}

fn claimed(claimed: &app::Claimed) -> String {
    let command = claimed.command.as_ref().map(|command| format!(" for {command}")).unwrap_or_default();
    let verb = if claimed.renewed { "claim renewed" } else { "claimed" };
    format!("{verb} by {}{command} until {}", claimed.worker, claimed.until.strftime("%H:%MZ"))
}

fn added(ws: &Workspace, title: &str) -> Result<VerbOutcome, Failure> {
    let new = NewTask { title: title.to_owned(), ..NewTask::default() };
    let task = app::add(ws, &[new])?.tasks.remove(0);
    Ok(VerbOutcome { text: format!("added to {}", task.state), task: task.id })
}

fn saved(ws: &Workspace, editing: &Editing, text: &str, doubts: Doubts) -> Result<VerbOutcome, Failure> {
    let edited = app::finish_edit(ws, editing, text, doubts)?;
    let changes: Vec<String> = edited.changes.iter().map(words::field).collect();
    let text = match (edited.changed, changes.is_empty()) {
        (false, _) => "nothing changed".to_owned(),
        (true, true) => "saved (comments or layout)".to_owned(),
        // The history shows the complete text.
        (true, false) => cut(&changes.join(", "), 150),
    };
    Ok(VerbOutcome { task: edited.task, text })
}

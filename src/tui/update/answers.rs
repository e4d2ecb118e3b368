//! Stores the results of wishes where they belong.

use super::asking;
use crate::app::{Code, Failure, Hint, Hit, InboxItem, MoveView};
use crate::task::TaskId;
use crate::tui::model::{
    Answer, Comments, DocumentSource, Entry, Model, Notice, Popup, Purpose, Read, Reading, Said, Screen, Snapshot,
    Tone, Verb, Wish,
};
use crate::tui::words;

pub fn answer(model: &mut Model, answer: Answer) -> Vec<Wish> {
    let wishes = put(model, answer);
    asking::next(model);
    wishes
}

fn put(model: &mut Model, answer: Answer) -> Vec<Wish> {
    match answer {
        Answer::Board(board) => loaded(model, *board),
        Answer::Read(reading) => return read(model, reading),
        Answer::Unread { read, failure } => unread(model, read, &failure),
        Answer::Done { verb, text, task } => return done(model, &verb, &text, task),
        Answer::Refused { verb, failure } => turned_down(model, verb, &failure),
        Answer::Changed => return model.reload(),
        Answer::Live(live) => model.still = live.err(),
    }
    Vec::new()
}

fn loaded(model: &mut Model, board: Snapshot) {
    model.loaded = true;
    model.cursor.follow(&model.board, &board);
    for screen in &mut model.screens {
        if let Screen::Problems { at } = screen {
            let file = model.board.problems.get(*at).map(|problem| &problem.file);
            let files = board.problems.iter().map(|problem| &problem.file);
            *at = followed(files, file, *at).unwrap_or(*at).min(board.problems.len().max(1) - 1);
        }
    }
    model.board = board;
    // A task that the filter hides is not expected any longer, so that the cursor does not jump to it later.
    if let Some(id) = model.expected.take_if(|id| model.board.all.iter().any(|named| named.id == *id))
        && let Some(place) = model.board.find(&id)
    {
        model.cursor.put(place);
    }
    let filtered = model.popup.as_mut().filter(|popup| popup.purpose == Purpose::Filter);
    if let Some(popup) = filtered.filter(|_| model.board.filter == model.filter) {
        popup.said = None;
        if popup.waits.is_some() {
            model.popup = None;
        }
    }
}

fn read(model: &mut Model, reading: Reading) -> Vec<Wish> {
    match (reading, model.screens.last_mut(), model.popup.as_mut()) {
        (Reading::Task(page), Some(Screen::Task(screen)), _) if screen.id == page.shown.task.id => {
            let before = screen.page.as_ref().map(|page| page.links()).unwrap_or_default();
            let links = page.links();
            screen.link = screen.link.and_then(|at| followed(links.iter(), before.get(at), at));
            (screen.page, screen.wrapped) = (Some(page), None);
        }
        (Reading::Chain { id, verdict, lines }, Some(Screen::Graph(chain)), _) if chain.id == id => {
            let selected = chain.selected().map_or_else(|| chain.id.clone(), |task| task.id.clone());
            (chain.verdict, chain.lines) = (verdict, Some(lines));
            let tasks = chain.lines.iter().flatten().filter_map(|line| line.task.as_ref());
            chain.at = tasks.enumerate().find(|(_, task)| task.id == selected).map_or(0, |(at, _)| at);
        }
        (Reading::Workers(seen), Some(Screen::Workers(workers)), _) => {
            let before = workers.seen.as_ref().and_then(|seen| seen.tasks().get(workers.at).copied());
            let at = followed(seen.tasks().into_iter(), before, workers.at).unwrap_or(workers.at);
            workers.at = at.min(seen.tasks().len().max(1) - 1);
            workers.seen = Some(seen);
        }
        (Reading::Inbox(items), Some(Screen::Inbox(inbox)), _) => {
            let of = |item: &InboxItem| (item.kind, item.task.clone(), item.why.clone());
            let before = inbox.selected().map(of);
            let at = followed(items.iter().map(of), before, inbox.at).unwrap_or(inbox.at);
            inbox.at = at.min(items.len().max(1) - 1);
            inbox.items = Some(items);
        }
        (Reading::DocumentPage { path, text }, Some(Screen::DocumentPage(document)), _) if document.path == path => {
            (document.text, document.wrapped) = (Some(text), None);
        }
        (Reading::Review(page), Some(Screen::Review(review)), _) if review.id == page.task.id => {
            let none = Comments::new();
            review.put(*page, model.comments.get(&review.id).unwrap_or(&none));
        }
        (Reading::RunLog { id, text, goes_on }, Some(Screen::DocumentPage(document)), _) if document.path == id => {
            // If the view is at the end, it follows the output.
            let end = document.text.is_none() || document.scroll >= model.drawn.most;
            (document.text, document.wrapped) = (Some(text), None);
            document.source = DocumentSource::Run { goes_on };
            document.scroll = if end { usize::MAX } else { document.scroll };
        }
        (Reading::Targets { id, targets }, _, Some(popup))
            if popup.purpose == Purpose::Move && popup.task.as_ref() == Some(&id) =>
        {
            offered(popup, &targets);
        }
        (Reading::Found { text, hits }, _, Some(popup))
            if popup.purpose == Purpose::Search && popup.typed() == text =>
        {
            let first = hits.first().map(|hit| hit.task.id.clone()).filter(|_| popup.waits.is_some());
            (popup.entries, popup.at, popup.waits) = (hits.into_iter().map(found).collect(), 0, None);
            if let Some(id) = first {
                return super::popup::found(model, id);
            }
        }
        // The screen or popup that needed it has been closed.
        _ => {}
    }
    Vec::new()
}

/// The position of the selected item in a list that was read again; the nearest one if it occurs several times.
fn followed<T: PartialEq>(list: impl Iterator<Item = T>, selected: Option<T>, at: usize) -> Option<usize> {
    let same = list.enumerate().filter(|(_, thing)| Some(thing) == selected.as_ref());
    same.map(|(place, _)| place).min_by_key(|place| place.abs_diff(at))
}

/// Fills the popup for a move, and selects the first state that is allowed.
fn offered(popup: &mut Popup, targets: &[MoveView]) {
    let entry = |target: &MoveView| Entry {
        mark: match (target.here, &target.refused, &target.outside) {
            (true, ..) => "◆",
            (false, None, None) => "→",
            (false, None, Some(_)) => "⇢",
            (false, Some(_), _) => "·",
        },
        name: target.state.to_string(),
        text: match (target.here, &target.outside) {
            (true, _) => "current state".into(),
            (false, Some(outside)) => format!("outside the workflow: {outside}"),
            (false, None) => String::new(),
        },
        more: target.command.clone().unwrap_or_default(),
        tone: words::of_meaning(target.meaning),
        against: target.refused.as_ref().map(|refused| refused.message.clone()),
    };
    (popup.entries, popup.said) = (targets.iter().map(entry).collect(), None);
    let here = targets.iter().position(|target| target.here).unwrap_or(0);
    let likely = |at: &usize| {
        let target = &targets[*at];
        !target.here && target.refused.is_none() && target.outside.is_none()
    };
    popup.at = (here..targets.len()).find(likely).or_else(|| (0..here).find(likely)).unwrap_or(here);
}

fn found(hit: Hit) -> Entry {
    let excerpt = hit.excerpt.map(|line| format!(" · {line}")).unwrap_or_default();
    Entry {
        name: hit.task.id.to_string(),
        text: format!("{}{excerpt}", hit.task.title),
        more: hit.task.state.into_string(),
        tone: Tone::Accent,
        ..Entry::default()
    }
}

fn unread(model: &mut Model, read: Read, failure: &Failure) {
    let said = Said::refusal(failure);
    match (&read, model.popup.as_mut()) {
        (Read::Board { filter }, Some(popup)) if popup.purpose == Purpose::Filter => {
            if popup.typed() == filter {
                (popup.said, popup.waits) = (Some(said), None);
            }
        }
        (Read::Targets(_), Some(popup)) if popup.purpose == Purpose::Move => popup.said = Some(said),
        (Read::Search(text), Some(popup)) if popup.purpose == Purpose::Search => {
            if popup.typed() == text {
                (popup.said, popup.waits) = (Some(said), None);
            }
        }
        // The popup that needed it has been closed.
        (Read::Targets(_) | Read::Search(_), _) => {}
        // The task or file was removed, so its screen is closed.
        (Read::Task(_) | Read::Chain(_) | Read::DocumentPage(_) | Read::Review(_) | Read::RunLog(_), _)
            if failure.code != Code::Busy =>
        {
            if model.screens.last().and_then(Model::reading) == Some(read) {
                model.screens.pop();
                model.say(None, said);
            }
        }
        _ => model.say(None, said),
    }
}

fn done(model: &mut Model, verb: &Verb, text: &str, task: TaskId) -> Vec<Wish> {
    model.busy = model.busy.saturating_sub(1);
    if model.popup.as_ref().is_some_and(|popup| is_for(popup, verb)) {
        model.popup = None;
    }
    if let Verb::Note { task, text } = verb
        && model.unsaved.get(task) == Some(text)
    {
        // The note was closed before it was known to be saved.
        model.unsaved.remove(task);
    }
    if let Verb::Reject { task, .. } = verb {
        model.comments.remove(task);
    }
    if matches!(verb, Verb::Add { .. }) {
        model.expected = Some(task.clone());
    }
    model.say(Some(task.clone()), Said::done(format!("{task} {text}")));
    model.reload()
}

/// Whether the popup belongs to the verb: it started the verb, or is the same note that was opened again meanwhile.
fn is_for(popup: &Popup, verb: &Verb) -> bool {
    let asked = matches!(&popup.waits, Some(Wish::Do(asked)) if asked == verb);
    let same = |task: &TaskId, text: &str| popup.task.as_ref() == Some(task) && popup.typed() == text;
    asked || matches!(verb, Verb::Note { task, text } if popup.purpose == Purpose::Note && same(task, text))
}

fn turned_down(model: &mut Model, verb: Verb, failure: &Failure) {
    model.busy = model.busy.saturating_sub(1);
    if let Verb::Save { task, .. } = verb {
        return asking::unsaved(model, task, failure);
    }
    let mut failure = failure.clone();
    match model.popup.as_mut().filter(|popup| is_for(popup, &verb)) {
        Some(popup) => {
            // The popup shows the allowed moves already.
            failure.hints.retain(|hint| popup.purpose != Purpose::Move || *hint != Hint::Workflow);
            (popup.said, popup.waits) = (Some(Said::refused(&verb, &failure)), None);
        }
        None => {
            let said = Said::refused(&verb, &failure);
            model.notice = Some(Notice { task: verb.task().cloned(), said, again: Some(verb) });
        }
    }
}

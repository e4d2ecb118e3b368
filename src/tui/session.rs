//! The loop: what the person presses, what others change and what verbs come to, one after another, each drawn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use super::desk::{self, Job};
use super::model::{Answer, Model, Settle, Verb, Wish};
use super::terminal::{Screen, broken};
use super::view::{self, Theme};
use super::{Wanted, feed, update};
use crate::app::{self, Draft, Editing, Failure, Options, Workspace};
use crate::task::TaskId;

/// How long the screen may be behind what happens elsewhere.
const BEAT: Duration = Duration::from_millis(50);
/// How often it is drawn when nothing happens: clocks go on.
const AGAIN: Duration = Duration::from_secs(1);

pub fn run(options: &Options, wanted: &Wanted) -> Result<(), Failure> {
    let ws = Workspace::open(options)?;
    // A filter that cannot be is told before the screen is taken.
    app::ListAsk::typed(&wanted.filter)?.query(&ws)?;
    let asked_to_end = signals()?;
    let screen = Screen::take()?;
    let (tell, answers) = channel();
    feed::start(options.clone(), tell.clone());
    let model = Model::new(wanted.filter.clone(), ws.now());
    let theme = Theme { color: wanted.color };
    let mut session =
        Session { jobs: desk::open(options.clone(), tell), ws, model, theme, screen, draft: None, quit: false };
    let result = session.follow(&answers, &asked_to_end);
    let unsaved = session.leave();
    if unsaved.is_none() && asked_to_end.load(Ordering::Relaxed) != 0 {
        // As the signal would have done, now that the terminal is as it was.
        let _ = signal_hook::low_level::emulate_default_handler(asked_to_end.load(Ordering::Relaxed) as i32);
    }
    result.and(unsaved.map_or(Ok(()), Err))
}

/// The signal that asked the board to end.
fn signals() -> Result<Arc<AtomicUsize>, Failure> {
    let asked = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register_usize(signal, Arc::clone(&asked), signal as usize)
            .map_err(|error| Failure::broken("signals", format!("cannot listen for signals: {error}")))?;
    }
    Ok(asked)
}

struct Session {
    jobs: Sender<Job>,
    /// For the clock, and for what is done while the editor has the terminal.
    ws: Workspace,
    model: Model,
    theme: Theme,
    screen: Screen,
    /// A file in the person's hands, until it is saved.
    draft: Option<(Draft, Editing, String)>,
    quit: bool,
}

impl Session {
    fn follow(&mut self, answers: &Receiver<Answer>, asked_to_end: &AtomicUsize) -> Result<(), Failure> {
        let first = self.model.reload();
        self.carry_out(first)?;
        let mut drawn: Option<Instant> = None;
        while !self.quit && asked_to_end.load(Ordering::Relaxed) == 0 {
            let changed = self.take_in(answers)? | self.listen()?;
            if changed || drawn.is_none_or(|at| at.elapsed() > AGAIN) {
                self.draw()?;
                drawn = Some(Instant::now());
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), Failure> {
        self.model.now = self.ws.now();
        let (model, theme) = (&mut self.model, self.theme);
        self.screen.0.draw(|frame| view::draw(frame, model, theme)).map_err(broken)?;
        Ok(())
    }

    /// What the person has pressed by the end of a beat.
    fn listen(&mut self) -> Result<bool, Failure> {
        let mut wait = BEAT;
        let mut heard = false;
        while event::poll(wait).map_err(broken)? {
            let wishes = update::event(&mut self.model, event::read().map_err(broken)?, Instant::now());
            self.carry_out(wishes)?;
            (wait, heard) = (Duration::ZERO, true);
            if self.quit {
                return Ok(true);
            }
        }
        let wishes = update::beat(&mut self.model, Instant::now());
        heard |= !wishes.is_empty();
        self.carry_out(wishes)?;
        Ok(heard)
    }

    fn take_in(&mut self, answers: &Receiver<Answer>) -> Result<bool, Failure> {
        let mut changed = false;
        loop {
            match answers.try_recv() {
                Ok(answer) => {
                    if matches!(&answer, Answer::Done { verb: Verb::Save { .. }, .. }) {
                        self.draft = None;
                    }
                    let wishes = update::answer(&mut self.model, answer);
                    self.carry_out(wishes)?;
                    changed = true;
                }
                Err(TryRecvError::Empty) => return Ok(changed),
                Err(TryRecvError::Disconnected) => return Err(desk::gone()),
            }
        }
    }

    fn carry_out(&mut self, wishes: Vec<Wish>) -> Result<(), Failure> {
        for wish in wishes {
            match wish {
                Wish::Read(read) => self.send(Job::Read(read))?,
                Wish::Do(verb) => {
                    self.model.busy += 1;
                    self.send(Job::Do(verb))?;
                }
                Wish::Edit(id) => self.edit(&id)?,
                Wish::Compose(id, text) => self.compose(id, &text)?,
                Wish::Settle(settle) => self.settle(settle)?,
                Wish::Pause => {
                    self.screen.lend(|| signal_hook::low_level::emulate_default_handler(SIGTSTP).ok())?;
                }
                Wish::Quit => self.quit = true,
            }
        }
        Ok(())
    }

    fn send(&self, job: Job) -> Result<(), Failure> {
        self.jobs.send(job).map_err(|_| desk::gone())
    }

    fn edit(&mut self, id: &TaskId) -> Result<(), Failure> {
        let begun = app::begin_edit(&self.ws, id).and_then(|editing| {
            let draft = Draft::new(&format!("{id}.toml"), &editing.text)?;
            Ok((draft, editing, String::new()))
        });
        match begun {
            Ok(begun) => self.draft = Some(begun),
            Err(failure) => return Ok(update::refused(&mut self.model, Some(id.clone()), &failure)),
        }
        self.edit_again()
    }

    fn edit_again(&mut self) -> Result<(), Failure> {
        let Some((draft, editing, written)) = &mut self.draft else { return Ok(()) };
        match self.screen.lend(|| draft.edit())? {
            Ok(text) => {
                written.clone_from(&text);
                let (task, old) = (editing.id.clone(), editing.text.clone());
                self.carry_out(vec![Wish::Do(Verb::Save { task, old, new: text, anyway: false })])
            }
            Err(failure) => {
                update::unsaved(&mut self.model, editing.id.clone(), &failure);
                Ok(())
            }
        }
    }

    /// What to do with a file that was not saved.
    fn settle(&mut self, settle: Settle) -> Result<(), Failure> {
        match (settle, self.draft.take()) {
            (Settle::EditAgain, Some(draft)) => {
                self.draft = Some(draft);
                self.edit_again()
            }
            (Settle::SaveAnyway, Some(draft)) => {
                let (task, old, new) = (draft.1.id.clone(), draft.1.text.clone(), draft.2.clone());
                self.draft = Some(draft);
                self.carry_out(vec![Wish::Do(Verb::Save { task, old, new, anyway: true })])
            }
            (Settle::Leave, Some((draft, editing, _))) => {
                let failure = draft.kept(not_saved());
                update::refused(&mut self.model, Some(editing.id), &failure);
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    fn compose(&mut self, id: TaskId, text: &str) -> Result<(), Failure> {
        let draft = match Draft::new("NOTE.md", text) {
            Ok(draft) => draft,
            Err(failure) => return Ok(update::refused(&mut self.model, Some(id), &failure)),
        };
        let written = self.screen.lend(|| draft.edit())?;
        match written {
            Ok(text) => {
                let wishes = update::composed(&mut self.model, id, &text);
                self.carry_out(wishes)
            }
            Err(failure) => Ok(update::refused(&mut self.model, Some(id), &draft.kept(failure))),
        }
    }

    /// What was written and not saved stays in files; they are named once the terminal is as it was.
    fn leave(mut self) -> Option<Failure> {
        let mut failure = None;
        let typed = self.model.popup.take().filter(|popup| popup.purpose == super::model::Purpose::Note);
        if let Some((task, text)) = typed.and_then(|popup| Some((popup.task.clone()?, popup.typed().to_owned()))) {
            self.model.unsaved.insert(task, text);
        }
        for (_, text) in self.model.unsaved.iter().filter(|(_, text)| !text.trim().is_empty()) {
            if let Ok(draft) = Draft::new("NOTE.md", text) {
                failure = Some(draft.kept(failure.unwrap_or_else(not_saved)));
            }
        }
        if let Some((draft, ..)) = self.draft.take() {
            failure = Some(draft.kept(failure.unwrap_or_else(not_saved)));
        }
        failure
    }
}

fn not_saved() -> Failure {
    Failure::refused("unsaved", "what you wrote is not saved")
}

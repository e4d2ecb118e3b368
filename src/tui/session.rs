//! The event loop: handles keys, changes of the board and results of verbs, and draws after each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::desk::{self, Desk};
use super::editing::Work;
use super::model::{Answer, Model, Verb, Wish};
use super::terminal::{Screen, broken, next_event};
use super::view::{self, Theme};
use super::{Wanted, feed, update};
use crate::app::{self, Code, Failure, Options, Workspace};
use crate::os::Signal;
use crate::os::signals::{SignalListener, exit_by};
use crate::os::terminal::{suspend, wait_for_key};
use crate::task::TaskId;

/// The maximum delay until other changes are shown.
const BEAT: Duration = Duration::from_millis(50);
/// The maximum delay while the person waits for an answer.
const SHORT: Duration = Duration::from_millis(5);
/// How often the view is drawn without events, for its clocks.
const AGAIN: Duration = Duration::from_secs(1);

pub fn run(options: &Options, wanted: &Wanted) -> Result<(), Failure> {
    let ws = Workspace::open(options)?;
    // An invalid filter is reported before the terminal is set up.
    app::ListAsk::typed(&wanted.filter)?.query(&ws)?;
    let asked_to_end = asked_to_end()?;
    let screen = Screen::take()?;
    let (tell, answers) = channel();
    feed::start(options.clone(), tell.clone());
    let model = Model::new(wanted.filter.clone(), ws.now());
    let theme = Theme { color: wanted.color };
    let desk = Desk::open(options, &tell);
    let mut session = Session { desk, ws, model, theme, screen, works: BTreeMap::new(), quit: false };
    let result = session.follow(&answers, &asked_to_end);
    let number = asked_to_end.swap(0, Ordering::Relaxed);
    let asked = ENDING.iter().find(|signal| usize::from(signal.number()) == number);
    session.screen.give_back();
    let under_way = session.wind_up(&answers, &asked_to_end);
    session.leave(result.and(under_way))?;
    if let Some(asked) = asked {
        // Ends the process like the signal, now that the terminal is restored.
        exit_by(*asked);
    }
    Ok(())
}

/// The signals that end the board.
const ENDING: [Signal; 3] = [Signal::Terminate, Signal::HangUp, Signal::Interrupt];

/// Holds the number of the signal that asked the board to end.
fn asked_to_end() -> Result<Arc<AtomicUsize>, Failure> {
    let asked = Arc::new(AtomicUsize::new(0));
    let signals = SignalListener::new(&ENDING)
        .map_err(|error| Failure::broken(Code::Signals, format!("cannot listen for signals: {error}")))?;
    let received = Arc::clone(&asked);
    std::thread::spawn(move || {
        signals.for_each(|signal| received.store(usize::from(signal.number()), Ordering::Relaxed));
    });
    Ok(asked)
}

pub(super) struct Session {
    desk: Desk,
    /// For the time, and for reading and writing while the editor has the terminal.
    pub(super) ws: Workspace,
    pub(super) model: Model,
    theme: Theme,
    pub(super) screen: Screen,
    /// Files that the person is editing, until they are saved.
    pub(super) works: BTreeMap<TaskId, Work>,
    quit: bool,
}

impl Session {
    fn follow(&mut self, answers: &Receiver<Answer>, asked_to_end: &AtomicUsize) -> Result<(), Failure> {
        let first = self.model.reload();
        self.carry_out(first)?;
        let mut drawn: Option<Instant> = None;
        let mut heard = false;
        while !self.quit && asked_to_end.load(Ordering::Relaxed) == 0 {
            // Drawn before input is handled, so that a click applies to what is visible.
            let changed = self.take_in(answers)? | heard;
            if changed || drawn.is_none_or(|at| at.elapsed() > AGAIN) {
                self.draw()?;
                drawn = Some(Instant::now());
            }
            heard = self.listen()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), Failure> {
        self.model.now = self.ws.now();
        let (model, theme) = (&mut self.model, self.theme);
        self.screen.0.draw(|frame| view::draw(frame, model, theme)).map_err(broken)?;
        Ok(())
    }

    /// Handles the keys that were pressed within a tick.
    fn listen(&mut self) -> Result<bool, Failure> {
        let waits = !self.model.loaded || self.model.busy > 0;
        let mut heard = false;
        if !wait_for_key(if waits { SHORT } else { BEAT }) {
            self.quit = true;
        }
        while !self.quit
            && let Some(event) = next_event()?
        {
            let wishes = update::event(&mut self.model, event, Instant::now());
            self.carry_out(wishes)?;
            heard = true;
        }
        if self.quit {
            return Ok(false);
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
                    let wishes = self.take(answer);
                    self.carry_out(wishes)?;
                    changed = true;
                }
                Err(TryRecvError::Empty) => return Ok(changed),
                Err(TryRecvError::Disconnected) => return Err(desk::gone()),
            }
        }
    }

    pub(super) fn take(&mut self, answer: Answer) -> Vec<Wish> {
        if let Answer::Done { verb: Verb::Save { task, .. }, .. } = &answer {
            self.works.remove(task);
        }
        update::answer(&mut self.model, answer)
    }

    pub(super) fn carry_out(&mut self, wishes: Vec<Wish>) -> Result<(), Failure> {
        for wish in wishes {
            match wish {
                Wish::Read(read) => self.desk.read(read)?,
                Wish::Do(verb) => {
                    self.model.busy += 1;
                    self.desk.carry_out(verb)?;
                }
                Wish::Edit(id) => self.edit(&id)?,
                Wish::Compose(id, text) => self.compose(id, &text)?,
                Wish::Settle(id, settle) => self.settle(&id, settle)?,
                Wish::Pause => self.screen.lend(suspend)?,
                Wish::Quit => self.quit = true,
            }
        }
        Ok(())
    }
}

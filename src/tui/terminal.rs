//! The terminal: set up for the board, and restored on every exit.

use std::io::{IsTerminal as _, Stdout, Write as _, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use crate::app::{Code, Failure, Hint};
use crate::os::Signal;
use crate::os::signals::exit_by;
use crate::os::terminal::wait_for_key;

/// The other screen; clicks, drags and the wheel, without every move; what is pasted, as a whole; no cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[0m\x1b[?1049l";

static TAKEN: AtomicBool = AtomicBool::new(false);
/// Crossterm is being asked for what the person has pressed.
static READING: AtomicBool = AtomicBool::new(false);

pub struct Screen(pub Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    pub fn take() -> Result<Self, Failure> {
        if !stdout().is_terminal() || !std::io::stdin().is_terminal() {
            return Err(Failure::usage(Code::NoTerminal, "the board needs a terminal")
                .hint(Hint::run("task ls", "to print the tasks"))
                .hint(Hint::run("status", "to print a summary"))
                .hint(Hint::run("board --json", "to print it as JSON")));
        }
        restore_on_panic();
        end_with_terminal();
        enter().map_err(broken)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(broken);
        terminal.map(Self).inspect_err(|_| leave())
    }

    /// Gives the terminal to another program for a while.
    pub fn lend<T>(&mut self, to: impl FnOnce() -> T) -> Result<T, Failure> {
        leave();
        let result = to();
        // A new one, not a cleared one: that would ask the terminal where its cursor is, and not every one answers in time.
        let terminal = enter().and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        self.0 = terminal.map_err(broken)?;
        Ok(result)
    }

    /// For good: nothing is drawn any more.
    pub fn give_back(&self) {
        leave();
    }
}

/// What the person has pressed, if they have. Crossterm must not be asked when the terminal is gone: it reads the end of its input
/// again and again, and never returns.
pub fn next_event() -> Result<Option<Event>, Failure> {
    READING.store(true, Ordering::SeqCst);
    let there = event::poll(Duration::ZERO).and_then(|there| if there { event::read().map(Some) } else { Ok(None) });
    READING.store(false, Ordering::SeqCst);
    there.map_err(broken)
}

/// A terminal that goes while crossterm reads from it would keep the process, and a processor, for ever.
fn end_with_terminal() {
    static ONCE: Once = Once::new();
    let guard = || {
        let stuck = || READING.load(Ordering::SeqCst) && !wait_for_key(Duration::ZERO);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if stuck()
                && (0..20).all(|_| {
                    std::thread::sleep(Duration::from_millis(50));
                    stuck()
                })
            {
                exit_by(Signal::HangUp);
            }
        }
    };
    ONCE.call_once(|| drop(std::thread::spawn(guard)));
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> std::io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    stdout().write_all(ENTER).and_then(|()| stdout().flush())
}

/// Runs once; errors are ignored, because the terminal may be gone.
fn leave() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = stdout().write_all(LEAVE).and_then(|()| stdout().flush());
        let _ = disable_raw_mode();
    }
}

/// What a panic says is to be read on a terminal that works. In another thread than the screen's it is caught and told on the
/// screen, which goes on.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        let drawing = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == drawing {
                leave();
            }
            if !TAKEN.load(Ordering::SeqCst) {
                usual(panic);
            }
        }));
    });
}

pub fn broken(error: std::io::Error) -> Failure {
    Failure::broken(Code::Terminal, format!("cannot use the terminal: {error}"))
}

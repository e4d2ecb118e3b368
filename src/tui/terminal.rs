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

/// Uses the alternate screen; reports clicks, drags and the wheel, but not every move; reports pasted text as a whole; hides the
/// cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[0m\x1b[?1049l";

static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether crossterm is reading input.
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
        // A new terminal instead of a cleared one: clearing asks for the cursor's position, and some terminals answer too late.
        let terminal = enter().and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        self.0 = terminal.map_err(broken)?;
        Ok(result)
    }

    /// Restores the terminal; nothing is drawn after this.
    pub fn give_back(&self) {
        leave();
    }
}

/// The next event, if there is one. Crossterm must not be called when the terminal is gone, because it would read the end of its
/// input in an endless loop.
pub fn next_event() -> Result<Option<Event>, Failure> {
    READING.store(true, Ordering::SeqCst);
    let there = event::poll(Duration::ZERO).and_then(|there| if there { event::read().map(Some) } else { Ok(None) });
    READING.store(false, Ordering::SeqCst);
    there.map_err(broken)
}

/// Ends the process if the terminal goes away while crossterm reads from it, which would otherwise loop forever.
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

/// Restores the terminal when the drawing thread panics, so that the message is readable. A panic of another thread is caught
/// and shown on the screen; in a release build any panic ends the program.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        let drawing = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            if cfg!(panic = "abort") || std::thread::current().id() == drawing {
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

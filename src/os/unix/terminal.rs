//! The terminal: keys, editor, pager, browser, and the folders of the user.

use std::path::PathBuf;
use std::process::Command;
#[cfg(feature = "tui")]
use std::time::Duration;

#[cfg(feature = "tui")]
use rustix::event::Timespec;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, kill_current_process_group};

/// The defaults, if the environment names none.
pub const EDITOR: &str = "vi";
pub const PAGER: &str = "less";

/// Waits for a key; false when the terminal is gone.
#[cfg(feature = "tui")]
pub fn wait_for_key(limit: Duration) -> bool {
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    // A signal also ends the wait; the caller checks for signals.
    let _ = poll(&mut watched, Timespec::try_from(limit).ok().as_ref());
    !watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Waits until the other end of stdout is closed; false if that cannot be known.
pub fn wait_for_closed_stdout() -> bool {
    let out = std::io::stdout();
    let mut reader = [PollFd::new(&out, PollFlags::empty())];
    // No event is requested, so poll reports only a closed pipe.
    poll(&mut reader, None).is_ok() && reader[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Stops the whole job, like Ctrl-Z: a script that runs the board stops with it. Without job control the kernel ignores this.
#[cfg(feature = "tui")]
pub fn suspend() {
    let _ = kill_current_process_group(Signal::TSTP);
}

/// Opens a URL in the default browser.
pub fn browser(url: &str) -> Command {
    let mut command = Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    command.arg(url);
    command
}

/// The user's home folder.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The folder with the settings of the user's programs.
pub fn config_home() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    set.or_else(|| Some(home()?.join(".config")))
}

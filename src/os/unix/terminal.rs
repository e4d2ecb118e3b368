//! The terminal, and what stands in its place.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_current_process_group};

/// Where nobody has said which.
pub const EDITOR: &str = "vi";
pub const PAGER: &str = "less";

/// Waits for the person to press something; false when the terminal is gone.
pub fn wait_for_key(limit: Duration) -> bool {
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    // A signal ends the wait; whoever waits looks at signals, too.
    let _ = poll(&mut watched, Timespec::try_from(limit).ok().as_ref());
    !watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Whether something is piped in within a time. A pipe that stays silent and open belongs to whoever started us.
pub fn is_piped_to(limit: Duration) -> bool {
    let input = std::io::stdin();
    let kind = rustix::fs::fstat(&input).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
    if !kind.is_ok_and(|kind| kind.is_fifo() || kind.is_file()) {
        return false;
    }
    let mut waiting = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut waiting, Timespec::try_from(limit).ok().as_ref()).is_ok_and(|ready| ready > 0)
}

/// Waits until nobody reads what this process prints; false where that cannot be known.
pub fn wait_for_reader_to_leave() -> bool {
    let out = std::io::stdout();
    let mut reader = [PollFd::new(&out, PollFlags::empty())];
    // Answers only when the other end of a pipe is closed.
    poll(&mut reader, None).is_ok() && reader[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Stops the whole job, as the terminal would: a script that waits for the board stops with it. Where nobody could wake it again,
/// the kernel does nothing.
pub fn suspend() {
    let _ = kill_current_process_group(Signal::TSTP);
}

/// Shows an address in the person's browser.
pub fn open_address(address: &str) -> Command {
    let mut command = Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    command.arg(address);
    command
}

/// The user's own folder.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Where programs keep a user's settings.
pub fn config_home() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    set.or_else(|| Some(home()?.join(".config")))
}

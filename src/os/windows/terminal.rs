//! The console, and what stands in its place.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use winapi_util::HandleRef;

/// If the environment names none.
pub const EDITOR: &str = "notepad";
pub const PAGER: &str = "more";

/// Waits for a key. Windows ends programs with their console, so it is always there.
#[cfg(feature = "tui")]
pub fn wait_for_key(limit: Duration) -> bool {
    ratatui::crossterm::event::poll(limit).is_ok()
}

/// Whether something is piped in within the time limit. A pipe that stays open and empty is our parent's, not meant for us.
pub fn has_piped_stdin(limit: Duration) -> bool {
    match winapi_util::file::typ(HandleRef::stdin()) {
        Ok(kind) if kind.is_disk() => true,
        Ok(kind) if kind.is_pipe() => waits_in_pipe(limit),
        _ => false,
    }
}

/// What is read ahead stays in the buffer of stdin.
fn waits_in_pipe(limit: Duration) -> bool {
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let there = std::io::BufRead::fill_buf(&mut std::io::stdin().lock()).is_ok();
        let _ = sender.send(there);
    });
    heard.recv_timeout(limit).unwrap_or(false)
}

/// Not available: the next write fails instead.
pub fn wait_for_closed_stdout() -> bool {
    false
}

/// Not available: Windows has no job control.
#[cfg(feature = "tui")]
pub fn suspend() {}

/// Opens a URL in the default browser.
pub fn browser(url: &str) -> Command {
    let mut command = Command::new("rundll32");
    command.arg("url.dll,FileProtocolHandler").arg(url);
    command
}

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The user's home folder.
pub fn home() -> Option<PathBuf> {
    folder("HOME").or_else(|| folder("USERPROFILE"))
}

/// Where programs keep the user's settings.
pub fn config_home() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME").or_else(|| folder("APPDATA")).or_else(|| Some(home()?.join(".config")))
}

//! The console, and what stands in its place.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use winapi_util::HandleRef;

/// Where nobody has said which.
pub const EDITOR: &str = "notepad";
pub const PAGER: &str = "more";

/// Waits for the person to press something. A console that goes ends its programs by itself.
pub fn wait_for_key(limit: Duration) -> bool {
    ratatui::crossterm::event::poll(limit).is_ok()
}

/// Whether something is piped in within a time. A pipe that stays silent and open belongs to whoever started us.
pub fn is_piped_to(limit: Duration) -> bool {
    match winapi_util::file::typ(HandleRef::stdin()) {
        Ok(kind) if kind.is_disk() => true,
        Ok(kind) if kind.is_pipe() => waits_in_pipe(limit),
        _ => false,
    }
}

/// What is read ahead stays in the buffer of standard input.
fn waits_in_pipe(limit: Duration) -> bool {
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let there = std::io::BufRead::fill_buf(&mut std::io::stdin().lock()).is_ok();
        let _ = sender.send(there);
    });
    heard.recv_timeout(limit).unwrap_or(false)
}

/// A pipe's reader that goes away is noticed when the next line is written.
pub fn wait_for_reader_to_leave() -> bool {
    false
}

/// Jobs cannot be stopped here.
pub fn suspend() {}

/// Shows an address in the person's browser.
pub fn open_address(address: &str) -> Command {
    let mut command = Command::new("rundll32");
    command.arg("url.dll,FileProtocolHandler").arg(address);
    command
}

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The user's own folder.
pub fn home() -> Option<PathBuf> {
    folder("HOME").or_else(|| folder("USERPROFILE"))
}

/// Where programs keep a user's settings.
pub fn config_home() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME").or_else(|| folder("APPDATA")).or_else(|| Some(home()?.join(".config")))
}

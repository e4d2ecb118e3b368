//! The console: keys, editor, pager, browser, and the folders of the user.

use std::path::PathBuf;
use std::process::Command;
#[cfg(feature = "tui")]
use std::time::Duration;

/// The defaults, if the environment names none.
pub const EDITOR: &str = "notepad";
pub const PAGER: &str = "more";

/// Waits for a key. Always true, because Windows ends programs together with their console.
#[cfg(feature = "tui")]
pub fn wait_for_key(limit: Duration) -> bool {
    ratatui::crossterm::event::poll(limit).is_ok()
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

/// The folder with the settings of the user's programs.
pub fn config_home() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME").or_else(|| folder("APPDATA")).or_else(|| Some(home()?.join(".config")))
}

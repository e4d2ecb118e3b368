//! Desktop notifications, through a program of the system.

use std::process::{Command, Stdio};

use crate::app::{Code, Event, EventKind, Failure, Hint, Workspace};
use crate::task::StateName;

/// The program that shows notifications.
#[derive(Debug, Clone, Copy)]
pub struct Notifier {
    program: &'static str,
}

/// `notify-send` on Linux desktops, `osascript` on macOS.
const PROGRAMS: [&str; 2] = ["notify-send", "osascript"];

impl Notifier {
    pub fn find() -> Result<Self, Failure> {
        let on_path = |program: &&str| {
            let paths = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
        };
        let program = PROGRAMS.into_iter().find(on_path).ok_or_else(|| {
            Failure::refused(Code::NoProgram, "no program for desktop notifications was found")
                .hint(Hint::step("install notify-send (libnotify), or add a rule for the event asked to the settings"))
        })?;
        Ok(Self { program })
    }

    /// Shows a notification if an event needs a person at once.
    pub fn tell(self, ws: &Workspace, event: &Event) {
        let needs = |state: &StateName| Some(state) == ws.flow().escalation();
        let asked = event.event == EventKind::Asked;
        let handed_over = event.event == EventKind::Moved && event.to.as_ref().is_some_and(needs);
        if !asked && !handed_over {
            return;
        }
        let task = event.task.as_ref().map(ToString::to_string).unwrap_or_default();
        let head = if asked { format!("{task} has a question") } else { format!("{task} was handed to a person") };
        let body = event.message.as_deref().or(event.title.as_deref()).unwrap_or_default();
        let mut command = Command::new(self.program);
        match self.program {
            // The texts are arguments of the script, so that they cannot be executed.
            "osascript" => command
                .args(["-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)"])
                .args(["-e", "end run", &head, body]),
            _ => command.args(["--app-name=ralph", "--", &head, body]),
        };
        // A failed notification must not end `watch`.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

//! `ralph setup`.

use crate::app::{self, Done, GENERIC, SetUp, SetUpHost, SetUpHow};
use crate::cli::args::SetupCommand;
use crate::cli::style::{self, paint};
use crate::cli::words::count;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, command: &SetupCommand) -> Answer {
    let (host, args) = match command {
        SetupCommand::Generic if session.out.json => {
            session.out.json(&serde_json::json!({ "markdown": GENERIC }));
            return Ok(Outcome::Done);
        }
        SetupCommand::Generic => {
            session.out.text(GENERIC);
            return Ok(Outcome::Done);
        }
        SetupCommand::Claude(args) => (SetUpHost::Claude, args),
        SetupCommand::Codex(args) => (SetUpHost::Codex, args),
        SetupCommand::Gemini(args) => (SetUpHost::Gemini, args),
        SetupCommand::Opencode(args) => (SetUpHost::Opencode, args),
    };
    let how = if args.remove { SetUpHow::Remove } else { SetUpHow::Write };
    let done = session.with(|ws| app::set_up(ws, host, how, args.dry_run))?;
    if session.out.json {
        session.out.json(&done);
    } else {
        session.out.text(&words(&done, how));
    }
    Ok(Outcome::Done)
}

fn words(done: &SetUp, how: SetUpHow) -> String {
    let mut text = String::new();
    for file in &done.files {
        let what = match (file.done, done.dry_run) {
            (Done::Unchanged, _) => continue,
            (Done::Created, false) => "created",
            (Done::Updated, false) => "updated",
            (Done::Removed, false) => "removed",
            (Done::Created, true) => "would create",
            (Done::Updated, true) => "would update",
            (Done::Removed, true) => "would remove",
            (Done::Kept, _) => "kept",
        };
        let why = file.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text.push_str(&format!("{what} {}{why}\n", paint(style::ID, &file.path)));
    }
    let changed = done.files.iter().filter(|file| !matches!(file.done, Done::Unchanged | Done::Kept)).count();
    let unchanged = done.files.iter().filter(|file| file.done == Done::Unchanged).count();
    if changed == 0 {
        text.push_str(&match how {
            SetUpHow::Write => format!("nothing to do: {} already up to date\n", count(unchanged, "file")),
            SetUpHow::Remove => "nothing to do: nothing of ralph is set up here\n".to_owned(),
        });
    } else if how == SetUpHow::Write && !done.dry_run {
        text.push_str("commit these files, so that every worktree and clone has them\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::agent::{GATES, claude};
    use crate::cli::args::Cli;

    /// Every text in backquotes that calls ralph.
    fn mentioned(text: &str) -> Vec<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        quoted.filter(|line| line.starts_with("ralph ")).map(str::to_owned).collect()
    }

    #[test]
    fn every_command_in_what_is_written_can_be_typed() {
        let mut lines: Vec<String> = claude::files().iter().flat_map(|(_, text)| mentioned(text)).collect();
        lines.extend(mentioned(GENERIC));
        lines.extend(GATES.iter().map(|gate| format!("ralph hook {}", gate.name)));
        assert!(lines.len() > 60, "{lines:?}");
        for line in lines.iter().filter(|line| *line != "ralph move") {
            let words = shlex::split(line).unwrap();
            assert!(Cli::try_parse_from(&words).is_ok(), "{line}: {}", Cli::try_parse_from(&words).unwrap_err());
        }
    }
}

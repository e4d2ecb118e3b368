//! The command line: parse what was typed, call one verb, show what it returns.

mod args;
mod commands;
mod complete;
mod door;
mod editor;
mod help;
mod input;
mod live;
mod markdown;
mod notify;
mod out;
mod relay;
mod style;
mod table;
mod usage;
mod words;

use std::cell::RefCell;
use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::app::{self, Code, Failure, FailureKind, Options, Workspace};
use crate::task::Problem;
use args::Cli;
use out::Out;

/// How a command ended.
pub(crate) enum Outcome {
    Done,
    /// The command succeeded and the result is negative, such as findings of `doctor`.
    Negative,
    /// The exit code of the program that was run.
    Code(u8),
}

type Answer = Result<Outcome, Failure>;

/// Every command and option, with examples.
pub fn command() -> clap::Command {
    args::command()
}

/// Runs one command line and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    clap_complete::CompleteEnv::with_factory(args::command).complete();
    if let Ok(exe) = std::env::current_exe() {
        app::start_git_through(exe);
    }
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if help::asks_for_agents_page(&arguments) {
        let _ = std::io::Write::write_all(&mut std::io::stdout(), help::AGENTS.as_bytes());
        return ExitCode::SUCCESS;
    }
    // Adding the examples to a hundred commands takes time, so it happens only when help is printed.
    let asks = |word: &OsString| ["-h", "--help", "help", "man"].iter().any(|name| word == name);
    let command = if arguments.iter().any(asks) { args::command() } else { Cli::command() };
    let parsed = command.try_get_matches_from(&arguments).and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &arguments),
    };
    let out = Out::new(&cli.global);
    if let Some(answer) = relay::forward(&cli, &arguments) {
        return answer.unwrap_or_else(|failure| {
            out.failure(&failure);
            ExitCode::from(code(failure.kind))
        });
    }
    let session = Session { options: options(&cli), out: &out, seen: Rc::default() };
    let answer = relay::refuse_for_agents(&cli).and_then(|()| commands::run(&session, cli.command));
    if let Err(failure) = &answer {
        out.failure(failure);
    }
    out.problems(&session.seen.borrow());
    let unwritten = out.unwritten().filter(|_| answer.is_ok()).map(|message| Failure::broken(Code::Io, message));
    if let Some(failure) = &unwritten {
        out.failure(failure);
        return ExitCode::from(code(failure.kind));
    }
    match answer {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::from(1),
        Ok(Outcome::Code(code)) => ExitCode::from(code),
        Err(failure) => ExitCode::from(code(failure.kind)),
    }
}

/// Prints help or the version as an answer; anything else is a usage error.
fn misused(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let json = words.iter().any(|word| word == "--json");
    let helps = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if helps && help::asks_for_first_page(&words) {
        let page = help::first_page(&args::command());
        let color = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        let _ = std::io::Write::write_all(&mut std::io::stdout(), door::shown(&page, color).as_bytes());
        return if words.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if json {
        let document = serde_json::json!({ "error": usage::failure(error) });
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{document}\n"));
    } else {
        let _ = error.print();
    }
    ExitCode::from(2)
}

/// The documented exit codes.
fn code(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::Refused => 1,
        FailureKind::Usage => 2,
        FailureKind::Raced => 3,
        FailureKind::Broken => 4,
        FailureKind::Nothing => 5,
        FailureKind::Offline => 6,
    }
}

fn options(cli: &Cli) -> Options {
    Options {
        // Empty if the current directory was removed.
        dir: std::env::current_dir().unwrap_or_default(),
        board: cli
            .global
            .board
            .clone()
            .or_else(|| std::env::var_os("RALPH_BOARD").filter(|b| !b.is_empty()).map(Into::into)),
        worker: cli.global.worker.clone(),
        settings: cli.global.config.clone(),
        at: None,
    }
}

/// One run of a command: its output, and the options to open the board.
pub(crate) struct Session<'a> {
    options: Options,
    out: &'a Out,
    /// Problems of the files that were read so far.
    seen: Rc<RefCell<Vec<Problem>>>,
}

impl Session<'_> {
    /// The same session for another revision of the board.
    fn at(&self, at: &args::AtArgs) -> Session<'_> {
        let options = Options { at: at.at.clone(), ..self.options.clone() };
        Session { options, out: self.out, seen: Rc::clone(&self.seen) }
    }

    /// Runs a verb, and keeps the problems of the files that it read, to be printed at the end.
    fn with<T>(&self, verb: impl FnOnce(&Workspace) -> Result<T, Failure>) -> Result<T, Failure> {
        let ws = Workspace::open(&self.options)?;
        self.out.set_color(ws.settings.text("ui.color"));
        style::learn_states(ws.flow());
        let result = ws.finish(verb(&ws));
        self.seen.borrow_mut().extend(ws.problems());
        self.out.notices(&ws.notices());
        result
    }
}

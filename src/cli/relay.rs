//! Forwards the commands of a sandboxed agent to its worker outside the sandbox, which runs only those that agents may use.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use super::args::{
    AroundCommand, ClaimCommand, Cli, CliCommand, DecideCommand, RunsCommand, ShortCommand, TaskCommand,
    WorktreeCommand,
};
use crate::app::{Code, Failure, Hint, RELAY_SOCKET, RELAYED, relay_call};

/// Sends this command line to the worker if this process belongs to an agent. `None` if it must run here.
pub fn forward(cli: &Cli, arguments: &[OsString]) -> Option<Result<ExitCode, Failure>> {
    let socket = std::env::var_os(RELAY_SOCKET).filter(|path| !path.is_empty())?;
    let own = matches!(
        cli.command,
        CliCommand::Guarded(_)
            | CliCommand::Become(_)
            | CliCommand::MergeDriver(_)
            | CliCommand::Around(AroundCommand::Completions(_) | AroundCommand::Man(_))
    );
    if own {
        return None;
    }
    let words: Option<Vec<String>> = arguments.iter().skip(1).map(|word| word.clone().into_string().ok()).collect();
    let Some(words) = words else {
        return Some(Err(Failure::usage(Code::BadArguments, "an argument is not valid UTF-8")));
    };
    let dir = std::env::current_dir().unwrap_or_else(|_| "/".into());
    Some(relay_call(Path::new(&socket), &words, &dir).map(ExitCode::from))
}

/// Refuses, in the worker's process, commands that an agent must not run outside its sandbox.
pub fn refuse_for_agents(cli: &Cli) -> Result<(), Failure> {
    if std::env::var_os(RELAYED).is_none() {
        return Ok(());
    }
    let worker = std::env::var("RALPH_WORKER").ok();
    if let Some(name) = cli.global.worker.as_ref().filter(|name| Some(*name) != worker.as_ref()) {
        let own = worker.unwrap_or_default();
        return Err(Failure::refused(Code::NotYou, format!("you are {own} in this run, not {name}"))
            .hint(Hint::omit("--as", "to act under your own name")));
    }
    if cli.global.board.is_some() || !cli.global.config.is_empty() {
        return Err(Failure::refused(Code::Confined, "an agent cannot select another board or change settings")
            .hint(Hint::omit("--board", "to work on the board of your task"))
            .hint(Hint::omit("--config", "to use its settings")));
    }
    match is_for_agents(&cli.command) {
        true => Ok(()),
        false => Err(Failure::refused(Code::Confined, "agents of a worker cannot use this command")
            .hint(Hint::step("do only what the prompt asks for"))
            .hint(Hint::run("escalate TASK", "to hand the task to a person"))),
    }
}

/// Whether a command only reads the board, or changes it by the rules. None of these commands writes a file that the caller
/// names, or starts a program other than the checks of a merge, which run for every merge.
fn is_for_agents(command: &CliCommand) -> bool {
    match command {
        CliCommand::Task(command) => {
            !matches!(command, TaskCommand::Edit(_) | TaskCommand::Rm(_) | TaskCommand::Archive(_))
        }
        CliCommand::Worktree(command) => {
            matches!(command, WorktreeCommand::Ls | WorktreeCommand::Path(_) | WorktreeCommand::Add { .. })
        }
        CliCommand::Mcp(args) => args.http.is_none(),
        CliCommand::Short(ShortCommand::Ls(_) | ShortCommand::Show(_) | ShortCommand::Add(_))
        | CliCommand::Decide(
            DecideCommand::Ask(_) | DecideCommand::Inbox | DecideCommand::Feedback(_) | DecideCommand::Reply(_),
        )
        | CliCommand::Block(_)
        | CliCommand::Unblock(_)
        | CliCommand::Note(_)
        | CliCommand::Move(_)
        | CliCommand::Merge(_)
        | CliCommand::Done(_)
        | CliCommand::Cancel(_)
        | CliCommand::Escalate(_)
        | CliCommand::Claim(
            ClaimCommand::Claim(_)
            | ClaimCommand::Renew(_)
            | ClaimCommand::Release(_)
            | ClaimCommand::Claims(_)
            | ClaimCommand::Who(_),
        )
        | CliCommand::Next(_)
        | CliCommand::Wait(_)
        | CliCommand::Why(_)
        | CliCommand::Status(_)
        | CliCommand::Position(_)
        | CliCommand::Group(_)
        | CliCommand::Advance(_)
        | CliCommand::Workflow(_)
        | CliCommand::Costs(_)
        | CliCommand::Runs(RunsCommand::Ls { .. } | RunsCommand::Show { .. } | RunsCommand::Tail { .. })
        | CliCommand::Artifact(_)
        | CliCommand::Split(_)
        | CliCommand::Plan(_)
        | CliCommand::Prompt(_)
        | CliCommand::Log(_)
        | CliCommand::Hook(_) => true,
        _ => false,
    }
}

//! One file per command. Each passes its options to a verb of `app` and prints the result.

mod add;
mod agent;
mod archive;
mod artifact;
mod block;
mod board;
mod claim;
mod commit;
mod config;
mod costs;
mod decide;
mod diff;
mod doctor;
mod edit;
mod faces;
mod feedback;
mod graph;
mod hook;
mod inbox;
mod init;
mod log;
mod ls;
#[cfg(feature = "mcp")]
mod mcp;
mod merge;
mod merge_driver;
mod moves;
mod next;
mod note;
mod place;
mod pr;
mod prompt;
mod rm;
mod run;
mod runs;
mod search;
#[cfg(feature = "web")]
mod serve;
mod set;
mod setup;
mod share;
mod shell;
mod show;
mod split;
mod status;
mod sync;
mod task_diff;
mod team;
mod tree;
mod trust;
mod uninstall;
mod wait;
mod watch;
mod who;
mod why;
mod worker;
mod workflow;
mod worktree;

use super::args::{AroundCommand, ClaimCommand, CliCommand, DecideCommand, ShortCommand, TaskCommand};
use super::{Answer, Session};

pub fn run(session: &Session<'_>, command: CliCommand) -> Answer {
    match command {
        CliCommand::Init(args) => init::run(session, &args),
        CliCommand::Task(command) => task(session, command),
        CliCommand::Short(command) => short(session, command),
        CliCommand::Block(args) => block::block(session, &args),
        CliCommand::Unblock(args) => block::unblock(session, &args),
        CliCommand::Note(args) => note::run(session, &args),
        CliCommand::Move(args) => moves::run(session, &args),
        CliCommand::Done(args) => moves::to(session, &args, "__CLOSE__"),
        CliCommand::Cancel(args) => moves::cancel(session, &args),
        CliCommand::Escalate(args) => moves::to(session, &args, "__ESCALATE__"),
        CliCommand::Decide(command) => decide(session, &command),
        CliCommand::Claim(command) => claims(session, &command),
        CliCommand::Next(args) => next::run(session, &args),
        CliCommand::Run(args) => run::run(session, &args),
        CliCommand::Worker(args) => worker::run(session, &args),
        CliCommand::Team(args) => team::team(session, &args),
        CliCommand::Hero(args) => team::hero(session, &args),
        CliCommand::Agent(args) => agent::run(session, &args),
        CliCommand::Runs(args) => runs::run(session, &args),
        CliCommand::Costs(args) => costs::run(session, &args),
        CliCommand::Guarded(args) => run::guarded(&args),
        CliCommand::Become(args) => run::become_program(&args),
        CliCommand::Wait(args) => wait::run(session, &args),
        CliCommand::Watch(args) => watch::run(session, &args),
        CliCommand::Why(args) => why::run(session, &args),
        CliCommand::Status(args) => status::run(session, &args),
        CliCommand::Position(args) => place::position(session, &args),
        CliCommand::Group(args) => place::group(session, &args),
        CliCommand::Advance(args) => place::advance(session, &args),
        CliCommand::Workflow(args) => workflow::run(session, &args),
        CliCommand::Worktree(command) => worktree::run(session, &command),
        CliCommand::Artifact(command) => artifact::run(session, &command),
        CliCommand::Split(args) => split::run(session, &args),
        CliCommand::Plan(command) => split::plan(session, &command),
        CliCommand::Prompt(args) => prompt::run(session, &args),
        CliCommand::Commit(args) => commit::run(session, &args),
        CliCommand::Pr(args) => pr::run(session, &args),
        CliCommand::Merge(args) => merge::run(session, &args),
        CliCommand::Pull(args) => share::pull(session, &args),
        CliCommand::Push(args) => share::push(session, &args),
        CliCommand::Sync(args) => sync::run(session, args),
        CliCommand::Log(args) => log::log(session, &args),
        CliCommand::Undo(args) => log::undo(session, &args),
        CliCommand::Doctor(args) => doctor::run(session, &args),
        CliCommand::Config(command) => config::run(session, &command),
        CliCommand::Trust(args) => trust::run(session, &args),
        CliCommand::Hook(args) => hook::run(session, &args),
        CliCommand::Setup(command) => setup::run(session, &command),
        CliCommand::Board(args) => board::run(session, &args),
        CliCommand::Serve(args) => faces::serve(session, &args),
        CliCommand::Report(args) => faces::report(session, &args),
        CliCommand::Mcp(args) => faces::mcp(session, &args),
        CliCommand::Around(command) => around(session, &command),
        CliCommand::MergeDriver(args) => merge_driver::run(session, &args),
    }
}

fn claims(session: &Session<'_>, command: &ClaimCommand) -> Answer {
    match command {
        ClaimCommand::Claim(args) => claim::claim(session, args),
        ClaimCommand::Renew(args) => claim::renew(session, args),
        ClaimCommand::Release(args) => claim::release(session, args),
        ClaimCommand::Claims(command) => claim::list(session, command),
        ClaimCommand::Who(args) => who::run(session, args),
        ClaimCommand::Reap => claim::reap(session),
    }
}

fn short(session: &Session<'_>, command: ShortCommand) -> Answer {
    match command {
        ShortCommand::Ls(args) => ls::run(session, &args),
        ShortCommand::Show(args) => show::run(session, &args),
        ShortCommand::Add(args) => add::run(session, args),
        ShortCommand::Edit(args) => edit::run(session, &args),
        ShortCommand::Rm(args) => rm::run(session, &args),
    }
}

fn decide(session: &Session<'_>, command: &DecideCommand) -> Answer {
    match command {
        DecideCommand::Inbox => inbox::run(session),
        DecideCommand::Ask(args) => decide::ask(session, args),
        DecideCommand::Answer(args) => decide::answer(session, args),
        DecideCommand::Approve(args) => decide::approve(session, args),
        DecideCommand::Reject(args) => decide::reject(session, args),
        DecideCommand::Feedback(args) => feedback::list(session, args),
        DecideCommand::Reply(args) => feedback::reply(session, args),
        DecideCommand::Diff(args) => task_diff::run(session, args),
    }
}

fn around(session: &Session<'_>, command: &AroundCommand) -> Answer {
    match command {
        AroundCommand::Schema(args) => workflow::schema(session, args),
        AroundCommand::Uninstall(args) => uninstall::run(session, args),
        AroundCommand::Completions(args) => shell::completions(session, args),
        AroundCommand::Man(args) => shell::man(session, args),
    }
}

fn task(session: &Session<'_>, command: TaskCommand) -> Answer {
    match command {
        TaskCommand::Ls(args) => ls::run(session, &args),
        TaskCommand::Add(args) => add::run(session, args),
        TaskCommand::Show(args) => show::run(session, &args),
        TaskCommand::Edit(args) => edit::run(session, &args),
        TaskCommand::Set(args) => set::run(session, &args),
        TaskCommand::Rm(args) => rm::run(session, &args),
        TaskCommand::Tree(args) => tree::run(session, &args),
        TaskCommand::Graph(args) => graph::run(session, &args),
        TaskCommand::Search(args) => search::run(session, &args),
        TaskCommand::Archive(args) => archive::run(session, &args),
        TaskCommand::Diff(args) => diff::run(session, &args),
    }
}

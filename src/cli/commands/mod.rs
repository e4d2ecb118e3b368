//! One file per command: its options to a verb, the verb's answer to the screen.

mod add;
mod archive;
mod artifact;
mod block;
mod board;
mod claim;
mod commit;
mod config;
mod diff;
mod doctor;
mod edit;
mod graph;
mod hook;
mod init;
mod log;
mod ls;
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
mod serve;
mod set;
mod setup;
mod share;
mod shell;
mod show;
mod split;
mod status;
mod sync;
mod team;
mod tree;
mod trust;
mod wait;
mod watch;
mod why;
mod worker;
mod workflow;
mod worktree;

use super::args::{Command, Task};
use super::{Answer, Session};

pub fn run(session: &Session<'_>, command: Command) -> Answer {
    match command {
        Command::Init(args) => init::run(session, &args),
        Command::Task(command) => task(session, command),
        Command::Block(args) => block::block(session, &args),
        Command::Unblock(args) => block::unblock(session, &args),
        Command::Note(args) => note::run(session, &args),
        Command::Move(args) => moves::run(session, &args),
        Command::Done(args) => moves::to(session, &args, "__CLOSE__"),
        Command::Cancel(args) => moves::to(session, &args, "__CANCEL__"),
        Command::Escalate(args) => moves::to(session, &args, "__ESCALATE__"),
        Command::Claim(args) => claim::claim(session, &args),
        Command::Renew(args) => claim::renew(session, &args),
        Command::Release(args) => claim::release(session, &args),
        Command::Reap => claim::reap(session),
        Command::Next(args) => next::run(session, &args),
        Command::Run(args) => run::run(session, &args),
        Command::Worker(args) => worker::run(session, &args),
        Command::Team(args) => team::team(session, &args),
        Command::Hero(args) => team::hero(session, &args),
        Command::Runs(args) => runs::run(session, &args),
        Command::Guarded(args) => run::guarded(&args),
        Command::Become(args) => run::become_program(&args),
        Command::Wait(args) => wait::run(session, &args),
        Command::Watch(args) => watch::run(session, &args),
        Command::Why(args) => why::run(session, &args),
        Command::Status(args) => status::run(session, &args),
        Command::Position(args) => place::position(session, &args),
        Command::Group(args) => place::group(session, &args),
        Command::Advance(args) => place::advance(session, &args),
        Command::Workflow(args) => workflow::run(session, &args),
        Command::Worktree(command) => worktree::run(session, &command),
        Command::Artifact(command) => artifact::run(session, &command),
        Command::Split(args) => split::run(session, &args),
        Command::Plan(command) => split::plan(session, &command),
        Command::Prompt(args) => prompt::run(session, &args),
        Command::Commit(args) => commit::run(session, &args),
        Command::Pr(args) => pr::run(session, &args),
        Command::Merge(args) => merge::run(session, &args),
        Command::Pull(args) => share::pull(session, &args),
        Command::Push(args) => share::push(session, &args),
        Command::Sync(args) => sync::run(session, args),
        Command::Claims(command) => claim::list(session, &command),
        Command::Log(args) => log::log(session, &args),
        Command::Undo(args) => log::undo(session, &args),
        Command::Doctor(args) => doctor::run(session, &args),
        Command::Config(command) => config::run(session, &command),
        Command::Trust(args) => trust::run(session, &args),
        Command::Hook(args) => hook::run(session, &args),
        Command::Setup(command) => setup::run(session, &command),
        Command::Board(args) => board::run(session, &args),
        Command::Serve(args) => serve::serve(session, &args),
        Command::Report(args) => serve::report(session, &args),
        Command::Mcp(args) => mcp::run(session, &args),
        Command::Completions(args) => shell::completions(session, &args),
        Command::Man(args) => shell::man(session, &args),
        Command::MergeDriver(args) => merge_driver::run(session, &args),
    }
}

fn task(session: &Session<'_>, command: Task) -> Answer {
    match command {
        Task::Ls(args) => ls::run(session, &args),
        Task::Add(args) => add::run(session, args),
        Task::Show(args) => show::run(session, &args),
        Task::Edit(args) => edit::run(session, &args),
        Task::Set(args) => set::run(session, &args),
        Task::Rm(args) => rm::run(session, &args),
        Task::Tree(args) => tree::run(session, &args),
        Task::Graph(args) => graph::run(session, &args),
        Task::Search(args) => search::run(session, &args),
        Task::Archive(args) => archive::run(session, &args),
        Task::Diff(args) => diff::run(session, &args),
    }
}

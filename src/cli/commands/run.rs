//! `ralph run`: a program under a claim that lives as long as it does.
//!
//! Three processes: ralph, which waits; its guard, which holds the claim's lock and ends everything below it when ralph is
//! gone, in whatever way; and the program, which ends with its guard.

use std::io::IsTerminal as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};

use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_child_subreaper, set_parent_process_death_signal,
};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::app::{self, Code, Confinement, Failure, Hint, Request};
use crate::cli::args::{BecomeArgs, GuardedArgs, RunArgs};
use crate::cli::{Answer, Outcome, Session};
use crate::fs;

pub fn run(session: &Session<'_>, args: &RunArgs) -> Answer {
    session.with(|ws| {
        let id = ws.find(&args.task)?;
        // Before the program starts, so that no signal falls between.
        let signals = watched(&[])?;
        let mut guard = itself()?;
        guard.arg("guarded").arg(std::process::id().to_string());
        let asked = Request::claim(&id, args.acting.command.as_deref());
        let mut running = app::start_run(ws, &asked, args.reach.reach(), guard, &args.program)?;
        pass_on(signals, running.child.id());
        let status = running.wait(ws)?;
        match running.finish(ws) {
            Ok(Some(back)) if back.from != back.to => {
                session.out.say(&format!("{} is free again: {} → {}", back.task, back.from, back.to));
            }
            Ok(_) => {}
            // The program's own end is what was asked for.
            Err(failure) => session.out.say(&format!("warning: {id} could not be given back: {}", failure.message)),
        }
        Ok(Outcome::Code(code(status)))
    })
}

pub(super) fn watched(more: &[i32]) -> Result<Signals, Failure> {
    let signals = Signals::new([&[SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2], more].concat());
    signals.map_err(|error| Failure::broken(Code::Signals, format!("cannot watch for signals: {error}")))
}

/// This program once more.
pub(super) fn itself() -> Result<Command, Failure> {
    let exe = std::env::current_exe()
        .map_err(|error| Failure::broken(Code::NoExe, format!("cannot find this program: {error}")))?;
    Ok(Command::new(exe))
}

/// Passes signals on to a child. Ctrl-C at a terminal reaches it by itself, so that one is passed only where there is none.
/// The kernel's word that ralph is gone is the end of everything below. It comes by a signal of its own: at that instant the
/// parent's number may still be that of a ralph whose other threads are dying.
fn pass_on(mut signals: Signals, child: u32) {
    let at_terminal = std::io::stdin().is_terminal();
    std::thread::spawn(move || {
        let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return };
        for number in signals.forever() {
            let signal = match number {
                SIGALRM => end_everything(),
                SIGINT if at_terminal => continue,
                SIGINT => Signal::INT,
                SIGHUP => Signal::HUP,
                SIGTERM => Signal::TERM,
                SIGUSR1 => Signal::USR1,
                _ => Signal::USR2,
            };
            let _ = kill_process(pid, signal);
        }
    });
}

fn is_parent(pid: i32) -> bool {
    getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == pid)
}

/// As a shell tells it: 128 and the signal's number for a program that was killed.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(255)
}

/// HeldLocks the claim's lock while the program runs, and ends it with all its offspring when ralph dies.
pub fn guarded(args: &GuardedArgs) -> Answer {
    let signals = watched(&[SIGALRM])?;
    let _ = set_parent_process_death_signal(Some(Signal::ALARM));
    // Whoever is left by its own parent comes to us, so that nobody slips away.
    let _ = set_child_subreaper(Some(getpid()));
    if !is_parent(args.parent) {
        return Err(Failure::broken(Code::Orphan, "ralph is gone, and the claim with it"));
    }
    let _hold = app::hold_lock(&args.lock)?;
    let mut program = itself()?;
    program.arg("become").arg(std::process::id().to_string());
    if let Some(file) = &args.confine {
        program.arg("--confine").arg(file);
    }
    program.arg("--").args(&args.program);
    let started = program.spawn();
    let mut child =
        started.map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start the program: {error}")))?;
    pass_on(signals, child.id());
    let status = child.wait();
    if status.as_ref().is_ok_and(|status| status.signal().is_some()) {
        // Killed, perhaps together with ralph, whose end may take a moment to show.
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    if !is_parent(args.parent) {
        end_everything();
    }
    if args.sweep {
        sweep();
    }
    let status =
        status.map_err(|error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}")))?;
    Ok(Outcome::Code(code(status)))
}

/// Asks the kernel to be killed when the guard dies, then becomes the program.
pub fn become_program(args: &BecomeArgs) -> Answer {
    let [program, arguments @ ..] = args.program.as_slice() else {
        return Err(Failure::usage(Code::NoProgram, "run what?"));
    };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It died before we asked: the wish would never be granted.
    if !is_parent(args.parent) {
        return Err(Failure::broken(Code::Orphan, "ralph is gone, and the claim with it"));
    }
    if let Some(file) = &args.confine {
        confine(file)?;
    }
    let error = Command::new(program).args(arguments).exec();
    let failure = Failure::broken(Code::CannotStart, format!("cannot start {program:?}: {error}"));
    Err(failure.hint(Hint::step("use a program on your PATH, or its full path")))
}

/// Lets this process, and the program that it becomes, write only where the file says.
fn confine(file: &std::path::Path) -> Result<(), Failure> {
    let text = fs::read_text(file)?.unwrap_or_default();
    let broken = |error: String| Failure::broken(Code::NoSandbox, format!("{}: {error}", file.display()));
    let confinement: Confinement = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    app::confine(&confinement).map_err(|error| broken(error.to_string()))
}

/// Kills all that descends from this process, then ends it; the lock goes when they are gone.
pub(super) fn end_everything() -> ! {
    sweep();
    std::process::exit(137)
}

/// Kills all that descends from this process.
fn sweep() {
    static ENDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // Whoever comes second waits for the first.
    let _ending = ENDING.lock();
    let mut alone = 0;
    for _ in 0..200 {
        let below = descendants(getpid().as_raw_nonzero().get());
        // Who is handed from a dying parent to us can be missed in one look, not in two.
        alone = if below.is_empty() { alone + 1 } else { 0 };
        if alone > 1 {
            break;
        }
        for pid in below.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The living processes below one, however deep.
fn descendants(root: i32) -> Vec<i32> {
    let mut below = vec![root];
    let parents = app::living_processes();
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        below.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    below.split_off(1)
}

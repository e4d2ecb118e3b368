//! `ralph run`: runs a program under a claim that is held while the program runs.
//!
//! Three processes: ralph, which waits; its guard, which holds the claim's lock and kills all its descendants when ralph
//! ends for any reason; and the program, which ends with its guard.

use std::io::IsTerminal as _;
use std::process::{Command, ExitStatus};

use crate::app::{self, Code, Confinement, Failure, Hint, Request};
use crate::cli::args::{BecomeArgs, GuardedArgs, RunArgs};
use crate::cli::{Answer, Outcome, Session};
use crate::fs;
use crate::os::Signal;
use crate::os::process;
use crate::os::signals::SignalListener;

/// The signals that are passed on to a program.
const PASSED: [Signal; 5] = [Signal::HangUp, Signal::Interrupt, Signal::Terminate, Signal::User1, Signal::User2];

pub fn run(session: &Session<'_>, args: &RunArgs) -> Answer {
    session.with(|ws| {
        let id = ws.find(&args.task)?;
        // Listens before the program starts, so that no signal is missed.
        let signals = listen(&PASSED)?;
        let mut guard = itself()?;
        guard.arg("guarded").arg(std::process::id().to_string());
        let asked = Request::claim(&id, args.acting.command.as_deref());
        let mut running = app::start_run(ws, &asked, args.reach.reach(), guard, &args.program)?;
        pass_on(signals, running.child.id());
        let status = running.wait(ws)?;
        let lapsed = running.lapse();
        match running.finish(ws) {
            Ok(Some(back)) if back.from != back.to => {
                session.out.say(&format!("{} released: {} → {}", back.task, back.from, back.to));
            }
            Ok(_) => {}
            // The exit code is the program's, so a failed release is only a warning.
            Err(failure) => session.out.say(&format!("warning: cannot release {id}: {}", failure.message)),
        }
        lapsed?;
        Ok(Outcome::Code(code(&status)))
    })
}

pub(super) fn listen(wanted: &[Signal]) -> Result<SignalListener, Failure> {
    SignalListener::new(wanted)
        .map_err(|error| Failure::broken(Code::Signals, format!("cannot listen for signals: {error}")))
}

/// The path of this program.
pub(super) fn itself() -> Result<Command, Failure> {
    let exe = std::env::current_exe()
        .map_err(|error| Failure::broken(Code::NoExe, format!("cannot find this program: {error}")))?;
    Ok(Command::new(exe))
}

/// Passes signals on to a child. A terminal sends Ctrl-C to the child itself, so it is passed on only without one. When ralph
/// ends, all descendants of this process are killed.
fn pass_on(signals: SignalListener, child: u32) {
    let at_terminal = std::io::stdin().is_terminal();
    std::thread::spawn(move || {
        for signal in signals {
            match signal {
                Signal::ParentExited => end_everything(),
                Signal::Interrupt if at_terminal => {}
                signal => process::send_signal(child, signal),
            }
        }
    });
}

fn code(status: &ExitStatus) -> u8 {
    u8::try_from(process::exit_code(status)).unwrap_or(255)
}

/// Kills a program and all its descendants when ralph ends, and holds the lock of its claim, if any, while it runs.
pub fn guarded(args: &GuardedArgs) -> Answer {
    let signals = listen(&[&PASSED[..], &[Signal::ParentExited]].concat())?;
    process::signal_on_parent_exit(args.parent);
    process::adopt_orphans();
    if !process::is_parent(args.parent) {
        return Err(Failure::broken(Code::Orphan, "ralph has ended, so the claim is lost"));
    }
    let hold = args.lock.as_deref().map(app::hold_lock).transpose()?;
    if let Some(hold) = &hold {
        hold.share();
    }
    let mut program = itself()?;
    program.arg("become").arg(std::process::id().to_string());
    if let Some(file) = &args.confine {
        program.arg("--confine").arg(file);
    }
    program.arg("--").args(&args.program);
    let started = process::spawn_bound(&mut program);
    let mut child =
        started.map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start the program: {error}")))?;
    pass_on(signals, child.id());
    let status = child.wait();
    if status.as_ref().is_ok_and(process::was_killed) {
        // Ralph may have ended at the same time, which may take a moment to become visible.
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    if !process::is_parent(args.parent) {
        end_everything();
    }
    if args.sweep {
        process::kill_descendants();
    }
    let status =
        status.map_err(|error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}")))?;
    Ok(Outcome::Code(code(&status)))
}

/// Asks to be killed when the guard dies, then becomes the program.
pub fn become_program(args: &BecomeArgs) -> Answer {
    let [program, arguments @ ..] = args.program.as_slice() else {
        return Err(Failure::usage(Code::NoProgram, "no program was given"));
    };
    process::die_with_parent();
    // The parent died before the request, so the kernel would never send the signal.
    if !process::is_parent(args.parent) {
        return Err(Failure::broken(Code::Orphan, "ralph has ended, so the claim is lost"));
    }
    if let Some(file) = &args.confine {
        confine(file)?;
    }
    let mut command = process::program(program);
    command.args(arguments);
    let error = process::exec(command);
    let failure = Failure::broken(Code::CannotStart, format!("cannot start {program:?}: {error}"));
    Err(failure.hint(Hint::step("use a program on your PATH, or its full path")))
}

/// Restricts this process, and the program that it becomes, to the paths in the file.
fn confine(file: &std::path::Path) -> Result<(), Failure> {
    let text = fs::read_text(file)?.unwrap_or_default();
    let broken = |error: String| Failure::broken(Code::NoSandbox, format!("{}: {error}", file.display()));
    let confinement: Confinement = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    app::confine(&confinement).map_err(|error| broken(error.to_string()))
}

/// Kills all descendants of this process, then exits; the lock is released when all of them have ended.
pub(super) fn end_everything() -> ! {
    process::kill_descendants();
    std::process::exit(137)
}

//! `ralph run`: a program under a claim that lives as long as it does.

use std::io::IsTerminal as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};

use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::app::{self, Failure};
use crate::cli::args::{Guarded, Run};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &Run) -> Answer {
    session.with(|ws| {
        let id = ws.find(&args.task)?;
        // Before the program starts, so that no signal falls between.
        let signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2])
            .map_err(|error| Failure::broken("signals", format!("cannot watch for signals: {error}")))?;
        let mut running = app::start_run(ws, &id, args.acting.command.as_deref(), guard()?, &args.program)?;
        forward(signals, running.child.id());
        let status = running.child.wait();
        let status =
            status.map_err(|error| Failure::broken("wait", format!("cannot wait for the program: {error}")))?;
        let released = running.finish(ws)?;
        if let Some(back) = released.filter(|back| back.from != back.to) {
            session.out.say(&format!("{} is free again: {} → {}", back.task, back.from, back.to));
        }
        Ok(Outcome::Code(code(status)))
    })
}

/// This program once more, as the one that becomes the other.
fn guard() -> Result<Command, Failure> {
    let exe = std::env::current_exe()
        .map_err(|error| Failure::broken("no-exe", format!("cannot find this program: {error}")))?;
    let mut command = Command::new(exe);
    command.arg("guarded").arg(std::process::id().to_string()).arg("--");
    Ok(command)
}

/// Passes signals on. Ctrl-C at a terminal reaches the program by itself, so that one is passed only where there is none.
fn forward(mut signals: Signals, child: u32) {
    let at_terminal = std::io::stdin().is_terminal();
    std::thread::spawn(move || {
        let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return };
        for number in signals.forever() {
            let signal = match number {
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

/// As a shell tells it: 128 and the signal's number for a program that was killed.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(255)
}

/// Asks the kernel to be killed when ralph dies, then becomes the program.
pub fn guarded(args: &Guarded) -> Answer {
    let [program, arguments @ ..] = args.program.as_slice() else {
        return Err(Failure::usage("no-program", "run what?"));
    };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It died before we asked: the wish would never be granted.
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(args.parent) {
        return Err(Failure::broken("orphan", "ralph is gone, and the claim with it"));
    }
    let error = Command::new(program).args(arguments).exec();
    let failure = Failure::broken("cannot-start", format!("cannot start {program:?}: {error}"));
    Err(failure.advice("say a program that is on your PATH, or its whole path"))
}

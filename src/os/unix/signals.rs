//! Signals.

use std::io;

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

/// What asks a program to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    Interrupt,
    Terminate,
    HangUp,
    User1,
    User2,
    /// Whoever started this process is gone.
    ParentGone,
}

impl Heard {
    /// As a number of the system; 128 and this is the exit code of a program that it ends.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::HangUp => SIGHUP,
            Self::User1 => SIGUSR1,
            Self::User2 => SIGUSR2,
            Self::ParentGone => SIGALRM,
        }
    }

    /// Ends this process, as if it had not listened.
    pub fn carry_out(self) {
        let _ = signal_hook::low_level::emulate_default_handler(self.number());
    }
}

/// What is heard from now on, one after another.
pub struct Ears(signal_hook::iterator::Signals, Vec<Heard>);

impl Ears {
    pub fn open(wanted: &[Heard]) -> io::Result<Self> {
        let signals = signal_hook::iterator::Signals::new(wanted.iter().map(|heard| heard.number()))?;
        Ok(Self(signals, wanted.to_vec()))
    }
}

impl Iterator for Ears {
    type Item = Heard;

    fn next(&mut self) -> Option<Heard> {
        let number = self.0.forever().next()?;
        self.1.iter().find(|heard| heard.number() == number).copied()
    }
}

/// Somebody asks this process to end.
pub async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

//! Receiving signals.

use std::ffi::c_int;
use std::io;

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGUSR1, SIGUSR2};

use crate::os::Signal;

/// The number of the signal on this system; macOS and Linux differ.
pub(super) fn raw(signal: Signal) -> c_int {
    match signal {
        Signal::Interrupt => SIGINT,
        Signal::Terminate => SIGTERM,
        Signal::HangUp => SIGHUP,
        Signal::User1 => SIGUSR1,
        Signal::User2 => SIGUSR2,
        Signal::ParentExited => SIGALRM,
        Signal::Kill => SIGKILL,
    }
}

/// Ends this process as the signal would if it were not handled.
pub fn exit_by(signal: Signal) {
    let _ = signal_hook::low_level::emulate_default_handler(raw(signal));
}

/// Waits for each of the wanted signals.
pub struct SignalListener {
    signals: signal_hook::iterator::Signals,
    wanted: Vec<Signal>,
}

impl SignalListener {
    pub fn new(wanted: &[Signal]) -> io::Result<Self> {
        let signals = signal_hook::iterator::Signals::new(wanted.iter().map(|signal| raw(*signal)))?;
        Ok(Self { signals, wanted: wanted.to_vec() })
    }
}

impl Iterator for SignalListener {
    type Item = Signal;

    fn next(&mut self) -> Option<Signal> {
        let number = self.signals.forever().next()?;
        self.wanted.iter().find(|signal| raw(**signal) == number).copied()
    }
}

/// Waits until this process is asked to end.
#[cfg(any(feature = "mcp", feature = "web"))]
pub async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

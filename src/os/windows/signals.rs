//! Console events, received as signals.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

use crate::os::Signal;

/// Ends this process as the signal would if it were not handled.
pub fn exit_by(signal: Signal) {
    std::process::exit(128 + i32::from(signal.number()));
}

/// Waits for each of the wanted signals.
pub struct SignalListener(Receiver<Signal>);

impl SignalListener {
    pub fn new(wanted: &[Signal]) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // The handlers are installed when this returns.
        let events = runtime.block_on(async { Events::open() })?;
        let (sender, received) = channel();
        let wanted = wanted.to_vec();
        std::thread::spawn(move || runtime.block_on(events.forward(&wanted, &sender)));
        Ok(Self(received))
    }
}

impl Iterator for SignalListener {
    type Item = Signal;

    fn next(&mut self) -> Option<Signal> {
        self.0.recv().ok()
    }
}

struct Events {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Events {
    fn open() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.stop.recv() => Signal::Terminate,
            _ = self.close.recv() => Signal::HangUp,
            _ = self.shutdown.recv() => Signal::HangUp,
        }
    }

    async fn forward(mut self, wanted: &[Signal], sender: &Sender<Signal>) {
        loop {
            let signal = self.next().await;
            if wanted.contains(&signal) && sender.send(signal).is_err() {
                return;
            }
        }
    }
}

/// Waits until this process is asked to end.
#[cfg(any(feature = "mcp", feature = "web"))]
pub async fn terminated() {
    match Events::open() {
        Ok(mut events) => drop(events.next().await),
        Err(_) => std::future::pending().await,
    }
}

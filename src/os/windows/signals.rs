//! What a console tells its programs.

use std::io;
use std::sync::mpsc::{Receiver, channel};

use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// What asks a program to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    Interrupt,
    Terminate,
    HangUp,
    User1,
    User2,
    ParentGone,
}

impl Heard {
    /// As other systems number them; 128 and this is the exit code of a program that it ends.
    pub fn number(self) -> i32 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::User1 => 10,
            Self::User2 => 12,
            Self::ParentGone => 14,
            Self::Terminate => 15,
        }
    }

    /// Ends this process, as if it had not listened.
    pub fn carry_out(self) {
        std::process::exit(128 + self.number());
    }
}

/// What is heard from now on, one after another.
pub struct Ears(Receiver<Heard>);

impl Ears {
    pub fn open(wanted: &[Heard]) -> io::Result<Self> {
        let (sender, heard) = channel();
        let (ready, is_ready) = channel();
        let wanted = wanted.to_vec();
        std::thread::spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            runtime.block_on(async {
                let opened = (|| Ok((ctrl_c()?, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?)))();
                let (mut interrupt, mut stop, mut close, mut shutdown) = match opened {
                    Ok(all) => all,
                    Err(error) => return drop(ready.send(Err(error))),
                };
                let _ = ready.send(Ok(()));
                loop {
                    let heard = tokio::select! {
                        _ = interrupt.recv() => Heard::Interrupt,
                        _ = stop.recv() => Heard::Terminate,
                        _ = close.recv() => Heard::HangUp,
                        _ = shutdown.recv() => Heard::HangUp,
                    };
                    if !wanted.contains(&heard) {
                        continue;
                    }
                    if sender.send(heard).is_err() {
                        return;
                    }
                }
            });
        });
        is_ready.recv().map_err(io::Error::other)??;
        Ok(Self(heard))
    }
}

impl Iterator for Ears {
    type Item = Heard;

    fn next(&mut self) -> Option<Heard> {
        self.0.recv().ok()
    }
}

/// Somebody asks this process to end.
pub async fn ended() {
    let opened = (|| io::Result::Ok((ctrl_c()?, ctrl_break()?, ctrl_close()?)))();
    let Ok((mut interrupt, mut stop, mut close)) = opened else { return std::future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = stop.recv() => {}
        _ = close.recv() => {}
    }
}

//! The signals that ralph sends and receives.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
    /// The terminal is gone.
    HangUp,
    User1,
    User2,
    /// Tells a guard that its parent has ended, or that it must kill everything below it.
    ParentExited,
    /// Cannot be received.
    Kill,
}

impl Signal {
    /// The signal's number on Linux. 128 plus this is the exit code of a program that it ends.
    pub fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Kill => 9,
            Self::User1 => 10,
            Self::User2 => 12,
            Self::ParentExited => 14,
            Self::Terminate => 15,
        }
    }
}

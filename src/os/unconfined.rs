//! Stand-ins for systems where ralph cannot confine programs.

pub mod confine {
    use crate::os::{ConfineError, Confinement};

    pub fn is_supported() -> bool {
        false
    }

    pub fn enter(_: &Confinement) -> Result<(), ConfineError> {
        Err(ConfineError::Unsupported)
    }
}

/// Only used by confined programs, so it is empty here.
pub mod relay {
    use std::io;
    use std::path::Path;
    use std::process::Stdio;
    use std::time::Duration;

    pub enum Listener {}

    pub enum Line {}

    fn unsupported<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sandbox"))
    }

    impl Listener {
        pub fn bind(_: &Path) -> io::Result<Self> {
            unsupported()
        }

        pub fn next(&self, _: Duration) -> Option<Line> {
            match *self {}
        }
    }

    impl Line {
        pub fn call(_: &Path) -> io::Result<Self> {
            unsupported()
        }

        pub fn send_streams(&self) -> io::Result<()> {
            match *self {}
        }

        pub fn take_streams(&self) -> Option<[Stdio; 3]> {
            match *self {}
        }

        pub fn write_line(&self, _: &str) -> io::Result<()> {
            match *self {}
        }

        pub fn read_line(&self, _: u64) -> io::Result<String> {
            match *self {}
        }

        pub fn is_gone(&self, _: Duration) -> bool {
            match *self {}
        }
    }
}

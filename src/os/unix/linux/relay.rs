//! A Unix socket over which a caller passes its three standard streams.

use std::io::{self, BufRead as _, BufReader, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

pub struct Listener(UnixListener);

/// One connection.
pub struct Line(UnixStream);

/// The open folder of the socket: a path through /proc/self/fd stays below the limit of 107 bytes.
struct Near(OwnedFd);

impl Near {
    fn of(socket: &Path) -> io::Result<(Self, PathBuf)> {
        let near = Self(std::fs::File::open(socket.parent().unwrap_or(Path::new("/")))?.into());
        let name = socket.file_name().unwrap_or_default();
        let path = Path::new("/proc/self/fd").join(near.0.as_raw_fd().to_string()).join(name);
        Ok((near, path))
    }
}

fn pause(limit: Duration) -> Option<Timespec> {
    Timespec::try_from(limit).ok()
}

impl Listener {
    pub fn bind(socket: &Path) -> io::Result<Self> {
        let (_near, path) = Near::of(socket)?;
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// The next caller, if there is one within the time limit.
    pub fn next(&self, limit: Duration) -> Option<Line> {
        let mut waiting = [PollFd::new(&self.0, PollFlags::IN)];
        let _ = poll(&mut waiting, pause(limit).as_ref());
        let (stream, _) = self.0.accept().ok()?;
        stream.set_nonblocking(false).ok()?;
        Some(Line(stream))
    }
}

impl Line {
    pub fn call(socket: &Path) -> io::Result<Self> {
        let (_near, path) = Near::of(socket)?;
        UnixStream::connect(path).map(Self)
    }

    /// Passes on the standard streams of this process.
    pub fn send_streams(&self) -> io::Result<()> {
        let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
        let fds: [BorrowedFd<'_>; 3] = [input.as_fd(), output.as_fd(), errors.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(&self.0, &[IoSlice::new(&[0])], &mut control, SendFlags::empty())?;
        Ok(())
    }

    /// The caller's standard streams.
    pub fn take_streams(&self) -> Option<[Stdio; 3]> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        recvmsg(&self.0, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
        let mut found: Vec<OwnedFd> = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                found.extend(fds);
            }
        }
        let found: [OwnedFd; 3] = found.try_into().ok()?;
        Some(found.map(Stdio::from))
    }

    pub fn write_line(&self, text: &str) -> io::Result<()> {
        (&self.0).write_all(format!("{text}\n").as_bytes())
    }

    /// A line of at most `longest` bytes.
    pub fn read_line(&self, longest: u64) -> io::Result<String> {
        let mut line = String::new();
        BufReader::new((&self.0).take(longest)).read_line(&mut line)?;
        Ok(line)
    }

    /// Whether the other end closes the connection within the time limit.
    pub fn is_gone(&self, limit: Duration) -> bool {
        let mut watched = [PollFd::new(&self.0, PollFlags::RDHUP)];
        let _ = poll(&mut watched, pause(limit).as_ref());
        watched[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
    }
}

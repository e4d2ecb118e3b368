//! Two threads that carry out verbs and read the board: the screen never waits for a lock or a remote, and reading never
//! waits for verbs.

mod read;
mod verbs;

use std::collections::VecDeque;
use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::model::{Answer, Read, Verb};
use crate::app::{Code, Failure, Options, Workspace};

pub struct Desk {
    verbs: Sender<Verb>,
    reads: Sender<Read>,
}

impl Desk {
    /// Starts both threads, which run until the desk is dropped.
    pub fn open(options: &Options, answers: &Sender<Answer>) -> Self {
        let ((verbs, to_do), (reads, to_read)) = (channel(), channel());
        let (mine, tell) = (options.clone(), answers.clone());
        std::thread::spawn(move || to_do.iter().all(|verb| tell.send(done(&mine, verb)).is_ok()));
        let (mine, tell) = (options.clone(), answers.clone());
        std::thread::spawn(move || look(&mine, &to_read, &tell));
        Self { verbs, reads }
    }

    pub fn carry_out(&self, verb: Verb) -> Result<(), Failure> {
        self.verbs.send(verb).map_err(|_| gone())
    }

    pub fn read(&self, read: Read) -> Result<(), Failure> {
        self.reads.send(read).map_err(|_| gone())
    }
}

fn look(options: &Options, wanted: &Receiver<Read>, answers: &Sender<Answer>) {
    while let Ok(first) = wanted.recv() {
        let mut queue: VecDeque<Read> = std::iter::once(first).chain(wanted.try_iter()).collect();
        while let Some(read) = queue.pop_front() {
            // Of several queued reads of the same kind, only the last one is needed.
            if !queue.iter().any(|later| is_overtaken(&read, later)) && answers.send(looked(options, read)).is_err() {
                return;
            }
            queue.extend(wanted.try_iter());
        }
    }
}

fn is_overtaken(read: &Read, later: &Read) -> bool {
    let several = matches!(read, Read::Board { .. } | Read::Search(_) | Read::Workers | Read::Inbox);
    several && discriminant(read) == discriminant(later) || later == read
}

fn looked(options: &Options, read: Read) -> Answer {
    let answer = caught(|| read::read(&Workspace::open(options)?, &read));
    answer.unwrap_or_else(|failure| Answer::Unread { read, failure })
}

fn done(options: &Options, verb: Verb) -> Answer {
    let result = caught(|| {
        let ws = Workspace::open(options)?;
        let result = ws.finish(verbs::carry_out(&ws, &verb));
        result.map(|outcome| (outcome, ws.notices()))
    });
    match result {
        Ok((verbs::VerbOutcome { task, text }, notices)) => {
            let text = std::iter::once(text).chain(notices).collect::<Vec<_>>().join("; ");
            Answer::Done { verb, text, task }
        }
        Err(failure) => Answer::Refused { verb, failure },
    }
}

/// Turns a panic into a failure, so that the thread continues.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|fault| {
        let words = fault.downcast_ref::<String>().map(String::as_str).or(fault.downcast_ref::<&str>().copied());
        Err(Failure { causes: words.map(str::to_owned).into_iter().collect(), ..gone() })
    })
}

/// Reads the data for a request.
pub fn answer(ws: &Workspace, read: Read) -> Answer {
    read::read(ws, &read).unwrap_or_else(|failure| Answer::Unread { read, failure })
}

/// The failure if a thread has ended unexpectedly.
pub fn gone() -> Failure {
    Failure::broken(Code::Ended, "a thread of the board ended unexpectedly")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_one_job_is_told_in_its_words() {
        let told = caught(|| -> Result<(), Failure> { panic!("lane {}", 7) }).unwrap_err();
        assert_eq!((told.code, told.causes), (Code::Ended, vec!["lane 7".to_owned()]));
    }
}

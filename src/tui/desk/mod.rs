//! Where verbs are done and the board is read, on a thread of its own: the screen never waits for a lock or a remote.

mod read;
mod verbs;

use std::collections::VecDeque;
use std::mem::discriminant;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::model::{Answer, Read, Verb};
use crate::app::{Failure, Options, Workspace};

#[derive(Debug)]
pub enum Job {
    Read(Read),
    Do(Verb),
}

/// Takes jobs until nobody has any more.
pub fn open(options: Options, answers: Sender<Answer>) -> Sender<Job> {
    let (sender, jobs) = channel();
    std::thread::spawn(move || work(&options, &jobs, &answers));
    sender
}

fn work(options: &Options, jobs: &Receiver<Job>, answers: &Sender<Answer>) {
    while let Ok(first) = jobs.recv() {
        let mut queue: VecDeque<Job> = std::iter::once(first).chain(jobs.try_iter()).collect();
        while let Some(job) = queue.pop_front() {
            let answer = match job {
                // A burst of changes, or of letters: only the last of them is worth reading for.
                Job::Read(read) if queue.iter().any(|later| is_overtaken(&read, later)) => continue,
                Job::Read(read) => looked(options, read),
                Job::Do(verb) => done(options, verb),
            };
            if answers.send(answer).is_err() {
                return;
            }
            queue.extend(jobs.try_iter());
        }
    }
}

fn is_overtaken(read: &Read, later: &Job) -> bool {
    let several = matches!(read, Read::Board { .. } | Read::Search(_) | Read::Workers);
    matches!(later, Job::Read(other) if several && discriminant(read) == discriminant(other) || other == read)
}

fn looked(options: &Options, read: Read) -> Answer {
    let ws = Workspace::open(options);
    match ws.and_then(|ws| read::read(&ws, &read)) {
        Ok(answer) => answer,
        Err(failure) => Answer::Unread { read, failure },
    }
}

fn done(options: &Options, verb: Verb) -> Answer {
    let result = Workspace::open(options).and_then(|ws| {
        let result = verbs::carry_out(&ws, &verb);
        ws.finish();
        result.map(|outcome| (outcome, ws.notices()))
    });
    match result {
        Ok((verbs::Outcome::Done { task, text }, notices)) => {
            let text = std::iter::once(text).chain(notices).collect::<Vec<_>>().join("; ");
            Answer::Done { verb, text, task }
        }
        Ok((verbs::Outcome::Doubtful(problems), _)) => Answer::Doubtful { problems },
        Err(failure) => Answer::Refused { verb, failure },
    }
}

/// The board as it is now.
pub fn load(ws: &Workspace, filter: &str) -> Result<Answer, Failure> {
    read::read(ws, &Read::Board { filter: filter.to_owned() })
}

/// A part of the program that ended without a word.
pub fn gone() -> Failure {
    Failure::broken("ended", "a part of the board ended unexpectedly")
}

//! `ralph ask`, `answer`, `approve` and `reject`.

use crate::app::{self, Code, Failure, Hint, LineComment, QuestionAsk};
use crate::cli::args::{AnswerArgs, AskArgs, OneArgs, RejectArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn ask(session: &Session<'_>, args: &AskArgs) -> Answer {
    let asked = QuestionAsk {
        question: args.words.join(" "),
        options: args.options.clone(),
        recommend: args.recommend.clone(),
        command: args.acting.command.clone(),
    };
    let moved = session.with(|ws| app::ask(ws, &ws.find(&args.task)?, &asked))?;
    if session.out.json {
        session.out.json(&moved);
        return Ok(Outcome::Done);
    }
    let state = paint(style::state(&moved.to), &moved.to);
    session.out.text(&format!("{} question sent to the inbox  {state}\n", paint(style::ID, &moved.task)));
    session.out.say("stop working on this task; the answer will be in the prompt of its next run");
    Ok(Outcome::Done)
}

pub fn answer(session: &Session<'_>, args: &AnswerArgs) -> Answer {
    let done = session.with(|ws| app::answer(ws, &ws.find(&args.task)?, &args.words.join(" ")))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let state = paint(style::state(&done.to), &done.to);
    session.out.text(&format!("{} answered: {}  {state}\n", paint(style::ID, &done.task), done.answer));
    Ok(Outcome::Done)
}

pub fn approve(session: &Session<'_>, args: &OneArgs) -> Answer {
    let moved = session.with(|ws| app::approve(ws, &ws.find(&args.task)?))?;
    super::moves::tell_decision(session, moved)
}

pub fn reject(session: &Session<'_>, args: &RejectArgs) -> Answer {
    let comments: Vec<LineComment> = args.comments.iter().map(|text| comment(text)).collect::<Result<_, _>>()?;
    let moved = session.with(|ws| app::reject(ws, &ws.find(&args.task)?, &args.words.join(" "), &comments))?;
    super::moves::tell_decision(session, moved)
}

fn comment(typed: &str) -> Result<LineComment, Failure> {
    let mut parts = typed.splitn(3, ':');
    let (path, line, text) = (parts.next(), parts.next().and_then(|line| line.parse().ok()), parts.next());
    match (path, line, text.map(str::trim).filter(|text| !text.is_empty())) {
        (Some(path), Some(line), Some(text)) if !path.is_empty() => {
            Ok(LineComment { path: path.to_owned(), line, text: text.to_owned() })
        }
        _ => Err(Failure::usage(Code::BadValue, format!("{typed:?} is not a comment on a line"))
            .hint(Hint::option("--comment src/main.rs:41:TEXT", "to comment on line 41"))),
    }
}

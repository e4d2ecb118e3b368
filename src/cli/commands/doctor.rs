//! `ralph doctor`.

use crate::app::{self, DoctorFinding};
use crate::cli::args::DoctorArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &DoctorArgs) -> Answer {
    let diagnosis = session.with(|ws| app::doctor(ws, args.fix))?;
    // They are all in the answer.
    session.seen.borrow_mut().clear();
    let left = diagnosis.findings.iter().filter(|finding| !finding.fixed).count();
    if session.out.json {
        session.out.json(&diagnosis);
    } else {
        let mut text: String = diagnosis.findings.iter().map(entry).collect();
        let summary = if left == 0 { paint(style::READY, "the board is well") } else { words::count(left, "finding") };
        text.push_str(&format!("{} looked at: {summary}\n", words::count(diagnosis.tasks, "task")));
        text.extend(diagnosis.limits.iter().map(|limit| paint(style::DIM, format!("on this system: {limit}")) + "\n"));
        session.out.text(&text);
        if diagnosis.findings.iter().any(|finding| finding.fixable && !finding.fixed) {
            session.out.say("`ralph doctor --fix` puts right what is marked with *");
        }
    }
    Ok(if left == 0 { Outcome::Done } else { Outcome::Negative })
}

fn entry(finding: &DoctorFinding) -> String {
    let (mark, color) = match finding {
        found if found.fixed => ("fixed", style::READY),
        found if found.fixable => ("*", style::WARN),
        _ => ("-", style::WARN),
    };
    let advice = if finding.fixed { String::new() } else { format!("\n    {}", paint(style::DIM, &finding.advice)) };
    format!("{} {} {}{advice}\n", paint(color, mark), finding.message, paint(style::DIM, format!("[{}]", finding.code)))
}

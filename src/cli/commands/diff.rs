//! `ralph task diff`.

use crate::app::{self, DiffSide, FieldChange, TaskDiff};
use crate::cli::args::DiffArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, markdown, words};
use crate::task::Value;

pub fn run(session: &Session<'_>, args: &DiffArgs) -> Answer {
    let found = session.with(|ws| app::diff(ws, &args.from, args.to.as_deref()))?;
    if session.out.json {
        session.out.json(&found);
    } else if args.markdown {
        session.out.text(&as_markdown(&found));
    } else if found.is_empty() {
        session.out.say("no differences");
    } else {
        session.out.text(&found.iter().map(entry).collect::<String>());
    }
    Ok(Outcome::Done)
}

fn entry(diff: &TaskDiff) -> String {
    let (mark, color) = match diff.what {
        "added" => ("+", style::READY),
        "removed" => ("-", style::BLOCKED),
        _ => ("~", style::WARN),
    };
    let mut text = format!("{} {} {}\n", paint(color, mark), paint(style::ID, &diff.task), clean(&diff.title));
    if let Some(side) = diff.unreadable {
        text.push_str(&format!("    {}\n", unreadable(side)));
    } else if diff.what == "changed" {
        for change in &diff.changes {
            text.push_str(&format!("    {}\n", words::field(change)));
        }
        if diff.changes.is_empty() {
            text.push_str("    comments or layout\n");
        }
    }
    text
}

fn unreadable(side: DiffSide) -> &'static str {
    match side {
        DiffSide::New => "the file cannot be read; `ralph doctor` says why",
        DiffSide::Old => "the file could not be read before",
    }
}

/// The order of the rows: new tasks, moved ones, otherwise changed ones, removed ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    New,
    Moved,
    Edited,
    Removed,
}

impl Kind {
    const ALL: [Self; 4] = [Self::New, Self::Moved, Self::Edited, Self::Removed];

    fn of(diff: &TaskDiff) -> Self {
        match diff.what {
            "added" => Self::New,
            "removed" => Self::Removed,
            _ if diff.changes.iter().any(is_move) => Self::Moved,
            _ => Self::Edited,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Moved => "moved",
            Self::Edited => "edited",
            Self::Removed => "removed",
        }
    }
}

fn is_move(change: &FieldChange) -> bool {
    change.key.as_str() == "state"
}

fn as_markdown(found: &[TaskDiff]) -> String {
    if found.is_empty() {
        return "The board did not change.\n".into();
    }
    let mut sorted: Vec<&TaskDiff> = found.iter().collect();
    sorted.sort_by_key(|diff| Kind::of(diff));
    let count = |kind: Kind| sorted.iter().filter(|diff| Kind::of(diff) == kind).count();
    let counts = Kind::ALL.iter().map(|kind| (count(*kind), kind.word())).filter(|(count, _)| *count > 0);
    let summary = counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ");
    let row = |diff: &&TaskDiff| vec![format!("`{}`", diff.task), markdown::short(&diff.title, 100), changed(diff)];
    let rows: Vec<Vec<String>> = sorted.iter().map(row).collect();
    let tasks = words::count(found.len(), "task");
    format!("{tasks} changed: {summary}\n\n{}", markdown::table(&["Task", "Title", "Change"], &rows, "tasks"))
}

/// The last cell: the state first, then every other field.
fn changed(diff: &TaskDiff) -> String {
    let kind = Kind::of(diff);
    if let Some(side) = diff.unreadable {
        return format!("**{}**: {}", kind.word(), unreadable(side));
    }
    let state = diff.changes.iter().find(|change| is_move(change));
    match kind {
        Kind::New => state.map_or("**new**".into(), |state| format!("**new** in {}", shown(state.new.as_ref()))),
        Kind::Removed => {
            state.map_or("**removed**".into(), |state| format!("**removed**, was {}", shown(state.old.as_ref())))
        }
        Kind::Moved | Kind::Edited => {
            let rest = diff.changes.iter().filter(|change| !is_move(change)).map(field);
            let all: Vec<String> =
                state.map(|state| format!("**moved** {}", values(state))).into_iter().chain(rest).collect();
            if all.is_empty() { "comments or layout".into() } else { all.join("<br>") }
        }
    }
}

/// One changed field. A long text is only named.
fn field(change: &FieldChange) -> String {
    let key = markdown::short(change.key.as_str(), 60);
    match change.key.as_str() {
        "description" => format!("{key} changed"),
        _ => format!("{key}: {}", values(change)),
    }
}

fn values(change: &FieldChange) -> String {
    format!("{} → {}", shown(change.old.as_ref()), shown(change.new.as_ref()))
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".into(), |value| markdown::short(&value.to_string(), 60))
}

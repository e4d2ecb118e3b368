//! A marked section of ralph in a user's file.

use std::path::Path;

use super::{Done, PlannedFile, SetUpHow};
use crate::app::Failure;
use crate::fs;
use crate::task::Problem;

/// The first and the last line of ralph's section in a file.
pub(super) type Marks = (&'static str, &'static str);
pub(super) const HASHES: Marks = ("# ralph: begin (written by `ralph setup`)", "# ralph: end");
pub(super) const COMMENTS: Marks = ("<!-- ralph: begin (written by `ralph setup`) -->", "<!-- ralph: end -->");

/// A section between marks. A new one is added at the end of the file; the rest of the file is unchanged.
pub(super) fn block(
    root: &Path,
    path: &str,
    how: SetUpHow,
    (begin, end): Marks,
    text: &str,
    unless: &str,
) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(path))?;
    let planned = |done, why: Option<&str>, text| {
        Ok(Some(PlannedFile { path: path.to_owned(), done, why: why.map(str::to_owned), text }))
    };
    let Some(there) = there else {
        return match how {
            SetUpHow::Write => planned(Done::Created, None, Some(format!("{begin}\n{text}{end}\n"))),
            SetUpHow::Remove => Ok(None),
        };
    };
    let found = there.find(begin).and_then(|at| Some((at, at + there[at..].find(end)? + end.len())));
    if there.contains(begin) && found.is_none() {
        let problem = Problem::whole(path, format!("the line {end:?} is missing"));
        return Err(problem.hint("restore it, or remove the section that `ralph setup` wrote").into());
    }
    let rest = found.map_or_else(
        || there.clone(),
        |(from, to)| format!("{}{}", &there[..from], there[to..].strip_prefix('\n').unwrap_or(&there[to..])),
    );
    match how {
        SetUpHow::Write if !unless.is_empty() && rest.contains(unless) => {
            planned(Done::Kept, Some("it already has an entry for ralph"), None)
        }
        SetUpHow::Write => {
            let ours = format!("{begin}\n{text}{end}\n");
            let new = match found {
                Some((from, to)) => format!("{}{}{}", &there[..from], ours.trim_end(), &there[to..]),
                None if there.is_empty() || there.ends_with("\n\n") => format!("{there}{ours}"),
                None if there.ends_with('\n') => format!("{there}\n{ours}"),
                None => format!("{there}\n\n{ours}"),
            };
            planned(if new == there { Done::Unchanged } else { Done::Updated }, None, Some(new))
        }
        SetUpHow::Remove if found.is_none() => planned(Done::Unchanged, None, None),
        SetUpHow::Remove => {
            let left =
                Some(rest.trim_end_matches('\n')).filter(|rest| !rest.is_empty()).map(|rest| format!("{rest}\n"));
            planned(Done::Removed, None, left)
        }
    }
}

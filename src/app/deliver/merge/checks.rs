//! Runs the checks of a merge on its result, and keeps the failed one as feedback on the task.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{MergeStep, merged};
use crate::app::records::checks::{CheckResult, record_check};
use crate::app::repo::bootstrap::exit_words;
use crate::app::repo::worktree::{Place, place};
use crate::app::work::feedback::{LOCAL_CHECK, Said, take_in};
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::git::Style;
use crate::store::Note;
use crate::task::TaskId;

/// How many lines of a check's output a failure shows.
const SHOWN: usize = 20;

/// The commits that were checked; the result is valid until one of them changes.
pub(super) struct Checked {
    pub programs: usize,
    tip: String,
    main: String,
}

impl Checked {
    pub fn still_hold(&self, ws: &Workspace, place: &Place, into: &str) -> Result<bool, Failure> {
        Ok(ws.repository.tip_of(&place.branch)? == self.tip && ws.repository.tip_of(into)? == self.main)
    }
}

/// Runs the checks on the result of the merge. If the branch is behind main, main is merged into it first.
pub(super) fn checked(
    ws: &Workspace,
    id: &TaskId,
    place: &Place,
    into: &str,
    tell: &mut dyn FnMut(MergeStep<'_>),
) -> Result<Checked, Failure> {
    let has_checks = !ws.settings.programs("merge.checks").is_empty();
    if has_checks {
        require_trust(ws)?;
        let lock = ws.lock()?;
        let forward_only = ws.settings.text("merge.style") == "ff";
        if !forward_only && ws.repository.distance(&place.branch, into)?.behind > 0 {
            tell(MergeStep::Updating(&place.branch));
            let board = ws.family(id)?;
            let message = format!("Merge {into} into {}\n", place.branch);
            let landing = merged(ws, &lock, &board, id, [&place.branch, into], Style::Merge, &message)?;
            ws.repository.land(&landing)?;
        }
    }
    let (tip, main) = (ws.repository.tip_of(&place.branch)?, ws.repository.tip_of(into)?);
    Ok(Checked { programs: run_checks(ws, place, tell)?, tip, main })
}

/// Runs each check in the task's worktree, until one fails.
fn run_checks(ws: &Workspace, place: &Place, tell: &mut dyn FnMut(MergeStep<'_>)) -> Result<usize, Failure> {
    let checks = ws.settings.programs("merge.checks");
    if checks.is_empty() {
        return Ok(0);
    }
    if ws.repository.worktree_at(&place.path)?.is_none_or(|there| there.branch.as_deref() != Some(&place.branch)) {
        return Err(Failure::refused(Code::NoWorktree, format!("{} has no worktree to run the checks in", place.task))
            .hint(Hint::Worktree { task: place.task.clone() }));
    }
    let log = ws.store.local().join(format!("logs/merge-{}.log", place.task));
    fs::make_dir(&ws.store.local().join("logs"))?;
    fs::write_over(&log, b"", false)?;
    let commit = ws.repository.tip_of(&place.branch)?;
    for check in &checks {
        tell(MergeStep::Check(check));
        let before = fs::metadata(&log)?.map_or(0, |meta| meta.len());
        let ended = run_check(ws, place, check, &log);
        let tail = fs::last_lines(&fs::read_from(&log, before)?, SHOWN);
        let passed = ended.is_ok();
        let result = CheckResult { program: check.clone(), passed, at: ws.now(), commit: commit.clone(), tail };
        record_check(ws, &place.task, result)?;
        ended?;
    }
    resolve_checks(ws, &place.task)?;
    Ok(checks.len())
}

fn run_check(ws: &Workspace, place: &Place, check: &[String], log: &Path) -> Result<(), Failure> {
    let shown = check.join(" ");
    let failed = |how: String| Failure::refused(Code::CheckFailed, format!("the check `{shown}` {how}"));
    let output = || {
        let file = fs::open_log(log).map_err(|error| error.source)?;
        Ok::<_, std::io::Error>((Stdio::from(file.try_clone()?), Stdio::from(file)))
    };
    let (out, err) = output().map_err(|error| failed(format!("cannot open its log: {error}")))?;
    let mut program = Command::new(&check[0]);
    program.args(&check[1..]).current_dir(&place.path).stdin(Stdio::null()).stdout(out).stderr(err);
    program.env("RALPH_TASK", place.task.as_str()).env("RALPH_BOARD", ws.store.root());
    program.env("RALPH_WORKTREE", &place.path).env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE");
    let status = program.status().map_err(|error| failed(format!("cannot start: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let mut failure = failed(format!("failed ({})", exit_words(&status)));
    failure.causes = fs::tail(log, SHOWN)?.lines().map(str::to_owned).collect();
    Err(failure.hint(Hint::step(format!("see {} for the full output", log.display()))))
}

/// Every check of `merge.checks` has passed, so none is open any more.
pub(super) fn resolve_checks(ws: &Workspace, task: &TaskId) -> Result<(), Failure> {
    let is_open = |note: &Note| {
        let point = note.facts.point.as_deref().unwrap_or_default();
        point.starts_with(LOCAL_CHECK) && !note.facts.resolved
    };
    match ws.store.notes(task)?.iter().any(is_open) {
        true => take_in(ws, task, &[], &|point| point.starts_with(LOCAL_CHECK)).map(|_| ()),
        false => Ok(()),
    }
}

/// Records a failed check of `merge.checks` as feedback on the task.
pub(super) fn keep_failed_check(ws: &Workspace, id: &TaskId, failure: &Failure) -> Result<(), Failure> {
    let place = place(ws, &ws.family(id)?, id)?;
    let said: String = failure.causes.iter().map(|cause| format!("    {cause}\n")).collect();
    let said = Said {
        point: format!("{LOCAL_CHECK}{}", failure.message),
        by: "merge".into(),
        at: ws.now(),
        text: format!("{}\n\n{said}", failure.message),
        path: None,
        line: None,
        url: None,
        last: ws.repository.tip_of(&place.branch)?,
    };
    take_in(ws, &place.task, &[said], &|point| point.starts_with(LOCAL_CHECK)).map(|_| ())
}

//! Budgets: limits of what agents may use in this repository. Only runs of this clone count. A current run counts as a
//! run, and with its tokens and cost once they are reported.

use std::path::PathBuf;

use jiff::{Timestamp, Zoned};

use crate::app::records::costs::Spent;
use crate::app::records::runs::{Run, list_runs};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::config::Budget;
use crate::fs;
use crate::task::TaskId;

/// Whether any budget is set.
pub(in crate::app) fn any_budget(ws: &Workspace) -> bool {
    ["budget.task", "budget.team", "budget.day"].into_iter().any(|key| ws.settings.budget(key).is_some())
}

/// Why `budget.task` forbids another run on a task, if it does.
pub(in crate::app) fn task_budget(ws: &Workspace, task: &TaskId) -> Result<Option<Failure>, Failure> {
    check(ws, "budget.task", &|run| run.task == *task)
}

/// Why `budget.team` or `budget.day` forbids another run for some teams, if one does.
pub(in crate::app) fn shared_budget(ws: &Workspace, teams: &[TaskId]) -> Result<Option<Failure>, Failure> {
    let of_team = |run: &Run| run.team.as_ref().is_some_and(|team| teams.contains(team));
    if let Some(failure) = check(ws, "budget.team", &of_team)? {
        return Ok(Some(failure));
    }
    let midnight = Zoned::now().start_of_day().map_or(Timestamp::UNIX_EPOCH, |day| day.timestamp());
    check(ws, "budget.day", &|run| run.started >= midnight)
}

/// What to tell a person whose task has used its budget.
pub(in crate::app) fn raise_task_budget(task: &TaskId, failure: &Failure) -> String {
    let how = match failure.code {
        Code::BudgetReached => "raise it",
        _ => "use a unit that the agent reports",
    };
    format!("{}: {how} with `ralph config set budget.task AMOUNT`, then `ralph runs retry {task}`", failure.message)
}

fn check(ws: &Workspace, key: &'static str, counts: &dyn Fn(&Run) -> bool) -> Result<Option<Failure>, Failure> {
    let Some(budget) = ws.settings.budget(key) else { return Ok(None) };
    let runs = list_runs(ws, None, usize::MAX)?;
    let counted: Vec<&Run> = runs.iter().filter(|run| run.is_agents() && counts(run)).collect();
    Ok(over(key, budget, &counted))
}

fn over(key: &'static str, budget: Budget, runs: &[&Run]) -> Option<Failure> {
    let spent = Spent::of(runs.iter().copied());
    if spent.reaches(budget) {
        return Some(
            Failure::refused(Code::BudgetReached, reached(key, budget, &spent))
                .hint(Hint::run("costs", "to see what was used"))
                .hint(Hint::set(key, "AMOUNT", "to raise it")),
        );
    }
    // Killed programs could not report their usage. A program that exited without reporting will not report next time
    // either.
    let silent = |run: &&&Run| {
        let usage = run.usage.as_ref();
        run.code.is_some()
            && match budget {
                Budget::Usd(_) => usage.and_then(|usage| usage.cost_usd).is_none(),
                Budget::Tokens(_) => usage.is_none(),
                Budget::Runs(_) => false,
            }
    };
    let run = runs.iter().find(silent)?;
    let (unit, other) = match budget {
        Budget::Usd(_) if run.usage.is_some() => ("cost", "\"5M tokens\""),
        Budget::Usd(_) => ("cost", "\"20 runs\""),
        _ => ("tokens", "\"20 runs\""),
    };
    let program = run.program.first().map_or("the agent", String::as_str);
    let message = format!("{key} ({budget}) cannot be checked: {program} reported no {unit} for {}", run.id);
    Some(Failure::refused(Code::BudgetUnknown, message).hint(Hint::set(
        key,
        other,
        "to use a unit that the agent reports",
    )))
}

fn reached(key: &str, budget: Budget, spent: &Spent) -> String {
    let used = spent.shown_as(budget);
    match (used, budget) {
        (Budget::Usd(_), _) if used != budget => format!("{key} is exceeded: {used} spent, the limit is {budget}"),
        (Budget::Tokens(_), _) if used != budget => format!("{key} is exceeded: {used} used, the limit is {budget}"),
        (Budget::Tokens(count), _) => format!("{key} is used up ({count} of {budget})"),
        (Budget::Runs(count), _) => format!("{key} is used up ({count} of {budget})"),
        (Budget::Usd(_), _) => format!("{key} is used up ({used} of {budget})"),
    }
}

fn stopped_path(ws: &Workspace) -> PathBuf {
    ws.store.local().join("teams/out-of-budget.json")
}

/// Records that a team stopped because of a shared budget; the inbox shows it.
pub(in crate::app) fn note_stopped_team(ws: &Workspace, teams: &[TaskId]) -> Result<(), Failure> {
    fs::make_dir(&ws.store.local().join("teams"))?;
    let text = serde_json::to_string(teams).expect("ids are text");
    Ok(fs::replace(&stopped_path(ws), text.as_bytes(), false)?)
}

/// A new team is the answer to that.
pub(in crate::app) fn forget_stopped_team(ws: &Workspace) -> Result<(), Failure> {
    Ok(fs::remove(&stopped_path(ws))?)
}

/// The tasks of the team that a shared budget stopped, and the reason, unless the budget was raised or the day is over.
pub(in crate::app) fn stopped_team(ws: &Workspace) -> Result<Option<(Vec<TaskId>, Failure)>, Failure> {
    let Some(text) = fs::read_text(&stopped_path(ws))? else { return Ok(None) };
    let Ok(teams) = serde_json::from_str::<Vec<TaskId>>(&text) else { return Ok(None) };
    Ok(shared_budget(ws, &teams)?.map(|failure| (teams, failure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_used_up_or_exceeded_in_its_unit() {
        let spent = |cost: f64, tokens: u64, runs: usize| Spent {
            runs,
            input_tokens: Some(tokens),
            cached_tokens: Some(0),
            output_tokens: Some(0),
            cost_usd: Some(cost),
            ..Spent::default()
        };
        for (budget, spent, said) in [
            (Budget::Runs(3), spent(0.0, 0, 3), "b is used up (3 of 3 runs)"),
            (Budget::Runs(1), spent(0.0, 0, 1), "b is used up (1 of 1 run)"),
            (Budget::Usd(1.0), spent(1.2, 0, 1), "b is exceeded: $1.20 spent, the limit is $1.00"),
            (Budget::Usd(1.0), spent(1.0, 0, 1), "b is used up ($1.00 of $1.00)"),
            (Budget::Tokens(5), spent(0.0, 5, 1), "b is used up (5 of 5 tokens)"),
            (Budget::Tokens(5), spent(0.0, 7, 1), "b is exceeded: 7 tokens used, the limit is 5 tokens"),
        ] {
            assert_eq!(reached("b", budget, &spent), said);
        }
    }
}

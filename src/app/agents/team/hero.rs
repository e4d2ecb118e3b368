//! `hero`: runs the pipeline of a task in one process, one step at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{CrewView, Team, TeamDone, TeamNews, TeamView, TeamWanted, restep};
use crate::app::agents::worker::{Launch, Name, Shift, WorkerAsk, WorkerEvent, check_agents, take_name, unless_raced};
use crate::app::records::runs::OWN;
use crate::app::{Code, Failure, Options, Stop, Workspace};
use crate::board::Claim;
use crate::workflow::Role;

/// Runs until no step can start.
pub fn hero(
    options: &Options,
    wanted: &TeamWanted,
    launch: &Launch<'_>,
    stop: &Stop,
    tell: &mut dyn FnMut(&TeamNews, &TeamView),
) -> Result<TeamDone, Failure> {
    let ws = Workspace::open(&Options { worker: options.worker.clone(), ..options.clone() })?;
    if !wanted.dry_run {
        ws.exchange_by_itself();
        ws.exchange_now();
    }
    let mut team = Team::assemble(&ws, wanted)?;
    if wanted.dry_run {
        return team.foresee();
    }
    check_agents(&ws, &wanted.program)?;
    let names = names(&ws)?;
    for (role, name) in &names {
        team.asked.crew.insert(role.clone(), vec![name.worker.clone()]);
        team.view.workers.push(CrewView {
            worker: name.worker.clone(),
            role: role.clone(),
            doing: None,
            turns: 0,
            gone: None,
        });
    }
    let (new, board) = restep(&ws, &team.asked)?;
    team.view.steps = team.steps(&board);
    tell(&TeamNews::Steps { new }, &team.view);
    let spaces = workspaces(options, &names)?;
    let asked = WorkerAsk {
        teams: team.asked.teams.clone(),
        bough: wanted.bough,
        program: wanted.program.clone(),
        ..WorkerAsk::default()
    };
    let mut shifts: Vec<Shift<'_>> = spaces
        .iter()
        .zip(&names)
        .map(|(ws, (role, name))| Shift {
            ws,
            role: role.clone(),
            worker: name.worker.clone(),
            asked: &asked,
            launch,
            stop,
            left: BTreeMap::new(),
            exchanged: None,
            cut_off: None,
        })
        .collect();
    while !stop.soon() {
        team.wait_for_limit(&shifts, tell);
        if !team.one_thing(&mut shifts, tell)? {
            break;
        }
    }
    let stopped = stop.soon();
    ws.exchange_now();
    team.done(&ws.board()?, stopped, true)
}

/// Reserves a name for each role that has a command in this review mode, so that no other process uses it.
fn names(ws: &Workspace) -> Result<Vec<(String, Name)>, Failure> {
    let busy = |role: &&Role| ws.flow().commands_of(&role.name, ws.rules().mode).next().is_some();
    let roles = ws.flow().roles().iter().filter(busy);
    roles.map(|role| Ok((role.name.clone(), take_name(ws, &role.name, None)?))).collect()
}

fn workspaces(options: &Options, names: &[(String, Name)]) -> Result<Vec<Workspace>, Failure> {
    let as_worker = |(_, name): &(String, Name)| {
        let ws = Workspace::open(&Options { worker: Some(name.worker.to_string()), ..options.clone() })?;
        ws.exchange_by_itself();
        Ok(ws)
    };
    names.iter().map(as_worker).collect()
}

impl Team<'_> {
    /// The limit of the agent program applies to all roles.
    fn wait_for_limit(&self, shifts: &[Shift<'_>], tell: &mut dyn FnMut(&TeamNews, &TeamView)) {
        let Some(shift) = shifts.first() else { return };
        shift.wait_for_limit(&mut |event: &WorkerEvent| {
            tell(&TeamNews::Worker { worker: shift.worker.clone(), event: event.clone() }, &self.view);
        });
    }

    /// Runs the first step that can start; `false` if there is none.
    fn one_thing(
        &mut self,
        shifts: &mut [Shift<'_>],
        tell: &mut dyn FnMut(&TeamNews, &TeamView),
    ) -> Result<bool, Failure> {
        unless_raced(restep(self.ws, &self.asked).map(|(new, _)| new))?;
        let mut may_come = false;
        // Tasks further along the pipeline come first, so that started work is finished.
        for shift in shifts.iter_mut().rev() {
            let Some(job) = shift.choose()? else {
                may_come = may_come || (self.out_of_budget.is_none() && shift.is_resting(&self.ws.board()?)?);
                continue;
            };
            let needs_agent = !OWN.contains(&job.command.as_str());
            if needs_agent && self.out_of_budget.is_some() {
                continue;
            }
            let worker = shift.worker.clone();
            let done = shift.turn(&job, &mut |event| {
                self.note(&worker, event);
                tell(&TeamNews::Worker { worker: worker.clone(), event: event.clone() }, &self.view);
            });
            let done = match done {
                Err(failure) if matches!(failure.code, Code::BudgetReached | Code::BudgetUnknown) => {
                    self.out_of_budget = Some(failure);
                    return Ok(true);
                }
                done => done?,
            };
            self.view.steps = self.steps(&self.ws.board()?);
            tell(&TeamNews::Tick, &self.view);
            match done {
                Some(_) => return Ok(true),
                // Another worker holds the task.
                None => may_come = true,
            }
        }
        // A killed hero with these names left claims behind, whose guards will soon release their locks.
        let left = |claim: &Claim| claim.live && claim.held && shifts.iter().any(|shift| claim.is_of(&shift.worker));
        may_come = may_come || self.ws.board()?.claims().values().any(left);
        if may_come {
            std::thread::sleep(Duration::from_millis(100));
            tell(&TeamNews::Tick, &self.view);
        }
        Ok(may_come)
    }
}

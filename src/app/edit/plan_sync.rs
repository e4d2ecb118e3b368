//! `plan sync`: turns the `depends_on` of the phases of a plan into blockers of their tasks.

use serde::Serialize;

use crate::agent::document::{DocumentKind, Member, Phase, Subject, is_surely_name, phases};
use crate::app::records::artifact::{linked, subject};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Assignment, Board, Op, Refusal};
use crate::task::{Key, Task, TaskId};

#[derive(Debug, Serialize)]
pub struct PlanSynced {
    pub task: TaskId,
    pub path: String,
    pub added: Vec<Edge>,
    pub removed: Vec<Edge>,
    pub unchanged: Vec<Edge>,
    pub dry_run: bool,
}

/// `task` is blocked by `on`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    pub task: TaskId,
    pub on: TaskId,
}

pub fn plan_sync(ws: &Workspace, id: &TaskId, dry_run: bool) -> Result<PlanSynced, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let subject = subject(ws, &board, DocumentKind::Plan, id)?;
    let path = linked(&board, DocumentKind::Plan, &subject).ok_or_else(|| unlinked(&subject.task))?;
    let text = ws.store.text_of(&ws.store.root().join(&path))?;
    let text = text.ok_or_else(|| Failure::refused(Code::MissingArtifact, format!("{path} does not exist")))?;
    let plan = PlannedEdges::read(&board, &subject, &path, &text)?;
    let wanted = plan.edges()?;
    let mut done = PlanSynced {
        task: subject.task.clone(),
        path: path.clone(),
        added: Vec::new(),
        removed: plan.stale(ws, &wanted),
        unchanged: Vec::new(),
        dry_run,
    };
    for edge in wanted {
        let there = board.get(&edge.task).is_some_and(|task| task.blocked_by.contains(&edge.on));
        if there { done.unchanged.push(edge) } else { done.added.push(edge) }
    }
    let mut changes = Vec::new();
    for task in plan.tasks.iter().filter(|task| !ws.flow().is_terminal(task.kind, &task.state)) {
        let of =
            |edges: &[Edge]| edges.iter().filter(|edge| edge.task == task.id).map(|edge| edge.on.to_string()).collect();
        let key = || Key::new("blocked_by");
        let wanted = [Assignment::Drop(key(), of(&done.removed)), Assignment::Add(key(), of(&done.added))];
        changes.extend(crate::app::edit::set::changes(ws, &task.id, &wanted)?);
    }
    board.refuse_cycles(&changes).map_err(|refusal| plan.placed(refusal))?;
    if !dry_run && !changes.is_empty() {
        ws.commit(&lock, Op::new("plan sync", changes))?;
    }
    Ok(done)
}

fn unlinked(id: &TaskId) -> Failure {
    Failure::refused(Code::NoArtifact, format!("{id} has no plan")).hint(Hint::artifact("plan", id))
}

struct PlannedEdges<'a> {
    path: &'a str,
    board: &'a Board,
    /// Each phase with the tasks that it names.
    phases: Vec<(Phase, Vec<&'a Task>)>,
    tasks: Vec<&'a Task>,
}

impl<'a> PlannedEdges<'a> {
    fn read(board: &'a Board, subject: &Subject, path: &'a str, text: &str) -> Result<Self, Failure> {
        let mut plan = Self { path, board, phases: Vec::new(), tasks: Vec::new() };
        for phase in phases(text) {
            let mut named = Vec::new();
            for name in &phase.ids {
                named.extend(plan.part(subject, name, phase.line)?);
            }
            plan.tasks.extend(named.iter().copied());
            plan.phases.push((phase, named));
        }
        plan.tasks.sort_by(|a, b| a.id.cmp(&b.id));
        plan.tasks.dedup_by(|a, b| a.id == b.id);
        Ok(plan)
    }

    fn task(&self, name: &str) -> Option<&'a Task> {
        self.board.tasks().iter().find(|task| Member::of(task).is_called(name))
    }

    /// The task of the plan that a heading names. Plain words are not task names.
    fn part(&self, subject: &Subject, name: &str, line: u32) -> Result<Option<&'a Task>, Failure> {
        let Some(task) = self.task(name) else {
            return if is_surely_name(name) { Err(self.wrong(line, format!("no task {name}"))) } else { Ok(None) };
        };
        let atomic = |parent: &&TaskId| self.board.get(parent).is_some_and(|parent| parent.atomic);
        let family = self.board.get(&subject.task).and_then(|first| first.parent.as_ref()).filter(atomic);
        let inside = subject.members.iter().any(|member| member.id == task.id)
            || task.parent.as_ref() == Some(&subject.task)
            || (family.is_some() && task.parent.as_ref() == family);
        match inside {
            true => Ok(Some(task)),
            false => Err(self.wrong(line, format!("{name} is not a task of this plan, which is for {}", subject.task))),
        }
    }

    fn edges(&self) -> Result<Vec<Edge>, Failure> {
        let mut edges = Vec::new();
        for (phase, named) in &self.phases {
            for name in &phase.depends_on {
                let on = self.depends(phase, name)?;
                let pairs = named.iter().flat_map(|task| on.iter().map(move |on| (&task.id, on)));
                edges.extend(
                    pairs.filter(|(task, on)| task != on).map(|(task, on)| Edge { task: task.clone(), on: on.clone() }),
                );
            }
        }
        edges.sort();
        edges.dedup();
        Ok(edges)
    }

    /// The tasks that `phase-1`, an issue number or an id stands for.
    fn depends(&self, phase: &Phase, name: &str) -> Result<Vec<TaskId>, Failure> {
        let line = phase.depends_line.unwrap_or(phase.line);
        if let Some(number) = name.to_ascii_lowercase().strip_prefix("phase-").and_then(|n| n.parse::<u32>().ok()) {
            let Some((_, named)) = self.phases.iter().find(|(other, _)| other.number == number) else {
                return Err(self.wrong(line, format!("no phase {number}")));
            };
            return Ok(named.iter().map(|task| task.id.clone()).collect());
        }
        let task = self.task(name).ok_or_else(|| self.wrong(line, format!("no task {name}")))?;
        Ok(vec![task.id.clone()])
    }

    /// Blockers between tasks of the plan that the plan does not have. A phase without `depends_on` leaves its blockers
    /// alone.
    fn stale(&self, ws: &Workspace, wanted: &[Edge]) -> Vec<Edge> {
        let silent = |task: &Task| {
            let mut own = self.phases.iter().filter(|(_, named)| named.iter().any(|other| other.id == task.id));
            own.any(|(phase, _)| phase.depends_line.is_none())
        };
        let told = self.tasks.iter().filter(|task| !silent(task) && !ws.flow().is_terminal(task.kind, &task.state));
        let edges =
            told.flat_map(|task| task.blocked_by.iter().map(|on| Edge { task: task.id.clone(), on: on.clone() }));
        edges.filter(|edge| self.tasks.iter().any(|task| task.id == edge.on) && !wanted.contains(edge)).collect()
    }

    fn wrong(&self, line: u32, message: String) -> Failure {
        Failure::refused(Code::BadPlan, format!("{}:{line}: {message}", self.path)).hint(Hint::Edit {
            file: self.path.to_owned(),
            line,
            change: None,
        })
    }

    /// A dependency cycle, reported at the line that closes it.
    fn placed(&self, refusal: Refusal) -> Failure {
        let Refusal::Cycle { task, .. } = &refusal else { return refusal.into() };
        let of = |(phase, named): &&(Phase, Vec<&Task>)| {
            named.iter().any(|other| other.id == *task) && !phase.depends_on.is_empty()
        };
        let phase = self.phases.iter().find(of);
        let line = phase.map_or(1, |(phase, _)| phase.depends_line.unwrap_or(phase.line));
        Failure { code: Code::Cycle, ..self.wrong(line, refusal.to_string()) }
    }
}

//! `move`, `done`, `cancel`, `escalate`: moves a task to another state, as the workflow allows.

use serde::Serialize;

use crate::app::repo::unmerged::{Closing, unmerged};
use crate::app::work::admit::{Commit, admit, apply, decide_with, gather};
use crate::app::work::claim::{Lease, drawn};
use crate::app::workspace::open::missing;
use crate::app::workspace::remote::{Reach, publish};
use crate::app::{Code, Expected, Failure, Hint, Workspace};
use crate::board::{
    Actor, Admission, Assignment, Board, Change, ClaimEffect, Goal, Grouping, Links, Request, Turn, joined,
};
use crate::store::{BoardLock, new_note};
use crate::task::{Key, Kind, StateName, TaskId, Value, Worker};
use crate::workflow::Intent;

#[derive(Debug, Serialize)]
pub struct Moved {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    /// Parents, and members of the group, that moved along.
    pub along: Vec<Along>,
    /// Whether another worker's claim or an open blocker was overridden.
    pub forced: bool,
    /// The worker whose claim was taken over.
    pub taken_from: Option<Worker>,
    /// The task waits for a person, in a workflow without a state for that.
    pub flagged: bool,
    /// What a person's move outside the workflow skips.
    pub outside: Option<String>,
    /// Tasks that have no open blocker any more.
    pub unblocked: Vec<TaskId>,
    /// The group that was declared with this move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredGroup>,
    pub changed: bool,
    /// Changed files of the branch that the plan does not name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<String>,
}

/// Children of one parent that became a group with this move.
#[derive(Debug, Serialize)]
pub struct DeclaredGroup {
    pub parent: TaskId,
    pub members: Vec<TaskId>,
}

#[derive(Debug, Serialize)]
pub struct Along {
    pub task: TaskId,
    pub to: StateName,
}

impl Moved {
    /// The result for a task that does not move.
    fn nothing(task: &TaskId, state: StateName, command: Option<String>) -> Self {
        Self {
            task: task.clone(),
            from: state.clone(),
            to: state,
            command,
            along: Vec::new(),
            forced: false,
            taken_from: None,
            flagged: false,
            outside: None,
            unblocked: Vec::new(),
            declared: None,
            changed: false,
            out_of_scope: Vec::new(),
        }
    }

    /// Reports the move of a group's primary as that of another member, whose state was `before`.
    fn told_about(self, member: &TaskId, before: StateName) -> Self {
        let came = self.along.iter().find(|other| other.task == *member).map(|other| other.to.clone());
        let mut along: Vec<Along> = self.along.into_iter().filter(|other| other.task != *member).collect();
        if self.from != self.to {
            along.insert(0, Along { task: self.task, to: self.to });
        }
        let to = came.unwrap_or_else(|| before.clone());
        Self { task: member.clone(), from: before, to, along, ..self }
    }
}

/// Moves any member of a group. The primary makes the move; a member that has already moved along stays.
pub(in crate::app) fn move_in_group(ws: &Workspace, asked: &MoveAsk<'_>) -> Result<Moved, Failure> {
    if asked.grouping == Grouping::Declared {
        return move_with(ws, asked);
    }
    let moved = match asked.turn(ws)? {
        (Turn::Own, _) => move_with(ws, asked),
        (Turn::Primary(primary), before) => {
            move_with(ws, &MoveAsk { id: &primary, ..*asked }).map(|moved| moved.told_about(asked.id, before))
        }
        (Turn::Along, state) => asked.stay(ws, state),
    };
    match moved {
        // Another session may have made the same move since the turn was determined, which is without the lock.
        Err(refused) if refused.code == Code::NotAllowed => match asked.turn(ws)? {
            (Turn::Along, state) => asked.stay(ws, state),
            _ => Err(refused),
        },
        moved => moved,
    }
}

/// `typed` is a state in any spelling, or an intent such as `__COMPLETE__`.
pub fn move_task(
    ws: &Workspace,
    id: &TaskId,
    typed: &str,
    command: Option<&str>,
    force: bool,
) -> Result<Moved, Failure> {
    let seen = Expected::default();
    move_with(ws, &MoveAsk { command, force, ..MoveAsk::new(id, typed, &seen) })
}

/// A move as typed, with the fields and the note of the same command.
#[derive(Clone, Copy)]
pub(in crate::app) struct MoveAsk<'a> {
    pub id: &'a TaskId,
    pub typed: &'a str,
    pub command: Option<&'a str>,
    pub force: bool,
    /// The task that gets the fields and the note; differs from `id` if the primary of a group moves instead.
    pub about: &'a TaskId,
    pub fields: &'a [Assignment],
    pub note: Option<&'a str>,
    pub seen: &'a Expected,
    pub grouping: Grouping,
}

/// The board on which a move is checked, and the changes that belong to it.
struct Judged {
    board: Board,
    changes: Vec<Change>,
    declared: Option<DeclaredGroup>,
}

impl<'a> MoveAsk<'a> {
    pub fn new(id: &'a TaskId, typed: &'a str, seen: &'a Expected) -> Self {
        let (grouping, about) = (Grouping::default(), id);
        Self { id, typed, command: None, force: false, about, fields: &[], note: None, seen, grouping }
    }

    fn request(&self, ws: &Workspace, board: &Board) -> Result<Request<'_>, Failure> {
        let goal = goal(ws, board, self.id, self.typed)?;
        Ok(Request { command: self.command, force: self.force, ..Request::new(self.id, goal) })
    }

    /// The board with the fields set, and with the group that a move to a lock state declares.
    fn judged(&self, ws: &Workspace) -> Result<Judged, Failure> {
        let board = ws.family(self.id)?;
        let mut changes = match board.get(self.about) {
            Some(_) if !self.fields.is_empty() => crate::app::edit::set::changes(ws, self.about, self.fields)?,
            _ => Vec::new(),
        };
        self.seen.refuse_changed(ws, self.about)?;
        let declared = self.declaration(ws, &board)?;
        if let Some(group) = &declared {
            let atomic = Assignment::Put(Key::new("atomic"), Some(Value::Bool(true)));
            changes.extend(crate::app::edit::set::changes(ws, &group.parent, &[atomic])?);
        }
        let board = if changes.is_empty() { board } else { board.with(&changes) };
        Ok(Judged { board, changes, declared })
    }

    fn declaration(&self, ws: &Workspace, board: &Board) -> Result<Option<DeclaredGroup>, Failure> {
        let Some(at) = board.index_of(self.id).filter(|_| self.grouping == Grouping::Siblings) else { return Ok(None) };
        let locks = match goal(ws, board, self.id, self.typed)? {
            Goal::Intent(intent) => intent == Intent::Lock,
            Goal::State(to) => ws.flow().state(board.tasks()[at].kind, &to).is_some_and(|state| state.lock),
            Goal::Claim => true,
        };
        let found = board.declaration(at, &Links::new(board), ws.rules()).filter(|_| locks);
        Ok(found.map(|found| DeclaredGroup { parent: found.parent, members: found.members }))
    }

    /// Saves the fields and the note of a task that has nothing to move for.
    fn stay(&self, ws: &Workspace, state: StateName) -> Result<Moved, Failure> {
        let Self { id, command, fields, note, seen, .. } = *self;
        if !fields.is_empty() || note.is_some() {
            crate::app::edit::set::assign_with(ws, "set", std::slice::from_ref(id), fields, note, seen)?;
        }
        Ok(Moved::nothing(id, state, command.map(str::to_owned)))
    }

    /// The task that makes the move, according to the grouping, and the current state of this task.
    fn turn(&self, ws: &Workspace) -> Result<(Turn, StateName), Failure> {
        let board = self.judged(ws)?.board;
        let at = board.index_of(self.id).ok_or_else(|| missing(ws, &board, self.id))?;
        let state = board.tasks()[at].state.clone();
        let command = self.command.map(|name| ws.flow().command(name)).transpose()?;
        let goal = goal(ws, &board, self.id, self.typed)?;
        Ok((board.turn(at, &goal, command, ws.rules())?, state))
    }
}

pub(in crate::app) fn move_with(ws: &Workspace, asked: &MoveAsk<'_>) -> Result<Moved, Failure> {
    let actor = ws.actor()?;
    match ws.look_for_claims(asked.id) {
        Err(failure) if ws.rules().insists(&actor, asked.force) => ws.notice(failure.message),
        looked => looked?,
    }
    ws.rules().refuse_fields(&actor, asked.fields)?;
    let board = asked.judged(ws)?.board;
    let gathered = gather(ws, &board, &actor, &asked.request(ws, &board)?);
    let decided = |board: &Board| decide_with(ws, board, &actor, &asked.request(ws, board)?, &gathered);
    // If claims are shared through a remote, publish the claim before the state changes.
    let published = match ws.claims_remote() {
        Some(_) if decided(&asked.judged(ws)?.board)?.takes() => {
            let draft = |board: &Board| {
                Ok((asked.id.clone(), drawn(ws, board, asked.id, &actor.worker, &decided(board)?, Lease::Timed)))
            };
            publish(ws, Reach::Remote, draft, || Ok(asked.judged(ws)?.board))?.map(|(_, published)| published)
        }
        _ => None,
    };
    let lock = ws.lock()?;
    let Judged { board, changes, declared } = asked.judged(ws)?;
    let mut admission = decided(&board)?;
    if !asked.force {
        refuse_unmerged(ws, &board, &actor, asked.id, &admission)?;
    }
    admission.changes = joined(changes, admission.changes);
    if let Some(text) = asked.note {
        admission.changes.push(new_note(asked.about, &actor.worker, ws.now(), &mut ws.rng(), text));
    }
    let commit = Commit { published: published.as_ref(), ..Commit::new("move", &actor) };
    let moved = carry_out_with(ws, &lock, &board, asked.id, admission, &commit)?;
    Ok(Moved { declared, ..moved })
}

/// Refuses to close a task whose branch has unmerged commits: a person may not know of them, and a worker must merge.
fn refuse_unmerged(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    id: &TaskId,
    admission: &Admission,
) -> Result<(), Failure> {
    let closes = admission.from != admission.to && Some(&admission.to) == ws.flow().closing();
    let step = board.get(id).is_none_or(|task| task.kind == Kind::Step);
    let command = admission.command.as_deref().and_then(|name| ws.flow().command(name).ok());
    let merges = command.is_some_and(|command| command.merges);
    if !closes || step || (actor.is_held(ws.rules()) && !merges) {
        return Ok(());
    }
    // Only a merge closes the other members of the group with it.
    let along: Vec<TaskId> = admission.along.iter().map(|(other, _)| other.clone()).filter(|_| merges).collect();
    match unmerged(ws, board, &Closing { task: id, along: &along, merges })? {
        None => Ok(()),
        Some(message) => Err(Failure::refused(Code::Unmerged, message)
            .hint(Hint::run(&format!("merge {id}"), "to merge and close it"))
            .hint(Hint::Force)),
    }
}

/// The tasks that this closed task was the last blocker of.
fn unblocked(ws: &Workspace, board: &Board, id: &TaskId, admission: &Admission) -> Vec<TaskId> {
    let kind = board.get(id).map_or(Kind::Issue, |task| task.kind);
    let over = |state: &StateName| ws.flow().is_terminal(kind, state);
    if !over(&admission.to) || over(&admission.from) {
        return Vec::new();
    }
    let after = board.clone().with(&admission.changes);
    let links = Links::new(board);
    let dependents = board.index_of(id).map(|at| links.ids(links.dependents(at))).unwrap_or_default();
    let is_free = |id: &TaskId| {
        after.index_of(id).is_some_and(|at| {
            let task = &after.tasks()[at];
            !ws.flow().is_terminal(task.kind, &task.state) && after.open_blockers(at, ws.rules()).is_empty()
        })
    };
    dependents.into_iter().filter(is_free).collect()
}

/// A state in any spelling, or an intent.
pub(in crate::app) fn goal(ws: &Workspace, board: &Board, id: &TaskId, typed: &str) -> Result<Goal, Failure> {
    let kind = board.get(id).map(|task| task.kind).ok_or_else(|| missing(ws, board, id))?;
    match Intent::parse(typed) {
        Some(intent) => Ok(Goal::Intent(intent)),
        None if typed.starts_with("__") => Err(no_intent(typed)),
        None => Ok(Goal::State(ws.flow().find_state(kind, typed)?.name.clone())),
    }
}

fn no_intent(typed: &str) -> Failure {
    let all = "__LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__";
    Failure::usage(Code::NoIntent, format!("{typed:?} is not an intent: use {all}"))
}

/// Makes a move and adds the reason as a note, in one change.
pub(in crate::app) fn move_with_note(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    request: &Request<'_>,
    verb: &str,
    why: &str,
) -> Result<Moved, Failure> {
    let mut admission = admit(ws, board, &ws.actor()?, request)?;
    admission.changes.push(new_note(request.task, &ws.me()?, ws.now(), &mut ws.rng(), why));
    carry_out(ws, lock, board, request.task, verb, admission)
}

/// Commits an admission, and returns it as a move.
pub(in crate::app) fn carry_out(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    verb: &str,
    admission: Admission,
) -> Result<Moved, Failure> {
    carry_out_with(ws, lock, board, id, admission, &Commit::new(verb, &ws.actor()?))
}

fn carry_out_with(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    admission: Admission,
    commit: &Commit<'_>,
) -> Result<Moved, Failure> {
    let verb = match (&admission.departure, admission.forced) {
        (Some(departure), true) => format!("{} --force (outside the workflow: {departure})", commit.verb),
        (None, true) => format!("{} --force", commit.verb),
        (Some(departure), false) => format!("{} (outside the workflow: {departure})", commit.verb),
        (None, false) => commit.verb.to_owned(),
    };
    apply(ws, lock, board, id, &admission, &Commit { verb: &verb, ..*commit })?;
    let taken = admission.claim == ClaimEffect::Taken;
    let unblocked = unblocked(ws, board, id, &admission);
    let holder = board.index_of(id).and_then(|at| board.binding_claim(at)).map(|(_, claim)| claim.worker.clone());
    let taken_from = holder.filter(|holder| admission.forced && *holder != commit.actor.worker);
    let flagged = admission.changes.iter().any(|change| change.sets(id, "attention"));
    let Admission { from, to, command, changes, forced, departure, along, out_of_scope, .. } = admission;
    let along = along.into_iter().map(|(task, to)| Along { task, to }).collect();
    let outside = departure.map(|departure| departure.to_string());
    Ok(Moved {
        task: id.clone(),
        from,
        to,
        command,
        along,
        forced,
        taken_from,
        flagged,
        outside,
        unblocked,
        declared: None,
        changed: taken || !changes.is_empty(),
        out_of_scope,
    })
}

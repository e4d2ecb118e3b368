//! The one judge of moves: may this actor, as this command, take this task there, and what changes if so.

use super::{Actor, Board, Change, Links, Refusal, Rules};
use crate::task::{Kind, StateName, Task, TaskId};
use crate::workflow::{Command, Intent, Sizes};

/// A move as it is asked for.
#[derive(Debug, Clone)]
pub struct Move<'a> {
    pub task: &'a TaskId,
    pub to: Target,
    pub command: Option<&'a str>,
    /// A person insists; it is journaled.
    pub force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    State(StateName),
    Intent(Intent),
}

/// A move that may be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    pub changes: Vec<Change>,
    /// The work is handed on: the mover's claim ends.
    pub hands_off: bool,
    /// Only because a person insisted.
    pub forced: bool,
    /// Other tasks that move along, with where they go.
    pub along: Vec<(TaskId, StateName)>,
}

impl Verdict {
    /// Whether it counts as a rejection, wherever it leads.
    pub fn is_rejection(&self) -> bool {
        self.changes
            .iter()
            .any(|change| matches!(change, Change::Set { key, .. } if key.as_str() == "review.rejections"))
    }

    /// Nothing moves.
    pub fn staying(state: StateName) -> Self {
        Self {
            from: state.clone(),
            to: state,
            command: None,
            changes: Vec::new(),
            hands_off: false,
            forced: false,
            along: Vec::new(),
        }
    }
}

impl Board {
    pub fn judge(&self, rules: &Rules, actor: &Actor, asked: &Move<'_>) -> Result<Verdict, Refusal> {
        self.hear(rules, actor, asked, Claims::Count)
    }

    /// The same for a worker that is being given the claim: whose it was until now does not matter.
    pub(super) fn judge_taking(&self, rules: &Rules, actor: &Actor, asked: &Move<'_>) -> Result<Verdict, Refusal> {
        self.hear(rules, actor, asked, Claims::AreSettled)
    }

    fn hear(&self, rules: &Rules, actor: &Actor, asked: &Move<'_>, claims: Claims) -> Result<Verdict, Refusal> {
        let at = self.index_of(asked.task).ok_or_else(|| Refusal::Missing(asked.task.clone()))?;
        let links = Links::new(self);
        let court = Court { board: self, links: &links, rules, actor, at, task: &self.tasks()[at] };
        if claims == Claims::Count {
            court.refuse_strangers(asked.force)?;
        }
        let command = court.command(asked)?;
        let to = court.target(asked, command)?;
        let forced = court.allowed(asked, command, &to)?;
        court.verdict(command, to, forced)
    }
}

/// Whether it matters who holds the task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    Count,
    AreSettled,
}

/// One question before the judge.
pub(super) struct Court<'a> {
    pub(super) board: &'a Board,
    pub(super) links: &'a Links<'a>,
    pub(super) rules: &'a Rules,
    actor: &'a Actor,
    pub(super) at: usize,
    pub(super) task: &'a Task,
}

impl<'a> Court<'a> {
    pub(super) fn role(&self) -> Option<&str> {
        self.rules.role_of(&self.actor.worker)
    }

    /// Steps of a team, and boards whose workflow has no commands: every move between states is allowed.
    pub(super) fn is_free(&self) -> bool {
        self.task.kind == Kind::Step || self.rules.flow.commands().is_empty()
    }

    /// A live claim of somebody else, or of a self that has lost it since.
    fn refuse_strangers(&self, force: bool) -> Result<(), Refusal> {
        let id = &self.task.id;
        let claim = self.board.binding_claim(self.at);
        let proof = self.actor.proof.as_ref().filter(|proof| proof.starts_with(&format!("{id}:")));
        match (claim, proof) {
            (Some((held, claim)), _) if !claim.is_of(&self.actor.worker) => {
                let insists = force && self.role().is_none();
                if insists { Ok(()) } else { Err(Refusal::held(held, claim)) }
            }
            (Some((_, claim)), Some(proof)) if claim.proof(id) != *proof => Err(Refusal::Lost { task: id.clone() }),
            (None, Some(_)) => Err(Refusal::Lost { task: id.clone() }),
            _ => Ok(()),
        }
    }

    /// The command that is acted as: named, or the only one that fits; a person may do without.
    fn command(&self, asked: &Move<'_>) -> Result<Option<&'a Command>, Refusal> {
        let flow = &self.rules.flow;
        if let Some(name) = asked.command {
            let command = flow.command(name)?;
            return match self.role() {
                Some(role) if !command.is_for(role, self.rules.mode) => Err(self.not_yours(command, role)),
                _ => Ok(Some(command)),
            };
        }
        // A person who moves a task to where it is does nothing; a worker says that it stays.
        let idle = self.role().is_none() && asked.to == Target::State(self.task.state.clone());
        if self.is_free() || idle {
            return Ok(None);
        }
        let oversized = self.task.estimate.is_some_and(|estimate| estimate.is_oversized());
        let sized = |command: &&Command| command.sizes != Sizes::Oversized || oversized;
        let mine = |command: &&Command| self.role().is_none_or(|role| command.is_for(role, self.rules.mode));
        let fits = |command: &&Command| {
            let to = match &asked.to {
                Target::State(state) => Some(state.clone()),
                Target::Intent(intent) => command.intend(*intent, flow),
            };
            to.is_some_and(|to| command.leads(&self.task.state, &to, self.rules.mode, flow))
        };
        let found: Vec<&Command> = flow.commands().iter().filter(mine).filter(sized).filter(fits).collect();
        match (found.as_slice(), self.role()) {
            ([], None) => Ok(None),
            ([], Some(role)) => Err(self.no_way(role, asked)),
            ([one], _) => Ok(Some(one)),
            // To escalate is the same for all of them, and so is a person's move to a named state.
            ([first, ..], None) if matches!(asked.to, Target::State(_)) => Ok(Some(first)),
            ([first, ..], _) if asked.to == Target::Intent(Intent::Escalate) => Ok(Some(first)),
            (many, _) => Err(Refusal::NeedsCommand {
                task: self.task.id.clone(),
                choices: many.iter().map(|command| command.name.clone()).collect(),
            }),
        }
    }

    fn not_yours(&self, command: &Command, role: &str) -> Refusal {
        let roles =
            self.rules.flow.roles().iter().map(|r| r.name.as_str()).filter(|r| command.is_for(r, self.rules.mode));
        Refusal::NotYourCommand {
            command: command.name.clone(),
            role: role.to_owned(),
            roles: roles.map(str::to_owned).collect(),
        }
    }

    /// A worker's role has no command that goes there from here.
    fn no_way(&self, role: &str, asked: &Move<'_>) -> Refusal {
        let flow = &self.rules.flow;
        let mut allowed = Vec::new();
        for command in flow.commands_of(role, self.rules.mode) {
            for state in flow.states() {
                if command.leads(&self.task.state, &state.name, self.rules.mode, flow) && !allowed.contains(&state.name)
                {
                    allowed.push(state.name.clone());
                }
            }
        }
        if Some(&self.task.state) == flow.escalation() {
            return Refusal::NeedsPerson { task: self.task.id.clone() };
        }
        let unlocked = |command: &&Command| {
            let starts = command.from.contains(&self.task.state) && command.modes.contains(&self.rules.mode);
            let ends = match &asked.to {
                Target::State(state) => command.may_end_in(flow).contains(state),
                Target::Intent(intent) => command.intend(*intent, flow).is_some(),
            };
            starts && ends && command.lock.is_some()
        };
        if let Some(command) = flow.commands_of(role, self.rules.mode).find(unlocked) {
            return Refusal::NotClaimed { task: self.task.id.clone(), command: command.name.clone() };
        }
        Refusal::NotAllowed {
            task: self.task.id.clone(),
            from: self.task.state.clone(),
            to: match &asked.to {
                Target::State(state) => state.to_string(),
                Target::Intent(intent) => intent.as_str().into(),
            },
            actor: role.to_owned(),
            allowed,
        }
    }

    fn target(&self, asked: &Move<'_>, command: Option<&Command>) -> Result<StateName, Refusal> {
        let flow = &self.rules.flow;
        match (&asked.to, command) {
            (Target::State(state), _) => Ok(state.clone()),
            (Target::Intent(intent), Some(command)) => {
                command.intend(*intent, flow).ok_or_else(|| Refusal::NoSuchIntent {
                    command: command.name.clone(),
                    intent: intent.as_str(),
                    intents: command.intents(flow),
                    ends: command.may_end_in(flow),
                })
            }
            (Target::Intent(intent), None) => self.plain_intent(*intent),
        }
    }

    /// Intents without a command: what they mean to the board as a whole.
    fn plain_intent(&self, intent: Intent) -> Result<StateName, Refusal> {
        let flow = &self.rules.flow;
        let states = flow.states_of(self.task.kind);
        let here = states.iter().find(|state| state.name == self.task.state);
        let place = flow.position(self.task.kind, &self.task.state);
        let free = self.is_free();
        let named = match intent {
            Intent::Lock => here.and_then(|state| state.claim.clone()),
            Intent::Complete if free => {
                states.iter().skip(place + 1).find(|s| !s.lock && !s.off).map(|s| s.name.clone())
            }
            Intent::Complete => None,
            Intent::Escalate => flow.escalation().cloned().filter(|_| self.task.kind != Kind::Step),
            Intent::Close => {
                let closing = flow.closing().cloned().filter(|_| self.task.kind != Kind::Step);
                closing.or_else(|| states.iter().find(|s| s.terminal && !s.off).map(|s| s.name.clone()))
            }
            Intent::Cancel => flow.canceling().cloned().filter(|_| self.task.kind != Kind::Step),
        };
        named.ok_or_else(|| Refusal::NoPlainIntent {
            task: self.task.id.clone(),
            intent: intent.as_str(),
            state: self.task.state.clone(),
        })
    }

    /// Whether the move is allowed; `true` where only a person's force makes it so.
    fn allowed(&self, asked: &Move<'_>, command: Option<&Command>, to: &StateName) -> Result<bool, Refusal> {
        let refusal = match self.refusal(command, to) {
            None => return Ok(false),
            Some(refusal) => refusal,
        };
        match self.role() {
            None if asked.force => Ok(true),
            _ => Err(refusal),
        }
    }

    fn refusal(&self, command: Option<&Command>, to: &StateName) -> Option<Refusal> {
        let (flow, mode) = (&self.rules.flow, self.rules.mode);
        let (id, from) = (&self.task.id, &self.task.state);
        let here = flow.state(self.task.kind, from);
        let person = self.role().is_none();
        // Nothing to do, or a state that the workflow does not know: a person mends it.
        if (command.is_none() && from == to) || (person && here.is_none()) {
            return None;
        }
        if self.lacks_result(to) {
            return Some(Refusal::NoResult { task: id.clone() });
        }
        if self.is_free() {
            return (from == to && here.is_some_and(|s| s.terminal)).then(|| self.not_allowed(to, "a person"));
        }
        if Some(from) == flow.escalation() && !person {
            return Some(Refusal::NeedsPerson { task: id.clone() });
        }
        if let Some(ahead) = self.ahead_of_children(to) {
            return Some(ahead);
        }
        let left_by_person = person && here.is_some_and(|state| state.leave.contains(to));
        match command {
            _ if left_by_person => None,
            Some(command) if command.leads(from, to, mode, flow) => self.ready_for(command, to),
            Some(command) => Some(self.wrong_way(command, to)),
            None => Some(self.not_allowed(to, "a person")),
        }
    }

    /// A step that a worker completes says what came of it.
    fn lacks_result(&self, to: &StateName) -> bool {
        let done = self.rules.flow.is_terminal(self.task.kind, to);
        done && self.role().is_some() && self.task.step.as_ref().is_some_and(|step| step.result.is_none())
    }

    fn not_allowed(&self, to: &StateName, actor: &str) -> Refusal {
        let (flow, mode, from) = (&self.rules.flow, self.rules.mode, &self.task.state);
        let leave = flow.state(self.task.kind, from).map(|state| state.leave.clone()).unwrap_or_default();
        let leads =
            |to: &StateName| leave.contains(to) || flow.commands().iter().any(|c| c.leads(from, to, mode, flow));
        let allowed = flow
            .states()
            .iter()
            .map(|state| &state.name)
            // What is refused here for its size or its turn is no way out.
            .filter(|name| *name != from && name.as_str() != to.to_string() && leads(name))
            .cloned()
            .collect();
        Refusal::NotAllowed {
            task: self.task.id.clone(),
            from: from.clone(),
            to: to.to_string(),
            actor: actor.to_owned(),
            allowed,
        }
    }

    fn wrong_way(&self, command: &Command, to: &StateName) -> Refusal {
        let (flow, mode, from) = (&self.rules.flow, self.rules.mode, &self.task.state);
        let starts = command.from.contains(from) && command.modes.contains(&mode);
        if starts && command.lock.is_some() && command.may_end_in(flow).contains(to) {
            return Refusal::NotClaimed { task: self.task.id.clone(), command: command.name.clone() };
        }
        let allowed = flow
            .states()
            .iter()
            .map(|s| &s.name)
            .filter(|name| command.leads(from, name, mode, flow))
            .cloned()
            .collect();
        Refusal::NotAllowed {
            task: self.task.id.clone(),
            from: from.clone(),
            to: to.to_string(),
            actor: command.name.clone(),
            allowed,
        }
    }

    /// What the command needs of the task: unblocked, small enough, the group's turn, the lock in one's own hand, and what
    /// it yields.
    fn ready_for(&self, command: &Command, to: &StateName) -> Option<Refusal> {
        let escalates = self.rules.flow.escalation() == Some(to);
        if escalates {
            return None;
        }
        let id = &self.task.id;
        let oversized = self.task.estimate.is_some_and(|estimate| estimate.is_oversized());
        if oversized && command.small_ends.contains(to) && self.links.children(self.at).is_empty() {
            let size = self.task.estimate.map(|e| e.as_str()).unwrap_or_default();
            return Some(Refusal::Oversized { task: id.clone(), size, command: format!("{} to {to}", command.name) });
        }
        let epic = self.task.kind == Kind::Epic;
        if command.sizes == Sizes::Oversized && !oversized && !epic && self.role().is_some() {
            return Some(Refusal::SmallEnough { task: id.clone(), command: command.name.clone() });
        }
        let entering = command.lock.as_ref() == Some(to) && self.task.state != *to;
        let works = entering || command.lock.is_none();
        if works && let Some(refusal) = self.board.unfit(self.at, command, self.rules, self.links) {
            return Some(refusal);
        }
        let locked = command.lock.as_ref() == Some(&self.task.state);
        let mine = self.board.claim(id).is_some_and(|claim| claim.live && claim.is_of(&self.actor.worker));
        let worker = self.role().is_some();
        (worker && locked && !mine)
            .then(|| Refusal::NotClaimed { task: id.clone(), command: command.name.clone() })
            .or_else(|| self.unproven(command, to))
    }

    /// A task with children follows them.
    fn ahead_of_children(&self, to: &StateName) -> Option<Refusal> {
        let flow = &self.rules.flow;
        let goal = flow.state(self.task.kind, to).filter(|state| !state.off)?;
        let rank = |task: &Task| flow.position(task.kind, &task.state);
        let goal_rank = flow.position(self.task.kind, &goal.name);
        let children = self.links.children(self.at).iter().map(|&child| &self.board.tasks()[child]);
        let open = children.filter(|task| Some(&task.state) != flow.canceling());
        let behind = |task: &&Task| flow.state(task.kind, &task.state).is_none_or(|s| s.off || rank(task) < goal_rank);
        let forward = goal_rank > rank(self.task);
        let waiting: Vec<TaskId> = open.filter(behind).map(|task| task.id.clone()).collect();
        (forward && !waiting.is_empty())
            .then(|| Refusal::AheadOfChildren { task: self.task.id.clone(), children: waiting })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::board::Change;
    use crate::board::Claim;
    use crate::task::{Estimate, Value, Worker};
    use crate::workflow::{ReviewMode, Workflow};

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn claim(worker: &str) -> Claim {
        let now = jiff::Timestamp::UNIX_EPOCH;
        let worker = Worker::new(worker).unwrap();
        Claim {
            worker,
            host: "h".into(),
            since: now,
            until: now,
            held: false,
            token: "t".into(),
            command: None,
            live: true,
            remote: None,
            renewing: None,
            published: None,
            foreign: false,
        }
    }

    /// One task in a state, claimed by that worker where that is a lock.
    fn board(state: &str, holder: Option<&str>) -> Board {
        let task = documented(Task::new(id("a"), "A", StateName::new(state)));
        let claims = holder.map(|holder| (id("a"), claim(holder))).into_iter().collect::<BTreeMap<_, _>>();
        Board::new(vec![task], Vec::new(), Vec::new()).with_claims(claims)
    }

    /// With all that workers have to show.
    fn documented(mut task: Task) -> Task {
        let round = if task.rejections > 0 { format!("-{}", task.rejections + 1) } else { String::new() };
        let paths = [("research", "r.md".into()), ("plan", "p.md".into()), ("review", format!("d-critique{round}.md"))];
        task.artifacts = paths.into_iter().map(|(kind, path)| (kind.to_owned(), path)).collect();
        task
    }

    fn rules(mode: ReviewMode) -> Rules {
        Rules { mode, ..Rules::of(Workflow::builtin()) }
    }

    fn actor(name: &str) -> Actor {
        Actor { worker: Worker::new(name).unwrap(), proof: None }
    }

    fn judge(
        board: &Board,
        mode: ReviewMode,
        who: &str,
        to: &str,
        command: Option<&str>,
        force: bool,
    ) -> Result<Verdict, Refusal> {
        let to = Intent::parse(to).map_or_else(|| Target::State(StateName::new(to)), Target::Intent);
        board.judge(&rules(mode), &actor(who), &Move { task: &id("a"), to, command, force })
    }

    type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

    /// WORKFLOW.md, "Commands": command, role, and every pair that it leads through.
    const TABLE: &[Row] = &[
        (
            "triage",
            "analyst",
            &[
                ("Backlog", "Research Needed"),
                ("Backlog", "Ready for Plan"),
                ("Backlog", "Done"),
                ("Backlog", "Canceled"),
                ("Backlog", "Backlog"),
                ("Backlog", "Human Needed"),
            ],
        ),
        (
            "split",
            "analyst",
            &[
                ("Backlog", "Backlog"),
                ("Research Needed", "Backlog"),
                ("Backlog", "Human Needed"),
                ("Research Needed", "Human Needed"),
            ],
        ),
        (
            "research",
            "analyst",
            &[
                ("Research Needed", "Research in Progress"),
                ("Research Needed", "Human Needed"),
                ("Research in Progress", "Research in Progress"),
                ("Research in Progress", "Ready for Plan"),
                ("Research in Progress", "Human Needed"),
            ],
        ),
        (
            "plan",
            "builder",
            &[
                ("Ready for Plan", "Plan in Progress"),
                ("Ready for Plan", "Human Needed"),
                ("Plan in Progress", "Plan in Progress"),
                ("Plan in Progress", "Plan in Review"),
                ("Plan in Progress", "Human Needed"),
            ],
        ),
        (
            "review",
            "builder",
            &[
                ("Plan in Review", "In Progress"),
                ("Plan in Review", "Ready for Plan"),
                ("Plan in Review", "Human Needed"),
            ],
        ),
        (
            "implement",
            "builder",
            &[
                ("Plan in Review", "In Progress"),
                ("Plan in Review", "Human Needed"),
                ("In Progress", "In Progress"),
                ("In Progress", "In Review"),
                ("In Progress", "Human Needed"),
            ],
        ),
        ("pr", "integrator", &[("In Review", "In Review"), ("In Review", "Human Needed")]),
        ("merge", "integrator", &[("In Review", "Done"), ("In Review", "In Progress"), ("In Review", "Human Needed")]),
    ];

    #[test]
    fn each_command_leads_where_the_table_says_and_nowhere_else() {
        let flow = Workflow::builtin();
        for (command, role, pairs) in TABLE {
            for from in flow.states() {
                let holder = from.lock.then_some(*role);
                for to in flow.states() {
                    let (from, to) = (from.name.as_str(), to.name.as_str());
                    let mut board = board(from, holder);
                    let large = flow.command(command).is_ok_and(|command| command.sizes == Sizes::Oversized);
                    board.tasks[0].estimate = large.then_some(Estimate::L);
                    let got = judge(&board, ReviewMode::Skip, role, to, Some(command), false);
                    assert_eq!(got.is_ok(), pairs.contains(&(from, to)), "{command}: {from} → {to}: {got:?}");
                }
            }
        }
    }

    #[test]
    fn a_command_belongs_to_its_role() {
        for (command, role, pairs) in TABLE {
            for other in ["analyst", "builder", "validator", "integrator"] {
                let (from, to) = pairs[0];
                let got = judge(&board(from, None), ReviewMode::Skip, other, to, Some(command), false);
                assert_eq!(
                    matches!(got, Err(Refusal::NotYourCommand { .. })),
                    other != *role,
                    "{command} by {other}: {got:?}"
                );
            }
        }
    }

    #[test]
    fn intents_mean_what_the_command_says_and_an_unknown_one_lists_the_others() {
        for (command, from, intent, to) in [
            ("research", "Research Needed", "__LOCK__", "Research in Progress"),
            ("research", "Research in Progress", "__COMPLETE__", "Ready for Plan"),
            ("plan", "Ready for Plan", "__LOCK__", "Plan in Progress"),
            ("plan", "Plan in Progress", "__COMPLETE__", "Plan in Review"),
            ("implement", "Plan in Review", "__LOCK__", "In Progress"),
            ("implement", "In Progress", "__COMPLETE__", "In Review"),
            ("review", "Plan in Review", "__COMPLETE__", "In Progress"),
            ("merge", "In Review", "__COMPLETE__", "Done"),
            ("merge", "In Review", "__CLOSE__", "Done"),
            ("triage", "Backlog", "__CLOSE__", "Done"),
            ("triage", "Backlog", "__CANCEL__", "Canceled"),
            ("plan", "Ready for Plan", "__ESCALATE__", "Human Needed"),
        ] {
            let role = TABLE.iter().find(|(name, ..)| *name == command).unwrap().1;
            let got = judge(&board(from, Some(role)), ReviewMode::Skip, role, intent, Some(command), false).unwrap();
            assert_eq!(got.to.as_str(), to, "{command} {intent}");
        }
        for (command, intent) in [
            ("triage", "__COMPLETE__"),
            ("triage", "__LOCK__"),
            ("review", "__LOCK__"),
            ("plan", "__CLOSE__"),
            ("research", "__CANCEL__"),
        ] {
            let (_, role, pairs) = TABLE.iter().find(|(name, ..)| *name == command).unwrap();
            let refusal =
                judge(&board(pairs[0].0, None), ReviewMode::Skip, role, intent, Some(command), false).unwrap_err();
            assert!(matches!(&refusal, Refusal::NoSuchIntent { .. }), "{refusal:?}");
            assert!(refusal.to_string().contains("__ESCALATE__"), "{refusal}");
        }
    }

    #[test]
    fn done_never_goes_back_to_research() {
        let got = judge(&board("Done", None), ReviewMode::Skip, "analyst", "__LOCK__", Some("research"), false);
        assert!(matches!(got, Err(Refusal::NotAllowed { .. })), "{got:?}");
    }

    #[test]
    fn only_a_person_takes_a_task_from_a_person() {
        let got =
            judge(&board("Human Needed", None), ReviewMode::Skip, "builder", "In Progress", Some("implement"), false);
        assert_eq!(got, Err(Refusal::NeedsPerson { task: id("a") }));
        for to in ["Backlog", "Research Needed", "Ready for Plan", "In Progress"] {
            assert!(judge(&board("Human Needed", None), ReviewMode::Skip, "anna", to, None, false).is_ok(), "{to}");
        }
    }

    #[test]
    fn a_person_needs_force_where_the_table_says_no_and_reopens_without() {
        let go = |from: &str, to: &str, force| judge(&board(from, None), ReviewMode::Skip, "anna", to, None, force);
        assert!(go("Done", "Backlog", false).is_ok() && go("Canceled", "Backlog", false).is_ok());
        assert!(go("Backlog", "Research Needed", false).is_ok());
        let refusal = go("Backlog", "In Review", false).unwrap_err().to_string();
        assert!(refusal.contains("Research Needed, Ready for Plan, Done, Canceled"), "{refusal}");
        assert!(go("Backlog", "In Review", true).unwrap().forced);
        assert!(!go("Backlog", "Done", true).unwrap().forced);
        let worker = judge(&board("Backlog", None), ReviewMode::Skip, "analyst", "In Review", Some("triage"), true);
        assert!(worker.is_err(), "a worker cannot insist");
    }

    #[test]
    fn a_second_agent_cannot_take_the_same_lock() {
        for holder in ["analyst-2", "anna"] {
            let got = judge(
                &board("Research in Progress", Some(holder)),
                ReviewMode::Skip,
                "analyst",
                "__LOCK__",
                Some("research"),
                false,
            );
            assert!(matches!(got, Err(Refusal::Held { .. })), "{got:?}");
        }
        let nobody = judge(
            &board("Research in Progress", None),
            ReviewMode::Skip,
            "analyst",
            "__COMPLETE__",
            Some("research"),
            false,
        );
        assert!(matches!(nobody, Err(Refusal::NotClaimed { .. })), "{nobody:?}");
        let unlocked = judge(
            &board("Research Needed", None),
            ReviewMode::Skip,
            "analyst",
            "Ready for Plan",
            Some("research"),
            false,
        );
        assert!(matches!(unlocked, Err(Refusal::NotClaimed { .. })), "{unlocked:?}");
    }

    #[test]
    fn a_claim_that_was_lost_is_noticed_by_its_token() {
        let moved = |proof: &str, board: &Board| {
            let actor = Actor { proof: Some(proof.into()), ..actor("builder") };
            let asked =
                Move { task: &id("a"), to: Target::Intent(Intent::Complete), command: Some("implement"), force: false };
            board.judge(&rules(ReviewMode::Skip), &actor, &asked)
        };
        assert!(moved("a:t", &board("In Progress", Some("builder"))).is_ok());
        assert!(
            moved("b:other", &board("In Progress", Some("builder"))).is_ok(),
            "a claim on another task says nothing here"
        );
        assert_eq!(moved("a:old", &board("In Progress", Some("builder"))), Err(Refusal::Lost { task: id("a") }));
        assert_eq!(moved("a:t", &board("In Progress", None)), Err(Refusal::Lost { task: id("a") }));
    }

    #[test]
    fn the_review_mode_decides_who_reviews_and_whether_implementing_may_skip_it() {
        let review =
            |mode, who| judge(&board("Plan in Review", None), mode, who, "__COMPLETE__", Some("review"), false).is_ok();
        let implement =
            |mode| judge(&board("Plan in Review", None), mode, "builder", "__LOCK__", Some("implement"), false).is_ok();
        assert!(
            review(ReviewMode::Skip, "builder")
                && review(ReviewMode::Auto, "builder")
                && !review(ReviewMode::Interactive, "builder")
        );
        assert!(
            !review(ReviewMode::Skip, "validator")
                && !review(ReviewMode::Auto, "validator")
                && review(ReviewMode::Interactive, "validator")
        );
        assert!(implement(ReviewMode::Skip) && !implement(ReviewMode::Auto) && !implement(ReviewMode::Interactive));
    }

    #[test]
    fn the_third_rejection_calls_for_a_person() {
        let reject = |rejections: u32| {
            let mut task = Task::new(id("a"), "A", StateName::new("Plan in Review"));
            task.rejections = rejections;
            let board = Board::new(vec![documented(task)], Vec::new(), Vec::new());
            judge(&board, ReviewMode::Auto, "builder", "Ready for Plan", Some("review"), false).unwrap()
        };
        let first = reject(0);
        assert_eq!(first.to.as_str(), "Ready for Plan");
        assert!(first.changes.contains(&Change::set(
            &id("a"),
            "labels",
            None,
            Some(Value::texts(["needs-iteration"]))
        )));
        assert!(first.changes.contains(&Change::set(&id("a"), "review.rejections", None, Some(Value::Integer(1)))));
        assert_eq!((reject(1).to.as_str(), reject(2).to.as_str()), ("Ready for Plan", "Human Needed"));
    }

    #[test]
    fn a_blocked_task_may_be_triaged_and_nothing_else() {
        let blocked = |state: &str| {
            let mut task = Task::new(id("a"), "A", StateName::new(state));
            task.blocked_by = vec![id("b")];
            Board::new(vec![task, Task::new(id("b"), "B", StateName::new("Backlog"))], Vec::new(), Vec::new())
        };
        assert!(
            judge(&blocked("Backlog"), ReviewMode::Skip, "analyst", "Research Needed", Some("triage"), false).is_ok()
        );
        for (command, role, from) in [
            ("research", "analyst", "Research Needed"),
            ("plan", "builder", "Ready for Plan"),
            ("implement", "builder", "Plan in Review"),
        ] {
            let got = judge(&blocked(from), ReviewMode::Skip, role, "__LOCK__", Some(command), false);
            assert!(matches!(got, Err(Refusal::Blocked { .. })), "{command}: {got:?}");
        }
        let merged = judge(&blocked("In Review"), ReviewMode::Skip, "integrator", "__COMPLETE__", Some("merge"), false);
        assert!(matches!(merged, Err(Refusal::Blocked { .. })), "{merged:?}");
    }

    #[test]
    fn a_large_task_is_split_before_research_except_by_force() {
        let sized = |estimate| {
            let mut task = Task::new(id("a"), "A", StateName::new("Research Needed"));
            task.estimate = Some(estimate);
            Board::new(vec![task], Vec::new(), Vec::new())
        };
        let research =
            |size, who, force| judge(&sized(size), ReviewMode::Skip, who, "__LOCK__", Some("research"), force);
        assert!(research(Estimate::S, "analyst", false).is_ok());
        assert!(matches!(research(Estimate::M, "analyst", true), Err(Refusal::Oversized { .. })));
        assert!(research(Estimate::M, "anna", true).unwrap().forced);
        assert!(judge(&sized(Estimate::Xl), ReviewMode::Skip, "analyst", "__COMPLETE__", Some("split"), false).is_ok());
    }

    fn family(children: &[(&str, &str)], parent: &str, atomic: bool) -> Board {
        let mut top = Task::new(id("p"), "P", StateName::new(parent));
        (top.kind, top.atomic) = (Kind::Epic, atomic);
        let child = |(name, state): &(&str, &str)| {
            let mut task = documented(Task::new(id(name), *name, StateName::new(*state)));
            task.parent = Some(id("p"));
            task
        };
        Board::new(children.iter().map(child).chain([top]).collect(), Vec::new(), Vec::new())
    }

    fn parent_goes(verdict: &Verdict) -> Option<&str> {
        verdict.along.iter().find(|(task, _)| *task == id("p")).map(|(_, state)| state.as_str())
    }

    #[test]
    fn a_parent_moves_to_the_least_gate_that_all_children_have_reached() {
        for (others, goes) in [
            (vec![("b", "Ready for Plan")], Some("Ready for Plan")),
            (vec![("b", "In Progress")], Some("Ready for Plan")),
            (vec![("b", "Done"), ("c", "Canceled")], Some("Ready for Plan")),
            (vec![("b", "Backlog")], None),
            (vec![("b", "Human Needed")], None),
        ] {
            let mut children = vec![("a", "Backlog")];
            children.extend(others.iter());
            let verdict = judge(
                &family(&children, "Backlog", false),
                ReviewMode::Skip,
                "analyst",
                "Ready for Plan",
                Some("triage"),
                false,
            );
            assert_eq!(parent_goes(&verdict.unwrap()), goes, "{others:?}");
        }
        let canceled = family(&[("a", "Backlog"), ("b", "Canceled")], "Backlog", false);
        assert_eq!(
            parent_goes(&judge(&canceled, ReviewMode::Skip, "analyst", "Canceled", Some("triage"), false).unwrap()),
            None
        );
    }

    #[test]
    fn a_parent_is_never_ahead_of_its_children() {
        let level = family(&[("a", "Plan in Review"), ("b", "Plan in Review")], "Plan in Review", false);
        let rejected = judge(&level, ReviewMode::Auto, "builder", "Ready for Plan", Some("review"), false).unwrap();
        assert_eq!(parent_goes(&rejected), Some("Ready for Plan"));
        let done = family(&[("a", "Done")], "Done", false);
        assert_eq!(
            parent_goes(&judge(&done, ReviewMode::Skip, "anna", "Backlog", None, false).unwrap()),
            Some("Backlog")
        );
        let reopened = family(&[("a", "Canceled"), ("b", "Done")], "Done", false);
        assert_eq!(
            parent_goes(&judge(&reopened, ReviewMode::Skip, "anna", "Backlog", None, false).unwrap()),
            Some("Backlog")
        );
        let to = Target::State(StateName::new("Ready for Plan"));
        let ahead = family(&[("a", "Backlog")], "Backlog", false);
        let asked = Move { task: &id("p"), to, command: Some("triage"), force: false };
        let got = ahead.judge(&rules(ReviewMode::Skip), &actor("analyst"), &asked);
        assert!(matches!(got, Err(Refusal::AheadOfChildren { .. })), "{got:?}");
    }

    #[test]
    fn a_group_is_planned_once_on_its_first_member_when_all_are_there() {
        let lock = |board: &Board, who: &str| {
            let asked = Move { task: &id(who), to: Target::Intent(Intent::Lock), command: Some("plan"), force: false };
            board.judge(&rules(ReviewMode::Skip), &actor("builder"), &asked)
        };
        let ready = family(&[("a", "Ready for Plan"), ("b", "Ready for Plan")], "Backlog", true);
        let verdict = lock(&ready, "a").unwrap();
        assert!(verdict.along.contains(&(id("b"), StateName::new("Plan in Progress"))), "{verdict:?}");
        assert!(matches!(lock(&ready, "b"), Err(Refusal::NotPrimary { .. })));
        let waiting = family(&[("a", "Ready for Plan"), ("b", "Research Needed")], "Backlog", true);
        assert!(matches!(lock(&waiting, "a"), Err(Refusal::NotConverged { .. })));
        let done = family(&[("a", "Ready for Plan"), ("b", "Done"), ("c", "Canceled")], "Backlog", true);
        assert!(lock(&done, "a").is_ok(), "finished members hold nobody back");
        let stuck = family(&[("a", "Ready for Plan"), ("b", "Human Needed")], "Backlog", true);
        assert!(lock(&stuck, "a").is_err());
        let apart = family(&[("a", "Ready for Plan"), ("b", "Ready for Plan")], "Backlog", false);
        let alone = lock(&apart, "b").unwrap();
        assert!(!alone.along.iter().any(|(task, _)| *task == id("a")), "without an atomic parent there is no group");
    }
}

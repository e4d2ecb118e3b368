//! The policy checks by name, with the events on which a host runs them.

/// When a policy check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before or after a tool is used. If the check gives no answer, the tool is used.
    Tool,
    /// When an agent wants to stop. If the check gives no answer, the agent stops.
    Stop,
}

#[derive(Debug, Clone, Copy)]
pub struct GateSpec {
    pub name: &'static str,
    pub events: &'static [&'static str],
    /// The tools that the check applies to.
    pub matcher: Option<&'static str>,
    pub about: &'static str,
}

impl GateSpec {
    pub fn phase(&self) -> Phase {
        if self.matcher.is_some() { Phase::Tool } else { Phase::Stop }
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        GATES.iter().find(|gate| gate.name == name)
    }
}

const BEFORE: &[&str] = &["PreToolUse"];
const AFTER: &[&str] = &["PostToolUse"];
const STOP: &[&str] = &["Stop", "SubagentStop"];
const BASH: Option<&str> = Some("Bash");
const WRITE: Option<&str> = Some("Write");
const EDITS: Option<&str> = Some("Write|Edit|MultiEdit|NotebookEdit");
/// Anchored: some versions of the host look for the pattern anywhere in the name.
const MOVES: Option<&str> = Some("^(Bash|mcp__.*ralph.*)$");

macro_rules! gates {
    ($($name:literal, $events:expr, $matcher:expr, $about:literal;)+) => {
        pub const GATES: &[GateSpec] =
            &[$(GateSpec { name: $name, events: $events, matcher: $matcher, about: $about }),+];
    };
}

gates! {
    "branch-gate", BEFORE, BASH, "only implement runs outside the main branch";
    "impl-branch-gate", BEFORE, BASH, "implementing does not change the main branch";
    "impl-worktree-gate", BEFORE, EDITS, "implementing writes only to the worktree of the task";
    "convergence-gate", BEFORE, MOVES, "a group is planned only when all of its tasks are ready";
    "plan-research-required", BEFORE, WRITE, "a plan needs research";
    "plan-state-gate", BEFORE, MOVES, "planning moves a task only to states that it can end in";
    "plan-postcondition", STOP, None, "planning ends with a plan, and the task in review";
    "review-no-dup", BEFORE, WRITE, "one review per round";
    "review-state-gate", BEFORE, MOVES, "a review moves a task only to states that it can end in";
    "review-verify-doc", AFTER, Some("Write|Edit|MultiEdit"), "a review document is complete";
    "review-postcondition", STOP, None, "a review ends with a verdict";
    "impl-plan-required", BEFORE, EDITS, "code is written only after a plan";
    "impl-state-gate", BEFORE, MOVES, "implementing moves a task only to states that it can end in";
    "impl-verify-commit", &["PostToolUse", "PostToolUseFailure"], BASH, "a failed commit or push is reported to the agent";
    "impl-verify-pr", AFTER, BASH, "a pull request is linked to its task";
    "impl-postcondition", STOP, None, "implementing ends with committed work, and the task in review";
    "worker-stop-gate", STOP, None, "a worker stops only when no work is left for it";
    "team-stop-gate", &["Stop"], None, "a team lead stops only when no work is left for the team";
    "team-task-completed", &["TaskCompleted"], None, "a completed step has a result";
    "session-start", &["SessionStart"], None, "git protects the main branch in the shells of a session";
    "team-teammate-idle", &["TeammateIdle"], None, "no idle teammate while there is work";
}

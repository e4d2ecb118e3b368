//! The gates by name, and when a host is to ask each of them.

/// When a gate is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before or after a tool is used: without an answer, the tool is used.
    Tool,
    /// When an agent wants to stop: without an answer, it stops.
    Stop,
}

#[derive(Debug, Clone, Copy)]
pub struct GateSpec {
    pub name: &'static str,
    pub events: &'static [&'static str],
    /// The tools that it is about.
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
    "branch-gate", BEFORE, BASH, "who does not implement works on the main branch";
    "impl-branch-gate", BEFORE, BASH, "who implements leaves the main branch alone";
    "impl-worktree-gate", BEFORE, EDITS, "who implements writes in its task's worktree";
    "convergence-gate", BEFORE, MOVES, "a group is planned when all of it has come that far";
    "plan-research-required", BEFORE, WRITE, "a plan needs research";
    "plan-state-gate", BEFORE, MOVES, "planning moves a task only where planning may";
    "plan-postcondition", STOP, None, "a planner leaves a plan behind, and the task in review";
    "review-no-dup", BEFORE, WRITE, "one critique a round";
    "review-state-gate", BEFORE, MOVES, "a review moves a task only where a review may";
    "review-verify-doc", AFTER, Some("Write|Edit|MultiEdit"), "a critique says what it must";
    "review-postcondition", STOP, None, "a reviewer leaves a verdict behind";
    "impl-plan-required", BEFORE, EDITS, "code needs a plan";
    "impl-state-gate", BEFORE, MOVES, "implementing moves a task only where implementing may";
    "impl-verify-commit", &["PostToolUse", "PostToolUseFailure"], BASH, "a commit or push that failed is noticed";
    "impl-verify-pr", AFTER, BASH, "a pull request is linked with its task";
    "impl-postcondition", STOP, None, "an implementer leaves its work committed, and the task in review";
    "worker-stop-gate", STOP, None, "a worker stops when there is nothing left for it";
    "team-stop-gate", &["Stop"], None, "a lead stops when its team has nothing left";
    "team-task-completed", &["TaskCompleted"], None, "what is completed has a result";
    "session-start", &["SessionStart"], None, "git itself guards main in the shells of a session";
    "team-teammate-idle", &["TeammateIdle"], None, "no idle teammate while there is work";
}

//! `hook`: the policy checks that an agent host runs before and after tool calls. They use the board and git.

mod documents;
mod git;
mod guard;
mod moves;
mod scene;
mod scope;
mod stop;
mod team;
mod write;

use serde::Serialize;

use crate::agent::{GATES, GatePhase, GateSpec, HookInput, Unreadable};
use crate::app::workspace::sub_agents;
use crate::app::{Code, Failure, Hint, Options, Workspace};
use scene::Scene;

pub use team::{Left, left_for};

/// The decision of a policy check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Gate {
    Allow,
    Block {
        why: String,
        /// What to do instead.
        instead: String,
    },
}

impl Gate {
    fn block(why: impl Into<String>, instead: impl Into<String>) -> Self {
        let line = |text: String| text.replace(['\n', '\r'], " ");
        Self::Block { why: line(why.into()), instead: line(instead.into()) }
    }

    /// Blocks because a verb refused, with the failure's first specific hint as the alternative.
    fn refused(failure: &Failure, otherwise: &str) -> Self {
        let general =
            |hint: &&Hint| matches!(hint, Hint::Workflow | Hint::List | Hint::Ready | Hint::Retry | Hint::Force);
        let hint = failure.hints.iter().find(|hint| !general(hint));
        let instead = hint.map_or_else(|| otherwise.to_owned(), |hint| hint.for_shell().join("; "));
        Self::block(failure.message.clone(), instead)
    }

    /// A command that cannot be parsed could do anything, so it is blocked.
    fn unreadable(why: Unreadable) -> Self {
        Self::block(format!("cannot parse the command: {why}"), "correct it, or split it into simpler commands")
    }

    pub fn is_block(&self) -> bool {
        *self != Self::Allow
    }
}

/// Runs the policy check `name` on the input of the host.
pub fn hook(ws: &Workspace, name: &str, input: &HookInput) -> Result<Gate, Failure> {
    let gate = find_gate(name)?;
    // The host already blocked one stop, so the second one is allowed.
    if input.stop_hook_active {
        return Ok(Gate::Allow);
    }
    if gate.name == "session-start" {
        return guard::begin(ws);
    }
    let scene = Scene::new(ws, input)?;
    match gate.name {
        "branch-gate" => git::on_main(&scene),
        "impl-branch-gate" => git::off_main(&scene),
        "impl-verify-commit" => git::commit_made(&scene),
        "impl-verify-pr" => git::pull_request_linked(&scene),
        "impl-worktree-gate" => write::in_worktree(&scene),
        "impl-plan-required" => write::with_plan(&scene),
        "plan-research-required" => write::with_research(&scene),
        "review-no-dup" => write::one_critique(&scene),
        "review-verify-doc" => write::whole_critique(&scene),
        "convergence-gate" => moves::converged(&scene),
        "plan-state-gate" => moves::legal(&scene, "plan"),
        "review-state-gate" => moves::legal(&scene, "review"),
        "impl-state-gate" => moves::legal(&scene, "implement"),
        "plan-postcondition" => stop::after_plan(&scene),
        "review-postcondition" => stop::after_review(&scene),
        "impl-postcondition" => stop::after_implement(&scene),
        "worker-stop-gate" | "team-teammate-idle" => team::worker_left(&scene),
        "team-stop-gate" => team::lead_left(&scene),
        _ => team::completed(&scene),
    }
}

pub fn find_gate(name: &str) -> Result<&'static GateSpec, Failure> {
    GateSpec::find(name).ok_or_else(|| {
        let all = GATES.iter().map(|gate| gate.name).collect::<Vec<_>>().join(", ");
        Failure::usage(Code::UnknownGate, format!("unknown policy check {name:?}: use {all}"))
    })
}

/// The answer of a policy check, with a note for the person.
#[derive(Debug, Serialize)]
pub struct Answered {
    pub name: &'static str,
    #[serde(flatten)]
    pub gate: Gate,
    pub note: Option<String>,
    /// Changed arguments for the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Answered {
    fn new(spec: &GateSpec, gate: Gate) -> Self {
        Self { name: spec.name, gate, note: None, arguments: None }
    }
}

/// Adds a sub-agent's id to the environment of its command, because its shell does not know the id. Only one policy
/// check does this, because all of them get the same command.
fn with_agent(spec: &GateSpec, input: &HookInput) -> Option<serde_json::Map<String, serde_json::Value>> {
    let asked = spec.name == "branch-gate" && input.event == "PreToolUse";
    let agent = input.agent.as_ref().filter(|id| asked && sub_agents::is_id(id))?;
    let command = input.command().filter(|command| command.contains("ralph "))?;
    let mut arguments = input.tool_input.clone();
    arguments.insert("command".into(), format!("export {}={agent}; {command}", sub_agents::VARIABLE).into());
    Some(arguments)
}

/// Runs a hook: parses the input of the host and returns the answer. If a check on stopping fails, the agent may stop.
pub fn answer_hook(options: &Options, name: &str, text: &str) -> Result<Answered, Failure> {
    if name == guard::REFS {
        let ws = Workspace::open(options)?;
        ws.refuse_broken_setup()?;
        let gate = guard::refs(&ws, text)?;
        return Ok(Answered { name: guard::REFS, gate, note: None, arguments: None });
    }
    let spec = find_gate(name)?;
    match decide(options, spec, text) {
        Ok((gate, arguments)) => Ok(Answered { arguments, ..Answered::new(spec, gate) }),
        // Hooks may be installed for all repositories of a person; without a board there is nothing to check.
        Err(failure) if matches!(failure.code, Code::NoRepository | Code::NoBoard) => {
            Ok(Answered::new(spec, Gate::Allow))
        }
        Err(failure) if spec.phase() == GatePhase::Stop => {
            Ok(Answered { note: Some(failure.message), ..Answered::new(spec, Gate::Allow) })
        }
        Err(failure) => Err(failure),
    }
}

type Decided = (Gate, Option<serde_json::Map<String, serde_json::Value>>);

fn decide(options: &Options, spec: &GateSpec, text: &str) -> Result<Decided, Failure> {
    let text = if spec.name == "session-start" && text.trim().is_empty() { "{}" } else { text };
    let input = HookInput::parse(text).map_err(|error| Failure::refused(Code::NotAHook, error.to_string()))?;
    let dir = input.cwd.clone().filter(|cwd| cwd.is_dir()).unwrap_or_else(|| options.dir.clone());
    let ws = Workspace::open(&Options { dir, ..options.clone() })?;
    ws.refuse_broken_setup()?;
    let gate = hook(&ws, spec.name, &input)?;
    let arguments = if gate.is_block() { None } else { with_agent(spec, &input) };
    Ok((gate, arguments))
}

//! The agent program of a command: its path, its arguments and its timeout.

use std::path::Path;
use std::time::Duration;

use crate::agent::host::Host;
use crate::app::agents::programs::refuse_outdated;
use crate::app::records::runs::OWN;
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::config::duration;
use crate::os::files::is_program;

/// The maximum length of an argument of a program.
const LONGEST: usize = 120 * 1024;

/// An agent program, and how long a run of it may take.
#[derive(Clone)]
pub(super) struct Agent {
    pub start: AgentStart,
    pub limit: Duration,
}

#[derive(Clone)]
pub(super) enum AgentStart {
    /// A command line from the settings or the caller, with placeholders.
    Words(Vec<String>),
    /// A program that ralph knows how to start.
    Host { host: &'static Host, model: Option<String>, args: Vec<String> },
}

impl Agent {
    /// The command line before a run has filled it in.
    pub fn words(&self) -> Vec<String> {
        match &self.start {
            AgentStart::Words(words) => words.clone(),
            AgentStart::Host { host, .. } => vec![host.name.to_owned()],
        }
    }

    /// The model that the settings name.
    pub fn model(&self) -> Option<String> {
        match &self.start {
            AgentStart::Words(_) => None,
            AgentStart::Host { model, .. } => model.clone(),
        }
    }

    pub fn host(&self) -> Option<&'static Host> {
        match self.start {
            AgentStart::Words(_) => None,
            AgentStart::Host { host, .. } => Some(host),
        }
    }
}

/// The program that the caller gave, or else that of the settings: for the command, the role, or all. Programs in the
/// board's settings must be trusted.
pub(super) fn agent_for(ws: &Workspace, command: &str, role: &str, typed: &[String]) -> Result<Agent, Failure> {
    let limit = limit(ws, command, role);
    if !typed.is_empty() {
        refuse_missing(&typed[0])?;
        return Ok(Agent { start: AgentStart::Words(typed.to_vec()), limit });
    }
    let set = nearest("command", command, role).iter().find_map(|key| ws.settings.program(key));
    let profile = || {
        let host = Host::find(ws.settings.text("agent.profile"))?;
        let model = nearest("model", command, role).iter().find_map(|key| text(ws, key));
        Some(AgentStart::Host { host, model, args: ws.settings.program("agent.args").unwrap_or_default() })
    };
    let start = set.map(AgentStart::Words).or_else(profile).ok_or_else(|| {
        Failure::refused(Code::NoAgent, format!("no agent program is set for {command}"))
            .hint(Hint::set("agent.profile", "claude", "to use Claude Code"))
            .hint(Hint::option("-- PROGRAM ARGUMENTS", "at the end of the command to use another program"))
    })?;
    require_trust(ws)?;
    let agent = Agent { start, limit };
    refuse_missing(&agent.words()[0])?;
    Ok(agent)
}

/// The keys of a setting, the most specific first.
fn nearest(name: &str, command: &str, role: &str) -> [String; 3] {
    [format!("agent.{command}.{name}"), format!("agent.{role}.{name}"), format!("agent.{name}")]
}

fn text(ws: &Workspace, key: &str) -> Option<String> {
    ws.settings.get(key).ok().map(|setting| setting.value.clone()).filter(|value| !value.is_empty())
}

/// Refuses a program that cannot be started, because the settings are wrong.
fn refuse_missing(program: &str) -> Result<(), Failure> {
    let there = match program.contains(std::path::is_separator) {
        // A relative path or one with placeholders is only checked when the program starts.
        true => program.contains('{') || !Path::new(program).is_absolute() || is_program(Path::new(program)),
        false => std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))),
    };
    let why = if program.contains(std::path::is_separator) { "no such program" } else { "not found on the PATH" };
    match there {
        true => Ok(()),
        false => Err(Failure::refused(Code::NoProgram, format!("cannot start {program:?}: {why}"))
            .hint(Hint::step("use a program on your PATH, or its full path"))
            .hint(Hint::set("agent.command", "COMMAND", "to use another program"))),
    }
}

/// Checks that every command of a team has a program, which supports the options of its profile.
pub fn check_agents(ws: &Workspace, typed: &[String]) -> Result<(), Failure> {
    let mut hosts = std::collections::BTreeMap::new();
    for command in ws.flow().commands().iter().filter(|command| !OWN.contains(&command.name.as_str())) {
        let role = ws.flow().roles().iter().find(|role| command.is_for(&role.name, ws.rules().mode));
        if let Some(role) = role {
            let agent = agent_for(ws, &command.name, &role.name, typed)?;
            hosts.extend(agent.host().map(|host| (host.name, host)));
        }
    }
    hosts.into_values().try_for_each(refuse_outdated)
}

fn limit(ws: &Workspace, command: &str, role: &str) -> Duration {
    let set = nearest("timeout", command, role).iter().find_map(|key| duration(&text(ws, key)?));
    Duration::from_secs(set.unwrap_or_default().as_secs().unsigned_abs())
}

/// The values of the placeholders.
pub(super) struct Filling<'a> {
    pub prompt: &'a str,
    pub prompt_file: &'a Path,
    pub task: &'a str,
    pub command: &'a str,
    pub worker: &'a str,
    pub role: &'a str,
    pub dir: &'a Path,
    pub board: &'a Path,
    pub git_dir: &'a Path,
    /// The folder of the documents that the command writes; for code, that of the plan whose boxes it ticks.
    pub documents: &'a Path,
}

/// Fills in the placeholders; also returns whether the prompt is passed in the arguments instead of on standard input.
pub(super) fn filled(words: &[String], with: &Filling<'_>) -> Result<(Vec<String>, bool), Failure> {
    let [file, dir, board, git_dir, documents] =
        [with.prompt_file, with.dir, with.board, with.git_dir, with.documents].map(|path| path.display().to_string());
    let places = [
        ("{prompt}", with.prompt),
        ("{prompt_file}", &file),
        ("{task}", with.task),
        ("{command}", with.command),
        ("{worker}", with.worker),
        ("{role}", with.role),
        ("{dir}", &dir),
        ("{worktree}", &dir),
        ("{board}", &board),
        ("{git_dir}", &git_dir),
        ("{documents}", &documents),
    ];
    let gives = |word: &String| word.contains("{prompt}") || word.contains("{prompt_file}");
    if with.prompt.len() > LONGEST && words.iter().any(|word| word.contains("{prompt}")) {
        let message = format!("the prompt is too long for an argument ({} bytes)", with.prompt.len());
        return Err(Failure::refused(Code::LongPrompt, message).hint(Hint::step(
            "use {prompt_file} in agent.command, or no placeholder to pass the prompt on standard input",
        )));
    }
    Ok((words.iter().map(|word| fill(word, &places)).collect(), words.iter().any(gives)))
}

/// Replaces all placeholders in one pass, so that values are not expanded again.
fn fill(word: &str, places: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (place, value) = places.iter().find(|(place, _)| rest.starts_with(place)).copied().unwrap_or(("{", "{"));
        text.push_str(value);
        rest = &rest[place.len()..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_filled_once_and_stays_one_argument() {
        let places = [("{task}", "{prompt} x"), ("{prompt}", "p")];
        assert_eq!(fill("a {task} {other} {", &places), "a {prompt} x {other} {");
    }
}

//! The agent program of a command: what is run, with what in its arguments, and for how long at most.

use std::path::Path;
use std::time::Duration;

use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::config::duration;

/// Ready commands for programs that many have.
const PROFILES: [(&str, &[&str]); 3] = [
    ("claude", &["claude", "-p", "{prompt}"]),
    ("codex", &["codex", "exec", "{prompt}"]),
    ("gemini", &["gemini", "-p", "{prompt}"]),
];

/// More than this cannot be one argument of a program.
const LONGEST: usize = 120 * 1024;

/// A program and how long one run of it may take.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub words: Vec<String>,
    pub limit: Duration,
}

/// What was typed, else what the settings say for the command, for the role, for all. Programs of the board's own file
/// need trust.
pub(super) fn agent_for(ws: &Workspace, command: &str, role: &str, typed: &[String]) -> Result<Agent, Failure> {
    let limit = limit(ws, command, role);
    if !typed.is_empty() {
        refuse_missing(&typed[0])?;
        return Ok(Agent { words: typed.to_vec(), limit });
    }
    let places = [format!("agent.{command}.command"), format!("agent.{role}.command"), "agent.command".into()];
    let set = places.iter().find_map(|key| ws.settings.program(key));
    let profile = || {
        let name = ws.settings.text("agent.profile");
        let found = PROFILES.iter().find(|(profile, _)| *profile == name)?;
        Some(found.1.iter().map(|word| (*word).to_owned()).collect())
    };
    let words: Vec<String> = set.or_else(profile).ok_or_else(|| {
        Failure::refused(Code::NoAgent, format!("there is no program that could {command} a task"))
            .hint(Hint::set("agent.profile", "claude", "to use Claude Code"))
            .hint(Hint::option("-- PROGRAM ARGUMENTS", "at the end of the command to use another program"))
    })?;
    require_trust(ws)?;
    refuse_missing(&words[0])?;
    Ok(Agent { words, limit })
}

/// What cannot be started is nobody's failure but that of the settings.
fn refuse_missing(program: &str) -> Result<(), Failure> {
    let there = match program.contains('/') {
        // One that depends on the task, or on where it is run, is found out then.
        true => program.contains('{') || !program.starts_with('/') || runs(Path::new(program)),
        false => std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| runs(&folder.join(program)))),
    };
    match there {
        true => Ok(()),
        false => {
            Err(Failure::refused(Code::NoProgram, format!("there is no program {program:?} that could be started"))
                .hint(Hint::step("use a program on your PATH, or its full path"))
                .hint(Hint::set("agent.command", "COMMAND", "to change it")))
        }
    }
}

fn runs(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether there is a program for everything that a team may have to do.
pub fn check_agents(ws: &Workspace, typed: &[String]) -> Result<(), Failure> {
    for command in ws.flow().commands().iter().filter(|command| !super::integrate::OWN.contains(&command.name.as_str()))
    {
        let role = ws.flow().roles().iter().find(|role| command.is_for(&role.name, ws.rules().mode));
        if let Some(role) = role {
            agent_for(ws, &command.name, &role.name, typed)?;
        }
    }
    Ok(())
}

fn limit(ws: &Workspace, command: &str, role: &str) -> Duration {
    let places = [format!("agent.{command}.timeout"), format!("agent.{role}.timeout"), "agent.timeout".into()];
    let set = places.iter().filter_map(|key| duration(&ws.settings.get(key).ok()?.value)).next();
    Duration::from_secs(set.unwrap_or_default().as_secs().unsigned_abs())
}

/// What the places in its arguments stand for.
pub(super) struct Filling<'a> {
    pub prompt: &'a str,
    pub prompt_file: &'a Path,
    pub task: &'a str,
    pub command: &'a str,
    pub worker: &'a str,
    pub role: &'a str,
    pub dir: &'a Path,
}

/// The words with their places filled, and whether the prompt is given otherwise than on standard input.
pub(super) fn filled(words: &[String], with: &Filling<'_>) -> Result<(Vec<String>, bool), Failure> {
    let (file, dir) = (with.prompt_file.display().to_string(), with.dir.display().to_string());
    let places = [
        ("{prompt}", with.prompt),
        ("{prompt_file}", &file),
        ("{task}", with.task),
        ("{command}", with.command),
        ("{worker}", with.worker),
        ("{role}", with.role),
        ("{dir}", &dir),
    ];
    let gives = |word: &String| word.contains("{prompt}") || word.contains("{prompt_file}");
    if with.prompt.len() > LONGEST && words.iter().any(|word| word.contains("{prompt}")) {
        let message = format!("the prompt has {} bytes, too many for an argument", with.prompt.len());
        return Err(Failure::refused(Code::LongPrompt, message).hint(Hint::step(
            "use {prompt_file} in agent.command, or no placeholder to get the prompt on standard input",
        )));
    }
    Ok((words.iter().map(|word| fill(word, &places)).collect(), words.iter().any(gives)))
}

/// In one pass: what is put in is not looked at again.
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

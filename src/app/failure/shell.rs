//! The wording of hints for a shell, for the command line and the policy checks.

use super::Hint;
use crate::task::TaskId;

impl Hint {
    pub fn for_shell(&self) -> Vec<String> {
        match self {
            Self::Init => vec!["`ralph init` to create one".into()],
            Self::GitInit => vec!["`ralph init --git` to create a repository and a board here".into()],
            Self::DidYouMean { candidates } => {
                candidates.iter().map(|found| format!("did you mean {} ({})?", found.id, found.title)).collect()
            }
            Self::Edit { file, line, change } => vec![edit(file, *line, change.as_deref())],
            Self::Retry => vec!["try again".into()],
            Self::List => vec!["`ralph task ls` to list the tasks".into()],
            Self::Ready => {
                vec!["`ralph next --wait 10m` to wait for work".into(), "`ralph status` to see what is blocked".into()]
            }
            Self::Workflow => vec!["`ralph workflow` to see the allowed moves".into()],
            Self::Wait { task } => vec![format!("`ralph wait {task} --until free` to wait for it")],
            Self::Why { task } => vec![format!("`ralph why {task}` to see what blocks it")],
            Self::Claim { task, command } => vec![claim(task, command.as_deref())],
            Self::Artifact { kind, task } => vec![
                format!("`ralph artifact new {kind} {task}` to create it"),
                format!("`ralph artifact link {kind} {task}` to link it"),
            ],
            Self::CheckArtifact { kind, task } => {
                vec![format!("`ralph artifact check {kind} {task}` to see what is missing")]
            }
            Self::Result { task } => vec![format!("`ralph task set {task} result=TEXT` to record the result")],
            Self::Worktree { task } => vec![format!("`ralph worktree add {task}` to create it")],
            Self::Move => vec!["`ralph move TASK STATE` to change the state".into()],
            Self::Unblock => vec!["`ralph unblock TASK --from OTHER` to remove one of these links".into()],
            Self::CustomKey => vec!["`--custom` to set a field of your own".into()],
            Self::SayCommand { choices } => {
                vec![one_of("--for COMMAND", "to choose the command that you act for", choices)]
            }
            Self::SayRole { roles } => vec![one_of("--role ROLE", "to choose a role", roles)],
            Self::SayWho => vec!["use `--as NAME`, set RALPH_WORKER, or set git's user.name".into()],
            Self::Trust => vec!["ask a person to review and trust them with `ralph trust`".into()],
            Self::Run { command, purpose } => vec![format!("`ralph {}` {purpose}", typed(command))],
            Self::Shell { command, purpose } => vec![format!("`{}` {purpose}", typed(command))],
            Self::Set { key, value, purpose } => vec![format!("`ralph config set {key} {value}` {purpose}")],
            Self::Variable { name, purpose } => vec![format!("set {name} {purpose}")],
            Self::Option { flag, purpose } => vec![format!("`{flag}` {purpose}")],
            Self::Omit { flag, purpose } => vec![format!("omit `{flag}` {purpose}")],
            Self::Force => vec!["a person can override this with `--force`".into()],
            Self::Open { url, purpose } => vec![format!("open {url} {purpose}")],
            Self::Do { text } => vec![text.clone()],
        }
    }
}

fn edit(file: &str, line: u32, change: Option<&str>) -> String {
    let place = if line > 0 { format!("{file} at line {line}") } else { file.to_owned() };
    change.map_or_else(|| format!("edit {place}"), |change| format!("edit {place}: {change}"))
}

fn claim(task: &TaskId, command: Option<&str>) -> String {
    let command = command.map(|command| format!(" --for {command}")).unwrap_or_default();
    format!("`ralph claim {task}{command}` to claim it")
}

fn one_of(flag: &str, purpose: &str, choices: &[String]) -> String {
    match choices {
        [] => format!("`{flag}` {purpose}"),
        some => format!("`{flag}` {purpose}: {}", some.join(", ")),
    }
}

/// Formats a command for typing: words that contain blanks are quoted.
fn typed(command: &[String]) -> String {
    let quoted =
        |word: &String| if word.chars().any(char::is_whitespace) { format!("\"{word}\"") } else { word.clone() };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

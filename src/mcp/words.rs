//! The hints of refusals as calls of this server's tools; hints without a matching tool are left out.

use super::reply::cut;
use crate::app::Hint;

pub fn hint(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::Init | Hint::GitInit => vec!["ask a person to create the board with `ralph init`".into()],
        Hint::DidYouMean { candidates } => {
            let named = candidates.iter().map(|found| match found.title == found.id.as_str() {
                true => found.id.to_string(),
                false => format!("{} ({})", found.id, cut(&found.title, 60)),
            });
            let named: Vec<String> = named.collect();
            if named.is_empty() { Vec::new() } else { vec![format!("did you mean {}?", named.join(" or "))] }
        }
        Hint::List => vec!["call list to see the tasks".into()],
        Hint::Ready => vec!["call next with `wait`, or status to see what is blocked".into()],
        Hint::Workflow => vec!["read ralph://workflow for the allowed moves".into()],
        Hint::Wait { task } => vec![format!("call next for other work, or check {task} again later")],
        Hint::Why { task } => vec![format!("call get with task {task} to see what blocks it")],
        Hint::Claim { task, command: Some(command) } => {
            vec![format!("call claim with task {task} and command {command}")]
        }
        Hint::Claim { task, command: None } => vec![format!("call claim with task {task}")],
        Hint::Artifact { .. } => vec!["call artifact: action new, fill it in, then action link".into()],
        Hint::CheckArtifact { .. } => vec!["call artifact with action check to see what is missing".into()],
        Hint::Result { .. } => vec!["call save with `result`".into()],
        // There is no tool for this, but an agent that writes code has a shell.
        Hint::Worktree { task } => vec![format!("create it with `ralph worktree add {task}` in a shell")],
        Hint::Move => vec!["pass `state` to move it".into()],
        Hint::Unblock => vec!["call relate with `remove_blocked_by` to remove one of these links".into()],
        Hint::CustomKey => vec!["pass fields of your own in `other`".into()],
        Hint::SayCommand { choices } => vec![argument("command", choices)],
        Hint::SayRole { roles } => vec![argument("role", roles)],
        Hint::SayWho => vec!["pass `as`, or ask a person to start the server with `--as NAME`".into()],
        Hint::Trust => vec!["ask a person to review and trust them with `ralph trust`".into()],
        Hint::Run { .. }
        | Hint::Shell { .. }
        | Hint::Set { .. }
        | Hint::Variable { .. }
        | Hint::Option { .. }
        | Hint::Omit { .. }
        | Hint::Force => Vec::new(),
        Hint::Edit { .. } | Hint::Retry | Hint::Open { .. } | Hint::Do { .. } => hint.for_shell(),
    }
}

fn argument(name: &str, choices: &[String]) -> String {
    match choices {
        [] => format!("pass `{name}`"),
        some => format!("pass `{name}`: {}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Candidate;
    use crate::task::TaskId;

    #[test]
    fn an_agent_is_told_of_no_option_and_of_no_way_to_force() {
        for dropped in
            [Hint::Force, Hint::option("--force", "to do it"), Hint::omit("--role", ""), Hint::run("undo", "")]
        {
            assert_eq!(hint(&dropped), [""; 0], "{dropped:?}");
        }
    }

    #[test]
    fn what_could_be_meant_is_one_question() {
        let near = |id: &str, title: &str| Candidate { id: TaskId::new(id).unwrap(), title: title.into() };
        let candidates = vec![near("340", "340"), near("t-x7", "Login")];
        assert_eq!(hint(&Hint::DidYouMean { candidates }), ["did you mean 340 or t-x7 (Login)?"]);
        assert_eq!(hint(&Hint::DidYouMean { candidates: Vec::new() }), [""; 0]);
    }

    #[test]
    fn an_argument_is_named_with_its_choices() {
        let choices = vec!["plan".to_owned(), "review".to_owned()];
        assert_eq!(hint(&Hint::SayCommand { choices }), ["pass `command`: plan, review"]);
        assert_eq!(hint(&Hint::SayCommand { choices: Vec::new() }), ["pass `command`"]);
    }
}

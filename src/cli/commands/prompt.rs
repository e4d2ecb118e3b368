//! `ralph prompt`.

use crate::app;
use crate::cli::args::PromptArgs;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &PromptArgs) -> Answer {
    let prompt = session.with(|ws| app::prompt(ws, &args.command, &ws.find(&args.task)?))?;
    if session.out.json {
        session.out.json(&prompt);
    } else {
        session.out.text(&prompt.text);
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::agent::prompt::tests::sample;
    use crate::agent::prompt::{commands, embedded, render};
    use crate::cli::args::Cli;

    /// Every `ralph …` that a prompt has in backticks or on an indented line.
    fn command_lines(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for line in text.lines() {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            found.extend(line.strip_prefix("    ").map(|line| line.trim().to_owned()));
        }
        found.retain(|line| line.starts_with("ralph "));
        found
    }

    /// The words of a line, split as by a shell.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, part) in line.split('"').enumerate() {
            match at % 2 {
                1 => words.push(part.to_owned()),
                _ => words.extend(part.split_whitespace().map(str::to_owned)),
            }
        }
        words
    }

    #[test]
    fn every_command_that_a_prompt_names_can_be_typed() {
        for command in commands() {
            let mut context = sample(command);
            // Text that people wrote may contain anything.
            context.description.clear();
            let text = render(command, embedded(command).unwrap(), &context).unwrap();
            let lines = command_lines(&text);
            assert!(lines.len() >= 3, "{command}: {lines:?}");
            for line in lines {
                if let Err(error) = Cli::try_parse_from(words(&line)) {
                    panic!("{command}: {line}\n{error}");
                }
            }
        }
    }
}

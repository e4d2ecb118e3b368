//! Every command line on a page is valid: its commands and options exist.

use clap::Command;

use super::markdown::{Block, commands, console, parse};
use super::{all_pages, read};

fn cli() -> Command {
    let mut command = ralph::cli::command();
    command.build();
    command
}

/// The words of each `ralph` command in a line of shell.
fn typed(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for simple in simple_commands(line) {
        let words = shlex::split(&simple).unwrap_or_else(|| panic!("cannot split {simple:?}"));
        let start = words.iter().position(|word| !word.contains('=') || word.starts_with('-')).unwrap_or(0);
        if words.get(start).is_some_and(|word| word == "ralph") {
            found.push(words[start..].to_vec());
        }
    }
    found
}

/// A shell line split at pipes, `;`, `&`, `$(…)` and redirections, without its comment.
fn simple_commands(line: &str) -> Vec<String> {
    let (mut parts, mut quote, mut before) = (vec![String::new()], None, ' ');
    // The quotes around each `$(`.
    let mut around: Vec<Option<char>> = Vec::new();
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => while letters.next_if(|c| *c != '\n').is_some() {},
            (None | Some('"'), '$') if letters.peek() == Some(&'(') => {
                letters.next();
                parts.push(String::new());
                around.push(quote.take());
            }
            (None, ')') => {
                parts.push(String::new());
                quote = around.pop().flatten();
            }
            (None, '|' | ';' | '&' | '(' | '\n') => parts.push(String::new()),
            (None, '<' | '>') => parts.push("redirected ".into()),
            (None, '\'' | '"') => {
                quote = Some(c);
                last(&mut parts).push(c);
            }
            (Some(open), c) => {
                last(&mut parts).push(c);
                quote = (c != open).then_some(open);
            }
            (None, c) => last(&mut parts).push(c),
        }
        before = c;
    }
    // The rest of a text around `$(…)` is not a command.
    parts.retain(|part| shlex::split(part).is_some_and(|words| !words.is_empty()));
    parts.iter().map(|part| part.trim().trim_start_matches("do ").to_owned()).collect()
}

fn last(parts: &mut [String]) -> &mut String {
    parts.last_mut().unwrap()
}

/// The shell lines of a block, with their lines in the page.
fn lines(block: &Block) -> Vec<(usize, String)> {
    let found = match block.language.as_deref() {
        Some("sh") => commands(&block.text),
        Some("console") => console(&block.text).into_iter().map(|typed| (typed.line, typed.command)).collect(),
        _ => Vec::new(),
    };
    found.into_iter().map(|(line, text)| (block.line + line, text)).collect()
}

#[test]
fn every_command_of_a_block_can_be_parsed() {
    let command = cli();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for name in all_pages() {
        for (line, text) in parse(&read(&name)).blocks.iter().flat_map(lines) {
            for words in typed(&text) {
                seen += 1;
                if let Err(error) = command.clone().try_get_matches_from(&words) {
                    wrong.extend(error.use_stderr().then(|| format!("{name}:{line}: {}: {error}", words.join(" "))));
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} commands were found");
    assert_eq!(wrong, Vec::<String>::new());
}

/// The problem with a command that a sentence names, such as `ralph runs tail x7kq -f`.
fn trouble(command: &Command, text: &str) -> Option<String> {
    // A help page that is not a clap command.
    if text == "ralph help agents" {
        return None;
    }
    let mut words = text.split_whitespace().skip(1).peekable();
    let mut at = command;
    while let Some(sub) = words.peek().and_then(|word| at.find_subcommand(word)) {
        at = sub;
        words.next();
    }
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    if let Some(word) =
        words.peek().filter(|word| at.has_subcommands() && at.get_positionals().next().is_none() && is_name(word))
    {
        return Some(format!("`{}` has no command {word:?}", at.get_name()));
    }
    let options = words.take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
    let mut unknown = options.filter(|option| !has_option(at, option));
    unknown.next().map(|option| format!("`{}` has no option {option:?}", at.get_name()))
}

fn has_option(command: &Command, typed: &str) -> bool {
    let name = typed.split('=').next().unwrap_or_default().trim_end_matches([',', ']']);
    command.get_arguments().any(|arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => arg.get_short().is_some_and(|short| name == format!("-{short}")),
    }) || ["--version", "--help", "-h", "-"].contains(&name)
}

/// Whether any command has an option of this name.
fn is_option_of_some(command: &Command, name: &str) -> bool {
    has_option(command, name) || command.get_subcommands().any(|sub| is_option_of_some(sub, name))
}

#[test]
fn every_command_and_option_that_a_sentence_names_exists() {
    let command = cli();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for name in all_pages() {
        for (code, line) in parse(&read(&name)).codes {
            let said = if code.starts_with("ralph ") {
                trouble(&command, &code)
            } else if code.starts_with("--") && !OTHERS.contains(&code.split([' ', '=']).next().unwrap_or_default()) {
                let mut options = code.split_whitespace().filter(|word| word.starts_with("--"));
                options
                    .find(|option| !is_option_of_some(&command, option))
                    .map(|option| format!("nothing has {option}"))
            } else {
                continue;
            };
            seen += 1;
            wrong.extend(said.map(|why| format!("{name}:{line}: `{code}`: {why}")));
        }
    }
    assert!(seen > 150, "only {seen} were found");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Options of other programs.
const OTHERS: [&str; 2] = ["--", "--force-with-lease"];

#[test]
fn commands_are_in_blocks_that_are_run() {
    for name in all_pages() {
        for block in parse(&read(&name)).blocks {
            let indented = block.language.is_none() && block.text.lines().any(|line| line.starts_with("ralph "));
            assert!(!indented, "{name}:{}: put commands between ```sh and ```", block.line);
            let strange = ["bash", "shell", "zsh"].contains(&block.language.as_deref().unwrap_or_default());
            assert!(!strange, "{name}:{}: use ```sh or ```console", block.line);
        }
    }
}

#[test]
fn a_command_that_is_not_there_is_found() {
    let command = cli();
    for bad in ["ralph frobnicate", "ralph runs frobnicate", "ralph ls --frobnicate", "ralph show -z x7kq"] {
        assert!(trouble(&command, bad).is_some(), "{bad}");
    }
    for good in ["ralph help COMMAND", "ralph wt ls", "ralph team TASK… -- ./agent --what", "ralph sync --watch"] {
        assert_eq!(trouble(&command, good), None, "{good}");
    }
    let line = "cd \"$(ralph worktree path x7kq)\" && A=1 ralph ls --all | jq .x > 'a b' # ralph no";
    let found: Vec<String> = typed(line).iter().map(|words| words.join(" ")).collect();
    assert_eq!(found, ["ralph worktree path x7kq", "ralph ls --all"]);
}

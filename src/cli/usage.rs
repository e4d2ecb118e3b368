//! Converts a usage error of the parser into a failure, for `--json`.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::app::{Code, Failure, Hint};

pub fn failure(error: &clap::Error) -> Failure {
    let what = match error.kind() {
        ErrorKind::UnknownArgument => "unexpected argument",
        kind => kind.as_str().unwrap_or("invalid command line"),
    };
    let about =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::PriorArg];
    let about: Vec<String> = about.iter().filter_map(|kind| error.get(*kind)).map(shown).collect();
    let cause = error.source().map(ToString::to_string);
    let details: Vec<String> = about.into_iter().chain(cause).filter(|text| !text.is_empty()).collect();
    let message = if details.is_empty() { what.to_owned() } else { format!("{what}: {}", details.join(", ")) };
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
        ContextKind::ValidValue,
        ContextKind::ValidSubcommand,
    ];
    let suggested = suggested.iter().filter_map(|kind| error.get(*kind)).map(shown).filter(|text| !text.is_empty());
    let failure = suggested.fold(Failure::usage(Code::Usage, message), |failure, text| {
        failure.hint(Hint::step(format!("use one of: {text}")))
    });
    failure.hint(Hint::run("help", "to see the commands and their options"))
}

fn shown(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(all) => all.join(", "),
        ContextValue::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn a_wrong_option_is_named_with_the_one_that_was_meant() {
        let error = Cli::try_parse_from(["ralph", "task", "ls", "--jsno"]).unwrap_err();
        let failure = failure(&error);
        assert_eq!(failure.message, "unexpected argument: --jsno");
        assert_eq!(failure.hints[0], Hint::step("use one of: --json"));
    }
}

//! Settings in layers: default < the user's file < the board's file < environment < flag; each value records its source.

mod budget;
mod on;
mod specs;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use jiff::SignedDuration;
use toml::Value;

use crate::task::Problem;
pub use budget::Budget;
pub use on::OnRule;
pub use specs::SPECS;

/// The format of a board that this ralph reads and writes.
pub const FORMAT: i64 = 1;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{0}")]
    Syntax(Problem),
    #[error(
        "this board needs another version of ralph: {file} has format {found}, but this version reads format {FORMAT}"
    )]
    Format { file: String, found: String },
    #[error("unknown setting {key:?}{}", meant.as_ref().map(|m| format!(": did you mean {m:?}?")).unwrap_or_default())]
    UnknownKey { key: String, meant: Option<String> },
    #[error("invalid value {value:?} for {key}: {wanted}")]
    BadValue { key: String, value: String, wanted: String, source_name: String },
    #[error("{0:?} is not KEY=VALUE")]
    NotAssignment(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueShape {
    Text,
    Prefix,
    /// The name of a branch, without characters that have a meaning in a shell.
    Branch,
    Choice(&'static [&'static str]),
    Count,
    /// A count that may be zero.
    Number,
    /// A count, or empty: then the workflow's own number applies.
    Limit,
    Duration,
    /// A duration, or empty: then a more general setting applies.
    Lasting,
    /// Money, tokens or runs; or empty: then there is no budget.
    Budget,
    /// Programs with their arguments, as an array of arrays: they run only once they are trusted.
    Programs,
    /// One program with its arguments, as an array; it needs the same trust.
    Program,
    /// A list of words for an agent, as an array; it needs the same trust.
    Words,
}

/// One setting that ralph knows.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    pub key: &'static str,
    pub shape: ValueShape,
    pub default: &'static str,
    pub about: &'static str,
}

/// Where a value comes from; later variants win.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Default,
    User(PathBuf),
    Board(PathBuf),
    Environment(String),
    Flag,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) | Self::Board(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("--config"),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Setting {
    pub value: String,
    pub source: Source,
}

#[derive(Debug, Clone)]
pub struct Settings {
    values: BTreeMap<&'static str, Setting>,
    /// The rules, in the order of the files.
    pub rules: Vec<OnRule>,
    /// Keys in the files that this version does not know; they are kept. Likely typing errors have a hint.
    pub unknown: Vec<Problem>,
    /// Invalid values; the settings keep their previous value.
    pub bad: Vec<Problem>,
    /// `[github.states]`: columns of a project whose name differs from the state.
    pub github_states: BTreeMap<String, String>,
}

impl Spec {
    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("RALPH_{}", self.key.replace('.', "_").to_uppercase())
    }

    /// The value as it is written to a file.
    pub fn value(&self, text: &str) -> crate::task::Value {
        use crate::task::Value;
        match (self.shape, programs(text)) {
            (ValueShape::Programs, Some(programs)) => Value::List(programs.into_iter().map(Value::texts).collect()),
            (ValueShape::Program | ValueShape::Words, _) => {
                program(text).map_or_else(|| Value::text(text), Value::texts)
            }
            (ValueShape::Count | ValueShape::Number | ValueShape::Limit, _) => {
                text.parse().map_or_else(|_| Value::text(text), Value::Integer)
            }
            _ => Value::text(text),
        }
    }
}

impl Settings {
    pub fn defaults() -> Self {
        let default = |spec: &Spec| (spec.key, Setting { value: spec.default.to_owned(), source: Source::Default });
        Self {
            values: SPECS.iter().map(default).collect(),
            rules: Vec::new(),
            unknown: Vec::new(),
            bad: Vec::new(),
            github_states: BTreeMap::new(),
        }
    }

    /// Adds a file as the next layer.
    pub fn add_file(&mut self, source: Source, text: &str) -> Result<(), ConfigError> {
        let file = source.to_string();
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start);
            ConfigError::Syntax(Problem::at(&file, text, offset, error.message().trim()))
        })?;
        if let Some(found) = table.get("format").filter(|found| found.as_integer() != Some(FORMAT)) {
            return Err(ConfigError::Format { file, found: found.to_string() });
        }
        if let Some(rules) = table.remove("on") {
            self.rules.extend(on::rules(&file, text, rules, &source)?);
        }
        let mut leaves = Vec::new();
        flatten(&table, "", &mut leaves);
        for (key, value) in leaves.into_iter().filter(|(key, _)| key != "format") {
            if let Some(column) = key.strip_prefix("github.states.") {
                self.github_states.insert(column.to_owned(), value);
                continue;
            }
            let at = |message: String| Problem::at(&file, text, place_of(text, &key), message);
            match spec(&key) {
                Some(spec) => match self.put(spec, &value, source.clone()) {
                    Err(error @ ConfigError::BadValue { .. }) => self.bad.push(at(error.to_string())),
                    other => other?,
                },
                None => {
                    let problem = at(format!("unknown setting {key:?}"));
                    self.unknown.push(match nearest(&key) {
                        Some(near) => problem.hint(format!("did you mean {near:?}?")),
                        None => problem,
                    });
                }
            }
        }
        Ok(())
    }

    /// `RALPH_BOARD_PREFIX` and the like.
    pub fn add_environment(&mut self, lookup: impl Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        for spec in SPECS {
            let name = spec.variable();
            if let Some(value) = lookup(&name).filter(|value| !value.is_empty()) {
                self.put(spec, &value, Source::Environment(name))?;
            }
        }
        Ok(())
    }

    /// `--config key=value`.
    pub fn add_flag(&mut self, typed: &str) -> Result<(), ConfigError> {
        let (key, value) = typed.split_once('=').ok_or_else(|| ConfigError::NotAssignment(typed.to_owned()))?;
        self.put(known(key.trim())?, value.trim(), Source::Flag)
    }

    fn put(&mut self, spec: &Spec, value: &str, source: Source) -> Result<(), ConfigError> {
        check(spec, value, &source)?;
        self.values.insert(spec.key, Setting { value: value.to_owned(), source });
        Ok(())
    }

    pub fn get(&self, key: &str) -> Result<&Setting, ConfigError> {
        let spec = known(key)?;
        Ok(&self.values[spec.key])
    }

    /// For keys that are literals in this program.
    pub fn text(&self, key: &'static str) -> &str {
        self.values.get(key).map_or("", |setting| &setting.value)
    }

    pub fn number(&self, key: &'static str) -> Option<u32> {
        self.text(key).parse().ok()
    }

    pub fn duration(&self, key: &'static str) -> SignedDuration {
        duration(self.text(key)).unwrap_or_default()
    }

    /// A budget; `None` if the setting is empty.
    pub fn budget(&self, key: &'static str) -> Option<Budget> {
        Budget::parse(self.text(key))
    }

    /// A setting that names programs.
    pub fn programs(&self, key: &'static str) -> Vec<Vec<String>> {
        programs(self.text(key)).unwrap_or_default()
    }

    /// A setting that names one program; none if it is empty. For keys that are composed at run time.
    pub fn program(&self, key: &str) -> Option<Vec<String>> {
        program(&self.get(key).ok()?.value).filter(|program| !program.is_empty())
    }

    /// The programs that the board's own file runs, as text to trust. A user's own settings need no trust.
    pub fn untrusted(&self) -> String {
        let shown = |(spec, setting): (&Spec, &Setting)| format!("{} = {}\n", spec.key, one_line(&setting.value));
        self.asking().map(shown).chain(self.asking_rules().map(|rule| format!("{rule}\n"))).collect()
    }

    /// Settings of the board's own file that need trust.
    fn asking(&self) -> impl Iterator<Item = (&'static Spec, &Setting)> {
        self.all().filter(|(spec, setting)| {
            let named = ["agent.profile", "agent.sandbox"].contains(&spec.key);
            let runs = matches!(spec.shape, ValueShape::Programs | ValueShape::Program | ValueShape::Words) || named;
            runs && matches!(setting.source, Source::Board(_)) && !setting.value.is_empty()
        })
    }

    fn asking_rules(&self) -> impl Iterator<Item = &OnRule> {
        self.rules.iter().filter(|rule| matches!(rule.source, Source::Board(_)))
    }

    /// Every word of the programs that need trust.
    pub fn untrusted_words(&self) -> Vec<String> {
        let of_setting = |(spec, setting): (&Spec, &Setting)| match spec.shape {
            ValueShape::Programs => programs(&setting.value).unwrap_or_default().concat(),
            _ => program(&setting.value).unwrap_or_default(),
        };
        self.asking().flat_map(of_setting).chain(self.asking_rules().flat_map(|rule| rule.run.clone())).collect()
    }

    pub fn all(&self) -> impl Iterator<Item = (&'static Spec, &Setting)> {
        SPECS.iter().map(|spec| (spec, &self.values[spec.key]))
    }
}

/// The text on one line, with control characters escaped.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// Agents type the name into a shell, so it must not contain characters with a meaning there.
fn is_plain_branch(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._/-+@".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}

/// A duration in whole seconds, such as `30d`, `1h 30m` or `2 weeks`.
pub fn duration(text: &str) -> Option<SignedDuration> {
    let span: jiff::Span = text.parse().ok()?;
    let length = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    (!length.is_negative() && length.subsec_nanos() == 0).then_some(length)
}

/// `[["cargo", "test"]]`: each a program and its arguments.
fn programs(text: &str) -> Option<Vec<Vec<String>>> {
    #[derive(serde::Deserialize)]
    struct Only {
        value: Vec<Vec<String>>,
    }
    if text.is_empty() {
        return Some(Vec::new());
    }
    let only: Only = toml::from_str(&format!("value = {text}")).ok()?;
    only.value.iter().all(|program| program.first().is_some_and(|name| !name.is_empty())).then_some(only.value)
}

/// `["claude", "-p"]`: a program and its arguments.
fn program(text: &str) -> Option<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Only {
        value: Vec<String>,
    }
    if text.is_empty() {
        return Some(Vec::new());
    }
    let only: Only = toml::from_str(&format!("value = {text}")).ok()?;
    only.value.first().is_some_and(|name| !name.is_empty()).then_some(only.value)
}

/// Refuses an unknown key or an invalid value.
pub fn check_assignment(key: &str, value: &str) -> Result<&'static Spec, ConfigError> {
    let spec = known(key)?;
    // An empty value removes the setting from the file.
    if !value.is_empty() {
        check(spec, value, &Source::Flag).map_err(|error| match error {
            // A typed value needs no source.
            ConfigError::BadValue { key, value, wanted, .. } => {
                ConfigError::BadValue { key, value, wanted, source_name: String::new() }
            }
            other => other,
        })?;
    }
    Ok(spec)
}

fn spec(key: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.key == key)
}

fn known(key: &str) -> Result<&'static Spec, ConfigError> {
    let meant = || nearest(key).map(str::to_owned);
    spec(key).ok_or_else(|| ConfigError::UnknownKey { key: key.to_owned(), meant: meant() })
}

/// The setting with the most similar name, if it is similar enough.
fn nearest(key: &str) -> Option<&'static str> {
    let score = |spec: &Spec| strsim::jaro_winkler(key, spec.key);
    let near = SPECS.iter().max_by(|a, b| score(a).total_cmp(&score(b))).filter(|spec| score(spec) > 0.8);
    near.map(|spec| spec.key)
}

/// The offset of a key in a file, by its dotted name.
fn place_of(text: &str, key: &str) -> usize {
    let Ok(document) = toml_edit::Document::parse(text) else { return 0 };
    let mut table: Option<&dyn toml_edit::TableLike> = Some(document.as_table());
    let mut place = 0;
    for part in key.split('.') {
        let Some((name, item)) = table.and_then(|table| table.get_key_value(part)) else { break };
        place = name.span().or_else(|| item.span()).map_or(place, |span| span.start);
        table = item.as_table_like();
    }
    place
}

fn check(spec: &Spec, value: &str, source: &Source) -> Result<(), ConfigError> {
    let wanted = match spec.shape {
        ValueShape::Text => return Ok(()),
        ValueShape::Choice(choices) if choices.contains(&value) => return Ok(()),
        ValueShape::Choice(choices) => {
            let named = choices.iter().filter(|choice| !choice.is_empty()).copied();
            format!("use {}", named.collect::<Vec<_>>().join(", "))
        }
        ValueShape::Branch if is_plain_branch(value) => return Ok(()),
        ValueShape::Branch => "use letters, digits and ./_-".into(),
        ValueShape::Prefix if crate::task::TaskId::new(format!("{value}xxxxxxxxxxxx")).is_ok() => return Ok(()),
        ValueShape::Limit if value.is_empty() => return Ok(()),
        ValueShape::Count | ValueShape::Limit if value.parse::<u32>().is_ok_and(|n| n > 0) => return Ok(()),
        ValueShape::Count | ValueShape::Limit => "use a number of at least 1".into(),
        ValueShape::Number if value.parse::<u32>().is_ok() => return Ok(()),
        ValueShape::Number => "use a number of at least 0".into(),
        ValueShape::Duration if duration(value).is_some() => return Ok(()),
        ValueShape::Lasting if value.is_empty() || duration(value).is_some() => return Ok(()),
        ValueShape::Budget if value.is_empty() || Budget::parse(value).is_some() => return Ok(()),
        ValueShape::Budget => "use $5, \"300k tokens\" or \"20 runs\"".into(),
        ValueShape::Programs if programs(value).is_some() => return Ok(()),
        ValueShape::Programs => "use a list of programs, each with its arguments: [[\"cargo\", \"test\"]]".into(),
        ValueShape::Program | ValueShape::Words if program(value).is_some() => return Ok(()),
        ValueShape::Program => "use a program with its arguments, such as [\"my-agent\", \"{prompt_file}\"]".into(),
        ValueShape::Words => "use a list such as [\"first\", \"second\"]".into(),
        ValueShape::Duration | ValueShape::Lasting => "use 90s, 60m, 12h or 30d".into(),
        ValueShape::Prefix => "use up to 50 letters, digits and dashes, such as t-".into(),
    };
    Err(ConfigError::BadValue {
        key: spec.key.into(),
        value: value.to_owned(),
        wanted,
        source_name: source.to_string(),
    })
}

fn flatten(table: &toml::Table, path: &str, leaves: &mut Vec<(String, String)>) {
    for (name, value) in table {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Table(inner) => flatten(inner, &key, leaves),
            Value::String(text) => leaves.push((key, text.clone())),
            other => leaves.push((key, other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Source {
        Source::Board("config.toml".into())
    }

    #[test]
    fn later_layers_win_and_remember_who_they_are() {
        let mut settings = Settings::defaults();
        settings.add_file(Source::User("u".into()), "[board]\nprefix = \"u-\"\nname = \"U\"\n").unwrap();
        settings.add_file(board(), "format = 1\n[board]\nprefix = \"b-\"\n[future]\nx = 1\n").unwrap();
        settings.add_environment(|name| (name == "RALPH_UI_COLOR").then(|| "never".into())).unwrap();
        assert_eq!((settings.text("board.prefix"), settings.text("board.name")), ("b-", "U"));
        assert_eq!(settings.get("ui.color").unwrap().source.to_string(), "RALPH_UI_COLOR");
        assert_eq!(settings.unknown[0].message, "unknown setting \"future.x\"");
        settings.add_flag("board.prefix=f-").unwrap();
        assert_eq!(settings.text("board.prefix"), "f-");
    }

    #[test]
    fn lengths_of_time_need_a_number_and_a_unit() {
        assert_eq!(duration("30d").unwrap().as_hours(), 720);
        for same in ["90m", "1h30m", "1h 30m", "1.5h", "1 hour, 30 minutes", "PT90M"] {
            assert_eq!(duration(same).unwrap().as_secs(), 5_400, "{same}");
        }
        assert_eq!((duration("2w"), duration("0s")), (duration("14d"), Some(SignedDuration::ZERO)));
        for bad in ["", "d", "30", "-3d", "3d ago", "3y", "3mo", "10ms", "3 dys", "99999999999999999d"] {
            assert!(duration(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_newer_board_is_refused_before_anything_else() {
        let error = Settings::defaults().add_file(board(), "format = 2\n[board]\nprefix = 3\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "this board needs another version of ralph: config.toml has format 2, but this version reads format 1"
        );
    }

    #[test]
    fn wrong_values_and_keys_say_what_would_be_right() {
        let mut settings = Settings::defaults();
        let error = settings.add_flag("ui.color=pink").unwrap_err().to_string();
        assert_eq!(error, "invalid value \"pink\" for ui.color: use auto, always, never");
        assert!(settings.add_flag("board.prefx=x").unwrap_err().to_string().contains("board.prefix"));
        settings.add_file(board(), "[board]\nprefix = \"../\"\n[ui]\ncolor = \"never\"\n").unwrap();
        assert_eq!((settings.text("board.prefix"), settings.text("ui.color")), ("t-", "never"));
        assert!(settings.bad[0].to_string().starts_with("config.toml:2:1: invalid value \"../\" for board.prefix"));
        let error = settings.add_file(board(), "a = 1\nb = = 2\n").unwrap_err().to_string();
        assert!(error.starts_with("config.toml:2:5"), "{error}");
    }
}

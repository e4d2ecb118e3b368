//! The events of a run, in one format for all agent programs.

use serde::{Deserialize, Serialize};

use super::Host;

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AgentEvent {
    /// The run has begun; its session can be continued by this id.
    Session { id: String, model: Option<String> },
    /// The agent said something.
    Said { text: String },
    /// Output of the program outside its format.
    Text { text: String },
    /// The agent uses a tool; `about` is the command, the file, or the arguments.
    Tool { id: String, tool: String, about: String },
    /// A tool's answer.
    Answer { id: String, ok: bool, text: String },
    /// The program did not let the agent use a tool.
    Refused { id: String, tool: String, why: String },
    /// Something went wrong outside any tool.
    Failed { message: String },
    /// The agent's limit is reached; it may continue at this time, in seconds since 1970.
    Limit { until: Option<i64> },
    /// The agent's turn is over.
    Ended { ok: bool, text: String, usage: Option<Usage> },
}

impl AgentEvent {
    /// The event on one line, for people; none for events that only programs need.
    pub fn line(&self) -> Option<String> {
        Some(match self {
            Self::Said { text } | Self::Text { text } => text.trim_end().to_owned(),
            Self::Tool { tool, about, .. } => format!("> {tool}: {}", cut(about)),
            Self::Answer { ok: false, text, .. } => format!("  failed: {}", cut(text)),
            Self::Refused { tool, why, .. } => format!("  refused: {tool} {}", cut(why)).replace(":  ", ": "),
            Self::Failed { message } => format!("error: {}", cut(message)),
            Self::Limit { .. } => "the usage limit of the account is reached".to_owned(),
            Self::Ended { ok: false, text, .. } => format!("ended with an error: {}", cut(text)),
            Self::Answer { .. } | Self::Session { .. } | Self::Ended { .. } => return None,
        })
    }
}

/// The beginning of a text, on one line.
fn cut(text: &str) -> String {
    const MOST: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// What a run used, as its program reports it. A value that the program does not report is unknown, not zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cost_usd: Option<f64>,
    /// Requests to the model.
    #[serde(default)]
    pub turns: Option<u64>,
}

impl Usage {
    /// Adds the usage of another step, for programs that report each step.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_tokens += other.cached_tokens;
        self.cost_usd = self.cost_usd.zip(other.cost_usd).map(|(own, other)| own + other);
        self.turns = self.turns.zip(other.turns).map(|(own, other)| own + other);
    }

    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cached_tokens
    }
}

/// The summary of a run, read from its output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub session: Option<String>,
    pub model: Option<String>,
    /// How many tools it has used.
    pub tools: usize,
    /// Tools that its program did not let it use, with the reason.
    pub refused: Vec<(String, String)>,
    /// None if its program did not report any.
    pub usage: Option<Usage>,
    pub ended: Option<Ending>,
    pub limit: Limit,
    /// The last failure, the last text of the agent, and the last lines of the program outside its format.
    pub failure: Option<String>,
    pub said: Option<String>,
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    pub ok: bool,
    pub text: String,
}

/// Whether a limit was reached, and until when.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limit(Option<Option<i64>>);

impl Limit {
    pub(super) fn flatten_time(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_second(self.0.flatten()?).ok()
    }
}

impl Report {
    pub fn read(host: &Host, log: &str) -> Self {
        let mut report = Self::default();
        for event in log.lines().flat_map(|line| host.events(line)) {
            report.take(event);
        }
        report
    }

    fn take(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Session { id, model } => {
                self.session = Some(id).filter(|id| !id.is_empty()).or(self.session.take());
                self.model = model.or(self.model.take());
            }
            AgentEvent::Tool { .. } => self.tools += 1,
            AgentEvent::Refused { tool, why, .. } => self.refused.push((tool, why)),
            AgentEvent::Failed { message } => self.failure = Some(message),
            AgentEvent::Limit { until } => self.limit = Limit(Some(until)),
            AgentEvent::Said { text } => self.said = Some(text),
            AgentEvent::Text { text } => {
                let before = self.text.take().filter(|before| before.lines().count() < 3);
                self.text = Some(before.map_or_else(|| text.clone(), |before| format!("{before}\n{text}")));
            }
            AgentEvent::Answer { .. } => {}
            AgentEvent::Ended { ok, text, usage } => {
                if let Some(usage) = usage {
                    match &mut self.usage {
                        Some(sum) => sum.add(&usage),
                        None => self.usage = Some(usage),
                    }
                }
                self.ended = Some(Ending { ok, text });
            }
        }
    }
}

/// What a tool is used for, in one line: its command, its file, or all of its arguments.
pub(super) fn about(input: &serde_json::Value) -> String {
    let known =
        ["command", "cmd", "file_path", "filePath", "absolute_path", "path", "pattern", "query", "url", "prompt"];
    let found = known.iter().find_map(|key| input.get(key)?.as_str());
    let text = found.map_or_else(|| input.to_string(), str::to_owned);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn text_of(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn word(value: &serde_json::Value, key: &str) -> String {
    value.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn number(value: &serde_json::Value, key: &str) -> u64 {
    value.get(key).and_then(serde_json::Value::as_u64).unwrap_or_default()
}

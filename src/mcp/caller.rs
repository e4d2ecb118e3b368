//! The caller of a tool: its worker name, the claims that it got from this server, and how verbs run for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{Implementation, JsonObject};
use rmcp::service::RequestContext;

use crate::app::{
    ClientSession, Code, Failure, HeldLocks, Hint, Options, ProgramAction, Stop, TakenFor, Workspace, program_name,
    release_session,
};
use crate::task::TaskId;

/// The header with the worker name of a client over HTTP.
pub const HEADER: &str = "ralph-worker";

/// One client of the server, for as long as it is connected.
pub struct Caller {
    options: Options,
    pub read_only: bool,
    /// Distinguishes this client from others with the same name; `None` if requests have no session.
    mark: Option<String>,
    /// The claims of each worker, to notice when one is lost.
    proofs: Mutex<BTreeMap<(TaskId, Who), String>>,
    /// The claims of a generated worker name, which are released at the end of its session.
    holds: Arc<HeldLocks>,
    /// The generated worker name, once a call was made with it.
    session: Mutex<Option<String>>,
    /// Locked for reading by each running call, so that `leave` can wait for all of them.
    running: RwLock<()>,
}

/// The worker name of a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// A given name; the worker may reconnect.
    Named(String),
    /// A generated name for this session only.
    Session(String),
    Nobody,
}

impl Who {
    fn name(&self) -> Option<String> {
        match self {
            Self::Named(name) | Self::Session(name) => Some(name.clone()),
            Self::Nobody => None,
        }
    }
}

/// The context of one tool call.
pub struct Call<'a> {
    pub ws: &'a Workspace,
    caller: &'a Caller,
    who: &'a Who,
    changes: Cell<bool>,
    /// The tasks that the call is about.
    about: RefCell<Vec<TaskId>>,
    /// Set when the client has canceled the call.
    pub stop: &'a Stop,
}

impl Caller {
    pub fn new(options: Options, read_only: bool, mark: Option<String>) -> Self {
        Self {
            options,
            read_only,
            mark,
            proofs: Mutex::default(),
            holds: Arc::default(),
            session: Mutex::default(),
            running: RwLock::default(),
        }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The worker name: from the server's options, otherwise from the call, otherwise from the client.
    pub fn name(&self, asked: Option<&str>, context: &RequestContext<RoleServer>) -> Result<Who, Failure> {
        let set = |name: &String| !name.is_empty();
        let pinned = self.options.worker.clone().or_else(|| std::env::var("RALPH_WORKER").ok()).filter(set);
        let parts = context.extensions.get::<Parts>();
        let header = parts.and_then(|parts| header(parts, HEADER)).map(str::to_owned);
        match (asked.map(str::trim).filter(|name| !name.is_empty()), pinned.or(header)) {
            (Some(asked), Some(own)) if asked != own => {
                Err(Failure::refused(Code::NotYou, format!("this server acts as {own}, not as {asked}"))
                    .hint(Hint::step("omit as")))
            }
            (Some(name), _) => Ok(Who::Named(name.to_owned())),
            (None, Some(own)) => Ok(Who::Named(own)),
            (None, None) => {
                let own = self.own_name(context.client_info().as_ref(), parts.and_then(session));
                Ok(own.map_or(Who::Nobody, Who::Session))
            }
        }
    }

    /// A generated worker name. Two sessions of one program are two workers, so that they do not share claims.
    fn own_name(&self, client: Option<&Implementation>, session: Option<String>) -> Option<String> {
        let mark = self.mark.clone().or(session)?;
        let name = slug(client.map_or("mcp", |client| client.name.as_str()));
        Some(format!("{}-{mark}", if name.is_empty() { "mcp" } else { &name }))
    }

    /// Runs a verb on the current board. Without `acts`, the host vouches for the worker.
    pub fn run<T>(
        &self,
        who: &Who,
        acts: Option<&ProgramAction>,
        stop: &Stop,
        verb: impl FnOnce(&Call<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _running = self.running.read();
        let mut ws = opened(&self.options, who)?;
        ws.take_for(if acts.is_some() { TakenFor::Program } else { TakenFor::Person });
        if let Who::Session(name) = who {
            open(&self.session).get_or_insert_with(|| name.clone());
            let name = match acts {
                Some(acts) => program_name(&ws, name, acts)?,
                None => name.clone(),
            };
            ws.act_for(ClientSession { holds: Arc::clone(&self.holds) }, name);
        }
        let call = Call { ws: &ws, caller: self, who, changes: Cell::default(), about: RefCell::default(), stop };
        let result = verb(&call);
        if call.changes.get() {
            call.remember(result.is_ok());
        }
        ws.finish(result)
    }

    /// Whether the session holds claims. Does not wait for the board lock.
    pub fn holds_something(&self) -> bool {
        !self.holds.is_empty()
    }

    /// Called periodically while claims are held: forgets claims that were taken over or have expired.
    pub fn settle(&self) -> Result<(), Failure> {
        let Some(session) = open(&self.session).clone() else { return Ok(()) };
        self.holds.settle(&opened(&self.options, &Who::Session(session.clone()))?, &session)
    }

    /// Releases the claims at the end of the session, after its last call.
    pub fn leave(&self) -> Result<(), Failure> {
        let _running = self.running.write();
        let session = open(&self.session).clone();
        session.map_or(Ok(()), |session| give_back(&self.options, &self.holds, &session))
    }
}

impl Drop for Caller {
    /// Releases the claims of a session over HTTP in the background, because nothing waits for its end. If this process ends
    /// before that, the claims end with it.
    fn drop(&mut self) {
        let Some(session) = open(&self.session).take().filter(|_| self.holds_something()) else { return };
        let (options, holds) = (self.options.clone(), Arc::clone(&self.holds));
        std::thread::spawn(move || give_back(&options, &holds, &session));
    }
}

fn opened(options: &Options, who: &Who) -> Result<Workspace, Failure> {
    Workspace::open(&Options { worker: who.name(), ..options.clone() })
}

fn give_back(options: &Options, holds: &HeldLocks, session: &str) -> Result<(), Failure> {
    release_session(&opened(options, &Who::Session(session.to_owned()))?, holds, session)
}

impl Call<'_> {
    /// Refuses a change on a read-only server, or by a caller without a name.
    pub fn refuse_reader(&self, what: &str) -> Result<(), Failure> {
        if self.caller.read_only {
            let message = format!("{what} changes the board, but this server is read-only");
            return Err(Failure::refused(Code::ReadOnly, message)
                .hint(Hint::step("only get, list, status, and next with claim: false are allowed")));
        }
        if *self.who == Who::Nobody {
            let header = Hint::step(format!("send the header {HEADER}: NAME"));
            return Err(Failure::usage(Code::Nobody, "no worker name is set").hint(header).hint(Hint::SayWho));
        }
        self.changes.set(true);
        Ok(())
    }

    /// Finds a task by its id, a unique prefix of the id, or the number of its issue, and shows the claim that this caller has on
    /// it.
    pub fn find(&self, typed: &TaskRef) -> Result<TaskId, Failure> {
        self.with_proof(self.ws.find(&typed.0)?)
    }

    /// The same, but only by a complete id or the number of an issue.
    pub fn find_exact(&self, typed: &TaskRef) -> Result<TaskId, Failure> {
        self.with_proof(self.ws.find_exact(&typed.0)?)
    }

    fn with_proof(&self, id: TaskId) -> Result<TaskId, Failure> {
        let proof = open(&self.caller.proofs).get(&self.key(&id)).cloned();
        if let Some(proof) = proof {
            self.ws.bring(&id, proof)?;
        }
        self.is_about(&id);
        Ok(id)
    }

    pub fn is_about(&self, id: &TaskId) {
        self.about.borrow_mut().push(id.clone());
    }

    /// Updates the known claims of the caller after a verb. Read errors are ignored until the next call.
    fn remember(&self, done: bool) {
        if let Who::Session(session) = self.who {
            let _ = self.caller.holds.settle(self.ws, session);
        }
        for id in self.about.borrow().iter().filter(|_| done) {
            let Ok(proof) = self.ws.proof_of(id) else { continue };
            let mut proofs = open(&self.caller.proofs);
            match proof {
                Some(proof) => proofs.insert(self.key(id), proof),
                None => proofs.remove(&self.key(id)),
            };
        }
    }

    fn key(&self, id: &TaskId) -> (TaskId, Who) {
        (id.clone(), self.who.clone())
    }
}

/// A reference to a task, such as `t-x7kq`, `x7`, `#44` or 44.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRef(pub String);

impl<'de> serde::Deserialize<'de> for TaskRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Number(number) if number.is_u64() => Ok(Self(format!("#{number}"))),
            other => {
                Err(serde::de::Error::custom(format!("{other} is not a task: pass its id, or the number of its issue")))
            }
        }
    }
}

impl schemars::JsonSchema for TaskRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskRef".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Two alternatives, because strict validators warn about a union type.
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })
    }
}

/// Parses the arguments of a tool; an error names the invalid argument.
pub fn arguments<A: serde::de::DeserializeOwned>(given: JsonObject) -> Result<A, Failure> {
    let value = serde_json::Value::Object(given);
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner().to_string());
        let message = if path == "." { inner } else { format!("{path}: {inner}") };
        Failure::usage(Code::BadArguments, message)
    })
}

/// Locks the data, which is valid even if a thread panicked while it held the lock.
pub fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn header<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    parts.headers.get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}

/// The id of a session over HTTP.
fn session(parts: &Parts) -> Option<String> {
    header(parts, "mcp-session-id").map(|id| id.chars().filter(char::is_ascii_alphanumeric).take(8).collect())
}

/// The name in lower-case letters, digits and dashes.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    joined.chars().take(24).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_a_worker_of_its_own() {
        let caller = Caller::new(Options::default(), false, Some("x7kq".into()));
        let client = Implementation::new("Claude Code (beta)", "1");
        assert_eq!(caller.own_name(Some(&client), None).as_deref(), Some("claude-code-beta-x7kq"));
        assert_eq!(caller.own_name(None, None).as_deref(), Some("mcp-x7kq"));
        let stateless = Caller::new(Options::default(), false, None);
        assert_eq!(stateless.own_name(Some(&client), None), None);
        assert_eq!(stateless.own_name(Some(&client), Some("b2".into())).as_deref(), Some("claude-code-beta-b2"));
    }

    #[test]
    fn a_task_is_named_by_id_or_by_number() {
        let parse = |text: &str| serde_json::from_str::<TaskRef>(text).map(|found| found.0);
        assert_eq!(parse("\"t-x7\"").unwrap(), "t-x7");
        assert_eq!(parse("44").unwrap(), "#44");
        assert!(parse("-1").unwrap_err().to_string().contains("is not a task"));
        assert!(parse("[1]").is_err());
    }
}

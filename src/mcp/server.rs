//! Passes requests of the protocol on to tools, resources and prompts; every verb runs on a thread that may block.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use serde_json::Value;
use tokio::sync::Notify;

use super::caller::{Call, Caller, open};
use super::feed::{Changes, Feed, Followed, follow, listen};
use super::reply::{Refused, answer, refusal};
use super::tool;
use super::{Profile, Wanted, hero, prompts, resources, tools};
use crate::app::{Code, Failure, FailureKind, Hint, Options, ProgramAction, Stop, fresh_token};

/// The maximum size of the arguments of a call. Documents are smaller.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// The random letters that distinguish sessions with the same name.
const MARK: usize = 6;

/// The server for one client.
#[derive(Clone)]
pub struct Server {
    pub(super) caller: Arc<Caller>,
    tools: Arc<Vec<tool::Tool>>,
    feed: Arc<Feed>,
    /// The subscriptions of a client with the older protocol.
    followed: Arc<Followed>,
    /// Changes since the last notification of a client with the current protocol.
    accepted: Arc<Mutex<VecDeque<Changes>>>,
    /// Set at the end of the input.
    pub(super) gone: Arc<Notify>,
    /// Set while a task renews the claims.
    keeping: Arc<AtomicBool>,
    /// Serializes writers.
    turn: Arc<tokio::sync::Mutex<()>>,
    profile: Profile,
}

impl Server {
    pub fn new(options: Options, wanted: &Wanted) -> Result<Self, Failure> {
        // Not the process id, because two containers that share a board can have the same one.
        let mark = fresh_token()?.chars().take(MARK).collect();
        let tools = match wanted.profile {
            Profile::Board => tools::all(),
            Profile::Hero => hero::all(),
        };
        Ok(Self {
            feed: Arc::new(Feed::new(options.clone())),
            caller: Arc::new(Caller::new(options, wanted.read_only, Some(mark))),
            tools: Arc::new(tools),
            followed: Arc::default(),
            accepted: Arc::default(),
            gone: Arc::default(),
            keeping: Arc::default(),
            turn: Arc::default(),
            profile: wanted.profile,
        })
    }

    /// A server on the same board for another client.
    #[must_use]
    pub fn for_client(&self, mark: Option<String>) -> Self {
        let caller = Caller::new(self.caller.options().clone(), self.caller.read_only, mark);
        Self {
            caller: Arc::new(caller),
            followed: Arc::default(),
            accepted: Arc::default(),
            keeping: Arc::default(),
            ..self.clone()
        }
    }

    /// Runs a verb for this caller on a blocking thread; the client can cancel it.
    async fn blocking<T: Send + 'static>(
        &self,
        asked: ToolRequest,
        context: &RequestContext<RoleServer>,
        verb: impl FnOnce(&Call<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let ToolRequest { name, acts } = asked;
        let who = self.caller.name(name.as_deref(), context)?;
        let (caller, stop) = (Arc::clone(&self.caller), Stop::default());
        let called_off = CalledOff(stop.clone());
        let mut work = tokio::task::spawn_blocking(move || caller.run(&who, acts.as_ref(), &stop, verb));
        let done = tokio::select! {
            done = &mut work => done,
            () = context.ct.cancelled() => {
                drop(called_off);
                work.await
            }
        };
        if self.caller.holds_something() && !self.keeping.swap(true, Ordering::Relaxed) {
            tokio::spawn(keep(Arc::downgrade(&self.caller), Arc::clone(&self.keeping)));
        }
        done.unwrap_or_else(|_| Err(Failure::broken(Code::Bug, "the call ended unexpectedly; this is a bug in ralph")))
    }

    /// Notifies a client with the older protocol of its subscriptions, and of new and removed resources.
    fn follow(&self, context: &RequestContext<RoleServer>) {
        if self.followed.is_first() {
            tokio::spawn(follow(self.feed.changes(), Arc::clone(&self.followed), context.peer.clone()));
        }
    }

    fn tool(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.name == name)
    }

    async fn call(&self, at: usize, mut given: JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let size = serde_json::to_string(&given).map_or(0, |text| text.len());
        if size > MOST_BYTES {
            let message = format!("the arguments have {size} bytes; the limit is {MOST_BYTES}");
            let hint = Hint::step("put long texts into a document");
            return self.refusal(&Failure::usage(Code::TooLarge, message).hint(hint));
        }
        let asked = match given.remove(tool::AS) {
            Some(Value::String(name)) => Some(name),
            None | Some(Value::Null) => None,
            Some(other) => {
                return self.refusal(&Failure::usage(Code::BadArguments, format!("as: {other} is not a worker name")));
            }
        };
        let acts = match self.profile {
            Profile::Board => Some(acts(self.tools[at].name, &given)),
            // With ralph-hero's tools, the host vouches for the worker, and every move names its command.
            Profile::Hero => None,
        };
        // Lets writers through in the order of their calls. The board's lock has no order, so an unlucky caller could wait long.
        let _turn = match self.tools[at].nature {
            tool::Nature::Writes => tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    let message = "the call was canceled before it began";
                    return self.refusal(&Failure::new(FailureKind::Raced, Code::Stopped, message));
                }
                turn = self.turn.lock() => Some(turn),
            },
            tool::Nature::Reads | tool::Nature::Either => None,
        };
        let tools = Arc::clone(&self.tools);
        let done =
            self.blocking(ToolRequest { name: asked, acts }, context, move |call| tools[at].call(call, given)).await;
        done.map_or_else(|failure| self.refusal(&failure), answer)
    }

    /// A failure in the format of the profile.
    fn refusal(&self, failure: &Failure) -> CallToolResult {
        match self.profile {
            Profile::Board => refusal(failure),
            Profile::Hero => hero::refusal(failure),
        }
    }
}

/// The worker name in a call, if it has one.
#[derive(Default)]
struct ToolRequest {
    name: Option<String>,
    acts: Option<ProgramAction>,
}

fn acts(tool: &str, given: &JsonObject) -> ProgramAction {
    let text = |key: &str| given.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let number = || given.get("task").and_then(Value::as_u64).map(|number| format!("#{number}"));
    ProgramAction {
        command: text("command"),
        role: text("role"),
        task: text("task").or_else(number),
        takes: tool == "claim",
    }
}

/// Asks a call to stop when it was canceled or its client is gone.
struct CalledOff(Stop);

impl Drop for CalledOff {
    fn drop(&mut self) {
        self.0.ask();
    }
}

/// How often claims are renewed.
const CARE: Duration = Duration::from_secs(5);

async fn keep(caller: Weak<Caller>, keeping: Arc<AtomicBool>) {
    loop {
        tokio::time::sleep(CARE).await;
        let Some(caller) = caller.upgrade().filter(|caller| caller.holds_something()) else { break };
        // A failure is ignored, because the next round tries again.
        let _ = tokio::task::spawn_blocking(move || caller.settle()).await;
    }
    keeping.store(false, Ordering::Relaxed);
}

/// The error of a request other than a tool call.
fn error(failure: &Failure) -> ErrorData {
    let code = match failure.code {
        Code::NoResource | Code::UnknownTask | Code::NoDocument | Code::NoFile => ErrorCode::RESOURCE_NOT_FOUND,
        _ => ErrorCode::INVALID_PARAMS,
    };
    let refused = Refused::new(failure);
    ErrorData::new(code, refused.line(), Some(serde_json::json!({ "error": refused })))
}

/// The library reports a known request with invalid parameters as an unknown one.
fn not_understood(request: &CustomRequest) -> ErrorData {
    let needs = match request.method.as_str() {
        "tools/call" => "`name`, a string, and `arguments`, an object",
        "prompts/get" => "`name`, a string, and `arguments`, an object of strings",
        "resources/read" => "`uri`, a string",
        "completion/complete" => "`ref` and `argument`",
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            "an optional `cursor`, a string"
        }
        // Methods that the current protocol no longer has are reported as unknown, too.
        method => return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method:?}"), None),
    };
    ErrorData::invalid_params(format!("{} takes {needs}", request.method), None)
}

const ABOUT: &str = "\
A task board in this repository's own files. Loop: `next` gives you one task and claims it, so that nobody else takes it; `get` \
returns its details; `save` with `command` and state `__COMPLETE__` completes your part (`__ESCALATE__` hands it to a person); \
`release` releases your claim. `artifact` creates and links the documents that a command produces. A refusal contains a code and \
the next step. Read ralph://workflow for states, commands and roles. `as` names the worker you are, such as builder-2, if several \
agents share this server.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        let about = match self.profile {
            Profile::Board => ABOUT,
            Profile::Hero => hero::ABOUT,
        };
        let named = Implementation::new("ralph", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(named).with_instructions(about)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(not_understood(&request))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let reads = |tool: &&tool::Tool| !self.caller.read_only || tool.nature != tool::Nature::Writes;
        let tools: Vec<Tool> = self.tools.iter().filter(reads).map(tool::Tool::described).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tool(name).map(|at| self.tools[at].described())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(at) = self.tool(&request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let message = format!("unknown tool {:?}: use {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        Ok(self.call(at, request.arguments.unwrap_or_default(), &context).await.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        // A client with an older protocol is notified once it has read the list; current clients subscribe explicitly.
        if context.protocol_version().is_some_and(|version| version.has_initialize()) {
            self.follow(&context);
        }
        let listed = self
            .blocking(ToolRequest::default(), &context, move |call| resources::list(call.ws, cursor.as_deref()))
            .await;
        listed.map_err(|failure| error(&failure))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read =
            self.blocking(ToolRequest::default(), &context, move |call| resources::read(call.ws, &request.uri)).await;
        read.map(Into::into).map_err(|failure| error(&failure))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let told = self
            .blocking(ToolRequest::default(), &context, move |call| prompts::get(call, &request.name, &given))
            .await;
        told.map(Into::into).map_err(|failure| error(&failure))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let typed = request.argument.value;
        let found =
            self.blocking(ToolRequest::default(), &context, move |call| prompts::complete(call.ws, &typed)).await;
        Ok(CompleteResult::new(found.map_err(|failure| error(&failure))?))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Subscribes before the client is answered, so that it misses no change until `listen` is called.
        open(&self.accepted).push_back(self.feed.changes());
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = open(&self.accepted).pop_front();
        let changes = accepted.unwrap_or_else(|| self.feed.changes());
        tokio::select! {
            () = listen(changes, &context) => {}
            // Without this, the library would wait for this subscription before it ends.
            () = self.gone.notified() => self.gone.notify_one(),
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri.clone();
        let checked =
            self.blocking(ToolRequest::default(), &context, move |call| resources::check(call.ws, &uri)).await;
        checked.map_err(|failure| error(&failure))?;
        self.followed.add(request.uri);
        self.follow(&context);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.remove(&request.uri);
        Ok(())
    }
}

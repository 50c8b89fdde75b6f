//! One client's server: what the protocol asks, put to the desk.

use crate::bounds::{CHANGES, MOST_RESOURCES, PAGE, bounded_content};
use crate::calls::Calls;
use crate::desk::{Caller, Desk, Origin, Subject, Unreadable};
use crate::http::{Sessions, session};
use crate::tools::{Own, offer_of};
use crate::uri::TEMPLATES;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation,
    InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use std::future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// The server of one client.
pub(crate) struct Server<D> {
    calls: Arc<Calls<D>>,
    way: Way,
    /// Ends what was started for this client alone when it has gone.
    alive: CancellationToken,
    _alive: DropGuard,
    /// Whether the client has begun a session with this very server.
    begun: AtomicBool,
}

/// How clients reach the server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    Stdio,
    Http(Arc<Sessions>),
}

impl<D: Desk> Server<D> {
    pub(crate) fn new(desk: Arc<D>, way: Way, gone: &CancellationToken, tasks: TaskTracker) -> Self {
        let alive = gone.child_token();
        let calls = Calls::new(desk, alive.clone(), tasks);
        Self { calls, way, alive: alive.clone(), _alive: alive.drop_guard(), begun: AtomicBool::new(false) }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let origin = match &self.way {
            Way::Stdio => Origin::Stdio,
            Way::Http(_) => Origin::Http { session: self.session(context)? },
        };
        let client = context.client_info().map(|client| client.name.chars().take(LONGEST_NAME).collect());
        let said = |keys: &[&str]| {
            let said = keys.iter().find_map(|key| context.meta.get(*key)).and_then(serde_json::Value::as_str);
            // Part of a name is another name.
            said.filter(|said| origin == Origin::Stdio && said.len() <= LONGEST_NAME).map(str::to_owned)
        };
        let (call, session) = (said(&["claudecode/toolUseId", "callId"]), said(&["sessionId"]));
        Ok(Caller { origin, client, call, session })
    }

    /// Returns the session of a request over HTTP.
    ///
    /// A request without one has a server of its own, in which nothing was begun; what such a request says about its session
    /// was checked by nobody.
    fn session(&self, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let headers = context.extensions.get::<http::request::Parts>().map(|parts| &parts.headers);
        match headers.and_then(session) {
            Some(session) if self.begun.load(Ordering::Acquire) => Ok(session.to_owned()),
            _ => Err(ErrorData::invalid_request("begin a session with `initialize` first", None)),
        }
    }
}

impl<D: Desk> ServerHandler for Server<D> {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .build();
        let about = Implementation::new("abide", env!("CARGO_PKG_VERSION"))
            .with_title("abide")
            .with_description("Makes agents follow the workflow");
        ServerConfig::new(can).with_server_info(about).with_instructions(self.calls.desk().instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match &self.way {
            Way::Stdio => ProtocolVersion::KNOWN_VERSIONS,
            // From 2026-07-28 on, HTTP knows no sessions, and abide must know whose run it is.
            Way::Http(_) => ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE),
        })
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.begun.store(true, Ordering::Release);
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = Own::ALL.map(Own::offer).to_vec();
        // A client that has not said who it is yet is told about abide's own.
        if let Ok(caller) = self.caller(&context) {
            let more = self.calls.quickly(self.calls.desk().more_tools(&caller)).await?;
            tools.extend(more.into_iter().map(offer_of));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Own::named(name).map(Own::offer)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        // A session is in use as long as one of its calls is under way, whether the client listens or not.
        let _stay = match (&self.way, &caller.origin) {
            (Way::Http(sessions), Origin::Http { session }) => Some(sessions.enter(session)),
            _ => None,
        };
        self.calls.answer(request, caller, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor
                .parse::<usize>()
                .map_err(|_| ErrorData::invalid_params("this cursor is not from an earlier page", None))?,
        };
        let caller = self.caller(&context)?;
        let mut all = self.calls.quickly(self.calls.desk().resources(&caller)).await?.map_err(unreadable)?;
        all.truncate(MOST_RESOURCES);
        let page: Vec<Resource> = all.iter().skip(from).take(PAGE).map(listed).collect();
        let next = (from + page.len() < all.len()).then(|| (from + page.len()).to_string());
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = |(uri, name, description, mime): (&str, &str, &str, &str)| {
            ResourceTemplate::new(uri, name).with_description(description).with_mime_type(mime)
        };
        Ok(ListResourceTemplatesResult::with_all_items(TEMPLATES.map(template).to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(subject) = Subject::parse(&request.uri) else {
            let known = TEMPLATES.map(|(uri, ..)| uri).join(" and ");
            return Err(ErrorData::resource_not_found(format!("no such resource; there are {known}"), None));
        };
        let caller = self.caller(&context)?;
        let found =
            self.calls.quickly(self.calls.desk().read(subject, &caller)).await?.map_err(unreadable)?;
        let found = bounded_content(&found);
        let contents = ResourceContents::text(found.text, request.uri).with_mime_type(found.mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (calls, alive, peer) = (self.calls.clone(), self.alive.clone(), context.peer.clone());
        tokio::spawn(async move {
            let mut changes = calls.desk().tool_changes();
            while alive.run_until_cancelled(changed(&mut changes)).await.is_some() {
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
        let (calls, alive) = (self.calls.clone(), self.alive.clone());
        tokio::spawn(async move {
            let mut changes = calls.desk().changes();
            while alive.run_until_cancelled(changed(&mut changes)).await.is_some() {
                if context.peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.calls.desk().changes();
        let told = async {
            loop {
                changed(&mut changes).await;
                if context.sink().notify_resource_list_changed().await.is_err() {
                    return;
                }
            }
        };
        let until = async {
            tokio::select! {
                () = context.cancelled() => {}
                () = self.alive.cancelled() => {}
                () = told => {}
            }
        };
        self.calls.quickly(until).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(80).collect();
        // A request that is known comes this way when its parameters have another shape.
        if KNOWN.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(
                format!("the parameters of `{method}` have another shape"),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None))
    }
}

/// Waits until there is something else to read, and no more often than a client is told; for ever if nobody can tell.
async fn changed(changes: &mut Option<watch::Receiver<u64>>) {
    if let Some(changes) = changes
        && changes.changed().await.is_ok()
    {
        tokio::time::sleep(CHANGES).await;
        // What came in the meantime is told with it.
        changes.mark_unchanged();
        return;
    }
    future::pending::<()>().await;
}

/// The longest name that a client may give itself, a call or a session.
const LONGEST_NAME: usize = 200;

const KNOWN: &[&str] = &[
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

fn listed(resource: &crate::desk::Resource) -> Resource {
    let listed = Resource::new(resource.subject.uri(), resource.subject.name()).with_mime_type(resource.mime);
    match &resource.description {
        Some(description) => listed.with_description(crate::bounds::cut(description, 1_000)),
        None => listed,
    }
}

fn unreadable(why: Unreadable) -> ErrorData {
    match why {
        Unreadable::NotFound(why) => ErrorData::resource_not_found(why, None),
        Unreadable::Failed(why) => ErrorData::internal_error(why, None),
    }
}

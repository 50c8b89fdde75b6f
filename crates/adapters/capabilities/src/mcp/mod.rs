//! An MCP server as a capability: its tools under names of ours, its claims about them only ever taken as warnings.
//!
//! [`McpCapability::connect`] starts or reaches the server once and takes a picture of its tools, so that what an agent is
//! told stays the same. A server that does not answer is a capability that is unavailable and says why. A connection that
//! is lost is made again for the next call; a call is never sent twice.

mod bounded;
mod link;
mod names;

pub use link::{Address, LinkError};

use abide_core::capability::{CapabilityId, CapabilityStatus, Risk, Tier, ToolName};
use abide_core::model::Image;
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Later, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use abide_engine::toolbox::CheckedTool;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use link::Link;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// How many tools of one server are taken.
const MOST_TOOLS: usize = 256;
/// How long a description or a schema may be, in bytes.
const LONGEST_DESCRIPTION: usize = 8 * 1024;
const LONGEST_SCHEMA: usize = 128 * 1024;
/// The longest text of one answer that is kept before the toolbox cuts it.
const LONGEST_ANSWER: usize = 4 << 20;

/// What the configuration says about a server.
#[derive(Debug, Clone)]
pub struct ServerAbout {
    /// The id of the capability.
    pub id: CapabilityId,
    /// What people are shown.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it adds to the system prompt.
    pub system_prompt: Option<String>,
    /// Which tools are taken, as wildcards; all when nothing is said.
    pub tools: Option<Vec<String>>,
    /// The least risk of its tools.
    pub risk: Risk,
    /// Who must agree to a call.
    pub tier: Tier,
    /// How long it may take until its tools are known.
    pub connect_timeout: Duration,
    /// How long a call may take.
    pub timeout: Duration,
}

impl ServerAbout {
    /// Makes one that says nothing but its id, with the strictest of everything.
    pub fn new(id: CapabilityId) -> Self {
        Self {
            id,
            name: None,
            description: None,
            system_prompt: None,
            tools: None,
            risk: Risk::High,
            tier: Tier::Confirm,
            connect_timeout: Duration::from_secs(30),
            timeout: Duration::from_mins(1),
        }
    }
}

/// A capability whose tools are an MCP server's.
pub struct McpCapability {
    about: ServerAbout,
    description: String,
    status: CapabilityStatus,
    tools: Vec<Arc<dyn Tool>>,
}

impl McpCapability {
    /// Reaches the server and asks for its tools.
    pub async fn connect(about: ServerAbout, address: Address) -> Self {
        let link = Arc::new(Link::new(address, about.connect_timeout));
        match link.tools(MOST_TOOLS).await {
            Ok(listed) => Self::of(about, &link, listed),
            Err(error) => Self::unavailable(about, error.to_string()),
        }
    }

    /// Returns one that cannot be used.
    pub fn unavailable(about: ServerAbout, why: impl Into<String>) -> Self {
        let status = CapabilityStatus::Unavailable { why: why.into() };
        let description = about.description.clone().unwrap_or_else(|| "An MCP server.".to_owned());
        Self { about, description, status, tools: Vec::new() }
    }

    fn of(about: ServerAbout, link: &Arc<Link>, listed: Vec<rmcp::model::Tool>) -> Self {
        let wanted = |name: &str| {
            about.tools.as_ref().is_none_or(|patterns| {
                patterns.iter().any(|pattern| abide_core::policy::wildcard(pattern, name))
            })
        };
        let mut left_out: Vec<String> = Vec::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        let listed: Vec<_> = listed.into_iter().filter(|tool| wanted(&tool.name)).collect();
        let originals: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
        let called = names::called(&about.id, &originals);
        for (tool, called) in listed.iter().zip(called) {
            let made = called.ok_or_else(|| "another tool has its name".to_owned());
            let made = made.and_then(|called| remote(&about, link, tool, called));
            match made {
                Ok(made) => tools.push(made),
                Err(why) => left_out.push(format!("{} ({why})", short(&tool.name))),
            }
        }
        let mut description = about.description.clone().unwrap_or_else(|| "An MCP server.".to_owned());
        if !left_out.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(description, " Left out: {}.", left_out.join("; "));
        }
        Self { about, description, status: CapabilityStatus::Available, tools }
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn remote(
    about: &ServerAbout,
    link: &Arc<Link>,
    tool: &rmcp::model::Tool,
    called: ToolName,
) -> Result<Arc<dyn Tool>, String> {
    let mut arguments = Value::Object((*tool.input_schema).clone());
    if arguments.to_string().len() > LONGEST_SCHEMA {
        return Err(format!("its schema is longer than {LONGEST_SCHEMA} bytes"));
    }
    if arguments.get("type").is_none() {
        arguments["type"] = json!("object");
    }
    let mut description = tool.description.as_deref().unwrap_or_default().to_owned();
    description.truncate(description.floor_char_boundary(LONGEST_DESCRIPTION));
    // What a server says about itself may be a lie, so it can only make things stricter.
    let says = tool.annotations.as_ref();
    let destructive = says.and_then(|says| says.destructive_hint) == Some(true);
    let reads = says.and_then(|says| says.read_only_hint) == Some(true);
    let spec = ToolSpec {
        name: called,
        description,
        arguments,
        kind: ToolKind::Other,
        risk: if destructive { Risk::High } else { about.risk },
        tier: if destructive { about.tier.max(Tier::Confirm) } else { about.tier },
        beside: if reads && !destructive { Beside::Others } else { Beside::Nothing },
        examples: Vec::new(),
    };
    let made: Arc<dyn Tool> = Arc::new(RemoteTool {
        spec,
        name: tool.name.to_string(),
        link: Arc::clone(link),
        timeout: about.timeout,
    });
    CheckedTool::new(Arc::clone(&made)).map_err(|error| error.to_string())?;
    Ok(made)
}

impl Capability for McpCapability {
    fn id(&self) -> CapabilityId {
        self.about.id.clone()
    }

    fn name(&self) -> &str {
        self.about.name.as_deref().unwrap_or(self.about.id.as_str())
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn status(&self) -> CapabilityStatus {
        self.status.clone()
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        self.about.system_prompt.as_deref()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn icon(&self) -> Option<&str> {
        Some("plug")
    }

    fn category(&self) -> Option<&str> {
        Some("MCP")
    }
}

struct RemoteTool {
    spec: ToolSpec,
    name: String,
    link: Arc<Link>,
    timeout: Duration,
}

impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let (link, name, timeout) = (Arc::clone(&self.link), self.name.clone(), self.timeout);
        let tool = self.spec.name.to_string();
        Box::pin(async move {
            let peer = link.peer().await.map_err(|error| ToolError::Failed(error.to_string()))?;
            let Value::Object(arguments) = arguments else {
                return Err(ToolError::Internal("arguments are no object".to_owned()));
            };
            let params = CallToolRequestParams::new(name).with_arguments(arguments);
            // Dropping this, at the time limit or when the call is stopped, tells the server.
            let answered = tokio::time::timeout(timeout, peer.call_tool_once(params)).await;
            let answered = answered.map_err(|_| ToolError::TimedOut { tool, after: timeout })?;
            match answered {
                Ok(CallToolResponse::Complete(result)) => answer(&result),
                Ok(_) => Err(ToolError::Failed(
                    "the server asks for something that nobody here answers".to_owned(),
                )),
                Err(error) => Err(failure(error)),
            }
        })
    }
}

fn failure(error: ServiceError) -> ToolError {
    match error {
        ServiceError::McpError(error) => ToolError::Failed(format!("the server refused: {}", error.message)),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => ToolError::Failed(
            "the connection to the server was lost; whether the call was made is not known".to_owned(),
        ),
        other => ToolError::Failed(format!("the server did not answer: {other}")),
    }
}

fn answer(result: &CallToolResult) -> Result<ToolOutput, ToolError> {
    let failed = result.is_error == Some(true);
    if let (Some(value), false) = (&result.structured_content, failed) {
        return Ok(ToolOutput::Json(value.clone()));
    }
    let (mut text, mut images) = (String::new(), Vec::new());
    for block in &result.content {
        if text.len() > LONGEST_ANSWER {
            text.truncate(text.floor_char_boundary(LONGEST_ANSWER));
            text.push_str("\n[… the rest is left out]");
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(block) => text.push_str(&block.text),
            other => {
                let value = serde_json::to_value(other).unwrap_or_default();
                let kind = value["type"].as_str().unwrap_or("content").to_owned();
                let what = [&value["mimeType"], &value["uri"], &value["resource"]["uri"]];
                let what = what.iter().find_map(|value| value.as_str()).unwrap_or_default().to_owned();
                // What it is told to be is not looked at; one of a call that failed would be taken for what was asked for.
                let image = value["data"].as_str().filter(|_| kind == "image" && !failed);
                let image = image.and_then(|data| STANDARD.decode(data).ok()).and_then(Image::of);
                match (value["resource"]["text"].as_str(), image) {
                    (Some(inner), _) => text.push_str(inner),
                    (None, Some(image)) => {
                        let _ = write!(text, "[picture {}: {}]", images.len() + 1, image.media.word());
                        images.push(image);
                    }
                    (None, None) => {
                        let _ = write!(text, "[{kind} {what} is left out]");
                    }
                }
            }
        }
    }
    match images.is_empty() {
        _ if failed => Err(ToolError::Failed(text)),
        true => Ok(ToolOutput::Text(text)),
        false => Ok(ToolOutput::Shown { text, images }),
    }
}

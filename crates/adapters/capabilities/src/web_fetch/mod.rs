//! `web_fetch`: what is at a URL, as it is, as Markdown or as plain text.
//!
//! `target.rs` says where a request may go, `names.rs` finds its host, `fetch.rs` makes it, `content.rs` reads what came.

mod content;
mod fetch;
mod names;
mod target;

pub use fetch::Lookup;

use crate::Web;
use crate::function::{About, fit, tool};
use abide_core::capability::{CapabilityId, CapabilityStatus, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Tool, ToolContext, ToolError, ToolOutput};
use content::{ContentType, Form};
use fetch::{Body, BodyEnd, Bounds, Fetcher, Received};
use reqwest::Method;
use reqwest::header::{HeaderMap, LAST_MODIFIED};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use target::AllowedHost;
use tokio::time::timeout;
use url::Url;

/// How many bytes of a body are kept, and how many may be configured.
const BYTES: usize = 2 << 20;
const MOST_BYTES: usize = 10 << 20;
/// How long a page may take to be converted.
const LONGEST_CONVERSION: Duration = Duration::from_secs(10);

/// Fetches pages of the public web.
pub struct WebFetch {
    fetcher: Arc<Fetcher>,
    /// Why it cannot be used, if what the user says about the web cannot be.
    trouble: Option<String>,
}

/// A page that was fetched.
pub(crate) struct Page {
    /// Where it came from, after all redirects.
    pub(crate) url: String,
    /// Its text; that of an HTML page as Markdown.
    pub(crate) text: String,
    /// What it calls itself.
    pub(crate) title: Option<String>,
}

impl WebFetch {
    /// Makes one that looks names up as this machine does.
    pub fn new() -> Self {
        Self::with_lookup(fetch::system_lookup())
    }

    /// Makes one that looks names up in another way.
    pub fn with_lookup(lookup: Lookup) -> Self {
        let bounds = Bounds {
            first_byte: Duration::from_secs(1),
            body: Duration::from_secs(30),
            bytes: BYTES,
            hops: 10,
        };
        Self { fetcher: Arc::new(Fetcher::new(bounds, Vec::new(), lookup, None)), trouble: None }
    }

    /// Returns the same as the user wants it: with hosts that are allowed, and through a proxy.
    #[must_use]
    pub fn opened(self, web: &Web) -> Self {
        let mut allowed = self.fetcher.allowed.clone();
        let mut trouble = None;
        for host in &web.allow_hosts {
            match AllowedHost::parse(host) {
                Ok(host) => allowed.push(host),
                Err(why) => trouble = Some(format!("`web.allow_hosts`: {why}")),
            }
        }
        let (bounds, lookup) = (self.fetcher.bounds.clone(), self.fetcher.lookup());
        Self { fetcher: Arc::new(Fetcher::new(bounds, allowed, lookup, web.proxy.clone())), trouble }
    }

    /// Fetches a page to read it: its text, if it is one and there is one.
    pub(crate) async fn page(&self, url: &str) -> Result<Page, ToolError> {
        let url = target::parse(url).map_err(ToolError::Failed)?;
        let wants = |headers: &HeaderMap| ContentType::of(headers).is_none_or(|kind| kind.is_text());
        let received = self.fetcher.fetch(url, Method::GET, wants).await?;
        if received.status >= 400 {
            return Err(ToolError::Failed(format!("the server answers with status {}", received.status)));
        }
        let content_type = ContentType::of(&received.headers);
        let Some(body) = received.body else {
            return Err(ToolError::Failed(binary(content_type.as_ref())));
        };
        if content_type.is_none() && !content::looks_like_text(&body.bytes) {
            return Err(ToolError::Failed(binary(None)));
        }
        let from = received.url.to_string();
        let (text, _) = read(body, content_type, Some(Form::Markdown), received.url).await?;
        let heading = text.lines().find_map(|line| line.strip_prefix("# "));
        let title = heading.map(|title| title.trim().chars().take(300).collect());
        Ok(Page { url: from, text, title })
    }
}

impl Default for WebFetch {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Deserialize)]
struct Arguments {
    url: String,
    #[serde(default)]
    method: Verb,
    #[serde(default)]
    as_markdown: bool,
    #[serde(default)]
    as_text: bool,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "UPPERCASE")]
enum Verb {
    #[default]
    Get,
    Head,
}

impl Capability for WebFetch {
    fn id(&self) -> CapabilityId {
        CapabilityId::web_fetch()
    }

    fn name(&self) -> &'static str {
        "Web Fetch"
    }

    fn description(&self) -> &'static str {
        "Fetch content from URLs and convert HTML responses to markdown or plain text."
    }

    fn status(&self) -> CapabilityStatus {
        match &self.trouble {
            Some(why) => CapabilityStatus::Unavailable { why: why.clone() },
            None => CapabilityStatus::Available,
        }
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let about = About {
            name: "web_fetch",
            description: "Fetch what is at a URL of the public web. A page is best read with as_markdown. Binary \
                          content is not returned, only what is known about it.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "minLength": 1,
                        "description": "The URL to fetch; it must start with http:// or https://."
                    },
                    "method": {
                        "type": "string", "enum": ["GET", "HEAD"], "default": "GET",
                        "description": "HEAD returns what is known about the resource without its content."
                    },
                    "as_markdown": {
                        "type": "boolean", "default": false, "description": "Convert an HTML page to Markdown."
                    },
                    "as_text": {
                        "type": "boolean", "default": false,
                        "description": "Convert an HTML page to plain text; ignored with as_markdown."
                    }
                },
                "required": ["url"],
                "additionalProperties": false
            }),
            kind: ToolKind::Network,
            risk: Risk::Medium,
            beside: Beside::Others,
            examples: vec![
                json!({ "url": "https://example.com/", "as_markdown": true }),
                json!({ "url": "https://example.com/data.json" }),
                json!({ "url": "https://example.com/report.pdf", "method": "HEAD" }),
            ],
        };
        let fetcher = Arc::clone(&self.fetcher);
        vec![tool(about, move |arguments: Arguments, context| {
            let fetcher = Arc::clone(&fetcher);
            async move { answer(&fetcher, arguments, context).await.map(ToolOutput::Json) }
        })]
    }

    fn icon(&self) -> Option<&str> {
        Some("globe")
    }

    fn category(&self) -> Option<&str> {
        Some("Network")
    }

    fn configuration(&self) -> Option<Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "allow_hosts": {
                    "type": "array",
                    "maxItems": 100,
                    "items": { "type": "string", "minLength": 1, "maxLength": 300 },
                    "description": "Of the hosts in `web.allow_hosts` of your configuration, those that this agent may fetch."
                },
                "first_byte_ms": {
                    "type": "integer", "minimum": 1, "maximum": 60_000, "default": 1000,
                    "description": "How long a server has to begin its answer."
                },
                "body_ms": {
                    "type": "integer", "minimum": 1, "maximum": 300_000, "default": 30_000,
                    "description": "How long the body may take; what has come by then is returned."
                },
                "max_bytes": {
                    "type": "integer", "minimum": 1, "maximum": MOST_BYTES, "default": BYTES,
                    "description": "How many bytes of a body are kept."
                }
            },
            "additionalProperties": false
        }))
    }

    fn configured(&self, configuration: &Value) -> Result<Arc<dyn Capability>, String> {
        let mut bounds = self.fetcher.bounds.clone();
        let number = |name: &str| configuration.get(name).and_then(Value::as_u64);
        if let Some(time) = number("first_byte_ms") {
            bounds.first_byte = Duration::from_millis(time);
        }
        if let Some(time) = number("body_ms") {
            bounds.body = Duration::from_millis(time);
        }
        if let Some(bytes) = number("max_bytes").and_then(|bytes| usize::try_from(bytes).ok()) {
            bounds.bytes = bytes;
        }
        // An agent may be anybody's, such as a project's: it can have fewer of the hosts that the user allows, never more.
        let mut allowed = self.fetcher.allowed.clone();
        if let Some(hosts) = configuration.get("allow_hosts").and_then(Value::as_array) {
            allowed.clear();
            for host in hosts.iter().filter_map(Value::as_str) {
                let wanted = AllowedHost::parse(host)?;
                if !self.fetcher.allowed.iter().any(|known| known.covers(&wanted)) {
                    return Err(format!(
                        "`{host}` is not among `web.allow_hosts` of your own configuration, and an agent may only have fewer"
                    ));
                }
                allowed.push(wanted);
            }
        }
        let fetcher = Fetcher::new(bounds, allowed, self.fetcher.lookup(), self.fetcher.proxy());
        Ok(Arc::new(Self { fetcher: Arc::new(fetcher), trouble: self.trouble.clone() }))
    }
}

async fn answer(fetcher: &Fetcher, arguments: Arguments, context: ToolContext) -> Result<Value, ToolError> {
    let url = target::parse(&arguments.url).map_err(ToolError::Failed)?;
    let method = match arguments.method {
        Verb::Get => Method::GET,
        Verb::Head => Method::HEAD,
    };
    // A body without a type is looked at; one that says that it is no text is not even read.
    let wants = |headers: &HeaderMap| ContentType::of(headers).is_none_or(|kind| kind.is_text());
    let received = fetcher.fetch(url.clone(), method.clone(), wants).await?;
    let content_type = ContentType::of(&received.headers);
    let mut answer = known(&arguments.url, &url, &received, content_type.as_ref());
    let Some(body) = received.body else {
        if method == Method::GET {
            answer["error"] = json!(binary(content_type.as_ref()));
        }
        return Ok(answer);
    };
    answer["size"] = json!(body.bytes.len());
    if content_type.is_none() && !content::looks_like_text(&body.bytes) {
        answer["error"] = json!(binary(None));
        return Ok(answer);
    }
    let form = if arguments.as_markdown {
        Some(Form::Markdown)
    } else if arguments.as_text {
        Some(Form::Text)
    } else {
        None
    };
    let end = body.end;
    let (mut text, format) = read(body, content_type, form, received.url).await?;
    if text.contains('\0') {
        answer["error"] = json!(binary(None));
        return Ok(answer);
    }
    let cut = fit(&mut text, &context);
    match end {
        BodyEnd::OutOfTime => text.push_str("\n\n[..more content timed out...]"),
        BodyEnd::TooLong => text.push_str("\n\n[..more content left out...]"),
        BodyEnd::Whole if cut => text.push_str("\n\n[..more content left out...]"),
        BodyEnd::Whole => {}
    }
    answer["format"] = json!(format);
    answer["content"] = json!(text);
    answer["truncated"] = json!(cut || end != BodyEnd::Whole);
    Ok(answer)
}

/// Returns what is known without the body.
fn known(asked: &str, url: &Url, received: &Received, content_type: Option<&ContentType>) -> Value {
    let header =
        |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut answer = json!({
        "url": asked,
        "status_code": received.status,
        "content_type": content_type.map(|kind| kind.whole.as_str()),
        "size": received.length.unwrap_or(0),
    });
    if received.url != *url {
        answer["final_url"] = json!(received.url.as_str());
    }
    if let Some(modified) = received.headers.get(LAST_MODIFIED) {
        answer["last_modified"] = json!(header(modified));
    }
    if let Some(name) = content::filename(&received.headers, &received.url) {
        answer["filename"] = json!(name);
    }
    answer
}

fn binary(content_type: Option<&ContentType>) -> String {
    let kind = content_type.map(|kind| format!(" ({})", kind.whole)).unwrap_or_default();
    format!("binary content{kind} is not supported: only text can be returned")
}

/// Decodes and converts, on a thread where a long page holds nobody up.
async fn read(
    body: Body,
    content_type: Option<ContentType>,
    form: Option<Form>,
    url: Url,
) -> Result<(String, &'static str), ToolError> {
    let work = move || {
        let text = content::decode(&body.bytes, content_type.as_ref());
        let Some(form) = form.filter(|_| content::is_html(content_type.as_ref(), &text)) else {
            return Ok((text, "raw"));
        };
        let word = match form {
            Form::Markdown => "markdown",
            Form::Text => "text",
        };
        content::converted(&text, form, &url).map(|text| (text, word))
    };
    let read = timeout(LONGEST_CONVERSION, tokio::task::spawn_blocking(work)).await;
    let read =
        read.map_err(|_| ToolError::Failed("the page takes too long to convert; fetch it raw".to_owned()))?;
    read.map_err(|error| ToolError::Internal(error.to_string()))?.map_err(ToolError::Failed)
}

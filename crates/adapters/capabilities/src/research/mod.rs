//! `research`: a scratchpad with notes, the sources behind them, and quotations that are checked.
//!
//! Everything is kept as files of the session (`pad.rs`), so that it has the session's isolation, bounds and durability,
//! and can be read like any other file; tools may not change it. A source is a page that was really fetched, or a file
//! of the session; a note that quotes must quote what the source says. `look.rs` searches all of it, `results.rs` reads
//! what a search on the web returned.

mod look;
mod pad;
mod provider;
mod results;

pub use provider::SearchTool;

use crate::function::{About, fit, tool};
use crate::web_fetch::WebFetch;
use crate::{Now, Web};
use abide_core::capability::{CapabilityId, FilePath, Requirement, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{
    Beside, Capability, SessionFiles, SessionId, Tool, ToolContext, ToolError, ToolOutput,
};
use pad::{NewSource, Pad};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How much of a source its first answer shows, in bytes.
const EXCERPT: usize = 2_000;

/// A scratchpad for research.
#[derive(Clone)]
pub struct Research {
    pad: Arc<Pad>,
    web: Arc<WebFetch>,
    search_url: Option<Arc<str>>,
    search_tool: Option<SearchTool>,
}

impl Research {
    /// Makes one that keeps what it has in the files of sessions, fetches as `web` does, and searches as `settings` say.
    pub fn new(files: Arc<dyn SessionFiles>, now: Now, web: Arc<WebFetch>, settings: &Web) -> Self {
        let search_url = settings.search_url.as_deref().map(Into::into);
        let search_tool = settings.search_tool.clone();
        Self { pad: Arc::new(Pad::new(files, now)), web, search_url, search_tool }
    }
}

#[derive(Deserialize)]
struct AddSource {
    url: Option<String>,
    path: Option<String>,
    title: Option<String>,
}

#[derive(Deserialize)]
struct AddNote {
    text: String,
    #[serde(default)]
    sources: Vec<String>,
    quote: Option<String>,
}

#[derive(Deserialize)]
struct Search {
    query: String,
}

#[derive(Deserialize)]
struct Nothing {}

impl Capability for Research {
    fn id(&self) -> CapabilityId {
        CapabilityId::research()
    }

    fn name(&self) -> &'static str {
        "Research"
    }

    fn description(&self) -> &'static str {
        "Deep research capability with organized scratchpad."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(
            "You have access to a research scratchpad. Use it to organize your thoughts and findings. Add each page or \
             file that you rely on with research_add_source, write down what you learn with research_add_note and name \
             its sources, and quote exactly: a quotation that the source does not contain is refused. Before you \
             answer, read it all with research_read and cite sources by their ids.",
        )
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = vec![self.add_source(), self.add_note(), self.read(), self.search()];
        if self.search_tool.is_some() || self.search_url.is_some() {
            tools.push(self.web_search());
        }
        tools
    }

    fn icon(&self) -> Option<&str> {
        Some("search")
    }

    fn category(&self) -> Option<&str> {
        Some("AI")
    }

    fn depends_on(&self) -> Vec<Requirement> {
        vec![CapabilityId::file_system().into(), CapabilityId::web_fetch().into()]
    }
}

impl Research {
    fn add_source(&self) -> Arc<dyn Tool> {
        let about = About {
            name: "research_add_source",
            description: "Fetch a page, or take a file of the session, and keep its text as a source. Returns the id to cite it \
                          by and how it begins; research_search finds what is further down.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "url": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A page of the public web." },
                    "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "A text file of the session." },
                    "title": { "type": "string", "minLength": 1, "maxLength": 300, "description": "What to call it." }
                },
                "oneOf": [{ "required": ["url"] }, { "required": ["path"] }],
                "additionalProperties": false
            }),
            kind: ToolKind::Network,
            risk: Risk::Medium,
            beside: Beside::Nothing,
            examples: vec![
                json!({ "url": "https://example.com/report", "title": "The report" }),
                json!({ "path": "/docs/interview.md" }),
            ],
        };
        let this = self.clone();
        tool(about, move |asked: AddSource, context| {
            let this = this.clone();
            async move { this.added(asked, context).await }
        })
    }

    async fn added(&self, asked: AddSource, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let session = &context.session;
        let (place, text, found) = match (asked.url, asked.path) {
            (Some(url), _) => {
                if let Some(known) = self.pad.source_at(session, &url).await? {
                    return Ok(ToolOutput::Json(
                        json!({ "id": known.id, "title": known.title, "already": true }),
                    ));
                }
                let page = self.web.page(&url).await?;
                (url, page.text, page.title)
            }
            (None, Some(path)) => (path.clone(), self.pad.file(session, &path).await?, None),
            (None, None) => return Err(ToolError::Internal("neither url nor path".to_owned())),
        };
        let title = asked.title.or(found).unwrap_or_else(|| place.clone());
        let source = self.pad.add_source(session, NewSource { title, place, text: &text }).await?;
        let mut excerpt = text;
        excerpt.truncate(excerpt.floor_char_boundary(EXCERPT));
        fit(&mut excerpt, &context);
        Ok(ToolOutput::Json(json!({
            "id": source.id, "title": source.title, "bytes": source.bytes, "begins": excerpt
        })))
    }

    fn add_note(&self) -> Arc<dyn Tool> {
        let about = About {
            name: "research_add_note",
            description: "Write down something that you learned, with the sources that say so. A quotation must stand in \
                          one of the sources word for word.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "text": { "type": "string", "minLength": 1, "maxLength": 20_000, "description": "What you learned." },
                    "sources": {
                        "type": "array", "maxItems": 50, "items": { "type": "string", "pattern": "^S[0-9]+$" },
                        "description": "Ids of sources, such as S1."
                    },
                    "quote": {
                        "type": "string", "minLength": 1, "maxLength": 5_000,
                        "description": "Words of a source, exactly as they stand there."
                    }
                },
                "required": ["text"],
                "additionalProperties": false
            }),
            kind: ToolKind::Plan,
            risk: Risk::Low,
            beside: Beside::Nothing,
            examples: vec![json!({ "text": "The release was in May." })],
        };
        let this = self.clone();
        tool(about, move |asked: AddNote, context| {
            let this = this.clone();
            async move {
                let note = this
                    .pad
                    .add_note(&context.session, &asked.text, &asked.sources, asked.quote.as_deref())
                    .await?;
                Ok(ToolOutput::Json(json!({ "id": note, "quoted": asked.quote.is_some() })))
            }
        })
    }

    fn read(&self) -> Arc<dyn Tool> {
        let about = About {
            name: "research_read",
            description: "Read the scratchpad: every note with what it cites, and every source.",
            arguments: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
            kind: ToolKind::Read,
            risk: Risk::None,
            beside: Beside::Others,
            examples: vec![json!({})],
        };
        let this = self.clone();
        tool(about, move |_: Nothing, context: ToolContext| {
            let this = this.clone();
            async move {
                let (notes, sources) = this.pad.all(&context.session).await?;
                let mut text = pad::markdown(&notes, &sources);
                let cut = fit(&mut text, &context);
                Ok(ToolOutput::Json(json!({
                    "notes": notes.len(), "sources": sources.len(), "markdown": text, "truncated": cut
                })))
            }
        })
    }

    fn search(&self) -> Arc<dyn Tool> {
        let about = About {
            name: "research_search",
            description: "Find words in the sources, the notes and the files of the session. Lines with the most of the \
                          words come first.",
            arguments: query("What to look for: words, in any order."),
            kind: ToolKind::Search,
            risk: Risk::None,
            beside: Beside::Others,
            examples: vec![json!({ "query": "release date" })],
        };
        let this = self.clone();
        tool(about, move |asked: Search, context: ToolContext| {
            let this = this.clone();
            async move {
                let found = this.looked(&context.session, &asked.query, &context).await?;
                Ok(ToolOutput::Json(found))
            }
        })
    }

    async fn looked(
        &self,
        session: &SessionId,
        query: &str,
        context: &ToolContext,
    ) -> Result<Value, ToolError> {
        let mut look = look::Look::new(query)
            .ok_or_else(|| ToolError::Failed("there is no word to look for".to_owned()))?;
        for path in self.pad.texts(session).await? {
            if context.stop.happened() {
                return Err(ToolError::Cancelled);
            }
            let Some(bytes) = self.pad.bytes(session, &path).await? else { continue };
            look = look.through(path, bytes).await?;
            if look.is_over() {
                break;
            }
        }
        let cut = look.is_over();
        let matches: Vec<Value> = look
            .best()
            .into_iter()
            .map(|found| {
                json!({
                    "source": pad::source_of(&found.path), "path": found.path.as_str(),
                    "line_number": found.line_number, "line": found.line, "words": found.words
                })
            })
            .collect();
        Ok(json!({ "query": query, "matches": matches, "truncated": cut }))
    }

    fn web_search(&self) -> Arc<dyn Tool> {
        let about = About {
            name: "research_web_search",
            description: "Search the web. Returns titles and addresses; add those that you rely on with research_add_source.",
            arguments: query("What to search for."),
            kind: ToolKind::Network,
            risk: Risk::Medium,
            beside: Beside::Others,
            examples: vec![json!({ "query": "rust 2024 edition release date" })],
        };
        let this = self.clone();
        tool(about, move |asked: Search, context: ToolContext| {
            let this = this.clone();
            async move {
                let (text, from) = match (&this.search_tool, &this.search_url) {
                    (Some(tool), _) => (tool.search(&asked.query, context.clone()).await?, String::new()),
                    (None, Some(url)) => {
                        let words: String =
                            url::form_urlencoded::byte_serialize(asked.query.as_bytes()).collect();
                        let page = this.web.page(&url.replace("{query}", &words)).await?;
                        (page.text, page.url)
                    }
                    (None, None) => {
                        return Err(ToolError::Refused("nothing to search with is set".to_owned()));
                    }
                };
                let results = results::read(&text, &from);
                let mut answer = json!({ "query": asked.query, "results": results, "count": results.len() });
                // What a tool says in words of its own is still worth reading.
                if results.is_empty() && this.search_tool.is_some() {
                    let mut said = text;
                    answer["truncated"] = fit(&mut said, &context).into();
                    answer["text"] = said.into();
                }
                Ok(ToolOutput::Json(answer))
            }
        })
    }
}

fn query(description: &str) -> Value {
    json!({
        "type": "object",
        "properties": { "query": { "type": "string", "minLength": 1, "maxLength": 500, "description": description } },
        "required": ["query"],
        "additionalProperties": false
    })
}

/// Takes a path as a model wrote it.
fn parse(path: &str) -> Result<FilePath, ToolError> {
    FilePath::parse(path).map_err(|error| ToolError::Refused(format!("{path:?}: {error}")))
}

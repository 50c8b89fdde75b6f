//! What the configuration says about MCP servers as capabilities, and about the web.

use super::Config;
use crate::capability::{CapabilityId, Risk, Tier};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Spanned;
use crate::value::Duration;
use std::fmt::Write as _;

/// An MCP server whose tools are a capability.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// How it is reached.
    pub reached: Reached,
    /// What it is called.
    pub name: Option<Spanned<String>>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// What it adds to the system prompt.
    pub system_prompt: Option<Spanned<String>>,
    /// The tools that are taken, by wildcards; all when nothing is said.
    pub tools: Option<Vec<Spanned<String>>>,
    /// The least risk that its tools have.
    pub risk: Option<Spanned<Risk>>,
    /// Who must agree to a call.
    pub tier: Option<Spanned<Tier>>,
    /// How long starting it may take.
    pub connect_timeout: Option<Spanned<Duration>>,
    /// How long a call may take.
    pub timeout: Option<Spanned<Duration>>,
    /// Whether a project says it, so that it is used only when trusted.
    pub of_project: bool,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Reached {
    /// It is started, and spoken to over its pipes.
    Command {
        /// The program and its arguments.
        words: Vec<Spanned<String>>,
        /// What its environment adds.
        env: Vec<(Spanned<String>, Spanned<Given>)>,
    },
    /// It runs somewhere, and is spoken to over HTTP.
    Url {
        /// Where.
        url: Spanned<String>,
        /// What is sent with every request.
        headers: Vec<(Spanned<String>, Spanned<Given>)>,
    },
}

/// A value, or where a secret one comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// It stands there.
    Text(String),
    /// A secret of the configuration.
    Secret(String),
}

/// How tools may use the web.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WebSettings {
    /// Hosts that may be fetched although they are on a private network.
    pub allow_hosts: Vec<Spanned<String>>,
    /// The proxy that pages are fetched through.
    pub proxy: Option<Spanned<String>>,
    /// Where searches are sent, with `{query}` in it.
    pub search_url: Option<Spanned<String>>,
    /// The tool of an MCP server that searches, as `ID__TOOL`.
    pub search_tool: Option<Spanned<String>>,
}

impl WebSettings {
    pub(super) fn overlay(&mut self, over: Self) {
        self.allow_hosts.extend(over.allow_hosts);
        self.proxy = over.proxy.or(self.proxy.take());
        self.search_url = over.search_url.or(self.search_url.take());
        self.search_tool = over.search_tool.or(self.search_tool.take());
    }
}

impl ServerSettings {
    /// Returns all that decides what runs or is contacted, as one text: what a user trusts.
    pub fn trusted_text(&self) -> String {
        let mut text = String::new();
        let mut add = |what: &str, value: &str| {
            // Lengths in front, so that no value can look like two.
            let _ = writeln!(text, "{what} {} {value}", value.len());
        };
        let given = |given: &Given| match given {
            Given::Text(text) => format!("text {text}"),
            Given::Secret(name) => format!("secret {name}"),
        };
        match &self.reached {
            Reached::Command { words, env } => {
                for word in words {
                    add("word", word);
                }
                for (name, value) in env {
                    add("variable", name);
                    add("value", &given(value));
                }
            }
            Reached::Url { url, headers } => {
                add("url", url);
                for (name, value) in headers {
                    add("header", name);
                    add("value", &given(value));
                }
            }
        }
        text
    }
}

impl Config {
    /// Marks what a project's configuration brings along, and takes out what only the user may say.
    ///
    /// Who may be reached in the user's own network, and through what, is not for a project to decide: one that could
    /// would read what only this machine can reach.
    pub fn without_open_doors(&mut self) -> Vec<Diagnostic> {
        self.capabilities.iter_mut().for_each(|(_, server)| server.of_project = true);
        let web = std::mem::take(&mut self.web);
        let spans = web.allow_hosts.iter().map(|host| (host.span, "allow_hosts"));
        let spans = spans
            .chain(web.proxy.iter().map(|proxy| (proxy.span, "proxy")))
            .chain(web.search_url.iter().map(|url| (url.span, "search_url")))
            .chain(web.search_tool.iter().map(|tool| (tool.span, "search_tool")));
        spans
            .map(|(span, key)| {
                Diagnostic::new(Code::ProjectWeb, span, format!("a project may not set `web.{key}`"))
                    .help("move it to your own configuration, ~/.config/abide/config.yaml")
            })
            .collect()
    }

    /// Finds the settings of an MCP server.
    pub fn server(&self, id: &CapabilityId) -> Option<&ServerSettings> {
        self.capabilities.iter().find(|(known, _)| known.value == *id).map(|(_, server)| server)
    }
}

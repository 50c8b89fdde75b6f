//! What a client really starts before a tool is used, as its files say it: so that somebody can start the very same.

use crate::hooks::Hooks;
use crate::piece::{Content, Piece};
use crate::{Client, Error, Target, file, opencode, plan};
use serde_json::Value as Json;

/// How a client starts its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A program with its arguments.
    Program(Vec<String>),
    /// A line for a shell.
    Shell(String),
}

/// The hook that a client has before a tool is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeTool {
    /// How it is started.
    pub start: Start,
    /// The version of the plugin that starts it, if one does.
    pub plugin: Option<String>,
}

/// Returns the hook of ours that a client has before a tool is used, exactly as its files say it.
pub fn before_tool(target: &Target<'_>) -> Result<Option<BeforeTool>, Error> {
    let now = |piece: &Piece| Ok(file::read(&piece.path)?.unwrap_or_default());
    for piece in plan::pieces(target, now)? {
        let Some(text) = file::read(&piece.path)? else { continue };
        let found = match &piece.content {
            Content::Whole { .. } => opencode::program_of(&text).map(|program| {
                let words = [&program, "hook", target.client.word(), EVENT];
                let start = Start::Program(words.map(str::to_owned).to_vec());
                BeforeTool { start, plugin: opencode::version_of(&text) }
            }),
            Content::Json { hooks: Some(hooks), .. } => handler(target.client, hooks, &text)
                .map_err(|problem| Error::Edit { path: piece.path.clone(), problem })?
                .map(|start| BeforeTool { start, plugin: None }),
            Content::Json { hooks: None, .. } | Content::Toml(_) => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

const EVENT: &str = "PreToolUse";

fn handler(client: Client, hooks: &Hooks, text: &str) -> Result<Option<Start>, abide_formats::edit::Problem> {
    let found = hooks.found(text)?;
    let Some(handler) = found.iter().find(|handler| handler.event == EVENT) else { return Ok(None) };
    let Some(command) = handler.value["command"].as_str().map(str::to_owned) else { return Ok(None) };
    Ok(Some(match client {
        Client::Codex => Start::Shell(command),
        Client::Claude | Client::OpenCode => {
            let arguments = handler.value["args"].as_array().map(Vec::as_slice).unwrap_or_default();
            let arguments = arguments.iter().filter_map(Json::as_str).map(str::to_owned);
            Start::Program(std::iter::once(command).chain(arguments).collect())
        }
    }))
}

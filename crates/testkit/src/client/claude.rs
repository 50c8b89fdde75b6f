//! Claude Code, by `claude -p`.

use super::home::Home;
use super::{Client, ClientError, Installed, Launch, Outcome};
use crate::model::{ModelServer, ToolCall};
use serde_json::{Value, json};
use std::path::Path;

/// Claude Code in a home of its own.
#[derive(Debug)]
pub struct ClaudeCode {
    program: String,
    home: Home,
}

impl ClaudeCode {
    /// Finds it and gives it a home.
    pub fn new(installed: &Installed) -> Result<Self, ClientError> {
        Ok(Self { program: installed.program("claude")?, home: Home::new()? })
    }

    /// Writes the user's settings; a project has its own in `.claude/settings.json`.
    pub fn settings(&self, settings: &Value) -> Result<(), ClientError> {
        self.home.write(".claude/settings.json", &settings.to_string())
    }
}

fn settings(url: &str) -> [(&'static str, &str); 4] {
    [
        ("ANTHROPIC_BASE_URL", url),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ]
}

impl Client for ClaudeCode {
    const NAME: &'static str = "claude";

    async fn run(&self, launch: Launch<'_>) -> Result<Outcome, ClientError> {
        let url = launch.model.clone();
        let mut variables = settings(&url).to_vec();
        // Without it, root may not leave out the permission prompts, which nobody could answer here.
        variables.push(("IS_SANDBOX", "1"));
        let arguments =
            ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"];
        let ran =
            launch.run(self.program.clone(), self.home.path(), &arguments, "--resume", &variables).await?;
        let end = ran.events.iter().rfind(|event| event["type"] == "result");
        let field = |name: &str| Some(end?[name].as_str()?.to_owned());
        let (answer, session) = (field("result"), field("session_id"));
        Ok(ran.outcome(answer, session))
    }

    fn shell(&self, command: &str) -> ToolCall {
        ToolCall::new("Bash", json!({"command": command, "description": "runs a command"}))
    }

    fn read(&self, path: &Path) -> ToolCall {
        ToolCall::new("Read", json!({"file_path": path}))
    }

    fn write(&self, path: &Path, text: &str) -> ToolCall {
        ToolCall::new("Write", json!({"file_path": path, "content": text}))
    }

    fn tool(&self, server: &str, tool: &str, arguments: Value) -> ToolCall {
        ToolCall::new(format!("mcp__{server}__{tool}"), arguments)
    }

    fn delegate(&self, task: &str) -> ToolCall {
        let arguments = json!({"description": "a task", "prompt": task, "subagent_type": "general-purpose"});
        ToolCall::new("Agent", arguments)
    }

    fn environment(&self, _: &Path, model: &ModelServer) -> Result<Vec<(String, String)>, ClientError> {
        Ok(super::variables(&self.program, &settings(&model.url())))
    }

    fn home(&self) -> &Path {
        self.home.path()
    }
}

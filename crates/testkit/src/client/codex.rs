//! Codex, by `codex exec`.

use super::home::Home;
use super::{Client, ClientError, Installed, Launch, Outcome};
use crate::model::ToolCall;
use serde_json::{Value, json};
use std::path::Path;

/// Codex in a home of its own.
#[derive(Debug)]
pub struct Codex {
    program: String,
    home: Home,
    config: String,
}

impl Codex {
    /// Finds it and gives it a home.
    pub fn new(installed: &Installed) -> Result<Self, ClientError> {
        Ok(Self { program: installed.program("codex")?, home: Home::new()?, config: String::new() })
    }

    /// Adds tables to the end of the home's `config.toml`.
    #[must_use]
    pub fn config(mut self, tables: &str) -> Self {
        self.config.push_str(tables);
        self
    }

    /// Writes `config.toml`: the scripted model, and trust in the project, without which its `.codex` is not read.
    fn configure(&self, launch: &Launch<'_>) -> Result<(), ClientError> {
        let project = launch.project.canonicalize();
        let project = project.map_err(|error| ClientError::file(launch.project, error))?;
        // JSON's strings are TOML's basic strings.
        let (project, url) = (json!(project), json!(format!("{}/v1", launch.model)));
        let text = format!(
            "model = \"scripted\"\n\
             model_provider = \"scripted\"\n\
             check_for_update_on_startup = false\n\
             [analytics]\n\
             enabled = false\n\
             [model_providers.scripted]\n\
             name = \"scripted\"\n\
             base_url = {url}\n\
             wire_api = \"responses\"\n\
             env_key = \"SCRIPTED_KEY\"\n\
             [projects.{project}]\n\
             trust_level = \"trusted\"\n\
             {}",
            self.config
        );
        self.home.write(".codex/config.toml", &text)
    }
}

impl Client for Codex {
    const NAME: &'static str = "codex";

    async fn run(&self, launch: Launch<'_>) -> Result<Outcome, ClientError> {
        self.configure(&launch)?;
        let arguments = [
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            // Hooks that nobody approved would be left out without a word.
            "--dangerously-bypass-hook-trust",
        ];
        let variables = [("SCRIPTED_KEY", "none")];
        let ran =
            launch.run(self.program.clone(), self.home.path(), &arguments, "resume", &variables).await?;
        let said = ran.events.iter().rfind(|event| event["item"]["type"] == "agent_message");
        let answer = said.and_then(|event| event["item"]["text"].as_str()).map(str::to_owned);
        let session = ran.events.iter().find_map(|event| event["thread_id"].as_str()).map(str::to_owned);
        Ok(ran.outcome(answer, session))
    }

    fn shell(&self, command: &str) -> ToolCall {
        ToolCall::new("exec_command", json!({"cmd": command, "login": Value::Bool(false)}))
    }

    /// Its model is told the agent's id, and has to ask `wait_agent` for what comes of it.
    fn delegate(&self, task: &str) -> ToolCall {
        ToolCall::new("spawn_agent", json!({"message": task}))
    }

    fn home(&self) -> &Path {
        self.home.path()
    }
}

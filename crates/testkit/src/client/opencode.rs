//! OpenCode, by `opencode run`.
//!
//! It installs a package into each of its configuration folders before it does anything else, which takes a minute and
//! the network. So both the home's and the project's get what it looks for in advance: a link to one installation.

use super::home::{Home, make_folder};
use super::{Client, ClientError, Installed, Launch, Outcome};
use crate::model::{ModelServer, ToolCall};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// OpenCode in a home of its own.
#[derive(Debug)]
pub struct OpenCode {
    program: String,
    packages: PathBuf,
    home: Home,
    config: Value,
}

impl OpenCode {
    /// Finds it and gives it a home.
    pub fn new(installed: &Installed) -> Result<Self, ClientError> {
        let program = installed.program("opencode")?;
        let packages = installed.opencode_packages()?;
        Ok(Self { program, packages, home: Home::new()?, config: json!({}) })
    }

    /// Sets a key of its configuration, beside the user's and the project's own.
    #[must_use]
    pub fn config(mut self, key: &str, value: Value) -> Self {
        self.config[key] = value;
        self
    }

    /// Returns the settings of a run. They come beside the files of the home and the project, which belong to whatever is
    /// installed into these.
    fn settings(&self, url: &str) -> String {
        let mut config = self.config.clone();
        config["model"] = json!("scripted/scripted");
        // It would keep a copy of the project after every turn, which takes seconds.
        config["snapshot"] = json!(false);
        config["small_model"] = json!("scripted/scripted");
        config["provider"]["scripted"] = json!({
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
            "models": {"scripted": {"tool_call": true, "limit": {"context": 100_000, "output": 4_000}}},
        });
        config.to_string()
    }

    /// Puts into a configuration folder what OpenCode would install there.
    fn prepare(&self, folder: &Path) -> Result<(), ClientError> {
        let link = folder.join("node_modules");
        if link.exists() {
            return Ok(());
        }
        make_folder(folder)?;
        for name in ["package.json", "package-lock.json"] {
            let (from, to) = (self.packages.join(name), folder.join(name));
            std::fs::copy(&from, &to).map_err(|error| ClientError::file(&from, error))?;
        }
        let packages = self.packages.join("node_modules");
        std::os::unix::fs::symlink(packages, &link).map_err(|error| ClientError::file(&link, error))
    }
}

/// All but the first keep it from the network; waiting for that to fail takes seconds.
fn variables(settings: &str) -> [(&'static str, &str); 5] {
    [
        ("OPENCODE_CONFIG_CONTENT", settings),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ]
}

impl Client for OpenCode {
    const NAME: &'static str = "opencode";

    async fn run(&self, launch: Launch<'_>) -> Result<Outcome, ClientError> {
        self.prepare(&self.home.path().join(".config/opencode"))?;
        let own = launch.project.join(".opencode");
        if own.is_dir() {
            self.prepare(&own)?;
        }
        let settings = self.settings(&launch.model);
        let variables = variables(&settings);
        let arguments = ["run", "--format", "json"];
        let ran =
            launch.run(self.program.clone(), self.home.path(), &arguments, "--session", &variables).await?;
        let said = ran.events.iter().rfind(|event| event["type"] == "text");
        let answer = said.and_then(|event| event["part"]["text"].as_str()).map(str::to_owned);
        let session = ran.events.iter().find_map(|event| event["sessionID"].as_str()).map(str::to_owned);
        Ok(ran.outcome(answer, session))
    }

    fn shell(&self, command: &str) -> ToolCall {
        ToolCall::new("bash", json!({"command": command, "description": "runs a command"}))
    }

    fn read(&self, path: &Path) -> ToolCall {
        ToolCall::new("read", json!({"filePath": path}))
    }

    fn write(&self, path: &Path, text: &str) -> ToolCall {
        ToolCall::new("write", json!({"filePath": path, "content": text}))
    }

    fn tool(&self, server: &str, tool: &str, arguments: Value) -> ToolCall {
        ToolCall::new(format!("{server}_{tool}"), arguments)
    }

    fn delegate(&self, task: &str) -> ToolCall {
        let arguments = json!({"description": "a task", "prompt": task, "subagent_type": "general"});
        ToolCall::new("task", arguments)
    }

    fn environment(&self, project: &Path, model: &ModelServer) -> Result<Vec<(String, String)>, ClientError> {
        self.prepare(&self.home.path().join(".config/opencode"))?;
        let own = project.join(".opencode");
        if own.is_dir() {
            self.prepare(&own)?;
        }
        Ok(super::variables(&self.program, &variables(&self.settings(&model.url()))))
    }

    fn home(&self) -> &Path {
        self.home.path()
    }
}

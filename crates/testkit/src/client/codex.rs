//! Codex, by `codex exec`.

use super::home::Home;
use super::{Client, ClientError, Installed, Launch, Outcome};
use crate::model::{ModelServer, ToolCall};
use serde_json::{Value, json};
use std::path::Path;

/// Codex in a home of its own.
#[derive(Debug)]
pub struct Codex {
    program: String,
    home: Home,
    model: &'static str,
}

impl Codex {
    /// Finds it and gives it a home.
    pub fn new(installed: &Installed) -> Result<Self, ClientError> {
        Ok(Self { program: installed.program("codex")?, home: Home::new()?, model: MODEL })
    }

    /// Sets the name of the model, by which Codex chooses the tools that it offers and their form.
    #[must_use]
    pub fn model(mut self, model: &'static str) -> Self {
        self.model = model;
        self
    }
}

/// The model unless another is named: one that is given tools one by one.
const MODEL: &str = "gpt-5.5";

/// Returns the settings of a run, as options: the files of the home belong to whatever is installed into it.
fn settings(project: &Path, url: &str, model: &str) -> Result<Vec<String>, ClientError> {
    let real = project.canonicalize().map_err(|error| ClientError::file(project, error))?;
    // JSON's strings are TOML's basic strings.
    let (project, url) = (json!(real), json!(format!("{url}/v1")));
    let provider = format!(
        "{{name = \"scripted\", base_url = {url}, wire_api = \"responses\", env_key = \"SCRIPTED_KEY\"}}"
    );
    let all = [
        format!("model={}", json!(model)),
        "model_provider=\"scripted\"".to_owned(),
        format!("model_providers.scripted={provider}"),
        "check_for_update_on_startup=false".to_owned(),
        "analytics.enabled=false".to_owned(),
        // Without trust in the project, its `.codex` is not read.
        format!("projects={{{project} = {{trust_level = \"trusted\"}}}}"),
    ];
    Ok(all.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect())
}

impl Client for Codex {
    const NAME: &'static str = "codex";

    async fn run(&self, launch: Launch<'_>) -> Result<Outcome, ClientError> {
        let settings = settings(launch.project, &launch.model, self.model)?;
        let arguments =
            ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
        let arguments: Vec<&str> = arguments.into_iter().chain(settings.iter().map(String::as_str)).collect();
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

    /// It has no tool for that: its model reads by the shell.
    fn read(&self, path: &Path) -> ToolCall {
        self.shell(&format!("cat '{}'", path.display()))
    }

    /// A patch that adds a file takes the place of one that is there.
    fn write(&self, path: &Path, text: &str) -> ToolCall {
        let added: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
        let (file, added) = (path.display(), added.join("\n"));
        let change = format!("*** Begin Patch\n*** Add File: {file}\n{added}\n*** End Patch\n");
        ToolCall::new("apply_patch", Value::from(change))
    }

    fn tool(&self, server: &str, tool: &str, arguments: Value) -> ToolCall {
        ToolCall::new(tool, arguments).within(format!("mcp__{server}"))
    }

    /// Its model is told the agent's id, and has to ask `wait_agent` for what comes of it.
    fn delegate(&self, task: &str) -> ToolCall {
        ToolCall::new("spawn_agent", json!({"message": task})).within("multi_agent_v1")
    }

    fn environment(&self, project: &Path, model: &ModelServer) -> Result<Vec<(String, String)>, ClientError> {
        let settings = settings(project, &model.url(), self.model)?;
        let lines: Vec<&str> = settings.iter().map(String::as_str).filter(|word| *word != "-c").collect();
        // Its own sandbox needs helpers that it does not make for a home below a temporary folder.
        let text = format!("sandbox_mode = \"danger-full-access\"\n{}\n", lines.join("\n"));
        self.home.write(".codex/config.toml", &text)?;
        Ok(super::variables(&self.program, &[("SCRIPTED_KEY", "none")]))
    }

    fn home(&self) -> &Path {
        self.home.path()
    }
}

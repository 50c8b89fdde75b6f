//! A real model, small and on this machine: it streams, it answers by a schema, and that answer is evidence.
//!
//! A larger one calls a tool and uses what it answers.
//!
//! `./test model` installs the small one with pip and runs its tests, `./test --with-large-model large_model` the other;
//! CONTRIBUTING.md says how to by hand.
#![expect(clippy::disallowed_methods, reason = "these tests start a server and the binary")]

use abide_core::definition::{ProviderName, WireFormat};
use abide_core::model::{Provider, TimeLimits};
use abide_engine::port::{AnswerEnd, AnswerLimits, Hear, Model as _, ModelAnswer, ModelEvent, ModelRequest};
use abide_formats::json;
use abide_models::{HttpModel, Proxies};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The model, for as long as a test uses it.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn start() -> Self {
        Self::with(&[])
    }

    /// Starts the server with other arguments: a file with a model, and a template for its conversations.
    fn with(arguments: &[&Path]) -> Self {
        let folder = std::env::var("ABIDE_LOCAL_MODEL")
            .expect("ABIDE_LOCAL_MODEL names the folder that `./test model` fills");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/local_model/serve.py");
        let mut process = Command::new(Path::new(&folder).join("bin/python"))
            .arg(script)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines
            .find_map(|line| line.ok().filter(|line| line.starts_with("http://")))
            .expect("it says where it is");
        // What it writes later is read by nobody, and must not hold it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url }
    }

    fn model(&self, format: WireFormat) -> HttpModel {
        let long = Duration::from_mins(3);
        let url = match format {
            WireFormat::Anthropic => self.url.clone(),
            WireFormat::OpenAi => format!("{}/v1", self.url),
        };
        let provider = Provider {
            name: ProviderName::parse("local").unwrap(),
            format,
            url,
            key: None,
            time: TimeLimits { connect: long, begin: long, idle: long, answer: long },
            models: Vec::new(),
        };
        HttpModel::new(provider, None, &Proxies::default()).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn asked(model: &HttpModel, request: ModelRequest) -> (ModelAnswer, Vec<String>) {
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&pieces);
    let hear: Hear = Arc::new(move |event| {
        if let ModelEvent::Text(text) = event {
            heard.lock().unwrap().push(text);
        }
        Box::pin(std::future::ready(()))
    });
    let answer = model.ask(Arc::new(request), hear).await.unwrap();
    let pieces = pieces.lock().unwrap().clone();
    (answer, pieces)
}

fn question(text: &str) -> ModelRequest {
    let limits = AnswerLimits { tokens: 64, ..AnswerLimits::default() };
    ModelRequest { limits, ..ModelRequest::new("test", "smollm2", text) }
}

mod real_model {
    use super::*;

    #[tokio::test]
    async fn it_streams_in_both_formats() {
        let served = Served::start();
        for format in [WireFormat::OpenAi, WireFormat::Anthropic] {
            let (answer, pieces) = asked(&served.model(format), question("Tell me about birds.")).await;
            assert!(pieces.len() > 3, "{format:?}: it comes in pieces: {pieces:?}");
            assert_eq!(pieces.concat().trim(), answer.text().trim(), "{format:?}");
            assert!(
                answer.usage.output_tokens > 3 && answer.usage.input_tokens > 3,
                "{format:?}: {answer:?}"
            );
            assert!(matches!(answer.end, AnswerEnd::Done | AnswerEnd::Limit), "{format:?}: {answer:?}");
        }
    }

    #[tokio::test]
    async fn it_answers_by_a_schema() {
        let served = Served::start();
        let schema = r#"{"type":"object","properties":{"animal":{"enum":["heron","fish"]},"legs":{"type":"integer","minimum":0,"maximum":9}},"required":["animal","legs"],"additionalProperties":false}"#;
        let request = ModelRequest {
            schema: Some(json::parse(schema).unwrap()),
            ..question("Which animal has two legs?")
        };
        let (answer, _) = asked(&served.model(WireFormat::OpenAi), request).await;
        let data = json::to_json(&answer.structured.clone().unwrap_or_else(|| panic!("{answer:?}")));
        assert!(
            ["heron", "fish"].contains(&data["animal"].as_str().unwrap()) && data["legs"].is_u64(),
            "{data}"
        );
    }

    #[test]
    fn its_answer_is_the_evidence_of_a_step_of_abides_own_loop() {
        let served = Served::start();
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        let write = |path: &str, text: &str| {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".abide/config.yaml",
            &format!(
                "model: local/smollm2\nproviders:\n  local:\n    format: openai\n    url: {}/v1\n    models: {{ smollm2: {{ context_tokens: 4096, output_tokens: 64 }} }}\n",
                served.url
            ),
        );
        write(
            ".abide/abilities/look.yaml",
            "description: Looks.\nsteps:\n  - id: look\n    agent: default\n    runner: builtin\n    prompt: Which animal has two legs?\n    tools: []\n    output_schema: { type: object, properties: { animal: { enum: [heron, fish] } }, required: [animal], additionalProperties: false }\n  - id: tell\n    run: echo it is a {{ steps.look.json.animal }}\n    needs: [look]\n",
        );
        let output = Command::new(env!("CARGO_BIN_EXE_abide"))
            .args(["run", "look"])
            .current_dir(&project)
            .env_clear()
            .envs([("HOME", folder.path().as_os_str()), ("PATH", "/usr/bin:/bin".as_ref())])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:#?}");
        assert!(said.contains("it is a heron") || said.contains("it is a fish"), "{said}");
    }
}

mod large_model {
    use super::*;

    #[test]
    fn it_calls_a_tool_and_uses_what_it_answers() {
        let file = std::env::var("ABIDE_LARGE_MODEL")
            .expect("ABIDE_LARGE_MODEL names the file that `./test --with-large-model large_model` makes");
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/local_model/tools.jinja");
        let served = Served::with(&[Path::new(&file), &template]);
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".abide/config.yaml",
            &format!(
                "model: local/large\nbudget: {{ turns: 6 }}\nproviders:\n  local:\n    format: openai\n    url: {}/v1\n    begin_timeout: 10m\n    idle_timeout: 10m\n    models: {{ large: {{ context_tokens: 4096, output_tokens: 128 }} }}\n",
                served.url
            ),
        );
        write(".abide/agents/looker.md", "---\ntools: Read\n---\nYou look into files with your tool.\n");
        // A number that no model can guess.
        write("box.txt", "There are 48153 marbles in the box.\n");
        let output = Command::new(env!("CARGO_BIN_EXE_abide"))
            .args([
                "agent",
                "run",
                "looker",
                "How many marbles are in the box? Read the file box.txt.",
                "--json",
            ])
            .current_dir(folder.path())
            .env_clear()
            .envs([("HOME", folder.path().as_os_str()), ("PATH", "/usr/bin:/bin".as_ref())])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{output:#?}");
        let events: Vec<serde_json::Value> =
            said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
        let results = of("tool.answered");
        assert!(results.iter().any(|event| event["data"].to_string().contains("48153")), "{said}");
        let answers = of("model.answered");
        assert!(answers[0]["data"].to_string().contains("\"read\""), "it called the tool: {said}");
        let last = answers.last().unwrap()["data"].to_string();
        assert!(last.contains("48153") || last.contains("48,153"), "and used what came of it: {last}");
    }
}

//! The tool that runs commands.

use super::Shared;
use crate::function::{About, tool};
use abide_core::capability::Risk;
use abide_core::policy::ToolKind;
use abide_engine::port::{
    Beside, Ending, Line, ProcessError, Spec, Stream, Tool, ToolContext, ToolError, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How long a command may run, in seconds: unless told, and at most.
const SECONDS: u64 = 120;
const MOST_SECONDS: u64 = 1_800;

#[derive(Deserialize)]
struct Arguments {
    command: String,
    #[serde(default = "usual")]
    timeout_seconds: u64,
}

fn usual() -> u64 {
    SECONDS
}

pub(super) fn bash(shared: &Arc<Shared>) -> Arc<dyn Tool> {
    let about = About {
        name: "bash",
        description: "Run a shell command in the project's root, and return its exit code and what it wrote. Standard input is closed; what still runs at the end is ended.",
        arguments: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "minLength": 1, "maxLength": 65536, "description": "The command line, for `sh`." },
                "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": "After how long it is ended; 120 unless told." }
            },
            "required": ["command"],
            "additionalProperties": false
        }),
        kind: ToolKind::Execute,
        risk: Risk::High,
        beside: Beside::Nothing,
        examples: vec![
            json!({ "command": "ls -l" }),
            json!({ "command": "cargo test", "timeout_seconds": 600 }),
        ],
    };
    let shared = Arc::clone(shared);
    tool(about, move |arguments: Arguments, context: ToolContext| {
        run(Arc::clone(&shared), arguments, context)
    })
}

async fn run(
    shared: Arc<Shared>,
    arguments: Arguments,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    let each = context.output_bytes / 4;
    let outputs = Arc::new(Mutex::new((Captured::new(each), Captured::new(each))));
    let taking = Arc::clone(&outputs);
    let take = Arc::new(move |line: Line| {
        let mut outputs = taking.lock().unwrap_or_else(PoisonError::into_inner);
        match line.stream {
            Stream::Stdout => outputs.0.take(&line.bytes),
            Stream::Stderr => outputs.1.take(&line.bytes),
        }
    });
    let spec = Spec {
        program: "sh".to_owned(),
        arguments: vec!["-c".to_owned(), arguments.command],
        folder: shared.root.path().to_path_buf(),
        variables: Vec::new(),
        without: shared.without.clone(),
        longest: Some(arguments.timeout_seconds.min(MOST_SECONDS) * 1_000),
        mark: shared.mark.clone(),
    };
    let ending = (shared.launch)(spec, context.stop, take).await.map_err(|error| match error {
        ProcessError::Start { reason, .. } => {
            ToolError::Failed(format!("the command cannot be started: {reason}"))
        }
        ProcessError::Lost { .. } => {
            ToolError::Failed("the command is gone, and nobody knows how it ended".to_owned())
        }
    })?;
    let outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
    let (stdout, stderr) = (outputs.0.text(), outputs.1.text());
    let said = |code: serde_json::Value, ended: Option<String>| {
        let mut said = json!({ "exit_code": code, "stdout": stdout, "stderr": stderr });
        if let Some(ended) = ended {
            said["ended"] = json!(ended);
        }
        ToolOutput::Json(said)
    };
    match ending {
        Ending::Exited(code) => Ok(said(json!(code), None)),
        Ending::Signalled(signal) => Ok(said(json!(null), Some(format!("by signal {signal}")))),
        Ending::TimedOut => {
            Ok(said(json!(null), Some(format!("after {} seconds", arguments.timeout_seconds))))
        }
        Ending::Cancelled => Err(ToolError::Cancelled),
    }
}

/// The beginning and the end of an output.
struct Captured {
    each: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Captured {
    fn new(bytes: usize) -> Self {
        Self { each: bytes / 2, head: Vec::new(), tail: VecDeque::new(), left_out: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.each.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let over = self.tail.len().saturating_sub(self.each);
        self.tail.drain(..over);
        self.left_out += over;
    }

    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {} bytes left out]\n{tail}", self.left_out)
    }
}

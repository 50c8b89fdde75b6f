//! `sandbox`: runs code where it can do no harm, or not at all.
//!
//! The walls are the kernel's: namespaces of its own for everything (so no network, no other process, no file but the
//! system's programs, read-only), no capability, a filter on system calls, and hard limits. `walls.rs` says how they are
//! put up, `filter.rs` which calls are refused, `sum.rs` what all processes may use together. [`Sandbox::probe`] puts them up once and looks at them from inside; where
//! one is missing, the capability is unavailable and says why.

mod filter;
mod sum;
mod walls;

use crate::function::{About, fit, tool};
use crate::output::Captured;
use abide_core::capability::{CapabilityId, CapabilityStatus, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{
    Beside, Capability, Ending, Later, Line, Process, ProcessError, Signal, Spec, Stop, Stopper, Stream,
    Tool, ToolContext, ToolError, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use walls::{Language, Walls};

/// Takes what a process writes.
pub type Take = Arc<dyn Fn(Line) + Send + Sync>;

/// Runs a process to its end; see [`launcher`].
pub type Launch = Arc<dyn Fn(Spec, Stop, Take) -> Later<Result<Ending, ProcessError>> + Send + Sync>;

/// Makes a launcher of the port for processes.
pub fn launcher<P: Process>(process: Arc<P>) -> Launch {
    Arc::new(move |spec, stop, take| {
        let process = Arc::clone(&process);
        Box::pin(async move {
            let cancel = move || {
                let stop = stop.clone();
                async move {
                    stop.wait().await;
                    Signal::Kill
                }
            };
            let sink = move |line| {
                take(line);
                std::future::ready(())
            };
            process.run(spec, cancel, sink).await
        })
    })
}

/// How many bytes of each output are kept.
const KEPT: usize = 64 * 1024;
/// How long code may run, in seconds: unless told, and at most.
const SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 60;
/// How many sandboxes this process has at the same time; each may use a gigabyte.
const AT_ONCE: usize = 4;

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// Runs code in a sandbox.
#[derive(Clone)]
pub struct Sandbox {
    state: Result<Arc<Ready>, String>,
}

struct Ready {
    walls: Walls,
    launch: Launch,
}

impl Sandbox {
    /// Puts the walls up once, and looks at them from inside.
    pub async fn probe(launch: Launch) -> Self {
        Self { state: Self::ready(launch).await.map(Arc::new) }
    }

    /// Returns one that cannot be used.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self { state: Err(why.into()) }
    }

    async fn ready(launch: Launch) -> Result<Ready, String> {
        if let Some(why) = sum::missing() {
            return Err(format!("the sandbox is not safe on this system: {why}"));
        }
        let ready = Ready { walls: Walls::find()?, launch };
        let time = Duration::from_secs(SECONDS);
        let ran = ready.run(Language::Shell, walls::PROBE, time, Stop::never()).await;
        let ran = ran.map_err(|error| format!("the sandbox does not start: {error}"))?;
        if ran.stdout.text() == "safe\n" {
            return Ok(ready);
        }
        let said = ran.stderr.text() + &ran.stdout.text();
        let said = said.lines().next().unwrap_or("it says nothing");
        Err(format!("the sandbox is not safe on this system: {said}"))
    }
}

#[derive(Deserialize)]
struct Arguments {
    language: Language,
    code: String,
    #[serde(default = "usual")]
    timeout_seconds: u64,
}

fn usual() -> u64 {
    SECONDS
}

struct Ran {
    ending: Ending,
    stdout: Captured,
    stderr: Captured,
}

impl Ready {
    async fn run(
        &self,
        language: Language,
        code: &str,
        time: Duration,
        stop: Stop,
    ) -> Result<Ran, ToolError> {
        // Its time begins when it does, not while it waits for its place.
        let _place = tokio::select! {
            biased;
            () = stop.wait() => return Err(ToolError::Cancelled),
            place = PLACES.acquire() => place.map_err(|error| ToolError::Internal(error.to_string()))?,
        };
        let internal = |error: std::io::Error| ToolError::Internal(format!("the sandbox: {error}"));
        let placed = self.walls.place(language, code).map_err(internal)?;
        let spec = self.walls.spec(language, &placed, time);
        let outputs = Arc::new(Mutex::new((Captured::of(KEPT), Captured::of(KEPT))));
        let into = Arc::clone(&outputs);
        let take: Take = Arc::new(move |line| {
            let mut outputs = into.lock().unwrap_or_else(PoisonError::into_inner);
            match line.stream {
                Stream::Stdout => outputs.0.take(&line.bytes),
                Stream::Stderr => outputs.1.take(&line.bytes),
            }
        });
        let (stopper, ending_it) = Stopper::pair();
        let running = (self.launch)(spec, ending_it, take);
        tokio::pin!(running);
        let leader = placed.leader();
        let mut greedy = false;
        let ended = tokio::select! {
            biased;
            ended = &mut running => ended,
            () = stop.wait() => {
                stopper.stop();
                running.await
            }
            () = sum::too_much(&leader) => {
                greedy = true;
                stopper.stop();
                running.await
            }
        };
        let mut ending = ended.map_err(|error| ToolError::Internal(error.to_string()))?;
        let mut outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
        let (stdout, mut stderr) = std::mem::replace(&mut *outputs, (Captured::of(0), Captured::of(0)));
        if greedy && ending == Ending::Cancelled {
            ending = Ending::Signalled(libc::SIGKILL);
            let most = sum::MEMORY_OF_ALL >> 20;
            stderr.take(format!("ended: its processes used more than {most} MB together\n").as_bytes());
        }
        Ok(Ran { ending, stdout, stderr })
    }
}

impl Capability for Sandbox {
    fn id(&self) -> CapabilityId {
        CapabilityId::sandbox()
    }

    fn name(&self) -> &'static str {
        "Sandbox"
    }

    fn description(&self) -> &'static str {
        "Sandboxed code execution environment for Python, JavaScript and shell."
    }

    fn status(&self) -> CapabilityStatus {
        match &self.state {
            Ok(_) => CapabilityStatus::Available,
            Err(why) => CapabilityStatus::Unavailable { why: why.clone() },
        }
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some("You can execute code in a sandboxed environment. Use the execute_code tool to run code safely.")
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let about = About {
            name: "execute_code",
            description: "Run code in a sandbox and return what it prints. Each call starts from nothing: no network, \
                          no files but a private /tmp, only the standard library.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "language": {
                        "type": "string", "enum": ["python", "javascript", "shell"],
                        "description": "python: CPython; javascript: Node.js; shell: sh."
                    },
                    "code": {
                        "type": "string", "minLength": 1, "maxLength": 262_144,
                        "description": "The whole program. Print what you want to know."
                    },
                    "timeout_seconds": {
                        "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "default": SECONDS,
                        "description": "When it is ended."
                    }
                },
                "required": ["language", "code"],
                "additionalProperties": false
            }),
            kind: ToolKind::Execute,
            risk: Risk::High,
            beside: Beside::Others,
            examples: vec![
                json!({ "language": "python", "code": "print(sum(range(10)))" }),
                json!({ "language": "javascript", "code": "console.log([3, 1, 2].sort())" }),
                json!({ "language": "shell", "code": "seq 3 | tac" }),
            ],
        };
        let state = self.state.clone();
        vec![tool(about, move |arguments: Arguments, context| {
            let state = state.clone();
            async move {
                let ready = state.map_err(ToolError::Refused)?;
                execute(&ready, arguments, context).await.map(ToolOutput::Json)
            }
        })]
    }

    fn icon(&self) -> Option<&str> {
        Some("box")
    }

    fn category(&self) -> Option<&str> {
        Some("Execution")
    }
}

async fn execute(ready: &Ready, arguments: Arguments, context: ToolContext) -> Result<Value, ToolError> {
    let language = arguments.language;
    if !language.is_installed() {
        let program = language.program();
        return Err(ToolError::Failed(format!(
            "{} is not there: {program} is not installed",
            language.word()
        )));
    }
    let time = Duration::from_secs(arguments.timeout_seconds);
    let ran = ready.run(language, &arguments.code, time, context.stop.clone()).await?;
    let (mut stdout, mut stderr) = (ran.stdout.text(), ran.stderr.text());
    // Half for each, so that a long output leaves room for the reason why it failed.
    let half = ToolContext { output_bytes: context.output_bytes / 2, ..context };
    let cut = fit(&mut stdout, &half) | fit(&mut stderr, &half);
    let exit_code = match ran.ending {
        Ending::Exited(code) => Some(code),
        Ending::Signalled(signal) => Some(128 + signal),
        Ending::TimedOut => None,
        Ending::Cancelled => return Err(ToolError::Cancelled),
    };
    Ok(json!({
        "language": language.word(),
        "exit_code": exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "timed_out": ran.ending == Ending::TimedOut,
        "truncated": cut || ran.stdout.more || ran.stderr.more,
    }))
}

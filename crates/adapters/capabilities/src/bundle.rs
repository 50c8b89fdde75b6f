//! A capability that a user wrote: each tool is a process, its arguments are data.
//!
//! The arguments come as JSON on standard input, as a file, and where templates name them; they are never part of code.
//! A process runs in a group of its own, ends with the call, and says no more than it may. What a project brings along is
//! looked at again before every call: a file that has changed since it was trusted does not run.

use crate::output::Captured;
use crate::sandbox::{Launch, Take};
use abide_core::capability::{CapabilityId, CapabilityStatus, Requirement, Risk, Tier};
use abide_core::definition::{Bundle, BundleTool};
use abide_core::policy::ToolKind;
use abide_core::value::Value as Data;
use abide_engine::port::{
    Beside, Capability, Ending, Later, Spec, Stream, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
    Variable,
};
use abide_formats::json::{from_json, to_json};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tells whether the files of a capability may still run, or why not.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// How long a tool runs when its file does not say.
const MILLISECONDS: u64 = 60_000;
/// How much of an output is kept when its file does not say.
const KEPT: usize = 64 * 1024;

/// What a capability of a user needs of the world.
#[derive(Clone)]
pub struct Ground {
    /// The folder of its file.
    pub folder: PathBuf,
    /// Where its tools run.
    pub root: PathBuf,
    /// What starts them.
    pub launch: Launch,
    /// The variables of our environment that they do not get, unless the file sets them.
    pub without: Vec<String>,
    /// Whether they may run.
    pub check: Check,
}

/// A capability that a user wrote.
#[derive(Clone)]
pub struct UserCapability {
    bundle: Arc<Bundle>,
    ground: Arc<Ground>,
    configuration: Arc<Data>,
    /// Why it cannot be used here.
    unavailable: Option<String>,
}

impl UserCapability {
    /// Makes one of what its file says. Whether it may run is asked now, and again before each call.
    pub fn new(bundle: Bundle, ground: Ground) -> Self {
        let unavailable = (ground.check)().err();
        let configuration = defaults(bundle.configuration.as_ref().map(|schema| &schema.value));
        Self {
            bundle: Arc::new(bundle),
            ground: Arc::new(ground),
            configuration: Arc::new(configuration),
            unavailable,
        }
    }
}

/// Returns what holds when an agent configures nothing.
fn defaults(schema: Option<&Data>) -> Data {
    let mut found = Vec::new();
    if let Some(Data::Map(properties)) = schema.and_then(|schema| schema.get("properties")) {
        for (name, property) in properties {
            found.extend(property.get("default").map(|default| (name.clone(), default.clone())));
        }
    }
    Data::Map(found)
}

impl Capability for UserCapability {
    fn id(&self) -> CapabilityId {
        self.bundle.id.value.clone()
    }

    fn name(&self) -> &str {
        self.bundle.name.as_ref().map_or(self.bundle.id.as_str(), |name| &name.value)
    }

    fn description(&self) -> &str {
        &self.bundle.description
    }

    fn status(&self) -> CapabilityStatus {
        match (&self.unavailable, &self.bundle.status) {
            (Some(why), _) => CapabilityStatus::Unavailable { why: why.clone() },
            (None, Some(status)) => status.value.into(),
            (None, None) => CapabilityStatus::Available,
        }
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        self.bundle.system_prompt.as_ref().map(|prompt| prompt.value.as_str())
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tool = |tool: &BundleTool| -> Arc<dyn Tool> {
            Arc::new(UserTool {
                spec: spec(tool),
                tool: tool.clone(),
                ground: Arc::clone(&self.ground),
                configuration: Arc::clone(&self.configuration),
            })
        };
        self.bundle.tools.iter().map(tool).collect()
    }

    fn icon(&self) -> Option<&str> {
        self.bundle.icon.as_ref().map(|icon| icon.value.as_str())
    }

    fn category(&self) -> Option<&str> {
        self.bundle.category.as_ref().map(|category| category.value.as_str())
    }

    fn version(&self) -> u32 {
        self.bundle.version.as_ref().map_or(1, |version| version.value)
    }

    fn depends_on(&self) -> Vec<Requirement> {
        self.bundle.depends_on.iter().map(|needed| needed.value.clone()).collect()
    }

    fn configuration(&self) -> Option<Value> {
        self.bundle.configuration.as_ref().map(|schema| to_json(&schema.value))
    }

    fn configured(&self, configuration: &Value) -> Result<Arc<dyn Capability>, String> {
        if self.bundle.configuration.is_none() {
            return Err("it has nothing to configure".to_owned());
        }
        let (Data::Map(mut entries), Data::Map(given)) =
            ((*self.configuration).clone(), from_json(configuration.clone()))
        else {
            return Err("a configuration is a mapping".to_owned());
        };
        for (name, value) in given {
            entries.retain(|(known, _)| *known != name);
            entries.push((name, value));
        }
        Ok(Arc::new(Self { configuration: Arc::new(Data::Map(entries)), ..self.clone() }))
    }
}

fn spec(tool: &BundleTool) -> ToolSpec {
    let risk = tool.risk.as_ref().map_or(Risk::High, |risk| risk.value);
    let usual = if risk == Risk::High { Tier::Confirm } else { Tier::Auto };
    let nothing = || json!({ "type": "object", "properties": {}, "additionalProperties": false });
    ToolSpec {
        name: tool.name.value.clone(),
        description: tool.description.value.clone(),
        arguments: tool.arguments.as_ref().map_or_else(nothing, |schema| to_json(&schema.value)),
        kind: ToolKind::Other,
        risk,
        tier: tool.tier.as_ref().map_or(usual, |tier| tier.value),
        beside: match &tool.parallel {
            Some(parallel) if parallel.value => Beside::Others,
            _ => Beside::Nothing,
        },
        examples: tool.examples.iter().map(|example| to_json(&example.value)).collect(),
    }
}

struct UserTool {
    spec: ToolSpec,
    tool: BundleTool,
    ground: Arc<Ground>,
    configuration: Arc<Data>,
}

impl Tool for UserTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let (tool, ground, configuration) =
            (self.tool.clone(), Arc::clone(&self.ground), Arc::clone(&self.configuration));
        Box::pin(async move { run(&tool, &ground, &configuration, arguments, context).await })
    }
}

/// Gives every process a mark of its own.
static CALLS: AtomicU64 = AtomicU64::new(0);

async fn run(
    tool: &BundleTool,
    ground: &Ground,
    configuration: &Data,
    arguments: Value,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    (ground.check)().map_err(ToolError::Refused)?;
    let internal = |error: std::io::Error| ToolError::Internal(format!("arguments of a tool: {error}"));
    // The file lives as long as the call.
    let mut file = tempfile::NamedTempFile::new().map_err(internal)?;
    file.write_all(arguments.to_string().as_bytes()).map_err(internal)?;
    file.flush().map_err(internal)?;
    let invocation = tool.invocation(&from_json(arguments), configuration).map_err(ToolError::Failed)?;
    let program = located(&invocation.program, &ground.folder);
    // The port closes standard input, so a shell opens the arguments there and becomes the program.
    let mut words: Vec<String> =
        ["-c", r#"exec "$@" <"$ABIDE_ARGUMENTS_FILE""#, "sh"].map(str::to_owned).to_vec();
    words.push(program);
    words.extend(invocation.arguments);
    let own = [
        ("ABIDE_ARGUMENTS_FILE".to_owned(), file.path().display().to_string()),
        ("ABIDE_CAPABILITY_DIR".to_owned(), ground.folder.display().to_string()),
        ("ABIDE_SESSION".to_owned(), context.session.to_string()),
    ];
    let variables = invocation
        .variables
        .into_iter()
        .chain(own)
        .map(|(name, value)| Variable { name, value, secret: false })
        .collect();
    let longest = tool
        .timeout
        .as_ref()
        .map_or(MILLISECONDS, |time| u64::try_from(time.value.time().as_millis()).unwrap_or(u64::MAX));
    let spec = Spec {
        program: "sh".to_owned(),
        arguments: words,
        folder: ground.root.clone(),
        variables,
        without: ground.without.clone(),
        longest: Some(longest),
        mark: format!("tool-{}-{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)),
    };
    let most = tool.output_bytes.as_ref().map_or(KEPT, |most| most.value as usize);
    let outputs = Arc::new(Mutex::new((Captured::of(most), Captured::of(most))));
    let into = Arc::clone(&outputs);
    let take: Take = Arc::new(move |line| {
        let mut outputs = into.lock().unwrap_or_else(PoisonError::into_inner);
        match line.stream {
            Stream::Stdout => outputs.0.take(&line.bytes),
            Stream::Stderr => outputs.1.take(&line.bytes),
        }
    });
    let ended = (ground.launch)(spec, context.stop.clone(), take).await;
    drop(file);
    let ending = ended.map_err(|error| ToolError::Internal(error.to_string()))?;
    let outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
    answer(tool, ending, &outputs.0, &outputs.1)
}

/// Returns where a program lies: one with a path is relative to the capability's folder.
fn located(program: &str, folder: &Path) -> String {
    if program.contains('/') && !program.starts_with('/') {
        return folder.join(program).display().to_string();
    }
    program.to_owned()
}

fn answer(
    tool: &BundleTool,
    ending: Ending,
    stdout: &Captured,
    stderr: &Captured,
) -> Result<ToolOutput, ToolError> {
    let name = &tool.name.value;
    let failed = |how: String| {
        let said = [stderr.tail(), stdout.tail()].into_iter().find(|said| !said.trim().is_empty());
        let said = said.map(|said| format!(": {}", said.trim())).unwrap_or_default();
        Err(ToolError::Failed(format!("`{name}` {how}{said}")))
    };
    match ending {
        Ending::Exited(0) => {}
        Ending::Exited(code) => return failed(format!("ended with exit code {code}")),
        Ending::Signalled(signal) => return failed(format!("was ended by signal {signal}")),
        Ending::TimedOut => return failed("was ended because its time was over".to_owned()),
        Ending::Cancelled => return Err(ToolError::Cancelled),
    }
    if tool.json.as_ref().is_some_and(|json| json.value) {
        if stdout.more {
            return failed(format!("answered more than {} bytes of JSON", stdout.bytes.len()));
        }
        return match serde_json::from_slice(&stdout.bytes) {
            Ok(value) => Ok(ToolOutput::Json(value)),
            Err(error) => failed(format!("did not answer with JSON ({error})")),
        };
    }
    let mut text = stdout.text();
    if stdout.more {
        text.push_str("\n[… the rest is left out]");
    }
    Ok(ToolOutput::Text(text))
}

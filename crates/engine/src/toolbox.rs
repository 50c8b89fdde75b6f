//! The tools that an agent has, each held to its schema and its bounds.
//!
//! [`Toolbox::find`] answers whether a tool exists; [`CheckedTool::check`] whether arguments fit, for those who ask before
//! a human is asked; [`CheckedTool::call`] checks again and calls, so that no handler ever sees what does not fit.

use crate::port::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use abide_core::diagnostic::nearest;
use abide_core::model::Image;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The longest arguments there may be, written as JSON.
pub const ARGUMENT_BYTES: usize = 16 * 1024 * 1024;

/// How many problems of arguments are told; a model mends a few at a time.
const PROBLEMS: usize = 8;

/// How much of one problem is told: it may quote a value, and that may be long.
const PROBLEM_CHARACTERS: usize = 300;

/// How many pictures one answer shows.
const MOST_PICTURES: usize = 8;

/// A tool that only gets arguments that fit, and only answers within its bounds.
#[derive(Clone)]
pub struct CheckedTool {
    tool: Arc<dyn Tool>,
    schema: Arc<Validator>,
}

/// Why a tool cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTool {
    /// Its schema is none, or one that cannot be checked without a network or in linear time.
    #[error("the schema of tool `{tool}` cannot be used: {reason}")]
    Schema {
        /// Which tool.
        tool: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An example that it shows would be refused.
    #[error("example {number} of tool `{tool}` does not fit its schema: {reason}")]
    Example {
        /// Which tool.
        tool: String,
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Two tools have one name.
    #[error("there are two tools `{tool}`")]
    Twice {
        /// Their name.
        tool: String,
    },
}

impl CheckedTool {
    /// Takes a tool whose schema can be used.
    pub fn new(tool: Arc<dyn Tool>) -> Result<Self, BadTool> {
        let spec = tool.spec();
        let name = spec.name.to_string();
        if spec.arguments.get("type").and_then(Value::as_str) != Some("object") {
            return Err(BadTool::Schema { tool: name, reason: "it must have `type: object`".to_owned() });
        }
        let schema =
            compiled(&spec.arguments).map_err(|reason| BadTool::Schema { tool: name.clone(), reason })?;
        let checked = Self { schema: Arc::new(schema), tool };
        for (index, example) in checked.spec().examples.iter().enumerate() {
            if let Err(error) = checked.check(example) {
                return Err(BadTool::Example { tool: name, number: index + 1, reason: error.to_string() });
            }
        }
        Ok(checked)
    }

    /// Returns what is known about it.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// Returns whether a call of it that was cut short goes on where it was.
    pub fn takes_up(&self) -> bool {
        self.tool.takes_up()
    }

    /// Returns the tool itself, to put it into another box.
    pub fn handler(&self) -> Arc<dyn Tool> {
        Arc::clone(&self.tool)
    }

    /// Checks arguments without calling anything.
    pub fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let tool = || self.spec().name.to_string();
        if longer_than(arguments, ARGUMENT_BYTES) {
            let problems = vec![format!("they are longer than {ARGUMENT_BYTES} bytes")];
            return Err(ToolError::Arguments { tool: tool(), problems });
        }
        let problems = problems(&self.schema, arguments);
        if problems.is_empty() { Ok(()) } else { Err(ToolError::Arguments { tool: tool(), problems }) }
    }

    /// Checks and calls. A handler that panics, hangs or answers too much costs one error or a shorter answer.
    pub async fn call(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolError> {
        self.check(&arguments)?;
        if context.stop.happened() {
            return Err(ToolError::Cancelled);
        }
        let (stop, time_left) = (context.stop.clone(), context.time_left);
        let (bytes, pictures) = (context.output_bytes, context.picture_bytes);
        let handler = self.guarded(arguments, context);
        let out_of_time = async {
            match time_left {
                Some(time) => {
                    tokio::time::sleep(time).await;
                    time
                }
                None => std::future::pending().await,
            }
        };
        // What is dropped here ends: that is the contract of a tool.
        let output = tokio::select! {
            biased;
            () = stop.wait() => return Err(ToolError::Cancelled),
            ended = handler => ended?,
            after = out_of_time => {
                return Err(ToolError::TimedOut { tool: self.spec().name.to_string(), after });
            }
        };
        Ok(bounded(output, bytes, pictures))
    }

    /// Runs the handler so that a panic of it is an error of this call and no other.
    async fn guarded(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let tool = &self.spec().name;
        // Nothing that the handler has touched is used again after a panic: its future is dropped.
        let started = std::panic::catch_unwind(AssertUnwindSafe(|| self.tool.call(arguments, context)));
        let mut future = started.map_err(|_| ToolError::Internal(format!("tool `{tool}` panicked")))?;
        std::future::poll_fn(|wake| {
            let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(wake)));
            polled.unwrap_or_else(|_| {
                std::task::Poll::Ready(Err(ToolError::Internal(format!("tool `{tool}` panicked"))))
            })
        })
        .await
    }
}

impl std::fmt::Debug for CheckedTool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("CheckedTool").field(&self.spec().name).finish()
    }
}

/// The tools that an agent has, in the order in which a model is told them.
#[derive(Debug, Clone, Default)]
pub struct Toolbox(Vec<CheckedTool>);

impl Toolbox {
    /// Takes tools whose names and schemas can be used.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, BadTool> {
        let mut all: Vec<CheckedTool> = Vec::new();
        for tool in tools {
            let tool = CheckedTool::new(tool)?;
            if all.iter().any(|other| other.spec().name == tool.spec().name) {
                return Err(BadTool::Twice { tool: tool.spec().name.to_string() });
            }
            all.push(tool);
        }
        Ok(Self(all))
    }

    /// Returns the tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &CheckedTool> {
        self.0.iter()
    }

    /// Finds a tool by the exact name that a model calls.
    pub fn find(&self, name: &str) -> Result<&CheckedTool, ToolError> {
        self.0.iter().find(|tool| tool.spec().name.as_str() == name).ok_or_else(|| ToolError::Unknown {
            name: name.chars().take(PROBLEM_CHARACTERS).collect(),
            nearest: nearest(name, self.0.iter().map(|tool| tool.spec().name.as_str())).map(str::to_owned),
        })
    }
}

/// Makes a schema ready. It reads nothing from elsewhere, and its patterns take linear time.
pub(crate) fn compiled(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(1 << 20);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| sentence(&error))
}

/// Returns what does not fit a schema, each as a sentence; of many problems the first few.
pub(crate) fn problems(schema: &Validator, value: &Value) -> Vec<String> {
    // Nearly everything fits, and to know that is cheaper than to look for what does not.
    if schema.is_valid(value) {
        return Vec::new();
    }
    schema.iter_errors(value).take(PROBLEMS).map(|error| sentence(&error)).collect()
}

fn sentence(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let said = error.to_string();
    let said: String = if said.chars().count() > PROBLEM_CHARACTERS {
        said.chars().take(PROBLEM_CHARACTERS).chain(['…']).collect()
    } else {
        said
    };
    if place.is_empty() { said } else { format!("{place}: {said}") }
}

/// Tells whether a value is longer than this when written, without writing it into memory.
fn longer_than(value: &Value, bytes: usize) -> bool {
    struct Room(usize);
    impl std::io::Write for Room {
        fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(buffer.len()).ok_or(std::io::ErrorKind::FileTooLarge)?;
            Ok(buffer.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(bytes), value).is_err()
}

/// Cuts what is too long, and says so where it was cut.
fn bounded(output: ToolOutput, bytes: usize, pictures: usize) -> ToolOutput {
    match output {
        ToolOutput::Text(text) => ToolOutput::Text(cut(text, bytes)),
        ToolOutput::Json(value) if longer_than(&value, bytes) => {
            ToolOutput::Text(cut(value.to_string(), bytes))
        }
        ToolOutput::Json(value) => ToolOutput::Json(value),
        ToolOutput::Shown { text, images } => shown(cut(text, bytes), images, pictures),
    }
}

/// Leaves out the pictures for which there is no room, and says so.
fn shown(mut text: String, mut images: Vec<Image>, bytes: usize) -> ToolOutput {
    let whole = images.len();
    let mut room = bytes;
    images.retain(|image| {
        let left = room.checked_sub(image.bytes.len());
        room = left.unwrap_or(room);
        left.is_some()
    });
    images.truncate(MOST_PICTURES);
    let left_out = whole - images.len();
    if left_out > 0 {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n[… {left_out} of {whole} pictures left out: an answer shows at most {MOST_PICTURES} of {bytes} bytes together]"
        );
    }
    ToolOutput::Shown { text, images }
}

fn cut(mut text: String, bytes: usize) -> String {
    if text.len() <= bytes {
        return text;
    }
    let whole = text.len();
    text.truncate(text.floor_char_boundary(bytes));
    let left_out = whole - text.len();
    let notice = format!("\n[… {left_out} of {whole} bytes left out]");
    text + &notice
}

#[cfg(test)]
mod tests;

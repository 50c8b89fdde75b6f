//! A tool made of a description and a function: what all built-in tools are.

use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Later, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

type Handler = dyn Fn(Value, ToolContext) -> Later<Result<ToolOutput, ToolError>> + Send + Sync;

struct FunctionTool {
    spec: ToolSpec,
    handler: Box<Handler>,
}

impl Tool for FunctionTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        (self.handler)(arguments, context)
    }
}

/// What a tool says about itself; the rest is as for most.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: Value,
    pub(crate) kind: ToolKind,
    pub(crate) risk: Risk,
    pub(crate) beside: Beside,
    pub(crate) examples: Vec<Value>,
}

/// Makes a tool whose arguments are of one type.
pub(crate) fn tool<Arguments, Answer>(
    about: About,
    handler: impl Fn(Arguments, ToolContext) -> Answer + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    Arguments: DeserializeOwned,
    Answer: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let spec = ToolSpec {
        // Invariant: built-in names are literals, and registering each of them is a test.
        name: ToolName::parse(about.name).expect("a built-in tool has a name that fits"),
        description: about.description.to_owned(),
        arguments: about.arguments,
        kind: about.kind,
        risk: about.risk,
        tier: Tier::Auto,
        beside: about.beside,
        examples: about.examples,
    };
    let handler = move |arguments, context| -> Later<Result<ToolOutput, ToolError>> {
        match serde_json::from_value(arguments) {
            Ok(arguments) => Box::pin(handler(arguments, context)),
            // The schema has let through what the type does not take: ours to mend, not the model's.
            Err(error) => Box::pin(async move { Err(ToolError::Internal(error.to_string())) }),
        }
    };
    Arc::new(FunctionTool { spec, handler: Box::new(handler) })
}

/// What an answer holds beside its content, at most.
const AROUND: usize = 8 * 1024;

/// Cuts a text so that an answer with it stays within its bounds as JSON; returns whether something was cut.
///
/// An answer that is too long would be cut anywhere, and be no JSON any more.
pub(crate) fn fit(text: &mut String, context: &ToolContext) -> bool {
    // Where there is little room for all, half of it is still for what was asked for.
    let mut room = context.output_bytes.saturating_sub(AROUND).max(context.output_bytes / 2);
    let end = text.char_indices().find(|(_, character)| {
        let cost = match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            character if character.is_control() => 6,
            character => character.len_utf8(),
        };
        match room.checked_sub(cost) {
            Some(left) => room = left,
            None => return true,
        }
        false
    });
    match end {
        None => false,
        Some((end, _)) => {
            text.truncate(end);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_engine::port::SessionId;

    #[test]
    fn a_text_is_cut_so_that_its_json_fits() {
        let room =
            |output_bytes| ToolContext { output_bytes, ..ToolContext::new(SessionId::parse("s").unwrap()) };
        let context = room(200);
        for (character, kept) in [('x', 100), ('\n', 50), ('"', 50), ('\u{1}', 16), ('ä', 50), ('😀', 25)]
        {
            let mut text = character.to_string().repeat(1000);
            assert!(fit(&mut text, &context));
            assert_eq!(text.chars().count(), kept, "{character:?}");
            assert!(Value::String(text).to_string().len() <= 102);
        }
        let mut short = "x".repeat(100);
        assert!(!fit(&mut short, &context) && short.len() == 100);
        // A model that takes little still gets something; one that takes much gets all but what is around it.
        for (bytes, kept) in [(1_024, 512), (AROUND * 3, AROUND * 2)] {
            let mut long = "x".repeat(AROUND * 4);
            assert!(fit(&mut long, &room(bytes)));
            assert_eq!(long.len(), kept);
        }
    }
}

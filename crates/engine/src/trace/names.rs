//! What attributes are called: the words of OpenTelemetry's conventions for generative AI, and ours.
//!
//! Defined here, because the constants of the Rust crate are deprecated, and the words on the wire are what counts.

pub(super) const OPERATION: &str = "gen_ai.operation.name";
/// How the provider was called before 2025; many who read traces still look for it.
pub(super) const SYSTEM: &str = "gen_ai.system";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const FINISH: &str = "gen_ai.response.finish_reasons";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub(super) const AGENT: &str = "gen_ai.agent.name";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";

pub(super) const RUN: &str = "abide.run.id";
pub(super) const RUN_STATUS: &str = "abide.run.status";
pub(super) const RERUN_OF: &str = "abide.rerun_of";
pub(super) const ABILITY: &str = "abide.ability";
pub(super) const STEP: &str = "abide.step.id";
pub(super) const STEP_TYPE: &str = "abide.step.type";
pub(super) const ATTEMPT: &str = "abide.attempt";
pub(super) const EXIT_CODE: &str = "abide.exit_code";
pub(super) const THEN: &str = "abide.then";
pub(super) const ANSWER: &str = "abide.answer";
pub(super) const HOOK: &str = "abide.hook";
pub(super) const MESSAGE: &str = "abide.message.id";
pub(super) const TURN_END: &str = "abide.turn.end";
pub(super) const COST: &str = "abide.cost.nanodollars";
pub(super) const COMPACTED: &str = "abide.compacted";

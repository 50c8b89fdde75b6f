//! What can be typed to talk with an agent.

use clap::Args;

/// Arguments of `abide chat`.
#[derive(Debug, Args)]
pub struct ChatArguments {
    /// The agent; `default` unless told
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// Say one thing, print the answer and end
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Ask this model instead of the agent's own, as `provider/name`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Go on with a session: the last one, or the one that is named
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
}

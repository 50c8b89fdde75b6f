//! What can be typed to talk with an agent.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `abide chat`.
#[derive(Debug, Args)]
pub struct ChatArguments {
    /// The agent; `default` unless told
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// Say one thing, print the answer and end
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Show a picture with the message: PNG, JPEG, GIF or WebP, at most 5 MB; may be given up to 8 times
    #[arg(long = "image", value_name = "FILE", requires = "message")]
    pub images: Vec<PathBuf>,
    /// Ask this model instead of the agent's own, as `provider/name`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Go on with a session: the last one, or the one that is named
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
}

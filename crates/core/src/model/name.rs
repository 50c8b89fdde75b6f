//! How models are named: `provider/model`.

use crate::definition::{BadName, ProviderName};
use crate::diagnostic::excerpt;
use smol_str::SmolStr;
use std::fmt;

/// A model and who serves it, such as `anthropic/claude-sonnet-4`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    provider: ProviderName,
    model: SmolStr,
}

/// Why a text names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadModelName {
    /// There is no provider in front.
    #[error("`{0}` does not say who serves the model")]
    NoProvider(String),
    /// The provider is not a name.
    #[error(transparent)]
    Provider(#[from] BadName),
    /// The model is not a name.
    #[error("`{0}` is not the name of a model")]
    Model(String),
}

impl BadModelName {
    /// Says how a model is named.
    pub const HELP: &str = "a model is named `provider/model`, as in `anthropic/claude-sonnet-4`; `abide model list` shows the providers";
}

impl ModelName {
    /// Reads a name; what follows the first `/` is the provider's own name for the model, and may have more of them.
    pub fn parse(text: &str) -> Result<Self, BadModelName> {
        let Some((provider, model)) = text.split_once('/') else {
            return Err(BadModelName::NoProvider(excerpt(text).into_owned()));
        };
        let provider = ProviderName::parse(provider)?;
        if !is_model(model) {
            return Err(BadModelName::Model(excerpt(model).into_owned()));
        }
        Ok(Self { provider, model: model.into() })
    }

    /// Returns who serves it.
    pub fn provider(&self) -> &ProviderName {
        &self.provider
    }

    /// Returns what the provider calls it.
    pub fn model(&self) -> &str {
        &self.model
    }
}

/// The longest name that a provider gives a model.
const LONGEST: usize = 200;

/// Tells whether a text can be what a provider calls a model: anything printable without spaces.
pub fn is_model(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST
        && !text.starts_with('/')
        && text.chars().all(|each| !each.is_whitespace() && !each.is_control())
}

impl fmt::Display for ModelName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_with_its_provider() {
        let name = ModelName::parse("openrouter/meta-llama/llama-3.3-70b:free").unwrap();
        assert_eq!((name.provider().as_str(), name.model()), ("openrouter", "meta-llama/llama-3.3-70b:free"));
        assert_eq!(name.to_string(), "openrouter/meta-llama/llama-3.3-70b:free");
        for (bad, why) in [
            ("sonnet", "`sonnet` does not say who serves the model"),
            ("", "`` does not say who serves the model"),
            ("/x", "the provider name is empty"),
            ("a b/x", "the provider name `a b` must not contain ' '"),
            ("anthropic/", "`` is not the name of a model"),
            ("anthropic//x", "`/x` is not the name of a model"),
            ("anthropic/a b", "`a b` is not the name of a model"),
        ] {
            assert_eq!(ModelName::parse(bad).unwrap_err().to_string(), why, "{bad}");
        }
    }
}

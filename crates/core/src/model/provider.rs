//! Who serves models: those that everybody knows, and those of the configuration.
//!
//! [`Provider::find`] says all that is known before anybody is asked; what is missing then is said with what to set.

use super::{ModelName, Price};
use crate::definition::{Config, ModelSettings, ProviderName, ProviderSettings, SecretSource, WireFormat};
use crate::diagnostic::nearest;
use crate::value::Duration;
use std::time::Duration as Time;

/// Who serves models, with everything in place but the key itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// Its name.
    pub name: ProviderName,
    /// What it speaks.
    pub format: WireFormat,
    /// Where it is.
    pub url: String,
    /// Where its key comes from; nothing if it needs none.
    pub key: Option<SecretSource>,
    /// How long it may take.
    pub time: TimeLimits,
    /// What is known about its models.
    pub models: Vec<(String, ModelFacts)>,
}

/// What is known about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelFacts {
    /// How many tokens a conversation may have.
    pub context_tokens: Option<u32>,
    /// How many tokens an answer may have.
    pub output_tokens: Option<u32>,
    /// What it costs.
    pub price: Option<Price>,
}

/// How long a provider may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// To take a connection.
    pub connect: Time,
    /// Until the answer begins.
    pub begin: Time,
    /// Between two pieces of the answer.
    pub idle: Time,
    /// For the whole of the answer.
    pub answer: Time,
}

impl Default for TimeLimits {
    fn default() -> Self {
        // A small machine may read a long conversation for minutes before it says the first word.
        Self {
            connect: Time::from_secs(10),
            begin: Time::from_mins(5),
            idle: Time::from_mins(2),
            answer: Time::from_mins(30),
        }
    }
}

/// What has to be set before a provider can be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Nobody knows it.
    #[error("no provider is called `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The provider that was probably meant.
        nearest: Option<String>,
    },
    /// It has no address.
    #[error("the provider `{name}` has no `url`")]
    NoUrl {
        /// The name.
        name: String,
    },
    /// Nobody says what it speaks.
    #[error("the provider `{name}` has no `format`")]
    NoFormat {
        /// The name.
        name: String,
    },
    /// Its address is none.
    #[error("the `url` of the provider `{name}` {why}")]
    BadUrl {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Unusable {
    /// Returns what to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { name, nearest: None } => format!(
                "set `providers.{name}` with its `format` and `url` in the configuration, or name one of {}",
                KNOWN.map(|known| known.name).join(", ")
            ),
            Self::NoUrl { name } => {
                format!("set `providers.{name}.url`, such as http://127.0.0.1:8080/v1, in the configuration")
            }
            Self::NoFormat { name } => {
                format!("set `providers.{name}.format` to `openai` or `anthropic` in the configuration")
            }
            Self::BadUrl { name, .. } => {
                format!("set `providers.{name}.url` to an address such as http://127.0.0.1:8080/v1")
            }
        }
    }
}

/// A provider that needs no configuration but a key.
struct Known {
    name: &'static str,
    format: WireFormat,
    url: &'static str,
    /// The variable that other tools read its address from too.
    url_variable: Option<&'static str>,
    key_variable: Option<&'static str>,
}

const KNOWN: [Known; 4] = [
    Known {
        name: "anthropic",
        format: WireFormat::Anthropic,
        url: "https://api.anthropic.com",
        url_variable: Some("ANTHROPIC_BASE_URL"),
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    Known {
        name: "openai",
        format: WireFormat::OpenAi,
        url: "https://api.openai.com/v1",
        url_variable: Some("OPENAI_BASE_URL"),
        key_variable: Some("OPENAI_API_KEY"),
    },
    Known {
        name: "openrouter",
        format: WireFormat::OpenAi,
        url: "https://openrouter.ai/api/v1",
        url_variable: None,
        key_variable: Some("OPENROUTER_API_KEY"),
    },
    Known {
        name: "ollama",
        format: WireFormat::OpenAi,
        url: "http://127.0.0.1:11434/v1",
        url_variable: None,
        key_variable: None,
    },
];

impl Provider {
    /// Returns the names of all providers: those that everybody knows, then those of the configuration.
    pub fn names(config: &Config) -> Vec<String> {
        let mut names: Vec<String> = KNOWN.iter().map(|known| known.name.to_owned()).collect();
        for (name, _) in &config.providers {
            if !names.iter().any(|known| known == name.as_str()) {
                names.push(name.as_str().to_owned());
            }
        }
        names
    }

    /// Finds a provider; `variable` looks into the environment.
    pub fn find(
        config: &Config,
        name: &ProviderName,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Unusable> {
        let text = || name.as_str().to_owned();
        let known = KNOWN.iter().find(|known| known.name == name.as_str());
        let configured = config.providers.iter().find(|(each, _)| each.value == *name);
        let unset = ProviderSettings::default();
        let settings = match (known, configured) {
            (None, None) => {
                let names = Self::names(config);
                let nearest = nearest(name.as_str(), names.iter().map(String::as_str)).map(str::to_owned);
                return Err(Unusable::Unknown { name: text(), nearest });
            }
            (_, Some((_, settings))) => settings,
            (Some(_), None) => &unset,
        };
        let set = settings.url.as_ref().map(|url| url.value.clone());
        let url = set
            .or_else(|| known.and_then(|known| known.url_variable).and_then(variable))
            .or_else(|| known.map(|known| known.url.to_owned()))
            .ok_or_else(|| Unusable::NoUrl { name: text() })?;
        if let Some(why) = why_no_url(&url) {
            return Err(Unusable::BadUrl { name: text(), why });
        }
        let format = settings.format.as_ref().map(|format| format.value);
        let format = format
            .or_else(|| known.map(|known| known.format))
            .ok_or_else(|| Unusable::NoFormat { name: text() })?;
        let known_key = || known?.key_variable.map(|variable| SecretSource::Env(variable.to_owned()));
        let key = settings.key.as_ref().map(|source| source.value.clone()).or_else(known_key);
        let models =
            settings.models.iter().map(|(name, settings)| (name.value.clone(), facts(settings))).collect();
        Ok(Self { name: name.clone(), format, url, key, time: limits(settings), models })
    }

    /// Returns what is known about one of its models.
    pub fn facts(&self, model: &str) -> ModelFacts {
        let found = self.models.iter().find(|(name, _)| name == model);
        found.map(|(_, facts)| *facts).unwrap_or_default()
    }

    /// Returns the full name of one of its models.
    pub fn model(&self, model: &str) -> Option<ModelName> {
        ModelName::parse(&format!("{}/{model}", self.name)).ok()
    }
}

fn facts(settings: &ModelSettings) -> ModelFacts {
    ModelFacts {
        context_tokens: settings.context_tokens.as_ref().map(|tokens| tokens.value),
        output_tokens: settings.output_tokens.as_ref().map(|tokens| tokens.value),
        price: settings.price,
    }
}

fn limits(settings: &ProviderSettings) -> TimeLimits {
    let unset = TimeLimits::default();
    let time = |set: &Option<crate::source::Spanned<Duration>>, unset: Time| {
        set.as_ref().map_or(unset, |set| set.value.time())
    };
    TimeLimits {
        connect: time(&settings.connect_timeout, unset.connect),
        begin: time(&settings.begin_timeout, unset.begin),
        idle: time(&settings.idle_timeout, unset.idle),
        answer: time(&settings.answer_timeout, unset.answer),
    }
}

/// Says why a text is no address of a provider, if it is none.
fn why_no_url(url: &str) -> Option<&'static str> {
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return Some("does not begin with https:// or http://");
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        Some("has no host")
    } else if host.contains('@') {
        Some("has a user in it; a key belongs under `key`")
    } else if rest.contains(['?', '#']) {
        Some("has more behind its path")
    } else if url.chars().any(|each| each.is_whitespace() || each.is_control()) {
        Some("has a space in it")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Span, Spanned};

    fn named(name: &str) -> ProviderName {
        ProviderName::parse(name).unwrap()
    }

    fn spanned<T>(value: T) -> Spanned<T> {
        Spanned::new(value, Span::default())
    }

    fn config(name: &str, settings: ProviderSettings) -> Config {
        Config { providers: vec![(spanned(named(name)), settings)], ..Config::default() }
    }

    #[test]
    fn known_providers_need_nothing_but_their_key() {
        let found = Provider::find(&Config::default(), &named("anthropic"), |_| None).unwrap();
        assert_eq!((found.format, found.url.as_str()), (WireFormat::Anthropic, "https://api.anthropic.com"));
        assert_eq!(found.key, Some(SecretSource::Env("ANTHROPIC_API_KEY".into())));
        let found = Provider::find(&Config::default(), &named("ollama"), |_| None).unwrap();
        assert_eq!(found.key, None);
    }

    #[test]
    fn the_environment_moves_a_known_provider_and_the_configuration_moves_it_further() {
        let variable = |name: &str| (name == "ANTHROPIC_BASE_URL").then(|| "http://127.0.0.1:9".to_owned());
        let found = Provider::find(&Config::default(), &named("anthropic"), variable).unwrap();
        assert_eq!(found.url, "http://127.0.0.1:9");
        let settings = ProviderSettings {
            url: Some(spanned("https://gateway/a".into())),
            ..ProviderSettings::default()
        };
        let found = Provider::find(&config("anthropic", settings), &named("anthropic"), variable).unwrap();
        assert_eq!(found.url, "https://gateway/a");
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_set() {
        let find = |config: &Config, name: &str| {
            let error = Provider::find(config, &named(name), |_| None).unwrap_err();
            format!("{error}: {}", error.help())
        };
        assert_eq!(
            find(&Config::default(), "antropic"),
            "no provider is called `antropic`: did you mean `anthropic`?"
        );
        assert!(find(&Config::default(), "zzzzzz").contains("set `providers.zzzzzz`"));
        let mut settings = ProviderSettings::default();
        assert!(find(&config("mine", settings.clone()), "mine").contains("`providers.mine.url`"));
        settings.url = Some(spanned("http://127.0.0.1:8080/v1".into()));
        assert!(find(&config("mine", settings.clone()), "mine").contains("`providers.mine.format`"));
        for (url, why) in [
            ("ftp://x", "does not begin with"),
            ("https:///x", "has no host"),
            ("https://key@host/v1", "a key belongs under `key`"),
            ("https://host/v1?key=x", "has more behind its path"),
            ("https://host/v 1", "has a space in it"),
        ] {
            settings.url = Some(spanned(url.into()));
            assert!(find(&config("mine", settings.clone()), "mine").contains(why), "{url}");
        }
    }
}

//! What the configuration says about who serves models.

use super::{Config, SecretSource};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::Price;
use crate::source::Spanned;
use crate::value::Duration;

super::ability::words! {
    /// What a provider speaks.
    WireFormat {
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// OpenAI Chat Completions, as nearly every server of models does.
        OpenAi = "openai",
    }
}

/// What the configuration says about who serves models.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderSettings {
    /// What it speaks.
    pub format: Option<Spanned<WireFormat>>,
    /// Where it is.
    pub url: Option<Spanned<String>>,
    /// Where its key comes from.
    pub key: Option<Spanned<SecretSource>>,
    /// How long making a connection may take.
    pub connect_timeout: Option<Spanned<Duration>>,
    /// How long it may take until an answer begins.
    pub begin_timeout: Option<Spanned<Duration>>,
    /// How long an answer may pause.
    pub idle_timeout: Option<Spanned<Duration>>,
    /// How long an answer may take as a whole.
    pub answer_timeout: Option<Spanned<Duration>>,
    /// What is known about its models, by their names there.
    pub models: Vec<(Spanned<String>, ModelSettings)>,
}

/// What the configuration says about a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSettings {
    /// How many tokens a conversation may have.
    pub context_tokens: Option<Spanned<u32>>,
    /// How many tokens an answer may have.
    pub output_tokens: Option<Spanned<u32>>,
    /// What it costs.
    pub price: Option<Price>,
}

impl ProviderSettings {
    /// Lays other settings over these.
    pub(super) fn overlay(&mut self, over: Self) {
        self.format = over.format.or(self.format.take());
        self.url = over.url.or(self.url.take());
        self.key = over.key.or(self.key.take());
        self.connect_timeout = over.connect_timeout.or(self.connect_timeout.take());
        self.begin_timeout = over.begin_timeout.or(self.begin_timeout.take());
        self.idle_timeout = over.idle_timeout.or(self.idle_timeout.take());
        self.answer_timeout = over.answer_timeout.or(self.answer_timeout.take());
        for (name, settings) in over.models {
            match self.models.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => {
                    known.context_tokens = settings.context_tokens.or(known.context_tokens.take());
                    known.output_tokens = settings.output_tokens.or(known.output_tokens.take());
                    known.price = settings.price.or(known.price);
                }
                None => self.models.push((name, settings)),
            }
        }
    }
}

impl Config {
    /// Takes out of a project's configuration what only the user may say, and reports it.
    ///
    /// A project is often somebody else's. If its file could move a provider, or name a key for one, opening the project
    /// would be enough to have the user's key sent wherever its author likes. So a key belongs to the user's own
    /// configuration, and so does the address of every provider that has one; `mine` is that configuration.
    pub fn without_key_thieves(&mut self, mine: &Self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for (name, settings) in &mut self.providers {
            if let Some(key) = settings.key.take() {
                problems.push(
                    Diagnostic::new(
                        Code::ProjectKey,
                        key.span,
                        format!("a project may not say where the key of `{}` comes from", name.value),
                    )
                    .help("move `key` to your own configuration, ~/.config/abide/config.yaml"),
                );
            }
            let has_key = crate::model::Provider::find(mine, name, |_| None)
                .is_ok_and(|provider| provider.key.is_some());
            if has_key && let Some(url) = settings.url.take() {
                problems.push(
                    Diagnostic::new(
                        Code::ProjectKey,
                        url.span,
                        format!("a project may not say where the key of `{}` is sent", name.value),
                    )
                    .help(
                        "move `url` to your own configuration, ~/.config/abide/config.yaml, or give the provider another name",
                    ),
                );
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProviderName;
    use super::*;
    use crate::source::Span;

    fn of(name: &str, url: Option<&str>, key: Option<&str>) -> Config {
        let spanned = |text: &str| Spanned::new(text.to_owned(), Span::default());
        let settings = ProviderSettings {
            format: Some(Spanned::new(WireFormat::OpenAi, Span::default())),
            url: url.map(spanned),
            key: key.map(|name| Spanned::new(SecretSource::Env(name.to_owned()), Span::default())),
            ..ProviderSettings::default()
        };
        let name = Spanned::new(ProviderName::parse(name).unwrap(), Span::default());
        Config { providers: vec![(name, settings)], ..Config::default() }
    }

    #[test]
    fn a_project_cannot_have_a_key_sent_elsewhere() {
        let nothing = Config::default();
        let thief = |mut project: Config, mine: &Config| {
            let problems = project.without_key_thieves(mine).len();
            let merged = mine.clone().overlaid(project);
            let settings = &merged.providers[0].1;
            (problems, settings.url.clone().map(|url| url.value), settings.key.is_some())
        };
        let evil = Some("https://evil.example/v1");
        assert_eq!(thief(of("anthropic", evil, None), &nothing), (1, None, false));
        assert_eq!(
            thief(of("mine", evil, Some("OPENAI_API_KEY")), &nothing),
            (1, evil.map(str::to_owned), false)
        );
        let mine = of("gateway", Some("https://ours.example/v1"), Some("KEY"));
        assert_eq!(
            thief(of("gateway", evil, None), &mine),
            (1, Some("https://ours.example/v1".to_owned()), true)
        );
        // A server without a key is the project's to name: it learns nothing that the project does not say.
        assert_eq!(
            thief(of("local", Some("http://127.0.0.1:8080/v1"), None), &nothing),
            (0, Some("http://127.0.0.1:8080/v1".to_owned()), false)
        );
    }
}

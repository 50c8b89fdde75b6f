//! What the configuration says about webhooks: who is told over HTTP what happens at a server.

use super::{Config, SecretSource};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::wildcard;
use crate::source::Spanned;

super::ability::words! {
    /// What a webhook is told.
    WebhookEvent {
        /// A human is asked something.
        ApprovalRequested = "approval.requested",
        /// A run is over.
        RunFinished = "run.finished",
    }
}

/// Who is told over HTTP what happens at a server.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookSettings {
    /// Where it is sent.
    pub url: Spanned<String>,
    /// Where the secret comes from that it is signed with.
    pub secret: Spanned<SecretSource>,
    /// What is told; everything when nothing is said.
    pub events: Option<Vec<Spanned<WebhookEvent>>>,
    /// The abilities that it is about, by wildcards; all when nothing is said.
    pub abilities: Option<Vec<Spanned<String>>>,
    /// Whether the name in `url` may lead into a private network.
    pub private_network: Option<Spanned<bool>>,
}

impl WebhookSettings {
    /// How many webhooks there may be.
    pub const MOST: usize = 32;

    /// Returns whether an event is told, of an ability or of none.
    pub fn wants(&self, event: WebhookEvent, ability: Option<&str>) -> bool {
        let is_named = |events: &Vec<Spanned<WebhookEvent>>| events.iter().any(|named| named.value == event);
        let fits = |patterns: &Vec<Spanned<String>>| {
            ability.is_some_and(|ability| patterns.iter().any(|pattern| wildcard(pattern, ability)))
        };
        self.events.as_ref().is_none_or(is_named) && self.abilities.as_ref().is_none_or(fits)
    }
}

impl Config {
    /// Takes webhooks out of a project's configuration: a project, which may be anybody's, must not decide where your data go.
    pub fn without_webhooks(&mut self) -> Vec<Diagnostic> {
        let webhooks = std::mem::take(&mut self.webhooks);
        let problem = |(name, _): &(Spanned<super::WebhookName>, WebhookSettings)| {
            let message = format!("a project may not name a webhook, and this one names `{}`", name.value);
            Diagnostic::new(Code::ProjectWebhook, name.span, message)
                .help("move it to your own configuration, ~/.config/abide/config.yaml")
        };
        webhooks.iter().map(problem).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::WebhookName;
    use super::*;
    use crate::source::Span;

    fn spanned<T>(value: T) -> Spanned<T> {
        Spanned::new(value, Span::default())
    }

    fn settings(events: Option<&[WebhookEvent]>, abilities: Option<&[&str]>) -> WebhookSettings {
        WebhookSettings {
            url: spanned("https://hooks.example/x".to_owned()),
            secret: spanned(SecretSource::Env("SECRET".to_owned())),
            events: events.map(|events| events.iter().copied().map(spanned).collect()),
            abilities: abilities
                .map(|patterns| patterns.iter().map(|text| spanned((*text).to_owned())).collect()),
            private_network: None,
        }
    }

    #[test]
    fn what_is_told_is_chosen_by_event_and_ability() {
        use WebhookEvent::{ApprovalRequested, RunFinished};
        let all = settings(None, None);
        assert!(all.wants(ApprovalRequested, None) && all.wants(RunFinished, Some("release")));
        let ends = settings(Some(&[RunFinished]), None);
        assert!(!ends.wants(ApprovalRequested, Some("release")) && ends.wants(RunFinished, Some("release")));
        let deploys = settings(None, Some(&["deploy/*", "release"]));
        assert!(deploys.wants(RunFinished, Some("deploy/eu")) && deploys.wants(RunFinished, Some("release")));
        assert!(!deploys.wants(RunFinished, Some("undeploy/eu")));
        assert!(!deploys.wants(ApprovalRequested, None), "what is about no ability fits no name");
    }

    #[test]
    fn a_project_cannot_have_data_sent_anywhere() {
        let name = spanned(WebhookName::parse("theirs").unwrap());
        let mut project = Config { webhooks: vec![(name, settings(None, None))], ..Config::default() };
        let problems = project.without_webhooks();
        assert_eq!((problems.len(), problems[0].code), (1, Code::ProjectWebhook));
        assert!(project.webhooks.is_empty());
    }
}

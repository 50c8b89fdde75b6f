//! The webhooks of the configuration, as a server of this machine tells them something: where they are, what they want, and whether
//! their secrets can be read.
//!
//! [`survey`] looks without sending anything or running a command; [`open`] puts them together for a server.
#![expect(clippy::disallowed_methods, reason = "a secret may lie in a file")]

use crate::models::Trouble;
use crate::runs::{LocalWorkspace, SystemClock};
use crate::session::Session;
use abide_core::definition::{SecretSource, WebhookEvent, WebhookName, WebhookSettings};
use abide_core::event::Timestamp;
use abide_core::value::Secret;
use abide_engine::port::{Clock as _, Later, Outbox};
use abide_engine::webhooks::{BadSecret, Grounds, Hearing, SecretOf, SigningKey, Webhooks};
use abide_process::LocalProcess;
use abide_webhooks::{Address, HttpCourier};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// For how long a secret is not read again: a new one counts soon, and a command is not run for every letter.
const KEPT: Duration = Duration::from_mins(1);

/// A webhook, as people are told about it.
pub(crate) struct Surveyed {
    pub(crate) name: String,
    /// Where it is, without what may be a secret.
    place: String,
    events: Vec<&'static str>,
    abilities: Vec<String>,
    source: String,
    /// What keeps it from being told anything.
    pub(crate) trouble: Option<Trouble>,
}

impl Surveyed {
    /// Returns it in a line.
    pub(crate) fn shown(&self) -> String {
        let Self { name, place, events, source, .. } = self;
        let of = if self.abilities.is_empty() {
            String::new()
        } else {
            format!(" of {}", self.abilities.join(", "))
        };
        format!("{name} at {place} is told {}{of} (secret: {source})", events.join(", "))
    }
}

/// Looks at the webhooks of the configuration.
pub(crate) fn survey(session: &Session<'_>) -> Vec<Surveyed> {
    let webhooks = session.configuration().config.webhooks;
    webhooks.iter().map(|(name, settings)| surveyed(session, name, settings)).collect()
}

fn surveyed(session: &Session<'_>, name: &WebhookName, settings: &WebhookSettings) -> Surveyed {
    let address = Address::parse(&settings.url.value, is_private(settings));
    let source = match &settings.secret.value {
        SecretSource::Env(variable) => variable.clone(),
        SecretSource::File(file) => file.clone(),
        SecretSource::Command(_) => "a command".to_owned(),
    };
    let trouble = match &address {
        Err(bad) => Some(Trouble { problem: bad.to_string(), help: bad.help().to_owned() }),
        Ok(_) => secret_trouble(session, &settings.secret.value),
    };
    let wanted = WebhookEvent::ALL.iter().filter(|event| match &settings.events {
        None => true,
        Some(events) => events.iter().any(|named| named.value == **event),
    });
    Surveyed {
        name: name.to_string(),
        place: address.map(|address| address.shown()).unwrap_or_default(),
        events: wanted.map(|event| event.word()).collect(),
        abilities: settings.abilities.iter().flatten().map(|pattern| pattern.value.clone()).collect(),
        source,
        trouble,
    }
}

fn is_private(settings: &WebhookSettings) -> bool {
    settings.private_network.as_ref().is_some_and(|flag| flag.value)
}

/// Says what is wrong with a secret, as far as that shows without running anything.
fn secret_trouble(session: &Session<'_>, source: &SecretSource) -> Option<Trouble> {
    let (text, place) = match source {
        SecretSource::Env(variable) => match session.surroundings.variable(variable) {
            None => {
                let help = format!("set {variable}; {}", BadSecret::HELP);
                return Some(Trouble { problem: format!("{variable} is not set"), help });
            }
            Some(text) => (text, variable.clone()),
        },
        SecretSource::File(file) => {
            let path = session.place.resolve(file);
            let place = session.place.shown(&path);
            match std::fs::read_to_string(&path) {
                Err(error) => {
                    let help = format!("write its secret there; {}", BadSecret::HELP);
                    return Some(Trouble { problem: format!("{place}: {error}"), help });
                }
                Ok(text) => (text, place),
            }
        }
        SecretSource::Command(_) => return None,
    };
    let bad = SigningKey::parse(&Secret::new(text)).err()?;
    Some(Trouble {
        problem: format!("its secret in {place} cannot be used: {bad}"),
        help: BadSecret::HELP.to_owned(),
    })
}

/// Puts the webhooks of the configuration together; nothing is sent before they are started.
pub(crate) fn open(
    session: &Session<'_>,
    outbox: Arc<dyn Outbox>,
    hearing: Hearing,
) -> Webhooks<SystemClock> {
    let webhooks = session.configuration().config.webhooks;
    let webhooks: Vec<(WebhookName, WebhookSettings)> =
        webhooks.into_iter().map(|(name, settings)| (name.value, settings)).collect();
    let sources = webhooks.iter().map(|(name, settings)| (name.to_string(), settings.secret.value.clone()));
    let secrets = Secrets {
        sources: sources.collect(),
        workspace: LocalWorkspace::new(session, Arc::new(LocalProcess::new())),
        read: Mutex::default(),
    };
    let grounds = Grounds {
        outbox,
        courier: Arc::new(HttpCourier::new()),
        clock: Arc::new(SystemClock),
        secret_of: Arc::new(secrets).reading(),
        hearing,
    };
    Webhooks::new(grounds, webhooks)
}

/// Where the secrets of webhooks come from, and those that were read a moment ago.
struct Secrets {
    sources: HashMap<String, SecretSource>,
    workspace: LocalWorkspace,
    read: Mutex<HashMap<String, (Timestamp, Secret)>>,
}

impl Secrets {
    fn reading(self: Arc<Self>) -> SecretOf {
        Arc::new(move |webhook: &str| -> Later<Result<Secret, String>> {
            let (secrets, webhook) = (Arc::clone(&self), webhook.to_owned());
            Box::pin(async move { secrets.secret(&webhook).await })
        })
    }

    async fn secret(&self, webhook: &str) -> Result<Secret, String> {
        let now = SystemClock.now();
        let known = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, secret)) = known().get(webhook)
            && now.since(*read) < KEPT
        {
            return Ok(secret.clone());
        }
        let source = self.sources.get(webhook).ok_or("there is no such webhook")?;
        let what = format!("the secret of the webhook {webhook}");
        let secret = self.workspace.secret_from(&what, source).await.map_err(|error| error.message)?;
        let secret = Secret::new(secret);
        known().insert(webhook.to_owned(), (now, secret.clone()));
        Ok(secret)
    }
}

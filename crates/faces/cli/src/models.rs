//! Models, as this machine can ask them: who serves them, whether there is a key, and what to set if there is none.
//!
//! [`survey`] looks without asking anybody; [`open`] makes ready to ask.
#![expect(clippy::disallowed_methods, reason = "a key may lie in a file")]

use crate::runs::LocalWorkspace;
use crate::session::Session;
use abide_catalog::AgentEntry;
use abide_core::definition::{Config, ProviderName, SecretSource};
use abide_core::model::{ModelFacts, ModelName, Provider, Retry, Usage};
use abide_core::value::Secret;
use abide_engine::port::{ModelError, ModelProblem};
use abide_models::{HttpModel, Proxies};
use abide_process::LocalProcess;
use std::sync::Arc;

/// Why something cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) problem: String,
    pub(crate) help: String,
}

/// Who serves models.
pub(crate) struct Server {
    pub(crate) name: String,
    /// What is known about it, unless too little is set.
    pub(crate) provider: Option<Provider>,
    pub(crate) trouble: Option<Trouble>,
}

/// A model that the configuration or an agent names.
pub(crate) struct Named {
    pub(crate) name: ModelName,
    /// The agents that name it.
    pub(crate) agents: Vec<String>,
    pub(crate) facts: ModelFacts,
    pub(crate) trouble: Option<Trouble>,
}

/// Everything that is known about models here.
pub(crate) struct Survey {
    pub(crate) default: Option<ModelName>,
    pub(crate) models: Vec<Named>,
    pub(crate) servers: Vec<Server>,
}

impl Survey {
    /// Finds a model.
    pub(crate) fn model(&self, name: &ModelName) -> Option<&Named> {
        self.models.iter().find(|model| model.name == *name)
    }
}

/// Looks at the configuration, the agents and the environment.
pub(crate) fn survey(session: &Session<'_>) -> Survey {
    let config = session.configuration().config;
    let names = Provider::names(&config);
    let servers: Vec<Server> = names.iter().map(|name| server(session, &config, name)).collect();
    let mut models: Vec<Named> = Vec::new();
    let mut add = |name: ModelName, agent: Option<&str>| {
        let position = models.iter().position(|known| known.name == name).unwrap_or_else(|| {
            let found = servers.iter().find(|server| server.name == name.provider().as_str());
            let facts = found
                .and_then(|server| server.provider.as_ref())
                .map(|provider| provider.facts(name.model()));
            let trouble = match found {
                Some(server) => server.trouble.clone(),
                None => server(session, &config, name.provider().as_str()).trouble,
            };
            models.push(Named { name, agents: Vec::new(), facts: facts.unwrap_or_default(), trouble });
            models.len() - 1
        });
        models[position].agents.extend(agent.map(str::to_owned));
    };
    let default = config.model.as_ref().map(|model| model.value.clone());
    if let Some(name) = &default {
        add(name.clone(), None);
    }
    for entry in session.catalog().agents() {
        if let Some(name) = model_of(&config, &entry) {
            add(name, Some(&entry.name));
        }
    }
    for provider in servers.iter().filter_map(|server| server.provider.as_ref()) {
        for name in provider.models.iter().filter_map(|(model, _)| provider.model(model)) {
            add(name, None);
        }
    }
    Survey { default, models, servers }
}

/// Returns the model that an agent names; what other tools call their models is none of ours.
fn model_of(config: &Config, entry: &AgentEntry) -> Option<ModelName> {
    let configured = config.agents.iter().find(|(name, _)| name.as_str() == &*entry.name);
    let configured =
        configured.and_then(|(_, settings)| settings.model.as_ref()).map(|model| model.value.clone());
    configured.or_else(|| ModelName::parse(&entry.profile.as_ref()?.model.as_ref()?.value).ok())
}

fn server(session: &Session<'_>, config: &Config, name: &str) -> Server {
    let name = name.to_owned();
    let Ok(parsed) = ProviderName::parse(&name) else {
        return Server { name, provider: None, trouble: None };
    };
    match Provider::find(config, &parsed, |variable| session.surroundings.variable(variable)) {
        Ok(provider) => {
            let trouble = key_trouble(session, &provider);
            Server { name, provider: Some(provider), trouble }
        }
        Err(unusable) => {
            let trouble = Trouble { problem: unusable.to_string(), help: unusable.help() };
            Server { name, provider: None, trouble: Some(trouble) }
        }
    }
}

/// Says what is wrong with the key of a provider, as far as that shows without running anything.
fn key_trouble(session: &Session<'_>, provider: &Provider) -> Option<Trouble> {
    let name = &provider.name;
    let own = format!("`providers.{name}.key` in your own configuration");
    let (why, help) = match provider.key.as_ref()? {
        SecretSource::Env(variable) if session.surroundings.variable(variable).is_none() => {
            (String::new(), format!("set {variable}, or {own}"))
        }
        SecretSource::File(file) => {
            let path = session.place.resolve(file);
            let help = format!("write the key into {}, or change {own}", session.place.shown(&path));
            match std::fs::read_to_string(&path) {
                Err(error) => (format!(": {}: {error}", session.place.shown(&path)), help),
                Ok(text) if text.trim().is_empty() => {
                    (format!(": {} is empty", session.place.shown(&path)), help)
                }
                Ok(_) => return None,
            }
        }
        SecretSource::Env(_) | SecretSource::Command(_) => return None,
    };
    Some(Trouble { problem: format!("no key for {name}{why}"), help })
}

/// Says where the key of a provider comes from, without the key.
pub(crate) fn key_source(provider: &Provider) -> String {
    match &provider.key {
        None => "none needed".to_owned(),
        Some(SecretSource::Env(variable)) => variable.clone(),
        Some(SecretSource::File(file)) => file.clone(),
        Some(SecretSource::Command(_)) => "a command".to_owned(),
    }
}

/// Makes ready to ask a model: its key is read now, and nothing is sent.
pub(crate) async fn open(
    session: &Session<'_>,
    name: &ModelName,
) -> Result<(HttpModel, ModelFacts), ModelError> {
    openable(session, name)?.open().await
}

/// A model that can be asked once its key is read.
pub(crate) struct Openable {
    name: ModelName,
    provider: Provider,
    proxies: Proxies,
    workspace: LocalWorkspace,
}

impl Openable {
    /// Reads the key; nothing is sent.
    pub(crate) async fn open(self) -> Result<(HttpModel, ModelFacts), ModelError> {
        let Self { name, provider, proxies, workspace } = self;
        let key = match &provider.key {
            None => None,
            Some(source) => {
                let what = format!("the key of {}", provider.name);
                let key = workspace.secret_from(&what, source).await;
                Some(Secret::new(key.map_err(|error| not_ready(&name, error.message, error.help))?.trim()))
            }
        };
        let facts = provider.facts(name.model());
        Ok((HttpModel::new(provider, key, &proxies)?, facts))
    }
}

fn not_ready(name: &ModelName, problem: String, help: Option<String>) -> ModelError {
    ModelError {
        provider: name.provider().as_str().into(),
        problem: ModelProblem::NotReady(problem),
        help,
        retry: Retry::Never,
        usage: Usage::default(),
    }
}

/// Returns the variables that keys of models are taken from.
pub(crate) fn key_variables(session: &Session<'_>) -> Vec<String> {
    let config = session.configuration().config;
    let variable = |variable: &str| session.surroundings.variable(variable);
    let providers = Provider::names(&config).into_iter().filter_map(|name| ProviderName::parse(&name).ok());
    let keys = providers.filter_map(|name| Provider::find(&config, &name, variable).ok()?.key);
    keys.filter_map(|key| match key {
        SecretSource::Env(variable) => Some(variable),
        SecretSource::File(_) | SecretSource::Command(_) => None,
    })
    .collect()
}

/// Finds what is needed to ask a model, or what is missing.
pub(crate) fn openable(session: &Session<'_>, name: &ModelName) -> Result<Openable, ModelError> {
    let not_ready = |problem: String, help: Option<String>| not_ready(name, problem, help);
    let config = session.configuration().config;
    let variable = |variable: &str| session.surroundings.variable(variable);
    let provider = Provider::find(&config, name.provider(), variable)
        .map_err(|unusable| not_ready(unusable.to_string(), Some(unusable.help())))?;
    if let Some(trouble) = key_trouble(session, &provider) {
        return Err(not_ready(trouble.problem, Some(trouble.help)));
    }
    let workspace = LocalWorkspace::new(session, Arc::new(LocalProcess::new()));
    Ok(Openable { name: name.clone(), provider, proxies: Proxies::of(variable), workspace })
}

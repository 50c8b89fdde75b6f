//! Whether the models can be asked that abide's own agents use.

use super::{Check, Outcome};
use crate::models::{key_source, survey};
use crate::session::Session;

pub(super) fn models(session: &Session<'_>) -> Vec<Check> {
    let survey = survey(session);
    let check = |result, found, help| Check { what: "model", result, found, help };
    let Some(default) = &survey.default else {
        let found = "none is set; only agents that abide runs itself need one".to_owned();
        return vec![check(Outcome::Good, found, None)];
    };
    let Some(model) = survey.model(default) else { return Vec::new() };
    if let Some(trouble) = &model.trouble {
        let found = format!("{default} cannot be asked: {}", trouble.problem);
        return vec![check(Outcome::Worth, found, Some(trouble.help.clone()))];
    }
    let server = survey.servers.iter().find(|server| server.name == default.provider().as_str());
    let key = server.and_then(|server| server.provider.as_ref()).map(key_source).unwrap_or_default();
    let found = format!("{default} can be asked (key: {key}); `abide model test` sees whether it answers");
    vec![check(Outcome::Good, found, None)]
}

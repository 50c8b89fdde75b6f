//! Whether a server could tell the webhooks of the configuration what happens.

use super::{Check, Outcome};
use crate::session::Session;
use crate::webhooks::survey;

pub(super) fn webhooks(session: &Session<'_>) -> Vec<Check> {
    let check = |result, found, help| Check { what: "webhook", result, found, help };
    survey(session)
        .into_iter()
        .map(|webhook| match webhook.trouble {
            Some(trouble) => {
                let found = format!("{} cannot be told anything: {}", webhook.name, trouble.problem);
                check(Outcome::Worth, found, Some(trouble.help))
            }
            None => check(Outcome::Good, webhook.shown(), None),
        })
        .collect()
}

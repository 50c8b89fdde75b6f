//! Which runners could execute the step of an agent here.

use super::{Check, Outcome};
use crate::runners;
use crate::session::Session;

pub(super) fn runners(session: &Session<'_>) -> Vec<Check> {
    let chosen = session.configuration().config.runner.map(|runner| runner.value.to_string());
    let default = chosen.clone().unwrap_or_else(|| "builtin".to_owned());
    let check = |(word, trouble): (String, Option<String>)| {
        let whose = if word == default { "; it executes the steps that name none" } else { "" };
        let (result, found, help) = match trouble {
            None => (Outcome::Good, format!("{word} can be used{whose}"), None),
            Some(why) if chosen.as_ref() == Some(&word) => {
                (Outcome::Worth, format!("{word} cannot be used{whose}"), Some(why))
            }
            Some(_) => {
                let who = if word == default { "of agents that name no runner" } else { "that name it" };
                (Outcome::Good, format!("{word} cannot be used; only steps {who} need it"), None)
            }
        };
        Check { what: "runner", result, found, help }
    };
    runners::survey(session).into_iter().map(check).collect()
}

//! Capabilities as the body of a request names them, and as an answer tells them.
//!
//! A plain id says nothing of the configuration, which stays as it is: whoever reads the list of an agent and sends it back with one more
//! id loses none.

use crate::ask::wrong;
use crate::problem::Problem;
use abide_engine::capability::Choice;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The longest id and the longest configuration as JSON, in bytes, and how many capabilities an agent may name.
pub(crate) const LONGEST_CAPABILITY: usize = 50;
pub(crate) const LONGEST_CONFIGURATION: usize = 16 * 1024;
pub(crate) const MOST_CAPABILITIES: usize = 50;

const NAME: &str = "capabilities";

/// Takes capabilities out of a body, for an agent that has some.
pub(super) fn choices(body: &mut Map<String, Value>, had: &[Choice]) -> Result<Option<Vec<Choice>>, Problem> {
    let list = match body.remove(NAME) {
        None => return Ok(None),
        Some(Value::Array(list)) if list.len() <= MOST_CAPABILITIES => list,
        Some(Value::Array(_)) => {
            return Err(wrong(NAME, &format!("has more than {MOST_CAPABILITIES} entries")));
        }
        Some(_) => return Err(wrong(NAME, "is no list")),
    };
    list.into_iter().map(|entry| choice(entry, had)).collect::<Result<_, _>>().map(Some)
}

fn choice(entry: Value, had: &[Choice]) -> Result<Choice, Problem> {
    match entry {
        Value::String(text) => {
            let named = Choice::of(id(text)?);
            let configuration = had.iter().find(|had| had.bare_id() == named.bare_id());
            let configuration = configuration.and_then(|had| had.configuration.clone());
            Ok(Choice { configuration, ..named })
        }
        Value::Object(mut object) => {
            let (named, configuration) = (object.remove("id"), object.remove("configuration"));
            if let Some(unknown) = object.keys().next() {
                let unknown: String = unknown.chars().take(LONGEST_CAPABILITY).collect();
                return Err(wrong(NAME, &format!("has an entry with `{unknown}`, which is not known here")));
            }
            let Some(Value::String(text)) = named else {
                return Err(wrong(NAME, "has an entry whose `id` is no text"));
            };
            let id = id(text)?;
            let configuration = match configuration {
                Some(Value::Null) => None,
                Some(configuration @ Value::Object(_)) => Some(configuration),
                _ => {
                    return Err(wrong(
                        NAME,
                        &format!("configures `{id}` with what is neither an object nor null"),
                    ));
                }
            };
            if configuration.as_ref().is_some_and(|given| given.to_string().len() > LONGEST_CONFIGURATION) {
                let why = format!("configures `{id}` with more than {LONGEST_CONFIGURATION} bytes");
                return Err(wrong(NAME, &why));
            }
            Ok(Choice { id, configuration })
        }
        _ => Err(wrong(NAME, "has an entry that is neither an id nor an object with one")),
    }
}

fn id(text: String) -> Result<String, Problem> {
    if text.contains('\0') {
        return Err(wrong(NAME, "has the character zero in it"));
    }
    if text.len() > LONGEST_CAPABILITY {
        return Err(wrong(NAME, &format!("has an entry longer than {LONGEST_CAPABILITY} bytes")));
    }
    Ok(text)
}

/// The ids alone, in order.
pub(super) struct Ids<'a>(pub(super) &'a [Choice]);

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|choice| &choice.id))
    }
}

/// What is configured, by the ids.
pub(super) struct Configured<'a>(pub(super) &'a [Choice]);

impl Configured<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|choice| choice.configuration.is_none())
    }
}

impl Serialize for Configured<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().filter_map(|choice| Some((&choice.id, choice.configuration.as_ref()?))))
    }
}

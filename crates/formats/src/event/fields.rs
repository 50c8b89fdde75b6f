//! Taking the fields of a stored event one by one.

use super::BadEvent;
use abide_core::event::{RunId, StepKey, Timestamp};
use abide_core::value::Value;
use smol_str::SmolStr;

/// The fields of a mapping that have not been taken.
pub(crate) struct Fields<'a> {
    kind: &'a str,
    entries: Vec<(String, Value)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(kind: &'a str, value: Value) -> Result<Self, BadEvent> {
        match value {
            Value::Map(entries) => Ok(Self { kind, entries }),
            _ => Err(BadEvent::new(kind, "its data is not a mapping")),
        }
    }

    pub(crate) fn bad(&self, name: &str) -> BadEvent {
        BadEvent::new(self.kind, format!("`{name}` is missing or has the wrong type"))
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let position = self.entries.iter().position(|(known, _)| known == name)?;
        Some(self.entries.swap_remove(position).1).filter(|value| *value != Value::Null)
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, BadEvent> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.bad(name)),
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<String, BadEvent> {
        self.optional_text(name)?.ok_or_else(|| self.bad(name))
    }

    pub(crate) fn word(&mut self, name: &str) -> Result<SmolStr, BadEvent> {
        self.text(name).map(Into::into)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, BadEvent> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(self.bad(name)),
        }
    }

    pub(crate) fn optional_int(&mut self, name: &str) -> Result<Option<i64>, BadEvent> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Int(value)) => Ok(Some(value)),
            Some(_) => Err(self.bad(name)),
        }
    }

    pub(crate) fn count(&mut self, name: &str) -> Result<u32, BadEvent> {
        let value = self.optional_int(name)?.unwrap_or(0);
        u32::try_from(value).map_err(|_| self.bad(name))
    }

    pub(crate) fn moment(&mut self, name: &str) -> Result<Option<Timestamp>, BadEvent> {
        Ok(self.optional_int(name)?.map(Timestamp))
    }

    pub(crate) fn key(&mut self, name: &str) -> Result<StepKey, BadEvent> {
        let text = self.text(name)?;
        StepKey::parse(&text).ok_or_else(|| self.bad(name))
    }

    pub(crate) fn run(&mut self, name: &str) -> Result<Option<RunId>, BadEvent> {
        match self.optional_text(name)? {
            None => Ok(None),
            Some(text) => RunId::parse(&text).map(Some).ok_or_else(|| self.bad(name)),
        }
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value>, BadEvent> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => Ok(items),
            Some(_) => Err(self.bad(name)),
        }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, BadEvent> {
        let items = self.list(name)?;
        let texts: Option<Vec<String>> = items
            .into_iter()
            .map(|item| match item {
                Value::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        texts.ok_or_else(|| self.bad(name))
    }

    /// Takes a list of pairs `[text, value]`.
    pub(crate) fn pairs(&mut self, name: &str) -> Result<Vec<(String, Value)>, BadEvent> {
        let items = self.list(name)?;
        let pairs: Option<Vec<(String, Value)>> = items
            .into_iter()
            .map(|item| match item {
                Value::List(pair) => match <[Value; 2]>::try_from(pair) {
                    Ok([Value::Text(text), value]) => Some((text, value)),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        pairs.ok_or_else(|| self.bad(name))
    }

    pub(crate) fn inner(&mut self, name: &str) -> Result<Option<Fields<'a>>, BadEvent> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => Fields::new(self.kind, value).map(Some),
        }
    }

    /// Reads a mapping that was taken from this one.
    pub(crate) fn nested(&self, value: Value) -> Result<Fields<'a>, BadEvent> {
        Fields::new(self.kind, value)
    }

    /// Says that everything has been taken; what is left was written by a newer abide.
    pub(crate) fn finish(self) -> Result<(), BadEvent> {
        match self.entries.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(BadEvent::new(self.kind, format!("`{name}` is not known to this version of abide")))
            }
        }
    }
}

//! The entries of a mapping in a case, taken by name.

use abide_core::value::Value;

/// The entries of a mapping, of which all must be known.
pub(crate) struct Fields<'a>(&'a [(String, Value)]);

impl<'a> Fields<'a> {
    pub(crate) fn of(data: &'a Value, what: &str, known: &[&str]) -> Result<Self, String> {
        let Value::Map(entries) = data else { return Err(format!("{what} is {}", data.kind())) };
        match entries.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("{what} has no `{name}`; it has {}", known.join(", "))),
            None => Ok(Self(entries)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::List(_) | Value::Map(_)) => Err(format!("`{name}` is a text")),
            Some(value) => Ok(Some(plain(value))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(_) => Err(format!("`{name}` is a number")),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            Some(Value::Bool(flag)) => Ok(*flag),
            _ => Err(format!("`{name}` is `true` or `false`")),
        }
    }

    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], String> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::List(items)) => Ok(items),
            Some(_) => Err(format!("`{name}` is a list")),
        }
    }

    pub(crate) fn entries(&self, name: &str) -> Result<Vec<(String, Value)>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Map(entries)) => Ok(entries.clone()),
            Some(_) => Err(format!("`{name}` is a mapping")),
        }
    }
}

pub(crate) fn plain(value: &Value) -> String {
    abide_core::value::template::as_text(value).into_owned()
}

//! The data of an event: JSON that borrows from the text that it was read from.
//!
//! An answer comes in hundreds of small events of which little is kept, so names and texts are not copied out of them.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

/// A value of JSON; what is not there is `Null`, as in JavaScript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Whole(u64),
    Negative(i64),
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// Of two entries of one name the last counts.
    Map(Vec<(Cow<'a, str>, Json<'a>)>),
}

static NOTHING: Json<'static> = Json::Null;

impl<'a> Json<'a> {
    /// Returns the text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if it is a whole one.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the items; what is no list has none.
    pub(crate) fn items(&self) -> &[Json<'a>] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Tells whether it is a mapping.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Map(_))
    }
}

impl<'a> Index<&str> for Json<'a> {
    type Output = Json<'a>;

    fn index(&self, name: &str) -> &Json<'a> {
        match self {
            Self::Map(entries) => {
                entries.iter().rev().find(|(known, _)| known == name).map_or(&NOTHING, |(_, value)| value)
            }
            _ => &NOTHING,
        }
    }
}

impl<'a> Index<usize> for Json<'a> {
    type Output = Json<'a>;

    fn index(&self, position: usize) -> &Json<'a> {
        self.items().get(position).unwrap_or(&NOTHING)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Negative(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut map = Vec::new();
        while let Some(name) = entries.next_key()? {
            let Name(name) = name;
            map.push((name, entries.next_value()?));
        }
        Ok(Json::Map(map))
    }
}

/// A name, which is borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.deserialize_str(Reader)? {
            Json::Text(text) => Ok(Self(text)),
            _ => Ok(Self(Cow::Borrowed(""))),
        }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Whole(value) => to.serialize_u64(*value),
            Self::Negative(value) => to.serialize_i64(*value),
            Self::Float(value) => to.serialize_f64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::List(items) => to.collect_seq(items),
            Self::Map(entries) => to.collect_map(entries.iter().map(|(name, value)| (name, value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_serde_reads() {
        for text in [
            r#"{"a": [1, -2, 2.5, true, null, "x\ny", "é"], "b": {"c": {}}, "n\u0061me": "v"}"#,
            r#"{"a": 1, "a": 2}"#,
            "[]",
            "18446744073709551615",
            "1e3",
        ] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let json: Json<'_> = serde_json::from_str(text).unwrap();
            let again: serde_json::Value =
                serde_json::from_str(&serde_json::to_string(&json).unwrap()).unwrap();
            assert_eq!(again, value);
            assert_eq!(json["a"].as_u64(), value["a"].as_u64());
        }
        let json: Json<'_> = serde_json::from_str(r#"{"a": {"b": "c"}, "list": [{}]}"#).unwrap();
        assert_eq!((json["a"]["b"].as_str(), json["a"]["x"]["y"].as_str()), (Some("c"), None));
        assert!(json["list"].items()[0].is_object() && json["a"].items().is_empty());
        for broken in ["", "{", "{\"a\" 1}", "nul", "{\"a\": 1} x"] {
            assert!(serde_json::from_str::<Json<'_>>(broken).is_err(), "{broken}");
        }
    }
}

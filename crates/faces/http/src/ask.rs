//! A request that was let in: its parameters decoded, its body whole.

use crate::bounds::{LONGEST_PAGE, PAGE};
use crate::problem::{Code, Problem};
use crate::routes::{Parameter, Route};
use crate::who::Who;
use bytes::Bytes;
use http::{HeaderMap, header};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A request that was let in.
pub(crate) struct Ask {
    /// Who asks.
    pub(crate) who: Who,
    /// What the braces of the route's path stand for.
    pub(crate) path: Vec<String>,
    query: Vec<(String, String)>,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

impl Ask {
    /// Puts a request together; parameters that the route does not know are refused, so that no typo is passed over.
    pub(crate) fn new(
        route: &Route,
        who: Who,
        path: Vec<String>,
        query: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Self, Problem> {
        let mut known: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            if !route.query.iter().any(|(known, _)| *known == name) {
                return Err(bad(&name, "is not known here"));
            }
            if known.iter().any(|(known, _)| *known == name) {
                return Err(bad(&name, "is given twice"));
            }
            if value.contains('\0') || value.contains('\u{fffd}') {
                return Err(bad(&name, "is no text"));
            }
            let parameter = route.query.iter().find(|(known, _)| *known == name);
            if let Some((_, Parameter::Word(words, _))) = parameter
                && !words.contains(&&*value)
            {
                return Err(bad(&name, &format!("is one of {}", words.join(", "))));
            }
            known.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self { who, path, query: known, headers, body })
    }

    /// Returns a part of the path; the route says how many there are.
    pub(crate) fn part(&self, position: usize) -> &str {
        self.path.get(position).map_or("", String::as_str)
    }

    /// Returns a parameter of the address.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a number of the address.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let parse = |text: &str| text.parse::<u64>().map_err(|_| bad(name, "is no whole number"));
        let number = self.query(name).map(parse).transpose()?;
        // No store counts further.
        match number {
            Some(number) if i64::try_from(number).is_err() => Err(bad(name, "is too large")),
            number => Ok(number),
        }
    }

    /// Returns how many rows a page may have.
    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        match self.number("limit")? {
            None => Ok(PAGE),
            Some(number) => match usize::try_from(number) {
                Ok(limit) if (1..=LONGEST_PAGE).contains(&limit) => Ok(limit),
                _ => Err(bad("limit", &format!("is 1 to {LONGEST_PAGE}"))),
            },
        }
    }

    /// Returns a body that is text.
    pub(crate) fn document(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.body)
            .map_err(|error| Problem::new(Code::BadBody, format!("the body is no UTF-8: {error}")))
    }

    /// Returns the body as it came.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// Returns a yes or no of the address; no if nothing is said.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.query(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(bad(name, "is true or false")),
        }
    }

    /// Returns the body, whose fields must all be known.
    pub(crate) fn object(&self, known: &[&str]) -> Result<Map<String, Value>, Problem> {
        let value: Value = serde_json::from_slice(&self.body)
            .map_err(|error| Problem::new(Code::BadBody, format!("the body is no JSON: {error}")))?;
        let Value::Object(object) = value else {
            return Err(Problem::new(Code::BadBody, "the body is no JSON object"));
        };
        match object.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(object),
            Some(name) => {
                let problem = Problem::new(Code::BadBody, format!("`{name}` is not known here"));
                Err(match abide_core::diagnostic::nearest(name, known.iter().copied()) {
                    Some(nearest) => problem.help(format!("did you mean `{nearest}`?")),
                    None => problem,
                }
                .with("field", Value::from(name.as_str())))
            }
        }
    }
}

/// Returns the tags that `If-Match` lists; none if it was not sent.
pub(crate) fn if_match(ask: &Ask) -> Result<Vec<&str>, Problem> {
    let mut tags = Vec::new();
    for value in ask.headers.get_all(header::IF_MATCH) {
        let text = value.to_str().map_err(|_| Problem::new(Code::BadRequest, "`If-Match` is no text"))?;
        tags.extend(text.split(',').map(str::trim).filter(|tag| !tag.is_empty()));
    }
    Ok(tags)
}

/// Reads the id that a page begins after, in the form in which ids are kept: they are compared as text.
pub(crate) fn id_after(ask: &Ask) -> Result<Option<String>, Problem> {
    let read = |text: &str| Uuid::try_parse(text).map(|id| id.hyphenated().to_string());
    ask.query("after").map(read).transpose().map_err(|_| bad("after", "is not the `next` of a page"))
}

/// Says that a parameter of the address is wrong.
pub(crate) fn bad(name: &str, why: &str) -> Problem {
    let shown: String = name.chars().take(100).collect();
    Problem::new(Code::BadParameter, format!("`{shown}` {why}")).with("parameter", Value::from(shown))
}

/// Says that a field of the body is wrong.
pub(crate) fn wrong(name: &str, why: &str) -> Problem {
    Problem::new(Code::BadBody, format!("`{name}` {why}")).with("field", Value::from(name))
}

/// Takes a text out of a body; nothing, or null, is none.
pub(crate) fn text(
    object: &mut Map<String, Value>,
    name: &str,
    longest: usize,
) -> Result<Option<String>, Problem> {
    match object.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.contains('\0') => Err(wrong(name, "has the character zero in it")),
        Some(Value::String(text)) if text.len() <= longest => Ok(Some(text)),
        Some(Value::String(_)) => Err(wrong(name, &format!("is longer than {longest} bytes"))),
        Some(_) => Err(wrong(name, "is no text")),
    }
}

/// Takes a list of texts out of a body.
pub(crate) fn texts(
    object: &mut Map<String, Value>,
    name: &str,
    most: usize,
    longest: usize,
) -> Result<Option<Vec<String>>, Problem> {
    let list = match object.remove(name) {
        None => return Ok(None),
        Some(Value::Array(list)) if list.len() <= most => list,
        Some(Value::Array(_)) => return Err(wrong(name, &format!("has more than {most} entries"))),
        Some(_) => return Err(wrong(name, "is no list")),
    };
    let text = |value: Value| match value {
        Value::String(text) if text.contains('\0') => Err(wrong(name, "has the character zero in it")),
        Value::String(text) if text.len() <= longest => Ok(text),
        Value::String(_) => Err(wrong(name, &format!("has an entry longer than {longest} bytes"))),
        _ => Err(wrong(name, "has an entry that is no text")),
    };
    list.into_iter().map(text).collect::<Result<_, _>>().map(Some)
}

/// Decodes a part of a path; one that is no text is none.
pub(crate) fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let [high, low, tail @ ..] = tail else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty() && !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_is_decoded_or_refused() {
        let table = [
            ("a", Some("a")),
            ("deploy%2Fproduction", Some("deploy/production")),
            ("%c3%A4", Some("ä")),
            ("a+b", Some("a+b")),
            ("%", None),
            ("%2", None),
            ("%zz", None),
            ("%+1", None),
            ("%ff", None),
            ("%00", None),
            ("", None),
        ];
        for (part, expected) in table {
            assert_eq!(decoded(part).as_deref(), expected, "{part}");
        }
    }
}

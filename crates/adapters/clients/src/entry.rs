//! The MCP server that a client's file names: `abide mcp`, for this machine or in front of a server of abide.
//!
//! An entry is known by its words alone, so that one that somebody wrote by hand is abide's as well.

use crate::{Error, Target, file};
use abide_core::value::Value;
use abide_formats::edit::jsonc::parse;
use serde_json::Value as Json;
use std::path::Path;

/// A server of abide whose abilities an agent is given, in the place of those of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its address.
    pub url: String,
    /// The file that has the key.
    pub key_file: Option<String>,
}

/// What an entry of abide's says besides the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The server, unless it is this machine.
    pub(crate) server: Option<Server>,
    /// The variables that its user sets for a server, such as the one that names the key.
    pub(crate) variables: Vec<(String, String)>,
}

impl Entry {
    /// Reads the words that follow the program; nothing if they are not abide's.
    pub(crate) fn read<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let mut words = words.into_iter();
        if words.next() != Some("mcp") {
            return None;
        }
        let (mut url, mut key_file) = (None, None);
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, value),
                None => (word, words.next()?),
            };
            let place = match option {
                "--server" => &mut url,
                "--key-file" => &mut key_file,
                _ => return None,
            };
            if value.is_empty() || place.replace(value.to_owned()).is_some() {
                return None;
            }
        }
        let server = match (url, key_file) {
            (Some(url), key_file) => Some(Server { url, key_file }),
            (None, None) => None,
            (None, Some(_)) => return None,
        };
        Some(Self { server, variables: Vec::new() })
    }

    /// Adds the variables that a client's file sets; `abide mcp` of this machine needs none.
    pub(crate) fn with<'v>(mut self, variables: impl Iterator<Item = (&'v str, &'v str)>) -> Self {
        if self.server.is_some() {
            self.variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            self.variables.sort();
        }
        self
    }

    /// Returns the words that follow the program.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["mcp".to_owned()];
        if let Some(Server { url, key_file }) = &self.server {
            words.extend(["--server".to_owned(), url.clone()]);
            words.extend(key_file.iter().flat_map(|file| ["--key-file".to_owned(), file.clone()]));
        }
        words
    }

    /// Returns the variables as the file of a client has them.
    pub(crate) fn environment(&self) -> Value {
        let variables = self.variables.iter();
        Value::Map(variables.map(|(name, value)| (name.clone(), Value::Text(value.clone()))).collect())
    }

    /// Returns what is wanted: what was asked for, else the server that is there, else this machine.
    pub(crate) fn wanted(target: &Target<'_>, found: Option<Self>) -> Self {
        match target.server {
            Some(server) => Self { server: Some(server.clone()), variables: Vec::new() },
            None => found.unwrap_or_default(),
        }
    }
}

/// Returns the texts of an object, by name.
pub(crate) fn texts(object: &Json) -> impl Iterator<Item = (&str, &str)> {
    object
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
}

/// Reads an entry of a JSON file; a file that cannot be parsed is somebody else's to report.
pub(crate) fn in_json(
    path: &Path,
    keys: &[&str],
    read: fn(&Json) -> Option<Entry>,
) -> Result<Option<Entry>, Error> {
    let Some(text) = file::read(path)? else { return Ok(None) };
    let Ok(Some(root)) = parse(&text) else { return Ok(None) };
    Ok(root.at(keys).and_then(|node| read(&node.value(&text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_is_written() {
        let (url, file) = ("https://abide.example.com", "/home/ada/a key");
        let at = |key_file: Option<&str>| {
            let server = Server { url: url.to_owned(), key_file: key_file.map(str::to_owned) };
            Entry { server: Some(server), variables: Vec::new() }
        };
        for entry in [Entry::default(), at(None), at(Some(file))] {
            let words = entry.words();
            assert_eq!(Entry::read(words.iter().map(String::as_str)), Some(entry), "{words:?}");
        }
        let by_hand = ["mcp", "--key-file=/home/ada/a key", "--server=https://abide.example.com"];
        assert_eq!(Entry::read(by_hand), Some(at(Some(file))));
    }

    #[test]
    fn what_abide_would_not_understand_is_somebody_elses() {
        let lines: [&[&str]; 9] = [
            &[],
            &["serve"],
            &["x", "mcp"],
            &["mcp", "--server"],
            &["mcp", "--server="],
            &["mcp", "--key-file", "f"],
            &["mcp", "--server", "a", "--server", "b"],
            &["mcp", "--server", "a", "--http", "b"],
            &["mcp", "mine.js"],
        ];
        for line in lines {
            assert_eq!(Entry::read(line.iter().copied()), None, "{line:?}");
        }
    }
}

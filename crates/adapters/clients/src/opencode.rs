//! What OpenCode is given: a plugin file, and an MCP server in its settings.
//!
//! The plugin is `clients/opencode`, compiled; the path of the program is written into the file.

use crate::entry::{Entry, in_json, texts};
use crate::piece::{Content, Member, Piece, Theirs};
use crate::receipt::digest;
use crate::{Error, Places, Target, file};
use abide_core::value::Value;
use serde_json::Value as Json;

/// The plugin as `clients/opencode` builds it.
const PLUGIN: &str = include_str!("../../../../clients/opencode/dist/abide.js");

/// The line of the plugin that the path is written into.
const PROGRAM: &str = "const INSTALLED = null;";

/// What the file starts with when it is ours.
const MARK: &str = "// abide for OpenCode";

/// How long a call of a tool may take, in milliseconds: steps run inside of it.
const TIMEOUT: i64 = 3_600_000;

pub(crate) fn pieces(target: &Target<'_>) -> Result<Vec<Piece>, Error> {
    let binary = target.binary.to_str().ok_or_else(|| Error::Path(target.binary.to_path_buf()))?;
    let entry = Entry::wanted(target, entry(target)?);
    let member = Member {
        path: SERVER,
        value: server(binary, &entry),
        is_ours: |found| started(found).is_some(),
        theirs: Theirs::Refused,
    };
    Ok(vec![
        Piece {
            path: target.places.opencode(target.scope)?.join("plugins/abide.js"),
            content: Content::Whole { text: plugin(binary), mark: MARK },
        },
        Piece {
            path: target.places.opencode_settings(target.scope)?,
            content: Content::Json { members: vec![member], hooks: None },
        },
    ])
}

pub(crate) fn plugin(binary: &str) -> String {
    PLUGIN.replacen(PROGRAM, &format!("const INSTALLED = {};", Json::from(binary)), 1)
}

/// Returns the program that an installed plugin starts.
pub(crate) fn program_of(plugin: &str) -> Option<String> {
    let start = PROGRAM.strip_suffix("null;")?;
    let line = plugin.lines().find_map(|line| line.strip_prefix(start))?;
    serde_json::from_str(line.strip_suffix(';')?).ok()
}

/// Returns the version of an installed plugin.
pub(crate) fn version_of(plugin: &str) -> Option<String> {
    let line = plugin.lines().find_map(|line| line.strip_prefix("const VERSION = "))?;
    serde_json::from_str(line.strip_suffix(';')?).ok()
}

/// The sign that the plugin leaves when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// When.
    pub at: String,
    /// Which version of it.
    pub version: Option<String>,
}

/// Returns when the plugin was last loaded in a project, as it says itself.
pub fn last_loaded(places: &Places) -> Option<Loaded> {
    let project = places.root.to_str()?;
    let name = format!("{}.json", &digest(project)[..32]);
    let sign = file::read(&places.state_home.as_ref()?.join("abide/opencode").join(name)).ok()??;
    let sign: Json = serde_json::from_str(&sign).ok()?;
    let at = sign["loaded"].as_str()?.to_owned();
    Some(Loaded { at, version: sign["version"].as_str().map(str::to_owned) })
}

/// Where the settings have the server.
const SERVER: &[&str] = &["mcp", "abide"];

fn server(binary: &str, entry: &Entry) -> Value {
    let command = std::iter::once(binary.to_owned()).chain(entry.words()).map(Value::Text);
    let mut server = vec![
        ("type".to_owned(), Value::Text("local".to_owned())),
        ("command".to_owned(), Value::List(command.collect())),
        ("enabled".to_owned(), Value::Bool(true)),
        ("timeout".to_owned(), Value::Int(TIMEOUT)),
    ];
    if !entry.variables.is_empty() {
        server.push(("environment".to_owned(), entry.environment()));
    }
    Value::Map(server)
}

/// Returns the entry of abide's that is in the settings now.
pub(crate) fn entry(target: &Target<'_>) -> Result<Option<Entry>, Error> {
    in_json(&target.places.opencode_settings(target.scope)?, SERVER, started)
}

fn started(found: &Json) -> Option<Entry> {
    let (_, words) = found["command"].as_array()?.split_first()?;
    let words: Vec<&str> = words.iter().map(Json::as_str).collect::<Option<_>>()?;
    Some(Entry::read(words)?.with(texts(&found["environment"])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_written_into_the_plugin_and_found_again() {
        assert_eq!(PLUGIN.matches(PROGRAM).count(), 1, "the line that is replaced is there once");
        assert!(PLUGIN.starts_with(MARK));
        let version = concat!("const VERSION = \"", env!("CARGO_PKG_VERSION"), "\";");
        assert!(PLUGIN.contains(version), "the plugin has the version of abide");
        let path = "/opt/a \"b\"\\/abide";
        assert_eq!(program_of(&plugin(path)).as_deref(), Some(path));
        assert_eq!(program_of(PLUGIN), None);
        assert_eq!(version_of(PLUGIN).as_deref(), Some(env!("CARGO_PKG_VERSION")));
    }
}

//! What Codex is given: hooks, the approval of these hooks, an MCP server, and a setting that leaves no way round them.
//!
//! Codex skips hooks that its user has not approved, without a word. The approval is a digest of the hook in the user's
//! configuration; writing it approves our own hook, so a person is asked before. The digest was compared with what
//! `codex app-server` (`hooks/list`) says of the same hooks.

use crate::entry::Entry;
use crate::hooks::Hooks;
use crate::piece::{Content, Piece};
use crate::receipt::digest;
use crate::{Client, Error, Scope, Target};
use abide_core::value::Value;
use abide_formats::edit::{Draft, Problem, toml};
use abide_formats::json::to_json;
use serde_json::{Value as Json, json};
use std::path::Path;
use toml_edit::{Array, DocumentMut, InlineTable};

/// The events that help, the names that approvals give them, and whether a failing hook must block.
const EVENTS: [(&str, &str, bool); 8] = [
    ("SessionStart", "session_start", false),
    ("UserPromptSubmit", "user_prompt_submit", false),
    ("PreToolUse", "pre_tool_use", true),
    ("PermissionRequest", "permission_request", true),
    ("PostToolUse", "post_tool_use", false),
    ("PreCompact", "pre_compact", false),
    ("SubagentStop", "subagent_stop", false),
    ("Stop", "stop", false),
];

/// How long Codex waits for a hook, in seconds. What takes longer is let through, so `abide hook` ends itself before.
const TIMEOUT: i64 = 10;

/// How long a call of a tool may take, in seconds: steps run inside of it.
const LONGEST_CALL: i64 = 3600;

/// The tables of `config.toml` that are ours.
#[derive(Debug)]
pub(crate) struct Tables {
    /// The MCP server, as its program and what that is told, if it is to be in this file.
    server: Option<(String, Entry)>,
    /// Which hook is approved by which digest.
    approvals: Vec<(String, String)>,
    /// What the names of approvals start with.
    prefix: String,
    /// Digests of our hooks, wanted and found: what approves them is ours.
    digests: Vec<String>,
}

/// Returns the pieces; `hooks_text` tells what will be in the hooks' file, because approvals name places in it.
pub(crate) fn pieces(
    target: &Target<'_>,
    hooks_text: impl Fn(&Piece) -> Result<String, Error>,
) -> Result<Vec<Piece>, Error> {
    let binary = target.binary.to_str().ok_or_else(|| Error::Path(target.binary.to_path_buf()))?;
    let folder = target.places.codex(target.scope)?;
    let path = folder.join("hooks.json");
    let hooks = || Hooks { client: Client::Codex, program: file_name(binary), wanted: handlers(binary) };
    let piece = Piece { path, content: Content::Json { members: Vec::new(), hooks: Some(hooks()) } };
    let approvals = approvals(target, &hooks(), &piece, &hooks_text(&piece)?)?;
    let server = Some((binary.to_owned(), Entry::wanted(target, entry(target)?)));
    let user = target.places.codex(Scope::User)?.join("config.toml");
    let mut pieces = vec![piece];
    let own = folder.join("config.toml");
    // A home can be a project, too; then both are one file.
    if own == user {
        pieces.push(Piece { path: user, content: Content::Toml(Tables { server, ..approvals }) });
    } else {
        let tables = Tables { server, approvals: Vec::new(), prefix: String::new(), digests: Vec::new() };
        pieces.push(Piece { path: own, content: Content::Toml(tables) });
        pieces.push(Piece { path: user, content: Content::Toml(approvals) });
    }
    Ok(pieces)
}

fn approvals(target: &Target<'_>, hooks: &Hooks, piece: &Piece, text: &str) -> Result<Tables, Error> {
    let failed = |problem| Error::Edit { path: piece.path.clone(), problem };
    // Codex names a project's file by its real path, and the user's as the environment gives it.
    let place = match (&target.places.codex_home, target.scope) {
        (None, Scope::User) => piece.path.clone(),
        _ => real(&piece.path),
    };
    let prefix = format!("{}:", place.to_str().ok_or_else(|| Error::Path(place.clone()))?);
    let mut approvals = Vec::new();
    for handler in hooks.found(text).map_err(failed)? {
        let Some(label) = label(&handler.event) else { continue };
        let key = format!("{prefix}{label}:{}:{}", handler.group, handler.place);
        approvals.push((key, approval(label, &handler.value)));
    }
    let wanted =
        hooks.wanted.iter().filter_map(|(event, handler)| Some(approval(label(event)?, &to_json(handler))));
    let mut digests: Vec<String> = wanted.chain(approvals.iter().map(|(_, digest)| digest.clone())).collect();
    if let Ok(Some(now)) = crate::file::read(&piece.path) {
        for handler in hooks.found(&now).map_err(failed)? {
            digests.extend(label(&handler.event).map(|label| approval(label, &handler.value)));
        }
    }
    Ok(Tables { server: None, approvals, prefix, digests })
}

/// Returns the name that approvals give an event.
pub(crate) fn label(event: &str) -> Option<&'static str> {
    EVENTS.iter().find(|(name, ..)| *name == event).map(|(_, label, _)| *label)
}

/// Resolves links in the folder of a file that may not exist yet.
fn real(path: &Path) -> std::path::PathBuf {
    let existing = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    match existing {
        Some((folder, real)) => path.strip_prefix(folder).map_or(path.to_path_buf(), |rest| {
            if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) }
        }),
        None => path.to_path_buf(),
    }
}

/// Returns the digest by which Codex knows a hook: of its parts, as JSON with sorted keys.
pub(crate) fn approval(label: &str, handler: &Json) -> String {
    let timeout = handler["timeout"].as_i64().unwrap_or(600).max(1);
    // Written out, because the order of keys decides, and a map may keep another.
    let text = format!(
        "{{\"event_name\":{},\"hooks\":[{{\"async\":false,\"command\":{},\"timeout\":{timeout},\"type\":\"command\"}}]}}",
        json!(label),
        handler["command"],
    );
    format!("sha256:{}", digest(&text))
}

pub(crate) fn handlers(binary: &str) -> Vec<(&'static str, Value)> {
    let handler = |(event, _, closed): (&'static str, &str, bool)| {
        let program = quoted(binary);
        let command = if closed { closing(&program, event) } else { format!("{program} hook codex {event}") };
        let handler = vec![
            ("type".to_owned(), Value::Text("command".to_owned())),
            ("command".to_owned(), Value::Text(command)),
            ("timeout".to_owned(), Value::Int(TIMEOUT)),
        ];
        (event, Value::Map(handler))
    };
    EVENTS.map(handler).to_vec()
}

/// Returns a command line that denies unless abide plainly allows.
///
/// Codex lets a tool through when its hook is missing, crashes, takes too long, exits with anything but 2, or gives no reason. To
/// allow, abide says nothing at all. The words are those of every shell that a user may have: no unquoted variables.
fn closing(program: &str, event: &str) -> String {
    let ask = format!("\"$program\" hook codex {event} 2>&1");
    let limit = TIMEOUT - 1;
    format!(
        "program={program}{CLOSING} >/dev/null 2>&1; then why=$(timeout -k 1 {limit} {ask}); else why=$({ask}); fi; code=$?; \
         [ $code -eq 0 ] && [ -z \"$why\" ] && exit 0; \
         [ $code -eq 2 ] && [ -n \"$why\" ] || why=\"abide: its hook failed (exit code $code), so this is denied; run: abide doctor${{why:+: }}$why\"; \
         printf '%s\\n' \"$why\" >&2; exit 2"
    )
}

/// What follows the program in [`closing`]; there are systems without `timeout`.
const CLOSING: &str = "; if command -v timeout";

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns the program of a command line that [`handlers`] wrote.
pub(crate) fn program_of(command: &str) -> Option<String> {
    let program = match command.strip_prefix("program=") {
        Some(closing) if closing.contains(" hook codex ") => {
            closing.split_once(CLOSING)?.0.strip_suffix('\'')?
        }
        Some(_) => return None,
        None => command.split_once("' hook codex ")?.0,
    };
    Some(program.strip_prefix('\'')?.replace("'\\''", "'"))
}

fn file_name(binary: &str) -> String {
    binary.rsplit('/').next().unwrap_or(binary).to_owned()
}

impl Tables {
    /// Returns how many hooks this approves.
    pub(crate) fn approvals(&self) -> usize {
        self.approvals.len()
    }

    pub(crate) fn hold(&self, text: &str) -> Result<bool, Problem> {
        let document = toml::parse(text)?;
        let server = self.server.as_ref().is_none_or(|(program, entry)| {
            let found = toml::at(&document, SERVER);
            found.is_some_and(|found| {
                found.get("command").and_then(|item| item.as_str()) == Some(program)
                    && started(found).as_ref() == Some(entry)
            })
        });
        let approved = |(key, digest): &(String, String)| {
            let found = toml::at(&document, &["hooks", "state", key, "trusted_hash"]);
            found.and_then(|item| item.as_str()) == Some(digest)
        };
        let wanted = self.approvals.len()
            + usize::from(self.server.is_some())
            + usize::from(self.server.is_some() && !is_kept(&document));
        Ok(server && self.approvals.iter().all(approved) && self.ours(&document).len() == wanted)
    }

    /// Says what of the user's stays although abide would have it otherwise.
    pub(crate) fn kept(&self, text: &str) -> Option<&'static str> {
        let kept = self.server.is_some() && toml::parse(text).is_ok_and(|document| is_kept(&document));
        kept.then_some(
            "features.unified_exec_tty is yours and stays; abide would set it to false, because Codex does not ask it about \
             what is typed into a shell",
        )
    }

    /// Returns the paths of what is ours in a document.
    fn ours(&self, document: &DocumentMut) -> Vec<Vec<String>> {
        let mut ours = Vec::new();
        if self.server.is_some() && toml::at(document, SERVER).and_then(started).is_some() {
            ours.push(SERVER.map(str::to_owned).to_vec());
            if is_typing_off(document) {
                ours.push(TYPING.map(str::to_owned).to_vec());
            }
        }
        let state = toml::at(document, &["hooks", "state"]).and_then(|item| item.as_table_like());
        for (key, item) in state.into_iter().flat_map(|state| state.iter()) {
            let approved = item.get("trusted_hash").and_then(|item| item.as_str()).unwrap_or_default();
            if key.starts_with(&self.prefix) && self.digests.iter().any(|digest| digest == approved) {
                ours.push(["hooks", "state", key].map(str::to_owned).to_vec());
            }
        }
        ours
    }

    pub(crate) fn strip(&self, text: &str) -> Result<String, Problem> {
        let mut stripped = text.to_owned();
        for path in self.ours(&toml::parse(text)?) {
            stripped = toml::remove(&stripped, &path.iter().map(String::as_str).collect::<Vec<_>>())?;
            let rest = toml::parse(&stripped)?;
            let table = toml::at(&rest, &TYPING[..1]).and_then(|item| item.as_table_like());
            if path == TYPING && table.is_some_and(toml_edit::TableLike::is_empty) {
                stripped = toml::remove(&stripped, &TYPING[..1])?;
            }
        }
        Ok(stripped)
    }

    pub(crate) fn insert(&self, draft: &mut Draft) -> Result<(), Problem> {
        if let Some((program, entry)) = &self.server {
            let arguments = Array::from_iter(entry.words());
            let mut lines = vec![
                ("command", program.into()),
                ("args", arguments.into()),
                ("tool_timeout_sec", LONGEST_CALL.into()),
            ];
            if !entry.variables.is_empty() {
                lines.push(("env", InlineTable::from_iter(entry.variables.clone()).into()));
            }
            toml::append(draft, SERVER, &lines)?;
            if toml::at(&toml::parse(draft.text())?, TYPING).is_none() {
                toml::set(draft, TYPING[0], TYPING[1], &false.into())?;
            }
        }
        for (key, digest) in &self.approvals {
            toml::append(draft, &["hooks", "state", key], &[("trusted_hash", digest.into())])?;
        }
        Ok(())
    }
}

const SERVER: &[&str; 2] = &["mcp_servers", "abide"];

/// Whether a model may type into a command that runs. Codex asks nobody about what is typed, so that a shell which was opened
/// before a run, or in an earlier step, would take any command.
const TYPING: &[&str; 2] = &["features", "unified_exec_tty"];

fn is_typing_off(document: &DocumentMut) -> bool {
    toml::at(document, TYPING).and_then(toml_edit::Item::as_bool) == Some(false)
}

fn is_kept(document: &DocumentMut) -> bool {
    toml::at(document, TYPING).is_some() && !is_typing_off(document)
}

/// Returns the entry of abide's that is in the configuration now; a file that cannot be parsed is somebody else's to report.
pub(crate) fn entry(target: &Target<'_>) -> Result<Option<Entry>, Error> {
    let path = target.places.codex(target.scope)?.join("config.toml");
    let document = crate::file::read(&path)?.and_then(|text| toml::parse(&text).ok());
    Ok(document.and_then(|document| toml::at(&document, SERVER).and_then(started)))
}

fn started(found: &toml_edit::Item) -> Option<Entry> {
    found.get("command")?.as_str().filter(|program| !program.is_empty())?;
    let words: Option<Vec<&str>> =
        found.get("args")?.as_array()?.iter().map(toml_edit::Value::as_str).collect();
    let variables = found.get("env").and_then(|item| item.as_table_like());
    let variables = variables.into_iter().flat_map(|table| table.iter());
    Some(Entry::read(words?)?.with(variables.filter_map(|(name, value)| Some((name, value.as_str()?)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_has_the_digest_that_codex_gives_it() {
        // As `codex app-server` of version 0.166.0 answers `hooks/list`.
        for (label, command, expected) in [
            (
                "session_start",
                "abide hook codex",
                "2d37c4408d771b61ce1476df488e6ef86a56a5acf25bc0ce387aba8c380a2711",
            ),
            (
                "pre_tool_use",
                "'/a b/abide' hook codex || { rc=$?; exit 2; }",
                "56f0d09be21a0eb825562ea64f34b4709a7c0b549421318f76b7d205cafa4ec7",
            ),
        ] {
            let handler = json!({ "type": "command", "command": command, "timeout": 10 });
            assert_eq!(approval(label, &handler), format!("sha256:{expected}"), "{label}");
        }
    }

    #[test]
    fn the_program_of_a_command_line_is_found_again() {
        for path in ["/usr/bin/abide", "/home/o'neil/my bin/abide"] {
            for (event, handler) in handlers(path) {
                let handler = to_json(&handler);
                let found = program_of(handler["command"].as_str().unwrap());
                assert_eq!(found.as_deref(), Some(path), "{event}");
                assert!(crate::hooks::is_called(&found.unwrap(), "x"));
            }
        }
        assert_eq!(program_of("abide hook codex"), None);
    }
}

//! `capabilities` and `web` of the configuration.

use crate::bundle;
use crate::read::{Fields, Reader};
use crate::shape;
use crate::yaml::{Content, Node};
use abide_core::capability::{CapabilityId, Risk, Tier};
use abide_core::definition::{Given, Reached, SecretName, ServerSettings, WebSettings};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::Spanned;

pub(super) fn servers(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
) -> Vec<(Spanned<CapabilityId>, ServerSettings)> {
    let mut found = Vec::new();
    for (key, value) in reader.entries(node, "a mapping from ids of capabilities to servers") {
        let id = bundle::id(reader, key);
        let server = server(reader, value);
        found.extend(id.zip(server));
    }
    found
}

fn server(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<ServerSettings> {
    let mut fields = reader.fields(node, &shape::SERVER, |_| None)?;
    let reached = reached(reader, &mut fields);
    let settings = ServerSettings {
        reached: reached?,
        name: fields.take(reader, "name").and_then(|node| reader.full_text(node)),
        description: fields.take(reader, "description").and_then(|node| reader.full_text(node)),
        system_prompt: fields.take(reader, "system_prompt").and_then(|node| reader.text(node)),
        tools: fields.take(reader, "tools").map(|node| reader.one_or_many(node, Reader::full_text)),
        risk: fields.take(reader, "risk").and_then(|node| reader.choice(node, Risk::WORDS, Risk::parse)),
        tier: fields.take(reader, "tier").and_then(|node| reader.choice(node, Tier::WORDS, Tier::parse)),
        connect_timeout: fields.take(reader, "connect_timeout").and_then(|node| reader.duration(node)),
        timeout: fields.take(reader, "timeout").and_then(|node| reader.duration(node)),
        of_project: false,
    };
    fields.finish();
    Some(settings)
}

fn reached(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<Reached> {
    let command = fields.take_with_key(reader, "command");
    let words = command.map(|(_, node)| reader.list(node, "a list of words", Reader::text));
    let env = fields.take_with_key(reader, "env");
    let url = fields.take_with_key(reader, "url");
    let address = url.and_then(|(_, node)| address(reader, node));
    let headers = fields.take_with_key(reader, "headers");
    let mut useless = |at, key: &str, with: &str| {
        reader.report(
            Diagnostic::new(Code::MisplacedKey, at, format!("`{key}` does not belong here"))
                .help(format!("`{key}` is for a server with `{with}`")),
        );
    };
    match (command, url) {
        (Some(_), None) => {
            if let Some((at, _)) = headers {
                useless(at, "headers", "url");
            }
            let env = env.map(|(_, node)| given(reader, node, variable_name)).unwrap_or_default();
            let words = words.filter(|words| words.first().is_some_and(|first| !first.is_empty()))?;
            Some(Reached::Command { words, env })
        }
        (None, Some(_)) => {
            if let Some((at, _)) = env {
                useless(at, "env", "command");
            }
            let headers = headers.map(|(_, node)| given(reader, node, header_name)).unwrap_or_default();
            Some(Reached::Url { url: address?, headers })
        }
        (Some((at, _)), Some(_)) => {
            reader.report(
                Diagnostic::new(Code::MisplacedKey, at, "a server has either `command` or `url`, not both")
                    .help("`command` starts it here, `url` is where it runs"),
            );
            None
        }
        (None, None) => {
            reader.report(
                Diagnostic::new(Code::MissingKey, fields.head, "a server needs `command` or `url`")
                    .label("nothing here says how it is reached")
                    .help("`command: [npx, -y, some-server]` starts it here, `url:` is where it runs"),
            );
            None
        }
    }
}

pub(super) fn address(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    let url = reader.full_text(node)?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        reader.report(
            Diagnostic::new(Code::BadChoice, url.span, format!("`{}` is no address", excerpt(&url)))
                .help("it begins with `http://` or `https://`"),
        );
        return None;
    }
    Some(url)
}

fn variable_name(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    reader.variable_name(node)
}

fn header_name(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    let name = reader.full_text(node)?;
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        reader.report(
            Diagnostic::new(Code::BadName, name.span, format!("`{}` is no name of a header", excerpt(&name)))
                .help("use letters, digits and `-`"),
        );
        return None;
    }
    Some(name)
}

fn given(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
    name: impl Fn(&mut Reader<'_>, &Node<'_>) -> Option<Spanned<String>>,
) -> Vec<(Spanned<String>, Spanned<Given>)> {
    let mut found = Vec::new();
    for (key, value) in reader.entries(node, "a mapping from names to values") {
        let name = name(reader, key);
        let value = match &value.content {
            Content::Mapping(_) => reader.fields(value, &shape::SECRET, |_| None).and_then(|mut fields| {
                let secret =
                    fields.take(reader, "secret").and_then(|node| reader.name(node, SecretName::parse));
                fields.finish();
                secret.map(|secret| Spanned::new(Given::Secret(secret.value.to_string()), secret.span))
            }),
            _ => reader.text(value).map(|text| Spanned::new(Given::Text(text.value), text.span)),
        };
        found.extend(name.zip(value));
    }
    found
}

pub(super) fn web(reader: &mut Reader<'_>, node: &Node<'_>) -> WebSettings {
    let Some(mut fields) = reader.fields(node, &shape::WEB, |_| None) else {
        return WebSettings::default();
    };
    let settings = WebSettings {
        allow_hosts: fields
            .take(reader, "allow_hosts")
            .map(|node| reader.one_or_many(node, Reader::full_text))
            .unwrap_or_default(),
        proxy: fields.take(reader, "proxy").and_then(|node| address(reader, node)),
        search_url: fields.take(reader, "search_url").and_then(|node| {
            let url = address(reader, node)?;
            if url.matches("{query}").count() != 1 {
                reader.report(
                    Diagnostic::new(Code::BadChoice, url.span, "`search_url` has no place for the query")
                        .help("write `{query}` once, where the words are to go: `https://search.example/?q={query}`"),
                );
                return None;
            }
            Some(url)
        }),
        search_tool: fields.take(reader, "search_tool").and_then(|node| {
            let tool = reader.full_text(node)?;
            if tool.split_once("__").is_none_or(|(id, tool)| id.is_empty() || tool.is_empty()) {
                reader.report(
                    Diagnostic::new(Code::BadChoice, tool.span, "`search_tool` names no tool of a server")
                        .help("write the id of the server and the tool: `brave__web_search`"),
                );
                return None;
            }
            Some(tool)
        }),
    };
    fields.finish();
    settings
}

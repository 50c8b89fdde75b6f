//! `webhooks` of the configuration.

use super::server::address;
use super::source;
use crate::read::Reader;
use crate::shape;
use crate::yaml::{Content, Node};
use abide_core::definition::{WebhookEvent, WebhookName, WebhookSettings};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Spanned;

/// Reads all webhooks.
pub(super) fn webhooks(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
) -> Vec<(Spanned<WebhookName>, WebhookSettings)> {
    let mut found = Vec::new();
    for (key, value) in reader.entries(node, "a mapping from names of webhooks to settings") {
        let name = reader.name(key, WebhookName::parse);
        let settings = webhook(reader, value);
        if found.len() == WebhookSettings::MOST {
            let message = format!("there are more than {} webhooks", WebhookSettings::MOST);
            reader.report(Diagnostic::new(Code::OutOfRange, key.span, message));
            break;
        }
        found.extend(name.zip(settings));
    }
    found
}

fn webhook(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<WebhookSettings> {
    let mut fields = reader.fields(node, &shape::WEBHOOK, |_| None)?;
    // Keys that are missing have been reported by now.
    let url = fields.take(reader, "url").and_then(|node| address(reader, node));
    let secret = fields.take_with_key(reader, "secret");
    let secret = secret.and_then(|(at, node)| source(reader, "the secret", at, node));
    let events = fields.take(reader, "events");
    let events =
        list(reader, events, |reader, node| reader.choice(node, WebhookEvent::WORDS, WebhookEvent::parse));
    let abilities = fields.take(reader, "abilities");
    let abilities = list(reader, abilities, Reader::full_text);
    let private_network = fields.take(reader, "private_network").and_then(|node| reader.boolean(node));
    fields.finish();
    Some(WebhookSettings { url: url?, secret: secret?, events, abilities, private_network })
}

/// Reads a list that says something: with an empty one nothing would ever be sent.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    node: Option<&Node<'_>>,
    item: impl FnMut(&mut Reader<'a>, &Node<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let node = node?;
    if matches!(&node.content, Content::Sequence(items) if items.is_empty()) {
        let help = "leave the key out to be told everything";
        reader.report(Diagnostic::new(Code::Empty, node.span, "the list is empty").help(help));
        return None;
    }
    Some(reader.one_or_many(node, item))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use abide_core::definition::{SecretSource, WebhookEvent, WebhookSettings};

    #[test]
    fn a_webhook_is_read_whole_and_every_mistake_is_told() {
        let reading = read(
            "webhooks:\n  pager:\n    url: https://hooks.example/abide\n    secret: { file: /run/secrets/pager }\n    events: [approval.requested]\n    abilities: deploy/*\n    private_network: true\n  all: { url: 'http://127.0.0.1:9/x', secret: { env: S } }\n",
        );
        assert_eq!(reading.problems, []);
        let [(name, pager), (_, all)] = &reading.config.webhooks[..] else { panic!("two webhooks") };
        assert_eq!((name.as_str(), pager.url.value.as_str()), ("pager", "https://hooks.example/abide"));
        assert_eq!(pager.secret.value, SecretSource::File("/run/secrets/pager".to_owned()));
        assert!(pager.private_network.as_ref().unwrap().value);
        assert!(pager.wants(WebhookEvent::ApprovalRequested, Some("deploy/eu")));
        assert!(!pager.wants(WebhookEvent::RunFinished, Some("deploy/eu")));
        assert!(all.wants(WebhookEvent::RunFinished, None));
        let url = "url: 'https://x', secret: { env: S }";
        for (source, message) in [
            ("webhooks: { a: { url: 'https://x' } }".to_owned(), "secret"),
            ("webhooks: { a: { secret: { env: S } } }".to_owned(), "url"),
            ("webhooks: { a: { url: 'ftp://x', secret: { env: S } } }".to_owned(), "no address"),
            ("webhooks: { a: { url: 'https://x', secret: {} } }".to_owned(), "the secret has no source"),
            ("webhooks: { a: { url: 'https://x', secret: whsec_x } }".to_owned(), "secret"),
            (format!("webhooks: {{ a: {{ {url}, events: [run.started] }} }}"), "run.started"),
            (format!("webhooks: {{ a: {{ {url}, events: [] }} }}"), "empty"),
            (format!("webhooks: {{ a: {{ {url}, event: x }} }}"), "`event`"),
            (format!("webhooks: {{ 'a b': {{ {url} }} }}"), "webhook name"),
        ] {
            let problems = read(&source).problems;
            assert_eq!(problems.len(), 1, "{source}: {problems:?}");
            assert!(format!("{:?}", problems[0]).contains(message), "{source}: {problems:?}");
        }
        let many: Vec<String> =
            (0..=WebhookSettings::MOST).map(|number| format!("  w{number}: {{ {url} }}")).collect();
        let reading = read(&format!("webhooks:\n{}\n", many.join("\n")));
        assert_eq!((reading.problems.len(), reading.config.webhooks.len()), (1, WebhookSettings::MOST));
    }
}

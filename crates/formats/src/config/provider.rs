//! Who serves models, in `config.yaml`.

use super::source;
use crate::read::Reader;
use crate::shape;
use crate::yaml::Node;
use abide_core::definition::{ModelSettings, ProviderName, ProviderSettings, WireFormat};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::model::{BadModelName, ModelName, Price, is_model};
use abide_core::source::Spanned;

/// Reads the name of a model with its provider.
pub(super) fn model_name(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<ModelName>> {
    let Some(text) = node.text().filter(|_| !node.is_null()) else {
        reader.wrong_type(node, "a model such as `anthropic/claude-sonnet-4`");
        return None;
    };
    match ModelName::parse(text) {
        Ok(name) => Some(Spanned::new(name, node.span)),
        Err(bad) => {
            reader
                .report(Diagnostic::new(Code::BadName, node.span, bad.to_string()).help(BadModelName::HELP));
            None
        }
    }
}

/// Reads all providers.
pub(super) fn providers(
    reader: &mut Reader<'_>,
    node: &Node<'_>,
) -> Vec<(Spanned<ProviderName>, ProviderSettings)> {
    reader
        .entries(node, "a mapping from provider names to settings")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.name(key, ProviderName::parse)?;
            Some((name, provider(reader, value)?))
        })
        .collect()
}

fn provider(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<ProviderSettings> {
    let mut fields = reader.fields(node, &shape::PROVIDER, |_| None)?;
    let format = fields
        .take(reader, "format")
        .and_then(|node| reader.choice(node, WireFormat::WORDS, WireFormat::parse));
    let url = fields.take(reader, "url").and_then(|node| reader.full_text(node));
    let key = fields.take_with_key(reader, "key");
    let key = key.and_then(|(at, node)| source(reader, "the key", at, node));
    let mut time = |name| fields.take(reader, name).and_then(|node| reader.duration(node));
    let settings = ProviderSettings {
        format,
        url,
        key,
        connect_timeout: time("connect_timeout"),
        begin_timeout: time("begin_timeout"),
        idle_timeout: time("idle_timeout"),
        answer_timeout: time("answer_timeout"),
        models: fields.take(reader, "models").map(|node| models(reader, node)).unwrap_or_default(),
    };
    fields.finish();
    Some(settings)
}

fn models(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<(Spanned<String>, ModelSettings)> {
    reader
        .entries(node, "a mapping from models to what is known about them")
        .iter()
        .filter_map(|(key, value)| {
            let name = key.text().unwrap_or_default();
            if !is_model(name) {
                let message = format!("`{}` is not the name of a model", excerpt(name));
                reader.report(
                    Diagnostic::new(Code::BadName, key.span, message)
                        .help("write it as the provider does, without the provider's name in front"),
                );
                return None;
            }
            let settings = if value.is_null() { ModelSettings::default() } else { model(reader, value)? };
            Some((Spanned::new(name.to_owned(), key.span), settings))
        })
        .collect()
}

fn model(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<ModelSettings> {
    let mut fields = reader.fields(node, &shape::MODEL_SETTINGS, |_| None)?;
    let settings = ModelSettings {
        context_tokens: fields
            .take(reader, "context_tokens")
            .and_then(|node| reader.count(node, 1_000, 100_000_000)),
        output_tokens: fields
            .take(reader, "output_tokens")
            .and_then(|node| reader.count(node, 1, 10_000_000)),
        price: fields.take(reader, "price").and_then(|node| price(reader, node)),
    };
    fields.finish();
    Some(settings)
}

fn price(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Price> {
    let mut fields = reader.fields(node, &shape::PRICE, |_| None)?;
    let mut amount = |name| {
        let amount = fields.take(reader, name).and_then(|node| reader.amount(node, Price::HIGHEST));
        amount.and_then(|amount| Price::per_token(amount.value))
    };
    let (input, output) = (amount("input"), amount("output"));
    let (cache_read, cache_write) = (amount("cache_read"), amount("cache_write"));
    fields.finish();
    let input = input?;
    Some(Price {
        input,
        output: output?,
        cache_read: cache_read.unwrap_or(input),
        cache_write: cache_write.unwrap_or(input),
    })
}

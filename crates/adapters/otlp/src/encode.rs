//! Spans → the JSON encoding of OTLP: ids in hexadecimal, 64-bit numbers as text, enums as numbers.

use abide_engine::trace::{Attribute, Attributes, Span, SpanEvent, SpanKind};
use serde_json::{Value, json};

/// Returns the body of a request.
pub(crate) fn request(resource: &[(String, String)], spans: &[Span]) -> String {
    let resource: Vec<Value> =
        resource.iter().map(|(name, value)| attribute(name, &Attribute::Text(value.clone()))).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "abide", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    })
    .to_string()
}

fn span(span: &Span) -> Value {
    let mut all = attributes(&span.attributes);
    let mut status = json!({});
    if let Some(error) = &span.error {
        all.push(attribute("error.type", &Attribute::Text(error.clone())));
        status = json!({ "code": 2, "message": error });
    }
    let mut encoded = json!({
        "traceId": span.place.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": span.name,
        "kind": match span.kind {
            SpanKind::Internal => 1,
            SpanKind::Client => 3,
        },
        "startTimeUnixNano": nanoseconds(span.from.0),
        "endTimeUnixNano": nanoseconds(span.until.0),
        "attributes": all,
        "events": span.events.iter().map(event).collect::<Vec<_>>(),
        "status": status,
        // It was sampled.
        "flags": 1,
    });
    if let Some(parent) = span.place.parent {
        encoded["parentSpanId"] = Value::from(parent.to_string());
    }
    encoded
}

fn event(event: &SpanEvent) -> Value {
    json!({
        "timeUnixNano": nanoseconds(event.at.0),
        "name": event.name,
        "attributes": attributes(&event.attributes),
    })
}

fn attributes(all: &Attributes) -> Vec<Value> {
    all.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(name: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Count(count) => {
            json!({ "intValue": i64::try_from(*count).unwrap_or(i64::MAX).to_string() })
        }
        Attribute::Flag(flag) => json!({ "boolValue": flag }),
        Attribute::Texts(texts) => {
            let texts: Vec<Value> = texts.iter().map(|text| json!({ "stringValue": text })).collect();
            json!({ "arrayValue": { "values": texts } })
        }
    };
    json!({ "key": name, "value": value })
}

fn nanoseconds(milliseconds: i64) -> String {
    (i128::from(milliseconds.max(0)) * 1_000_000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::event::Timestamp;
    use abide_engine::trace::{Place, SpanId};

    #[test]
    fn a_span_is_told_as_the_protocol_says() {
        let id = SpanId::at("run", 2);
        let place = Place::of("0193a5f0-1111-7222-8333-444455556666", None).under(SpanId::at("run", 1));
        let told = Span {
            place,
            id,
            name: "chat m".to_owned(),
            kind: SpanKind::Client,
            from: Timestamp(1_700_000_000_000),
            until: Timestamp(1_700_000_000_250),
            attributes: vec![
                ("a", Attribute::Count(7)),
                ("b", Attribute::Texts(vec!["stop".to_owned()])),
                ("c", Attribute::Flag(true)),
            ],
            events: vec![SpanEvent { at: Timestamp(1_700_000_000_100), name: "e", attributes: Vec::new() }],
            error: Some("exit_code".to_owned()),
        };
        let body: Value =
            serde_json::from_str(&request(&[("service.name".to_owned(), "abide".to_owned())], &[told]))
                .unwrap();
        let resource = &body["resourceSpans"][0];
        assert_eq!(
            resource["resource"]["attributes"],
            json!([{ "key": "service.name", "value": { "stringValue": "abide" } }])
        );
        assert_eq!(
            resource["scopeSpans"][0]["spans"],
            json!([{
                "traceId": "0193a5f0111172228333444455556666",
                "spanId": id.to_string(),
                "parentSpanId": SpanId::at("run", 1).to_string(),
                "name": "chat m",
                "kind": 3,
                "startTimeUnixNano": "1700000000000000000",
                "endTimeUnixNano": "1700000000250000000",
                "attributes": [
                    { "key": "a", "value": { "intValue": "7" } },
                    { "key": "b", "value": { "arrayValue": { "values": [{ "stringValue": "stop" }] } } },
                    { "key": "c", "value": { "boolValue": true } },
                    { "key": "error.type", "value": { "stringValue": "exit_code" } },
                ],
                "events": [{ "timeUnixNano": "1700000000100000000", "name": "e", "attributes": [] }],
                "status": { "code": 2, "message": "exit_code" },
                "flags": 1,
            }])
        );
    }
}

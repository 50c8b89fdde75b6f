//! What is sent to a collector that listens on loopback: once each, again when it asks for that, and never at the cost of others.

use abide_core::event::Timestamp;
use abide_engine::trace::{Fate, Place, Span, SpanId, SpanKind, Tally};
use abide_otlp::{Exporter, Settings};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// What a collector answers.
#[derive(Clone, Copy)]
enum Says {
    /// This, once for each time that it stands here; the last one for ever.
    Answer(&'static str),
    /// Nothing.
    Nothing,
}

const TAKEN: Says = Says::Answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");

struct Collector {
    url: String,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    async fn start(says: Vec<Says>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bodies = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&bodies);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (heard, says) = (Arc::clone(&heard), says.clone());
                tokio::spawn(async move {
                    loop {
                        let mut bytes = Vec::new();
                        let sent = loop {
                            let mut more = vec![0; 65_536];
                            let Ok(read @ 1..) = stream.read(&mut more).await else { return };
                            bytes.extend_from_slice(&more[..read]);
                            let text = String::from_utf8_lossy(&bytes).into_owned();
                            let Some((top, body)) = text.split_once("\r\n\r\n") else { continue };
                            let length = top.lines().find_map(|line| {
                                let (name, value) = line.split_once(':')?;
                                name.eq_ignore_ascii_case("content-length")
                                    .then(|| value.trim().parse().unwrap())
                            });
                            assert!(top.starts_with("POST /v1/traces "), "{top}");
                            assert!(top.to_lowercase().contains("x-key: secret"), "{top}");
                            if body.len() >= length.unwrap_or(0) {
                                break body.to_owned();
                            }
                        };
                        let number = {
                            let mut heard = heard.lock().unwrap();
                            heard.push(sent);
                            heard.len() - 1
                        };
                        match says[number.min(says.len() - 1)] {
                            Says::Answer(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                            Says::Nothing => std::future::pending::<()>().await,
                        }
                    }
                });
            }
        });
        Self { url, bodies }
    }

    fn count(&self) -> usize {
        self.bodies.lock().unwrap().len()
    }
}

fn exporter(url: &str, more: &[(&str, &str)]) -> Exporter {
    let settings = Settings::of(|name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(url.to_owned()),
        "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-key=secret".to_owned()),
        "OTEL_BSP_SCHEDULE_DELAY" => Some("20".to_owned()),
        _ => more.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
    });
    Exporter::start(settings.unwrap().unwrap(), Arc::new(Tally::default())).unwrap()
}

fn spans(count: u64) -> Vec<Span> {
    (1..=count)
        .map(|number| Span {
            place: Place::of("0193a5f0-1111-7222-8333-444455556666", None),
            id: SpanId::at("run", number),
            name: format!("span {number}"),
            kind: SpanKind::Internal,
            from: Timestamp(1),
            until: Timestamp(2),
            attributes: Vec::new(),
            events: Vec::new(),
            error: None,
        })
        .collect()
}

/// Returns how many spans were exported, rejected and dropped.
fn fates(exporter: &Exporter) -> [u64; 3] {
    Fate::ALL.map(|fate| exporter.tally().count(fate))
}

async fn until(exporter: &Exporter, wanted: [u64; 3]) {
    for _ in 0..1_000 {
        if fates(exporter) == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never {wanted:?}: {:?}, {:?}", fates(exporter), exporter.trouble());
}

#[tokio::test]
async fn spans_are_sent_in_batches_and_the_rest_after_a_while_or_at_the_end() {
    let collector = Collector::start(vec![TAKEN]).await;
    let exporter = exporter(&collector.url, &[("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")]);
    exporter.give(spans(10));
    until(&exporter, [10, 0, 0]).await;
    assert_eq!(collector.count(), 3);
    exporter.give(spans(1));
    exporter.end(Duration::from_secs(5)).await;
    assert_eq!((fates(&exporter), exporter.trouble()), ([11, 0, 0], None));
    let bodies = collector.bodies.lock().unwrap().concat();
    assert_eq!(bodies.matches("\"spanId\"").count(), 11, "{bodies}");
}

#[tokio::test]
async fn a_collector_that_is_busy_is_asked_again_when_it_says_and_what_it_does_not_want_is_not() {
    let busy = Says::Answer("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
    let partly = Says::Answer(
        "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n{\"partialSuccess\":{\"rejectedSpans\":\"2\"}}   ",
    );
    let never = Says::Answer("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n");
    let collector = Collector::start(vec![busy, partly, never]).await;
    let exporter = exporter(&collector.url, &[]);
    let began = Instant::now();
    exporter.give(spans(5));
    until(&exporter, [3, 2, 0]).await;
    assert!(
        began.elapsed() >= Duration::from_secs(1),
        "it waited as long as it was told: {:?}",
        began.elapsed()
    );
    exporter.give(spans(5));
    until(&exporter, [3, 7, 0]).await;
    assert_eq!(collector.count(), 3, "a no is not asked again");
    assert!(exporter.trouble().unwrap().contains("400"), "{:?}", exporter.trouble());
    exporter.end(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_collector_that_says_nothing_costs_a_bounded_queue_and_a_bounded_end() {
    let collector = Collector::start(vec![Says::Nothing]).await;
    let exporter = exporter(&collector.url, &[("OTEL_BSP_MAX_QUEUE_SIZE", "8")]);
    let began = Instant::now();
    for _ in 0..100 {
        exporter.give(spans(100));
    }
    assert!(began.elapsed() < Duration::from_secs(2), "whoever gives does not wait: {:?}", began.elapsed());
    exporter.end(Duration::from_millis(300)).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(fates(&exporter), [0, 0, 10_000], "every one is counted");
}

#[tokio::test]
async fn at_the_end_nobody_waits_for_a_collector_that_is_not_there() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let exporter = exporter(&format!("http://{gone}"), &[("OTEL_BSP_SCHEDULE_DELAY", "60000")]);
    exporter.give(spans(3));
    let began = Instant::now();
    exporter.end(Duration::from_mins(1)).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(fates(&exporter), [0, 0, 3]);
    assert!(exporter.trouble().is_some());
}

#[tokio::test]
async fn traces_that_are_not_sampled_are_not_sent() {
    let collector = Collector::start(vec![TAKEN]).await;
    let exporter = exporter(&collector.url, &[("OTEL_TRACES_SAMPLER", "always_off")]);
    exporter.give(spans(3));
    exporter.end(Duration::from_secs(5)).await;
    assert_eq!((fates(&exporter), collector.count()), ([0, 0, 0], 0));
}

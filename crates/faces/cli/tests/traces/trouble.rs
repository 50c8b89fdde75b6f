//! A collector that is down, deaf, or not one at all: it costs runs nothing.

use crate::collector::Collector;
use crate::server::Server;
use crate::support::{Project, finish};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Longer than anything here may take, on a busy machine, and shorter than a collector that is waited for.
const LONGEST: Duration = Duration::from_secs(20);

pub(crate) fn metrics(server: &Server, key: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let address = &server.address;
    write!(
        stream,
        "GET /v1/metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn project() -> Project {
    let project = Project::new();
    project.write(".abide/abilities/quick.yaml", "description: d\nsteps:\n  - { id: one, run: 'true' }\n");
    project
}

#[test]
fn a_run_at_the_terminal_ends_as_it_would_whatever_is_wrong_with_the_collector() {
    let project = project();
    let deaf = Collector::deaf();
    let gone = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", deaf.url.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &gone),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "no address"),
    ] {
        let began = Instant::now();
        let ran = finish(project.command(&["run", "quick"]).env(name, value));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("traces are not sent: "), "{ran:?}");
        assert!(began.elapsed() < LONGEST, "{value}: {:?}", began.elapsed());
    }
    let ran = finish(&mut project.command(&["run", "quick"]));
    assert!(!ran.err.contains("traces"), "without a collector nothing is said: {ran:?}");
}

#[test]
fn a_server_with_a_deaf_collector_works_and_ends_and_counts_what_it_could_not_tell() {
    let (project, deaf) = (project(), Collector::deaf());
    let key = project.abide(&["key", "create", "ada", "--scope", "admin"]).out.trim().to_owned();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", deaf.url.as_str()),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "4"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2"),
    ];
    let server = Server::start_with(&project, &["--rate", "0"], &variables);
    for _ in 0..10 {
        let (status, run) = server.ask("POST", "/v1/runs", Some(&key), r#"{"ability": "quick"}"#);
        assert_eq!(status, 201, "{run}");
        server.until(run["run"].as_str().unwrap(), "completed");
    }
    // Two of twenty are on their way, four wait, and there is no room for the others.
    let end = Instant::now() + LONGEST;
    while !metrics(&server, &key).contains("abide_trace_spans_total{fate=\"dropped\"} 14\n") {
        assert!(Instant::now() < end, "{}", metrics(&server, &key));
        std::thread::sleep(Duration::from_millis(50));
    }
    let began = Instant::now();
    assert_eq!(server.end(), Some(0));
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
}

#[test]
fn a_server_says_what_is_wrong_with_the_variables_and_starts() {
    let project = project();
    let mut command = project.command(&["serve", "--bind", "127.0.0.1:0", "--check"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let checked = finish(&mut command);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.err.contains("traces are not sent: OTEL_EXPORTER_OTLP_PROTOCOL must be"), "{checked:?}");
}

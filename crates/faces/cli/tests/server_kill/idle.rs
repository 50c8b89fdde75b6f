//! A thousand who listen to a server in which nothing happens, and then something does.

use crate::server::Server;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How many listen, and how many of them come at once.
const LISTENERS: usize = 1_000;
const AT_ONCE: usize = 50;
/// For how long nothing happens: a server looks for what others have left, and streams say that they are there, in this time.
const IDLE: Duration = Duration::from_secs(16);
/// How much of one processor they may take together, beside what the server takes without them. Each is told once that the stream
/// is still there.
const MOST: f64 = 0.05;

/// Lets this process, and what it starts, hold a connection for each.
fn make_room() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}

/// Returns how much processor time a process has taken.
fn taken(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let words: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = words[11].parse::<u64>().unwrap() + words[12].parse::<u64>().unwrap();
    // Linux tells programs hundredths of a second, however fine it counts itself.
    Duration::from_millis(ticks * 10)
}

/// Checks that nobody who listens costs anything until there is something to hear, and that all of them hear it. `asked` counts what
/// the database was asked so far.
pub(crate) fn a_thousand_cost_nothing(
    start: impl FnOnce() -> Server,
    key: &str,
    settles: Duration,
    asked: impl Fn() -> u64,
) {
    make_room();
    let server = start();
    let sessions = crate::talk::sessions(|path, body| server.ask("POST", path, Some(key), &body.to_string()));
    let session = &sessions[0];
    let idle = || {
        let (before, begun) = (taken(server.child.id()), asked());
        std::thread::sleep(IDLE);
        let took = taken(server.child.id()).saturating_sub(before);
        (took.as_secs_f64() / IDLE.as_secs_f64(), asked() - begun)
    };
    let (alone, asked_alone) = idle();
    let mut streams: Vec<TcpStream> = Vec::new();
    while streams.len() < LISTENERS {
        // As they come to a server: not all of them in the same moment.
        let mut some: Vec<TcpStream> = (0..AT_ONCE).map(|_| listen(&server, key, session)).collect();
        for stream in &mut some {
            until(stream, "200 OK");
        }
        streams.append(&mut some);
    }
    // Databases count late what they were asked.
    std::thread::sleep(settles);
    let (listened, asked_listened) = idle();
    assert!(
        listened - alone < MOST,
        "{LISTENERS} who listen take {listened:.3} of a processor, and nobody takes {alone:.3}"
    );
    // Leases and looks come when they come; a thousand questions would be seen.
    assert!(
        asked_listened < asked_alone * 2 + 50,
        "the database was asked {asked_listened} and {asked_alone} times"
    );
    let said = Instant::now();
    let (status, message) = server.ask(
        "POST",
        &format!("/v1/sessions/{session}/messages"),
        Some(key),
        r#"{"text": "say hello"}"#,
    );
    assert_eq!(status, 202, "{message}");
    for stream in &mut streams {
        until(stream, "turn.ended");
    }
    assert!(
        said.elapsed() < Duration::from_secs(30),
        "all of them hear of it, and soon: {:?}",
        said.elapsed()
    );
    drop(streams);
    assert_eq!(server.end(), Some(0));
}

fn listen(server: &Server, key: &str, session: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let address = &server.address;
    write!(
        stream,
        "GET /v1/sessions/{session}/events/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\r\n"
    )
    .unwrap();
    stream
}

fn until(stream: &mut TcpStream, wanted: &str) {
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let read = stream.read(&mut bytes).unwrap_or_else(|error| panic!("never {wanted}: {error}: {text}"));
        assert!(read > 0, "it ended before {wanted}: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
}

//! What the server does with bytes that no good client would send, and with old and new versions of the protocol.

mod desk;

use desk::Scripted;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// A client that sends what it likes.
struct Wire {
    stream: UnixStream,
    heard: BufReader<UnixStream>,
    server: std::thread::JoinHandle<()>,
}

impl Wire {
    fn open(desk: Arc<Scripted>) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let input = ours.try_clone().unwrap();
            runtime.block_on(abide_mcp::serve(desk, input, ours, std::future::pending())).unwrap();
        });
        Self { heard: BufReader::new(theirs.try_clone().unwrap()), stream: theirs, server }
    }

    fn begun(desk: Arc<Scripted>) -> Self {
        let mut wire = Self::open(desk);
        wire.send(&initialize("2025-06-18"));
        assert_eq!(wire.hear()["result"]["protocolVersion"], "2025-06-18");
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        wire
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.heard.read_line(&mut line).unwrap() > 0, "the server has gone");
        serde_json::from_str(&line).unwrap()
    }

    /// Asks, and expects to be answered: nothing that came before has done harm.
    fn is_well(&mut self) {
        self.send(&json!({ "jsonrpc": "2.0", "id": "well?", "method": "ping" }));
        assert_eq!(self.hear(), json!({ "jsonrpc": "2.0", "id": "well?", "result": {} }));
    }

    /// Closes its end, and sees the server end.
    fn leave(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.server.join().unwrap();
    }
}

fn initialize(version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "wire", "version": "1" } },
    })
}

fn status(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "ability_status" } })
}

#[test]
fn every_version_of_the_protocol_is_spoken_and_an_unknown_one_is_answered_with_a_known() {
    for (asked, expected) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // It has no handshake; who begins with one nonetheless is offered the newest that has.
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let mut wire = Wire::open(Scripted::new());
        wire.send(&initialize(asked));
        let heard = wire.hear();
        assert_eq!(heard["result"]["protocolVersion"], expected, "{asked}: {heard}");
        assert_eq!(heard["result"]["serverInfo"]["name"], "abide");
        wire.send(&status(&json!(1)));
        assert_eq!(wire.hear()["result"]["content"][0]["text"], "running");
        wire.leave();
    }
}

#[test]
fn what_is_no_message_is_told_and_passed_over() {
    let mut wire = Wire::begun(Scripted::new());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (sent, code, id) in [
        ("{", -32700, Value::Null),
        ("not json", -32700, Value::Null),
        ("\u{0}\u{1}", -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        ("42", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
        (r#"{"id":"x","method":"ping"}"#, -32600, json!("x")),
        (r#"{"jsonrpc":"2.0","id":8}"#, -32600, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"no/such"}"#, -32601, json!(9)),
        (r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":3}}"#, -32602, json!(10)),
        (
            r#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"ability_list","arguments":"x"}}"#,
            -32602,
            json!(11),
        ),
        (r#"{"jsonrpc":"2.0","id":12,"method":"tools/call"}"#, -32602, json!(12)),
        (r#"{"jsonrpc":"2.0","id":13,"method":"resources/read","params":{}}"#, -32602, json!(13)),
    ] {
        wire.write(format!("{sent}\n").as_bytes());
        let heard = wire.hear();
        assert_eq!((&heard["error"]["code"], &heard["id"]), (&json!(code), &id), "{sent:.60}: {heard}");
    }
    // Not UTF-8.
    wire.write(b"\xff\xfe{\"a\":1}\n");
    assert_eq!(wire.hear()["error"]["code"], -32700);
    // Nothing to answer.
    wire.write(b"\n\r\n   \n");
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/made-up", "params": { "x": 1 } }));
    wire.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": { "never": "asked" } }));
    wire.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 12345 } }),
    );
    wire.is_well();
    // A byte order mark and the ends of lines of another system.
    wire.write(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\r\n");
    assert_eq!(wire.hear()["id"], 5);
    wire.leave();
}

#[test]
fn a_message_without_end_is_refused_and_the_next_one_is_read() {
    let mut wire = Wire::begun(Scripted::new());
    let piece = vec![b'x'; 1024 * 1024];
    wire.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for _ in 0..64 {
        wire.write(&piece);
    }
    wire.write(b"\"}\n");
    let heard = wire.hear();
    assert_eq!(heard["error"]["code"], -32600);
    assert!(heard["error"]["message"].as_str().unwrap().contains("4194304 bytes"), "{heard}");
    wire.is_well();
    // One that just fits is read.
    let id = "y".repeat(abide_mcp::LONGEST_MESSAGE - 100);
    wire.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": id } }));
    assert_eq!(wire.hear()["id"], 1);
    wire.leave();
}

#[test]
fn whoever_only_sends_rubbish_is_left() {
    let mut wire = Wire::begun(Scripted::new());
    for _ in 0..100 {
        wire.write(b"rubbish\n");
    }
    for _ in 0..100 {
        assert_eq!(wire.hear()["error"]["code"], -32700);
    }
    wire.server.join().unwrap();
}

#[test]
fn what_comes_before_the_handshake_does_not_end_the_server() {
    let mut wire = Wire::open(Scripted::new());
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    wire.send(&json!({ "jsonrpc": "2.0", "id": 3, "result": {} }));
    wire.write(b"rubbish\n");
    assert_eq!(wire.hear()["error"]["code"], -32700);
    wire.is_well();
    wire.send(&status(&json!(1)));
    assert!(wire.hear()["error"].is_object(), "nothing is done before the handshake");
    wire.send(&initialize("2025-11-25"));
    assert_eq!(wire.hear()["result"]["protocolVersion"], "2025-11-25");
    wire.leave();
}

#[test]
fn a_client_that_never_begins_or_is_cut_off_ends_the_server() {
    Wire::open(Scripted::new()).leave();
    let mut wire = Wire::begun(Scripted::new());
    wire.write(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"ability_cancel\"}}",
    );
    wire.leave();
}

#[test]
fn a_client_that_does_not_read_is_not_read_from_for_ever() {
    let desk = Scripted::new();
    let mut wire = Wire::begun(desk.clone());
    wire.stream.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
    // Each answer is larger than its question, so its pipe is full before ours is.
    let mut sent = 0;
    let stuck = (0..1_000_000).any(|number| {
        sent = number;
        wire.stream.write_all(format!("{}\n", status(&json!(number))).as_bytes()).is_err()
    });
    assert!(stuck, "a server that reads on keeps everything in memory");
    assert!(desk.heard().len() <= sent + 1);
    drop(wire.heard);
    drop(wire.stream);
    wire.server.join().unwrap();
}

#[test]
fn a_cancelled_call_is_not_answered_and_others_are() {
    let desk = Scripted::new();
    let mut wire = Wire::begun(desk.clone());
    wire.send(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "ability_run", "arguments": { "ability": "wait" } },
    }));
    while desk.heard().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    wire.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    wire.send(&status(&json!(2)));
    assert_eq!(wire.hear()["id"], 2);
    wire.is_well();
    wire.leave();
}

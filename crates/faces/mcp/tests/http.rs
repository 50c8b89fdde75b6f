//! What clients see of the server over HTTP: a real one, and ones that should not get in.

mod desk;
mod user;

use abide_mcp::Http;
use abide_mcp::http::{HttpError, Key, Options};
use desk::Scripted;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use user::{Client, LONG, User, answer, call, run, text, yes};

const KEY: &str = "0123456789abcdef";

struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Served {
    async fn start(desk: &Arc<Scripted>, options: Options) -> Self {
        // The client of these tests can speak TLS when other crates ask for it, and then wants to know by whose code.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Http::bind("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (address, desk) = (http.address(), desk.clone());
        let server = tokio::spawn(async move {
            http.serve(desk, async {
                let _ = stopped.await;
            })
            .await;
        });
        Self { address, stop, server }
    }

    async fn client(&self, user: User) -> Client {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address))
            .auth_header(KEY);
        let transport = StreamableHttpClientTransport::from_config(config);
        timeout(LONG, user.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize))
            .await
            .unwrap()
            .unwrap()
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        timeout(LONG, self.server).await.expect("the server must end").unwrap();
    }

    /// Sends a request as it is written and returns the answer's status and text, as far as it comes at once.
    async fn raw(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut came = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(Ok(count @ 1..)) = timeout(Duration::from_secs(3), stream.read(&mut piece)).await {
            came.extend_from_slice(&piece[..count]);
        }
        let came = String::from_utf8(came).unwrap();
        let status = came.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, came)
    }

    fn head(&self, more: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream{more}",
            self.address
        )
    }
}

fn initialize() -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "wire", "version": "1" } },
    })
    .to_string()
}

/// Returns the session that an answer to `initialize` begins.
fn session(heard: &str) -> String {
    let line = heard.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id: ")).unwrap();
    line[16..].trim().to_owned()
}

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ability_list" } })
        .to_string()
}

#[tokio::test]
async fn a_client_over_http_is_served_as_one_over_pipes() {
    let desk = Scripted::new();
    let served = Served::start(&desk, Options::default()).await;
    let user = User { answer: Some(yes()), ..User::default() };
    let client = served.client(user.clone()).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 7);
    assert_eq!(text(&answer(&client, call("ability_list", &json!({}))).await), "deploy: puts it out");
    assert_eq!(text(&answer(&client, run("approve")).await), "chosen approve Some(\"go\")");
    assert_eq!(text(&answer(&client, run("steps")).await), "3 steps");
    user.heard_progress();
    desk.change.send_modify(|count| *count += 1);
    timeout(LONG, user.changed.notified()).await.expect("the client must hear that the list has changed");

    // A second client is another session, and each call is told whose it is.
    let other = served.client(User::default()).await;
    answer(&other, call("ability_list", &json!({}))).await;
    let origins: Vec<Value> = desk.heard().iter().filter_map(|asked| asked.get("list").cloned()).collect();
    assert!(
        origins.iter().all(|origin| origin.as_str().unwrap().starts_with("Http { session: ")),
        "{origins:?}"
    );
    assert_ne!(origins[0], origins[1]);
    client.cancel().await.unwrap();
    other.cancel().await.unwrap();
    served.end().await;
}

#[tokio::test]
async fn a_status_is_answered_while_a_run_goes_on_and_a_stop_lets_it_end() {
    let desk = Scripted::new();
    let served = Served::start(&desk, Options::default()).await;
    let client = served.client(User::default()).await;
    let peer = client.peer().clone();
    let running = tokio::spawn(async move { peer.call_tool(run("ends")).await.unwrap() });
    timeout(LONG, desk.begun.notified()).await.unwrap();
    assert_eq!(text(&answer(&client, call("ability_status", &json!({}))).await), "running");
    served.end().await;
    let result = timeout(LONG, running).await.unwrap().unwrap();
    assert_eq!(text(&result), "brought to its end", "an answer must get out before the server ends");
}

#[tokio::test]
async fn other_machines_need_a_key() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = Http::bind(address.parse().unwrap(), Options::default()).await.unwrap_err();
        assert!(matches!(refused, HttpError::NeedsKey(_)), "{refused}");
    }
    let options = Options { key: Some(Key::new(KEY).unwrap()), ..Options::default() };
    Http::bind("0.0.0.0:0".parse().unwrap(), options.clone()).await.unwrap();

    let served = Served::start(&Scripted::new(), options).await;
    for (authorization, expected) in [
        ("", 401),
        ("\r\nAuthorization: Bearer wrong", 401),
        ("\r\nAuthorization: Basic 0123456789abcdef", 401),
        ("\r\nAuthorization: Bearer 0123456789abcdef", 200),
    ] {
        let (status, heard) = served.raw(&served.head(authorization), &initialize()).await;
        assert_eq!(status, expected, "{authorization}: {heard}");
    }
    let client = served.client(User::default()).await;
    assert_eq!(text(&answer(&client, run("steps")).await), "3 steps");
    client.cancel().await.unwrap();
    served.end().await;
}

#[tokio::test]
async fn a_web_page_does_not_get_in() {
    let options = Options { origins: vec!["https://tools.example:443".to_owned()], ..Options::default() };
    let desk = Scripted::new();
    let served = Served::start(&desk, options).await;
    let with = |host: &str, more: &str| {
        served.head(more).replace(&format!("Host: {}", served.address), &format!("Host: {host}"))
    };
    let port = served.address.port();
    for (head, expected) in [
        (with(&format!("localhost:{port}"), ""), 200),
        (with(&format!("[::1]:{port}"), ""), 200),
        // A name that was made to lead to this machine.
        (with("evil.example", ""), 403),
        (with(&format!("evil.example:{port}"), ""), 403),
        (with("localhost.evil.example", ""), 403),
        (with("127.0.0.1", "\r\nOrigin: http://evil.example"), 403),
        (with("127.0.0.1", "\r\nOrigin: null"), 403),
        (with("127.0.0.1", "\r\nOrigin: http://localhost:3000"), 403),
        (with("127.0.0.1", "\r\nOrigin: http://tools.example"), 403),
        (with("127.0.0.1", "\r\nOrigin: https://tools.example"), 200),
    ] {
        let (status, heard) = served.raw(&head, &initialize()).await;
        assert_eq!(status, expected, "{head}: {heard}");
    }
    served.end().await;
    // Where none is named, none gets in.
    let served = Served::start(&desk, Options::default()).await;
    for origin in ["http://evil.example", "https://tools.example:443", "http://localhost", "null"] {
        let (status, heard) = served.raw(&served.head(&format!("\r\nOrigin: {origin}")), &initialize()).await;
        assert_eq!(status, 403, "{origin}: {heard}");
    }
    assert_eq!(desk.heard(), Vec::<Value>::new());
    served.end().await;
}

#[tokio::test]
async fn nothing_is_done_for_a_request_without_its_session() {
    let desk = Scripted::new();
    let served = Served::start(&desk, Options::default()).await;
    let (_, begun) = served.raw(&served.head(""), &initialize()).await;
    let session = session(&begun);
    let inline = |version: &str| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "ability_list", "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            } },
        })
        .to_string()
    };
    let known = format!("\r\nMcp-Session-Id: {session}");
    for (what, more, body) in [
        ("none", String::new(), list()),
        ("made up", "\r\nMcp-Session-Id: made-up".to_owned(), list()),
        // The newest version has no sessions, and one may claim to speak an older one without a handshake.
        (
            "newest",
            "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ability_list"
                .to_owned(),
            inline("2026-07-28"),
        ),
        ("older", "\r\nMCP-Protocol-Version: 2025-11-25".to_owned(), inline("2025-11-25")),
        ("older, of a session", format!("\r\nMCP-Protocol-Version: 2025-11-25{known}"), inline("2025-11-25")),
        ("not there", "\r\nMCP-Protocol-Version: 1999-01-01".to_owned(), list()),
    ] {
        let (status, heard) = served.raw(&served.head(&more), &body).await;
        assert!(status >= 400 || heard.contains("\"error\""), "{what}: {status} {heard}");
        assert_eq!(desk.heard(), Vec::<Value>::new(), "{what}");
    }
    let (status, heard) = served.raw(&served.head(&known), &list()).await;
    assert!(status == 200 && heard.contains("deploy: puts it out"), "{status} {heard}");
    assert_eq!(desk.heard()[0]["list"], format!("Http {{ session: \"{session}\" }}"));
    served.end().await;
}

#[tokio::test]
async fn what_is_too_much_or_no_message_is_refused() {
    let served = Served::start(&Scripted::new(), Options::default()).await;
    let (status, _) = served.raw(&served.head(""), &"x".repeat(abide_mcp::LONGEST_MESSAGE + 1)).await;
    assert_eq!(status, 413);
    for (head, body, expected) in [
        (served.head(""), "{".to_owned(), 415..416),
        (served.head("").replace("/mcp", "/"), initialize(), 404..405),
        (served.head("").replace("POST", "PUT"), initialize(), 405..406),
        (served.head("").replace("application/json\r\n", "text/plain\r\n"), initialize(), 415..416),
        (served.head("").replace(", text/event-stream", ""), initialize(), 406..407),
        (served.head(&format!("\r\nX: {}", "x".repeat(1_000_000))), initialize(), 431..432),
    ] {
        let (status, heard) = served.raw(&head, &body).await;
        assert!(expected.contains(&status), "{head:.80}: {heard:.300}");
    }
    served.end().await;
}

#[tokio::test]
async fn there_are_only_so_many_sessions_and_a_closed_one_makes_room() {
    let served = Served::start(&Scripted::new(), Options::default()).await;
    let mut first = String::new();
    for number in 0..64 {
        let client = head_of(&served, &initialize()).await;
        assert_eq!(client.0, 200, "{number}");
        first = session(&client.1);
    }
    assert_eq!(head_of(&served, &initialize()).await.0, 503);
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: {}\r\nMcp-Session-Id: {first}", served.address);
    let (status, _) = served.raw(&delete, "").await;
    assert!((200..300).contains(&status), "{status}");
    let mut answered = 0;
    for _ in 0..100 {
        answered = head_of(&served, &initialize()).await.0;
        if answered == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(answered, 200);
    served.end().await;
}

/// Sends a request and closes the connection as soon as the head of the answer is there.
async fn head_of(served: &Served, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let request = format!("{}\r\nContent-Length: {}\r\n\r\n{body}", served.head(""), body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut came = Vec::new();
    let mut piece = [0; 4096];
    while !came.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = timeout(LONG, stream.read(&mut piece)).await.unwrap().unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&came));
        came.extend_from_slice(&piece[..count]);
    }
    let came = String::from_utf8(came).unwrap();
    (came.split(' ').nth(1).unwrap().parse().unwrap(), came)
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends_and_one_with_a_run_does_not() {
    let desk = Scripted::new();
    let options = Options { idle: Some(Duration::from_millis(300)), ..Options::default() };
    let served = Served::start(&desk, options).await;
    let idle = session(&head_of(&served, &initialize()).await.1);
    let busy = session(&head_of(&served, &initialize()).await.1);
    let wait = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "ability_run", "arguments": { "ability": "wait" } },
    });
    // Its client does not even listen any more.
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let body = wait.to_string();
    let head = served.head(&format!("\r\nMcp-Session-Id: {busy}"));
    stream
        .write_all(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .unwrap();
    timeout(LONG, desk.begun.notified()).await.unwrap();
    drop(stream);
    let is_there = async |session: &str| {
        let ping = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        served.raw(&served.head(&format!("\r\nMcp-Session-Id: {session}")), &ping).await.0
    };
    // Asking is a use, so it must not be asked too soon.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(is_there(&busy).await, 202);
    assert_eq!(is_there(&idle).await, 404);
    desk.release.notify_waiters();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(is_there(&busy).await, 404);
    served.end().await;
}

#[tokio::test]
async fn a_client_that_sends_nothing_is_not_waited_for() {
    let served = Served::start(&Scripted::new(), Options::default()).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: loc").await.unwrap();
    let mut piece = [0; 64];
    let heard = timeout(Duration::from_secs(25), stream.read(&mut piece)).await.expect("it must be left");
    assert!(matches!(heard, Ok(0) | Err(_)) || piece.starts_with(b"HTTP/1.1 408"), "{heard:?}");
    served.end().await;
}

//! `web_fetch` against servers on loopback that behave, misbehave, and try to lead it inside.

use abide_capabilities::{Lookup, Web, WebFetch};
use abide_core::capability::Conflicts;
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_engine::port::{SessionId, Stopper, ToolContext, ToolError};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// What a server sends, piece by piece.
enum Piece {
    Bytes(Vec<u8>),
    Pause(Duration),
    /// The same bytes again and again, until the other side has had enough.
    Forever(Vec<u8>),
}

struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request with what `answer` makes of its first line.
    async fn start(answer: impl Fn(&str, u16) -> Vec<Piece> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move { serve(stream, port, &seen, &*answer).await });
            }
        });
        Self { port, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

async fn serve(
    mut stream: TcpStream,
    port: u16,
    seen: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str, u16) -> Vec<Piece> + Send + Sync),
) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if !matches!(stream.read(&mut byte).await, Ok(1)) {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).unwrap();
    let first = request.lines().next().unwrap().to_owned();
    seen.lock().unwrap().push(request);
    for piece in answer(&first, port) {
        match piece {
            Piece::Pause(time) => tokio::time::sleep(time).await,
            Piece::Bytes(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Piece::Forever(bytes) => while stream.write_all(&bytes).await.is_ok() {},
        }
    }
}

fn reply(head: &str, body: &[u8]) -> Vec<Piece> {
    let head =
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n{head}\r\n", body.len());
    vec![Piece::Bytes([head.as_bytes(), body].concat())]
}

fn redirect(to: &str) -> Vec<Piece> {
    let head =
        format!("HTTP/1.1 302 Found\r\nconnection: close\r\ncontent-length: 0\r\nlocation: {to}\r\n\r\n");
    vec![Piece::Bytes(head.into_bytes())]
}

/// Looks names up in a list; each lookup of a name takes its next answer, the last one stays.
fn names(list: &[(&str, &[&str])]) -> (Lookup, Arc<AtomicUsize>) {
    let list: Vec<(String, Vec<IpAddr>)> = list
        .iter()
        .map(|(name, addresses)| ((*name).to_owned(), addresses.iter().map(|a| a.parse().unwrap()).collect()))
        .collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let lookup: Lookup = Arc::new(move |name| {
        let turn = count.fetch_add(1, Ordering::SeqCst);
        let of_name: Vec<_> = list.iter().filter(|(known, _)| *known == name).collect();
        let found = of_name.get(turn.min(of_name.len().saturating_sub(1))).map(|(_, found)| found.clone());
        Box::pin(async move { found.ok_or_else(|| std::io::Error::other("no such name")) })
    });
    (lookup, asked)
}

fn equipment(capability: WebFetch, configuration: Value) -> Equipment {
    // What an agent is allowed, the user allows.
    let hosts = configuration["allow_hosts"].as_array().cloned().unwrap_or_default();
    let allow_hosts = hosts.iter().filter_map(|host| host.as_str().map(str::to_owned)).collect();
    let capability = capability.opened(&Web { allow_hosts, ..Web::default() });
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(capability)).unwrap();
    let choice = Choice { id: "web_fetch".to_owned(), configuration: Some(configuration) };
    registry.equip(&[choice], "", Conflicts::Refuse).unwrap()
}

fn context() -> ToolContext {
    ToolContext::new(SessionId::parse("s").unwrap())
}

async fn call(equipment: &Equipment, arguments: Value) -> Result<Value, ToolError> {
    let output = equipment.toolbox.find("web_fetch").unwrap().call(arguments, context()).await?;
    Ok(serde_json::from_str(&output.for_model()).expect("an answer is JSON"))
}

/// Fetches from a server that the configuration allows.
async fn fetch(server: &Server, mut configuration: Value, mut arguments: Value) -> Result<Value, ToolError> {
    configuration["allow_hosts"] = json!([format!("127.0.0.1:{}", server.port)]);
    arguments["url"] = json!(server.url(arguments["url"].as_str().unwrap()));
    call(&equipment(WebFetch::new(), configuration), arguments).await
}

const PAGE: &[u8] = b"<html><body><h1>Hello</h1><p>A <b>page</b>.</p></body></html>";

#[tokio::test]
async fn a_page_is_returned_raw_as_markdown_or_as_text_with_every_field() {
    let server = Server::start(|_, _| {
        let head = "content-type: text/html; charset=utf-8\r\nlast-modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\
                    content-disposition: inline; filename=\"page.html\"\r\n";
        reply(head, PAGE)
    })
    .await;
    let known = |format: &str, content: &str| {
        json!({
            "url": server.url("/p"), "status_code": 200, "content_type": "text/html; charset=utf-8",
            "size": PAGE.len(), "last_modified": "Wed, 21 Oct 2015 07:28:00 GMT", "filename": "page.html",
            "format": format, "content": content, "truncated": false
        })
    };
    let raw = std::str::from_utf8(PAGE).unwrap();
    for (arguments, format, content) in [
        (json!({ "url": "/p" }), "raw", raw),
        (json!({ "url": "/p", "as_markdown": true }), "markdown", "# Hello\n\nA **page**."),
        (json!({ "url": "/p", "as_markdown": true, "as_text": true }), "markdown", "# Hello\n\nA **page**."),
        (json!({ "url": "/p", "as_text": true }), "text", "Hello\n\nA page."),
    ] {
        assert_eq!(
            fetch(&server, json!({}), arguments.clone()).await.unwrap(),
            known(format, content),
            "{arguments}"
        );
    }
    let request = server.requests.lock().unwrap()[0].to_ascii_lowercase();
    assert!(request.starts_with("get /p http/1.1") && request.contains("user-agent: abide/"), "{request}");
    assert!(!request.contains("cookie") && !request.contains("referer"), "{request}");
}

#[tokio::test]
async fn head_and_binary_content_return_what_is_known_and_no_content() {
    let server = Server::start(|line, _| {
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: image/png\r\ncontent-length: 12345\r\n\r\n";
        let mut pieces = vec![Piece::Bytes(head.as_bytes().to_vec())];
        if line.starts_with("GET") {
            pieces.push(Piece::Forever(vec![0; 1024]));
        }
        pieces
    })
    .await;
    let known = json!({
        "url": server.url("/a.png"), "status_code": 200, "content_type": "image/png", "size": 12345,
        "filename": "a.png"
    });
    assert_eq!(fetch(&server, json!({}), json!({ "url": "/a.png", "method": "HEAD" })).await.unwrap(), known);
    let mut with_error = known;
    with_error["error"] = json!("binary content (image/png) is not supported: only text can be returned");
    assert_eq!(fetch(&server, json!({}), json!({ "url": "/a.png" })).await.unwrap(), with_error);
}

#[tokio::test]
async fn what_has_no_type_is_looked_at() {
    let server = Server::start(|line, _| {
        if line.contains("text") { reply("", b"plain words") } else { reply("", b"\x7fELF\0\0\0") }
    })
    .await;
    let text = fetch(&server, json!({}), json!({ "url": "/text" })).await.unwrap();
    assert_eq!((&text["content"], &text["content_type"]), (&json!("plain words"), &Value::Null));
    let other = fetch(&server, json!({}), json!({ "url": "/program" })).await.unwrap();
    assert!(other["error"].as_str().unwrap().starts_with("binary content"), "{other}");
    assert!(other.get("content").is_none(), "{other}");
}

#[tokio::test]
async fn an_error_of_the_server_is_an_answer_and_one_of_the_network_is_an_error() {
    let server = Server::start(|_, _| {
        vec![Piece::Bytes(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ngone".to_vec())]
    })
    .await;
    let answer = fetch(&server, json!({}), json!({ "url": "/x" })).await.unwrap();
    assert_eq!((&answer["status_code"], &answer["content"]), (&json!(404), &json!("gone")));

    let closed = { TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port() };
    let web = equipment(WebFetch::new(), json!({ "allow_hosts": ["127.0.0.1"] }));
    let error = call(&web, json!({ "url": format!("http://127.0.0.1:{closed}/") })).await.unwrap_err();
    assert!(error.to_string().starts_with("`127.0.0.1` cannot be fetched: "), "{error}");
    let (lookup, _) = names(&[]);
    let error = call(
        &equipment(WebFetch::with_lookup(lookup), json!({})),
        json!({ "url": "http://nowhere.example/" }),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code(), "failed", "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_begin_to_answer_is_given_one_second() {
    let server = Server::start(|_, _| vec![Piece::Pause(Duration::from_secs(20))]).await;
    let started = Instant::now();
    let error = fetch(&server, json!({}), json!({ "url": "/" })).await.unwrap_err();
    assert_eq!(error.to_string(), "server did not respond within 1 second");
    assert!(started.elapsed() >= Duration::from_secs(1) && started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_body_that_stalls_is_returned_as_far_as_it_came() {
    let server = Server::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nbeginning".to_vec();
        vec![Piece::Bytes(head), Piece::Pause(Duration::from_secs(20))]
    })
    .await;
    let answer = fetch(&server, json!({ "body_ms": 200 }), json!({ "url": "/" })).await.unwrap();
    assert_eq!(answer["content"], "beginning\n\n[..more content timed out...]");
    assert_eq!((&answer["truncated"], &answer["size"]), (&json!(true), &json!(9)));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    let server = Server::start(|_, _| {
        vec![Piece::Bytes(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nbegin".to_vec(),
        )]
    })
    .await;
    let error = fetch(&server, json!({}), json!({ "url": "/" })).await.unwrap_err();
    assert!(error.to_string().starts_with("the answer broke off after 5 bytes"), "{error}");
}

#[tokio::test]
async fn a_body_without_end_is_cut_and_the_connection_closed() {
    let server = Server::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1073741824\r\n\r\n".to_vec();
        vec![Piece::Bytes(head), Piece::Forever(vec![b'x'; 65536])]
    })
    .await;
    let started = Instant::now();
    let answer = fetch(&server, json!({}), json!({ "url": "/" })).await.unwrap();
    assert_eq!((&answer["truncated"], &answer["size"]), (&json!(true), &json!(2 << 20)));
    let content = answer["content"].as_str().unwrap();
    assert!(content.ends_with("[..more content left out...]") && content.len() < 256 * 1024);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let small = fetch(&server, json!({ "max_bytes": 10 }), json!({ "url": "/" })).await.unwrap();
    assert_eq!(small["content"], "xxxxxxxxxx\n\n[..more content left out...]");
}

/// A gigabyte of one character as gzip: the same compressed mebibyte again and again. Its end is never reached.
fn bomb() -> Vec<u8> {
    let mut packer = flate2::Compress::new(flate2::Compression::best(), false);
    let mut mebibyte = Vec::with_capacity(1 << 20);
    packer.compress_vec(&vec![b'0'; 1 << 20], &mut mebibyte, flate2::FlushCompress::Full).unwrap();
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    [&header[..], &mebibyte.repeat(1024)].concat()
}

/// A gigabyte of one character as brotli.
const BROTLI_BOMB: &str = "\
    z///fwAkwuKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje\
    //P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC6\
    9//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA\
    7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcF\
    oHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRh\
    Aeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBx\
    WAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARA\
    HBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyAB\
    EIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBI\
    AMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8A\
    EgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37//z//wcgARCHBaB7/w8=";

#[tokio::test]
async fn a_body_that_unpacks_to_a_gigabyte_is_unpacked_no_further_than_it_is_kept() {
    let brotli = BASE64_STANDARD.decode(BROTLI_BOMB).unwrap();
    for (name, packed) in [("gzip", bomb()), ("br", brotli)] {
        assert!(packed.len() < 2 << 20, "{name}: {}", packed.len());
        let head = format!("content-type: text/plain\r\ncontent-encoding: {name}\r\n");
        let server = Server::start(move |_, _| reply(&head, &packed)).await;
        let started = Instant::now();
        let answer = fetch(&server, json!({}), json!({ "url": "/" })).await.unwrap();
        assert_eq!((&answer["truncated"], &answer["size"]), (&json!(true), &json!(2 << 20)), "{name}");
        let content = answer["content"].as_str().unwrap();
        assert!(content.starts_with("aaaa") || content.starts_with("0000"), "{name}: it was unpacked");
        assert!(started.elapsed() < Duration::from_secs(10), "{name}: {:?}", started.elapsed());
        // Nothing else is asked for, and what comes all the same is not unpacked.
        let request = server.requests.lock().unwrap()[0].to_ascii_lowercase();
        let offered = request.lines().find_map(|line| line.strip_prefix("accept-encoding: ")).unwrap();
        let mut offered: Vec<&str> = offered.split(',').map(str::trim).collect();
        offered.sort_unstable();
        assert_eq!(offered, ["br", "gzip"]);
    }
    for name in ["deflate", "zstd", "compress"] {
        let head = format!("content-type: text/plain\r\ncontent-encoding: {name}\r\n");
        let server = Server::start(move |_, _| reply(&head, b"as it is")).await;
        let answer = fetch(&server, json!({}), json!({ "url": "/" })).await.unwrap();
        assert_eq!(answer["content"], "as it is", "{name}");
    }
}

#[tokio::test]
async fn every_example_is_answered_by_a_server_of_that_name() {
    let server = Server::start(|line, _| match line {
        line if line.contains("/data.json") => reply("content-type: application/json\r\n", b"{\"a\":1}"),
        line if line.contains("/report.pdf") => {
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/pdf\r\ncontent-length: 9\r\n\r\n";
            vec![Piece::Bytes(head.as_bytes().to_vec())]
        }
        _ => reply("content-type: text/html\r\n", PAGE),
    })
    .await;
    let (lookup, _) = names(&[("example.com", &["127.0.0.1"])]);
    let host = format!("example.com:{}", server.port);
    let web = equipment(WebFetch::with_lookup(lookup), json!({ "allow_hosts": [host] }));
    let examples = web.toolbox.find("web_fetch").unwrap().spec().examples.clone();
    let mut contents = Vec::new();
    for mut example in examples {
        // All but the certificate of the real one is as it would be.
        let url = example["url"].as_str().unwrap().replace("https://example.com", &format!("http://{host}"));
        example["url"] = json!(url);
        let answer = call(&web, example.clone()).await.unwrap();
        assert_eq!((&answer["status_code"], &answer["url"]), (&json!(200), &json!(url)), "{example}");
        contents.push(answer["content"].as_str().unwrap_or_default().to_owned());
    }
    assert_eq!(contents, ["# Hello\n\nA **page**.", "{\"a\":1}", ""]);
}

#[tokio::test]
async fn a_redirect_is_followed_and_one_without_end_is_not() {
    let server = Server::start(|line, _| match line {
        line if line.contains("/old") => redirect("/new?x=1"),
        line if line.contains("/new") => reply("content-type: text/plain\r\n", b"here"),
        line if line.contains("/nonsense") => redirect("http://[:::"),
        _ => redirect("/again"),
    })
    .await;
    let answer = fetch(&server, json!({}), json!({ "url": "/old" })).await.unwrap();
    assert_eq!((&answer["content"], &answer["url"]), (&json!("here"), &json!(server.url("/old"))));
    assert_eq!(answer["final_url"], server.url("/new?x=1"));
    let error = fetch(&server, json!({}), json!({ "url": "/again" })).await.unwrap_err();
    assert_eq!(error.to_string(), "the server redirects more than 10 times");
    let error = fetch(&server, json!({}), json!({ "url": "/nonsense" })).await.unwrap_err();
    assert_eq!(error.to_string(), "the server redirects to what is no URL");
}

#[tokio::test]
async fn a_redirect_does_not_lead_inside() {
    let inside = Server::start(|_, _| reply("content-type: text/plain\r\n", b"secret")).await;
    let port = inside.port;
    for to in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("//localhost:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        format!("http://me:pw@127.0.0.1:{port}/"),
    ] {
        let outside = Server::start(move |_, _| redirect(&to)).await;
        let refused = fetch(&outside, json!({}), json!({ "url": "/" })).await.unwrap_err();
        assert_eq!(refused.code(), "refused", "{refused}");
        assert_eq!((outside.requests(), inside.requests()), (1, 0));
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_when_it_is_connected_to() {
    let inside = Server::start(|_, _| reply("content-type: text/plain\r\n", b"secret")).await;
    for addresses in
        [&["127.0.0.1"][..], &["10.0.0.1"], &["::1"], &["93.184.216.34", "127.0.0.1"], &["169.254.169.254"]]
    {
        let (lookup, asked) = names(&[("rebind.example", addresses)]);
        let web = equipment(WebFetch::with_lookup(lookup), json!({}));
        let refused = call(&web, json!({ "url": format!("http://rebind.example:{}/", inside.port) })).await;
        let error = refused.unwrap_err();
        assert_eq!(error.code(), "refused", "{addresses:?}: {error}");
        assert!(!addresses.iter().any(|address| error.to_string().contains(address)), "{error}");
        assert_eq!((asked.load(Ordering::SeqCst), inside.requests()), (1, 0));
    }
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_each_time_it_is_used() {
    // First to where the configuration allows nothing and nothing listens, then inside: what is checked is what is
    // connected to, so there is no second answer that goes unchecked.
    let inside = Server::start(|_, _| reply("content-type: text/plain\r\n", b"secret")).await;
    let (lookup, asked) = names(&[("turn.example", &["192.0.2.1"]), ("turn.example", &["127.0.0.1"])]);
    let web = equipment(WebFetch::with_lookup(lookup), json!({}));
    let url = format!("http://turn.example:{}/", inside.port);
    for turn in 1..=3 {
        let error = call(&web, json!({ "url": url })).await.unwrap_err();
        assert_eq!(error.code(), "refused", "{error}");
        assert_eq!((asked.load(Ordering::SeqCst), inside.requests()), (turn, 0), "one lookup for each use");
    }
}

#[tokio::test]
async fn an_allowed_host_may_lead_inside_and_no_other_may_by_its_side() {
    let server = Server::start(|_, _| reply("content-type: text/plain\r\n", b"wiki")).await;
    let (lookup, _) = names(&[("wiki.corp.example", &["127.0.0.1"]), ("other.example", &["127.0.0.1"])]);
    let allowed = json!({ "allow_hosts": [format!("wiki.corp.example:{}", server.port)] });
    let web = equipment(WebFetch::with_lookup(lookup), allowed);
    let url = |host: &str| json!({ "url": format!("http://{host}:{}/", server.port) });
    assert_eq!(call(&web, url("wiki.corp.example")).await.unwrap()["content"], "wiki");
    assert_eq!(call(&web, url("other.example")).await.unwrap_err().code(), "refused");
    assert_eq!(call(&web, url("127.0.0.1")).await.unwrap_err().code(), "refused");
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn what_is_no_url_is_an_error_that_says_so() {
    let web = equipment(WebFetch::new(), json!({}));
    for (url, tells) in [
        ("ftp://example.com/", "must start with http:// or https://"),
        ("example.com", "must start with http:// or https://"),
        ("http://", "the URL cannot be understood"),
        ("http://exa mple.com/", "the URL cannot be understood"),
        ("http://u:p@example.com/", "a user or a password"),
        ("http://localhost/", "is not a public address"),
    ] {
        let error = call(&web, json!({ "url": url })).await.unwrap_err();
        assert!(error.to_string().contains(tells), "{url}: {error}");
    }
    let error = call(&web, json!({ "url": "https://example.com/", "method": "POST" })).await.unwrap_err();
    assert_eq!(error.code(), "invalid_arguments");
}

#[tokio::test]
async fn a_fetch_that_is_stopped_ends_at_once() {
    let server = Server::start(|_, _| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\n".to_vec();
        vec![Piece::Bytes(head), Piece::Pause(Duration::from_secs(20))]
    })
    .await;
    let allowed = json!({ "allow_hosts": [format!("127.0.0.1:{}", server.port)] });
    let web = equipment(WebFetch::new(), allowed);
    let (stopper, stop) = Stopper::pair();
    let started = Instant::now();
    let tool = web.toolbox.find("web_fetch").unwrap();
    let call = tool.call(json!({ "url": server.url("/") }), ToolContext { stop, ..context() });
    let (ended, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stopper.stop();
    });
    assert_eq!(ended, Err(ToolError::Cancelled));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_agent_may_have_fewer_of_the_hosts_that_the_user_allows_and_never_more() {
    let equip = |allowed: &[&str], wanted: Value| {
        let allow_hosts = allowed.iter().map(|host| (*host).to_owned()).collect();
        let mut registry = CapabilityRegistry::default();
        registry.register(Arc::new(WebFetch::new().opened(&Web { allow_hosts, ..Web::default() }))).unwrap();
        let configuration = Some(json!({ "allow_hosts": wanted }));
        let choice = Choice { id: "web_fetch".to_owned(), configuration };
        registry.equip(&[choice], "", Conflicts::Refuse).map_err(|problems| problems[0].to_string())
    };
    for (allowed, wanted) in [
        (&[][..], json!(["169.254.169.254"])),
        (&["wiki.internal:8080"][..], json!(["wiki.internal"])),
        (&["wiki.internal:8080"][..], json!(["wiki.internal:80"])),
    ] {
        let refused = equip(allowed, wanted).unwrap_err();
        assert!(refused.contains("an agent may only have fewer"), "{refused}");
    }
    assert!(equip(&["wiki.internal"], json!(["wiki.internal:8080"])).is_ok());
    let narrowed = equip(&["127.0.0.1"], json!([])).unwrap();
    let refused = call(&narrowed, json!({ "url": "http://127.0.0.1:1/" })).await.unwrap_err();
    assert!(matches!(refused, ToolError::Refused(_)), "{refused}");
}

#[tokio::test]
async fn through_a_proxy_what_leads_inside_is_still_refused() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 4096];
            let read = stream.read(&mut buffer).await.unwrap_or(0);
            let line = String::from_utf8_lossy(&buffer[..read]).lines().next().unwrap_or_default().to_owned();
            let answer: &[u8] = if line.contains("hop.example") {
                b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            } else {
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\nseen"
            };
            into.lock().unwrap().push(line);
            let _ = stream.write_all(answer).await;
        }
    });
    let lookup: Lookup = Arc::new(|name| {
        Box::pin(async move {
            match name.as_str() {
                "inside.example" => Ok(vec!["10.1.2.3".parse().unwrap()]),
                "public.example" | "hop.example" => Ok(vec!["93.184.216.34".parse().unwrap()]),
                _ => Err(std::io::Error::other("no such name")),
            }
        })
    });
    let web = WebFetch::with_lookup(lookup).opened(&Web { proxy: Some(proxy), ..Web::default() });
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(web)).unwrap();
    let web = registry.equip(&[Choice::of("web_fetch")], "", Conflicts::Refuse).unwrap();
    let page = call(&web, json!({ "url": "http://public.example/a" })).await.unwrap();
    assert_eq!(page["content"], "seen");
    // A name that only the proxy knows is the proxy's to guard.
    assert_eq!(call(&web, json!({ "url": "http://unknown.example/" })).await.unwrap()["content"], "seen");
    let told = heard.lock().unwrap().clone();
    assert_eq!(told, ["GET http://public.example/a HTTP/1.1", "GET http://unknown.example/ HTTP/1.1"]);
    for url in
        ["http://inside.example/", "http://127.0.0.1/", "http://169.254.169.254/", "http://hop.example/"]
    {
        let refused = call(&web, json!({ "url": url })).await.unwrap_err();
        assert!(matches!(refused, ToolError::Refused(_)), "{url}: {refused}");
    }
    let asked = heard.lock().unwrap().clone();
    assert_eq!(
        asked[2..],
        ["GET http://hop.example/ HTTP/1.1"],
        "nothing that leads inside reaches the proxy"
    );
}

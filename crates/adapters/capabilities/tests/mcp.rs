//! MCP servers as capabilities: real processes that speak the protocol well, badly, or not at all.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write the servers that they start")]

use abide_capabilities::{Address, McpCapability, ServerAbout};
use abide_core::capability::{CapabilityId, CapabilityStatus, Conflicts, Risk, Tier};
use abide_core::model::Image;
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_engine::port::{Beside, Capability as _, SessionId, Stopper, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server over pipes or HTTP that does what its tools are called.
const SERVER: &str = r#"
import json, os, subprocess, sys, time
kind = sys.argv[1]
here = sys.argv[2]
schema = {"type": "object", "properties": {"text": {"type": "string"}}}
tools = [
    {"name": "echo", "description": "Says it again", "inputSchema": schema, "annotations": {"readOnlyHint": True}},
    {"name": "wipe", "description": "Deletes", "inputSchema": {}, "annotations": {"destructiveHint": True}},
    {"name": "data", "inputSchema": {"type": "object"}},
    {"name": "fails", "inputSchema": {"type": "object"}},
    {"name": "refuses", "inputSchema": {"type": "object"}},
    {"name": "hangs", "inputSchema": {"type": "object"}},
    {"name": "dies", "inputSchema": {"type": "object"}},
    {"name": "picture", "inputSchema": {"type": "object"}},
    {"name": "odd name/with.dots", "inputSchema": {"type": "object"}},
    {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "strin"}}}},
    {"name": "remote", "inputSchema": {"type": "object", "$ref": "http://example.com/schema"}},
]
def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        name = "abide" if kind == "abide" else "test"
        return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                           "serverInfo": {"name": name, "version": "1"}}}
    if method == "tools/list":
        if kind == "endless":
            return {"result": {"tools": [], "nextCursor": "again"}}
        if kind == "many":
            return {"result": {"tools": [dict(tools[0], name="t%d" % n) for n in range(1000)]}}
        # Two pages.
        if params.get("cursor"):
            return {"result": {"tools": tools[5:]}}
        return {"result": {"tools": tools[:5], "nextCursor": "5"}}
    if method == "tools/call":
        name, given = params["name"], params.get("arguments") or {}
        if name == "hangs":
            open(os.path.join(here, "hanging"), "w").write(str(message["id"]))
            return None
        if kind == "environment":
            return {"result": {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}}
        if name == "dies":
            os._exit(1)
        if name == "refuses":
            return {"error": {"code": -32000, "message": "not today"}}
        if name == "data":
            return {"result": {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"a": [1]}}}
        if name == "picture":
            return {"result": {"content": [{"type": "image", "data": "iVBORw0KGgoA/yBkb3Q=", "mimeType": "image/gif"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}, {"type": "text", "text": "seen"}]}}
        text = "broken" if name == "fails" else "%s %s" % (name, given.get("text"))
        return {"result": {"content": [{"type": "text", "text": text}], "isError": name == "fails"}}
    return {"error": {"code": -32601, "message": "unknown"}}
def full(message):
    if "id" not in message:
        if message["method"] == "notifications/cancelled":
            open(os.path.join(here, "cancelled"), "w").write(str(message["params"].get("requestId")))
        return None
    found = answer(message)
    return None if found is None else dict(found, jsonrpc="2.0", id=message["id"])
if kind == "http":
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("X-Key") != "secret":
                self.send_response(401); self.send_header("Content-Length", "0"); self.end_headers(); return
            message = json.loads(body)
            found = full(message)
            wanted = ((message.get("params") or {}).get("arguments") or {}).get("text")
            if wanted == "streamed":
                event = b"event: message\ndata: " + json.dumps(found).encode() + b"\n\n"
                self.send_response(200); self.send_header("Content-Type", "text/event-stream"); self.end_headers()
                self.wfile.write(event); return
            if wanted in ("endless", "flood", "packed"):
                kind = "text/event-stream" if wanted == "flood" else "application/json"
                self.send_response(200); self.send_header("Content-Type", kind)
                if wanted == "packed":
                    import gzip
                    self.send_header("Content-Encoding", "gzip"); self.end_headers()
                    self.wfile.write(gzip.compress(b" " * (256 << 20))); return
                self.end_headers()
                piece = (b": nothing\n" if wanted == "flood" else b"          ") * 100000
                sent = 0
                try:
                    while sent < 1 << 30:
                        self.wfile.write(piece); sent += len(piece)
                except OSError:
                    pass
                open(os.path.join(here, "sent-" + wanted), "w").write(str(sent)); return
            text = b"" if found is None else json.dumps(found).encode()
            self.send_response(202 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        def do_GET(self):
            self.send_response(405); self.send_header("Content-Length", "0"); self.end_headers()
        def log_message(self, *_): pass
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
if kind == "mute":
    time.sleep(600)
if kind == "quits":
    print("no token in TOKEN", file=sys.stderr)
    sys.exit(3)
if kind == "babbles":
    sys.stdout.write("x" * (20 << 20)); sys.stdout.flush(); time.sleep(600)
child = subprocess.Popen(["sleep", "600"])
open(os.path.join(here, "pids"), "w").write("%d %d" % (os.getpid(), child.pid))
sys.stderr.write("talk " * 100000)
sys.stderr.flush()
for line in sys.stdin:
    found = full(json.loads(line))
    if found is not None:
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
"#;

fn about(id: &str) -> ServerAbout {
    ServerAbout {
        connect_timeout: Duration::from_secs(20),
        ..ServerAbout::new(CapabilityId::parse(id).unwrap())
    }
}

fn address(folder: &Path, kind: &str) -> Address {
    let script = folder.join("server.py");
    std::fs::write(&script, SERVER).unwrap();
    let words = ["python3", script.to_str().unwrap(), kind, folder.to_str().unwrap()];
    Address::Command {
        words: words.map(str::to_owned).to_vec(),
        variables: Vec::new(),
        without: Vec::new(),
        folder: folder.to_path_buf(),
    }
}

fn equipped(capability: McpCapability) -> Equipment {
    assert_eq!(capability.status(), CapabilityStatus::Available);
    let id = capability.id().to_string();
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(capability)).unwrap();
    registry.equip(&[Choice::of(id)], "", Conflicts::Refuse).unwrap()
}

async fn call(equipment: &Equipment, tool: &str, arguments: Value) -> Result<String, ToolError> {
    let context = ToolContext::new(SessionId::parse("s").unwrap());
    Ok(equipment.toolbox.find(tool).unwrap().call(arguments, context).await?.for_model())
}

fn why(capability: &McpCapability) -> String {
    match capability.status() {
        CapabilityStatus::Unavailable { why } => why,
        other => panic!("{other:?}"),
    }
}

fn pids(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap();
    text.split(' ').map(str::to_owned).collect()
}

async fn gone(pids: &[String]) {
    let lives =
        |pid: &String| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
    let started = Instant::now();
    while pids.iter().any(lives) {
        assert!(started.elapsed() < Duration::from_secs(5), "{pids:?} still run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn came(path: PathBuf) -> String {
    let started = Instant::now();
    loop {
        match std::fs::read_to_string(&path) {
            Ok(text) if !text.is_empty() => return text,
            _ => assert!(started.elapsed() < Duration::from_secs(10), "{} never came", path.display()),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_tools_of_a_server_are_called_under_names_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let capability = McpCapability::connect(about("db"), address(folder.path(), "good")).await;
    let description = capability.description().to_owned();
    assert!(description.contains("Left out: bad (") && description.contains("remote ("), "{description}");
    let tools = equipped(capability);
    let names: Vec<&str> = tools.toolbox.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(
        names,
        [
            "db__echo",
            "db__wipe",
            "db__data",
            "db__fails",
            "db__refuses",
            "db__hangs",
            "db__dies",
            "db__picture",
            "db__odd_name_with_dots"
        ]
    );
    assert_eq!(call(&tools, "db__echo", json!({ "text": "hi" })).await.unwrap(), "echo hi");
    assert_eq!(call(&tools, "db__data", json!({})).await.unwrap(), r#"{"a":[1]}"#);
    let context = ToolContext::new(SessionId::parse("s").unwrap());
    let shown = tools.toolbox.find("db__picture").unwrap().call(json!({}), context).await.unwrap();
    let text = "[picture 1: image/png]\n[image image/png is left out]\nseen".to_owned();
    let images = vec![Image::of(*b"\x89PNG\r\n\x1a\n\0\xff dot").unwrap()];
    assert_eq!(shown, ToolOutput::Shown { text, images }, "what it is is told by its bytes");
    assert_eq!(call(&tools, "db__odd_name_with_dots", json!({})).await.unwrap(), "odd name/with.dots None");
    // The schema is checked here, before anything is sent.
    let wrong = call(&tools, "db__echo", json!({ "text": 3 })).await.unwrap_err();
    assert!(matches!(wrong, ToolError::Arguments { .. }), "{wrong}");
    assert_eq!(
        call(&tools, "db__fails", json!({})).await.unwrap_err(),
        ToolError::Failed("broken".to_owned())
    );
    let refused = call(&tools, "db__refuses", json!({})).await.unwrap_err();
    assert_eq!(refused, ToolError::Failed("the server refused: not today".to_owned()));
}

#[tokio::test]
async fn what_a_server_says_about_itself_never_lowers_the_risk() {
    let folder = tempfile::tempdir().unwrap();
    let spec = |tools: &Equipment, name: &str| {
        let spec = tools.toolbox.find(name).unwrap().spec().clone();
        (spec.risk, spec.tier, spec.beside)
    };
    let tools = equipped(McpCapability::connect(about("db"), address(folder.path(), "good")).await);
    assert_eq!(spec(&tools, "db__echo"), (Risk::High, Tier::Confirm, Beside::Others));
    // A user may lower it; a warning of the server raises it again.
    let about = ServerAbout { risk: Risk::Medium, tier: Tier::Auto, ..about("db") };
    let tools = equipped(McpCapability::connect(about, address(folder.path(), "good")).await);
    assert_eq!(spec(&tools, "db__echo"), (Risk::Medium, Tier::Auto, Beside::Others));
    assert_eq!(spec(&tools, "db__wipe"), (Risk::High, Tier::Confirm, Beside::Nothing));
}

#[tokio::test]
async fn only_the_tools_that_are_named_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let about = ServerAbout { tools: Some(vec!["e*".to_owned(), "data".to_owned()]), ..about("db") };
    let tools = equipped(McpCapability::connect(about, address(folder.path(), "good")).await);
    assert_eq!(tools.toolbox.iter().count(), 2);
}

#[tokio::test]
async fn a_server_goes_with_whoever_holds_it_and_takes_its_children_along() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(McpCapability::connect(about("db"), address(folder.path(), "good")).await);
    let pids = pids(folder.path());
    assert_eq!(call(&tools, "db__echo", json!({ "text": "hi" })).await.unwrap(), "echo hi");
    drop(tools);
    gone(&pids).await;
}

#[tokio::test]
async fn a_lost_server_is_started_again_for_the_next_call_and_no_call_is_made_twice() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(McpCapability::connect(about("db"), address(folder.path(), "good")).await);
    let before = pids(folder.path());
    let lost = call(&tools, "db__dies", json!({})).await.unwrap_err();
    assert!(lost.to_string().contains("whether the call was made is not known"), "{lost}");
    assert_eq!(call(&tools, "db__echo", json!({ "text": "again" })).await.unwrap(), "echo again");
    assert_ne!(pids(folder.path()), before);
    gone(&before).await;
}

#[tokio::test]
async fn a_call_that_hangs_is_ended_and_the_server_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let about = ServerAbout { timeout: Duration::from_millis(400), ..about("db") };
    let tools = equipped(McpCapability::connect(about, address(folder.path(), "good")).await);
    let late = call(&tools, "db__hangs", json!({})).await.unwrap_err();
    assert!(matches!(late, ToolError::TimedOut { .. }), "{late}");
    let hanging = came(folder.path().join("hanging")).await;
    assert_eq!(came(folder.path().join("cancelled")).await, hanging);
    // The same when the call is stopped from outside.
    std::fs::remove_file(folder.path().join("hanging")).unwrap();
    std::fs::remove_file(folder.path().join("cancelled")).unwrap();
    let (stopper, stop) = Stopper::pair();
    let context = ToolContext { stop, ..ToolContext::new(SessionId::parse("s").unwrap()) };
    let tool = tools.toolbox.find("db__hangs").unwrap().clone();
    let calling = tokio::spawn(async move { tool.call(json!({}), context).await });
    let hanging = came(folder.path().join("hanging")).await;
    stopper.stop();
    assert_eq!(calling.await.unwrap(), Err(ToolError::Cancelled));
    assert_eq!(came(folder.path().join("cancelled")).await, hanging);
    assert_eq!(call(&tools, "db__echo", json!({ "text": "on" })).await.unwrap(), "echo on");
}

#[tokio::test]
async fn a_server_that_does_not_serve_is_unavailable_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let short = || ServerAbout { connect_timeout: Duration::from_secs(2), ..about("db") };
    for (kind, tells) in [
        ("quits", "no token in TOKEN"),
        ("mute", "nothing came within 2s"),
        ("babbles", "the server does not answer"),
        ("endless", "lists more than 256 tools"),
        ("many", "lists more than 256 tools"),
        ("abide", "it is abide itself"),
    ] {
        let capability = McpCapability::connect(short(), address(folder.path(), kind)).await;
        let why = why(&capability);
        assert!(why.contains(tells), "{kind}: {why}");
        assert!(capability.tools().is_empty());
    }
    let absent = |words: &[&str]| Address::Command {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        variables: Vec::new(),
        without: Vec::new(),
        folder: folder.path().to_path_buf(),
    };
    let capability = McpCapability::connect(short(), absent(&["no-such-program"])).await;
    assert!(why(&capability).contains("`no-such-program` cannot be started"), "{}", why(&capability));
    let capability = McpCapability::connect(short(), absent(&["/usr/local/bin/abide", "mcp"])).await;
    assert!(why(&capability).contains("it is abide itself"), "{}", why(&capability));
}

#[tokio::test]
async fn a_variable_that_is_kept_from_a_server_is_there_only_if_it_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let Address::Command { words, folder: place, .. } = address(folder.path(), "environment") else {
        unreachable!("it is a program");
    };
    let kept = Address::Command {
        words,
        variables: vec![("CARGO_MANIFEST_DIR".to_owned(), "added".to_owned())],
        without: ["HOME", "CARGO_MANIFEST_DIR"].map(str::to_owned).to_vec(),
        folder: place,
    };
    let tools = equipped(McpCapability::connect(about("db"), kept).await);
    let environment = call(&tools, "db__echo", json!({})).await.unwrap();
    let environment: Value = serde_json::from_str(&environment).unwrap();
    assert!(std::env::var_os("HOME").is_some(), "there is nothing to keep");
    assert!(environment["PATH"].is_string(), "{environment}");
    assert_eq!((&environment["HOME"], &environment["CARGO_MANIFEST_DIR"]), (&Value::Null, &json!("added")));
}

#[tokio::test]
async fn a_server_over_http_is_reached_with_its_headers() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.py");
    std::fs::write(&script, SERVER).unwrap();
    let mut child = std::process::Command::new("python3")
        .args([script.to_str().unwrap(), "http", folder.path().to_str().unwrap()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    let address =
        |key: &str| Address::Url { url: url.clone(), headers: vec![("X-Key".to_owned(), key.to_owned())] };
    let tools = equipped(McpCapability::connect(about("web"), address("secret")).await);
    assert_eq!(call(&tools, "web__echo", json!({ "text": "hi" })).await.unwrap(), "echo hi");
    assert_eq!(call(&tools, "web__echo", json!({ "text": "streamed" })).await.unwrap(), "echo streamed");
    for endless in ["endless", "flood", "packed"] {
        let refused = call(&tools, "web__echo", json!({ "text": endless })).await.unwrap_err().to_string();
        assert!(refused.contains("the server") || refused.contains("the connection"), "{endless}: {refused}");
        let still = call(&tools, "web__echo", json!({ "text": "still here" })).await.unwrap();
        assert_eq!(still, "echo still here", "after {endless}");
    }
    for endless in ["endless", "flood"] {
        let mut sent = String::new();
        for _ in 0..200 {
            sent = std::fs::read_to_string(folder.path().join(format!("sent-{endless}"))).unwrap_or_default();
            if !sent.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(sent.parse::<u64>().unwrap() < 64 << 20, "{endless}: {sent} bytes were taken");
    }
    let refused = McpCapability::connect(about("web"), address("wrong")).await;
    let why = why(&refused);
    assert!(why.contains("the server does not answer") && !why.contains("wrong"), "{why}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn research_searches_with_the_tool_of_a_server() {
    use abide_capabilities::{MemoryFiles, Sandbox, SearchTool, Web, World, builtins};
    let folder = tempfile::tempdir().unwrap();
    let server = McpCapability::connect(about("db"), address(folder.path(), "good")).await;
    let equipped = |tool: &SearchTool| {
        let now: abide_capabilities::Now = Arc::new(|| abide_core::event::Timestamp(0));
        let registry = builtins(World {
            files: Arc::new(MemoryFiles::new(Arc::clone(&now))),
            now,
            sandbox: Sandbox::unavailable("not here"),
            web: Web { search_tool: Some(tool.clone()), ..Web::default() },
        });
        registry.equip(&[Choice::of("research")], "", Conflicts::Refuse).unwrap()
    };
    let asked = |query: &str| json!({ "query": query });
    let echo = SearchTool::named("db__echo");
    let tools = equipped(&echo);
    let early = call(&tools, "research_web_search", asked("x")).await.unwrap_err();
    assert!(early.to_string().contains("its server is not there"), "{early}");
    echo.find_in(Ok(&server.tools()));
    let found =
        call(&tools, "research_web_search", asked("[The report](https://example.com/r)")).await.unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["results"][0]["url"], "https://example.com/r", "{found}");
    let words = call(&tools, "research_web_search", asked("no links")).await.unwrap();
    let words: Value = serde_json::from_str(&words).unwrap();
    assert_eq!((&words["count"], &words["text"]), (&json!(0), &json!("echo no links")));
    for (name, found, why) in [
        ("db__nothing", Ok(server.tools()), "has no tool `db__nothing`"),
        ("db__data", Ok(server.tools()), "no argument that takes words"),
        ("db__echo", Err("it is down".to_owned()), "it is down"),
        ("db__fails", Ok(server.tools()), "no argument that takes words"),
    ] {
        let tool = SearchTool::named(name);
        tool.find_in(found.as_deref().map_err(Clone::clone));
        let refused = call(&equipped(&tool), "research_web_search", asked("x")).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{name}: {refused}");
    }
}

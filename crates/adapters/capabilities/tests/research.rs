//! The research scratchpad: sources that were really fetched, quotations that are really there.

use abide_capabilities::{MemoryFiles, Sandbox, Web, World, builtins};
use abide_core::capability::Conflicts;
use abide_core::event::Timestamp;
use abide_engine::capability::{Choice, Equipment};
use abide_engine::port::{SessionFiles, SessionId, ToolContext, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PAGE: &str =
    "<html><body><h1>The report</h1><p>The release was\n in <b>May</b> 2024.</p></body></html>";
const RESULTS: &str =
    r#"{"results":[{"title":"The report","url":"https://example.com/report","content":"May"}]}"#;

/// Serves a page at `/page` and results at `/search`.
async fn server() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 4096];
            let read = stream.read(&mut buffer).await.unwrap_or(0);
            let asked = String::from_utf8_lossy(&buffer[..read]).into_owned();
            let (status, kind, body) = if asked.starts_with("GET /page") {
                ("200 OK", "text/html", PAGE)
            } else if asked.starts_with("GET /search?q=release+date%3F%26")
                || asked.starts_with("GET /search?q=rust+2024+edition+release+date")
            {
                ("200 OK", "application/json", RESULTS)
            } else {
                ("404 Not Found", "text/plain", "nothing")
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

fn equipped(port: u16, files: Arc<dyn SessionFiles>) -> Equipment {
    let web = Web {
        allow_hosts: vec![format!("127.0.0.1:{port}")],
        proxy: None,
        search_url: Some(format!("http://127.0.0.1:{port}/search?q={{query}}")),
        search_tool: None,
    };
    let now = Arc::new(|| Timestamp(1_700_000_000_000));
    let registry = builtins(World { now, files, sandbox: Sandbox::unavailable("not here"), web });
    registry.equip(&[Choice::of("research")], "", Conflicts::Refuse).unwrap()
}

fn files() -> Arc<dyn SessionFiles> {
    Arc::new(MemoryFiles::new(Arc::new(|| Timestamp(0))))
}

async fn call(tools: &Equipment, session: &str, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    let context = ToolContext::new(SessionId::parse(session).unwrap());
    let output = tools.toolbox.find(tool).unwrap().call(arguments, context).await?;
    Ok(serde_json::from_str(&output.for_model()).unwrap())
}

#[tokio::test]
async fn notes_cite_sources_and_quote_what_they_say() {
    let port = server().await;
    let tools = equipped(port, files());
    let url = format!("http://127.0.0.1:{port}/page");
    let found = call(&tools, "s", "research_web_search", json!({ "query": "release date?&" })).await.unwrap();
    assert_eq!(found["results"][0]["url"], "https://example.com/report");
    let source = call(&tools, "s", "research_add_source", json!({ "url": url })).await.unwrap();
    assert_eq!((&source["id"], &source["title"]), (&json!("S1"), &json!("The report")), "{source}");
    let again = call(&tools, "s", "research_add_source", json!({ "url": url })).await.unwrap();
    assert_eq!((&again["id"], &again["already"]), (&json!("S1"), &json!(true)));
    let note =
        json!({ "text": "It came in May.", "sources": ["S1"], "quote": "The release was in **May** 2024." });
    assert_eq!(call(&tools, "s", "research_add_note", note).await.unwrap()["id"], "N1");
    for (note, tells) in [
        (
            json!({ "text": "x", "sources": ["S1"], "quote": "The release was in June" }),
            "none of S1 says that",
        ),
        (json!({ "text": "x", "quote": "May" }), "needs the source"),
        (json!({ "text": "x", "sources": ["S2"] }), "there is no source `S2`"),
        (json!({ "text": "x", "sources": ["../x"] }), "does not match"),
    ] {
        let error = call(&tools, "s", "research_add_note", note).await.unwrap_err().to_string();
        assert!(error.contains(tells), "{error}");
    }
    let read = call(&tools, "s", "research_read", json!({})).await.unwrap();
    assert_eq!((&read["notes"], &read["sources"]), (&json!(1), &json!(1)));
    let text = read["markdown"].as_str().unwrap();
    assert!(text.contains("- **N1** It came in May. [S1]"), "{text}");
    assert!(text.contains("> The release was in **May** 2024. — [S1]"), "{text}");
    assert!(text.contains(&format!("- [S1] The report, {url} (taken 2023-11-14T22:13:20Z)")), "{text}");
    // Another session has nothing of it.
    let other = call(&tools, "other", "research_read", json!({})).await.unwrap();
    assert_eq!((&other["notes"], &other["sources"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn everything_of_the_session_is_searched_and_sources_stay_as_they_were() {
    let port = server().await;
    let tools = equipped(port, files());
    let page = json!({ "url": format!("http://127.0.0.1:{port}/page") });
    call(&tools, "s", "research_add_source", page).await.unwrap();
    let file = json!({ "path": "/docs/talk.md", "content": "nothing\nthe May release, says Ada\n" });
    call(&tools, "s", "write_file", file).await.unwrap();
    call(&tools, "s", "research_add_source", json!({ "path": "/docs/talk.md", "title": "A talk" }))
        .await
        .unwrap();
    call(&tools, "s", "research_add_note", json!({ "text": "May it is" })).await.unwrap();
    let found = call(&tools, "s", "research_search", json!({ "query": "ada may RELEASE" })).await.unwrap();
    let first = &found["matches"][0];
    assert_eq!((&first["words"], &first["line_number"]), (&json!(3), &json!(2)), "{found}");
    let sources: Vec<&Value> =
        found["matches"].as_array().unwrap().iter().map(|found| &found["source"]).collect();
    assert!(sources.contains(&&json!("S1")) && sources.contains(&&json!("S2")), "{found}");
    assert!(sources.contains(&&Value::Null), "notes and files are found too: {found}");
    // A tool cannot make a source say something else.
    let forged = json!({ "path": "/research/sources/S1.md", "content": "June" });
    let refused = call(&tools, "s", "write_file", forged).await.unwrap_err();
    assert!(matches!(&refused, ToolError::Refused(why) if why.contains("read-only")), "{refused}");
    let removed = json!({ "path": "/research", "recursive": true });
    assert!(call(&tools, "s", "delete_file", removed).await.is_err());
}

#[tokio::test]
async fn a_page_that_is_inside_missing_or_no_text_is_no_source() {
    let port = server().await;
    let tools = equipped(port, files());
    for (asked, tells) in [
        (json!({ "url": "http://169.254.169.254/latest" }), "169.254.169.254"),
        (json!({ "url": format!("http://127.0.0.1:{port}/none") }), "status 404"),
        (json!({ "url": "file:///etc/passwd" }), "http://"),
        (json!({ "path": "/none" }), "there is no `/none`"),
        (json!({ "path": "/../etc/passwd" }), "/../etc/passwd"),
        (json!({}), "not valid"),
        (json!({ "url": "http://a", "path": "/a" }), "valid"),
    ] {
        let error = call(&tools, "s", "research_add_source", asked.clone()).await.unwrap_err().to_string();
        assert!(error.contains(tells), "{asked}: {error}");
    }
    let none = call(&tools, "s", "research_search", json!({ "query": "?!" })).await.unwrap_err();
    assert!(none.to_string().contains("no word"), "{none}");
}

#[tokio::test]
async fn every_example_is_answered_one_after_the_other() {
    let port = server().await;
    let kept = files();
    let tools = equipped(port, Arc::clone(&kept));
    let interview = json!({ "path": "/docs/interview.md", "content": "It was in May.", "encoding": "text" });
    call(&tools, "s", "write_file", interview).await.unwrap();
    let mut told = Vec::new();
    for tool in tools.toolbox.iter().filter(|tool| tool.spec().name.as_str().starts_with("research_")) {
        for example in &tool.spec().examples {
            // The page and the search engine are here; all else is as the example has it.
            let text = example
                .to_string()
                .replace("https://example.com/report", &format!("http://127.0.0.1:{port}/page"));
            let arguments = serde_json::from_str(&text).unwrap();
            let answer = call(&tools, "s", tool.spec().name.as_str(), arguments).await;
            let answer = answer.unwrap_or_else(|error| panic!("{} {example}: {error}", tool.spec().name));
            told.push((tool.spec().name.to_string(), answer));
        }
    }
    let of = |name: &str| {
        told.iter().filter(|(known, _)| known == name).map(|(_, answer)| answer).collect::<Vec<_>>()
    };
    let sources: Vec<&Value> = of("research_add_source").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(sources, ["S1", "S2"]);
    assert_eq!(of("research_add_note")[0]["id"], "N1");
    assert_eq!(
        (&of("research_read")[0]["notes"], &of("research_read")[0]["sources"]),
        (&json!(1), &json!(2))
    );
    assert!(of("research_search")[0].to_string().contains("May"), "{told:?}");
    assert_eq!(of("research_web_search")[0]["results"][0]["title"], "The report");
    assert_eq!(told.len(), 6, "every tool shows how it is called");
}

//! The six tools of the session file system, as a model calls them.

use abide_capabilities::{FileSystem, MemoryFiles};
use abide_core::capability::{Conflicts, FilePath};
use abide_core::event::Timestamp;
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_engine::port::{NewFile, Quota, SessionFiles as _, SessionId, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;

struct Model {
    equipment: Equipment,
    files: Arc<MemoryFiles>,
}

impl Model {
    fn new(configuration: Option<Value>) -> Self {
        let files = Arc::new(MemoryFiles::new(Arc::new(|| Timestamp(1_782_907_200_000))));
        let mut registry = CapabilityRegistry::default();
        registry.register(Arc::new(FileSystem::new(Arc::clone(&files) as _))).unwrap();
        let choice = Choice { id: "session_file_system".to_owned(), configuration };
        let equipment = registry.equip(&[choice], "", Conflicts::Refuse).unwrap();
        Self { equipment, files }
    }

    /// Returns the answer, or the error as `code: message`.
    async fn call(&self, session: &str, tool: &str, arguments: Value) -> Result<Value, String> {
        let context = ToolContext::new(SessionId::parse(session).unwrap());
        let tool = self.equipment.toolbox.find(tool).unwrap();
        match tool.call(arguments, context).await {
            Ok(output) => Ok(serde_json::from_str(&output.for_model()).unwrap()),
            Err(error) => Err(format!("{}: {}", error.code(), error.for_model())),
        }
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Value {
        self.call("s", tool, arguments).await.unwrap()
    }

    async fn error(&self, tool: &str, arguments: Value) -> String {
        self.call("s", tool, arguments).await.unwrap_err()
    }
}

#[tokio::test]
async fn the_six_tools_answer_in_the_shapes_of_the_specification() {
    let model = Model::new(None);
    let names: Vec<_> = model.equipment.toolbox.iter().map(|tool| tool.spec().name.to_string()).collect();
    assert_eq!(
        names,
        ["read_file", "write_file", "list_directory", "grep_files", "delete_file", "stat_file"]
    );
    assert_eq!(
        model.ok("write_file", json!({ "path": "/docs/a/readme.txt", "content": "Hello\nWorld\n" })).await,
        json!({ "path": "/docs/a/readme.txt", "size_bytes": 12, "created": true })
    );
    assert_eq!(
        model.ok("write_file", json!({ "path": "/docs/a/readme.txt", "content": "Hallo\nWelt\n" })).await,
        json!({ "path": "/docs/a/readme.txt", "size_bytes": 11, "created": false })
    );
    assert_eq!(
        model.ok("read_file", json!({ "path": "/docs//a/./readme.txt" })).await,
        json!({ "path": "/docs/a/readme.txt", "content": "Hallo\nWelt\n", "encoding": "text", "size_bytes": 11 })
    );
    assert_eq!(
        model.ok("list_directory", json!({})).await,
        json!({ "path": "/", "count": 1, "entries": [
            { "name": "docs", "path": "/docs", "is_directory": true, "size_bytes": 0 }
        ] })
    );
    assert_eq!(
        model.ok("grep_files", json!({ "pattern": "W.lt", "path_pattern": "*.txt" })).await,
        json!({ "pattern": "W.lt", "match_count": 1, "matches": [
            { "path": "/docs/a/readme.txt", "line_number": 2, "line": "Welt" }
        ] })
    );
    assert_eq!(
        model.ok("stat_file", json!({ "path": "/docs/a/readme.txt" })).await,
        json!({
            "path": "/docs/a/readme.txt", "name": "readme.txt", "exists": true, "is_directory": false,
            "is_readonly": false, "size_bytes": 11,
            // It was written twice in the same moment, and what it is known by must differ.
            "created_at": "2026-07-01T12:00:00Z", "updated_at": "2026-07-01T12:00:00.001Z"
        })
    );
    assert_eq!(
        model.ok("delete_file", json!({ "path": "/docs", "recursive": true })).await,
        json!({ "path": "/docs", "deleted": true })
    );
    assert_eq!(
        model.ok("stat_file", json!({ "path": "/docs" })).await,
        json!({ "path": "/docs", "name": "docs", "exists": false })
    );
}

#[tokio::test]
async fn the_examples_are_answered_in_the_order_in_which_they_make_sense() {
    let model = Model::new(None);
    for tool in ["write_file", "read_file", "list_directory", "grep_files", "stat_file", "delete_file"] {
        for example in &model.equipment.toolbox.find(tool).unwrap().spec().examples {
            model.ok(tool, example.clone()).await;
        }
    }
}

#[tokio::test]
async fn bytes_travel_in_base64_and_come_back_as_they_were() {
    let model = Model::new(None);
    for (path, sent, encoding) in
        [("/bin", "AAEC/w==", "base64"), ("/nul", "YQBi", "base64"), ("/text", "aGkK", "text")]
    {
        model.ok("write_file", json!({ "path": path, "content": sent, "encoding": "base64" })).await;
        let read = model.ok("read_file", json!({ "path": path })).await;
        assert_eq!(read["encoding"], encoding, "{path}");
        assert_eq!(read["content"], if encoding == "text" { "hi\n" } else { sent }, "{path}");
    }
    let error =
        model.error("write_file", json!({ "path": "/b", "content": "%%", "encoding": "base64" })).await;
    assert!(error.starts_with("failed: content is not base64"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_too_long_for_an_answer_is_cut_and_says_so() {
    let model = Model::new(None);
    let text = "zeile\n".repeat(100_000);
    model.ok("write_file", json!({ "path": "/long", "content": text })).await;
    let read = model.ok("read_file", json!({ "path": "/long" })).await;
    assert_eq!((&read["truncated"], &read["size_bytes"]), (&json!(true), &json!(600_000)));
    let content = read["content"].as_str().unwrap();
    assert!(content.len() > 200_000 && text.starts_with(content));
    let bytes = "AAEC".repeat(100_000);
    model.ok("write_file", json!({ "path": "/bytes", "content": bytes, "encoding": "base64" })).await;
    let read = model.ok("read_file", json!({ "path": "/bytes" })).await;
    assert_eq!((&read["truncated"], read["content"].as_str().unwrap().len() % 4), (&json!(true), 0));
}

#[tokio::test]
async fn no_path_leads_out_of_a_session() {
    let model = Model::new(None);
    model.ok("write_file", json!({ "path": "/caf\u{e9}", "content": "mine" })).await;
    for tool in ["read_file", "list_directory", "stat_file", "delete_file", "write_file"] {
        for path in ["/../etc/passwd", "etc/passwd", "/a/../../b", "/a\0b", "..", "/\u{202e}a", "/a\\..\\b"] {
            let mut arguments = json!({ "path": path });
            if tool == "write_file" {
                arguments["content"] = json!("x");
            }
            let error = model.error(tool, arguments).await;
            assert!(error.starts_with("refused: "), "{tool} {path:?}: {error}");
        }
        assert!(
            model.error(tool, json!({ "path": "", "content": "" })).await.starts_with("invalid_arguments")
        );
    }
    assert_eq!(model.ok("read_file", json!({ "path": "/cafe\u{301}" })).await["content"], "mine");
    let other = model.call("t", "read_file", json!({ "path": "/caf\u{e9}" })).await;
    assert_eq!(other, Err("failed: there is no `/caf\u{e9}`".to_owned()));
    assert_eq!(model.call("t", "grep_files", json!({ "pattern": "mine" })).await.unwrap()["match_count"], 0);
}

#[tokio::test]
async fn what_cannot_be_done_says_why() {
    let model = Model::new(Some(json!({ "file_bytes": 10, "total_bytes": 15, "entries": 3 })));
    model.ok("write_file", json!({ "path": "/d/a", "content": "0123456789" })).await;
    let given = NewFile { path: FilePath::parse("/given").unwrap(), bytes: b"x".to_vec(), readonly: true };
    model.files.write(&SessionId::parse("s").unwrap(), given, Quota::default()).await.unwrap();
    for (tool, arguments, tells) in [
        (
            "write_file",
            json!({ "path": "/d/a", "content": "01234567890" }),
            "refused: a file has at most 10 bytes",
        ),
        ("write_file", json!({ "path": "/given/b", "content": "" }), "failed: `/given` is a file"),
        ("write_file", json!({ "path": "/e", "content": "" }), "refused: a session has at most 3 files"),
        ("write_file", json!({ "path": "/given", "content": "" }), "refused: `/given` is read-only"),
        ("write_file", json!({ "path": "/d", "content": "" }), "failed: `/d` is a directory"),
        ("read_file", json!({ "path": "/d" }), "failed: `/d` is a directory"),
        ("list_directory", json!({ "path": "/d/a" }), "failed: `/d/a` is a file"),
        ("delete_file", json!({ "path": "/d" }), "failed: `/d` is a directory that is not empty"),
        ("delete_file", json!({ "path": "/", "recursive": true }), "refused: `/` cannot be deleted"),
        ("delete_file", json!({ "path": "/given" }), "refused: `/given` is read-only"),
        ("grep_files", json!({ "pattern": "(" }), "failed: the pattern is no regular expression"),
        ("grep_files", json!({ "pattern": "x", "path_pattern": "[" }), "failed: the path pattern is no glob"),
    ] {
        let error = model.error(tool, arguments.clone()).await;
        assert!(error.starts_with(tells), "{tool} {arguments}: {error}");
    }
    assert_eq!(model.ok("read_file", json!({ "path": "/d/a" })).await["content"], "0123456789");
}

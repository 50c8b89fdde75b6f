//! The tools of a project: what they do, and what they are not to be talked into.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use abide_capabilities::{Workspace, launcher};
use abide_engine::port::{Capability as _, SessionId, Stopper, ToolContext, ToolError};
use abide_engine::toolbox::Toolbox;
use abide_process::LocalProcess;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

struct Project {
    folder: tempfile::TempDir,
    tools: Toolbox,
}

fn project() -> Project {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("project");
    std::fs::create_dir_all(inside.join("src")).unwrap();
    std::fs::create_dir_all(inside.join("node_modules/x")).unwrap();
    std::fs::write(inside.join("src/main.rs"), "fn main() {\n    one();\n    one();\n}\n").unwrap();
    std::fs::write(inside.join("README.md"), "# Read me\n").unwrap();
    std::fs::write(inside.join("node_modules/x/main.rs"), "fn main() {}\n").unwrap();
    std::fs::write(inside.join("data.bin"), [0xff, 0xfe, 0, 1]).unwrap();
    std::fs::write(folder.path().join("secret"), "hunter2\n").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("leak")).unwrap();
    std::os::unix::fs::symlink(folder.path(), inside.join("up")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nothing"), inside.join("dangling")).unwrap();
    std::os::unix::fs::symlink("main.rs", inside.join("src/same.rs")).unwrap();
    let launch = launcher(Arc::new(LocalProcess::new()));
    let mark = format!("test/workspace/{}", folder.path().file_name().unwrap().to_string_lossy());
    let workspace = Workspace::new(inside, launch, mark, vec!["HOME".into()]);
    Project { tools: Toolbox::new(workspace.tools()).unwrap(), folder }
}

impl Project {
    async fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        self.call_with(tool, arguments, ToolContext::new(SessionId::parse("s").unwrap())).await
    }

    async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        context: ToolContext,
    ) -> Result<String, ToolError> {
        let output = self.tools.find(tool)?.call(arguments, context).await?;
        Ok(output.for_model())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_found_and_changed() {
    let project = project();
    let read = project.call("read", json!({ "path": "src/main.rs", "offset": 1, "limit": 1 })).await.unwrap();
    assert_eq!(read, "2\t    one();\n[… the file has 4 lines; `offset` reads on]\n");
    assert_eq!(
        project.call("read", json!({ "path": "./src/../README.md" })).await.unwrap(),
        "1\t# Read me\n"
    );
    assert_eq!(project.call("list", json!({ "path": "src" })).await.unwrap(), "main.rs\nsame.rs");
    assert_eq!(project.call("glob", json!({ "pattern": "*.rs" })).await.unwrap(), "src/main.rs");
    assert_eq!(project.call("glob", json!({ "pattern": "**/*.md" })).await.unwrap(), "README.md");
    assert_eq!(
        project.call("grep", json!({ "pattern": "fn m.in" })).await.unwrap(),
        "src/main.rs:1: fn main() {"
    );
    assert_eq!(
        project.call("grep", json!({ "pattern": "main", "include": "*.md" })).await.unwrap(),
        "(nothing)"
    );
    let twice = json!({ "path": "src/main.rs", "old_text": "one()", "new_text": "two()" });
    let error = project.call("edit", twice).await.unwrap_err().to_string();
    assert!(error.contains("2 times"), "{error}");
    let all = json!({ "path": "src/main.rs", "old_text": "one()", "new_text": "two()", "all": true });
    assert_eq!(project.call("edit", all).await.unwrap(), "replaced 2 in src/main.rs");
    let made = project.call("write", json!({ "path": "a/b/c.txt", "content": "x" })).await.unwrap();
    assert_eq!(made, "wrote 1 bytes to a/b/c.txt");
    let root = project.folder.path().join("project");
    assert_eq!(std::fs::read_to_string(root.join("a/b/c.txt")).unwrap(), "x");
    assert!(std::fs::read_to_string(root.join("src/main.rs")).unwrap().contains("two();\n    two();"));
    assert_eq!(
        project.call("read", json!({ "path": "src/same.rs", "limit": 1 })).await.unwrap().lines().next(),
        Some("1\tfn main() {")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out_of_the_project() {
    let project = project();
    let outside = project.folder.path().join("secret").display().to_string();
    for path in [
        "../secret",
        "src/../../secret",
        "leak",
        "up/secret",
        "up",
        "dangling",
        "/etc/passwd",
        &outside,
        "a\0b",
        "up/../../secret",
        &"x/".repeat(3_000),
    ] {
        let calls = [
            ("read", json!({ "path": path })),
            ("list", json!({ "path": path })),
            ("grep", json!({ "pattern": "hunter", "path": path })),
            ("glob", json!({ "pattern": "*", "path": path })),
            ("write", json!({ "path": path, "content": "mine" })),
            ("edit", json!({ "path": path, "old_text": "hunter2", "new_text": "mine" })),
        ];
        for (tool, arguments) in calls {
            let error = project.call(tool, arguments).await.expect_err(path);
            assert_eq!(error.code(), "refused", "{tool} {path}: {error}");
            assert!(
                !error.to_string().contains(&*project.folder.path().to_string_lossy()) || path == outside
            );
        }
    }
    assert_eq!(std::fs::read_to_string(project.folder.path().join("secret")).unwrap(), "hunter2\n");
    assert!(!project.folder.path().join("nothing").exists());
    let found = project.call("grep", json!({ "pattern": "hunter" })).await.unwrap();
    assert_eq!(found, "(nothing)", "a walk follows no link");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_said_so_that_it_can_be_done_better() {
    let project = project();
    for (tool, arguments, why) in [
        ("read", json!({ "path": "none.txt" }), "entity not found"),
        ("read", json!({ "path": "data.bin" }), "no text in UTF-8"),
        ("read", json!({ "path": "src" }), "no file"),
        ("write", json!({ "path": "src", "content": "" }), "is a folder"),
        ("edit", json!({ "path": "README.md", "old_text": "zzz", "new_text": "" }), "is not in"),
        ("grep", json!({ "pattern": "(" }), "no regular expression"),
        ("grep", json!({ "pattern": "((a{1000}){1000}){1000}" }), "too large"),
        ("glob", json!({ "pattern": "[" }), "no glob"),
    ] {
        let error = project.call(tool, arguments).await.unwrap_err();
        assert!(error.to_string().contains(why), "{tool}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_run_in_the_project_bounded_and_without_keys() {
    let project = project();
    let ran = project.call("bash", json!({ "command": "pwd -P; echo oops >&2; exit 3" })).await.unwrap();
    let ran: Value = serde_json::from_str(&ran).unwrap();
    let root = project.folder.path().canonicalize().unwrap().join("project");
    assert_eq!(ran, json!({ "exit_code": 3, "stdout": format!("{}\n", root.display()), "stderr": "oops\n" }));
    let kept = project.call("bash", json!({ "command": "echo ${HOME-nothing}" })).await.unwrap();
    assert!(kept.contains(r#""stdout":"nothing\n""#), "{kept}");
    let context = ToolContext { output_bytes: 8_000, ..ToolContext::new(SessionId::parse("s").unwrap()) };
    let command = "echo first; head -c 200000 /dev/zero | tr '\\0' x; echo; echo last";
    let long = project.call_with("bash", json!({ "command": command }), context).await.unwrap();
    assert!(
        long.len() < 8_000
            && long.contains("first")
            && long.contains("last")
            && long.contains("bytes left out")
    );
    let late = project.call("bash", json!({ "command": "sleep 30", "timeout_seconds": 1 })).await.unwrap();
    assert!(late.contains("after 1 seconds"), "{late}");
    let (stopper, stop) = Stopper::pair();
    let context = ToolContext { stop, ..ToolContext::new(SessionId::parse("s").unwrap()) };
    let before = tokio::time::Instant::now();
    let running = project.call_with("bash", json!({ "command": "sleep 30" }), context);
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stopper.stop();
    };
    let (ended, ()) = tokio::join!(running, stopping);
    assert_eq!(ended.unwrap_err(), ToolError::Cancelled);
    assert!(before.elapsed() < Duration::from_millis(1_200));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_are_answered_where_there_is_what_they_are_about() {
    let project = project();
    std::fs::write(project.folder.path().join("project/src/main.rs"), "fn main() { todo(\"TODO\", 1.0) }\n")
        .unwrap();
    let mut tried = 0;
    for tool in project.tools.iter() {
        let name = tool.spec().name.as_str();
        // What would need a compiler is only shown.
        let examples = tool.spec().examples.iter().filter(|example| example["command"] != "cargo test");
        for example in examples {
            let answer = project.call(name, example.clone()).await;
            assert!(answer.is_ok(), "{name} {example}: {answer:?}");
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried}");
    let inside =
        |path: &str| std::fs::read_to_string(project.folder.path().join("project").join(path)).unwrap();
    assert_eq!(
        (inside("notes/today.md").as_str(), inside("src/main.rs").contains("1.1")),
        ("# Today\n", true)
    );
}

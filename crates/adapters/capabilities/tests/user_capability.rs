//! Capabilities that users write: what their processes get, and what they cannot do.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write the files of a project")]

use abide_capabilities::{Ground, UserCapability, launcher};
use abide_core::capability::{CapabilityStatus, Conflicts};
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_engine::port::{Capability as _, SessionId, Stopper, ToolContext, ToolError};
use abide_process::LocalProcess;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TOOLS: &str = r#"
description: Tools of a test
configuration: { type: object, properties: { greeting: { type: string, default: hello } }, additionalProperties: false }
tools:
  - name: words
    description: Prints its arguments, one a line
    arguments: { type: object, properties: { text: { type: string } }, required: [text] }
    command: [./words.sh, "{{configuration.greeting}}", --, "{{arguments.text}}"]
  - name: script
    description: Prints a value in every quoting context
    arguments: { type: object, properties: { text: { type: string } }, required: [text] }
    run: |
      printf '%s|' {{arguments.text}} "{{arguments.text}}" '{{arguments.text}}'
  - name: input
    description: Prints what it is given
    arguments: { type: object }
    run: cat; printf '|'; cat "$ABIDE_ARGUMENTS_FILE"
    json: false
  - name: answer
    description: Answers with JSON
    run: echo '{"a":1}'
    json: true
  - name: no_answer
    description: Answers with something else
    run: echo nothing
    json: true
  - name: fails
    description: Fails
    run: echo out; echo why >&2; exit 3
  - name: long
    description: Prints for ever
    run: yes
    output_bytes: 100
    timeout: 300ms
  - name: much
    description: Prints much
    run: head -c 100000 /dev/zero | tr '\0' x
    output_bytes: 100
  - name: environment
    description: Prints its environment
    run: env
    env: { CARGO_MANIFEST_DIR: set by the file }
  - name: waits
    description: Waits in a process of its own
    arguments: { type: object, properties: { mark: { type: string } }, required: [mark] }
    run: |
      sleep 300 & echo $! > {{arguments.mark}}
      wait
"#;

fn capability(folder: &Path, check: abide_capabilities::Check) -> UserCapability {
    let script = folder.join("words.sh");
    std::fs::write(&script, "#!/bin/sh\nfor word in \"$@\"; do printf '<%s>' \"$word\"; done\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let reading = abide_formats::bundle::read(TOOLS, "test");
    assert_eq!(reading.problems, []);
    let launch = launcher(Arc::new(LocalProcess::new()));
    let without = ["HOME", "CARGO_MANIFEST_DIR"].map(str::to_owned).to_vec();
    let ground = Ground { folder: folder.into(), root: folder.into(), launch, without, check };
    UserCapability::new(reading.bundle.unwrap(), ground)
}

fn equipped(folder: &Path, configuration: Option<Value>) -> Equipment {
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(capability(folder, Arc::new(|| Ok(()))))).unwrap();
    let choice = Choice { id: "test".to_owned(), configuration };
    registry.equip(&[choice], "", Conflicts::Refuse).unwrap()
}

async fn call(equipment: &Equipment, tool: &str, arguments: Value) -> Result<String, ToolError> {
    let context = ToolContext::new(SessionId::parse("s").unwrap());
    Ok(equipment.toolbox.find(tool).unwrap().call(arguments, context).await?.for_model())
}

#[tokio::test]
async fn values_are_data_in_words_and_in_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(folder.path(), None);
    for text in
        ["a b", "$(touch hacked)", "`id`", "'; touch hacked; '", "\" && touch hacked", "-rf", "é\n*", ""]
    {
        let words = call(&tools, "words", json!({ "text": text })).await.unwrap();
        assert_eq!(words, format!("<hello><--><{text}>"));
        let script = call(&tools, "script", json!({ "text": text })).await.unwrap();
        assert_eq!(script, format!("{text}|{text}|{text}|"));
    }
    assert!(!folder.path().join("hacked").exists());
    let arguments = json!({ "deep": [1, { "a": "b" }], "text": "x".repeat(200_000) });
    assert_eq!(
        call(&tools, "input", arguments.clone()).await.map(|text| text.len()).unwrap(),
        65536 + "\n[… the rest is left out]".len()
    );
    let small = json!({ "deep": [1, { "a": "b" }] });
    assert_eq!(call(&tools, "input", small.clone()).await.unwrap(), format!("{small}|{small}"));
}

#[tokio::test]
async fn a_variable_that_is_kept_from_its_tools_is_there_only_if_the_file_sets_it() {
    for name in ["HOME", "CARGO_MANIFEST_DIR", "PATH"] {
        assert!(std::env::var_os(name).is_some(), "{name}: there is nothing to keep");
    }
    let folder = tempfile::tempdir().unwrap();
    let environment = call(&equipped(folder.path(), None), "environment", json!({})).await.unwrap();
    let lines: Vec<&str> = environment.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("PATH=")), "{environment}");
    assert!(!lines.iter().any(|line| line.starts_with("HOME=")), "{environment}");
    let set: Vec<_> = lines.iter().filter(|line| line.starts_with("CARGO_MANIFEST_DIR=")).collect();
    assert_eq!(set, [&"CARGO_MANIFEST_DIR=set by the file"]);
}

#[tokio::test]
async fn a_configuration_is_the_agents_own() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(folder.path(), Some(json!({ "greeting": "hi" })));
    assert_eq!(call(&tools, "words", json!({ "text": "x" })).await.unwrap(), "<hi><--><x>");
    // A configured value is held to the same rule as an argument.
    let tools = equipped(folder.path(), Some(json!({ "greeting": "--evil" })));
    let refused = call(&tools, "words", json!({ "text": "x" })).await.unwrap_err();
    assert!(refused.to_string().contains("would be read as an option"), "{refused}");
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(capability(folder.path(), Arc::new(|| Ok(()))))).unwrap();
    let choice = Choice { id: "test".to_owned(), configuration: Some(json!({ "greetin": "x" })) };
    let wrong = registry.equip(&[choice], "", Conflicts::Refuse).unwrap_err();
    assert!(wrong[0].to_string().contains("'greetin' was unexpected"), "{wrong:?}");
}

#[tokio::test]
async fn failures_and_bounds_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(folder.path(), None);
    assert_eq!(call(&tools, "answer", json!({})).await.unwrap(), r#"{"a":1}"#);
    for (tool, tells) in [
        ("no_answer", "did not answer with JSON"),
        ("fails", "`fails` ended with exit code 3: why"),
        ("long", "its time was over"),
    ] {
        let error = call(&tools, tool, json!({})).await.unwrap_err();
        assert!(matches!(&error, ToolError::Failed(said) if said.contains(tells)), "{tool}: {error}");
    }
    let much = call(&tools, "much", json!({})).await.unwrap();
    assert_eq!(much, format!("{}\n[… the rest is left out]", "x".repeat(100)));
}

#[tokio::test]
async fn a_call_that_is_stopped_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let tools = equipped(folder.path(), None);
    let mark = folder.path().join("pid");
    let (stopper, stop) = Stopper::pair();
    let context = ToolContext { stop, ..ToolContext::new(SessionId::parse("s").unwrap()) };
    let tool = tools.toolbox.find("waits").unwrap().clone();
    let arguments = json!({ "mark": mark.to_str().unwrap() });
    let calling = tokio::spawn(async move { tool.call(arguments, context).await });
    let pid = loop {
        match std::fs::read_to_string(&mark).ok().and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(pid) => break pid,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    let started = Instant::now();
    stopper.stop();
    assert_eq!(calling.await.unwrap(), Err(ToolError::Cancelled));
    let gone = || {
        !Path::new(&format!("/proc/{pid}/cmdline")).exists()
            || std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|text| text.is_empty())
    };
    while !gone() {
        assert!(started.elapsed() < Duration::from_secs(2), "the child still runs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_is_not_trusted_is_shown_and_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&trusted);
    let check: abide_capabilities::Check =
        Arc::new(move || if asked.load(Ordering::SeqCst) { Ok(()) } else { Err("not trusted".to_owned()) });
    let untrusted = capability(folder.path(), Arc::clone(&check));
    assert_eq!(untrusted.status(), CapabilityStatus::Unavailable { why: "not trusted".to_owned() });
    assert_eq!(untrusted.tools().len(), 10);
    // One that was trusted when the agent was put together, and changes afterwards.
    trusted.store(true, Ordering::SeqCst);
    let mut registry = CapabilityRegistry::default();
    registry.register(Arc::new(capability(folder.path(), check))).unwrap();
    let tools = registry.equip(&[Choice::of("test@1")], "", Conflicts::Refuse).unwrap();
    assert!(call(&tools, "answer", json!({})).await.is_ok());
    trusted.store(false, Ordering::SeqCst);
    let refused = call(&tools, "answer", json!({})).await.unwrap_err();
    assert_eq!(refused, ToolError::Refused("not trusted".to_owned()));
}

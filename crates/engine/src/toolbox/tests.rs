//! What a toolbox hands to a tool, and what it answers itself.

use super::*;
use crate::port::{Beside, Later, SessionId, Stopper};
use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::model::ImageMedia;
use abide_core::policy::ToolKind;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Handler = dyn Fn(Value) -> Later<Result<ToolOutput, ToolError>> + Send + Sync;

struct Fake {
    spec: ToolSpec,
    calls: Arc<AtomicUsize>,
    handler: Box<Handler>,
}

impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        (self.handler)(arguments)
    }
}

fn spec(name: &str, arguments: Value) -> ToolSpec {
    ToolSpec {
        name: ToolName::parse(name).unwrap(),
        description: "does it".to_owned(),
        arguments,
        kind: ToolKind::Other,
        risk: Risk::None,
        tier: Tier::Auto,
        beside: Beside::Others,
        examples: Vec::new(),
    }
}

fn fake(
    spec: ToolSpec,
    handler: impl Fn(Value) -> Later<Result<ToolOutput, ToolError>> + Send + Sync + 'static,
) -> (Arc<dyn Tool>, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    (Arc::new(Fake { spec, calls: Arc::clone(&calls), handler: Box::new(handler) }), calls)
}

fn echo() -> (CheckedTool, Arc<AtomicUsize>) {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "string", "pattern": "^x+$" } },
        "required": ["a"],
        "additionalProperties": false
    });
    let (tool, calls) = fake(spec("echo", schema), |value| Box::pin(async { Ok(ToolOutput::Json(value)) }));
    (CheckedTool::new(tool).unwrap(), calls)
}

fn anything() -> Value {
    json!({ "type": "object" })
}

fn context() -> ToolContext {
    ToolContext::new(SessionId::parse("s-1").unwrap())
}

#[tokio::test]
async fn a_handler_never_sees_arguments_that_do_not_fit() {
    let (tool, calls) = echo();
    for (arguments, tells) in [
        (json!({}), "\"a\" is a required property"),
        (json!({ "a": "1" }), "/a: \"1\" is not of type \"number\""),
        (json!({ "a": 1, "c": 2 }), "'c' was unexpected"),
        (json!({ "a": 1, "b": "xyz" }), "/b: "),
        (json!([1]), "is not of type \"object\""),
        (json!(null), "is not of type \"object\""),
    ] {
        let error = tool.call(arguments.clone(), context()).await.unwrap_err();
        assert_eq!(error.code(), "invalid_arguments");
        assert!(error.for_model().contains(tells), "{arguments}: {error}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    let answer = tool.call(json!({ "a": 1, "b": "xx" }), context()).await;
    assert_eq!(answer, Ok(ToolOutput::Json(json!({ "a": 1, "b": "xx" }))));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn arguments_and_what_is_said_about_them_are_bounded() {
    let (tool, calls) = echo();
    let error = tool.check(&json!({ "a": "x".repeat(1 << 20) })).unwrap_err();
    assert!(error.for_model().len() < 1000, "{}", error.for_model().len());
    let error = tool.call(json!({ "a": 1, "b": "x".repeat(ARGUMENT_BYTES) }), context()).await.unwrap_err();
    assert!(error.for_model().contains("longer than"), "{error}");
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_detail_of_an_internal_error_stays_inside() {
    let (tool, _) = fake(spec("breaks", anything()), |_| {
        Box::pin(async { Err(ToolError::Internal("disk /var/lib/x is full, key sk-123".to_owned())) })
    });
    let error = CheckedTool::new(tool).unwrap().call(json!({}), context()).await.unwrap_err();
    assert!(!error.for_model().contains("sk-123") && !error.for_model().contains("/var"), "{error}");
    assert!(error.to_string().contains("sk-123"));
}

#[tokio::test]
async fn a_handler_that_panics_costs_one_error() {
    for early in [true, false] {
        let (tool, _) = fake(spec("panics", anything()), move |_| {
            assert!(!early, "at once");
            Box::pin(async { panic!("later") })
        });
        let error = CheckedTool::new(tool).unwrap().call(json!({}), context()).await.unwrap_err();
        assert_eq!(error.code(), "internal");
    }
}

#[tokio::test]
async fn a_handler_that_hangs_ends_with_its_time_or_when_it_is_stopped() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let held = Arc::clone(&dropped);
    let (tool, calls) = fake(spec("hangs", anything()), move |_| {
        let guard = Dropped(Arc::clone(&held));
        Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        })
    });
    let tool = CheckedTool::new(tool).unwrap();
    let limited = ToolContext { time_left: Some(Duration::from_millis(30)), ..context() };
    let error = tool.call(json!({}), limited).await.unwrap_err();
    assert_eq!(error.to_string(), "`hangs` was ended after 30 ms");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);

    let (stopper, stop) = Stopper::pair();
    let call = tool.call(json!({}), ToolContext { stop: stop.clone(), ..context() });
    let (ended, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        stopper.stop();
    });
    assert_eq!(ended, Err(ToolError::Cancelled));
    assert_eq!(dropped.load(Ordering::SeqCst), 2);

    let late = tool.call(json!({}), ToolContext { stop, ..context() }).await;
    assert_eq!(late, Err(ToolError::Cancelled));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "what is stopped before it starts does not start");
}

#[tokio::test]
async fn a_stopper_that_is_dropped_stops_nothing() {
    let (stopper, stop) = Stopper::pair();
    drop(stopper);
    assert!(!stop.happened());
    assert!(tokio::time::timeout(Duration::from_millis(50), stop.wait()).await.is_err());
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_cut_and_says_so() {
    let (tool, _) =
        fake(spec("talks", anything()), |_| Box::pin(async { Ok(ToolOutput::Text("ä".repeat(100))) }));
    let limited = ToolContext { output_bytes: 5, ..context() };
    let answer = CheckedTool::new(tool).unwrap().call(json!({}), limited).await.unwrap();
    assert_eq!(answer, ToolOutput::Text("ää\n[… 196 of 200 bytes left out]".to_owned()));
}

#[tokio::test]
async fn pictures_for_which_there_is_no_room_are_left_out_and_that_is_said() {
    let image = |bytes: usize| Image { media: ImageMedia::Png, bytes: Arc::from(vec![0; bytes]) };
    let (tool, _) = fake(spec("shows", anything()), move |_| {
        let images = vec![image(4), image(9), image(6)];
        Box::pin(async { Ok(ToolOutput::Shown { text: "three".to_owned(), images }) })
    });
    let tool = CheckedTool::new(tool).unwrap();
    let limited = ToolContext { picture_bytes: 10, ..context() };
    let ToolOutput::Shown { text, images } = tool.call(json!({}), limited).await.unwrap() else { panic!() };
    assert_eq!(images, [image(4), image(6)]);
    let left_out = "three\n[… 1 of 3 pictures left out: an answer shows at most 8 of 10 bytes together]";
    assert_eq!(text, left_out);
}

#[test]
fn a_schema_that_cannot_be_used_is_found_before_a_model_is_told_it() {
    for (schema, tells) in [
        (json!({}), "type: object"),
        (json!({ "type": "string" }), "type: object"),
        (json!({ "type": "object", "properties": 3 }), "properties"),
        (json!({ "type": "object", "$ref": "http://127.0.0.1:1/x.json" }), "127.0.0.1"),
        (json!({ "type": "object", "$ref": "file:///etc/passwd" }), "passwd"),
        (
            json!({ "type": "object", "properties": { "a": { "pattern": "(a)\\1" } } }),
            "/properties/a/pattern",
        ),
    ] {
        let (tool, _) = fake(spec("odd", schema.clone()), |_| Box::pin(async { unreachable!() }));
        let error = CheckedTool::new(tool).unwrap_err().to_string();
        assert!(error.contains(tells), "{schema}: {error}");
    }
    let shown = ToolSpec { examples: vec![json!({}), json!([])], ..spec("odd", anything()) };
    let (tool, _) = fake(shown, |_| Box::pin(async { unreachable!() }));
    assert!(CheckedTool::new(tool).unwrap_err().to_string().starts_with("example 2 of tool `odd`"));
}

#[tokio::test]
async fn a_pattern_takes_linear_time_on_a_text_made_to_hang_it() {
    let schema = json!({ "type": "object", "properties": { "a": { "pattern": "^(a+)+$" } } });
    let (tool, _) = fake(spec("slow", schema), |_| Box::pin(async { unreachable!() }));
    let tool = CheckedTool::new(tool).unwrap();
    let text = format!("{}!", "a".repeat(100_000));
    let check = tokio::task::spawn_blocking(move || tool.check(&json!({ "a": text })));
    let error = tokio::time::timeout(Duration::from_secs(20), check).await.expect("no backtracking").unwrap();
    assert_eq!(error.unwrap_err().code(), "invalid_arguments");
}

#[test]
fn a_toolbox_has_each_name_once_and_knows_what_was_meant() {
    let tool = |name| fake(spec(name, anything()), |_| Box::pin(async { unreachable!() })).0;
    let toolbox = Toolbox::new([tool("read_file"), tool("write_file")]).unwrap();
    assert_eq!(toolbox.find("write_file").unwrap().spec().name.as_str(), "write_file");
    let error = toolbox.find("read_fil").unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `read_fil`; did you mean `read_file`?");
    assert_eq!(
        toolbox.find("Read_File").unwrap_err().code(),
        "unknown_tool",
        "names count as they are spelt"
    );
    let twice = Toolbox::new([tool("add"), tool("add")]).unwrap_err();
    assert_eq!(twice, BadTool::Twice { tool: "add".to_owned() });
}

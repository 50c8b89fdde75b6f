//! Pictures: from a file to the wire, and to the wire again when the conversation goes on.

use crate::stage::{Stage, call};
use abide_testkit::model::{Request, Turn};
use serde_json::{Value, json};
use std::process::Output;

/// The beginning of a picture, and how it is written as text.
const PNG: (&[u8], &str) = (b"\x89PNG\r\n\x1a\n\0\xff dot", "iVBORw0KGgoA/yBkb3Q=");
/// One of another kind.
const JPEG: (&[u8], &str) = (b"\xff\xd8\xff\xe0 photo", "/9j/4CBwaG90bw==");

/// Returns what a model was told first.
fn first(request: &Request) -> Value {
    let messages = request.body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["role"] == "user").unwrap()["content"].clone()
}

#[test]
fn a_picture_arrives_as_it_is_in_both_wire_formats_and_stays_in_the_conversation() {
    let stage = Stage::new(&[], vec![Turn::text("A dot."), Turn::text("Still a dot."), Turn::text("A dot.")]);
    stage.write("shots/dot.png", PNG.0);
    // What it is called says nothing about what it is.
    stage.write("photo.png", JPEG.0);
    let shown = ["--image", "shots/dot.png", "--image", "photo.png"];
    let output = stage.output(&[&["agent", "run", "default", "what is this?"][..], &shown].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "A dot.\n");
    let url = |media: &str, data: &str| json!({ "type": "image_url", "image_url": { "url": format!("data:{media};base64,{data}") } });
    let said = [
        url("image/png", PNG.1),
        url("image/jpeg", JPEG.1),
        json!({ "type": "text", "text": "what is this?" }),
    ];
    assert_eq!(first(&stage.requests()[0]), json!(said));

    let session = stage.session_of(&output);
    let output = stage.output(&["chat", "--resume", &session, "--message", "sure?"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(first(&stage.requests()[1]), json!(said), "it is in the log");

    let mut command = stage.abide(&["chat", "--message", "what is this?", "--image", "shots/dot.png"]);
    let output = stage.anthropic(&mut command).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let told = first(&stage.requests()[2]);
    assert_eq!(
        told[0],
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG.1 } })
    );
    assert_eq!(told[1]["text"], "what is this?");
}

#[test]
fn what_cannot_be_shown_is_said_before_anything_is_asked() {
    let stage = Stage::new(&[], Vec::new());
    stage.write("dot.png", PNG.0);
    stage.write("dot.svg", "<svg/>");
    let large = |bytes: usize| [b"\x89PNG\r\n\x1a\n".as_slice(), &vec![0; bytes - 8]].concat();
    stage.write("large.png", large((5 << 20) + 1));
    stage.write("most.png", large(5 << 20));
    for (files, code, what) in [
        (vec!["none.png"], 3, "cannot read the picture none.png: No such file or directory"),
        (vec![".abide"], 4, "cannot read the picture .abide: it is no file"),
        (vec!["dot.png", "dot.svg"], 2, "dot.svg is no picture that models take, by its first bytes"),
        (vec!["large.png"], 2, "the picture large.png has more than 5242880 bytes"),
        (vec!["dot.png"; 9], 2, "9 pictures are given, and a message takes 8"),
        (vec!["most.png"; 5], 2, "the pictures have 26214400 bytes together, and a message takes 20971520"),
    ] {
        let shown = files.iter().flat_map(|file| ["--image", file]);
        let arguments: Vec<&str> = ["agent", "run", "default", "look"].into_iter().chain(shown).collect();
        let output = stage.output(&arguments);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{talk}");
        assert!(talk.contains(what) && talk.contains("\n  = "), "{what}: {talk}");
    }
    let output = stage.output(&["chat", "--image", "dot.png"]);
    assert_eq!(output.status.code(), Some(2), "a picture goes with a message");
    assert_eq!(stage.requests().len(), 0);
    assert!(!stage.path(".abide/state/sessions.db").exists(), "no conversation was begun");
}

#[test]
fn a_picture_that_an_agent_reads_is_shown_to_it_in_both_wire_formats() {
    let look = || Turn::call(call("read", json!({ "path": "dot.png" })));
    let seen = || Turn::text("A dot.");
    let stage = Stage::new(&[], vec![look(), seen(), seen(), look(), seen()]);
    stage.write("dot.png", PNG.0);
    let well = |output: &Output| {
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let output = stage.output(&["agent", "run", "default", "what is dot.png?"]);
    well(&output);
    well(&stage.output(&["chat", "--resume", &stage.session_of(&output), "--message", "sure?"]));
    let said = "`dot.png` is a picture: image/png, 14 bytes";
    let url = format!("data:image/png;base64,{}", PNG.1);
    // A tool's message takes text alone; the second time it comes from the log.
    for request in &stage.requests()[1..3] {
        let messages = request.body["messages"].as_array().unwrap();
        let at = messages.iter().position(|message| message["role"] == "tool").unwrap();
        assert_eq!(messages[at]["content"], said);
        let shown = json!([{ "type": "image_url", "image_url": { "url": url } }]);
        assert_eq!(messages[at + 1], json!({ "role": "user", "content": shown }));
    }

    let mut command = stage.abide(&["agent", "run", "default", "what is dot.png?"]);
    well(&stage.anthropic(&mut command).output().unwrap());
    let requests = stage.requests();
    let result = &requests[4].body["messages"][2]["content"][0];
    assert_eq!(result["type"], "tool_result");
    let source = json!({ "type": "base64", "media_type": "image/png", "data": PNG.1 });
    let shown = [json!({ "type": "text", "text": said }), json!({ "type": "image", "source": source })];
    assert_eq!(result["content"], json!(shown));
}

//! Capabilities and agents over the API, with the shapes of the specification.

use crate::client::Got;
use crate::house::Served;
use crate::keys::fits;
use abide_engine::keys::Scope;
use abide_http::Options;
use serde_json::{Value, json};

fn free() -> Options {
    Options { rate: Some(0), ..Options::default() }
}

#[tokio::test]
async fn capabilities_are_listed_with_items_and_total() {
    let served = Served::with(free()).await;
    let list = fits(&served.client.ask("GET /v1/capabilities", None, None).await, "Capabilities");
    assert_eq!(list["total"], json!(list["items"].as_array().unwrap().len()));
    let statuses: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|item| item["status"].as_str().unwrap()).collect();
    assert!(statuses.contains(&"available") && statuses.contains(&"unavailable"), "{statuses:?}");
    let one =
        fits(&served.client.ask("GET /v1/capabilities/test_math", None, None).await, "CapabilityDetail");
    let tools: Vec<&str> =
        one["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["add", "subtract", "multiply", "divide"]);
    let missing = served.client.ask("GET /v1/capabilities/test_maths", None, None).await;
    assert_eq!(missing.problem(), "404 not_found");
    assert!(missing.body.contains("test_math"), "{missing:?}");
}

#[tokio::test]
async fn an_agent_is_made_changed_and_archived() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str, body: Option<Value>| -> Got {
        served.client.ask(request, Some(&admin), body.as_ref()).await
    };
    let new = json!({ "name": "Research Assistant", "system_prompt": "You help.", "capabilities": ["test_math", "current_time"] });
    let made = ask("POST /v1/agents", Some(new)).await;
    assert_eq!(made.status, 201, "{made:?}");
    let nothing = ask("POST /v1/agents", Some(json!({ "name": "a", "capabilities": null }))).await;
    assert_eq!(nothing.status / 100, 4, "no list is not an empty list: {nothing:?}");
    let far = ask("GET /v1/audit?after=18446744073709551615", None).await;
    assert_eq!(far.status, 400, "{far:?}");
    assert!(made.head.contains("etag: \"1\""), "{made:?}");
    let agent = fits(&made, "Agent");
    assert_eq!(
        (&agent["capabilities"], &agent["status"]),
        (&json!(["test_math", "current_time"]), &json!("active"))
    );
    let at = format!("/v1/agents/{}", agent["id"].as_str().unwrap());
    assert_eq!(ask(&format!("GET {at}"), None).await.json(), agent);
    let patched =
        ask(&format!("PATCH {at}"), Some(json!({ "capabilities": ["current_time"], "model": "m" }))).await;
    let patched = fits(&patched, "Agent");
    assert_eq!((&patched["capabilities"], &patched["name"]), (&json!(["current_time"]), &agent["name"]));
    let host = format!("Host: {}", served.client.address);
    let key = format!("Authorization: Bearer {admin}");
    let json = "Content-Type: application/json";
    let with = async |tag: &str, body: &str| {
        served
            .client
            .raw(&format!("PATCH {at}"), &[&host, &key, json, &format!("If-Match: {tag}")], body)
            .await
    };
    assert_eq!(with("\"1\"", r#"{"name": "old"}"#).await.problem(), "412 changed");
    assert_eq!(with("nonsense", r#"{"name": "old"}"#).await.problem(), "412 changed");
    let renamed = with("\"2\"", r#"{"name": "new", "model": null}"#).await;
    assert!(renamed.head.contains("etag: \"3\""), "{renamed:?}");
    assert_eq!((&renamed.json()["name"], &renamed.json()["model"]), (&json!("new"), &Value::Null));
    let archived = fits(&ask(&format!("POST {at}/archive"), Some(json!({}))).await, "Agent");
    assert_eq!(archived["status"], "archived");
    assert_eq!(ask(&format!("PATCH {at}"), Some(json!({ "name": "x" }))).await.problem(), "409 refused");
    let list = fits(&ask("GET /v1/agents?status=active", None).await, "AgentPage");
    assert_eq!(list["items"], json!([]));
    assert_eq!(ask("GET /v1/agents/nothing", None).await.problem(), "404 not_found");
}

#[tokio::test]
async fn an_agent_that_could_not_have_what_it_names_is_not_made_and_not_changed() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str, body: Value| served.client.ask(request, Some(&admin), Some(&body)).await;
    let with =
        |capabilities: Value| json!({ "name": "a", "system_prompt": "", "capabilities": capabilities });
    for (capabilities, named) in [
        (json!(["current_time", "no_such"]), "no_such"),
        (json!(["sandbox"]), "sandbox"),
        (json!(["current_time", "current_time"]), "current_time"),
    ] {
        let got = ask("POST /v1/agents", with(capabilities.clone())).await;
        assert_eq!(got.problem(), "422 capability", "{capabilities}");
        assert_eq!(fits(&got, "Problem")["capability"], named);
    }
    for wrong in [
        json!({ "system_prompt": "x" }),
        json!({ "name": " ", "system_prompt": "x" }),
        json!({ "name": "x".repeat(201) }),
        json!({ "name": "a", "system_prompt": "a\u{0}b" }),
        json!({ "name": "a", "capabilities": "current_time" }),
        json!({ "name": "a", "capabilities": ["x".repeat(51)] }),
        json!({ "name": "a", "status": "archived" }),
    ] {
        assert_eq!(ask("POST /v1/agents", wrong.clone()).await.problem(), "400 bad_body", "{wrong}");
    }
    let list = async || served.client.ask("GET /v1/agents", None, None).await.json();
    assert_eq!(list().await["items"], json!([]), "nothing was half made");
    let made = ask("POST /v1/agents", with(json!(["current_time"]))).await.json();
    let at = format!("PATCH /v1/agents/{}", made["id"].as_str().unwrap());
    assert_eq!(
        ask(&at, json!({ "name": "b", "capabilities": ["no_such"] })).await.problem(),
        "422 capability"
    );
    assert_eq!(list().await["items"], json!([made]));
}

#[tokio::test]
async fn agents_are_listed_page_by_page() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let mut made = Vec::new();
    for number in 0..7 {
        let new = json!({ "name": number.to_string(), "capabilities": [] });
        let got = served.client.ask("POST /v1/agents", Some(&admin), Some(&new)).await;
        made.push(got.json()["id"].as_str().unwrap().to_owned());
    }
    let (mut listed, mut query) = (Vec::new(), "limit=3".to_owned());
    loop {
        let page =
            fits(&served.client.ask(&format!("GET /v1/agents?{query}"), None, None).await, "AgentPage");
        listed.extend(
            page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => query = format!("limit=3&after={next}"),
            None => break,
        }
    }
    assert_eq!(listed, made);
    assert_eq!(served.client.ask("GET /v1/agents?after=x", None, None).await.problem(), "400 bad_parameter");
    assert_eq!(served.client.ask("GET /v1/agents?status=x", None, None).await.problem(), "400 bad_parameter");
}

#[tokio::test]
async fn what_is_configured_for_an_agent_is_kept_told_and_changed_by_name() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str, body: Value| served.client.ask(request, Some(&admin), Some(&body)).await;
    let most = json!({ "file_bytes": 5 });
    let files = json!({ "id": "session_file_system", "configuration": most });
    let made = ask("POST /v1/agents", json!({ "name": "a", "capabilities": ["noop", files] })).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = fits(&made, "Agent");
    assert_eq!(made["capabilities"], json!(["noop", "session_file_system"]));
    assert_eq!(made["configuration"], json!({ "session_file_system": most }));
    let at = format!("/v1/agents/{}", made["id"].as_str().unwrap());
    assert_eq!(served.client.ask(&format!("GET {at}"), None, None).await.json(), made);
    let list = fits(&served.client.ask("GET /v1/agents", None, None).await, "AgentPage");
    assert_eq!(list["items"], json!([made]));

    // A plain id changes nothing about its configuration, in another place and another version, too.
    let patch = async |capabilities: Value| {
        fits(&ask(&format!("PATCH {at}"), json!({ "capabilities": capabilities })).await, "Agent")
    };
    let longer = patch(json!(["session_file_system@1", "current_time", "noop"])).await;
    assert_eq!(longer["configuration"], json!({ "session_file_system@1": most }));
    let other = json!({ "id": "session_file_system", "configuration": { "entries": 2 } });
    let other = patch(json!([other])).await;
    assert_eq!(other["configuration"], json!({ "session_file_system": { "entries": 2 } }));
    let renamed = fits(&ask(&format!("PATCH {at}"), json!({ "name": "b" })).await, "Agent");
    assert_eq!(renamed["configuration"], other["configuration"]);
    let none = patch(json!([{ "id": "session_file_system", "configuration": null }])).await;
    assert_eq!(none["capabilities"], json!(["session_file_system"]));
    assert_eq!(none.get("configuration"), None, "{none}");
    assert_eq!(patch(json!([])).await.get("configuration"), None);

    let audit = served.client.ask("GET /v1/audit", Some(&admin), None).await.json();
    let details: Vec<&Value> = audit["items"].as_array().unwrap().iter().map(|row| &row["detail"]).collect();
    assert_eq!(details[0]["capabilities"], json!(["noop", "session_file_system"]), "{audit}");
    assert!(!audit.to_string().contains("file_bytes"), "it could be a secret: {audit}");
}

#[tokio::test]
async fn what_does_not_fit_a_capability_is_refused_and_nothing_is_made_or_changed() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str, body: Value| served.client.ask(request, Some(&admin), Some(&body)).await;
    let configured = |id: &str, configuration: Value| json!([{ "id": id, "configuration": configuration }, "current_time"]);
    let good = configured("session_file_system", json!({ "file_bytes": 5 }));
    let made = ask("POST /v1/agents", json!({ "name": "a", "capabilities": good })).await.json();
    let at = format!("PATCH /v1/agents/{}", made["id"].as_str().unwrap());
    for (id, configuration, tells) in [
        ("session_file_system", json!({ "file_bytes": "many" }), "/file_bytes"),
        ("session_file_system", json!({ "file_bytes": 0 }), "/file_bytes"),
        ("session_file_system", json!({ "file_byte": 5 }), "file_byte"),
        ("noop", json!({ "a": 1 }), "it has nothing to configure"),
        ("no_such", json!({}), "no_such"),
    ] {
        let body = json!({ "name": "b", "capabilities": configured(id, configuration) });
        for request in ["POST /v1/agents", &at] {
            let got = ask(request, body.clone()).await;
            assert_eq!(got.problem(), "422 capability", "{body}");
            let problem = fits(&got, "Problem");
            assert_eq!(problem["capability"], id, "{problem}");
            assert!(problem["problems"].to_string().contains(tells), "{problem}");
        }
    }
    let long = "x".repeat(16 * 1024);
    for wrong in [
        json!([{ "id": "noop" }]),
        json!([{ "configuration": {} }]),
        json!([{ "id": 3, "configuration": {} }]),
        json!([{ "id": "noop", "configuration": [] }]),
        json!([{ "id": "noop", "configuration": {}, "configuratoin": {} }]),
        json!([{ "id": "x".repeat(51), "configuration": {} }]),
        json!([{ "id": "noop", "configuration": { "a": long } }]),
        json!([3]),
    ] {
        for request in ["POST /v1/agents", &at] {
            let got = ask(request, json!({ "name": "b", "capabilities": wrong })).await;
            assert_eq!(got.problem(), "400 bad_body", "{wrong}");
        }
    }
    let list = served.client.ask("GET /v1/agents", None, None).await.json();
    assert_eq!(list["items"], json!([made]), "nothing was half made");
}

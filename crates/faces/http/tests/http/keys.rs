//! Keys over the API, and what the server says about itself: each answer fits the schema of its route.

use crate::client::Got;
use crate::house::Served;
use abide_engine::keys::Scope;
use abide_http::Options;
use serde_json::{Value, json};

/// Holds an answer to a schema of the `OpenAPI` document.
pub(crate) fn fits(got: &Got, schema: &str) -> Value {
    let document = abide_http::openapi();
    let mut rule = json!({ "$ref": format!("#/components/schemas/{schema}") });
    rule["components"] = document["components"].clone();
    let value = got.json();
    let validator = jsonschema::validator_for(&rule).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{schema}: {errors:?} in {value}");
    value
}

#[tokio::test]
async fn a_key_is_made_used_listed_and_revoked() {
    let served = Served::with(Options { require_key: true, ..Options::default() }).await;
    let client = served.client;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let new = json!({ "name": "ci@example", "scopes": ["run", "read", "run"] });
    let made = client.ask("POST /v1/keys", Some(&admin), Some(&new)).await;
    assert_eq!(made.status, 201);
    let made = fits(&made, "MadeKey");
    assert_eq!((&made["scopes"], &made["created_by"]), (&json!(["read", "run"]), &json!("ada")));
    let text = made["key"].as_str().unwrap();
    assert_eq!(client.ask("GET /v1/version", Some(text), None).await.status, 200);
    let first = fits(&client.ask("GET /v1/keys?limit=1", Some(&admin), None).await, "KeyPage");
    let next = first["next"].as_str().unwrap();
    let second = client.ask(&format!("GET /v1/keys?limit=1&after={next}"), Some(&admin), None).await;
    assert!(!second.body.contains(text), "a secret is shown once");
    let second = fits(&second, "KeyPage");
    assert_eq!((&second["items"][0]["id"], &second["next"]), (&made["id"], &Value::Null));
    let gone =
        client.ask(&format!("DELETE /v1/keys/{}", made["id"].as_str().unwrap()), Some(&admin), None).await;
    assert!(fits(&gone, "Key")["revoked_at"].is_i64());
    assert_eq!(client.ask("GET /v1/version", Some(text), None).await.problem(), "401 wrong_key");
    let missing = client.ask("DELETE /v1/keys/nothing", Some(&admin), None).await;
    assert_eq!(missing.problem(), "404 not_found");
    fits(&missing, "Problem");
}

#[tokio::test]
async fn a_key_that_breaks_a_rule_is_not_made() {
    let served = Served::with(Options::default()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    for (new, problem) in [
        (json!({ "name": "a b", "scopes": ["read"] }), "422 invalid"),
        (json!({ "name": "loopback", "scopes": ["read"] }), "422 invalid"),
        (json!({ "name": "a", "scopes": [] }), "422 invalid"),
        (json!({ "name": "a", "scopes": ["root"] }), "400 bad_body"),
        (json!({ "name": "a" }), "400 bad_body"),
        (json!({ "scopes": ["read"] }), "400 bad_body"),
    ] {
        let got = served.client.ask("POST /v1/keys", Some(&admin), Some(&new)).await;
        assert_eq!(got.problem(), problem, "{new}");
        fits(&got, "Problem");
    }
    let list = served.client.ask("GET /v1/keys", Some(&admin), None).await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_server_says_what_it_is() {
    let served = Served::with(Options::default()).await;
    let ask = async |request: &str| served.client.ask(request, None, None).await;
    fits(&ask("GET /v1/health").await, "Health");
    fits(&ask("GET /v1/ready").await, "Health");
    fits(&ask("GET /v1/version").await, "Version");
    let document = ask("GET /v1/openapi.json").await;
    assert_eq!(document.json(), abide_http::openapi());
    assert!(document.head.contains("x-content-type-options: nosniff"), "{document:?}");
}

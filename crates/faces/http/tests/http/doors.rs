//! Nobody gets in: every route is walked without a key, with wrong ones, and for foreign pages and names.

use crate::house::Served;
use abide_engine::keys::Scope;
use abide_http::routes::{Access, ROUTES, Route};
use abide_http::{Options, ServeError, Server};
use serde_json::json;

fn locked() -> Options {
    Options { require_key: true, rate: Some(0), ..Options::default() }
}

/// Returns how a route is asked, with something in the place of its braces.
fn request(route: &Route) -> String {
    let mut path = route.path.to_owned();
    for part in route.parts() {
        path = path.replace(&format!("{{{part}}}"), "0000000000000000");
    }
    format!("{} {path}", route.method)
}

#[tokio::test]
async fn every_route_is_closed_to_whoever_has_not_the_right_key() {
    let served = Served::with(locked()).await;
    let (house, client) = (&served.house, served.client);
    let revoked = house.key(&[Scope::Admin], 9).await;
    let before = client
        .ask("DELETE /v1/keys/0909090909090909", Some(&house.key(&[Scope::Admin], 0).await), None)
        .await;
    assert_eq!(before.status, 200, "{before:?}");
    let body = json!({});
    let mut walked = 0;
    for route in ROUTES {
        let request = request(route);
        let body = route.body.map(|_| &body);
        let open = route.access == Access::Open;
        let none = client.ask(&request, None, body).await;
        assert!(
            if open { none.status == 200 } else { none.problem() == "401 no_key" },
            "{request}: {none:?}"
        );
        let unknown = format!("abide_{}_{}", "1".repeat(16), "1".repeat(64));
        let other_secret = format!("abide_{}_{}", "0".repeat(16), "1".repeat(64));
        for wrong in [&unknown, &other_secret, &revoked, "", "x", "abide_"] {
            let got = client.ask(&request, Some(wrong), body).await;
            assert!(
                matches!(got.problem().as_str(), "401 wrong_key" | "429 too_many"),
                "{request} {wrong}: {got:?}"
            );
        }
        if let Access::Scope(wanted) = route.access {
            for (number, scope) in (1..).zip(Scope::ALL) {
                let key = house.key(&[scope], number).await;
                let got = client.ask(&request, Some(&key), body).await;
                if scope.covers(wanted) {
                    assert!(!matches!(got.status, 401 | 403 | 421 | 500), "{request} {scope:?}: {got:?}");
                } else {
                    assert_eq!(got.problem(), "403 no_scope", "{request} {scope:?}");
                }
            }
        }
        walked += 1;
    }
    assert_eq!(walked, ROUTES.len());
}

#[tokio::test]
async fn every_route_is_closed_to_foreign_pages_and_names_whatever_key_they_bring() {
    let served = Served::with(locked()).await;
    let client = served.client;
    let key = format!("Authorization: Bearer {}", served.house.key(&[Scope::Admin], 0).await);
    let own = format!("Host: {}", client.address);
    let json = "Content-Type: application/json";
    for route in ROUTES {
        let request = request(route);
        let body = if route.body.is_some() { "{}" } else { "" };
        for origin in ["Origin: https://evil.example", "Origin: null", "Origin:"] {
            let got = client.raw(&request, &[&own, &key, json, origin], body).await;
            assert_eq!(got.problem(), "403 foreign_origin", "{request} {origin}");
        }
        for host in [
            "Host: evil.example",
            "Host: evil.example:7070",
            "Host: localhost.evil.example",
            "Host: 127.0.0.1.evil",
            "Host:",
        ] {
            let got = client.raw(&request, &[host, &key, json], body).await;
            assert_eq!(got.problem(), "421 foreign_host", "{request} {host}");
        }
        let two = client.raw(&request, &[&own, "Host: evil.example", &key, json], body).await;
        assert_eq!(two.status, 400, "{request}: {two:?}");
        let two = client.raw(&request, &[&own, &key, "Authorization: Bearer x", json], body).await;
        assert!(matches!(two.status, 401 | 429), "{request}: {two:?}");
    }
}

#[tokio::test]
async fn no_route_of_a_session_tells_or_changes_anything_of_another_one() {
    const SECRET: &str = "marked-as-secret";
    let served = Served::with(Options { rate: Some(0), ..Options::default() }).await;
    let client = served.client;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let one = crate::sessions::begun(&served).await;
    let ask = async |request: String, body: serde_json::Value| {
        let got = client.ask(&request, Some(&admin), Some(&body)).await;
        assert!((200..300).contains(&got.status), "{request}: {got:?}");
        got.json()
    };
    ask(format!("PATCH /v1/sessions/{one}"), json!({ "title": SECRET })).await;
    let message = ask(format!("POST /v1/sessions/{one}/messages"), json!({ "text": SECRET })).await;
    let message = message["id"].as_str().unwrap().to_owned();
    let (host, key) = (format!("Host: {}", client.address), format!("Authorization: Bearer {admin}"));
    let put = format!("PUT /v1/sessions/{one}/fs?path=/{SECRET}.txt");
    assert_eq!(client.raw(&put, &[&host, &key], SECRET).await.status, 200);
    let all = async || {
        let mut all = Vec::new();
        for part in ["", "/messages", "/fs?path=/", "/fs/stat?path=/marked-as-secret.txt"] {
            all.push(client.ask(&format!("GET /v1/sessions/{one}{part}"), Some(&admin), None).await.body);
        }
        all
    };
    while !all().await.concat().contains("finished") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let before = all().await;
    assert!(before.iter().all(|part| part.contains(SECRET)), "{before:?}");
    let mut walked = 0;
    for route in ROUTES.iter().filter(|route| route.path.contains("{session}")) {
        let two = crate::sessions::begun(&served).await;
        let path = route.path.replace("{session}", &two).replace("{message}", &message);
        if path.ends_with("/stream") {
            // It has no end: that nothing comes is what is looked at.
            let request = format!("GET {path}");
            let stream = client.ask(&request, Some(&admin), None);
            let heard = tokio::time::timeout(std::time::Duration::from_millis(300), stream).await;
            assert!(heard.is_err(), "{heard:?}");
            walked += 1;
            continue;
        }
        for query in [
            "",
            "?path=/marked-as-secret.txt",
            "?path=../../marked-as-secret.txt&recursive=true",
            "?pattern=marked",
        ] {
            let body = json!({ "from": "/marked-as-secret.txt", "to": "/mine", "title": "t", "text": "t" });
            let got = client
                .ask(&format!("{} {path}{query}", route.method), Some(&admin), route.body.map(|_| &body))
                .await;
            // What was asked for may be said again; what is known of it may not.
            let told = got.body.replace("marked-as-secret.txt", "");
            assert!(!told.contains(SECRET) && got.status != 500, "{} {path}{query}: {got:?}", route.method);
        }
        walked += 1;
    }
    assert!(walked >= 15, "{walked} routes are about sessions");
    assert_eq!(all().await, before, "nothing of it is changed");
}

#[tokio::test]
async fn without_a_key_this_machine_looks_and_starts_and_decides_nothing() {
    let served = Served::with(Options { rate: Some(0), ..Options::default() }).await;
    for route in ROUTES {
        let body = json!({});
        let got = served.client.ask(&request(route), None, route.body.map(|_| &body)).await;
        match route.access {
            Access::Scope(Scope::Approve | Scope::Admin) => {
                assert_eq!(got.problem(), "403 no_scope", "{}", route.path);
            }
            _ => assert!(!matches!(got.status, 401 | 403), "{}: {got:?}", route.path),
        }
    }
    let wrong = served.client.ask("GET /v1/version", Some("wrong"), None).await;
    assert_eq!(wrong.problem(), "401 wrong_key", "a wrong key is not as good as none");
}

#[tokio::test]
async fn other_machines_are_not_let_near_a_server_without_keys() {
    let folder = tempfile::tempdir().unwrap();
    let house = std::sync::Arc::new(crate::house::TestHouse::open(folder.path(), None));
    let bind = |address: &str, options: Options| {
        let (address, house) = (address.parse().unwrap(), std::sync::Arc::clone(&house));
        async move { Server::bind(address, &options, house).await.map(drop) }
    };
    for address in ["0.0.0.0:0", "[::]:0"] {
        assert!(matches!(bind(address, Options::default()).await, Err(ServeError::NeedsKey(_))), "{address}");
    }
    assert!(matches!(bind("127.0.0.1:0", locked()).await, Err(ServeError::NeedsKey(_))));
    bind("127.0.0.1:0", Options::default()).await.unwrap();
    house.key(&[Scope::Read], 1).await;
    bind("0.0.0.0:0", Options::default()).await.unwrap();
}

#[tokio::test]
async fn what_is_no_request_of_ours_is_told_so() {
    let served = Served::with(Options { rate: Some(0), ..Options::default() }).await;
    let client = served.client;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str| client.ask(request, Some(&admin), None).await.problem();
    assert_eq!(ask("GET /nothing").await, "404 no_route");
    assert_eq!(ask("GET /v1/keys/%ff").await, "404 no_route");
    assert_eq!(ask("PATCH /v1/keys").await, "405 no_method");
    assert_eq!(ask("OPTIONS /v1/keys").await, "405 no_method");
    assert_eq!(ask("GET /v1/keys?limit=0").await, "400 bad_parameter");
    assert_eq!(ask("GET /v1/keys?limit=201").await, "400 bad_parameter");
    assert_eq!(ask("GET /v1/keys?limit=x").await, "400 bad_parameter");
    assert_eq!(ask("GET /v1/keys?limits=1").await, "400 bad_parameter");
    assert_eq!(ask("GET /v1/keys?limit=1&limit=2").await, "400 bad_parameter");
    assert_eq!(ask("GET /v1/keys?after=nothing").await, "400 bad_parameter");
    assert_eq!(ask("POST /v1/keys").await, "415 not_json");
    let (host, key) = (format!("Host: {}", client.address), format!("Authorization: Bearer {admin}"));
    let json = "Content-Type: application/json; charset=utf-8";
    let post = async |body: &str| client.raw("POST /v1/keys", &[&host, &key, json], body).await.problem();
    for body in
        ["{", "[]", "null", "\"x\"", "{\"nam\": 1}", "{\"name\": 1}", "{\"name\": \"a\", \"scopes\": [1]}"]
    {
        assert_eq!(post(body).await, "400 bad_body", "{body}");
    }
    assert_eq!(post(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).await, "400 bad_body");
    assert_eq!(post(&" ".repeat(1024 * 1024 + 1)).await, "413 too_long");
    let get = client.ask("GET /v1/keys", Some(&admin), None).await;
    assert_eq!(get.json()["items"].as_array().unwrap().len(), 1, "nothing of all this made a key");
}

#[tokio::test]
async fn whoever_asks_too_often_waits_and_others_do_not() {
    let served = Served::with(Options { rate: Some(2), ..Options::default() }).await;
    let (one, other) = (served.house.key(&[Scope::Read], 1).await, served.house.key(&[Scope::Read], 2).await);
    let mut last = None;
    for _ in 0..20 {
        last = Some(served.client.ask("GET /v1/version", Some(&one), None).await);
    }
    let last = last.unwrap();
    assert_eq!(last.problem(), "429 too_many");
    assert!(last.head.contains("retry-after: 1"), "{last:?}");
    assert_eq!(served.client.ask("GET /v1/version", Some(&other), None).await.status, 200);
    assert_eq!(
        served.client.ask("GET /v1/health", None, None).await.status,
        200,
        "a watchdog is never refused"
    );
}

#[tokio::test]
async fn a_store_that_is_gone_makes_the_server_unready_and_is_told_to_nobody() {
    let served = Served::with(Options::default()).await;
    assert_eq!(served.client.ask("GET /v1/ready", None, None).await.status, 200);
    served.house.break_down();
    let got = served.client.ask("GET /v1/ready", None, None).await;
    assert_eq!(got.problem(), "503 unavailable");
    assert!(!got.body.contains("/dev/secret"), "{got:?}");
    assert_eq!(served.client.ask("GET /v1/health", None, None).await.status, 200);
}

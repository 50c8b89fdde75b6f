//! The files of sessions over the API: byte for byte, within bounds, and never those of another session.

use crate::client::Got;
use crate::house::Served;
use crate::keys::fits;
use crate::sessions::begun;
use abide_engine::keys::Scope;
use abide_engine::port::SessionId;
use abide_http::{House as _, Options, Times};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn free() -> Options {
    Options { rate: Some(0), ..Options::default() }
}

/// Sends bytes as they are; returns the answer as bytes.
async fn send(served: &Served, request: &str, headers: &[&str], body: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(served.client.address).await.unwrap();
    let mut head = format!("{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", served.client.address);
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("Content-Length: ");
    head.push_str(&body.len().to_string());
    head.push_str("\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let _ = stream.write_all(body).await;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), bytes[end + 4..].to_vec())
}

fn tag(head: &str) -> String {
    head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned()
}

/// Asks for a file, and takes nothing of it.
async fn lurk(served: &Served, path: &str, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.client.address).await.unwrap();
    let text = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", served.client.address);
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn long_files_that_nobody_takes_make_room_for_those_who_do() {
    let times = Times { stall: Duration::from_secs(2), ..Times::default() };
    let served = Served::with(Options { times, ..free() }).await;
    let at = format!("/v1/sessions/{}/fs", begun(&served).await);
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|number| (number % 251) as u8).collect();
    let (status, ..) = send(&served, &format!("PUT {at}?path=/long"), &[], &bytes).await;
    assert_eq!(status, 200);
    let path = format!("{at}?path=/long");
    let mut lurking = Vec::new();
    for _ in 0..4 {
        let mut stream = lurk(&served, &path, "").await;
        let mut first = [0; 15];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        lurking.push(stream);
    }
    let refused = ask(&served, format!("GET {path}"), None).await;
    assert_eq!(refused.problem(), "429 too_many");
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
    // Others are not kept from theirs, and what is short takes no room.
    let eve = served.house.key_of("eve", &[Scope::Read], 5).await;
    let bearer = format!("Authorization: Bearer {eve}");
    assert_eq!(send(&served, &format!("GET {path}"), &[&bearer], b"").await.2, bytes);
    assert_eq!(ask(&served, format!("GET {at}"), None).await.status, 200);
    // Whoever takes nothing is left.
    for attempt in 0.. {
        let (status, _, got) = send(&served, &format!("GET {path}"), &[], b"").await;
        if status == 200 {
            assert_eq!(got, bytes);
            break;
        }
        assert!(status == 429 && attempt < 100, "{status}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(2 * times.stall).await;
    for mut stream in lurking {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.len() < bytes.len(), "it was cut off");
    }
}

async fn ask(served: &Served, request: String, body: Option<Value>) -> Got {
    served.client.ask(&request, None, body.as_ref()).await
}

#[tokio::test]
async fn a_file_of_twenty_megabytes_comes_back_byte_for_byte_and_a_larger_one_is_refused() {
    let served = Served::with(free()).await;
    let at = format!("/v1/sessions/{}/fs", begun(&served).await);
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|number| (number % 251) as u8).collect();
    let (status, head, _) = send(&served, &format!("PUT {at}?path=/big/file.bin"), &[], &bytes).await;
    assert_eq!(status, 200, "{head}");
    let (status, head, back) = send(&served, &format!("GET {at}?path=/big/file.bin"), &[], b"").await;
    assert_eq!((status, back.len()), (200, bytes.len()), "{head}");
    assert!(back == bytes, "byte for byte");
    assert!(head.contains("application/octet-stream"), "{head}");
    let larger = vec![0; 33 * 1024 * 1024];
    let (status, ..) = send(&served, &format!("PUT {at}?path=/bigger"), &[], &larger).await;
    assert_eq!(status, 413);
    let stat = ask(&served, format!("GET {at}/stat?path=/bigger"), None).await;
    assert_eq!(stat.problem(), "404 not_found");
}

#[tokio::test]
async fn files_are_listed_moved_copied_searched_and_deleted() {
    let served = Served::with(free()).await;
    let at = format!("/v1/sessions/{}/fs", begun(&served).await);
    for (path, content) in
        [("/a/one.txt", "first line\nneedle"), ("/a/b/two.txt", "needle too"), ("/bin", "\0")]
    {
        let (status, ..) = send(&served, &format!("PUT {at}?path={path}"), &[], content.as_bytes()).await;
        assert_eq!(status, 200, "{path}");
    }
    let folder = fits(&ask(&served, format!("GET {at}?path=/a"), None).await, "Folder");
    let names: Vec<&str> =
        folder["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!((names, &folder["count"]), (vec!["b", "one.txt"], &json!(2)));
    // The same in pages.
    let page = fits(&ask(&served, format!("GET {at}?path=/&limit=1"), None).await, "Folder");
    assert_eq!(
        (&page["entries"][0]["name"], &page["count"], &page["next"]),
        (&json!("a"), &json!(2), &json!("/a"))
    );
    let page = fits(&ask(&served, format!("GET {at}?path=/&limit=1&after=/a"), None).await, "Folder");
    assert_eq!((&page["entries"][0]["name"], &page["next"]), (&json!("bin"), &json!(null)));
    let page = fits(&ask(&served, format!("GET {at}?path=/&after=/bin"), None).await, "Folder");
    assert_eq!((&page["entries"], &page["next"]), (&json!([]), &json!(null)));
    for bad in ["after=/none", "limit=0", "limit=201", "limit=x"] {
        let refused = ask(&served, format!("GET {at}?path=/&{bad}"), None).await;
        assert_eq!(refused.problem(), "400 bad_parameter", "{bad}");
    }
    let text =
        fits(&ask(&served, format!("GET {at}?path=/a/one.txt&format=json"), None).await, "FileContent");
    assert_eq!((&text["content"], &text["encoding"]), (&json!("first line\nneedle"), &json!("text")));
    let binary = fits(&ask(&served, format!("GET {at}?path=/bin&format=json"), None).await, "FileContent");
    assert_eq!((&binary["content"], &binary["encoding"]), (&json!("AA=="), &json!("base64")));
    let place = |from: &str, to: &str| Some(json!({ "from": from, "to": to }));
    let moved = fits(&ask(&served, format!("POST {at}/move"), place("/a", "/c/d")).await, "File");
    assert_eq!((&moved["path"], &moved["is_directory"]), (&json!("/c/d"), &json!(true)));
    fits(&ask(&served, format!("POST {at}/copy"), place("/c/d/one.txt", "/copy")).await, "File");
    assert_eq!(
        ask(&served, format!("POST {at}/copy"), place("/copy", "/bin")).await.problem(),
        "409 refused"
    );
    let found = fits(&ask(&served, format!("GET {at}/grep?pattern=need.e"), None).await, "Matches");
    assert_eq!(found["match_count"], 3, "{found}");
    assert_eq!(ask(&served, format!("GET {at}/grep?pattern=("), None).await.problem(), "422 invalid");
    assert_eq!(ask(&served, format!("GET {at}/grep"), None).await.problem(), "400 bad_parameter");
    assert_eq!(ask(&served, format!("DELETE {at}?path=/c"), None).await.problem(), "409 refused");
    let gone = fits(&ask(&served, format!("DELETE {at}?path=/c&recursive=true"), None).await, "Deleted");
    assert_eq!(gone["deleted"], 5);
    assert_eq!(ask(&served, format!("DELETE {at}"), None).await.problem(), "422 invalid");
    for bad in ["/../x", "a%00b", "/a//../../etc"] {
        assert_eq!(ask(&served, format!("GET {at}?path={bad}"), None).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn of_two_who_change_a_file_one_is_told() {
    let served = Served::with(free()).await;
    let at = format!("/v1/sessions/{}/fs?path=/f", begun(&served).await);
    let put = async |header: &str, body: &str| {
        send(&served, &format!("PUT {at}"), &[header], body.as_bytes()).await
    };
    let (status, head, _) = put("If-None-Match: *", "one").await;
    assert_eq!(status, 200);
    assert_eq!(put("If-None-Match: *", "two").await.0, 412);
    let seen = format!("If-Match: {}", tag(&head));
    assert_eq!(put(&seen, "two").await.0, 200);
    assert_eq!(put(&seen, "three").await.0, 412);
    assert_eq!(put("If-Match: \"nonsense\"", "three").await.0, 412);
    let (_, head, body) = send(&served, &format!("GET {at}"), &[], b"").await;
    assert_eq!(body, b"two");
    // What one has not seen one does not delete either.
    let delete = async |header: &str| send(&served, &format!("DELETE {at}"), &[header], b"").await.0;
    assert_eq!(delete(&seen).await, 412);
    assert_eq!(delete("If-None-Match: *").await, 400);
    assert_eq!(delete(&format!("If-Match: {}", tag(&head))).await, 200);
    assert_eq!(delete("If-Match: *").await, 404);
    assert_eq!(put("If-Match: *", "four").await.0, 412, "nothing is there");
    assert_eq!(put("X-Any: x", "five").await.0, 200);
    assert_eq!(put("If-Match: *", "six").await.0, 200);
    assert_eq!(delete("If-Match: *").await, 200);
}

#[tokio::test]
async fn the_files_of_a_session_are_its_own_and_go_with_it() {
    let served = Served::with(free()).await;
    let (one, two) = (begun(&served).await, begun(&served).await);
    let at = |session: &str| format!("/v1/sessions/{session}/fs?path=/secret");
    assert_eq!(send(&served, &format!("PUT {}", at(&one)), &[], b"mine").await.0, 200);
    assert_eq!(ask(&served, format!("GET {}", at(&two)), None).await.problem(), "404 not_found");
    assert_eq!(ask(&served, format!("DELETE {}", at(&two)), None).await.problem(), "404 not_found");
    assert_eq!(ask(&served, format!("GET {}", at("../../other")), None).await.status, 404);
    assert_eq!(ask(&served, format!("DELETE /v1/sessions/{one}"), None).await.status, 200);
    assert_eq!(ask(&served, format!("GET {}", at(&one)), None).await.problem(), "404 not_found");
    let session = SessionId::parse(&one).unwrap();
    assert_eq!(served.house.files().files(&session).await, Ok(Vec::new()), "nothing is left of them");
}

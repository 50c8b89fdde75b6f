//! Letters that are carried to a real socket: what arrives, what is not followed, and what is said when nobody is there.

use abide_engine::port::{Courier as _, CourierError, Letter, Receipt};
use abide_webhooks::HttpCourier;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

fn letter(url: String) -> Letter {
    Letter {
        url,
        private_network: false,
        headers: vec![("content-type", "application/json".to_owned()), ("webhook-id", "msg_1".to_owned())],
        body: r#"{"type":"run.finished"}"#.to_owned(),
    }
}

/// Answers one request, and returns what was asked.
async fn answer(with: &str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let with = with.to_owned();
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = Vec::new();
        while !text.ends_with(b"}") {
            let mut some = [0; 1_024];
            let length = stream.read(&mut some).await.unwrap();
            text.extend_from_slice(&some[..length]);
        }
        stream.write_all(with.as_bytes()).await.unwrap();
        drop(stream);
        let more = tokio::time::timeout(Duration::from_millis(300), listener.accept()).await;
        assert!(more.is_err(), "nothing else is asked");
        String::from_utf8(text).unwrap()
    });
    (format!("http://{address}"), asked)
}

#[tokio::test]
async fn a_letter_arrives_as_it_was_written() {
    let (url, asked) = answer("HTTP/1.1 204 No Content\r\n\r\n").await;
    let receipt = HttpCourier::new().carry(letter(format!("{url}/hook?x=1#y"))).await;
    assert_eq!(receipt, Ok(Receipt { status: 204, retry_after: None }));
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{asked}");
    for line in ["content-type: application/json\r\n", "webhook-id: msg_1\r\n", "user-agent: abide/"] {
        assert!(asked.contains(line), "{asked}");
    }
    assert!(asked.ends_with("\r\n\r\n{\"type\":\"run.finished\"}"), "{asked}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_wait_is_told() {
    let (url, asked) =
        answer("HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n").await;
    let receipt = HttpCourier::new().carry(letter(url)).await;
    assert_eq!(receipt, Ok(Receipt { status: 307, retry_after: None }));
    asked.await.unwrap();
    let (url, asked) =
        answer("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n").await;
    let receipt = HttpCourier::new().carry(letter(url)).await;
    assert_eq!(receipt, Ok(Receipt { status: 429, retry_after: Some(Duration::from_secs(7)) }));
    asked.await.unwrap();
}

#[tokio::test]
async fn nobody_there_is_said_without_the_path() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/s3cret", listener.local_addr().unwrap());
    drop(listener);
    let CourierError(why) = HttpCourier::new().carry(letter(url)).await.unwrap_err();
    assert!(!why.contains("s3cret") && why.contains("refused"), "{why}");
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused() {
    let CourierError(why) =
        HttpCourier::new().carry(letter("http://hooks.example.com/s3cret".to_owned())).await.unwrap_err();
    assert!(why.contains("begins with `http://`") && !why.contains("s3cret"), "{why}");
}

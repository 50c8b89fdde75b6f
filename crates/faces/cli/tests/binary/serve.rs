//! `abide serve` and `abide key`: what an operator types, and what a caller gets.

use crate::support::Project;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(project: &Project, more: &[&str]) -> Self {
        let mut child = project
            .command(&[&["serve", "--bind", "127.0.0.1:0"], more].concat())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(';').next());
        Self { address: address.unwrap_or_else(|| panic!("{line}")).to_owned(), child }
    }

    fn get(&self, path: &str, key: Option<&str>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let key = key.map(|key| format!("Authorization: Bearer {}\r\n", key.trim())).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n{key}Connection: close\r\n\r\n", self.address)
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// Asks it to end, and returns how it did.
    fn end(mut self) -> Option<i32> {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_key_opens_the_server_until_it_is_revoked() {
    let project = Project::new();
    let made = project.abide(&["key", "create", "ada", "--scope", "run,admin"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let server = Server::start(&project, &["--require-key"]);
    assert_eq!(server.get("/v1/health", None).0, 200);
    assert_eq!(server.get("/v1/version", None).0, 401);
    let (status, keys) = server.get("/v1/keys", Some(&made.out));
    assert_eq!((status, &keys["items"][0]["name"]), (200, &Value::from("ada")));
    let listed = project.json(&["key", "list"]);
    assert_eq!(listed["keys"], keys["items"]);
    let id = listed["keys"][0]["id"].as_str().unwrap();
    assert_eq!(project.abide(&["key", "revoke", id]).code, Some(0));
    assert_eq!(server.get("/v1/keys", Some(&made.out)).0, 401, "another process has revoked it");
    assert_eq!(project.abide(&["key", "revoke", "nothing"]).code, Some(3));
    let file = std::fs::read(project.path(".abide/state/server.db")).unwrap();
    let secret = made.out.trim().rsplit('_').next().unwrap();
    assert!(!file.windows(64).any(|window| window == secret.as_bytes()), "the secret is kept nowhere");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_server_that_others_reach_does_not_start_without_a_key() {
    let project = Project::new();
    let refused = project.abide(&["serve", "--bind", "0.0.0.0:0", "--check"]);
    assert_eq!(refused.code, Some(9), "{refused:?}");
    assert!(refused.err.contains("abide key create"), "{refused:?}");
    assert_eq!(project.abide(&["serve", "--bind", "127.0.0.1:0", "--check"]).code, Some(0));
    assert_eq!(project.abide(&["key", "create", "ada"]).code, Some(0));
    assert_eq!(project.abide(&["serve", "--bind", "0.0.0.0:0", "--check"]).code, Some(0));
    let bad = project.abide(&["serve", "--database", "mysql://x", "--check"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

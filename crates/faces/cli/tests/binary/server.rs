//! A server of the built binary, and a caller of it.

use crate::support::Project;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(project: &Project, more: &[&str]) -> Self {
        Self::start_with(project, more, &[])
    }

    /// Starts one with further variables.
    pub(crate) fn start_with(project: &Project, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = project
            .command(&[&["serve", "--bind", "127.0.0.1:0"], more].concat())
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(';').next());
        Self { address: address.unwrap_or_else(|| panic!("{line}")).to_owned(), child }
    }

    pub(crate) fn get(&self, path: &str, key: Option<&str>) -> (u16, Value) {
        self.ask("GET", path, key, "")
    }

    pub(crate) fn ask(&self, method: &str, path: &str, key: Option<&str>, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut more = key.map(|key| format!("Authorization: Bearer {}\r\n", key.trim())).unwrap_or_default();
        if matches!(method, "POST" | "PATCH") {
            let length = body.len();
            more = format!("{more}Content-Type: application/json\r\nContent-Length: {length}\r\n");
        }
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{more}Connection: close\r\n\r\n{body}",
            self.address
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Ends it without a word, as a power cut does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and returns how it did.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.signal(rustix::process::Signal::TERM);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Waits until a run has a status.
    pub(crate) fn until(&self, run: &str, wanted: &str) -> Value {
        for _ in 0..400 {
            let shown = self.get(&format!("/v1/runs/{run}"), None).1;
            if shown["status"] == wanted {
                return shown;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("it is never {wanted}: {}", self.get(&format!("/v1/runs/{run}"), None).1);
    }
}

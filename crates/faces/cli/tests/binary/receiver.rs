//! A receiver of webhooks on loopback: it answers as it is told, and keeps what it was sent.

use abide_core::value::Secret;
use abide_engine::webhooks::SigningKey;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What letters are signed with in these tests.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A letter that arrived; its signature has been checked.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) id: String,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// A receiver that ends with the test.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    letters: Arc<Mutex<Vec<Letter>>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Listens on an address, and answers the first letters with these statuses; all others are taken.
    pub(crate) fn start(address: &str, statuses: &[u16]) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (letters, ending) = (Arc::<Mutex<Vec<Letter>>>::default(), Arc::new(AtomicBool::new(false)));
        let (kept, ends, statuses) = (Arc::clone(&letters), Arc::clone(&ending), statuses.to_vec());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let status = statuses.get(kept.lock().unwrap().len()).copied().unwrap_or(204);
                // A server that was killed may have left in the middle.
                if let Some(letter) = take(stream.unwrap(), status) {
                    kept.lock().unwrap().push(letter);
                }
            }
        });
        Self { address, letters, ending, thread: Some(thread) }
    }

    /// Returns what has arrived.
    pub(crate) fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap().clone()
    }

    /// Waits until what has arrived is enough.
    pub(crate) fn until(&self, enough: impl Fn(&[Letter]) -> bool) -> Vec<Letter> {
        let end = Instant::now() + Duration::from_secs(90);
        loop {
            let letters = self.letters();
            if enough(&letters) {
                return letters;
            }
            assert!(Instant::now() < end, "it never is enough: {letters:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns how often each letter was taken.
    pub(crate) fn taken(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for letter in self.letters().into_iter().filter(|letter| letter.status == 204) {
            *counts.entry(letter.id).or_default() += 1;
        }
        counts
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        // It waits for somebody to come.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes one request, and checks that it is signed.
fn take(mut stream: TcpStream, status: u16) -> Option<Letter> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut some = [0; 4_096];
        let length = stream.read(&mut some).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&some[..length]);
        let text = String::from_utf8(bytes.clone()).unwrap();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = header(head, "content-length").parse().unwrap();
            if body.len() == length {
                break (head.to_owned(), body.to_owned());
            }
        }
    };
    assert!(head.starts_with("POST /hook?token=s3cret HTTP/1.1\r\n"), "{head}");
    let (id, timestamp) = (header(&head, "webhook-id"), header(&head, "webhook-timestamp"));
    let key = SigningKey::parse(&Secret::new(SECRET)).ok().unwrap();
    let signature = key.sign(&id, timestamp.parse().unwrap(), &body);
    assert_eq!(header(&head, "webhook-signature"), signature);
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some(Letter { id, status, body: serde_json::from_str(&body).unwrap() })
}

fn header(head: &str, name: &str) -> String {
    let found = head.lines().filter_map(|line| line.split_once(": ")).find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{name} is not in {head}")).1.to_owned()
}

//! Callers who do not stop, a server that is killed under them, and what must be true afterwards.

use crate::server::Server;
use crate::support::Project;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

/// How many callers there are.
const CALLERS: usize = 6;
/// How long everything has to come to its end after the last start.
const ENDS: Duration = Duration::from_secs(90);

/// What the server said yes to.
#[derive(Default)]
struct Promised {
    /// Agents, with the last name that was acknowledged, and those that may have been written since.
    agents: BTreeMap<String, (String, Vec<String>)>,
    /// Runs, with the caller's name for each.
    runs: BTreeMap<String, String>,
}

struct Stage {
    /// Where the server is at the moment.
    address: RwLock<String>,
    key: String,
    promised: Mutex<Promised>,
    over: AtomicBool,
    number: AtomicUsize,
}

/// Kills a server so often, at any moment, and checks that it kept its word.
pub(crate) fn kill_again_and_again(times: usize, database: Option<&str>) {
    let project = Project::new();
    let ability = "description: d\ninputs:\n  name: { type: string, required: true }\nsteps:\n  - id: one\n    run: echo one >> trace-{{inputs.name}}\n    idempotent: true\n  - id: two\n    run: sleep 0.05; echo two >> trace-{{inputs.name}}\n    needs: [one]\n    idempotent: true\n";
    project.write(".abide/abilities/two.yaml", ability);
    let database: Vec<&str> = database.into_iter().flat_map(|url| ["--database", url]).collect();
    let key = project.abide(&[&["key", "create", "ada", "--scope", "admin"], &database[..]].concat());
    assert_eq!(key.code, Some(0), "{key:?}");
    let more = [&["--rate", "0"], &database[..]].concat();
    let mut server = Server::start(&project, &more);
    let stage = Stage {
        address: RwLock::new(server.address.clone()),
        key: key.out.trim().to_owned(),
        promised: Mutex::default(),
        over: AtomicBool::new(false),
        number: AtomicUsize::new(0),
    };
    let server = std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let stage = &stage;
            scope.spawn(move || {
                while !stage.over.load(Ordering::Relaxed) {
                    // An answer that does not come says nothing; whoever asks goes on.
                    let _ = stage.ask_for_something(caller);
                }
            });
        }
        for time in 0..times {
            // Sometimes before it has begun, sometimes in the middle of much.
            std::thread::sleep(Duration::from_millis(u64::try_from(time * 37 % 211).unwrap()));
            drop(server);
            server = Server::start(&project, &more);
            stage.address.write().unwrap().clone_from(&server.address);
        }
        stage.over.store(true, Ordering::Relaxed);
        server
    });
    stage.check(&server, &project);
    assert_eq!(server.end(), Some(0));
}

impl Stage {
    /// Sends a request to where the server is; nothing if no whole answer comes.
    fn ask(&self, method: &str, path: &str, once: Option<&str>, body: &Value) -> Option<(u16, Value)> {
        let address = self.address.read().unwrap().clone();
        let mut stream = TcpStream::connect(&address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let body = body.to_string();
        let once = once.map(|once| format!("Idempotency-Key: {once}\r\n")).unwrap_or_default();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{once}Connection: close\r\n\r\n{body}",
            self.key,
            body.len()
        )
        .ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some((head.get(9..12)?.parse().ok()?, serde_json::from_str(body).ok()?))
    }

    fn ask_for_something(&self, caller: usize) -> Option<()> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        match number % 3 {
            0 => {
                let name = format!("agent {caller} {number}");
                let body = json!({ "name": name, "system_prompt": "p", "capabilities": ["current_time"] });
                let (status, made) = self.ask("POST", "/v1/agents", None, &body)?;
                assert_eq!(status, 201, "{made}");
                let id = made["id"].as_str()?.to_owned();
                self.promised.lock().unwrap().agents.insert(id, (name, Vec::new()));
            }
            1 => {
                // Each caller changes an agent that nobody else changes.
                let mine = format!("agent {caller} ");
                let id = {
                    let mut promised = self.promised.lock().unwrap();
                    let mut own = promised.agents.iter_mut().filter(|(_, (name, _))| name.starts_with(&mine));
                    let (id, (_, perhaps)) = own.next()?;
                    perhaps.push(format!("agent {caller} {number}"));
                    id.clone()
                };
                let name = format!("agent {caller} {number}");
                let (status, changed) =
                    self.ask("PATCH", &format!("/v1/agents/{id}"), None, &json!({ "name": name }))?;
                assert_eq!(status, 200, "{changed}");
                self.promised.lock().unwrap().agents.insert(id, (name, Vec::new()));
            }
            _ => {
                let name = format!("{caller}-{number}");
                let body = json!({ "ability": "two", "inputs": { "name": name } });
                // The same request again, until somebody says yes: it is one run.
                let (status, run) = (0..5).find_map(|_| {
                    let asked = self.ask("POST", "/v1/runs", Some(&name), &body);
                    if asked.is_none() {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                    asked
                })?;
                assert_eq!(status, 201, "{run}");
                self.promised.lock().unwrap().runs.insert(run["run"].as_str()?.to_owned(), name);
            }
        }
        Some(())
    }

    /// Checks that everything is there, and that every run ends once.
    fn check(&self, server: &Server, project: &Project) {
        let promised = self.promised.lock().unwrap();
        assert!(promised.agents.len() > 20 && promised.runs.len() > 20, "there was something to lose");
        for (id, (name, perhaps)) in &promised.agents {
            let (status, agent) = server.get(&format!("/v1/agents/{id}"), None);
            assert_eq!(status, 200, "{agent}");
            let found = agent["name"].as_str().unwrap();
            assert!(
                found == name || perhaps.iter().any(|perhaps| perhaps == found),
                "{found} is neither {name} nor one of {perhaps:?}"
            );
            assert_eq!(agent["capabilities"], json!(["current_time"]));
        }
        let deadline = Instant::now() + ENDS;
        for (run, name) in &promised.runs {
            let shown = loop {
                let (status, shown) = server.get(&format!("/v1/runs/{run}"), None);
                assert_eq!(status, 200, "{shown}");
                if shown["status"] == "completed" {
                    break shown;
                }
                assert!(Instant::now() < deadline, "it is stuck: {shown}");
                std::thread::sleep(Duration::from_millis(50));
            };
            let events = server.get(&format!("/v1/runs/{run}/events?limit=100"), None).1;
            let kinds: Vec<&str> = events["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|event| event["type"].as_str().unwrap())
                .collect();
            let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
            assert_eq!((count("run.created"), count("run.finished")), (1, 1), "{shown}: {kinds:?}");
            let trace = std::fs::read_to_string(project.path(format!("trace-{name}"))).unwrap();
            assert!(trace.starts_with("one\n") && trace.contains("two\n"), "{trace}");
        }
        // What nobody was told of ends too: nothing is left open.
        let open = || {
            let page = server.get("/v1/runs?limit=200", None).1;
            page["items"].as_array().unwrap().iter().any(|head| head["status"] != "completed")
        };
        while open() {
            assert!(Instant::now() < deadline, "a run that nobody was told of is stuck");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

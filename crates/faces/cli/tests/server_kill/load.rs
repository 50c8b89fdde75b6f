//! Callers who do not stop, a server that is killed under them, and what must be true afterwards.

use crate::server::Server;
use crate::support::Project;
use crate::talk::{Talk, model};
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
    /// What was said in sessions.
    talk: Talk,
}

struct Stage {
    /// Where the server is at the moment.
    address: RwLock<String>,
    key: String,
    promised: Mutex<Promised>,
    over: AtomicBool,
    number: AtomicUsize,
    /// How often the server was killed.
    killed: AtomicUsize,
    /// How many messages were about to be said.
    said: AtomicUsize,
    /// The sessions in which something is said.
    sessions: Vec<String>,
}

/// How many messages are said before the server is killed once more: each is answered while it is killed again and again.
const SAID_AT_ONCE: usize = 2;

/// Kills a server so often, at any moment, and checks that it kept its word.
pub(crate) fn kill_again_and_again(times: usize, database: Option<&str>) {
    let project = Project::new();
    let ability = "description: d\ninputs:\n  name: { type: string, required: true }\nsteps:\n  - id: one\n    run: echo one >> trace-{{inputs.name}}\n    idempotent: true\n  - id: two\n    run: sleep 0.05; echo two >> trace-{{inputs.name}}\n    needs: [one]\n    idempotent: true\n";
    project.write(".abide/abilities/two.yaml", ability);
    let database: Vec<&str> = database.into_iter().flat_map(|url| ["--database", url]).collect();
    let key = project.abide(&[&["key", "create", "ada", "--scope", "admin"], &database[..]].concat());
    assert_eq!(key.code, Some(0), "{key:?}");
    let more = [&["--rate", "0"], &database[..]].concat();
    let model = model();
    let url = model.url();
    let variables =
        [("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_API_KEY", "none"), ("ABIDE_MODEL", "anthropic/scripted")];
    let start = || Server::start_with(&project, &more, &variables);
    let mut server = start();
    let mut stage = Stage {
        address: RwLock::new(server.address.clone()),
        key: key.out.trim().to_owned(),
        promised: Mutex::default(),
        over: AtomicBool::new(false),
        number: AtomicUsize::new(0),
        killed: AtomicUsize::new(0),
        said: AtomicUsize::new(0),
        sessions: Vec::new(),
    };
    stage.sessions =
        crate::talk::sessions(|path, body| stage.ask("POST", path, None, body).expect("it answers"));
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
            if time % 2 == 0 {
                stage.wait_for_promises();
            }
            drop(server);
            stage.killed.fetch_add(1, Ordering::Relaxed);
            server = start();
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
        if self.said.load(Ordering::Relaxed) < SAID_AT_ONCE * (1 + self.killed.load(Ordering::Relaxed)) {
            let number = self.said.fetch_add(1, Ordering::Relaxed);
            return self.say(number);
        }
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
                let (status, run) = self.ask_again("/v1/runs", &name, &body)?;
                assert_eq!(status, 201, "{run}");
                self.promised.lock().unwrap().runs.insert(run["run"].as_str()?.to_owned(), name);
            }
        }
        Some(())
    }

    /// Waits until the server has said yes to one more agent and one more run, so that there is something to lose, also on a busy machine.
    fn wait_for_promises(&self) {
        let counts = || {
            let promised = self.promised.lock().unwrap();
            [promised.agents.len(), promised.runs.len()]
        };
        let (known, end) = (counts(), Instant::now() + Duration::from_secs(5));
        while counts().iter().zip(known).any(|(count, known)| *count == known) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends the same request again, until somebody says yes: it counts once.
    fn ask_again(&self, path: &str, once: &str, body: &Value) -> Option<(u16, Value)> {
        (0..5).find_map(|_| {
            let asked = self.ask("POST", path, Some(once), body);
            if asked.is_none() {
                std::thread::sleep(Duration::from_millis(50));
            }
            asked
        })
    }

    /// Says something in one of the sessions.
    fn say(&self, number: usize) -> Option<()> {
        let session = &self.sessions[number % self.sessions.len()];
        let (text, body) = crate::talk::message(number);
        let at = format!("/v1/sessions/{session}/messages");
        let (status, message) = self.ask_again(&at, &text, &body)?;
        assert_eq!(status, 202, "{message}");
        let id = message["id"].as_str()?.to_owned();
        self.promised.lock().unwrap().talk.insert(id, (session.clone(), text));
        Some(())
    }

    /// Checks that everything is there, and that every run and every turn ends once.
    fn check(&self, server: &Server, project: &Project) {
        let promised = self.promised.lock().unwrap();
        let (agents, runs) = (promised.agents.len(), promised.runs.len());
        assert!(agents > 20 && runs > 20, "there was something to lose: {agents} agents, {runs} runs");
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
            // Both steps may run again, and each had its effect.
            let trace = std::fs::read_to_string(project.path(format!("trace-{name}"))).unwrap();
            assert!(trace.starts_with("one\n") && trace.contains("two\n"), "{trace}");
        }
        let killed = self.killed.load(Ordering::Relaxed);
        assert!(
            promised.talk.len() > killed / 2,
            "there was something to lose: {} messages",
            promised.talk.len()
        );
        crate::talk::check(&self.sessions, &promised.talk, deadline, |path| {
            server.get(path, Some(&self.key))
        });
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

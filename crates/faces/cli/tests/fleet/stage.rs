//! A project, the servers that share it, and what must hold for each of its runs.

use crate::database::lines;
use crate::server::Server;
use crate::support::Project;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A project with a key that may do everything.
pub(crate) struct Stage {
    pub(crate) project: Project,
    pub(crate) key: String,
    url: String,
}

impl Stage {
    pub(crate) fn new(url: &str) -> Self {
        let project = Project::new();
        for (name, gap, count) in [("chain", "", 8), ("steady", "    idempotent: true\n", 8)] {
            let mut text =
                "description: d\ninputs:\n  name: { type: string, required: true }\nsteps:\n".to_owned();
            for number in 1..=count {
                let needs =
                    if number > 1 { format!("    needs: [s{}]\n", number - 1) } else { String::new() };
                write!(
                    text,
                    "  - id: s{number}\n    run: sleep 0.3; echo s{number} >> trace-{{{{inputs.name}}}}; echo done\n{gap}{needs}"
                )
                .unwrap();
            }
            project.write(&format!(".abide/abilities/{name}.yaml"), text);
        }
        project.write(
            ".abide/abilities/ask.yaml",
            "description: d\ninputs:\n  name: { type: string, required: true }\nsteps:\n  - id: one\n    run: echo one >> trace-{{inputs.name}}\n  - id: ask\n    type: approval\n    prompt: Ok?\n    needs: [one]\n  - id: two\n    run: echo two >> trace-{{inputs.name}}\n    needs: [ask]\n",
        );
        // It fails at first, and is due again while its server is dead.
        project.write(
            ".abide/abilities/timer.yaml",
            "description: d\ninputs:\n  name: { type: string, required: true }\nsteps:\n  - id: one\n    run: echo one >> trace-{{inputs.name}}; grep -c one trace-{{inputs.name}} | grep -q 2\n    on_failure: retry\n    max_retries: 3\n    retry_delay: 6s\n",
        );
        let made = project.abide(&["key", "create", "ada", "--scope", "admin", "--database", url]);
        assert_eq!(made.code, Some(0), "{made:?}");
        Self { project, key: made.out.trim().to_owned(), url: url.to_owned() }
    }

    pub(crate) fn server(&self) -> Server {
        Server::start(&self.project, &["--database", &self.url, "--rate", "0"])
    }

    /// Starts one whose agents talk with a model at an address.
    pub(crate) fn talking_server(&self, model: &str) -> Server {
        let variables = [
            ("ANTHROPIC_BASE_URL", model),
            ("ANTHROPIC_API_KEY", "none"),
            ("ABIDE_MODEL", "anthropic/scripted"),
        ];
        Server::start_with(&self.project, &["--database", &self.url, "--rate", "0"], &variables)
    }

    /// Starts one that can sign what it tells webhooks.
    pub(crate) fn signing_server(&self, secret: &str) -> Server {
        Server::start_with(&self.project, &["--database", &self.url, "--rate", "0"], &[("HOOK", secret)])
    }

    pub(crate) fn start(&self, server: &Server, ability: &str, name: &str) -> String {
        let body = json!({ "ability": ability, "inputs": { "name": name } }).to_string();
        let (status, run) = server.ask("POST", "/v1/runs", Some(&self.key), &body);
        assert_eq!(status, 201, "{run}");
        run["run"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&self, server: &Server, run: &str) -> String {
        let (_, shown) = server.get(&format!("/v1/runs/{run}"), Some(&self.key));
        shown["status"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn until(&self, server: &Server, run: &str, wanted: &str) {
        let end = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while self.status(server, run) != wanted {
            let shown = server.get(&format!("/v1/runs/{run}"), Some(&self.key)).1;
            assert!(std::time::Instant::now() < end, "it never is {wanted}: {shown}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    pub(crate) fn answer(&self, server: &Server, run: &str, answer: &str) -> (u16, Value) {
        let body = json!({ "step": "ask", "answer": answer }).to_string();
        server.ask("POST", &format!("/v1/approvals/{run}"), Some(&self.key), &body)
    }

    /// Returns how often each line is in what the steps of a run wrote.
    pub(crate) fn trace(&self, name: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in lines(&self.project.path(format!("trace-{name}"))) {
            *counts.entry(line).or_default() += 1;
        }
        counts
    }

    /// Checks that each step of a chain ran once.
    pub(crate) fn ran_once(&self, name: &str) {
        let expected: BTreeMap<String, usize> = (1..=8).map(|number| (format!("s{number}"), 1)).collect();
        assert_eq!(self.trace(name), expected, "{name}");
    }

    /// Reads the log of a run, whose chain the server checks, and checks that nothing is missing or told twice.
    pub(crate) fn log(&self, server: &Server, run: &str) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let path = format!("/v1/runs/{run}/events?limit=20&after={}", events.len());
            let (status, page) = server.get(&path, Some(&self.key));
            assert_eq!(status, 200, "{page}");
            events.extend(page["items"].as_array().unwrap().iter().cloned());
            if page["next"].is_null() {
                break;
            }
        }
        for (event, seq) in events.iter().zip(1..) {
            assert_eq!(event["seq"], json!(seq), "{run}");
        }
        let mut ends: BTreeMap<String, usize> = BTreeMap::new();
        let once = |event: &&Value| {
            matches!(event["type"].as_str(), Some("run.created" | "run.finished" | "step.succeeded"))
        };
        for event in events.iter().filter(once) {
            *ends.entry(format!("{} {}", event["type"], event["data"]["step"])).or_default() += 1;
        }
        assert!(ends.values().all(|count| *count == 1), "{run}: {ends:?}");
        events
    }
}

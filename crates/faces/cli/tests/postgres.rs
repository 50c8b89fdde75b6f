//! `abide serve --database` on a real PostgreSQL, with the built binary.
//!
//! `ABIDE_POSTGRES` says where one is; `./test postgres` starts one and sets it.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

#[path = "binary/server.rs"]
mod server;
#[path = "binary/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod support;

#[path = "binary/talks.rs"]
mod talks;

mod real_postgres {
    use crate::server::Server;
    use crate::support::Project;
    use serde_json::Value;
    use std::process::Command;

    /// A database of one test: servers that share one share its work, too.
    struct Database {
        server: String,
        name: String,
    }

    impl Database {
        fn new(test: &str) -> Self {
            let server =
                std::env::var("ABIDE_POSTGRES").expect("ABIDE_POSTGRES is set: `./test postgres` does it");
            let database = Self { server, name: format!("abide_{test}_{}", std::process::id()) };
            database.tell(&format!("CREATE DATABASE {}", database.name));
            database
        }

        fn url(&self) -> String {
            let (before, _) = self.server.rsplit_once('/').expect("the address names a database");
            format!("{before}/{}", self.name)
        }

        fn tell(&self, statement: &str) {
            let status = Command::new("psql")
                .args(["--quiet", "--dbname", &self.server, "--command", statement])
                .status();
            assert!(status.expect("psql comes with PostgreSQL").success(), "{statement}");
        }
    }

    impl Drop for Database {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.tell(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
            }
        }
    }

    #[test]
    fn a_killed_server_is_gone_on_for_by_another_one_turn_for_turn() {
        let database = Database::new("killed");
        crate::talks::killed_and_gone_on_with(&["--database", &database.url()]);
    }

    #[test]
    fn a_run_is_kept_in_the_database_and_gone_on_with_by_the_next_server() {
        let database = Database::new("kept");
        let url = database.url();
        let project = Project::new();
        let ask = "description: d\nsteps:\n  - id: one\n    run: echo hi\n  - id: ask\n    type: approval\n    prompt: Ok?\n  - id: two\n    run: echo there\n    needs: [ask]\n";
        project.write(".abide/abilities/ask.yaml", ask);
        let agent = "description: d\nsteps:\n  - id: one\n    agent: a\n    prompt: p\n    runner: claude\n";
        project.write(".abide/abilities/agent.yaml", agent);
        let key = project.abide(&["key", "create", "ada", "--scope", "run,approve", "--database", &url]);
        assert_eq!(key.code, Some(0), "{key:?}");
        let listed = project.json(&["key", "list", "--database", &url]);
        assert!(listed["keys"].as_array().unwrap().iter().any(|key| key["name"] == "ada"), "{listed}");
        let server = Server::start(&project, &["--database", &url]);
        let (status, refused) = server.ask("POST", "/v1/runs", None, r#"{"ability": "agent"}"#);
        assert_eq!(status, 422, "no client can be held to a run that is not in the project's log: {refused}");
        let (status, run) = server.ask("POST", "/v1/runs", Some(&key.out), r#"{"ability": "ask"}"#);
        assert_eq!((status, &run["by"]), (201, &Value::from("ada")), "{run}");
        let id = run["run"].as_str().unwrap();
        server.until(id, "waiting");
        assert_eq!(server.end(), Some(0));
        let server = Server::start(&project, &["--database", &url, "--require-key"]);
        let answer = r#"{"step": "ask", "answer": "approved"}"#;
        let (status, answered) = server.ask("POST", &format!("/v1/approvals/{id}"), Some(&key.out), answer);
        assert_eq!(status, 200, "{answered}");
        for _ in 0..400 {
            let shown = server.get(&format!("/v1/runs/{id}"), Some(&key.out)).1;
            if shown["status"] == "completed" {
                assert!(!project.path(".abide/state/log.db").exists(), "nothing is kept beside the project");
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("it never ends: {}", server.get(&format!("/v1/runs/{id}"), Some(&key.out)).1);
    }
}

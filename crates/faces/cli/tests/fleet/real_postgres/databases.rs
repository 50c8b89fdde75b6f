//! A database that goes away in the middle of runs, and comes back, or another one in its place.

use crate::database::{Address, Database, url};
use crate::server::Server;
use crate::stage::Stage;
use crate::talk::Talk;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long everything has to come to its end once the database is left alone.
const ENDS: Duration = Duration::from_secs(90);

/// Talks at two servers while something happens to their database, and checks that every message that was taken came to its end once.
fn talk_while(stage: &Stage, servers: [&Server; 2], happens: impl FnOnce()) {
    let post = |server: &Server, path: &str, body: &Value| {
        server.ask("POST", path, Some(&stage.key), &body.to_string())
    };
    let sessions = crate::talk::sessions(|path, body| post(servers[0], path, body));
    let (taken, said, over) = (Mutex::new(Talk::new()), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let (sessions, taken, said, over, post) = (&sessions, &taken, &said, &over, &post);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let number = said.fetch_add(1, Ordering::Relaxed);
                    let session = &sessions[caller % sessions.len()];
                    let (text, body) = crate::talk::message(number);
                    let at = format!("/v1/sessions/{session}/messages");
                    let (status, message) = post(servers[number % 2], &at, &body);
                    assert!([202, 500, 503].contains(&status), "{message}");
                    if status == 202 {
                        let id = message["id"].as_str().unwrap().to_owned();
                        taken.lock().unwrap().insert(id, (session.clone(), text));
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
        happens();
        over.store(true, Ordering::Relaxed);
    });
    let taken = taken.into_inner().unwrap();
    assert!(taken.len() > 20, "there was something to lose: {}", taken.len());
    crate::talk::check(&sessions, &taken, Instant::now() + ENDS, |path| {
        servers[1].get(path, Some(&stage.key))
    });
}

#[test]
fn turns_outlive_connections_that_are_cut_again_and_again() {
    let (database, model) = (Database::start(), crate::talk::model());
    let stage = Stage::new(&database.url());
    let servers = [stage.talking_server(&model.url()), stage.talking_server(&model.url())];
    talk_while(&stage, [&servers[0], &servers[1]], || {
        for _ in 0..200 {
            std::thread::sleep(Duration::from_millis(30));
            database.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            );
        }
    });
}

#[test]
fn turns_outlive_a_database_that_is_started_anew() {
    let (database, model) = (Database::start(), crate::talk::model());
    let stage = Stage::new(&database.url());
    let servers = [stage.talking_server(&model.url()), stage.talking_server(&model.url())];
    talk_while(&stage, [&servers[0], &servers[1]], || {
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(1_500));
            database.cut();
            std::thread::sleep(Duration::from_millis(700));
            database.begin();
        }
        std::thread::sleep(Duration::from_secs(1));
    });
}

#[test]
fn a_database_that_is_started_anew_loses_and_doubles_nothing() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let (first, second) = (stage.server(), stage.server());
    let mut runs = Vec::new();
    for n in 0..4 {
        runs.push((stage.start(&first, "chain", &format!("a{n}")), format!("a{n}")));
        runs.push((stage.start(&second, "chain", &format!("b{n}")), format!("b{n}")));
    }
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(700));
        database.cut();
        std::thread::sleep(Duration::from_millis(500));
        database.begin();
    }
    for (run, name) in &runs {
        stage.until(&second, run, "completed");
        stage.ran_once(name);
        stage.log(&first, run);
    }
}

#[test]
fn a_run_outlives_the_change_to_another_database() {
    let old = Database::start();
    let new = Database::standby(&old);
    let address = Address::of(&old);
    let stage = Stage::new(&url(address.port));
    let (first, second) = (stage.server(), stage.server());
    let runs: Vec<(String, String)> = (0..4)
        .map(|n| {
            (
                stage.start(if n % 2 == 0 { &first } else { &second }, "chain", &format!("f{n}")),
                format!("f{n}"),
            )
        })
        .collect();
    let asked = stage.start(&first, "ask", "over");
    stage.until(&second, &asked, "waiting");
    old.cut();
    // For a while the address leads to a database that only reads.
    address.lead_to(&new);
    std::thread::sleep(Duration::from_millis(500));
    new.promote();
    for (run, name) in &runs {
        stage.until(&second, run, "completed");
        stage.ran_once(name);
        stage.log(&first, run);
    }
    assert_eq!(stage.answer(&second, &asked, "approved").0, 200);
    stage.until(&first, &asked, "completed");
    stage.log(&second, &asked);
}

#[test]
fn ten_thousand_agents_are_listed_page_by_page() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let server = stage.server();
    database.sql(&format!(
        "INSERT INTO agents (name, system_prompt) SELECT 'agent ' || number, 'p' FROM generate_series(1, {}) AS number",
        crate::pages::MANY
    ));
    database.sql(
        "INSERT INTO agent_capabilities (agent_id, capability_id) SELECT id, 'current_time' FROM agents",
    );
    crate::pages::list_all(&server);
}

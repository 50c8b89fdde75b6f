//! A server that is killed again and again while it is busy: what it said yes to is there, and what it began ends once.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

mod idle;
mod load;
mod pages;
#[path = "../binary/server.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod server;
#[path = "../binary/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod support;
mod talk;

#[test]
fn a_thousand_who_listen_to_a_server_on_sqlite_cost_nothing() {
    let (project, model) = (support::Project::new(), talk::model());
    let key = project.abide(&["key", "create", "ada", "--scope", "admin"]).out.trim().to_owned();
    let url = model.url();
    let variables =
        [("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_API_KEY", "none"), ("ABIDE_MODEL", "anthropic/scripted")];
    let start = || server::Server::start_with(&project, &["--rate", "0"], &variables);
    idle::a_thousand_cost_nothing(start, &key, std::time::Duration::ZERO, || 0);
}

#[test]
fn a_server_on_sqlite_that_is_killed_a_hundred_times_keeps_its_word() {
    load::kill_again_and_again(100, None);
}

#[test]
fn ten_thousand_agents_in_sqlite_are_listed_page_by_page() {
    let project = support::Project::new();
    let server = server::Server::start(&project, &["--rate", "0"]);
    let mut file = rusqlite::Connection::open(project.path(".abide/state/server.db")).unwrap();
    let all = file.transaction().unwrap();
    for number in 0..pages::MANY {
        let id = format!("01900000-0000-7000-8000-{number:012}");
        all.execute(
            "INSERT INTO agents (id, name, system_prompt, status, created_at, updated_at) VALUES (?1, ?1, 'p', 'active', 1, 1)",
            [&id],
        )
        .unwrap();
        all.execute(
            "INSERT INTO agent_capabilities (agent_id, capability_id, created_at) VALUES (?1, 'current_time', 1)",
            [&id],
        )
        .unwrap();
    }
    all.commit().unwrap();
    pages::list_all(&server);
}

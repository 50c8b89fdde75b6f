//! A server that is killed again and again while it is busy: what it said yes to is there, and what it began ends once.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

mod load;
mod pages;
#[path = "../binary/server.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod server;
#[path = "../binary/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod support;

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

//! A thousand who listen to a server on PostgreSQL.

use crate::database::Database;
use crate::server::Server;
use crate::support::Project;

#[test]
fn a_thousand_who_listen_to_a_server_on_postgres_cost_nothing() {
    let (database, project, model) = (Database::start(), Project::new(), crate::talk::model());
    let (url, at) = (model.url(), database.url());
    let key = project.abide(&["key", "create", "ada", "--scope", "admin", "--database", &at]).out;
    let variables =
        [("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_API_KEY", "none"), ("ABIDE_MODEL", "anthropic/scripted")];
    let start = || Server::start_with(&project, &["--rate", "0", "--database", &at], &variables);
    let asked = || database.number("SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database");
    crate::idle::a_thousand_cost_nothing(start, key.trim(), std::time::Duration::from_secs(11), asked);
}

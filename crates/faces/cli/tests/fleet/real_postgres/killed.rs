//! A server on PostgreSQL that is killed again and again.

use crate::database::Database;

#[test]
fn a_server_on_postgres_that_is_killed_a_hundred_times_keeps_its_word() {
    let database = Database::start();
    crate::load::kill_again_and_again(100, Some(&database.url()));
}

//! Calls that wait for a human's yes, beside the sessions.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{
    CallAnswer, Later, MOST_QUESTIONS, QUESTIONS_KEPT, QuestionRow, QuestionState, Questions, QuestionsError,
};
use rusqlite::{OptionalExtension as _, params};
use std::sync::Arc;
use std::time::Duration;

/// The table.
pub(super) const TABLE: &str = "
CREATE TABLE session_questions (
    id       TEXT NOT NULL PRIMARY KEY,
    text     TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    by       TEXT,
    approved INTEGER,
    why      TEXT,
    is_taken INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_questions_by_deadline ON session_questions (deadline);
";

/// How long whoever waits does not look: another process may have written.
const LOOK: Duration = Duration::from_secs(1);

impl Unreached for QuestionsError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
}

/// Returns what its bell is called: no session is called so.
fn bell(id: &str) -> String {
    format!("questions/{id}")
}

impl Questions for SqliteRegistry {
    fn ask(&self, question: QuestionRow) -> Later<Result<(), QuestionsError>> {
        self.change(question.text.len(), move |connection| {
            let QuestionRow { id, text, asked_at, deadline } = &question;
            let old = asked_at.saturating_sub(QUESTIONS_KEPT);
            connection.prepare_cached("DELETE FROM session_questions WHERE deadline < ?1")?.execute([old])?;
            let sql = "INSERT INTO session_questions (id, text, asked_at, deadline) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (id) DO NOTHING";
            connection.prepare_cached(sql)?.execute(params![id, text, asked_at, deadline])?;
            Ok(())
        })
    }

    fn open(&self, now: i64) -> Later<Result<Vec<QuestionRow>, QuestionsError>> {
        self.look(|connection| {
            let sql = "SELECT id, text, asked_at, deadline FROM session_questions
                       WHERE by IS NULL AND deadline > ?1 ORDER BY id LIMIT ?2";
            let row = |row: &rusqlite::Row<'_>| {
                Ok(QuestionRow {
                    id: row.get(0)?,
                    text: row.get(1)?,
                    asked_at: row.get(2)?,
                    deadline: row.get(3)?,
                })
            };
            connection.prepare_cached(sql)?.query_map(params![now, MOST_QUESTIONS], row)?.collect()
        })
    }

    fn state(&self, id: &str) -> Later<Result<Option<QuestionState>, QuestionsError>> {
        self.look(|connection| {
            let sql = "SELECT by IS NOT NULL, is_taken FROM session_questions WHERE id = ?1";
            let state = |row: &rusqlite::Row<'_>| {
                Ok(match (row.get(0)?, row.get(1)?) {
                    (_, true) => QuestionState::Taken,
                    (true, false) => QuestionState::Answered,
                    (false, false) => QuestionState::Open,
                })
            };
            connection.prepare_cached(sql)?.query_row([id], state).optional()
        })
    }

    fn answer(&self, id: &str, answer: CallAnswer, now: i64) -> Later<Result<bool, QuestionsError>> {
        let id = id.to_owned();
        self.change_session(&bell(&id.clone()), 0, move |connection| {
            let sql = "UPDATE session_questions SET by = ?2, approved = ?3, why = ?4
                       WHERE id = ?1 AND by IS NULL AND deadline > ?5";
            let CallAnswer { by, approved, why } = &answer;
            Ok(connection.prepare_cached(sql)?.execute(params![id, by, approved, why, now])? == 1)
        })
    }

    fn take(&self, id: &str) -> Later<Result<Option<CallAnswer>, QuestionsError>> {
        let (parts, bell, id) = (Arc::clone(&self.0), bell(id), id.to_owned());
        let taking = self.change(0, move |connection| {
            let sql =
                "UPDATE session_questions SET is_taken = 1 WHERE id = ?1 AND by IS NOT NULL AND NOT is_taken
                       RETURNING by, approved, why";
            let answer = |row: &rusqlite::Row<'_>| {
                Ok(CallAnswer { by: row.get(0)?, approved: row.get(1)?, why: row.get(2)? })
            };
            Ok(connection.prepare_cached(sql)?.query_row([&id], answer).optional()?)
        });
        Box::pin(async move {
            let taken = taking.await;
            // Whoever looks in vain wakes nobody: it could be itself.
            if let Ok(Some(_)) = &taken {
                parts.bells.ring(&bell);
            }
            taken
        })
    }

    fn withdraw(&self, id: &str) -> Later<Result<(), QuestionsError>> {
        let id = id.to_owned();
        self.change_session(&bell(&id.clone()), 0, move |connection| {
            let sql = "DELETE FROM session_questions WHERE id = ?1 AND NOT is_taken";
            connection.prepare_cached(sql)?.execute([&id])?;
            Ok(())
        })
    }

    fn news(&self, id: &str) -> Later<()> {
        // What happens from now on is heard, also before the future is first polled.
        let rung = self.0.bells.follow(&bell(id)).notified_owned();
        Box::pin(async move {
            let _ = tokio::time::timeout(LOOK, rung).await;
        })
    }
}

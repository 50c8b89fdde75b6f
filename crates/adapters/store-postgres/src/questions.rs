//! Calls that wait for a human's yes, for every process that shares the database.

use crate::PgStore;
use crate::events::signed;
use crate::listen::{CHANNEL, PATIENCE, QUESTIONS};
use abide_engine::port::{
    CallAnswer, Later, MOST_QUESTIONS, QUESTIONS_KEPT, QuestionRow, QuestionState, Questions, QuestionsError,
};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

/// The table. What agents wrote is kept as bytes: text cannot hold the character zero.
pub(crate) const TABLE: &str = r#"
CREATE TABLE session_questions (
    id       text   COLLATE "C" PRIMARY KEY,
    text     bytea  NOT NULL,
    asked_at bigint NOT NULL,
    deadline bigint NOT NULL,
    owner    text,
    approved boolean,
    why      text,
    is_taken boolean NOT NULL DEFAULT false
);
CREATE INDEX session_questions_by_deadline ON session_questions (deadline);
"#;

fn failed(error: impl std::error::Error) -> QuestionsError {
    QuestionsError(error.to_string())
}

fn question(row: &PgRow) -> Result<QuestionRow, sqlx::Error> {
    let bytes: Vec<u8> = row.try_get(1)?;
    let text = String::from_utf8(bytes).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(QuestionRow { id: row.try_get(0)?, text, asked_at: row.try_get(2)?, deadline: row.try_get(3)? })
}

impl Questions for PgStore {
    fn ask(&self, question: QuestionRow) -> Later<Result<(), QuestionsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let sql = "WITH old AS (DELETE FROM session_questions WHERE deadline < $5)
                       INSERT INTO session_questions (id, text, asked_at, deadline) VALUES ($1, $2, $3, $4)
                       ON CONFLICT (id) DO NOTHING";
            let asked = sqlx::query(sql)
                .bind(question.id)
                .bind(question.text.into_bytes())
                .bind(question.asked_at)
                .bind(question.deadline)
                .bind(question.asked_at.saturating_sub(QUESTIONS_KEPT));
            asked.execute(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }

    fn open(&self, now: i64) -> Later<Result<Vec<QuestionRow>, QuestionsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let sql = "SELECT id, text, asked_at, deadline FROM session_questions
                       WHERE owner IS NULL AND deadline > $1 ORDER BY id LIMIT $2";
            let found = sqlx::query(sql).bind(now).bind(signed(MOST_QUESTIONS as u64));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(question).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn state(&self, id: &str) -> Later<Result<Option<QuestionState>, QuestionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let found =
                sqlx::query("SELECT owner IS NOT NULL, is_taken FROM session_questions WHERE id = $1");
            let found = found.bind(id).fetch_optional(pool.ready().await.map_err(failed)?).await;
            let state = |row: PgRow| {
                Ok(match (row.try_get(0)?, row.try_get(1)?) {
                    (_, true) => QuestionState::Taken,
                    (true, false) => QuestionState::Answered,
                    (false, false) => QuestionState::Open,
                })
            };
            found.map_err(failed)?.map(state).transpose().map_err(|error: sqlx::Error| failed(error))
        })
    }

    fn answer(&self, id: &str, answer: CallAnswer, now: i64) -> Later<Result<bool, QuestionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = "WITH answered AS (UPDATE session_questions SET owner = $2, approved = $3, why = $4
                       WHERE id = $1 AND owner IS NULL AND deadline > $5 RETURNING id)
                       SELECT pg_notify($6, $7 || id) FROM answered";
            let CallAnswer { by, approved, why } = answer;
            let answered = sqlx::query(sql).bind(id).bind(by).bind(approved).bind(why).bind(now);
            let answered = answered.bind(CHANNEL).bind(QUESTIONS);
            let rows = answered.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            Ok(rows.len() == 1)
        })
    }

    fn take(&self, id: &str) -> Later<Result<Option<CallAnswer>, QuestionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = "WITH taken AS (UPDATE session_questions SET is_taken = true
                       WHERE id = $1 AND owner IS NOT NULL AND NOT is_taken RETURNING id, owner, approved, why)
                       SELECT owner, approved, why, pg_notify($2, $3 || id) FROM taken";
            let taken = sqlx::query(sql).bind(id).bind(CHANNEL).bind(QUESTIONS);
            let taken = taken.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            let answer = |row: PgRow| {
                Ok(CallAnswer { by: row.try_get(0)?, approved: row.try_get(1)?, why: row.try_get(2)? })
            };
            taken.map(answer).transpose().map_err(|error: sqlx::Error| failed(error))
        })
    }

    fn withdraw(&self, id: &str) -> Later<Result<(), QuestionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql =
                "WITH gone AS (DELETE FROM session_questions WHERE id = $1 AND NOT is_taken RETURNING id)
                       SELECT pg_notify($2, $3 || id) FROM gone";
            let gone = sqlx::query(sql).bind(id).bind(CHANNEL).bind(QUESTIONS);
            gone.fetch_all(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }

    fn news(&self, id: &str) -> Later<()> {
        // What happens from now on is heard, also before the future is first polled.
        let told = self.listening().hear(&format!("{QUESTIONS}{id}"));
        Box::pin(async move {
            let _ = tokio::time::timeout(PATIENCE, told).await;
        })
    }
}

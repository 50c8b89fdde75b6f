//! Calls that wait for a human's yes: asked by a turn, and answered by whoever may, at any server that shares the store.

use crate::audit;
use crate::port::{
    CallAnswer, Clock, Confirm, ConfirmQuestion, Confirmation, Later, QuestionRow, QuestionState, Questions,
    QuestionsError, SessionId,
};
use abide_core::event::Timestamp;
use abide_formats::json::{parse, to_json};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long the turn waits; see [`crate::turn`].
const PATIENCE: Duration = Duration::from_mins(1);
/// How soon it is tried again to ask, or to hear, when the store does not answer.
const AGAIN: Duration = Duration::from_millis(500);
/// How long whoever asked has to take an answer; one who is gone never does.
const TAKEN: Duration = Duration::from_secs(5);

/// A call that waits for a human's yes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolQuestion {
    /// What it is answered by.
    pub id: String,
    /// What is asked.
    pub question: ConfirmQuestion,
    /// Since when.
    pub asked_at: Timestamp,
    /// Until when; silence is a no.
    pub deadline: Timestamp,
}

impl ToolQuestion {
    fn to_row(&self) -> QuestionRow {
        let ConfirmQuestion { session, agent, tool, arguments, why } = &self.question;
        let text = json!({
            "session": session.as_str(), "agent": agent, "tool": tool, "arguments": to_json(arguments), "why": why,
        });
        QuestionRow {
            id: self.id.clone(),
            text: text.to_string(),
            asked_at: self.asked_at.0,
            deadline: self.deadline.0,
        }
    }

    /// Reads a row; one that another version wrote in another way is none.
    fn of(row: &QuestionRow) -> Option<Self> {
        let asked: Value = serde_json::from_str(&row.text).ok()?;
        let text = |name: &str| asked[name].as_str().map(str::to_owned);
        let question = ConfirmQuestion {
            session: SessionId::parse(asked["session"].as_str()?)?,
            agent: text("agent")?,
            tool: text("tool")?,
            arguments: parse(&asked["arguments"].to_string()).ok()?,
            why: text("why")?,
        };
        Some(Self {
            id: row.id.clone(),
            question,
            asked_at: Timestamp(row.asked_at),
            deadline: Timestamp(row.deadline),
        })
    }
}

/// Is told of each question when it is asked; must return at once.
pub type Asking = Arc<dyn Fn(&ToolQuestion) + Send + Sync>;

/// The questions that are open.
pub struct Inbox<C> {
    clock: Arc<C>,
    questions: Arc<dyn Questions>,
    asking: Option<Asking>,
}

impl<C: Clock> Inbox<C> {
    /// Makes an inbox over what is kept.
    pub fn new(clock: Arc<C>, questions: Arc<dyn Questions>) -> Self {
        Self { clock, questions, asking: None }
    }

    /// Has somebody told of each question that is asked here.
    #[must_use]
    pub fn telling(self, asking: Asking) -> Self {
        Self { asking: Some(asking), ..self }
    }

    /// Returns what is asked now, at every server, in the order of asking.
    pub async fn open(&self) -> Result<Vec<ToolQuestion>, QuestionsError> {
        let open = self.questions.open(self.clock.now().0).await?;
        Ok(open.iter().filter_map(ToolQuestion::of).collect())
    }

    /// Returns whether a question was asked, and not taken back.
    pub async fn knows(&self, id: &str) -> Result<bool, QuestionsError> {
        Ok(self.questions.state(id).await?.is_some())
    }

    /// Answers a question; returns whether that counts: it was the first answer, and somebody still waited for it.
    pub async fn answer(&self, id: &str, answer: CallAnswer) -> Result<bool, QuestionsError> {
        // What comes to nothing is no change: the note about it stays with the caller until it counts.
        let note = audit::take();
        let counts = self.given(id, answer).await;
        if let Some(note) = note {
            audit::put_back(note);
        }
        counts
    }

    async fn given(&self, id: &str, answer: CallAnswer) -> Result<bool, QuestionsError> {
        if !self.questions.answer(id, answer, self.clock.now().0).await? {
            return Ok(false);
        }
        let taken = async {
            loop {
                let news = self.questions.news(id);
                match self.questions.state(id).await? {
                    Some(QuestionState::Taken) => return Ok(true),
                    Some(QuestionState::Answered | QuestionState::Open) => news.await,
                    None => return Ok(false),
                }
            }
        };
        if let Ok(taken) = tokio::time::timeout(TAKEN, taken).await {
            return taken;
        }
        // Whoever asked is gone. If it is only slow, one of the two is first.
        self.questions.withdraw(id).await?;
        Ok(self.questions.state(id).await? == Some(QuestionState::Taken))
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Waiting {
    questions: Arc<dyn Questions>,
    id: String,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Without a runtime the process ends; the question does so with its time.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(self.questions.withdraw(&self.id));
        }
    }
}

/// Waits for the answer, through whatever happens to the store.
async fn heard(questions: &dyn Questions, id: &str) -> CallAnswer {
    loop {
        let news = questions.news(id);
        match questions.take(id).await {
            Ok(Some(answer)) => return answer,
            Ok(None) => news.await,
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

impl<C: Clock> Confirm for Inbox<C> {
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation> {
        // Ids of runs begin with the time.
        let id = self.clock.new_run().to_string();
        let now = self.clock.now();
        let shown = ToolQuestion { id: id.clone(), question, asked_at: now, deadline: now.after(PATIENCE) };
        let (questions, asking) = (Arc::clone(&self.questions), self.asking.clone());
        Box::pin(async move {
            let waiting = Waiting { questions: Arc::clone(&questions), id };
            // How long that is tried is up to whoever asks.
            while questions.ask(shown.to_row()).await.is_err() {
                tokio::time::sleep(AGAIN).await;
            }
            if let Some(asking) = asking {
                asking(&shown);
            }
            heard(&*questions, &waiting.id).await.into()
        })
    }
}

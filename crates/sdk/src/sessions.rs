//! Sessions: agents that talk, what was said to them, and what they say.

use crate::error::Error;
use crate::events::Messages;
use crate::pages::Pages;
use crate::talks::{SessionStream, Talk};
use crate::types::{Event, Message, Session, SessionDetail, WhenBusy};
use crate::wire::Wire;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::pin::pin;
use std::time::Duration;

/// How long nothing may happen before it is looked whether a turn is over.
const LOOK: Duration = Duration::from_secs(5);

/// Something to say.
#[derive(Debug, Clone)]
pub struct Say {
    text: String,
    when_busy: Option<WhenBusy>,
    once: Option<String>,
}

impl Say {
    /// Says a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), when_busy: None, once: None }
    }

    /// Says what happens while another turn is not over; it waits when nothing is said.
    #[must_use]
    pub fn when_busy(mut self, when_busy: WhenBusy) -> Self {
        self.when_busy = Some(when_busy);
        self
    }

    /// Names this message: the same name is one message within a week. Each call has one of its own when nothing is said.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.once = Some(key.into());
        self
    }
}

impl<T: Into<String>> From<T> for Say {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Sessions.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a>(pub(crate) &'a Wire);

impl<'a> Sessions<'a> {
    /// Lists sessions in the order of creation; only those of an agent if one is named.
    pub fn list(&self, agent: Option<&str>) -> Pages<'a, Session> {
        Pages::new(self.0, "/v1/sessions", &[]).with("agent", agent)
    }

    /// Makes a session of an agent. It is sent once: when no answer comes, look at the list.
    pub async fn create(&self, agent: &str, title: Option<&str>) -> Result<Session, Error> {
        let sent = self.0.post("/v1/sessions", &[], json!({ "agent": agent, "title": title }))?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Shows a session, and whether something is under way in it.
    pub async fn get(&self, session: &str) -> Result<SessionDetail, Error> {
        self.0.get("/v1/sessions/{}", &[session]).await
    }

    /// Calls a session something else, or nothing.
    pub async fn rename(&self, session: &str, title: Option<&str>) -> Result<Session, Error> {
        let sent = self.0.patch("/v1/sessions/{}", &[session], json!({ "title": title }))?.again();
        Ok(self.0.call(&sent).await?.0)
    }

    /// Removes a session with everything that was said in it and its files. It is sent once.
    pub async fn remove(&self, session: &str) -> Result<Session, Error> {
        let sent = self.0.ask(Method::DELETE, "/v1/sessions/{}", &[session], &[])?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Says something and does not wait for the answer. When an answer of the server is lost, it is sent again under the same name: it is
    /// said once.
    pub async fn send(&self, session: &str, say: impl Into<Say>) -> Result<Message, Error> {
        let say = say.into();
        let mut body = Map::new();
        body.insert("text".to_owned(), say.text.into());
        if let Some(when_busy) = say.when_busy {
            body.insert("when_busy".to_owned(), when_busy.word().into());
        }
        let once = say.once.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let sent = self.0.post("/v1/sessions/{}/messages", &[session], Value::Object(body))?;
        Ok(self.0.call(&sent.header("idempotency-key", &once)?.again()).await?.0)
    }

    /// Lists what was said to a session, with what came of it; a page begins after the `number` of a message.
    pub fn messages(&self, session: &str) -> Pages<'a, Message> {
        Pages::new(self.0, "/v1/sessions/{}/messages", &[session])
    }

    /// Shows a message and what came of it.
    pub async fn message(&self, session: &str, message: &str) -> Result<Message, Error> {
        self.0.get("/v1/sessions/{}/messages/{}", &[session, message]).await
    }

    /// Ends the turn that is under way; with `queued`, what waits is not told either. It is sent once: sent again, it would end the next turn.
    pub async fn cancel(&self, session: &str, queued: bool) -> Result<Vec<Message>, Error> {
        #[derive(Deserialize)]
        struct Cancelled {
            items: Vec<Message>,
        }
        let sent = self.0.post("/v1/sessions/{}/cancel", &[session], json!({ "queued": queued }))?;
        Ok(self.0.call::<Cancelled>(&sent).await?.0.items)
    }

    /// Lists the events that a session has so far.
    pub fn events(&self, session: &str) -> Pages<'a, Event> {
        Pages::new(self.0, "/v1/sessions/{}/events", &[session])
    }

    /// Tells the events of a session after one as they happen, each once, and between them what is said, word by word. A session is never
    /// over: it ends when nobody listens any more. After the `events` of [`Sessions::get`], it tells what is new.
    pub fn stream(&self, session: &str, after: u64) -> SessionStream<'a> {
        let path = "/v1/sessions/{}/events/stream";
        SessionStream::new(Messages::new(self.0, path, session, after))
    }

    /// Says something, and waits until its turn is over, however it went: `turn` says how.
    pub async fn ask(&self, session: &str, say: impl Into<Say>) -> Result<Message, Error> {
        self.talk(session, say).await?.message().await
    }

    /// The same, told as it happens: what is told is of this turn alone, and begins with it.
    pub async fn talk(&self, session: &str, say: impl Into<Say>) -> Result<Talk<'a>, Error> {
        let known = self.get(session).await?.events;
        let mut stream = self.stream(session, known);
        // It is listened before anything is said, so that no word is missed.
        stream.listen().await?;
        let message = self.send(session, say).await?;
        Ok(Talk::new(*self, stream, message))
    }

    /// Waits until the turn of a message is over, however it went.
    pub async fn wait_for(&self, session: &str, message: &str) -> Result<Message, Error> {
        let known = self.get(session).await?.events;
        let mut stream = self.stream(session, known);
        let mut shown = self.message(session, message).await?;
        while shown.turn.ended_at.is_none() {
            let mut ended = pin!(stream.ended());
            while shown.turn.ended_at.is_none() {
                let Ok(ended) = tokio::time::timeout(LOOK, &mut ended).await else {
                    shown = self.noted(session, message, 1).await?;
                    continue;
                };
                ended?;
                shown = self.noted(session, message, 5).await?;
                break;
            }
        }
        Ok(shown)
    }

    /// Looks at a message until its turn is over, and no more often than said: that a turn is over is noted right after its last event.
    pub(crate) async fn noted(&self, session: &str, message: &str, most: u32) -> Result<Message, Error> {
        let mut tries = 1;
        loop {
            let shown = self.message(session, message).await?;
            if shown.turn.ended_at.is_some() || tries >= most {
                return Ok(shown);
            }
            let pause = Duration::from_millis(10).saturating_mul(2_u32.saturating_pow(tries));
            tokio::time::sleep(pause.min(Duration::from_secs(1))).await;
            tries += 1;
        }
    }
}

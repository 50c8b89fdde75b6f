//! A session as it happens: all of it, or one turn.

use crate::error::Error;
use crate::events::Messages;
use crate::sessions::Sessions;
use crate::told::{Answers, Told};
use crate::types::Message;

/// The events of a session as they happen, each once and in order, and between them what is said.
#[derive(Debug)]
pub struct SessionStream<'a> {
    messages: Messages<'a>,
    answers: Answers,
}

impl<'a> SessionStream<'a> {
    pub(crate) fn new(messages: Messages<'a>) -> Self {
        Self { messages, answers: Answers::default() }
    }

    /// Waits until somebody listens: from then on, no word is missed.
    pub(crate) async fn listen(&mut self) -> Result<(), Error> {
        self.messages.listen().await
    }

    /// Returns what is told next; nothing, if the server says that all is told. A connection that breaks off is opened again.
    ///
    /// Nothing is lost when its future is dropped, but a connection that is being opened is: in a `select!`, let a task of its own wait.
    pub async fn next(&mut self) -> Result<Option<Told>, Error> {
        loop {
            if let Some(told) = self.answers.next() {
                return Ok(Some(told));
            }
            let Some(message) = self.messages.next().await? else { return Ok(None) };
            self.answers.take(&message).map_err(|error| self.messages.foreign(&error))?;
        }
    }

    /// Waits until a turn ends.
    pub(crate) async fn ended(&mut self) -> Result<(), Error> {
        loop {
            match self.next().await? {
                Some(Told::Event(event)) if event.kind == "turn.ended" => return Ok(()),
                Some(_) => {}
                None => return Err(self.messages.over()),
            }
        }
    }
}

/// A turn as it happens, from what is told to the model to its end.
#[derive(Debug)]
pub struct Talk<'a> {
    sessions: Sessions<'a>,
    stream: SessionStream<'a>,
    said: Message,
    /// Whether what is told now is of this turn.
    mine: bool,
    over: bool,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(sessions: Sessions<'a>, stream: SessionStream<'a>, said: Message) -> Self {
        Self { sessions, stream, said, mine: false, over: false }
    }

    /// Returns the message as it was taken.
    pub fn said(&self) -> &Message {
        &self.said
    }

    /// Returns what is told next of the turn; nothing, if it is over.
    pub async fn next(&mut self) -> Result<Option<Told>, Error> {
        while !self.over {
            let told = self.stream.next().await?.ok_or_else(|| self.stream.messages.over())?;
            if let Told::Event(event) = &told {
                if event.kind == "message.told" {
                    self.mine = event.data["label"] == *self.said.id;
                }
                self.over = self.mine && event.kind == "turn.ended";
            }
            if self.mine {
                return Ok(Some(told));
            }
        }
        Ok(None)
    }

    /// Waits until the turn is over, however it went, and returns its message: `turn` says how.
    pub async fn message(mut self) -> Result<Message, Error> {
        while self.next().await?.is_some() {}
        self.sessions.noted(&self.said.session, &self.said.id, u32::MAX).await
    }
}

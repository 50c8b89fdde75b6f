//! The port, over HTTP.

use crate::event::Json;
use crate::gathered::{Broken, Gathered};
use crate::proxy::Proxies;
use crate::refusal::{Meaning, Refusal};
use crate::retry_after::retry_after;
use crate::{anthropic, chat, sse};
use abide_core::definition::WireFormat;
use abide_core::model::{Provider, Retry, Usage};
use abide_core::value::Secret;
use abide_engine::port::{
    Hear, Later, Model, ModelAnswer, ModelError, ModelEvent, ModelProblem, ModelRequest, TimeOut,
};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use std::error::Error as _;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// How much of a refusal is read.
const LONGEST_REFUSAL: usize = 64 << 10;
/// What one event of an answer may have beside the answer itself.
const EVENT_ROOM: usize = 1 << 20;

/// The models of one provider, over HTTP.
#[derive(Debug, Clone)]
pub struct HttpModel(Arc<Asked>);

#[derive(Debug)]
struct Asked {
    client: Client,
    provider: Provider,
    url: String,
    key: Option<Secret>,
}

impl HttpModel {
    /// Makes ready to ask a provider. Nothing is sent; the roots of trust are read from the system, which takes a moment.
    pub fn new(provider: Provider, key: Option<Secret>, proxies: &Proxies) -> Result<Self, ModelError> {
        // Somebody may have chosen one already: then theirs holds.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let not_ready = |why: String| ModelError {
            provider: provider.name.as_str().into(),
            problem: ModelProblem::NotReady(why),
            help: None,
            retry: Retry::Never,
            usage: Usage::default(),
        };
        let client = Client::builder()
            .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(provider.time.connect)
            // A key goes to the address that the user has named, and to no other.
            .redirect(Policy::none());
        let client = proxies.tell(client).map_err(|why| not_ready(why.to_owned()))?;
        let client = client.build().map_err(|error| not_ready(reason(&error)))?;
        let url = address(provider.format, &provider.url);
        Ok(Self(Arc::new(Asked { client, provider, url, key })))
    }
}

impl Model for HttpModel {
    fn ask(&self, request: Arc<ModelRequest>, hear: Hear) -> Later<Result<ModelAnswer, ModelError>> {
        let asked = Arc::clone(&self.0);
        Box::pin(async move { asked.ask(&request, &hear).await })
    }
}

/// Returns the address that questions go to. Both formats are forgiving about `/v1`, because users are.
fn address(format: WireFormat, url: &str) -> String {
    let base = url.trim_end_matches('/');
    let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    match format {
        WireFormat::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
        WireFormat::Anthropic => format!("{base}/v1/messages"),
        WireFormat::OpenAi if has_path => format!("{base}/chat/completions"),
        WireFormat::OpenAi => format!("{base}/v1/chat/completions"),
    }
}

/// An answer that is being heard, in either format.
enum Hearing {
    Anthropic(anthropic::Hearing),
    Chat(chat::Hearing),
}

impl Hearing {
    fn new(format: WireFormat, request: &ModelRequest) -> Self {
        let gathered = Gathered::new(request.limits.bytes);
        match format {
            WireFormat::Anthropic => Self::Anthropic(anthropic::Hearing::new(gathered)),
            WireFormat::OpenAi => Self::Chat(chat::Hearing::new(gathered, request.messages.len())),
        }
    }

    /// Takes the data of an event; says whether it was the last.
    fn take(&mut self, data: &str) -> Result<(Vec<ModelEvent>, bool), Broken> {
        if matches!(self, Self::Chat(_)) && data.trim() == "[DONE]" {
            return Ok((Vec::new(), true));
        }
        let event: Json<'_> = serde_json::from_str(data)
            .map_err(|error| Broken::Malformed(format!("an event is not JSON: {error}")))?;
        match self {
            Self::Anthropic(hearing) => {
                let heard = hearing.take(&event)?;
                Ok((heard, hearing.over))
            }
            Self::Chat(hearing) => Ok((hearing.take(&event)?, false)),
        }
    }

    /// Tells whether the answer would be whole if nothing more came.
    fn may_end(&self) -> bool {
        match self {
            Self::Anthropic(hearing) => hearing.over,
            // Some servers end without saying so once more.
            Self::Chat(hearing) => hearing.gathered.end.is_some(),
        }
    }

    fn usage(&self) -> Usage {
        match self {
            Self::Anthropic(hearing) => hearing.gathered.usage,
            Self::Chat(hearing) => hearing.gathered.usage,
        }
    }

    fn finish(self, by_schema: bool) -> Result<(Vec<ModelEvent>, ModelAnswer), Broken> {
        match self {
            Self::Anthropic(hearing) => hearing.gathered.finish(by_schema),
            Self::Chat(mut hearing) => {
                let mut heard = hearing.end()?;
                let (rest, answer) = hearing.gathered.finish(by_schema)?;
                heard.extend(rest);
                Ok((heard, answer))
            }
        }
    }
}

impl Asked {
    async fn ask(&self, request: &ModelRequest, hear: &Hear) -> Result<ModelAnswer, ModelError> {
        let begin = Instant::now() + self.provider.time.begin;
        let mut response = self.send(request, begin).await?;
        let mut hearing = Hearing::new(self.provider.format, request);
        let mut reader = sse::Reader::new(request.limits.bytes.saturating_add(EVENT_ROOM));
        let mut left = self.provider.time.answer;
        let mut has_begun = false;
        let mut alarm = pin!(tokio::time::sleep_until(begin));
        'answer: loop {
            let started = Instant::now();
            let until = if has_begun { started + self.provider.time.idle.min(left) } else { begin };
            let timed_out = match (has_begun, left <= self.provider.time.idle) {
                (false, _) => TimeOut::Beginning,
                (true, false) => TimeOut::Silence,
                (true, true) => TimeOut::Whole,
            };
            let broke = |problem| Err(self.error(problem, Retry::Later, hearing.usage()));
            let heard = tokio::select! {
                biased;
                heard = response.chunk() => heard,
                () = rings_at(until, alarm.as_mut()) => return broke(ModelProblem::TimedOut(timed_out)),
            };
            let chunk = match heard {
                Ok(Some(chunk)) => chunk,
                Ok(None) if hearing.may_end() => break,
                Ok(None) | Err(_) => return broke(ModelProblem::CutOff),
            };
            // What the listener takes is not counted against the provider.
            left = left.saturating_sub(started.elapsed());
            has_begun = true;
            let usage = hearing.usage();
            let events =
                reader.take(&chunk).map_err(|sse::TooLong| self.broken(Broken::TooLong, request, usage))?;
            for event in events {
                let taken = hearing.take(&event.data);
                let (heard, last) = taken.map_err(|broken| self.broken(broken, request, hearing.usage()))?;
                for event in heard {
                    hear(event).await;
                }
                if last {
                    break 'answer;
                }
            }
        }
        let usage = hearing.usage();
        let finished = hearing.finish(request.schema.is_some());
        let (heard, answer) = finished.map_err(|broken| self.broken(broken, request, usage))?;
        for event in heard {
            hear(event).await;
        }
        Ok(answer)
    }

    /// Sends a question, and returns the answer once it is known to be one.
    async fn send(&self, request: &ModelRequest, begin: Instant) -> Result<Response, ModelError> {
        let official = self.url.starts_with("https://api.openai.com/");
        let body = match self.provider.format {
            WireFormat::Anthropic => serde_json::to_vec(&anthropic::body(request)),
            WireFormat::OpenAi => serde_json::to_vec(&chat::Body { request, official }),
        };
        // Texts and numbers in memory can always be written.
        let body = body.unwrap_or_default();
        let mut sent = self.client.post(&self.url).header(CONTENT_TYPE, "application/json").body(body);
        if self.provider.format == WireFormat::Anthropic {
            sent = sent.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            let (name, text) = match self.provider.format {
                WireFormat::Anthropic => ("x-api-key", key.reveal().to_owned()),
                WireFormat::OpenAi => ("authorization", format!("Bearer {}", key.reveal())),
            };
            let Ok(mut value) = HeaderValue::from_str(&text) else {
                let why = "the key has a line end or another character in it that no key has".to_owned();
                return Err(self.error(ModelProblem::NotReady(why), Retry::Never, Usage::default()));
            };
            value.set_sensitive(true);
            sent = sent.header(name, value);
        }
        let none = Usage::default();
        let response = match tokio::time::timeout_at(begin, sent.send()).await {
            Err(_) => return Err(self.error(ModelProblem::TimedOut(TimeOut::Beginning), Retry::Later, none)),
            Ok(Err(error)) if error.is_connect() && error.is_timeout() => {
                return Err(self.error(ModelProblem::TimedOut(TimeOut::Connect), Retry::Later, none));
            }
            Ok(Err(error)) => {
                let problem = ModelProblem::Unreachable(reason(&error));
                let help = format!("see whether {} answers, and whether a proxy is needed", self.url);
                return Err(ModelError { help: Some(help), ..self.error(problem, Retry::Later, none) });
            }
            Ok(Ok(response)) => response,
        };
        if response.status() != reqwest::StatusCode::OK {
            return Err(self.refused(response).await);
        }
        let media =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media.is_empty() || media.starts_with("text/event-stream") {
            return Ok(response);
        }
        let why = format!("it is {}, not a stream of events", media.split(';').next().unwrap_or_default());
        let help = format!("see whether {} is the address of a model", self.url);
        Err(ModelError { help: Some(help), ..self.error(ModelProblem::Malformed(why), Retry::Never, none) })
    }

    async fn refused(&self, mut response: Response) -> ModelError {
        let status = response.status().as_u16();
        let wait = retry_after(response.headers());
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        let location = location.map(|place| format!("it redirects to {place}"));
        let mut body = Vec::new();
        // What it says is of use, but nobody waits long for it.
        let patience = Instant::now() + self.provider.time.idle.min(Duration::from_secs(10));
        while body.len() < LONGEST_REFUSAL
            && let Ok(Ok(Some(chunk))) = tokio::time::timeout_at(patience, response.chunk()).await
        {
            body.extend_from_slice(&chunk);
        }
        body.truncate(LONGEST_REFUSAL);
        let mut refusal = Refusal::read(status, &body, wait);
        if let (300..=399, Some(location)) = (status, location) {
            refusal.message = location;
        }
        self.meant(refusal, Usage::default())
    }

    fn broken(&self, broken: Broken, request: &ModelRequest, usage: Usage) -> ModelError {
        match broken {
            // The same question may well be answered better the next time.
            Broken::Malformed(why) => self.error(ModelProblem::Malformed(why), Retry::Later, usage),
            Broken::TooLong => self.error(ModelProblem::TooLarge(request.limits.bytes), Retry::Never, usage),
            Broken::Failed { kind, message } => self.meant(Refusal::said(&kind, &message), usage),
        }
    }

    /// Makes the error of a refusal; the provider may have repeated the key in it.
    fn meant(&self, mut refusal: Refusal, usage: Usage) -> ModelError {
        if let Some(key) = &self.key {
            refusal.message = key.hidden_in(&refusal.message);
            refusal.kind = key.hidden_in(&refusal.kind);
        }
        let Meaning { problem, retry, help } = refusal.meaning(&self.provider);
        ModelError { help, ..self.error(problem, retry, usage) }
    }

    fn error(&self, problem: ModelProblem, retry: Retry, usage: Usage) -> ModelError {
        ModelError { provider: self.provider.name.as_str().into(), problem, help: None, retry, usage }
    }
}

/// Waits until a moment, by an alarm that may be set to another one.
///
/// It is set anew only where it would ring too late, or has rung too early: an answer comes in hundreds of pieces, each of
/// which puts the moment off.
async fn rings_at(moment: Instant, mut alarm: Pin<&mut Sleep>) {
    if moment < alarm.deadline() {
        alarm.as_mut().reset(moment);
    }
    alarm.as_mut().await;
    while Instant::now() < moment {
        alarm.as_mut().reset(moment);
        alarm.as_mut().await;
    }
}

/// Returns the deepest reason of an error of the client, which is the one that says something.
fn reason(error: &reqwest::Error) -> String {
    let mut deepest = error.source();
    while let Some(next) = deepest.and_then(std::error::Error::source) {
        deepest = Some(next);
    }
    deepest.map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_from_what_users_write() {
        use WireFormat::{Anthropic, OpenAi};
        for (format, url, expected) in [
            (Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
            (Anthropic, "https://gateway/claude", "https://gateway/claude/v1/messages"),
            (OpenAi, "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (OpenAi, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"),
            (OpenAi, "https://gateway/openai", "https://gateway/openai/chat/completions"),
        ] {
            assert_eq!(address(format, url), expected);
        }
    }
}

//! What a provider means when it says no, and whether asking again makes sense.

use abide_core::definition::SecretSource;
use abide_core::model::{Provider, Retry};
use abide_engine::port::ModelProblem;
use serde_json::Value;
use std::time::Duration;

/// How much of a provider's words is passed on.
const LONGEST: usize = 400;

/// A refusal as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status of HTTP, or what stands for the provider's word in the middle of an answer.
    pub(crate) status: u16,
    /// The provider's word, if it has one.
    pub(crate) kind: String,
    /// What it says.
    pub(crate) message: String,
    /// After how long it wants to be asked again.
    pub(crate) wait: Option<Duration>,
}

/// What follows from a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) problem: ModelProblem,
    pub(crate) retry: Retry,
    pub(crate) help: Option<String>,
}

impl Refusal {
    /// Reads the body that came with a status.
    pub(crate) fn read(status: u16, body: &[u8], wait: Option<Duration>) -> Self {
        let (kind, message) = match serde_json::from_slice::<Value>(body) {
            Ok(body) => words(&body),
            Err(_) => (String::new(), plain(&String::from_utf8_lossy(body))),
        };
        Self { status, kind, message: short(&message), wait }
    }

    /// Takes what was said in the middle of an answer.
    pub(crate) fn said(kind: &str, message: &str) -> Self {
        let status = match kind {
            "overloaded_error" => 529,
            "rate_limit_error" | "rate_limit_exceeded" => 429,
            "authentication_error" => 401,
            "permission_error" => 403,
            "not_found_error" | "model_not_found" => 404,
            "request_too_large" => 413,
            "invalid_request_error" | "context_length_exceeded" | "exceed_context_size_error" => 400,
            "insufficient_quota" | "billing_error" => 402,
            code => code.parse().ok().filter(|code| (400..600).contains(code)).unwrap_or(500),
        };
        Self { status, kind: kind.to_owned(), message: short(message), wait: None }
    }

    /// Says what it means.
    pub(crate) fn meaning(self, provider: &Provider) -> Meaning {
        let retry = self.wait.map_or(Retry::Later, Retry::After);
        let too_long = self.is_too_long();
        let out_of_quota = self.is_out_of_quota();
        let message = match (self.message.is_empty(), self.kind.is_empty()) {
            (false, _) => self.message,
            (true, false) => self.kind,
            (true, true) => format!("status {}", self.status),
        };
        let never =
            |problem, help: &str| Meaning { problem, retry: Retry::Never, help: Some(help.to_owned()) };
        match self.status {
            _ if too_long => {
                Meaning { problem: ModelProblem::TooLong(message), retry: Retry::Never, help: None }
            }
            _ if out_of_quota => never(
                ModelProblem::OutOfQuota(message),
                "see to the account at the provider, or name another model",
            ),
            401 | 403 => Meaning {
                problem: ModelProblem::Unauthorized(message),
                retry: Retry::Never,
                help: Some(match &provider.key {
                    Some(source) => format!("check the key: it comes from {}", described(source)),
                    None => format!("set `providers.{}.key` in the configuration", provider.name),
                }),
            },
            404 => never(
                ModelProblem::UnknownModel(message),
                "check the name of the model and the `url` of its provider; `abide model list` shows both",
            ),
            429 => Meaning { problem: ModelProblem::RateLimited(message), retry, help: None },
            503 | 529 => Meaning { problem: ModelProblem::Overloaded(message), retry, help: None },
            300..=399 => never(
                ModelProblem::Refused(message),
                "set `url` to the address that answers: a key is not sent after a redirection",
            ),
            408 | 409 | 425 | 500..=599 if !matches!(self.status, 501 | 505) => {
                Meaning { problem: ModelProblem::Failed { status: self.status, message }, retry, help: None }
            }
            _ => Meaning { problem: ModelProblem::Refused(message), retry: Retry::Never, help: None },
        }
    }

    fn is_too_long(&self) -> bool {
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        matches!(
            self.kind.as_str(),
            "context_length_exceeded" | "exceed_context_size_error" | "request_too_large"
        ) || self.status == 413
            || (matches!(self.status, 400 | 422)
                && says(&[
                    "prompt is too long",
                    "context length",
                    "context window",
                    "context size",
                    "too many tokens",
                ]))
    }

    fn is_out_of_quota(&self) -> bool {
        self.status == 402
            || matches!(self.kind.as_str(), "insufficient_quota" | "billing_error")
            || (self.status == 400 && self.message.to_lowercase().contains("credit balance is too low"))
    }
}

/// Says where a key comes from, without the key.
pub(crate) fn described(source: &SecretSource) -> String {
    match source {
        SecretSource::Env(variable) => format!("the environment variable {variable}"),
        SecretSource::File(file) => format!("the file {file}"),
        SecretSource::Command(_) => "a command of the configuration".to_owned(),
    }
}

/// Finds the provider's word and sentence, in the shapes that there are.
fn words(body: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let error = &body["error"];
    if let Some(message) = error.as_str() {
        return (String::new(), message.to_owned());
    }
    let code = text(&error["code"]);
    let kind = if code.is_empty() { text(&error["type"]) } else { code };
    let message = [&error["message"], &body["message"], &body["detail"]].into_iter().map(text);
    (kind, message.into_iter().find(|message| !message.is_empty()).unwrap_or_default())
}

/// Returns a text that somebody could read; the page of a proxy is none.
fn plain(text: &str) -> String {
    if text.trim_start().starts_with('<') { String::new() } else { text.to_owned() }
}

fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let printable = line.chars().filter(|each| !each.is_control());
    let mut short: String = printable.clone().take(LONGEST).collect();
    if printable.count() > LONGEST {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::definition::{Config, ProviderName};

    fn provider() -> Provider {
        Provider::find(&Config::default(), &ProviderName::parse("anthropic").unwrap(), |_| None).unwrap()
    }

    fn meaning(status: u16, body: &str) -> String {
        let meaning =
            Refusal::read(status, body.as_bytes(), Some(Duration::from_secs(3))).meaning(&provider());
        format!("{} / {:?}", meaning.problem, meaning.retry)
    }

    #[test]
    fn each_refusal_means_what_a_caller_can_do_about_it() {
        let error = |kind: &str, message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        };
        for (status, body, expected) in [
            (
                401,
                error("authentication_error", "invalid x-api-key"),
                "the key was not accepted: invalid x-api-key / Never",
            ),
            (
                404,
                error("not_found_error", "model: x"),
                "no such model, or no such address: model: x / Never",
            ),
            (429, error("rate_limit_error", "slow down"), "too many requests: slow down / After(3s)"),
            (529, error("overloaded_error", "Overloaded"), "it is overloaded: Overloaded / After(3s)"),
            (500, "<html>oops</html>".to_owned(), "it failed with status 500: status 500 / After(3s)"),
            (502, "bad gateway".to_owned(), "it failed with status 502: bad gateway / After(3s)"),
            (501, String::new(), "the question was refused: status 501 / Never"),
            (302, String::new(), "the question was refused: status 302 / Never"),
            (
                400,
                error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
                "the conversation is too long for the model: prompt is too long: 9 tokens > 8 maximum / Never",
            ),
            (
                400,
                error("invalid_request_error", "tools.0: bad"),
                "the question was refused: tools.0: bad / Never",
            ),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#.to_owned(),
                "the conversation is too long for the model: m / Never",
            ),
            (
                429,
                r#"{"error":{"code":"insufficient_quota","type":"x","message":"pay"}}"#.to_owned(),
                "the quota is used up: pay / Never",
            ),
            (422, r#"{"detail":"no"}"#.to_owned(), "the question was refused: no / Never"),
            (
                400,
                r#"{"error":"model failed to load"}"#.to_owned(),
                "the question was refused: model failed to load / Never",
            ),
        ] {
            assert_eq!(meaning(status, &body), expected, "{status} {body}");
        }
    }

    #[test]
    fn what_is_said_in_the_middle_counts_as_its_status_would() {
        for (kind, retry) in [
            ("overloaded_error", Retry::Later),
            ("api_error", Retry::Later),
            ("", Retry::Later),
            ("503", Retry::Later),
            ("rate_limit_exceeded", Retry::Later),
            ("invalid_request_error", Retry::Never),
            ("authentication_error", Retry::Never),
        ] {
            assert_eq!(Refusal::said(kind, "m").meaning(&provider()).retry, retry, "{kind}");
        }
    }

    #[test]
    fn the_words_of_others_are_short_and_have_one_line() {
        let long = format!("a\n\tb\u{7} {}", "x".repeat(1000));
        let refusal = Refusal::read(400, long.as_bytes(), None);
        assert!(refusal.message.starts_with("a b xxx") && refusal.message.chars().count() == LONGEST + 1);
        let help = Refusal::read(401, b"", None).meaning(&provider()).help;
        assert_eq!(
            help.as_deref(),
            Some("check the key: it comes from the environment variable ANTHROPIC_API_KEY")
        );
    }
}

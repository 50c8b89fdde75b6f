//! What a server tells webhooks: whether it wrote it, and whether it is new.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::Value;
use sha2::Sha256;
use std::time::Duration;

/// How old or how far ahead something may be.
const TOLERANCE: Duration = Duration::from_mins(5);

/// Verifies what one webhook is told.
#[derive(Clone)]
pub struct Verifier {
    key: Hmac<Sha256>,
    tolerance: Duration,
}

/// What a webhook is told.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// What it is called: take each id once.
    #[serde(skip)]
    pub id: String,
    /// `approval.requested` or `run.finished`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
    /// What is said about it.
    pub data: Value,
    /// Whether texts in it were cut.
    #[serde(default)]
    pub cut: bool,
}

/// Why something is not what the server told just now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// The secret is none.
    #[error("the secret is not `whsec_` and Base64")]
    Secret,
    /// A header is missing.
    #[error("it has no {0}")]
    Header(&'static str),
    /// It is old, or of a clock that is wrong.
    #[error("it was not sent just now")]
    Old,
    /// Somebody else wrote it, or has changed it.
    #[error("its signature is not that of the secret")]
    Signature,
    /// It is signed, and not of a form that this version knows.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

impl Verifier {
    /// Makes ready to verify what is signed with a secret.
    pub fn new(secret: &str) -> Result<Self, Unverified> {
        let coded = secret.trim().strip_prefix("whsec_").ok_or(Unverified::Secret)?;
        let bytes = STANDARD.decode(coded).ok().filter(|bytes| !bytes.is_empty());
        let key = bytes.and_then(|bytes| Hmac::new_from_slice(&bytes).ok()).ok_or(Unverified::Secret)?;
        Ok(Self { key, tolerance: TOLERANCE })
    }

    /// Says how old or how far ahead something may be; five minutes if nothing is said.
    #[must_use]
    pub fn tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// Returns what was told; `now` is the time in seconds since 1970, and `body` is as it came.
    pub fn verify<'h>(
        &self,
        header: impl Fn(&str) -> Option<&'h str>,
        body: &[u8],
        now: u64,
    ) -> Result<WebhookEvent, Unverified> {
        let named = |name: &'static str| header(name).ok_or(Unverified::Header(name));
        let (id, timestamp) = (named("webhook-id")?, named("webhook-timestamp")?);
        let signatures = named("webhook-signature")?;
        let sent: u64 = timestamp.parse().map_err(|_| Unverified::Old)?;
        if sent.abs_diff(now) > self.tolerance.as_secs() {
            return Err(Unverified::Old);
        }
        let is_ours = |signature: &str| {
            let given = signature.strip_prefix("v1,").and_then(|coded| STANDARD.decode(coded).ok());
            given.is_some_and(|given| {
                let mut mac = self.key.clone();
                mac.update(format!("{id}.{timestamp}.").as_bytes());
                mac.update(body);
                // In a time that does not depend on where they differ.
                mac.verify_slice(&given).is_ok()
            })
        };
        if !signatures.split(' ').any(is_ours) {
            return Err(Unverified::Signature);
        }
        let event: WebhookEvent =
            serde_json::from_slice(body).map_err(|error| Unverified::Unreadable(error.to_string()))?;
        Ok(WebhookEvent { id: id.to_owned(), ..event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    /// The example of Standard Webhooks.
    const EXAMPLE: [(&str, &str); 3] = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ];
    const BODY: &[u8] = b"{\"test\": 2432232314}";
    const NOW: u64 = 1_614_265_330;

    fn verified(
        secret: &str,
        headers: &[(&'static str, &'static str)],
        body: &[u8],
        now: u64,
    ) -> Result<WebhookEvent, Unverified> {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        Verifier::new(secret)?.verify(header, body, now)
    }

    #[test]
    fn what_the_server_has_signed_is_taken_and_nothing_else() {
        let of =
            |headers: &[(&'static str, &'static str)], body: &[u8], now| verified(SECRET, headers, body, now);
        // It is signed, and no event of abide.
        assert!(matches!(of(&EXAMPLE, BODY, NOW + 300), Err(Unverified::Unreadable(_))));
        assert_eq!(of(&EXAMPLE, b"{\"test\": 2432232315}", NOW), Err(Unverified::Signature));
        assert_eq!(of(&EXAMPLE, BODY, NOW + 301), Err(Unverified::Old));
        assert_eq!(of(&EXAMPLE, BODY, NOW - 301), Err(Unverified::Old));
        assert_eq!(of(&EXAMPLE[..2], BODY, NOW), Err(Unverified::Header("webhook-signature")));
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        assert_eq!(verified(other, &EXAMPLE, BODY, NOW), Err(Unverified::Signature));
        assert_eq!(verified("s3cret", &EXAMPLE, BODY, NOW), Err(Unverified::Secret));
        let later = [EXAMPLE[0], ("webhook-timestamp", "1614265331"), EXAMPLE[2]];
        assert_eq!(of(&later, BODY, NOW), Err(Unverified::Signature));
    }

    #[test]
    fn an_event_is_read_with_its_id() {
        let body = br#"{"type":"run.finished","at":5,"data":{"run":"r"}}"#;
        let mut mac = Verifier::new(SECRET).ok().unwrap().key;
        mac.update(b"msg_r_7.1614265330.");
        mac.update(body);
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        let header = |name: &str| match name {
            "webhook-id" => Some("msg_r_7"),
            "webhook-timestamp" => Some("1614265330"),
            _ => Some(signature.as_str()),
        };
        let event = Verifier::new(SECRET).ok().unwrap().verify(header, body, NOW).unwrap();
        let data = serde_json::json!({ "run": "r" });
        let kind = "run.finished".to_owned();
        assert_eq!(event, WebhookEvent { id: "msg_r_7".to_owned(), kind, at: 5, data, cut: false });
    }
}

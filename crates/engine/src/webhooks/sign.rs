//! The signature of a letter, by which its receiver knows who wrote it: that of Standard Webhooks.
//!
//! HMAC-SHA256 over `id.timestamp.body`, in Base64. The time is that of the attempt, so that a receiver can refuse a letter that
//! somebody has kept and sends again.

use abide_core::value::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// How many bytes a key may have; a shorter one could be guessed.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// What letters are signed with.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

/// A secret is not what a key is made of; it is not in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not `whsec_` followed by 24 to 64 bytes in Base64")]
pub struct BadSecret;

impl BadSecret {
    /// Says how a good one is made.
    pub const HELP: &'static str = "`echo \"whsec_$(openssl rand -base64 32)\"` makes one";
}

impl SigningKey {
    /// Reads a secret.
    pub fn parse(secret: &Secret) -> Result<Self, BadSecret> {
        let coded = secret.reveal().trim().strip_prefix(PREFIX).ok_or(BadSecret)?;
        let bytes = STANDARD.decode(coded).map_err(|_| BadSecret)?;
        if !BYTES.contains(&bytes.len()) {
            return Err(BadSecret);
        }
        Hmac::new_from_slice(&bytes).map(Self).map_err(|_| BadSecret)
    }

    /// Signs a body; the time is in seconds since 1970.
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_standard_webhooks() {
        // The example of that specification, and what Python's hmac says about it.
        let key = SigningKey::parse(&Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")).ok().unwrap();
        let signature = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_could_be_guessed_or_is_none_makes_no_key() {
        let long = format!("whsec_{}", STANDARD.encode([7; 65]));
        for secret in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!", &long]
        {
            assert_eq!(SigningKey::parse(&Secret::new(secret)).err(), Some(BadSecret), "{secret}");
        }
    }
}

//! The key of a server: kept as a digest, and compared without telling how near a guess was.

use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// What a client must know to be served.
#[derive(Clone)]
pub struct Key([u8; 32]);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakKey {
    /// It could be guessed.
    #[error("a key has at least {SHORTEST} characters")]
    Short,
    /// It could not be sent in a header.
    #[error("a key has only visible ASCII characters")]
    Unsendable,
}

/// The shortest key that is taken.
const SHORTEST: usize = 16;

impl Key {
    /// Makes a key of a text.
    pub fn new(text: &str) -> Result<Self, WeakKey> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(WeakKey::Unsendable);
        }
        if text.len() < SHORTEST {
            return Err(WeakKey::Short);
        }
        Ok(Self(Sha256::digest(text).into()))
    }

    /// Returns whether an `Authorization` header brings the key.
    pub(crate) fn opens(&self, authorization: Option<&http::HeaderValue>) -> bool {
        let given = authorization.map_or(&b""[..], http::HeaderValue::as_bytes);
        let (scheme, given) = given.split_at_checked(7).unwrap_or((b"", b""));
        // Digests have one length, so that not even the length of a guess can be measured.
        let digest: [u8; 32] = Sha256::digest(given).into();
        scheme.eq_ignore_ascii_case(b"bearer ") & bool::from(digest.ct_eq(&self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_the_very_key_opens() {
        let key = Key::new("0123456789abcdef").unwrap();
        let opens = |text: &str| key.opens(Some(&HeaderValue::from_str(text).unwrap()));
        assert!(opens("Bearer 0123456789abcdef"));
        assert!(opens("bearer 0123456789abcdef"));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer  0123456789abcdef",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "Bearer 0123456789ABCDEF",
        ] {
            assert!(!opens(wrong), "{wrong}");
        }
        assert!(!key.opens(None));
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn a_key_that_could_be_guessed_or_not_sent_is_none() {
        assert_eq!(Key::new("short").unwrap_err(), WeakKey::Short);
        assert_eq!(Key::new("").unwrap_err(), WeakKey::Short);
        assert_eq!(Key::new("with spaces in it, long").unwrap_err(), WeakKey::Unsendable);
        assert_eq!(Key::new("üüüüüüüüüüüüüüüü").unwrap_err(), WeakKey::Unsendable);
    }
}

//! What a key of a server is: a name, what it may do, and a secret that nobody keeps.
//!
//! The secret is 256 random bits, so a plain digest of it cannot be turned round; it is compared without telling how near a
//! guess was. [`mint`] makes a key, [`ApiKey::opened_by`] tells whether a text opens it.

use sha2::{Digest as _, Sha256};
use std::fmt;
use subtle::ConstantTimeEq as _;

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Look at everything.
    Read,
    /// Start runs and go on with them.
    Run,
    /// Answer what a human is asked, and decide about runs of others.
    Approve,
    /// Everything, keys included.
    Admin,
}

impl Scope {
    /// Every scope, from the least to the most.
    pub const ALL: [Self; 4] = [Self::Read, Self::Run, Self::Approve, Self::Admin];

    /// Returns its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }

    /// Returns whether whoever has this scope may do what another one allows.
    pub fn covers(self, wanted: Self) -> bool {
        self == wanted || self == Self::Admin || wanted == Self::Read
    }
}

/// The name that the log gives to a caller of this machine who brings no key; no key can have it.
pub const UNSIGNED: &str = "loopback";

/// The longest name of a key.
pub const LONGEST_NAME: usize = 64;

/// A key, as it is kept: its secret is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// What it is found by; it is no secret.
    pub id: String,
    /// Who has it: this is the name in the log. One person may have several keys.
    pub name: String,
    /// What it may do, each scope once, in order.
    pub scopes: Vec<Scope>,
    /// The digest of its secret.
    pub digest: [u8; 32],
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// Who made it.
    pub created_by: String,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

/// Why there is no such key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// The log could not show who it was.
    #[error(
        "a key's name has 1 to {LONGEST_NAME} letters, digits, `.`, `_`, `-` or `@`, and is not `{UNSIGNED}`: `{0}`"
    )]
    Name(String),
    /// It would open nothing.
    #[error("a key has at least one scope: read, run, approve, admin")]
    NoScope,
}

/// A new key with the text that opens it, which is shown once.
#[derive(Clone)]
pub struct Minted {
    /// The key, to be kept.
    pub key: ApiKey,
    /// The text, to be given to whoever the key is for.
    pub text: String,
}

impl fmt::Debug for Minted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Minted").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What every key begins with, so that one that was left lying about is known for what it is.
const PREFIX: &str = "abide_";
/// How many characters an id has.
const ID: usize = 16;

/// Makes a key of random bytes that nobody else has.
pub fn mint(
    name: &str,
    scopes: &[Scope],
    by: &str,
    now: i64,
    random: ([u8; 8], [u8; 32]),
) -> Result<Minted, BadKey> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "._-@".contains(character);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) || name == UNSIGNED {
        return Err(BadKey::Name(name.chars().take(LONGEST_NAME).collect()));
    }
    let mut scopes = scopes.to_vec();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        return Err(BadKey::NoScope);
    }
    let id = crate::service::hex(&random.0);
    let secret = crate::service::hex(&random.1);
    let key = ApiKey {
        digest: Sha256::digest(&secret).into(),
        id: id.clone(),
        name: name.to_owned(),
        scopes,
        created_at: now,
        created_by: by.to_owned(),
        revoked_at: None,
    };
    Ok(Minted { key, text: format!("{PREFIX}{id}_{secret}") })
}

/// Returns the id and the secret that a text brings, if it looks like a key.
pub fn parts(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let hexadecimal = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (id.len() == ID && secret.len() == 64 && hexadecimal(id) && hexadecimal(secret)).then_some((id, secret))
}

impl ApiKey {
    /// Returns whether a secret opens this key now.
    pub fn opened_by(&self, secret: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(secret).into();
        bool::from(digest.ct_eq(&self.digest)) & self.revoked_at.is_none()
    }

    /// Returns whether it may do what a scope allows.
    pub fn may(&self, wanted: Scope) -> bool {
        self.scopes.iter().any(|scope| scope.covers(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scopes: &[Scope]) -> Minted {
        mint("ada", scopes, "root", 7, ([1; 8], [2; 32])).unwrap()
    }

    #[test]
    fn only_the_text_that_was_shown_opens_a_key_and_the_key_does_not_hold_it() {
        let Minted { mut key, text } = key(&[Scope::Run, Scope::Read, Scope::Run]);
        assert_eq!(key.scopes, [Scope::Read, Scope::Run]);
        let (id, secret) = parts(&text).unwrap();
        assert_eq!(id, key.id);
        assert!(key.opened_by(secret));
        assert!(!format!("{key:?}").contains(secret));
        assert!(!key.opened_by(&secret.replace('0', "1")));
        assert!(!key.opened_by(""));
        key.revoked_at = Some(8);
        assert!(!key.opened_by(secret), "a revoked key opens nothing");
    }

    #[test]
    fn what_is_no_key_is_not_taken_for_one() {
        let text = key(&[Scope::Read]).text;
        let upper = text.to_uppercase();
        for wrong in
            ["", "abide_", &text[1..], &text[..text.len() - 1], &format!("{text}0"), &upper, "abide_x_y"]
        {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_scope_covers_itself_and_reading_and_admin_covers_all() {
        let table: Vec<String> = Scope::ALL
            .iter()
            .map(|has| {
                let covers =
                    Scope::ALL.iter().filter(|wanted| has.covers(**wanted)).map(|scope| scope.word());
                format!("{}: {}", has.word(), covers.collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(
            table,
            ["read: read", "run: read run", "approve: read approve", "admin: read run approve admin"]
        );
        assert!(Scope::ALL.iter().all(|scope| Scope::parse(scope.word()) == Some(*scope)));
        assert_eq!(Scope::parse("Read"), None);
    }

    #[test]
    fn a_name_that_a_log_could_not_show_is_refused() {
        for wrong in ["", "loopback", "a b", "a\n", "ü", &"x".repeat(65)] {
            assert!(
                matches!(mint(wrong, &[Scope::Read], "", 0, ([0; 8], [0; 32])), Err(BadKey::Name(_))),
                "{wrong}"
            );
        }
        assert_eq!(mint("a", &[], "", 0, ([0; 8], [0; 32])).unwrap_err(), BadKey::NoScope);
    }
}

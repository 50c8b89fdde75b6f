//! A text that nobody may see.

use std::fmt;

/// A text that is used and never shown: its debug output hides it, and it has no display.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for the one place that has to send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns a text with this secret taken out of it, for messages of others that may repeat it.
    pub fn hidden_in(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "•••") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_in_no_output() {
        let secret = Secret::new("sk-123");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "••• Some(•••)");
        assert_eq!(secret.hidden_in("bad key sk-123!"), "bad key •••!");
        assert_eq!(Secret::new("").hidden_in("as it is"), "as it is");
        assert_eq!(secret.reveal(), "sk-123");
    }
}

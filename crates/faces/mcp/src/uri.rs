//! The addresses of resources: `abide://abilities/{name}` and `abide://runs/{id}`.

use crate::desk::Subject;
use std::fmt::Write as _;

const ABILITIES: &str = "abide://abilities/";
const RUNS: &str = "abide://runs/";
/// The longest name or id that is looked for.
const LONGEST: usize = 512;

/// The templates of all addresses; a name may have slashes in it.
pub(crate) const TEMPLATES: [(&str, &str, &str, &str); 2] = [
    ("abide://abilities/{+name}", "ability", "The definition of an ability", "application/yaml"),
    (
        "abide://runs/{id}",
        "run",
        "How a run stands: its steps, their results and what is next",
        "application/json",
    ),
];

impl Subject {
    /// Returns the address of a subject.
    pub fn uri(&self) -> String {
        match self {
            Self::Ability(name) => format!("{ABILITIES}{}", encoded(name)),
            Self::Run(id) => format!("{RUNS}{}", encoded(id)),
        }
    }

    /// Returns the subject of an address, if it is one of abide's.
    pub fn parse(uri: &str) -> Option<Self> {
        let (subject, rest): (fn(String) -> Self, &str) = match uri.strip_prefix(ABILITIES) {
            Some(rest) => (Self::Ability, rest),
            None => (Self::Run, uri.strip_prefix(RUNS)?),
        };
        (rest.len() <= LONGEST).then(|| decoded(rest)).flatten().filter(|name| !name.is_empty()).map(subject)
    }

    /// Returns the name or id of a subject.
    pub fn name(&self) -> &str {
        match self {
            Self::Ability(name) | Self::Run(name) => name,
        }
    }
}

fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(digits[0])? * 16 + digit(digits[1])?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_subject() {
        for name in ["deploy", "deploy/production", "a b", "ü", "100%", "x?y#z", "%2F"] {
            for subject in [Subject::Ability(name.to_owned()), Subject::Run(name.to_owned())] {
                let uri = subject.uri();
                assert!(uri.is_ascii() && !uri.contains([' ', '?', '#']), "{uri}");
                assert_eq!(Subject::parse(&uri), Some(subject), "{uri}");
            }
        }
    }

    #[test]
    fn other_addresses_have_no_subject() {
        let long = format!("{RUNS}{}", "x".repeat(LONGEST + 1));
        for uri in [
            "",
            "deploy",
            "abide://abilities",
            "abide://abilities/",
            "abide://runs/",
            "abide://runs/%",
            "abide://runs/%f",
            "abide://runs/%zz",
            "abide://runs/%ff",
            "abide://other/x",
            "file:///etc/passwd",
            "ABIDE://runs/x",
            &long,
        ] {
            assert_eq!(Subject::parse(uri), None, "{uri}");
        }
    }
}

//! Where a webhook may be: what is checked about an address before anything is sent.
//!
//! Whoever may write the configuration decides where data go. What they cannot see is what a name means at the moment of sending:
//! a name of the internet that leads to something inside is refused, unless they have said that it may.

use abide_core::network::is_public;
use std::net::IpAddr;
use url::{Host, Url};

/// The longest address.
const LONGEST: usize = 2_048;

/// An address that letters may be sent to.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    /// Whether it may lead into a private network.
    pub(crate) may_be_private: bool,
}

/// Why a text is not where letters may be sent; no part of it is in the message but its host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// It is none.
    #[error("its `url` is no address")]
    None,
    /// A name or a password is in it.
    #[error("its `url` has a user name in it")]
    User,
    /// It is longer than addresses are.
    #[error("its `url` is longer than {LONGEST} characters")]
    TooLong,
    /// It would be sent for everybody to read.
    #[error("its `url` begins with `http://`, and `{0}` is not on this machine or a private network")]
    Open(String),
}

impl BadAddress {
    /// Says what to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::None => "write it as `https://hooks.example.com/abide`",
            Self::User => "put what it should know you by into its path, or check the signature there",
            Self::TooLong => "make it shorter",
            Self::Open(_) => {
                "use `https://`, or set `private_network: true` if the name is one of your own network"
            }
        }
    }
}

impl Address {
    /// Reads an address; `private_network` says whether its name may lead into a private network.
    pub fn parse(text: &str, private_network: bool) -> Result<Self, BadAddress> {
        if text.len() > LONGEST {
            return Err(BadAddress::TooLong);
        }
        let mut url = Url::parse(text).map_err(|_| BadAddress::None)?;
        let Some(host) = url.host() else { return Err(BadAddress::None) };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadAddress::None);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadAddress::User);
        }
        let may_be_private = private_network || is_plainly_private(&host);
        if url.scheme() == "http" && !may_be_private {
            return Err(BadAddress::Open(host.to_string()));
        }
        url.set_fragment(None);
        Ok(Self { url, may_be_private })
    }

    /// Returns where letters are sent.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns what may be shown of it: what follows the host may be a secret.
    pub fn shown(&self) -> String {
        let host = self.url.host().map(|host| host.to_string()).unwrap_or_default();
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{host}{port}", self.url.scheme())
    }
}

/// Tells whether an address is one of this machine or a private network as it is written.
fn is_plainly_private(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_this_machine(name),
        Host::Ipv4(address) => !is_public(IpAddr::V4(*address)),
        Host::Ipv6(address) => !is_public(IpAddr::V6(*address)),
    }
}

/// Tells whether a name means this machine wherever it is looked up.
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_plainly_may_be_private_and_a_name_may_not() {
        for (text, is_private) in [
            ("https://hooks.example.com/abide?x=1", false),
            ("https://8.8.8.8/", false),
            ("http://127.0.0.1:9000/hook", true),
            ("http://localhost/", true),
            ("http://a.localhost./", true),
            ("https://10.1.2.3/", true),
            ("http://[::1]:8080/", true),
            ("http://2130706433/", true),
        ] {
            assert_eq!(
                Address::parse(text, false).map(|address| address.may_be_private),
                Ok(is_private),
                "{text}"
            );
        }
        assert!(Address::parse("http://alerts.internal/x", true).unwrap().may_be_private);
    }

    #[test]
    fn what_everybody_could_read_or_nobody_could_send_is_refused_without_its_secrets() {
        for (text, expected) in [
            ("http://hooks.example.com/s3cret", BadAddress::Open("hooks.example.com".to_owned())),
            ("http://8.8.8.8/s3cret", BadAddress::Open("8.8.8.8".to_owned())),
            ("http://localhost.example.com/s3cret", BadAddress::Open("localhost.example.com".to_owned())),
            ("https://me:s3cret@hooks.example.com/", BadAddress::User),
            ("ftp://hooks.example.com/s3cret", BadAddress::None),
            ("https:///s3cret", BadAddress::Open(String::new())),
            ("s3cret", BadAddress::None),
        ] {
            let Err(refused) = Address::parse(text, false) else {
                assert_eq!(text, "https:///s3cret", "it reads as a host");
                continue;
            };
            assert_eq!(refused, expected, "{text}");
            assert!(!refused.to_string().contains("s3cret"), "{text}");
        }
        assert_eq!(
            Address::parse(&format!("https://x/{}", "a".repeat(LONGEST)), false).err(),
            Some(BadAddress::TooLong)
        );
        let address = Address::parse("https://hooks.example.com:8443/s3cret?token=s3cret", false).unwrap();
        assert_eq!(address.shown(), "https://hooks.example.com:8443");
    }
}

//! Where a request may go: what is checked about an address before anything is sent, for every hop again.

use abide_core::network::is_public;
use std::net::IpAddr;
use url::{Host, Url};

/// The longest address that is fetched.
const LONGEST: usize = 8192;

/// A host that the configuration allows although it is not public: `name`, or `name:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AllowedHost {
    host: Host<String>,
    port: Option<u16>,
}

impl AllowedHost {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no host: write `name` or `name:port`");
        if text.contains(['/', '@', '?', '#', ' ']) {
            return Err(wrong());
        }
        // A URL reads it as the address of a request is read, so that both are spelt the same.
        let url = Url::parse(&format!("http://{text}/")).map_err(|_| wrong())?;
        let host = url.host().ok_or_else(wrong)?.to_owned();
        // A URL drops the usual port; whoever writes it means it.
        let port = url.port().or(text.ends_with(":80").then_some(80));
        Ok(Self { host, port })
    }

    /// Tells whether everything that another one allows is allowed by this one, too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }

    fn is(&self, url: &Url) -> bool {
        url.host().is_some_and(|host| host.to_owned() == self.host)
            && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

/// How far a target is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The configuration names it: it may be anywhere.
    Allowed,
    /// It must be public, and what its name resolves to is checked when it is connected to.
    Public,
}

/// Takes what a caller wants to fetch.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    if text.len() > LONGEST {
        return Err(format!("the URL is longer than {LONGEST} bytes"));
    }
    let scheme = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    if !scheme.starts_with("http://") && !scheme.starts_with("https://") {
        return Err("the URL must start with http:// or https://".to_owned());
    }
    Url::parse(text).map_err(|error| format!("the URL cannot be understood: {error}"))
}

/// Tells whether a URL may be fetched, or why not.
pub(super) fn check(url: &Url, allowed: &[AllowedHost]) -> Result<Trust, String> {
    if url.as_str().len() > LONGEST {
        return Err(format!("the URL is longer than {LONGEST} bytes"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}:` is not fetched, only http: and https: are", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL with a user or a password in it is not fetched".to_owned());
    }
    if allowed.iter().any(|host| host.is(url)) {
        return Ok(Trust::Allowed);
    }
    // The parser has brought every spelling of an address (decimal, octal, hex, short) into one form.
    let address: IpAddr = match url.host() {
        None => return Err("the URL has no host".to_owned()),
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
        Some(Host::Domain(name)) => {
            return if is_local(name) { Err(not_public(name)) } else { Ok(Trust::Public) };
        }
    };
    if is_public(address) { Ok(Trust::Public) } else { Err(not_public(&address.to_string())) }
}

/// Names that are never public, whatever resolves them.
fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    ["localhost", "local", "internal", "home.arpa", "intranet", "lan"]
        .iter()
        .any(|local| name == *local || name.strip_suffix(local).is_some_and(|rest| rest.ends_with('.')))
}

/// What is said about a host that is refused. What it resolves to is not said: that would tell about the network.
pub(super) fn not_public(host: &str) -> String {
    format!("`{host}` is not a public address, and the configuration does not allow it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, allowed: &[&str]) -> Result<Trust, String> {
        let allowed: Vec<AllowedHost> =
            allowed.iter().map(|host| AllowedHost::parse(host).unwrap()).collect();
        check(&parse(text)?, &allowed)
    }

    #[test]
    fn public_hosts_are_fetched_and_nothing_else() {
        for url in [
            "http://example.com/",
            "HTTPS://example.com",
            "https://93.184.216.34/x",
            "http://localhost.example.com/",
        ] {
            assert_eq!(verdict(url, &[]), Ok(Trust::Public), "{url}");
        }
        for url in [
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "javascript:alert(1)",
            "data:text/plain,x",
            "//example.com/",
            "example.com",
            "http:example.com",
            "",
            "http://",
            "http://exa mple.com/",
            "http://user@example.com/",
            "http://user:pw@example.com/",
            "http://example.com@127.0.0.1/",
        ] {
            assert!(verdict(url, &[]).is_err(), "{url}");
        }
    }

    #[test]
    fn every_spelling_of_an_inner_address_is_refused() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "0",
            "0.0.0.0",
            "127.0.0.1.",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:a9fe:a9fe]",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "0251.0376.0251.0376",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "10.0.0.1",
            "192.168.0.1",
            "172.16.0.1",
            "100.100.100.200",
            "168.63.129.16",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "metadata.google.internal",
            "printer.local",
            "１２７.0.0.1",
            "ⓛocalhost",
            "127。0。0。1",
        ] {
            let refused = verdict(&format!("http://{host}/latest/meta-data/"), &[]);
            assert!(refused.is_err(), "{host}: {refused:?}");
        }
    }

    #[test]
    fn a_host_that_the_configuration_names_is_allowed_on_its_port_alone() {
        let allowed = ["localhost:8080", "10.0.0.7", "wiki.internal:80"];
        for url in [
            "http://localhost:8080/x",
            "http://10.0.0.7:1/",
            "https://10.0.0.7/",
            "http://0xa000007/",
            "http://wiki.internal/",
        ] {
            assert_eq!(verdict(url, &allowed), Ok(Trust::Allowed), "{url}");
        }
        for url in [
            "http://localhost/",
            "http://localhost:8081/",
            "http://a.localhost:8080/",
            "http://10.0.0.8/",
            "https://wiki.internal/",
        ] {
            assert!(verdict(url, &allowed).is_err(), "{url}");
        }
        assert!(verdict("http://me:pw@localhost:8080/", &allowed).is_err());
        for host in ["http://x", "a/b", "", "a@b", "a b"] {
            assert!(AllowedHost::parse(host).is_err(), "{host}");
        }
    }
}

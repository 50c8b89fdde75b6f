//! Finds the addresses of hosts by `/etc/hosts`, `/etc/resolv.conf` and the name servers that it names.
//!
//! The C library would load parts of itself for it while the program runs, of just the version that the program was
//! linked with; `abide` is linked as a whole on Linux, so it asks by itself. The settings are read anew for every name: a laptop
//! changes networks.

use std::error::Error;
use std::io;
use std::net::IpAddr;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};

/// Returns the addresses of a host, those of IPv4 first: they lead out of more networks.
pub(super) async fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
    if let Ok(address) = name.parse() {
        return Ok(vec![address]);
    }
    let unknown = |error: &dyn Error| {
        let message = format!("the address of `{name}` cannot be found: {error}");
        io::Error::new(io::ErrorKind::NotFound, message)
    };
    let mut settings = TokioResolver::builder_tokio().map_err(|error| unknown(&error))?;
    settings.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    settings.options_mut().use_hosts_file = ResolveHosts::Always;
    let resolver = settings.build().map_err(|error| unknown(&error))?;
    let found = resolver.lookup_ip(name).await.map_err(|error| unknown(&error))?;
    let mut found: Vec<IpAddr> = found.iter().collect();
    found.sort_by_key(IpAddr::is_ipv6);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::addresses;

    #[tokio::test]
    async fn an_address_is_its_own() {
        assert_eq!(addresses("192.0.2.7").await.unwrap(), ["192.0.2.7".parse::<std::net::IpAddr>().unwrap()]);
        assert_eq!(addresses("::1").await.unwrap(), ["::1".parse::<std::net::IpAddr>().unwrap()]);
    }

    #[tokio::test]
    async fn this_machine_is_known_without_asking_anybody() {
        let found = addresses("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(std::net::IpAddr::is_loopback), "{found:?}");
        assert!(found[0].is_ipv4(), "{found:?}");
    }

    #[tokio::test]
    async fn a_name_that_nobody_has_is_named_in_the_error() {
        let error = addresses("no-such-host.invalid").await.unwrap_err();
        assert!(error.to_string().contains("`no-such-host.invalid`"), "{error}");
    }
}

//! Which proxy is asked, as the environment says it everywhere.

use reqwest::{ClientBuilder, NoProxy, Proxy};

/// The proxies of an environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    none: Option<String>,
}

/// A proxy may have a password in its address.
impl std::fmt::Debug for Proxies {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hidden = |proxy: &Option<String>| proxy.as_ref().map(|_| "•••");
        out.debug_struct("Proxies")
            .field("http", &hidden(&self.http))
            .field("https", &hidden(&self.https))
            .field("none", &self.none)
            .finish()
    }
}

impl Proxies {
    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in small or in capital letters.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| variable(name).or_else(|| variable(&name.to_ascii_uppercase()));
        let all = read("all_proxy");
        Self {
            http: read("http_proxy").or_else(|| all.clone()),
            https: read("https_proxy").or(all),
            none: read("no_proxy"),
        }
    }

    /// Tells a client about them; what it would find in the environment by itself does not count.
    pub(crate) fn tell(&self, client: ClientBuilder) -> Result<ClientBuilder, &'static str> {
        let none = || self.none.as_deref().and_then(NoProxy::from_string);
        let mut client = client.no_proxy();
        if let Some(url) = &self.http {
            let proxy = Proxy::http(url.as_str()).map_err(|_| "http_proxy is not the address of a proxy")?;
            client = client.proxy(proxy.no_proxy(none()));
        }
        if let Some(url) = &self.https {
            let proxy =
                Proxy::https(url.as_str()).map_err(|_| "https_proxy is not the address of a proxy")?;
            client = client.proxy(proxy.no_proxy(none()));
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_win_and_all_stands_for_what_is_not_said() {
        let proxies = Proxies::of(|name| match name {
            "https_proxy" => Some("http://a:1".to_owned()),
            "HTTPS_PROXY" => Some("http://b:1".to_owned()),
            "ALL_PROXY" => Some("http://user:password@c:1".to_owned()),
            "NO_PROXY" => Some("localhost".to_owned()),
            _ => None,
        });
        assert_eq!(proxies.https.as_deref(), Some("http://a:1"));
        assert_eq!(proxies.http.as_deref(), Some("http://user:password@c:1"));
        assert_eq!(proxies.none.as_deref(), Some("localhost"));
        assert!(!format!("{proxies:?}").contains("password"));
    }
}

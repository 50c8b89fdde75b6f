//! The port, over HTTP.

use crate::address::Address;
use crate::names;
use abide_core::network::is_public;
use abide_engine::port::{Courier, CourierError, Later, Letter, Receipt};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

/// How long making a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a letter may take until its answer begins.
const LONGEST: Duration = Duration::from_secs(15);

/// Carries letters over HTTP.
///
/// No proxy of the environment is used: one would look names up for us, and could lead anywhere.
#[derive(Default)]
pub struct HttpCourier {
    // Two, so that no connection into a private network is ever used for a name of the internet. Made when the first letter is
    // sent: the roots of trust are read from the system, which takes a moment.
    public: OnceLock<Result<Client, String>>,
    private: OnceLock<Result<Client, String>>,
}

impl HttpCourier {
    /// Makes a courier; nothing is sent.
    pub fn new() -> Self {
        Self::default()
    }

    fn client(&self, may_be_private: bool) -> Result<Client, String> {
        let kept = if may_be_private { &self.private } else { &self.public };
        kept.get_or_init(|| make(may_be_private).map_err(|error| reason(&error))).clone()
    }
}

fn make(may_be_private: bool) -> Result<Client, reqwest::Error> {
    // Somebody may have chosen one already: then theirs holds.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientBuilder::new()
        .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .timeout(LONGEST)
        // It goes to the address that is written, and to no other.
        .redirect(Policy::none())
        .no_proxy()
        .dns_resolver(Names { may_be_private })
        .build()
}

impl Courier for HttpCourier {
    fn carry(&self, letter: Letter) -> Later<Result<Receipt, CourierError>> {
        let sent = self.request(letter);
        Box::pin(async move {
            let response = sent?.send().await.map_err(|error| CourierError(unreached(error)))?;
            // What is said beside that is not read: the connection is closed with it.
            Ok(Receipt { status: response.status().as_u16(), retry_after: retry_after(response.headers()) })
        })
    }
}

impl HttpCourier {
    fn request(&self, letter: Letter) -> Result<reqwest::RequestBuilder, CourierError> {
        let address = Address::parse(&letter.url, letter.private_network)
            .map_err(|bad| CourierError(bad.to_string()))?;
        let client = self.client(address.may_be_private).map_err(CourierError)?;
        let mut request = client.post(address.url().clone()).body(letter.body);
        for (name, value) in letter.headers {
            request = request.header(name, value);
        }
        Ok(request)
    }
}

/// Finds hosts at the moment of connecting, and refuses those inside.
struct Names {
    may_be_private: bool,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let may_be_private = self.may_be_private;
        Box::pin(async move {
            let found = names::addresses(name.as_str()).await?;
            // One bad address among good ones is an attack, not an accident.
            if !may_be_private && !found.iter().copied().all(is_public) {
                let why = format!(
                    "`{}` leads into a private network, and `private_network` is not set",
                    name.as_str()
                );
                return Err(why.into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Says why nobody was reached, without the address: its path may be a secret.
fn unreached(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        format!("it did not answer within {} seconds", LONGEST.as_secs())
    } else {
        reason(&error)
    }
}

/// Returns the innermost reason of an error, which is the one that says something.
fn reason(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let whole = error.to_string();
    if error.source().is_some() { format!("{whole}: {innermost}") } else { whole }
}

/// Returns the wait that an answer names in seconds; a moment is not taken: whose clock is right is not known.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_unless_it_may() {
        let localhost = || "localhost".parse::<Name>().unwrap();
        let refused = Names { may_be_private: false }.resolve(localhost()).await;
        let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("`localhost` leads into a private network"), "{why}");
        let mut found = Names { may_be_private: true }.resolve(localhost()).await.unwrap();
        assert!(found.all(|address| address.ip().is_loopback()));
    }

    #[test]
    fn a_wait_is_taken_in_seconds() {
        let wait = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait(" 7 "), Some(Duration::from_secs(7)));
        for nonsense in ["soon", "-1", "Tue, 01 Mar 2022 00:00:05 GMT"] {
            assert_eq!(wait(nonsense), None, "{nonsense}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}

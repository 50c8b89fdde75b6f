//! A house in memory, and a server that stands on it.

use crate::client::Client;
use abide_engine::keys::{ApiKey, Scope, mint};
use abide_engine::port::{Keys, KeysError, Later};
use abide_http::{House, Options, Server};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Keys in memory.
#[derive(Default)]
pub(crate) struct MemoryKeys(Mutex<Vec<ApiKey>>);

fn now<T: Send + 'static>(value: T) -> Later<T> {
    Box::pin(std::future::ready(value))
}

impl Keys for MemoryKeys {
    fn add(&self, key: ApiKey) -> Later<Result<(), KeysError>> {
        self.0.lock().unwrap().push(key);
        now(Ok(()))
    }

    fn find(&self, id: &str) -> Later<Result<Option<ApiKey>, KeysError>> {
        now(Ok(self.0.lock().unwrap().iter().find(|key| key.id == id).cloned()))
    }

    fn list(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<ApiKey>, KeysError>> {
        let keys = self.0.lock().unwrap();
        let start = after.map_or(0, |after| keys.iter().take_while(|key| key.id != after).count() + 1);
        now(Ok(keys.iter().skip(start).take(most).cloned().collect()))
    }

    fn revoke(&self, id: &str, at: i64) -> Later<Result<ApiKey, KeysError>> {
        let mut keys = self.0.lock().unwrap();
        now(match keys.iter_mut().find(|key| key.id == id) {
            None => Err(KeysError::Missing(id.to_owned())),
            Some(key) => {
                key.revoked_at.get_or_insert(at);
                Ok(key.clone())
            }
        })
    }
}

/// A house in memory.
#[derive(Default)]
pub(crate) struct MemoryHouse {
    keys: MemoryKeys,
    broken: Mutex<bool>,
}

impl MemoryHouse {
    /// Lets the stores stop to answer.
    pub(crate) fn break_down(&self) {
        *self.broken.lock().unwrap() = true;
    }
}

impl House for MemoryHouse {
    fn keys(&self) -> &dyn Keys {
        &self.keys
    }

    fn now(&self) -> i64 {
        1_000
    }

    fn ready(&self) -> Later<Result<(), String>> {
        let broken = *self.broken.lock().unwrap();
        now(if broken { Err("the disk /dev/secret is gone".to_owned()) } else { Ok(()) })
    }
}

/// A server that ends with the test.
pub(crate) struct Served {
    pub(crate) house: Arc<MemoryHouse>,
    pub(crate) client: Client,
    _stop: oneshot::Sender<()>,
}

impl Served {
    /// Serves on a free port of this machine.
    pub(crate) async fn with(options: Options) -> Self {
        let house = Arc::new(MemoryHouse::default());
        house.key(&[Scope::Admin], 0).await;
        let server =
            Server::bind("127.0.0.1:0".parse().unwrap(), &options, Arc::clone(&house)).await.unwrap();
        let client = Client { address: server.address() };
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(server.serve(async move {
            let _ = stopped.await;
        }));
        Self { house, client, _stop: stop }
    }
}

impl MemoryHouse {
    /// Makes a key; returns the text that opens it.
    pub(crate) async fn key(&self, scopes: &[Scope], number: u8) -> String {
        let minted = mint("ada", scopes, "root", 1, ([number; 8], [number; 32])).unwrap();
        if self.keys.find(&minted.key.id).await.unwrap().is_none() {
            self.keys.add(minted.key).await.unwrap();
        }
        minted.text
    }
}

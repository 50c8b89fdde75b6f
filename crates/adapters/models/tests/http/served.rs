//! A provider on loopback, with less patience than users have.

use abide_core::definition::{ProviderName, WireFormat};
use abide_core::model::{Provider, TimeLimits};
use abide_core::value::Secret;
use abide_models::{HttpModel, Proxies};
use abide_testkit::model::contract::{PATIENCE, Staged, Subject};
use abide_testkit::model::{ModelServer, Turn};
use std::sync::Arc;

/// The key that no output may hold.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";

pub(crate) fn provider(format: WireFormat, url: &str) -> Provider {
    Provider {
        name: ProviderName::parse("local").unwrap(),
        format,
        url: url.to_owned(),
        key: None,
        time: TimeLimits { connect: PATIENCE, begin: PATIENCE, idle: PATIENCE, answer: PATIENCE * 20 },
        models: Vec::new(),
    }
}

pub(crate) fn model(format: WireFormat, url: &str) -> HttpModel {
    HttpModel::new(provider(format, url), Some(Secret::new(KEY)), &Proxies::default()).unwrap()
}

/// Models of one format, served by the scripted server.
pub(crate) struct Served(pub(crate) WireFormat);

impl Subject for Served {
    fn model(&self, turns: Vec<Turn>) -> Staged {
        let server = ModelServer::start(turns).unwrap();
        Staged { model: Arc::new(model(self.0, &server.url())), server: Some(server) }
    }
}

//! What the server says about itself.

use crate::door::Answered;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::{docs, meter};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use std::sync::LazyLock;

pub(super) fn health() -> Reply {
    Reply::done(&json!({ "status": "ok" }))
}

pub(super) async fn ready<H: House>(house: &H) -> Answered {
    match house.ready().await {
        Ok(()) => Ok(health()),
        // Anybody may ask this: what exactly is wrong is for the log of the server.
        Err(_) => Err(Problem::new(Code::Unavailable, "a store does not answer")),
    }
}

pub(super) fn version() -> Reply {
    Reply::done(&json!({ "name": "abide", "version": env!("CARGO_PKG_VERSION"), "api": "v1" }))
}

pub(super) fn openapi() -> Reply {
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(crate::openapi::document().to_string()));
    Reply::text(StatusCode::OK, "application/json", DOCUMENT.clone())
}

pub(super) fn docs() -> Reply {
    static PAGE: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(docs::page(&crate::openapi::document())));
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(docs::policy);
    Reply::text(StatusCode::OK, "text/html; charset=utf-8", PAGE.clone())
        .header(header::CONTENT_SECURITY_POLICY, POLICY.clone())
}

pub(super) async fn metrics<H: House>(house: &H) -> Reply {
    Reply::text(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", meter::text(house).await)
}

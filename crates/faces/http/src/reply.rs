//! An answer on its way to the wire.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::Value;

/// The body of an answer.
pub(crate) type Content = Full<Bytes>;

/// An answer.
pub(crate) struct Reply(Response<Content>);

impl Reply {
    fn new(status: StatusCode, kind: &'static str, content: Content) -> Self {
        let mut response = Response::new(content);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        // Answers are somebody's alone, and what is in them may have been written by an agent.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
        );
        Self(response)
    }

    /// Answers with a document.
    pub(crate) fn json(status: StatusCode, value: &Value) -> Self {
        Self::text(status, "application/json", value.to_string())
    }

    /// Answers that it was done, with a document.
    pub(crate) fn done(value: &Value) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// Answers with a text.
    pub(crate) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Self {
        Self::new(status, kind, Full::new(text.into()))
    }

    /// Calls the content another kind.
    pub(crate) fn typed(self, kind: &'static str) -> Self {
        self.header(header::CONTENT_TYPE, HeaderValue::from_static(kind))
    }

    /// Adds or replaces a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers_mut().insert(name, value);
        self
    }

    pub(crate) fn into_response(self) -> Response<Content> {
        self.0
    }
}

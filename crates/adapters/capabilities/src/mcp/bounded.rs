//! HTTP for MCP with a bound: whatever a server answers, only so much of it is ever held.
//!
//! The library bounds the events of a stream, and would read a JSON body to its end, however long that is (and however
//! small it was before it was unpacked). So messages are posted here; everything else is left to the library.

use http_body_util::{BodyExt as _, Limited};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Error, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::SseStream;
use std::collections::HashMap;
use std::sync::Arc;

/// The most that one answer may have in all, unpacked: as much as one event of a stream.
const LONGEST_BODY: usize = 16 << 20;
/// How much of a refusal is shown.
const LONGEST_REFUSAL: usize = 500;
/// Headers that the protocol has for itself.
const RESERVED: [&str; 3] = ["accept", "mcp-session-id", "last-event-id"];

/// A client that reads no more than it can hold.
#[derive(Clone)]
pub(super) struct BoundedClient(pub(super) Client);

type Failed = StreamableHttpError<Error>;
type Headers = HashMap<http::HeaderName, http::HeaderValue>;

impl StreamableHttpClient for BoundedClient {
    type Error = Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.0.post(&*uri).header(ACCEPT, accepted);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        if let Some(session) = &session {
            request = request.header(HEADER_SESSION_ID, &**session);
        }
        let response = request.json(&message).send().await.map_err(StreamableHttpError::Client)?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            _ => answered(response, matches!(message, JsonRpcMessage::Request(_))).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, Failed> {
        self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, LONGEST_BODY).await
    }
}

/// Reads an answer; `wanted` is whether somebody waits for what it says.
async fn answered(response: Response, wanted: bool) -> Result<StreamableHttpPostResponse, Failed> {
    let unexpected = |what: String| StreamableHttpError::UnexpectedServerResponse(what.into());
    let status = response.status();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let (media, session) = (header(CONTENT_TYPE.as_str()), header(HEADER_SESSION_ID));
    let is = |wanted: &str| media.as_deref().is_some_and(|media| media.starts_with(wanted));
    let (_, body) = http::Response::from(response).into_parts();
    let body = Limited::new(body, LONGEST_BODY);
    if status.is_success() && is(EVENT_STREAM_MIME_TYPE) {
        let stream = SseStream::new(body.map_err(std::io::Error::other));
        return Ok(StreamableHttpPostResponse::Sse(Box::pin(stream), session));
    }
    let bytes = match body.collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(unexpected(format!("the answer is longer than {LONGEST_BODY} bytes")));
        }
        Err(error) => return Err(StreamableHttpError::Io(std::io::Error::other(error))),
    };
    let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(&bytes);
    match parsed {
        Ok(message) if status.is_success() && is(JSON_MIME_TYPE) => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        // A refusal may say more than its status does; one for want of a key is none of the protocol's.
        Ok(message @ JsonRpcMessage::Error(_))
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
        {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        // Nobody waits for the answer to a notification, and some servers say something all the same.
        _ if status.is_success() && !wanted => Ok(StreamableHttpPostResponse::Accepted),
        _ if status.is_success() && !is(JSON_MIME_TYPE) => {
            Err(StreamableHttpError::UnexpectedContentType(media))
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_REFUSAL)]).into_owned();
            Err(unexpected(format!("HTTP {status}: {text}")))
        }
    }
}

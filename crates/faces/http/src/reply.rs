//! An answer on its way to the wire: whole, or a stream that goes on for as long as somebody listens.

use crate::bounds::SLICE;
use crate::meter::OpenStream;
use crate::room::Room;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::Receiver;

/// The body of an answer.
pub(crate) enum Content {
    Whole(Full<Bytes>),
    /// What is long, and takes room until the last of it is on its way.
    Long(Bytes, #[expect(dead_code, reason = "it is held for as long as the answer")] Room),
    /// What comes, the room that it takes, and what counts it while it is open.
    Stream(
        Receiver<Bytes>,
        #[expect(dead_code, reason = "it is held for as long as the answer")] Room,
        Option<OpenStream>,
    ),
}

impl Content {
    /// Counts it for as long as it is open, if it is a stream.
    pub(crate) fn counted(&mut self, open: impl FnOnce() -> OpenStream) {
        if let Self::Stream(.., counted) = self {
            *counted = Some(open());
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context),
            Self::Long(rest, _) if rest.is_empty() => Poll::Ready(None),
            Self::Long(rest, _) => {
                // A copy: the last part that waits must not hold all of it when its room is given back.
                let part = rest.split_to(rest.len().min(SLICE));
                Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(&part)))))
            }
            Self::Stream(parts, ..) => {
                parts.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Long(rest, _) => rest.is_empty(),
            Self::Stream(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Long(rest, _) => SizeHint::with_exact(rest.len() as u64),
            Self::Stream(..) => SizeHint::default(),
        }
    }
}

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
    pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Self {
        // Invariant: what is told has texts for keys, and numbers that JSON has.
        let text = serde_json::to_string(value).unwrap_or_else(|_| unreachable!("an answer is a document"));
        Self::text(status, "application/json", text)
    }

    /// Answers that it was done, with a document.
    pub(crate) fn done(value: &impl Serialize) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// Answers with a text.
    pub(crate) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Self {
        Self::new(status, kind, Content::Whole(Full::new(text.into())))
    }

    /// Holds room until the last part of the answer is on its way, if it takes some.
    pub(crate) fn in_room(mut self, room: Option<Room>) -> Self {
        if let (Some(room), Content::Whole(whole)) = (room, self.0.body_mut()) {
            // A whole that was not asked for yet is one part, or nothing.
            let bytes = match Pin::new(whole).poll_frame(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
                _ => Bytes::new(),
            };
            *self.0.body_mut() = Content::Long(bytes, room);
        }
        self
    }

    /// Answers with what comes out of a channel, for as long as it does.
    pub(crate) fn stream(kind: &'static str, parts: Receiver<Bytes>, room: Room) -> Self {
        // Proxies that collect answers before they pass them on would keep a stream back.
        Self::new(StatusCode::OK, kind, Content::Stream(parts, room, None))
            .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
    }

    /// Answers with nothing but that it was done.
    pub(crate) fn nothing() -> Self {
        let mut reply = Self::text(StatusCode::NO_CONTENT, "text/plain", Bytes::new());
        reply.0.headers_mut().remove(header::CONTENT_TYPE);
        reply
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

//! Why something was not done, as `application/problem+json` (RFC 9457).
//!
//! Callers branch on `code`: a code never changes its meaning. The text beside it is for people.

use crate::reply::Reply;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

macro_rules! codes {
    ($($name:ident, $status:ident, $word:literal, $title:literal;)+) => {
        /// What kind of problem it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $title] $name,)+
        }

        impl Code {
            /// Every code, with its meaning.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns its word, which never changes.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// Returns what it means.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Returns the status of an answer with it.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }
        }
    };
}

codes! {
    BadRequest, BAD_REQUEST, "bad_request", "the request cannot be understood";
    BadParameter, BAD_REQUEST, "bad_parameter", "a parameter of the address is unknown or wrong";
    BadBody, BAD_REQUEST, "bad_body", "the body is not the JSON that is asked for";
    NoKey, UNAUTHORIZED, "no_key", "a key is needed";
    WrongKey, UNAUTHORIZED, "wrong_key", "the key opens nothing";
    NoScope, FORBIDDEN, "no_scope", "the key lacks a scope";
    ForeignOrigin, FORBIDDEN, "foreign_origin", "a web page may not use this server";
    ForeignHost, MISDIRECTED_REQUEST, "foreign_host", "this server is not called that";
    NoRoute, NOT_FOUND, "no_route", "there is nothing at this address";
    NoMethod, METHOD_NOT_ALLOWED, "no_method", "the address knows no such method";
    NotFound, NOT_FOUND, "not_found", "there is no such thing";
    NotYours, FORBIDDEN, "not_yours", "somebody else must do this";
    Refused, CONFLICT, "refused", "what is asked for may not happen now";
    Reused, UNPROCESSABLE_ENTITY, "reused", "the idempotency key belongs to another request";
    Changed, PRECONDITION_FAILED, "changed", "somebody else has changed it";
    Capability, UNPROCESSABLE_ENTITY, "capability", "an agent cannot have what it names";
    TooSlow, REQUEST_TIMEOUT, "too_slow", "the request took too long to arrive";
    TooLong, PAYLOAD_TOO_LARGE, "too_long", "the body is too long";
    NotJson, UNSUPPORTED_MEDIA_TYPE, "not_json", "the body is not application/json";
    WrongKind, UNSUPPORTED_MEDIA_TYPE, "wrong_kind", "the body is not of the kind that is taken here";
    Invalid, UNPROCESSABLE_ENTITY, "invalid", "what is asked for breaks a rule";
    TooMany, TOO_MANY_REQUESTS, "too_many", "too many requests";
    Internal, INTERNAL_SERVER_ERROR, "internal", "abide failed";
    Unavailable, SERVICE_UNAVAILABLE, "unavailable", "a store does not answer";
}

/// Why something was not done.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    more: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Says what is wrong.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), more: Map::new(), headers: Vec::new() }
    }

    /// Adds what to do now.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        self.with("help", Value::String(help.into()))
    }

    /// Adds a fact that programs can use.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Says that a key is needed, in the way that clients know.
    pub(crate) fn unauthorized(code: Code, detail: &str) -> Self {
        Self::new(code, detail).header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
    }

    /// Gives a problem of one code another one, where the same rule is broken by something else.
    #[must_use]
    pub(crate) fn instead_of(mut self, code: Code, other: Code) -> Self {
        if self.code == code {
            self.code = other;
        }
        self
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn reply(self) -> Reply {
        let Self { code, detail, mut more, headers } = self;
        let own = json!({
            "type": format!("urn:abide:problem:{}", code.word()),
            "title": code.title(),
            "status": code.status().as_u16(),
            "code": code.word(),
            "detail": detail,
        });
        if let Value::Object(own) = own {
            more.extend(own);
        }
        let mut reply = Reply::json(code.status(), &Value::Object(more)).typed("application/problem+json");
        for (name, value) in headers {
            reply = reply.header(name, value);
        }
        reply
    }
}

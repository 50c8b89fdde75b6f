//! Keys: who may ask for what.

use super::{ADMIN, Answer, Operation, PAGED, Route, get};
use http::Method;

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Lists keys in the order of creation, revoked ones too; secrets are in none of them",
        query: PAGED,
        ..get("/v1/keys", ADMIN, Operation::ListKeys, "listKeys", Answer::Json("KeyPage"))
    },
    Route {
        method: &Method::POST,
        summary: "Makes a key; the text that opens it is in this answer and nowhere else",
        body: Some("NewKey"),
        ..get("/v1/keys", ADMIN, Operation::CreateKey, "createKey", Answer::Made("MadeKey"))
    },
    Route {
        method: &Method::DELETE,
        summary: "Revokes a key: from then on it opens nothing; it stays in the list",
        ..get("/v1/keys/{key}", ADMIN, Operation::RevokeKey, "revokeKey", Answer::Json("Key"))
    },
];

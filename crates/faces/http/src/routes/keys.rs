//! Keys: who may ask for what.

use super::{ADMIN, Answer, Operation, PAGED, Parameter, Route, get};
use http::Method;

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Lists keys in the order of creation, revoked ones too; secrets are in none of them",
        query: PAGED,
        ..get("/v1/keys", ADMIN, Operation::ListKeys, "listKeys", Answer::Json("KeyPage"))
    },
    Route {
        audited: true,
        method: &Method::POST,
        summary: "Makes a key; the text that opens it is in this answer and nowhere else",
        body: Some("NewKey"),
        ..get("/v1/keys", ADMIN, Operation::CreateKey, "createKey", Answer::Made("MadeKey"))
    },
    Route {
        audited: true,
        method: &Method::DELETE,
        summary: "Revokes a key: from then on it opens nothing; it stays in the list",
        ..get("/v1/keys/{key}", ADMIN, Operation::RevokeKey, "revokeKey", Answer::Json("Key"))
    },
    Route {
        summary: "Lists what was changed, by whom and when, the oldest first; each row is chained to the one before it",
        query: &[
            ("limit", Parameter::Limit),
            (
                "after",
                Parameter::Number("Only what comes after this position: the `next` of the page before"),
            ),
        ],
        ..get("/v1/audit", ADMIN, Operation::ListAudit, "listAudit", Answer::Json("AuditPage"))
    },
];

//! What the server says about itself.

use super::{Access, Answer, Operation, READ, Route, get};

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Says that the server runs; it asks no store",
        ..get("/v1/health", Access::Open, Operation::Health, "getHealth", Answer::Json("Health"))
    },
    Route {
        summary: "Says whether the stores answer; 503 if one does not",
        ..get("/v1/ready", Access::Open, Operation::Ready, "getReady", Answer::Json("Health"))
    },
    Route {
        summary: "Says which version of abide answers",
        ..get("/v1/version", READ, Operation::Version, "getVersion", Answer::Json("Version"))
    },
    Route {
        summary: "This document",
        ..get("/v1/openapi.json", Access::Open, Operation::OpenApi, "getOpenApi", Answer::Json("Document"))
    },
    Route {
        summary: "This document as a page for people",
        ..get("/docs", Access::Open, Operation::Docs, "getDocs", Answer::Text("text/html"))
    },
    Route {
        summary: "What this server has done since it started, in the text format of Prometheus",
        ..get("/v1/metrics", READ, Operation::Metrics, "getMetrics", Answer::Text("text/plain"))
    },
];

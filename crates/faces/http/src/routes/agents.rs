//! Capabilities, and the agents that have them.

use super::{ADMIN, Answer, Operation, Parameter, READ, Route, get};
use http::Method;

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Lists every capability that agents can be given, usable or not",
        ..get(
            "/v1/capabilities",
            READ,
            Operation::ListCapabilities,
            "listCapabilities",
            Answer::Json("Capabilities"),
        )
    },
    Route {
        summary: "Shows a capability with its tools",
        ..get(
            "/v1/capabilities/{capability}",
            READ,
            Operation::GetCapability,
            "getCapability",
            Answer::Json("CapabilityDetail"),
        )
    },
    Route {
        audited: true,
        method: &Method::POST,
        summary: "Makes an agent; a capability that it could not have is refused with 422, and nothing is made",
        body: Some("NewAgent"),
        ..get("/v1/agents", ADMIN, Operation::CreateAgent, "createAgent", Answer::Made("Agent"))
    },
    Route {
        summary: "Lists agents in the order of creation",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::After),
            ("status", Parameter::Word(&["active", "archived"], "both if not said")),
        ],
        ..get("/v1/agents", READ, Operation::ListAgents, "listAgents", Answer::Json("AgentPage"))
    },
    Route {
        summary: "Shows an agent; its `ETag` is what `If-Match` names",
        ..get("/v1/agents/{agent}", READ, Operation::GetAgent, "getAgent", Answer::Json("Agent"))
    },
    Route {
        audited: true,
        method: &Method::PATCH,
        summary: "Changes what the body names; with `If-Match`, only if nobody else has changed it since",
        body: Some("AgentChange"),
        ..get("/v1/agents/{agent}", ADMIN, Operation::PatchAgent, "updateAgent", Answer::Json("Agent"))
    },
    Route {
        audited: true,
        method: &Method::POST,
        summary: "Archives an agent: it stays in the list, and is not changed any more",
        body: Some("Nothing"),
        ..get(
            "/v1/agents/{agent}/archive",
            ADMIN,
            Operation::ArchiveAgent,
            "archiveAgent",
            Answer::Json("Agent"),
        )
    },
    Route {
        summary: "Shows an agent as Markdown: what it is in front, and its system prompt",
        ..get(
            "/v1/agents/{agent}/export",
            READ,
            Operation::ExportAgent,
            "exportAgent",
            Answer::Text("text/markdown"),
        )
    },
    Route {
        audited: true,
        method: &Method::POST,
        summary: "Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused with 422, and nothing is made",
        body: Some("AgentDocument"),
        takes: "text/markdown",
        ..get("/v1/agents/import", ADMIN, Operation::ImportAgent, "importAgent", Answer::Made("Agent"))
    },
];

//! Sessions of agents: what is said in them, and what happens.

use super::{Answer, Operation, PAGED, Parameter, READ, RUN, Route, get};
use http::Method;

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: &Method::POST,
        audited: true,
        summary: "Makes a session of an agent",
        body: Some("NewAgentSession"),
        ..get(
            "/v1/agents/{agent}/sessions",
            RUN,
            Operation::CreateAgentSession,
            "createAgentSession",
            Answer::Made("Session"),
        )
    },
    Route {
        summary: "Lists the sessions of an agent in the order of creation",
        query: PAGED,
        ..get(
            "/v1/agents/{agent}/sessions",
            READ,
            Operation::ListAgentSessions,
            "listAgentSessions",
            Answer::Json("SessionPage"),
        )
    },
    Route {
        method: &Method::POST,
        audited: true,
        summary: "Makes a session of the agent that the body names",
        body: Some("NewSession"),
        ..get("/v1/sessions", RUN, Operation::CreateSession, "createSession", Answer::Made("Session"))
    },
    Route {
        summary: "Lists sessions in the order of creation",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::After),
            ("agent", Parameter::Text("Only sessions of this agent")),
        ],
        ..get("/v1/sessions", READ, Operation::ListSessions, "listSessions", Answer::Json("SessionPage"))
    },
    Route {
        summary: "Shows a session, and whether something is under way in it",
        ..get(
            "/v1/sessions/{session}",
            READ,
            Operation::GetSession,
            "getSession",
            Answer::Json("SessionDetail"),
        )
    },
    Route {
        method: &Method::PATCH,
        audited: true,
        summary: "Calls a session something else",
        body: Some("SessionChange"),
        ..get(
            "/v1/sessions/{session}",
            RUN,
            Operation::PatchSession,
            "updateSession",
            Answer::Json("Session"),
        )
    },
    Route {
        method: &Method::DELETE,
        audited: true,
        summary: "Removes a session with everything that was said in it and its files; one that somebody else made needs the scope `approve`",
        ..get(
            "/v1/sessions/{session}",
            RUN,
            Operation::DeleteSession,
            "deleteSession",
            Answer::Json("Session"),
        )
    },
    Route {
        method: &Method::POST,
        summary: "Says something to a session: a turn begins, at once or when those before it are over; the same `Idempotency-Key` counts once",
        body: Some("NewMessage"),
        ..get(
            "/v1/sessions/{session}/messages",
            RUN,
            Operation::PostMessage,
            "postMessage",
            Answer::Taken("Message"),
        )
    },
    Route {
        summary: "Lists what was said to a session, with what came of it; `after` is the `number` of the last one that is known",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::Number("The `number` of the last message that is known")),
        ],
        ..get(
            "/v1/sessions/{session}/messages",
            READ,
            Operation::ListMessages,
            "listMessages",
            Answer::Json("MessagePage"),
        )
    },
    Route {
        summary: "Shows a message and what came of it",
        ..get(
            "/v1/sessions/{session}/messages/{message}",
            READ,
            Operation::GetMessage,
            "getMessage",
            Answer::Json("Message"),
        )
    },
    Route {
        method: &Method::POST,
        audited: true,
        summary: "Ends the turn that is under way; with `queued`, what waits is not told either",
        body: Some("CancelTurn"),
        ..get(
            "/v1/sessions/{session}/cancel",
            RUN,
            Operation::CancelTurn,
            "cancelTurn",
            Answer::Json("CancelledTurns"),
        )
    },
    Route {
        summary: "Lists the events of a session; `after` is the `seq` of the last one that is known",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::Number("The `seq` of the last event that is known")),
        ],
        ..get(
            "/v1/sessions/{session}/events",
            READ,
            Operation::ListSessionEvents,
            "listSessionEvents",
            Answer::Json("EventPage"),
        )
    },
    Route {
        summary: "Tells the events of a session as they happen, and between them what the model says, piece by piece; `Last-Event-ID` goes on where a stream broke off",
        query: &[("after", Parameter::Number("The `seq` of the last event that is known"))],
        ..get(
            "/v1/sessions/{session}/events/stream",
            READ,
            Operation::StreamSessionEvents,
            "streamSessionEvents",
            Answer::Events,
        )
    },
];

//! Everything that can be asked: one table, from which requests are looked up and the `OpenAPI` document is made.

use crate::ask::decoded;
use crate::problem::{Code, Problem};
use abide_engine::keys::Scope;
use http::{HeaderValue, Method, header};

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody who reaches the server: what is answered says nothing about anybody's work.
    Open,
    /// Whoever has the scope.
    Scope(Scope),
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Says that the server runs.
    Health,
    /// Says whether its stores answer.
    Ready,
    /// Says which version it is.
    Version,
    /// Shows the `OpenAPI` document.
    OpenApi,
    /// Lists abilities.
    ListAbilities,
    /// Shows an ability.
    GetAbility,
    /// Says what is wrong with an ability.
    GetProblems,
    /// Draws an ability.
    GetGraph,
    /// Says what a run would do.
    PlanAbility,
    /// Starts a run.
    StartRun,
    /// Lists runs.
    ListRuns,
    /// Shows a run.
    GetRun,
    /// Lists the events of a run.
    ListEvents,
    /// Tells the events of a run as they happen.
    StreamEvents,
    /// Tells what the steps of a run write.
    StreamLogs,
    /// Ends a run.
    CancelRun,
    /// Goes on with a run.
    ResumeRun,
    /// Lists what humans are asked.
    ListApprovals,
    /// Answers what a human is asked.
    AnswerApproval,
    /// Lists capabilities.
    ListCapabilities,
    /// Shows a capability.
    GetCapability,
    /// Makes an agent.
    CreateAgent,
    /// Lists agents.
    ListAgents,
    /// Shows an agent.
    GetAgent,
    /// Changes an agent.
    PatchAgent,
    /// Archives an agent.
    ArchiveAgent,
    /// Lists keys.
    ListKeys,
    /// Makes a key.
    CreateKey,
    /// Revokes a key.
    RevokeKey,
}

/// A parameter behind the `?` of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// How many rows a page may have.
    Limit,
    /// Where a page begins: the `next` of the one before.
    After,
    /// A text, with what it means.
    Text(&'static str),
    /// A whole number, with what it means.
    Number(&'static str),
    /// `true` or `false`, with what it means.
    Flag(&'static str),
}

/// What an answer looks like when all went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A document of this schema.
    Json(&'static str),
    /// A document of this schema about something that was made.
    Made(&'static str),
    /// Text of this kind.
    Text(&'static str),
    /// A document of this schema, or a drawing.
    Drawing(&'static str),
    /// Server-sent events, or nothing if all are told.
    Events,
}

/// One thing that can be asked.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// How.
    pub method: &'static Method,
    /// Where; a part in braces stands for any text.
    pub path: &'static str,
    /// By whom.
    pub access: Access,
    /// What is done.
    pub operation: Operation,
    /// Its name in the `OpenAPI` document.
    pub id: &'static str,
    /// What it does, for people.
    pub summary: &'static str,
    /// What may stand behind the `?`.
    pub query: &'static [(&'static str, Parameter)],
    /// The schema of the body that it takes.
    pub body: Option<&'static str>,
    /// What is answered.
    pub answer: Answer,
}

const PAGED: &[(&str, Parameter)] = &[("limit", Parameter::Limit), ("after", Parameter::After)];

const fn get(
    path: &'static str,
    access: Access,
    operation: Operation,
    id: &'static str,
    answer: Answer,
) -> Route {
    Route { method: &Method::GET, path, access, operation, id, summary: "", query: &[], body: None, answer }
}

const READ: Access = Access::Scope(Scope::Read);
const RUN: Access = Access::Scope(Scope::Run);
const ADMIN: Access = Access::Scope(Scope::Admin);

/// Everything that can be asked.
pub const ROUTES: &[Route] = &[
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
        summary: "Lists the abilities of the project, broken and shadowed ones too",
        ..get("/v1/abilities", READ, Operation::ListAbilities, "listAbilities", Answer::Json("Abilities"))
    },
    Route {
        summary: "Shows everything about one ability; a `/` in its name is written as %2F",
        ..get("/v1/abilities/{ability}", READ, Operation::GetAbility, "getAbility", Answer::Json("Ability"))
    },
    Route {
        summary: "Says everything that is wrong with an ability",
        ..get(
            "/v1/abilities/{ability}/problems",
            READ,
            Operation::GetProblems,
            "validateAbility",
            Answer::Json("Problems"),
        )
    },
    Route {
        summary: "The steps of an ability as a graph",
        query: &[("format", Parameter::Text("json, text, mermaid, dot or svg; json if not said"))],
        ..get(
            "/v1/abilities/{ability}/graph",
            READ,
            Operation::GetGraph,
            "getGraph",
            Answer::Drawing("Graph"),
        )
    },
    Route {
        method: &Method::POST,
        summary: "Shows what a run would do, without doing any of it",
        body: Some("NewPlan"),
        ..get(
            "/v1/abilities/{ability}/plan",
            RUN,
            Operation::PlanAbility,
            "planAbility",
            Answer::Json("Plan"),
        )
    },
    Route {
        method: &Method::POST,
        summary: "Starts a run; the same `Idempotency-Key` starts it once, however often it is sent within a week",
        body: Some("NewRun"),
        ..get("/v1/runs", RUN, Operation::StartRun, "startRun", Answer::Made("RunHead"))
    },
    Route {
        summary: "Lists runs, the one that changed last first; with a filter, a page may be short and still have a next one",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::After),
            ("status", Parameter::Text("Only runs of this status")),
            ("ability", Parameter::Text("Only runs of this ability")),
            ("by", Parameter::Text("Only runs that they started")),
        ],
        ..get("/v1/runs", READ, Operation::ListRuns, "listRuns", Answer::Json("RunPage"))
    },
    Route {
        summary: "Shows how a run stands, with the runs that it calls",
        ..get("/v1/runs/{run}", READ, Operation::GetRun, "getRun", Answer::Json("Run"))
    },
    Route {
        summary: "Lists the events of a run; `after` is the `seq` of the last one that is known",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::Number("The `seq` of the last event that is known")),
        ],
        ..get("/v1/runs/{run}/events", READ, Operation::ListEvents, "listEvents", Answer::Json("EventPage"))
    },
    Route {
        summary: "Tells the events of a run as they happen; `Last-Event-ID` goes on where a stream broke off, 204 says that all is told",
        query: &[("after", Parameter::Number("The `seq` of the last event that is known"))],
        ..get("/v1/runs/{run}/events/stream", READ, Operation::StreamEvents, "streamEvents", Answer::Events)
    },
    Route {
        summary: "What the steps of a run wrote, step by step; with `follow`, until the run is over",
        query: &[
            ("step", Parameter::Text("Only of this step")),
            ("channel", Parameter::Text("stdout or stderr; both if not said")),
            ("follow", Parameter::Flag("Whether to go on until the run is over")),
        ],
        ..get("/v1/runs/{run}/logs", READ, Operation::StreamLogs, "streamLogs", Answer::Text("text/plain"))
    },
    Route {
        method: &Method::POST,
        summary: "Ends a run; one that somebody else started needs the scope `approve`",
        body: Some("Cancel"),
        ..get("/v1/runs/{run}/cancel", RUN, Operation::CancelRun, "cancelRun", Answer::Json("Run"))
    },
    Route {
        method: &Method::POST,
        summary: "Drives an unfinished run on; to decide about a step that was cut short needs the scope `approve`",
        body: Some("Resume"),
        ..get("/v1/runs/{run}/resume", RUN, Operation::ResumeRun, "resumeRun", Answer::Json("Run"))
    },
    Route {
        summary: "Lists what humans are asked, over all runs",
        query: PAGED,
        ..get("/v1/approvals", READ, Operation::ListApprovals, "listApprovals", Answer::Json("ApprovalPage"))
    },
    Route {
        method: &Method::POST,
        summary: "Answers what a run asks a human; the name of the key stands in the log",
        body: Some("NewAnswer"),
        ..get(
            "/v1/approvals/{run}",
            Access::Scope(Scope::Approve),
            Operation::AnswerApproval,
            "answerApproval",
            Answer::Json("Answered"),
        )
    },
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
            ("status", Parameter::Text("active or archived; both if not said")),
        ],
        ..get("/v1/agents", READ, Operation::ListAgents, "listAgents", Answer::Json("AgentPage"))
    },
    Route {
        summary: "Shows an agent; its `ETag` is what `If-Match` names",
        ..get("/v1/agents/{agent}", READ, Operation::GetAgent, "getAgent", Answer::Json("Agent"))
    },
    Route {
        method: &Method::PATCH,
        summary: "Changes what the body names; with `If-Match`, only if nobody else has changed it since",
        body: Some("AgentChange"),
        ..get("/v1/agents/{agent}", ADMIN, Operation::PatchAgent, "updateAgent", Answer::Json("Agent"))
    },
    Route {
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

impl Route {
    /// Returns the names in braces of its path.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns what the names in braces stand for, if a path is one of this route.
    fn matches(&self, path: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        loop {
            match (own.next(), given.next()) {
                (None, None) => return Some(found),
                (Some(own), Some(given)) if own.starts_with('{') => found.push(decoded(given)?),
                (Some(own), Some(given)) if own == given => {}
                _ => return None,
            }
        }
    }
}

/// Finds the route of a request, and what the names in its braces stand for.
pub(crate) fn find(method: &Method, path: &str) -> Result<(&'static Route, Vec<String>), Problem> {
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(parts) = route.matches(path) else { continue };
        if route.method == method {
            return Ok((route, parts));
        }
        allowed.push(route.method.as_str());
    }
    if allowed.is_empty() {
        return Err(Problem::new(Code::NoRoute, "there is nothing at this address")
            .help("GET /v1/openapi.json lists everything that there is"));
    }
    let allowed = allowed.join(", ");
    let problem = Problem::new(Code::NoMethod, format!("this address knows {allowed}"));
    Err(match HeaderValue::from_str(&allowed) {
        Ok(value) => problem.header(header::ALLOW, value),
        Err(_) => problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_route_is_named_once_and_says_what_it_does() {
        let mut seen = HashSet::new();
        for route in ROUTES {
            assert!(route.path.starts_with("/v1/") && !route.path.ends_with('/'), "{}", route.path);
            assert!(seen.insert((route.method, route.path)) && !route.summary.is_empty(), "{}", route.path);
        }
        let ids: HashSet<&str> = ROUTES.iter().map(|route| route.id).collect();
        assert_eq!(ids.len(), ROUTES.len());
    }

    #[test]
    fn whatever_changes_something_needs_more_than_reading_and_a_body_that_no_form_can_send() {
        for route in ROUTES {
            match route.method.as_str() {
                "GET" => assert!(route.body.is_none(), "{}", route.path),
                method => {
                    let mild = matches!(route.access, Access::Open | Access::Scope(Scope::Read));
                    assert!(!mild, "{method} {}", route.path);
                    assert!(method == "DELETE" || route.body.is_some(), "{method} {}", route.path);
                }
            }
        }
    }

    #[test]
    fn a_request_finds_its_route_or_is_told_why_not() {
        let (route, parts) = find(&Method::DELETE, "/v1/keys/a%2Fb").unwrap();
        assert_eq!((route.operation, parts), (Operation::RevokeKey, vec!["a/b".to_owned()]));
        for path in ["/", "", "/v1", "/v1/keys/", "/v1/keys/%ff", "/v1/keys/a/b", "//v1/keys", "/v1/KEYS"] {
            assert_eq!(find(&Method::GET, path).unwrap_err().code(), Code::NoRoute, "{path}");
        }
        assert_eq!(find(&Method::PUT, "/v1/keys").unwrap_err().code(), Code::NoMethod);
    }
}

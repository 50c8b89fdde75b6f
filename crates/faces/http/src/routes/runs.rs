//! Runs, and what they ask humans.

use super::{Access, Answer, Operation, PAGED, Parameter, READ, RUN, Route, get};
use abide_engine::keys::Scope;
use http::Method;

/// How runs stand; a test holds it against the machine.
pub(crate) const STATUSES: &[&str] =
    &["awaiting_plan", "running", "waiting", "completed", "failed", "cancelled", "timed_out", "interrupted"];

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: &Method::POST,
        summary: "Starts a run; the same `Idempotency-Key` starts it once, however often it is sent within a week, and `traceparent` makes it part of the caller's trace",
        body: Some("NewRun"),
        ..get("/v1/runs", RUN, Operation::StartRun, "startRun", Answer::Made("RunHead"))
    },
    Route {
        summary: "Lists runs, the one that changed last first; with a filter, a page may be short and still have a next one",
        query: &[
            ("limit", Parameter::Limit),
            ("after", Parameter::After),
            ("status", Parameter::Word(STATUSES, "of any status if not said")),
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
            ("channel", Parameter::Word(&["stdout", "stderr"], "both if not said")),
            ("follow", Parameter::Flag("Whether to go on until the run is over")),
        ],
        ..get("/v1/runs/{run}/logs", READ, Operation::StreamLogs, "streamLogs", Answer::Text("text/plain"))
    },
    Route {
        audited: true,
        method: &Method::POST,
        summary: "Ends a run; one that somebody else started needs the scope `approve`",
        body: Some("Cancel"),
        ..get("/v1/runs/{run}/cancel", RUN, Operation::CancelRun, "cancelRun", Answer::Json("Run"))
    },
    Route {
        audited: true,
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
        audited: true,
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
];

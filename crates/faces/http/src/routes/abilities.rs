//! Abilities: what lies on the disk and can be run.

use super::{Answer, EXCERPT, Operation, Parameter, READ, RUN, Route, get};
use http::Method;

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Lists the abilities of the project, broken and shadowed ones too",
        query: EXCERPT,
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
        query: &[("format", Parameter::Word(&["json", "text", "mermaid", "dot", "svg"], "json if not said"))],
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
];

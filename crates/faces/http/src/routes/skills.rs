//! What lies around abilities: skills, and the models that agents talk with.

use super::{Answer, EXCERPT, Operation, READ, Route, get};

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Lists the skills of every client, those that cannot be used too, with the reason",
        query: EXCERPT,
        ..get("/v1/skills", READ, Operation::ListSkills, "listSkills", Answer::Json("Skills"))
    },
    Route {
        summary: "Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says",
        ..get("/v1/skills/{skill}", READ, Operation::GetSkill, "getSkill", Answer::Json("Skill"))
    },
    Route {
        summary: "Lists models and who serves them, each usable or with what is missing; keys are in none of it",
        ..get("/v1/models", READ, Operation::ListModels, "listModels", Answer::Json("Models"))
    },
];

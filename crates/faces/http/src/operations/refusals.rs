//! What the engine says no with, as problems.

use crate::problem::{Code, Problem};
use abide_core::run::Refusal;
use abide_engine::LoadError;
use abide_engine::port::{MessagesError, SessionsError, StartsError, StoreError};
use abide_engine::service::ServiceError;
use serde_json::Value;

pub(super) fn store(error: &StoreError) -> Problem {
    let code = match error {
        StoreError::Unknown(_) => Code::NotFound,
        StoreError::Conflict { .. } | StoreError::Held { .. } | StoreError::LeaseLost(_) => Code::Refused,
        StoreError::Damaged { .. } => Code::Internal,
        StoreError::Unwritable { .. } | StoreError::Unreadable { .. } | StoreError::Other { .. } => {
            return Problem::new(Code::Unavailable, "the log does not answer");
        }
    };
    Problem::new(code, error.to_string())
}

pub(super) fn load(error: &LoadError) -> Problem {
    match error {
        LoadError::Store(error) => store(error),
        LoadError::Event { .. } | LoadError::Broken { .. } => Problem::new(Code::Internal, error.to_string()),
    }
}

pub(super) fn starts(_: &StartsError) -> Problem {
    Problem::new(Code::Unavailable, "the starts of runs cannot be reached")
}

pub(super) fn sessions(_: &SessionsError) -> Problem {
    Problem::new(Code::Unavailable, "the sessions cannot be reached")
}

pub(super) fn messages(_: &MessagesError) -> Problem {
    Problem::new(Code::Unavailable, "the messages of sessions cannot be reached")
}

pub(super) fn service(error: &ServiceError) -> Problem {
    match error {
        ServiceError::Workspace(error) => {
            let problem = Problem::new(Code::Invalid, error.message.clone());
            error.help.iter().fold(problem, |problem, help| problem.help(help.clone()))
        }
        ServiceError::Inputs(problems) => Problem::new(Code::Invalid, problems.join("\n"))
            .with("problems", problems.iter().map(|text| Value::from(text.as_str())).collect()),
        ServiceError::Refused(refusal) => refused(refusal),
        ServiceError::Answered(_) => Problem::new(Code::Refused, error.to_string()),
        ServiceError::Load(error) => load(error),
        ServiceError::Store(error) => store(error),
        ServiceError::Unsupported { .. }
        | ServiceError::Unusable { .. }
        | ServiceError::Leak { .. }
        | ServiceError::TooDeep
        | ServiceError::Changed { .. }
        | ServiceError::Rerun(_) => Problem::new(Code::Invalid, error.to_string()),
    }
}

fn refused(refusal: &Refusal) -> Problem {
    let code = match refusal {
        Refusal::NotAnApprover { .. } | Refusal::OwnRun { .. } => Code::NotYours,
        Refusal::NoOption { .. } => Code::Invalid,
        Refusal::NoStep(_) => Code::NotFound,
        Refusal::Finished { .. }
        | Refusal::Ending(_)
        | Refusal::NoPlan(_)
        | Refusal::NoQuestion { .. }
        | Refusal::Answered { .. }
        | Refusal::Late { .. }
        | Refusal::NotUnderWay { .. }
        | Refusal::NotLost(_)
        | Refusal::NoHook(_) => Code::Refused,
    };
    Problem::new(code, refusal.to_string())
}

//! What is done for a request that was let in: one file per kind of thing.

mod abilities;
mod agents;
mod approvals;
mod audit;
mod capabilities;
mod choices;
mod documents;
mod events;
mod excerpt;
mod files;
mod keys;
mod logs;
mod messages;
mod meta;
mod refusals;
mod runs;
mod sessions;
mod skills;

pub(crate) use agents::Equippable;
pub(crate) use agents::{LONGEST_DESCRIPTION, LONGEST_NAME, LONGEST_PROMPT};
pub use audit::row as audit_row;
pub(crate) use choices::{LONGEST_CAPABILITY, MOST_CAPABILITIES};
pub use keys::random;
pub(crate) use messages::LONGEST_MESSAGE;
pub(crate) use runs::LONGEST_ONCE;
pub(crate) use sessions::LONGEST_TITLE;
pub(crate) use sessions::forget_removed;

use crate::ask::Ask;
use crate::door::{Answered, Door};
use crate::house::House;
pub(crate) use audit::audited;

use crate::routes::Operation;

/// Does what a request asks for.
pub(crate) async fn done<H: House>(door: &Door<H>, operation: Operation, ask: Ask) -> Answered {
    match operation {
        Operation::Health => Ok(meta::health()),
        Operation::Ready => meta::ready(&*door.house).await,
        Operation::Version => Ok(meta::version()),
        Operation::OpenApi => Ok(meta::openapi()),
        Operation::Docs => Ok(meta::docs()),
        Operation::Metrics => Ok(meta::metrics(&*door.house).await),
        Operation::ListSkills => skills::list(&*door.house, &ask).await,
        Operation::GetSkill => skills::show(&*door.house, &ask).await,
        Operation::ListModels => skills::models(&*door.house).await,
        Operation::ListAbilities => abilities::list(&*door.house, &ask).await,
        Operation::GetAbility => abilities::show(&*door.house, &ask).await,
        Operation::GetProblems => abilities::problems(&*door.house, &ask).await,
        Operation::GetGraph => abilities::graph(&*door.house, &ask).await,
        Operation::PlanAbility => abilities::plan(&*door.house, &ask).await,
        Operation::StartRun => runs::start(&door.house, &ask).await,
        Operation::ListRuns => runs::list(&*door.house, &ask).await,
        Operation::GetRun => runs::show(&*door.house, &ask).await,
        Operation::ListEvents => events::list(&*door.house, &ask).await,
        Operation::StreamEvents => events::stream(door, &ask).await,
        Operation::CreateAgentSession => sessions::create_of(&*door.house, &ask).await,
        Operation::ListAgentSessions => sessions::list_of(&*door.house, &ask).await,
        Operation::CreateSession => sessions::create(&*door.house, &ask).await,
        Operation::ListSessions => sessions::list(&*door.house, &ask).await,
        Operation::GetSession => sessions::show(&*door.house, &ask).await,
        Operation::PatchSession => sessions::patch(&*door.house, &ask).await,
        Operation::DeleteSession => sessions::delete(&*door.house, &ask).await,
        Operation::PostMessage => messages::post(&*door.house, &ask).await,
        Operation::ListMessages => messages::list(&*door.house, &ask).await,
        Operation::GetMessage => messages::show(&*door.house, &ask).await,
        Operation::CancelTurn => messages::cancel(&*door.house, &ask).await,
        Operation::ListSessionEvents => events::list_of_session(&*door.house, &ask).await,
        Operation::StreamSessionEvents => events::stream_of_session(door, &ask).await,
        Operation::StreamLogs => logs::stream(door, &ask).await,
        Operation::CancelRun => runs::cancel(&door.house, &ask).await,
        Operation::ResumeRun => runs::resume(&door.house, &ask).await,
        Operation::ListApprovals => approvals::list(&*door.house, &ask).await,
        Operation::AnswerApproval => approvals::answer(&door.house, &ask).await,
        Operation::ListCapabilities => Ok(capabilities::list(door)),
        Operation::GetCapability => capabilities::show(&*door.house, &ask),
        Operation::CreateAgent => agents::create(door, &ask).await,
        Operation::ListAgents => agents::list(&*door.house, &ask).await,
        Operation::GetAgent => agents::show(&*door.house, &ask).await,
        Operation::PatchAgent => agents::patch(door, &ask).await,
        Operation::ArchiveAgent => agents::archive(&*door.house, &ask).await,
        Operation::ExportAgent => documents::export(&*door.house, &ask).await,
        Operation::ImportAgent => documents::import(door, &ask).await,
        Operation::ReadFile => files::read(door, &ask).await,
        Operation::WriteFile => files::write(&*door.house, &ask).await,
        Operation::DeleteFile => files::delete(&*door.house, &ask).await,
        Operation::StatFile => files::stat(&*door.house, &ask).await,
        Operation::MoveFile => files::transfer(&*door.house, &ask, false).await,
        Operation::CopyFile => files::transfer(&*door.house, &ask, true).await,
        Operation::GrepFiles => files::grep(&*door.house, &ask).await,
        Operation::ListKeys => keys::list(&*door.house, &ask).await,
        Operation::CreateKey => keys::create(&*door.house, &ask).await,
        Operation::RevokeKey => keys::revoke(&*door.house, &ask).await,
        Operation::ListAudit => audit::list(&*door.house, &ask).await,
    }
}

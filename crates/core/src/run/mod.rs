//! The run as a pure state machine over its log.
//!
//! Three functions are all of it, and none of them reads a clock or a disk:
//! - [`Run::apply`] is the only way a run changes; the log folded by it *is* the run.
//! - [`Run::advance`] returns what follows now without anybody's doing: steps that start, are skipped, or end the
//!   run. A driver appends these events and then does what each [`Run::effect`] asks.
//! - [`Run::decide`] returns what follows from something that happened outside, or why it may not happen.
//!
//! Everything takes time in proportion to what changes, not to the size of the run.

mod advance;
mod apply;
mod called;
mod command;
mod decide;
mod effect;
mod places;
mod restore;
mod scope;
mod shared;
mod state;
mod step;

pub use command::{Command, Refusal};
pub use effect::{AgentWork, ChildWork, ContextWork, Effect, ScriptWork, SkillWork, Work};
pub use restore::{Progress, StepProgress};
pub use scope::RunScope;
pub use shared::Shared;
pub use state::{Phase, Run, RunStatus, Verdicts};
pub use step::{Instance, InstanceState, StepState, StepStatus};

//! The traits that the engine needs, each a contract that adapters keep.
//!
//! Every port has a contract suite in `testkit` that all its implementations run.

mod agents;
mod audit;
mod capability;
mod chain;
mod clock;
mod confirm;
mod courier;
mod files;
mod keys;
mod leasing;
mod messages;
mod model;
mod outbox;
mod process;
mod questions;
mod runner;
mod sessions;
mod starts;
mod store;
mod summarizer;
mod tool;
mod workspace;

pub use agents::{AgentRow, AgentStatus, Agents, AgentsError};
pub use audit::{AUDIT, Audit, AuditDamage, AuditError, NewNote, verify_audit};
pub use capability::Capability;
pub use chain::{End, NO_HASH, chained, link, verify};
pub use clock::Clock;
pub use confirm::{Confirm, ConfirmQuestion, Confirmation, NobodyToAsk};
pub use courier::{Courier, CourierError, Letter, Receipt};
pub use files::{
    Condition, Ends, FileInfo, FilesError, NewFile, Quota, SessionFiles, Steps, Transfer, Written,
};
pub use keys::{Keys, KeysError, MOST_KEYS};
pub use leasing::{LeaseRow, Taken, take_lease};
pub use messages::{
    MOST_WAITING, MessageEnd, MessageRow, Messages, MessagesError, NewMessage, Posted, WhenBusy,
};
pub use model::{
    AnswerEnd, AnswerLimits, Caching, Hear, Model, ModelAnswer, ModelError, ModelEvent, ModelProblem,
    ModelRequest, TimeOut, ToolChoice, ToolOffer,
};
pub use outbox::{
    Attempted, DELIVERIES_KEPT, Delivery, MOST_UNDELIVERED, NewDelivery, Outbox, OutboxError,
    PostedDeliveries, Undelivered,
};
pub use process::{Cancel, Ending, Line, Process, ProcessError, Signal, Sink, Spec, Stream, Variable};
pub use questions::{
    CallAnswer, MOST_QUESTIONS, QUESTIONS_KEPT, QuestionRow, QuestionState, Questions, QuestionsError,
};
pub use runner::{
    Answer, Cancellation, Later, Listener, Runner, RunnerEnd, Runners, Task, Worker, runner_of,
};
pub use sessions::{SessionRow, Sessions, SessionsError};
pub use starts::{NewStart, Noted, OpenStart, REMEMBERED, Starts, StartsError};
pub use store::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead,
};
pub use summarizer::{LongOutput, Summarizer, Summary};
pub use tool::{Beside, SessionId, Stop, Stopper, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
pub use workspace::{Definition, FoundTexts, Workspace, WorkspaceError};

//! What the server answers. A test holds the names of all fields to the server's `OpenAPI` document; fields that a newer server adds are
//! left out, and statuses that it adds are unknown.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

macro_rules! answers {
    ($($(#[$about:meta])* $name:ident, $schema:literal { $($(#[$field_about:meta])* $field:ident $(= $wire:literal)?: $type:ty,)+ })+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, Deserialize)]
            #[non_exhaustive]
            pub struct $name {
                $($(#[$field_about])* $(#[serde(rename = $wire)])? pub $field: $type,)+
            }
        )+

        /// The fields of every type, by the schema that it has in the document.
        #[cfg(test)]
        const FIELDS: &[(&str, &[&str])] = &[$(($schema, &[$(answers!(@name $field $($wire)?),)+]),)+];
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// Its plan waits to be approved.
    AwaitingPlan,
    /// It goes on.
    Running,
    /// It waits for a human.
    Waiting,
    /// It is over, and went well.
    Completed,
    /// It is over, and failed.
    Failed,
    /// It was ended.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// A step was cut short, and somebody must decide about it.
    Interrupted,
    /// A status that this version does not know.
    #[serde(other)]
    Unknown,
}

impl RunStatus {
    /// Returns whether it does not change any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::TimedOut)
    }

    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::AwaitingPlan => "awaiting_plan",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }
}

/// What to do with a step that was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Run it again.
    Rerun,
    /// Count it as failed.
    Fail,
}

impl Decision {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Fail => "fail",
        }
    }
}

/// What happens to a message while another turn is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// It waits.
    Queue,
    /// It ends that turn, and is next.
    Interrupt,
    /// It is not taken: the code is `refused`.
    Refuse,
}

impl WhenBusy {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Interrupt => "interrupt",
            Self::Refuse => "refuse",
        }
    }
}

answers! {
    /// Which version of abide answers.
    Version, "Version" {
        /// `abide`.
        name: String,
        /// Its version.
        version: String,
        /// The version of what can be asked.
        api: String,
    }

    /// A row of the list of runs.
    RunHead, "RunHead" {
        /// Its id.
        run: String,
        /// The ability.
        ability: String,
        /// How it stands.
        status: RunStatus,
        /// Who started it.
        by: String,
        /// The session that it belongs to.
        session: Option<String>,
        /// The run that called it.
        parent: Option<String>,
        /// The run that it repeats.
        rerun_of: Option<String>,
        /// Why it failed.
        error: Option<String>,
        /// How many events it has.
        events: u64,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// When it changed last, in milliseconds since 1970.
        changed_at: i64,
    }

    /// How a run stands, with the runs that it calls.
    Run, "Run" {
        /// Its id.
        run: String,
        /// The ability.
        ability: String,
        /// How it stands.
        status: RunStatus,
        /// Who started it.
        by: String,
        /// Why it failed.
        error: Option<String>,
        /// How often the gate answered with something else than a plain yes.
        verdicts: BTreeMap<String, u64>,
        /// Its steps.
        steps: Vec<RunStep>,
        /// What it asks a human.
        questions: Vec<Question>,
        /// The runs that it calls.
        children: Vec<Run>,
        /// The step that calls it.
        step: Option<String>,
    }

    /// How a step of a run stands.
    RunStep, "Run.steps" {
        /// Which.
        step: String,
        /// How it stands.
        status: String,
        /// How often it was tried.
        attempts: u32,
        /// What is to be said about it.
        note: Option<String>,
    }

    /// What a step asks a human.
    Question, "Run.questions" {
        /// Which step.
        step: String,
        /// What it asks.
        prompt: String,
        /// The answers that there are.
        options: Vec<Choice>,
        /// Who may answer; anybody if nobody is named.
        approvers: Vec<String>,
    }

    /// An answer that there is.
    Choice, "Run.questions.options" {
        /// For people.
        label: String,
        /// For the answer.
        value: String,
    }

    /// Something that happened in a run.
    Event, "Event" {
        /// Its number, without gaps.
        seq: u64,
        /// When, in milliseconds since 1970.
        at: i64,
        /// What kind.
        kind = "type": String,
        /// What.
        data: Value,
    }

    /// What a human is asked.
    Approval, "Approval" {
        /// What the answer is sent to.
        id: String,
        /// `plan`, `approval` or `failure` of a run, `tool` of a session.
        kind: String,
        /// By which run.
        run: Option<String>,
        /// Of which ability.
        ability: Option<String>,
        /// Who started it.
        started_by: Option<String>,
        /// The run that called it.
        parent: Option<String>,
        /// The step; a plan has none.
        step: Option<String>,
        /// The session whose agent wants to call a tool.
        session: Option<String>,
        /// Which tool.
        tool: Option<String>,
        /// What it would be given.
        arguments: Value,
        /// What is asked.
        prompt: String,
        /// The answers that there are.
        options: Vec<Choice>,
        /// Who may answer; anybody if nobody is named.
        approvers: Vec<String>,
        /// Until when, in milliseconds since 1970.
        deadline: Option<i64>,
    }

    /// What came of an answer.
    Answered, "Answered" {
        /// What was answered.
        id: String,
        /// The run.
        run: Option<String>,
        /// How it stands.
        status: String,
        /// In whose name.
        by: String,
    }

    /// A capability that agents can be given.
    Capability, "Capability" {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// What it does.
        description: String,
        /// `available`, `coming_soon`, `deprecated` or `unavailable`.
        status: String,
        /// A picture.
        icon: Option<String>,
        /// Where it belongs.
        category: Option<String>,
        /// Its version.
        version: u64,
        /// The greatest risk of its tools.
        risk: String,
        /// What it needs.
        depends_on: Vec<String>,
        /// Why it cannot be used.
        reason: Option<String>,
    }

    /// An agent.
    Agent, "Agent" {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// What it is for.
        description: Option<String>,
        /// What it is told.
        system_prompt: String,
        /// Its model.
        model: Option<String>,
        /// What it can use; earlier ones speak first.
        capabilities: Vec<String>,
        /// What is configured for capabilities, by their ids.
        configuration: Option<BTreeMap<String, Value>>,
        /// `active` or `archived`.
        status: String,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// When it changed last, in milliseconds since 1970.
        updated_at: i64,
    }

    /// A key of the server.
    Key, "Key" {
        /// Its id.
        id: String,
        /// Whose it is.
        name: String,
        /// What it allows.
        scopes: Vec<String>,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// Who made it.
        created_by: String,
        /// When it was revoked, in milliseconds since 1970.
        revoked_at: Option<i64>,
    }

    /// A key that was just made.
    MadeKey, "MadeKey" {
        /// Its id.
        id: String,
        /// Whose it is.
        name: String,
        /// What it allows.
        scopes: Vec<String>,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// Who made it.
        created_by: String,
        /// When it was revoked, in milliseconds since 1970.
        revoked_at: Option<i64>,
        /// What opens the server; it is kept nowhere.
        key: String,
    }

    /// Something that was changed.
    Change, "Change" {
        /// Its position.
        seq: u64,
        /// When, in milliseconds since 1970.
        at: i64,
        /// What was done.
        action: String,
        /// The name of the key, or of a user of the machine.
        by: String,
        /// The id of what was changed.
        subject: String,
        /// The request that did it.
        request: Option<String>,
        /// What was asked for; never a secret.
        detail: Value,
        /// The hash of the row before it.
        previous_hash: String,
        /// Its own.
        hash: String,
    }

    /// A session: a conversation with a log and files of its own.
    Session, "Session" {
        /// Its id.
        id: String,
        /// The id of its agent.
        agent: String,
        /// What it is called.
        title: Option<String>,
        /// Who made it.
        by: String,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// When it was changed or told something last, in milliseconds since 1970.
        updated_at: i64,
    }

    /// A session, and what is under way in it.
    SessionDetail, "SessionDetail" {
        /// Its id.
        id: String,
        /// The id of its agent.
        agent: String,
        /// What it is called.
        title: Option<String>,
        /// Who made it.
        by: String,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// When it was changed or told something last, in milliseconds since 1970.
        updated_at: i64,
        /// `idle` or `active`.
        status: String,
        /// The message whose turn is under way.
        turn: Option<String>,
        /// How many messages are not over.
        open: u64,
        /// How many events it has: a stream after so many tells what is new.
        events: u64,
    }

    /// Something that was said to a session.
    Message, "Message" {
        /// Its id; its turn has the same.
        id: String,
        /// To which session.
        session: String,
        /// From 1, in the order in which they were taken.
        number: u64,
        /// What was said.
        text: String,
        /// By whom.
        by: String,
        /// `queue`, `interrupt` or `refuse`.
        when_busy: String,
        /// When, in milliseconds since 1970.
        created_at: i64,
        /// What came of it.
        turn: MessageTurn,
    }

    /// What came of a message.
    MessageTurn, "Message/turn" {
        /// `queued`, `running`, `finished`, `cancelled`, `failed` or `out_of_budget`.
        status: String,
        /// The last answer, once the turn is over.
        answer: Option<String>,
        /// Why there is no answer, or only a part.
        error: Option<String>,
        /// Who wants it to end.
        cancelled_by: Option<String>,
        /// When it ended, in milliseconds since 1970; until then, it is not over.
        ended_at: Option<i64>,
    }

    /// A file or a folder of a session.
    File, "File" {
        /// Where it is.
        path: String,
        /// The last part of that.
        name: String,
        /// Whether it is a folder.
        is_directory: bool,
        /// Whether it may not be changed.
        is_readonly: bool,
        /// How long it is.
        size_bytes: u64,
        /// When it was made, in milliseconds since 1970.
        created_at: i64,
        /// When it changed last, in milliseconds since 1970.
        updated_at: i64,
    }

    /// What is in a folder.
    Folder, "Folder" {
        /// Where it is.
        path: String,
        /// What is in it.
        entries: Vec<File>,
        /// How many there are, on all pages.
        count: u64,
        /// Where the next page begins, if pages were asked for.
        next: Option<String>,
    }

    /// What was deleted.
    Deleted, "Deleted" {
        /// Where.
        path: String,
        /// How many files and folders went.
        deleted: u64,
    }

    /// What was found in files.
    Matches, "Matches" {
        /// For what.
        pattern: String,
        /// Each with its file and its line.
        matches: Vec<Value>,
        /// How many.
        match_count: u64,
        /// Whether there would be more.
        truncated: Option<bool>,
    }

    /// A skill in the list.
    SkillRow, "SkillRow" {
        /// Its name.
        name: String,
        /// `available`, `unavailable`, `shadowed` or `dropped`.
        state: String,
        /// Why it is not available.
        reason: Option<String>,
        /// What it is for.
        description: Option<String>,
        /// Where it is.
        file: String,
        /// Where it comes from.
        origin: String,
        /// What is wrong with it.
        problems: Vec<Value>,
    }

    /// Models and who serves them.
    ModelListing, "Models" {
        /// The model of whoever names none.
        default: Option<String>,
        /// Models.
        models: Vec<Model>,
        /// Who serves them.
        providers: Vec<Provider>,
    }

    /// A model.
    Model, "Models.models" {
        /// Its name, with its provider.
        model: String,
        /// Who serves it.
        provider: String,
        /// Whether it is the model of whoever names none.
        default: bool,
        /// Whether it can be asked.
        usable: bool,
        /// Why not.
        problem: Option<String>,
        /// What to do about it.
        help: Option<String>,
    }

    /// Who serves models.
    Provider, "Models.providers" {
        /// Its name.
        provider: String,
        /// Where it is.
        url: Option<String>,
        /// Where its key comes from, never the key.
        key: Option<String>,
        /// Whether it can be asked.
        usable: bool,
        /// Why not.
        problem: Option<String>,
        /// What to do about it.
        help: Option<String>,
    }

    /// How the server does.
    Health, "Health" {
        /// `ok`.
        status: String,
    }
}

/// An ability in the list.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct AbilityEntry {
    /// Its name.
    pub name: String,
    /// `usable`, `broken` or `shadowed`.
    pub status: String,
    /// What it does, if it can be read.
    #[serde(default)]
    pub description: Option<String>,
}

/// What an agent is made of, or what is changed about it; what is not said stays as it is.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AgentDraft {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it can use; earlier ones speak first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<AgentCapability>>,
}

/// A capability that an agent is given: its id, or with what is configured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentCapability {
    /// What is configured for it stays as it is.
    Id(String),
    /// It is configured.
    Configured {
        /// Its id.
        id: String,
        /// An object that fits it; null takes away what there is.
        configuration: Value,
    },
}

impl From<&str> for AgentCapability {
    fn from(id: &str) -> Self {
        Self::Id(id.to_owned())
    }
}

impl From<String> for AgentCapability {
    fn from(id: String) -> Self {
        Self::Id(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_the_fields_of_the_document() {
        let document: Value = serde_json::from_str(include_str!("../../../schema/openapi.json")).unwrap();
        for (schema, fields) in FIELDS {
            // Behind a point stands what is in a list, behind a stroke what is in a field.
            let (schema, field) =
                schema.split_once('/').map_or((*schema, None), |(schema, field)| (schema, Some(field)));
            let mut names = schema.split('.');
            let mut found = &document["components"]["schemas"][names.next().unwrap()];
            for name in names {
                found = &found["properties"][name]["items"];
            }
            if let Some(field) = field {
                found = &found["properties"][field];
            }
            let mut expected: Vec<&str> =
                found["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            let mut fields = fields.to_vec();
            expected.sort_unstable();
            fields.sort_unstable();
            assert_eq!(fields, expected, "{schema}");
        }
        let statuses =
            document["components"]["schemas"]["Run"]["properties"]["status"]["enum"].as_array().unwrap();
        for word in statuses {
            let status: RunStatus = serde_json::from_value(word.clone()).unwrap();
            assert_eq!(status.word(), word.as_str().unwrap());
        }
        assert_eq!(serde_json::from_str::<RunStatus>("\"paused\"").unwrap(), RunStatus::Unknown);
    }
}

//! Everything that can be asked: one table, from which requests are looked up and the `OpenAPI` document is made.
//!
//! Each kind of thing has a file with its part of the table.

mod abilities;
mod agents;
mod files;
mod keys;
mod meta;
mod runs;
mod sessions;
mod skills;

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
    /// Shows the same for people.
    Docs,
    /// Says what the server has done, for a monitor.
    Metrics,
    /// Lists skills.
    ListSkills,
    /// Shows a skill.
    GetSkill,
    /// Lists models.
    ListModels,
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
    /// Shows an agent as a Markdown file.
    ExportAgent,
    /// Makes an agent from a Markdown file.
    ImportAgent,
    /// Makes a session of the agent that the path names.
    CreateAgentSession,
    /// Lists the sessions of an agent.
    ListAgentSessions,
    /// Makes a session.
    CreateSession,
    /// Lists sessions.
    ListSessions,
    /// Shows a session.
    GetSession,
    /// Changes a session.
    PatchSession,
    /// Removes a session.
    DeleteSession,
    /// Says something to a session.
    PostMessage,
    /// Lists what was said to a session.
    ListMessages,
    /// Shows a message and what came of it.
    GetMessage,
    /// Ends the turn of a session.
    CancelTurn,
    /// Lists the events of a session.
    ListSessionEvents,
    /// Tells the events of a session as they happen.
    StreamSessionEvents,
    /// Reads a file of a session, or lists a folder.
    ReadFile,
    /// Writes a file of a session.
    WriteFile,
    /// Deletes a file or a folder of a session.
    DeleteFile,
    /// Says what is known about a file.
    StatFile,
    /// Moves a file or a folder.
    MoveFile,
    /// Copies a file or a folder.
    CopyFile,
    /// Searches the files of a session.
    GrepFiles,
    /// Lists keys.
    ListKeys,
    /// Makes a key.
    CreateKey,
    /// Revokes a key.
    RevokeKey,
    /// Lists what was changed.
    ListAudit,
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
    /// One of these words, with what it means.
    Word(&'static [&'static str], &'static str),
    /// A whole number, with what it means.
    Number(&'static str),
    /// `true` or `false`, with what it means.
    Flag(&'static str),
}

/// A header of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// What the caller calls a request, so that it counts once.
    IdempotencyKey,
    /// The span that called.
    TraceParent,
    /// The version that is to be changed.
    IfMatch,
    /// That nothing is to be there.
    IfNoneMatch,
    /// The last event that is known.
    LastEventId,
}

/// What an answer looks like when all went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A document of this schema.
    Json(&'static str),
    /// A document of this schema about something that was made.
    Made(&'static str),
    /// A document of this schema about something that will be done.
    Taken(&'static str),
    /// Text of this kind.
    Text(&'static str),
    /// A document of this schema, or a drawing.
    Drawing(&'static str),
    /// The bytes of a file, or a document of this schema.
    File(&'static str),
    /// Server-sent events, or nothing if all are told.
    Events,
}

/// The body of a request that is taken as it is, byte for byte.
pub const BYTES: &str = "Bytes";

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
    /// What kind of content the body is; never one that a form of a foreign page can send.
    pub takes: &'static str,
    /// What is answered.
    pub answer: Answer,
    /// Whether it stands in the audit who asked for it.
    pub audited: bool,
}

/// How many rows there may be of a list that is told as a whole when nothing is said.
const AT_MOST: (&str, Parameter) = (
    "limit",
    Parameter::Number(
        "How many rows a page may have, 1 to 200; all is told if neither this nor `after` is said",
    ),
);
/// The parameters of such a list.
const EXCERPT: &[(&str, Parameter)] = &[AT_MOST, ("after", Parameter::After)];
const PAGED: &[(&str, Parameter)] = &[("limit", Parameter::Limit), ("after", Parameter::After)];

const fn get(
    path: &'static str,
    access: Access,
    operation: Operation,
    id: &'static str,
    answer: Answer,
) -> Route {
    Route {
        method: &Method::GET,
        path,
        access,
        operation,
        id,
        summary: "",
        query: &[],
        body: None,
        takes: "application/json",
        answer,
        audited: false,
    }
}

const READ: Access = Access::Scope(Scope::Read);
const RUN: Access = Access::Scope(Scope::Run);
const ADMIN: Access = Access::Scope(Scope::Admin);

/// The parts of the table, in the order of the document.
const PARTS: &[&[Route]] = &[
    meta::ROUTES,
    abilities::ROUTES,
    runs::ROUTES,
    agents::ROUTES,
    skills::ROUTES,
    sessions::ROUTES,
    files::ROUTES,
    keys::ROUTES,
];

const fn count(parts: &[&[Route]]) -> usize {
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

const fn joined<const N: usize>(parts: &[&[Route]]) -> [Route; N] {
    let mut all = [meta::ROUTES[0]; N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut own = 0;
        while own < parts[part].len() {
            all[at] = parts[part][own];
            at += 1;
            own += 1;
        }
        part += 1;
    }
    all
}

/// Everything that can be asked.
pub static ROUTES: &[Route] = &joined::<{ count(PARTS) }>(PARTS);

impl Route {
    /// Returns whether the answer goes on for as long as there is something to tell.
    pub(crate) fn goes_on(&self) -> bool {
        self.answer == Answer::Events || self.operation == Operation::StreamLogs
    }

    /// Returns whether the body may be left out: nothing of it has to be said.
    pub(crate) fn may_be_bare(&self) -> bool {
        use Operation::{ArchiveAgent, CancelRun, CancelTurn, ResumeRun};
        matches!(self.operation, ArchiveAgent | CancelRun | CancelTurn | ResumeRun)
    }

    /// Returns the headers of a request that mean something here, beside those that every request may have.
    pub(crate) fn headers(&self) -> &'static [Header] {
        match self.operation {
            Operation::StartRun => &[Header::IdempotencyKey, Header::TraceParent],
            Operation::PostMessage => &[Header::IdempotencyKey],
            Operation::PatchAgent | Operation::ArchiveAgent | Operation::DeleteFile => &[Header::IfMatch],
            Operation::WriteFile => &[Header::IfMatch, Header::IfNoneMatch],
            Operation::StreamEvents | Operation::StreamSessionEvents => &[Header::LastEventId],
            _ => &[],
        }
    }

    /// Returns whether an answer says with `ETag` which version it shows.
    pub(crate) fn is_tagged(&self) -> bool {
        use Operation::{
            ArchiveAgent, CopyFile, CreateAgent, GetAgent, ImportAgent, MoveFile, PatchAgent, ReadFile,
            StatFile, WriteFile,
        };
        matches!(
            self.operation,
            ArchiveAgent
                | CopyFile
                | CreateAgent
                | GetAgent
                | ImportAgent
                | MoveFile
                | PatchAgent
                | ReadFile
                | StatFile
                | WriteFile
        )
    }

    /// Returns the names in braces of its path.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns what the names in braces stand for, if a path is one of this route.
    fn matches(&self, path: &str) -> Option<Vec<String>> {
        // Most routes differ before their first name in braces, and are left out without being taken apart.
        let fixed = self.path.bytes().take_while(|byte| *byte != b'{');
        if fixed.zip(path.bytes()).any(|(own, given)| own != given) {
            return None;
        }
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
    // An address that stands in the table word by word is not any name: nobody is called `import`.
    let is_literal = ROUTES.iter().any(|route| route.path == path);
    for route in ROUTES.iter().filter(|route| !is_literal || route.path == path) {
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

    /// What leaves no note in the audit.
    const NOT_AUDITED: &[Operation] = &[
        // It changes nothing.
        Operation::PlanAbility,
        // The first event of the run's log, which is chained as the audit is, names who started it.
        Operation::StartRun,
        // The message itself is kept with who said it.
        Operation::PostMessage,
    ];

    #[test]
    fn every_route_is_named_once_and_says_what_it_does() {
        let mut seen = HashSet::new();
        for route in ROUTES {
            let page = route.answer == Answer::Text("text/html");
            assert!(route.path.starts_with("/v1/") || page, "{}", route.path);
            assert!(!route.path.ends_with('/'), "{}", route.path);
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
                    let forms = ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"];
                    assert!(!forms.contains(&route.takes), "{method} {}", route.path);
                    assert_ne!(
                        route.audited,
                        NOT_AUDITED.contains(&route.operation),
                        "{method} {}: it stands in the audit, or there is a reason why not",
                        route.path
                    );
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
        assert_eq!(find(&Method::GET, "/v1/agents/import").unwrap_err().code(), Code::NoMethod);
        assert_eq!(find(&Method::POST, "/v1/agents/import").unwrap().0.operation, Operation::ImportAgent);
    }

    #[test]
    fn the_words_of_a_status_are_those_of_the_machine() {
        use abide_core::run::RunStatus;
        // A status that is new has a place in this list, or does not compile.
        let word = |status: RunStatus| match status {
            RunStatus::AwaitingPlan
            | RunStatus::Running
            | RunStatus::Waiting
            | RunStatus::Completed
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::TimedOut
            | RunStatus::Interrupted => status.word(),
        };
        let all = [
            RunStatus::AwaitingPlan,
            RunStatus::Running,
            RunStatus::Waiting,
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::Cancelled,
            RunStatus::TimedOut,
            RunStatus::Interrupted,
        ];
        assert_eq!(all.map(word), *runs::STATUSES);
    }
}

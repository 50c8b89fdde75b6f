//! Calls under way: each is a task of its own that the desk works in, attended to by the request that it came with.
//!
//! A request can end before its call does: the client cancels it, goes away, or, since version 2026-07-28 of the protocol,
//! is answered with a question and comes back with the answer as a new request. Nothing of this ends the task; the desk
//! is told and decides. Start at [`Calls::answer`].

use crate::arguments::Arguments;
use crate::bounds::{GRACE, MOST_CALLS, MOST_RUNS, PACE, PARKED, bounded};
use crate::desk::{Caller, Desk, Question, Report, Said};
use crate::own::call;
use crate::question;
use crate::talk::{Ask, Heard, Line, Progress};
use crate::tools::Own;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock, ElicitResult,
    InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The calls of one client.
pub(crate) struct Calls<D> {
    desk: Arc<D>,
    tasks: TaskTracker,
    runs: Arc<Semaphore>,
    others: Arc<Semaphore>,
    /// Whether the client has gone, or the server is told to stop.
    gone: CancellationToken,
    /// Calls whose client has been asked something and has to come back, by the state that it was given.
    parked: Mutex<HashMap<String, Underway>>,
}

/// A call under way. When it is dropped, nobody listens any more, and its questions are without an answer.
struct Underway {
    task: JoinHandle<Report>,
    heard: Heard,
    cancelled: CancellationToken,
    asked: BTreeMap<String, Ask>,
    _room: OwnedSemaphorePermit,
}

impl<D: Desk> Calls<D> {
    pub(crate) fn new(desk: Arc<D>, gone: CancellationToken, tasks: TaskTracker) -> Arc<Self> {
        Arc::new(Self {
            desk,
            tasks,
            runs: Arc::new(Semaphore::new(MOST_RUNS)),
            others: Arc::new(Semaphore::new(MOST_CALLS)),
            gone,
            parked: Mutex::default(),
        })
    }

    pub(crate) fn desk(&self) -> &D {
        &self.desk
    }

    /// Answers a call of a tool.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: CallToolRequestParams,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let plain = reads_data_first(caller.client.as_deref());
        let Some(tool) = Own::named(&request.name) else {
            let arguments = request.arguments.unwrap_or_default();
            let answered = self.quickly(self.desk.call_more(&request.name, arguments, &caller)).await?;
            let report = answered.ok_or_else(|| unknown(&request.name))?;
            return Ok(result(report, plain).into());
        };
        let underway = if let Some(state) = &request.request_state {
            // It is a call that is under way already, never one to begin again.
            match self.parked().remove(state) {
                Some(underway) => resume(underway, request.input_responses.unwrap_or_default()),
                None => {
                    let gone =
                        "this question is not open any more; `ability_status` shows how the run stands";
                    return Ok(result(Report::failure(gone), plain).into());
                }
            }
        } else {
            match self.begin(tool, request.arguments.unwrap_or_default(), caller, context) {
                Ok(underway) => underway,
                Err(report) => return Ok(result(report, plain).into()),
            }
        };
        match self.attend(underway, context).await {
            Attended::Over(report) => Ok(result(report, plain).into()),
            Attended::Asks(question) => Ok(question.into()),
        }
    }

    /// Begins a call.
    fn begin(
        self: &Arc<Self>,
        tool: Own,
        given: Map<String, Value>,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Underway, Report> {
        let arguments = Arguments::read(tool, &given).map_err(Report::failure)?;
        let room = if matches!(tool, Own::Run | Own::Submit) { &self.runs } else { &self.others };
        let room = room.clone().try_acquire_owned().map_err(|_| {
            Report::failure("too many calls are under way already; wait until some of them are over")
        })?;
        let cancelled = CancellationToken::new();
        let can_ask = question::can_ask(context.client_capabilities().as_ref());
        let (line, heard) = Line::new(cancelled.clone(), can_ask);
        let desk = self.desk.clone();
        let task = self.tasks.spawn(async move { call(&*desk, tool, arguments, given, caller, &line).await });
        Ok(Underway { task, heard, cancelled, asked: BTreeMap::new(), _room: room })
    }

    /// Passes on what a call says until it is over, or has a question that the client must come back for.
    async fn attend(
        self: &Arc<Self>,
        mut underway: Underway,
        context: &RequestContext<RoleServer>,
    ) -> Attended {
        let modern =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        // When the progress that was heard is told. One that the result follows at once is not: a client that gets both
        // together may look at them in the other order.
        let mut due: Option<Instant> = None;
        loop {
            let listening = !underway.cancelled.is_cancelled();
            tokio::select! {
                biased;
                () = context.ct.cancelled(), if listening => underway.cancelled.cancel(),
                () = self.gone.cancelled(), if listening => underway.cancelled.cancel(),
                report = &mut underway.task => return Attended::Over(report.unwrap_or_else(|error| {
                    Report::failure(format!("abide failed while it worked on this: {error}"))
                })),
                Some((question, answer)) = underway.heard.questions.recv() => {
                    if !modern {
                        ask(context, question, answer).await;
                        continue;
                    }
                    underway.asked.insert("question".to_owned(), (question, answer));
                    return Attended::Asks(self.park(underway));
                }
                Ok(()) = underway.heard.progress.changed(), if due.is_none() => due = Some(Instant::now() + PACE),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    due = None;
                    let told = underway.heard.progress.borrow_and_update().clone();
                    progress(context, told).await;
                }
            }
        }
    }

    /// Keeps a call until its client comes back with the answers to its questions.
    fn park(self: &Arc<Self>, underway: Underway) -> InputRequiredResult {
        let state = uuid::Uuid::new_v4().to_string();
        let requests = underway
            .asked
            .iter()
            .map(|(key, (question, _))| (key.clone(), InputRequest::Elicitation(question::form(question))))
            .collect();
        self.parked().insert(state.clone(), underway);
        let (calls, key) = (Arc::downgrade(self), state.clone());
        let gone = self.gone.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(PARKED) => {}
                () = gone.cancelled() => {}
            }
            if let Some(calls) = calls.upgrade()
                && let Some(underway) = calls.parked().remove(&key)
            {
                underway.cancelled.cancel();
            }
        });
        InputRequiredResult::new(Some(requests), Some(state))
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<String, Underway>> {
        // Nothing is done while it is held that could panic.
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets something quick be done for the client, unless too much is done for it already.
    pub(crate) async fn quickly<T>(&self, work: impl Future<Output = T>) -> Result<T, ErrorData> {
        let room = self.others.clone().try_acquire_owned();
        let _room =
            room.map_err(|_| ErrorData::internal_error("too many requests are under way already", None))?;
        Ok(work.await)
    }
}

/// Waits for calls to end; they have been told to.
pub(crate) async fn wind_up(tasks: &TaskTracker) {
    tasks.close();
    let _ = tokio::time::timeout(GRACE, tasks.wait()).await;
}

enum Attended {
    Over(Report),
    Asks(InputRequiredResult),
}

/// Gives a call the answers that its client came back with; what was not answered has no answer.
fn resume(mut underway: Underway, mut responses: InputResponses) -> Underway {
    for (key, (question, answer)) in std::mem::take(&mut underway.asked) {
        let response = responses.remove(&key).map(serde_json::from_value::<ElicitResult>);
        let said = match response {
            Some(Ok(result)) => question::said(&question, &result),
            Some(Err(_)) => Said::NoAnswer("the client sent an answer that cannot be read".to_owned()),
            None => Said::NoAnswer("the client sent no answer".to_owned()),
        };
        let _ = answer.send(said);
    }
    underway
}

async fn progress(context: &RequestContext<RoleServer>, told: Progress) {
    let Some(token) = context.meta.get_progress_token() else { return };
    #[expect(clippy::cast_precision_loss, reason = "a number of steps is small")]
    let total = told.total as f64;
    let told = ProgressNotificationParam::new(token, told.done).with_total(total).with_message(told.message);
    // A client that is not there any more is noticed elsewhere.
    let _ = context.peer.notify_progress(told).await;
}

/// Asks a client of before 2026-07-28, which is told by a request of ours, and waits for the answer beside the call.
async fn ask(context: &RequestContext<RoleServer>, question: Question, mut answer: oneshot::Sender<Said>) {
    let request = ServerRequest::ElicitRequest(question::form(&question));
    // It is sent from here, since the request that this call came with tells a client where the question belongs.
    let sent = context.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let mut handle = match sent {
        Ok(handle) => handle,
        Err(error) => {
            let _ = answer.send(Said::NoAnswer(format!("the client could not be asked: {error}")));
            return;
        }
    };
    tokio::spawn(async move {
        let response = tokio::select! {
            response = &mut handle.rx => response,
            // The desk does not wait any more.
            () = answer.closed() => {
                let _ = handle.cancel(Some("the question is over".to_owned())).await;
                return;
            }
        };
        let said = match response {
            Ok(Ok(ClientResult::ElicitResult(result))) => question::said(&question, &result),
            Ok(Ok(_)) => Said::NoAnswer("the client answered something else".to_owned()),
            Ok(Err(error)) => Said::NoAnswer(format!("the client could not ask: {error}")),
            Err(_) => Said::NoAnswer("the client is not there any more".to_owned()),
        };
        let _ = answer.send(said);
    });
}

/// Clients that show a model the data of an answer and not its text, which is written for a model.
const READ_DATA_FIRST: &[&str] = &["claude-code", "codex-mcp-client"];

fn reads_data_first(client: Option<&str>) -> bool {
    client.is_some_and(|client| READ_DATA_FIRST.contains(&client))
}

/// Returns a report as a client gets it.
fn result(report: Report, plain: bool) -> CallToolResult {
    let report = bounded(report);
    let text = vec![ContentBlock::text(report.text.clone())];
    let mut result = if report.failed { CallToolResult::error(text) } else { CallToolResult::success(text) };
    if !plain {
        let mut data = report.data;
        // A client that takes the data instead of the text must not lose what the text says.
        data.insert("text".to_owned(), Value::String(report.text));
        result.structured_content = Some(Value::Object(data));
    }
    result
}

fn unknown(name: &str) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    let names = Own::ALL.map(Own::name);
    let message = match abide_core::diagnostic::nearest(name, names) {
        Some(meant) => format!("there is no tool `{shown}`; did you mean `{meant}`?"),
        None => format!("there is no tool `{shown}`; there are {}", names.join(", ")),
    };
    ErrorData::invalid_params(message, None)
}

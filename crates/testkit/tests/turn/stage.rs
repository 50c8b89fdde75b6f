//! What the tests of the loop stand on: a scripted model, tools that are counted, a store in memory.

use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::event::{RunId, Timestamp};
use abide_core::model::{Message, ModelFacts, Part, Patience, ToolResult};
use abide_core::policy::ToolKind;
use abide_core::turn::{Conversation, Envelope, SessionCreated};
use abide_engine::port::{
    Beside, Clock, Confirm, ConfirmQuestion, Confirmation, Hear, Later, Model, ModelAnswer, ModelError,
    ModelRequest, NobodyToAsk, SessionId, Stop, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use abide_engine::toolbox::Toolbox;
use abide_engine::turn::{
    Agent, CallTree, Heard, ModelSeat, OpenGate, OwnTiers, Report, SessionLog, TurnError,
};
use abide_testkit::model::{ScriptedModel, Turn};
use abide_testkit::store::MemoryStore;
use abide_testkit::{ManualClock, RealClock};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A clock on which every wait is over at once.
#[derive(Default)]
pub(crate) struct HastyClock(RealClock);

impl Clock for HastyClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    async fn sleep_until(&self, _: Timestamp) {
        tokio::task::yield_now().await;
    }

    fn new_run(&self) -> RunId {
        self.0.new_run()
    }
}

/// A model that answers by how far the conversation is, and so says the same again when it is asked the same again.
#[derive(Clone)]
pub(crate) struct Steady {
    script: Arc<Vec<Turn>>,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Steady {
    pub(crate) fn new(script: Vec<Turn>) -> Self {
        Self { script: Arc::new(script), asked: Arc::default() }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Model for Steady {
    fn ask(&self, request: Arc<ModelRequest>, hear: Hear) -> Later<Result<ModelAnswer, ModelError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let said = request.messages.iter().filter(|message| matches!(message, Message::Model(_))).count();
        ScriptedModel::new(self.script.get(said).cloned()).ask(request, hear)
    }
}

/// A tool that notes each call and answers as it is told.
pub(crate) struct TestTool {
    spec: ToolSpec,
    pub(crate) calls: Arc<Mutex<Vec<Value>>>,
    answer: Box<dyn Fn(Value) -> Later<Result<ToolOutput, ToolError>> + Send + Sync>,
}

impl Tool for TestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        self.calls.lock().unwrap().push(arguments.clone());
        (self.answer)(arguments)
    }
}

pub(crate) fn spec(name: &str, risk: Risk) -> ToolSpec {
    ToolSpec {
        name: ToolName::parse(name).unwrap(),
        description: format!("the tool {name}"),
        arguments: json!({ "type": "object", "properties": { "n": { "type": "integer" } } }),
        kind: ToolKind::Other,
        risk,
        tier: Tier::Auto,
        beside: Beside::Others,
        examples: Vec::new(),
    }
}

pub(crate) fn tool(
    spec: ToolSpec,
    answer: impl Fn(Value) -> Later<Result<ToolOutput, ToolError>> + Send + Sync + 'static,
) -> (Arc<dyn Tool>, Arc<Mutex<Vec<Value>>>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let tool = TestTool { spec, calls: Arc::clone(&calls), answer: Box::new(answer) };
    (Arc::new(tool), calls)
}

/// A tool that answers with what it was given.
pub(crate) fn echo(name: &str, risk: Risk) -> (Arc<dyn Tool>, Arc<Mutex<Vec<Value>>>) {
    tool(spec(name, risk), |arguments| {
        Box::pin(async move { Ok(ToolOutput::Text(format!("got {arguments}"))) })
    })
}

/// A human who answers by a function, or never.
pub(crate) struct Human(pub(crate) Box<Says>);

type Says = dyn Fn(&ConfirmQuestion) -> Option<Confirmation> + Send + Sync;

impl Confirm for Human {
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation> {
        let answer = (self.0)(&question);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

pub(crate) fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(ManualClock::at(1_000)))
}

pub(crate) fn agent(model: impl Model, tools: Vec<Arc<dyn Tool>>) -> Agent<HastyClock> {
    agent_with(HastyClock::default(), model, tools)
}

pub(crate) fn agent_with<C: Clock>(clock: C, model: impl Model, tools: Vec<Arc<dyn Tool>>) -> Agent<C> {
    Agent {
        clock: Arc::new(clock),
        model: ModelSeat {
            model: Arc::new(model),
            name: "scripted".into(),
            facts: ModelFacts::default(),
            patience: Patience::default(),
        },
        system: "You are tested.".into(),
        toolbox: Toolbox::new(tools).unwrap(),
        schema: None,
        permissions: Arc::new(OwnTiers),
        gate: Arc::new(OpenGate),
        confirm: Arc::new(NobodyToAsk),
        tree: CallTree::new(Envelope { depth: 3, turns: Some(30), ..Envelope::default() }),
        watch: None,
    }
}

pub(crate) type AgentUnderTest = Agent<HastyClock>;

pub(crate) fn id() -> SessionId {
    SessionId::parse("session-1").unwrap()
}

pub(crate) async fn session(store: &Arc<MemoryStore>) -> SessionLog<MemoryStore> {
    let created = SessionCreated { agent: "tester".into(), model: "mock/one".into(), ..Default::default() };
    SessionLog::create(Arc::clone(store), id(), created).await.unwrap()
}

/// Reads the session back as somebody else would.
pub(crate) async fn again(store: &Arc<MemoryStore>) -> SessionLog<MemoryStore> {
    SessionLog::find(Arc::clone(store), id()).await.unwrap().unwrap()
}

pub(crate) fn said(text: &str) -> Vec<Part> {
    vec![Part::Text(text.into())]
}

pub(crate) async fn turn<C: Clock>(
    agent: &Agent<C>,
    session: &mut SessionLog<MemoryStore>,
    text: &str,
) -> Result<Report, TurnError> {
    agent.turn(session, said(text), None, &Stop::never()).await
}

/// Returns the results of every call, each as its words, with `!` before those that failed.
pub(crate) fn results(conversation: &Conversation) -> Vec<String> {
    let words = |result: &ToolResult| {
        let words: Vec<&str> = result
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Image(_) => "picture",
            })
            .collect();
        format!("{}{}", if result.is_error { "!" } else { "" }, words.join(" + "))
    };
    let results = conversation.messages.iter().filter_map(|message| match message {
        Message::Results(results) => Some(results.iter().map(words)),
        _ => None,
    });
    results.flatten().collect()
}

/// Keeps what a watch hears.
pub(crate) fn watched<C>(agent: &mut Agent<C>) -> Arc<Mutex<Vec<Heard>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    agent.watch = Some(Arc::new(move |heard| {
        kept.lock().unwrap().push(heard);
        Box::pin(std::future::ready(()))
    }));
    heard
}

/// Fails unless something ends within a time.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(time, work).await.unwrap_or_else(|_| panic!("it did not end within {time:?}"))
}

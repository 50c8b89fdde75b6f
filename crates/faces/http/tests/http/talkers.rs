//! Who talks in the sessions of tests: agents with their real tools, and a model that does what it is told.
//!
//! `call TOOL {…}` calls a tool and then says what came of it, `slow WORDS` says them slowly, `wait` never answers; everything else is
//! repeated.

use crate::house::TestClock;
use abide_core::capability::Conflicts;
use abide_core::capability::Tier;
use abide_core::model::{Arguments, Message, Part, Patience, Piece, ToolCall, Usage};
use abide_core::turn::{Envelope, Ruling};
use abide_engine::capability::CapabilityRegistry;
use abide_engine::port::ToolSpec;
use abide_engine::port::{
    Agents as _, AnswerEnd, Hear, Later, MessageRow, Model, ModelAnswer, ModelError, ModelEvent,
    ModelRequest, SessionRow,
};
use abide_engine::talk::{Host, Inbox, NoSeat};
use abide_engine::turn::{CallTree, ModelSeat, OpenGate, OwnTiers, Permissions, Seat};
use abide_store_sqlite::SqliteRegistry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A model that does what it is told, and keeps what that was.
#[derive(Clone, Default)]
pub(crate) struct TestModel(Arc<Mutex<Vec<String>>>);

impl TestModel {
    /// Returns the last thing that it was told, for each time that it was asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn text(parts: &[Part]) -> String {
    let text = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image(_) => None,
    });
    text.collect()
}

impl Model for TestModel {
    fn ask(&self, request: Arc<ModelRequest>, hear: Hear) -> Later<Result<ModelAnswer, ModelError>> {
        let told = match request.messages.last() {
            Some(Message::User(parts)) => text(parts),
            Some(Message::Results(results)) => {
                format!("result: {}", results.iter().map(|result| text(&result.parts)).collect::<String>())
            }
            _ => String::new(),
        };
        self.0.lock().unwrap().push(told.clone());
        Box::pin(async move {
            let answer =
                |pieces, end| Ok(ModelAnswer { pieces, structured: None, usage: Usage::default(), end });
            if let Some((tool, arguments)) = told.strip_prefix("call ").and_then(|call| call.split_once(' '))
            {
                let arguments = abide_formats::json::parse(arguments).unwrap();
                let call =
                    ToolCall { id: "1".into(), name: tool.into(), arguments: Arguments::Data(arguments) };
                return answer(vec![Piece::Call(call)], AnswerEnd::Calls);
            }
            if told.starts_with("wait") {
                std::future::pending::<()>().await;
            }
            let pause = Duration::from_millis(if told.starts_with("slow") { 20 } else { 0 });
            let said = format!("you said {told}");
            for word in said.split_inclusive(' ') {
                tokio::time::sleep(pause).await;
                hear(ModelEvent::Text(word.to_owned())).await;
            }
            hear(ModelEvent::End(AnswerEnd::Done)).await;
            answer(vec![Piece::Text(said)], AnswerEnd::Done)
        })
    }
}

/// Asks before `multiply`, which is as good as any.
struct Careful;

impl Permissions for Careful {
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        match tool.name.as_str() {
            "multiply" => Ruling { tier: Tier::Confirm, why: Some("it multiplies".to_owned()) },
            _ => OwnTiers.ruling(tool, arguments),
        }
    }
}

/// Puts agents together as the server does, with that model.
#[derive(Clone)]
pub(crate) struct TestHost {
    pub(crate) agents: SqliteRegistry,
    pub(crate) capabilities: CapabilityRegistry,
    pub(crate) inbox: Arc<Inbox<TestClock>>,
    pub(crate) model: TestModel,
    /// How often it was asked about a message that it can tell nothing of at first.
    pub(crate) away: Arc<AtomicUsize>,
}

impl TestHost {
    /// Fails as long as what the message needs is away, which it is for the first times.
    fn there(&self, text: &str, times: usize) -> Result<(), NoSeat> {
        if text == "away" && self.away.fetch_add(1, Ordering::SeqCst) < times {
            return Err(NoSeat::NotNow("the agents cannot be reached".to_owned()));
        }
        Ok(())
    }
}

impl Host for TestHost {
    fn seat(&self, session: &SessionRow, message: &MessageRow) -> Later<Result<Seat, NoSeat>> {
        let (host, session, text) = (self.clone(), session.clone(), message.text.clone());
        Box::pin(async move {
            host.there(&text, 2)?;
            let agent = host.agents.find(&session.agent).await.unwrap().ok_or("there is no such agent")?;
            let equipped = host
                .capabilities
                .equip(&agent.capabilities, &agent.system_prompt, Conflicts::Refuse)
                .unwrap();
            Ok(Seat {
                model: ModelSeat {
                    model: Arc::new(host.model),
                    name: "test".to_owned(),
                    facts: abide_core::model::ModelFacts::default(),
                    patience: Patience::default(),
                },
                model_name: "test/test".to_owned(),
                system: equipped.system_prompt,
                toolbox: equipped.toolbox,
                permissions: Arc::new(Careful),
                gate: Arc::new(OpenGate),
                confirm: host.inbox,
                tree: CallTree::new(Envelope::default()),
            })
        })
    }

    fn told(&self, _: &SessionRow, message: &MessageRow) -> Later<Result<String, NoSeat>> {
        let (host, text) = (self.clone(), message.text.clone());
        Box::pin(async move {
            // The third time is when it is told first: whoever answers was there by then.
            host.there(&text, 4)?;
            if text == "unusable" { Err("that cannot be told".into()) } else { Ok(text) }
        })
    }
}

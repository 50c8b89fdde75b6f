//! The twin of the port of models: it answers by a script, without a network.

use super::{Fault, Turn};
use abide_core::model::{Arguments, Piece, Retry, ToolCall, Usage};
use abide_engine::port::{
    AnswerEnd, Hear, Later, Model, ModelAnswer, ModelError, ModelEvent, ModelProblem, ModelRequest, TimeOut,
};
use abide_formats::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A model that answers by a list of turns, and keeps what it was asked; clones share both.
#[derive(Debug, Clone, Default)]
pub struct ScriptedModel(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    asked: Vec<Arc<ModelRequest>>,
}

impl ScriptedModel {
    /// Makes a model that says these turns, one for each question.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let turns = turns.into_iter().collect();
        Self(Arc::new(Mutex::new(State { turns, asked: Vec::new() })))
    }

    /// Returns every question, in order.
    pub fn asked(&self) -> Vec<Arc<ModelRequest>> {
        self.lock().asked.clone()
    }

    /// Returns how many turns nobody has asked for.
    pub fn left(&self) -> usize {
        self.lock().turns.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for ScriptedModel {
    fn ask(&self, request: Arc<ModelRequest>, hear: Hear) -> Later<Result<ModelAnswer, ModelError>> {
        let shared = self.clone();
        Box::pin(async move {
            let (turn, number) = {
                let mut state = shared.lock();
                state.asked.push(Arc::clone(&request));
                (state.turns.pop_front(), state.asked.len())
            };
            let turn = turn.unwrap_or_else(|| Turn::text("the script is over"));
            answer(turn, number, &request, &hear).await
        })
    }
}

/// Returns what a fault means, and how much of the answer comes before it.
fn failure(fault: &Fault, most: usize) -> Option<(ModelProblem, Retry, bool)> {
    let said = |text: &str| text.to_owned();
    Some(match fault {
        Fault::Slow(_) | Fault::Late(_) => return None,
        Fault::Huge(bytes) if *bytes <= most => return None,
        Fault::Huge(_) => (ModelProblem::TooLarge(most), Retry::Never, true),
        Fault::CutOff => (ModelProblem::CutOff, Retry::Later, true),
        Fault::Malformed => (ModelProblem::Malformed(said("an event is not JSON")), Retry::Later, true),
        Fault::FailsMidway => (ModelProblem::Overloaded(said("in the middle")), Retry::Later, true),
        Fault::TooManyRequests(wait) => {
            let wait = wait.map(|seconds| Retry::After(Duration::from_secs(seconds.into())));
            (ModelProblem::RateLimited(said("too many requests")), wait.unwrap_or(Retry::Later), false)
        }
        Fault::Overloaded => (ModelProblem::Overloaded(said("overloaded")), Retry::Later, false),
        Fault::Stalled => (ModelProblem::TimedOut(TimeOut::Silence), Retry::Later, true),
        Fault::Silent => (ModelProblem::TimedOut(TimeOut::Beginning), Retry::Later, false),
        Fault::Status(status, message) => match status {
            401 | 403 => (ModelProblem::Unauthorized(message.clone()), Retry::Never, false),
            500.. => {
                let problem = ModelProblem::Failed { status: *status, message: message.clone() };
                (problem, Retry::Later, false)
            }
            _ => (ModelProblem::Refused(message.clone()), Retry::Never, false),
        },
    })
}

async fn answer(
    turn: Turn,
    number: usize,
    request: &ModelRequest,
    hear: &Hear,
) -> Result<ModelAnswer, ModelError> {
    let usage = turn.tokens.map_or_else(Usage::default, |tokens| Usage {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cache_read,
        cache_write_tokens: tokens.cache_write,
    });
    let pause = match turn.fault {
        Some(Fault::Slow(pause)) => pause,
        _ => Duration::ZERO,
    };
    if let Some(Fault::Late(pause)) = turn.fault {
        tokio::time::sleep(pause).await;
    }
    let failure = turn.fault.as_ref().and_then(|fault| failure(fault, request.limits.bytes));
    if let Some((problem, retry, midway)) = failure {
        if midway {
            let half = turn.text.chars().take(turn.text.chars().count() / 2).collect();
            hear(ModelEvent::Text(half)).await;
        }
        return Err(ModelError { provider: "scripted".into(), problem, help: None, retry, usage });
    }
    let text = match turn.fault {
        Some(Fault::Huge(bytes)) => "x".repeat(bytes),
        _ => turn.text,
    };
    let mut pieces = Vec::new();
    if !text.is_empty() {
        for word in text.split_inclusive(' ') {
            tokio::time::sleep(pause).await;
            hear(ModelEvent::Text(word.to_owned())).await;
        }
        pieces.push(Piece::Text(text.clone()));
    }
    for (position, call) in turn.calls.into_iter().enumerate() {
        tokio::time::sleep(pause).await;
        let arguments = json::parse(&call.arguments.to_string())
            .map_or_else(|_| Arguments::Unreadable(call.arguments.to_string()), Arguments::Data);
        let call = ToolCall { id: format!("call_{number}_{position}"), name: call.name, arguments };
        hear(ModelEvent::Call(call.clone())).await;
        pieces.push(Piece::Call(call));
    }
    let end = if pieces.iter().any(|piece| matches!(piece, Piece::Call(_))) {
        AnswerEnd::Calls
    } else {
        AnswerEnd::Done
    };
    let structured = request.schema.as_ref().and_then(|_| json::parse(&text).ok());
    hear(ModelEvent::Usage(usage)).await;
    hear(ModelEvent::End(end)).await;
    Ok(ModelAnswer { pieces, structured, usage, end })
}

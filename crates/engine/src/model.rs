//! Asking a model until it answers: how often and with which waits is written here once, for every provider.

use crate::port::{Clock, Hear, Model, ModelAnswer, ModelError, ModelEvent, ModelRequest};
use abide_core::model::{Patience, Usage};
use std::sync::Arc;

/// Asks a model, and again after failures that pass, as patiently as it is told to be.
///
/// Before each further attempt [`ModelEvent::Again`] is heard: what was heard of the last one does not count. The usage
/// of the answer, or of the error, is that of all attempts.
pub async fn ask<C: Clock>(
    model: &dyn Model,
    clock: &C,
    patience: &Patience,
    request: Arc<ModelRequest>,
    hear: Hear,
) -> Result<ModelAnswer, ModelError> {
    let mut used = Usage::default();
    let mut made = 0;
    loop {
        made += 1;
        let mut error = match model.ask(Arc::clone(&request), Arc::clone(&hear)).await {
            Ok(answer) => return Ok(ModelAnswer { usage: used + answer.usage, ..answer }),
            Err(error) => error,
        };
        used += error.usage;
        error.usage = used;
        let Some(wait) = patience.wait(error.retry, made, &request.asker) else { return Err(error) };
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        hear(ModelEvent::Again { because: error.to_string(), wait: millis }).await;
        clock.sleep_until(clock.now().after(wait)).await;
    }
}

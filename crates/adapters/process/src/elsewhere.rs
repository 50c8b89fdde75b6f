//! The twin of `linux/`: systems on which nothing can be promised about the family of a process start none.

use std::io::PipeReader;

use abide_engine::port::{Cancel, Ending, ProcessError, Sink, Spec};

use crate::{Limits, LocalProcess};

pub(crate) fn adopt_orphans() {}

pub(crate) async fn run(
    local: &LocalProcess,
    spec: Spec,
    _input: Option<PipeReader>,
    _cancel: impl Cancel,
    _sink: impl Sink,
) -> Result<Ending, ProcessError> {
    let _ = (local.limits, local.strangers, &local.outer);
    Err(ProcessError::Start {
        program: spec.program,
        folder: spec.folder.display().to_string(),
        reason: "abide runs processes on Linux only, so far".to_owned(),
    })
}

pub(crate) async fn sweep(_limits: Limits, _marks: Vec<String>) -> usize {
    0
}

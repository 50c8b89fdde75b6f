//! One command of a body: run by a shell in the project, bounded in time and output.

use crate::Setting;
use abide_core::skill::text::Arguments;
use abide_engine::port::{Ending, Line, Process, Signal, Spec, Stream, Variable};
use std::sync::{Arc, Mutex, PoisonError};

/// How long one command may take.
const LONGEST: u64 = 30_000;
/// How much of its output is kept.
const MOST_OUTPUT: usize = 64 * 1024;

/// What came of a command.
pub(crate) enum Ran {
    /// What it wrote.
    Output(String),
    /// It ended badly.
    Failed { output: String, why: String },
    /// It was not started.
    Not(String),
}

/// Runs a command; the arguments are parameters of its shell.
pub(crate) async fn run<P: Process>(
    process: &P,
    command: &str,
    arguments: &Arguments,
    setting: &Setting<'_>,
    number: usize,
) -> Ran {
    let mut words = vec!["-c".to_owned(), command.to_owned(), "skill".to_owned()];
    words.extend(arguments.words.iter().cloned());
    let variable = |name: &str, value: String| Variable { name: name.to_owned(), value, secret: false };
    let spec = Spec {
        program: "/bin/sh".to_owned(),
        arguments: words,
        folder: setting.project.to_path_buf(),
        variables: vec![
            variable("ARGUMENTS", arguments.raw.clone()),
            variable("ABIDE_SKILL_DIR", setting.folder.display().to_string()),
            variable("CLAUDE_SKILL_DIR", setting.folder.display().to_string()),
        ],
        without: setting.without.to_vec(),
        longest: Some(LONGEST),
        mark: format!("{}-{number}", setting.mark),
    };
    let kept = Arc::new(Mutex::new(Kept::default()));
    let sink = {
        let kept = Arc::clone(&kept);
        move |line: Line| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).take(&line);
            std::future::ready(())
        }
    };
    let ending = process.run(spec, std::future::pending::<Signal>, sink).await;
    let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
    let why = match ending {
        Ok(Ending::Exited(0)) => return Ran::Output(kept.output()),
        Ok(Ending::Exited(code)) => format!("exit code {code}"),
        Ok(Ending::Signalled(signal)) => format!("signal {signal}"),
        Ok(Ending::TimedOut) => format!("it took longer than {} seconds", LONGEST / 1_000),
        Ok(Ending::Cancelled) => "it was cancelled".to_owned(),
        Err(error) => return Ran::Not(error.to_string()),
    };
    let errors = String::from_utf8_lossy(&kept.errors).trim().to_owned();
    let output = format!("{}\n{errors}", kept.output()).trim().to_owned();
    Ran::Failed { output, why }
}

/// What a command wrote, as far as it is kept.
#[derive(Default)]
struct Kept {
    output: Vec<u8>,
    errors: Vec<u8>,
    dropped: usize,
}

impl Kept {
    fn take(&mut self, line: &Line) {
        let (into, most) = match line.stream {
            Stream::Stdout => (&mut self.output, MOST_OUTPUT),
            Stream::Stderr => (&mut self.errors, MOST_OUTPUT / 8),
        };
        let taken = line.bytes.len().min(most - into.len());
        into.extend_from_slice(&line.bytes[..taken]);
        if line.stream == Stream::Stdout {
            self.dropped += line.bytes.len() - taken;
        }
    }

    fn output(&self) -> String {
        let text = String::from_utf8_lossy(&self.output);
        match self.dropped {
            0 => text.into_owned(),
            dropped => format!("{text}\n[{dropped} more bytes were left out]"),
        }
    }
}

//! What is typed, and who is asked.

use crate::ui::visible::visible;
use abide_core::turn::cut;
use abide_engine::port::{Confirm, ConfirmQuestion, Confirmation, Later};
use std::io::BufRead as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The lines of standard input, read when somebody wants one.
pub(super) struct Lines(Option<UnboundedReceiver<String>>);

/// The longest line; what is longer is cut.
const LONGEST: usize = 1 << 20;

impl Lines {
    pub(super) fn new() -> Self {
        Self(None)
    }

    /// Waits for the next line; there is none at the end.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.0.get_or_insert_with(read).recv().await
    }

    /// Throws away what was typed before a question was asked: it is no answer to it.
    pub(super) fn forget(&mut self) {
        if let Some(lines) = &mut self.0 {
            while lines.try_recv().is_ok() {}
        }
    }
}

/// Reads on a thread of its own: a read from a terminal cannot be given up.
fn read() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(cut(&line, LONGEST)).is_err() {
                break;
            }
        }
    });
    receiver
}

/// A question that stands on the terminal.
pub(super) struct Asked {
    question: ConfirmQuestion,
    by: String,
    answer: oneshot::Sender<Confirmation>,
}

impl Asked {
    pub(super) fn text(&self) -> String {
        let arguments = cut(&self.question.arguments.to_string(), 2_000);
        format!(
            "\n{}\n  {} {}\nmay it? [y/N] ",
            visible(&self.question.why, true),
            visible(&self.question.tool, true),
            visible(&arguments, true)
        )
    }

    /// Takes what was typed: only a clear yes is one.
    pub(super) fn answer(self, line: Option<&str>) {
        let by = self.by;
        let answer = match line.map(|line| line.trim().to_ascii_lowercase()) {
            Some(line) if line == "y" || line == "yes" => Confirmation::Yes { by },
            Some(line) if line.is_empty() || line == "n" || line == "no" => {
                Confirmation::No { by, why: None }
            }
            Some(line) => Confirmation::No { by, why: Some(line) },
            None => Confirmation::Nobody,
        };
        // Nobody waits any more if the minute is over.
        let _ = self.answer.send(answer);
    }
}

/// Asks whoever sits at the terminal.
pub(super) struct TerminalConfirm {
    asking: UnboundedSender<Asked>,
    by: String,
}

impl TerminalConfirm {
    pub(super) fn new(asking: UnboundedSender<Asked>, by: String) -> Self {
        Self { asking, by }
    }
}

impl Confirm for TerminalConfirm {
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation> {
        let (answer, answered) = oneshot::channel();
        let sent = self.asking.send(Asked { question, by: self.by.clone(), answer }).is_ok();
        Box::pin(async move {
            if !sent {
                return Confirmation::Nobody;
            }
            answered.await.unwrap_or(Confirmation::Nobody)
        })
    }
}

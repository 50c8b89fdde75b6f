//! What is typed, and who is asked.

use crate::builtin::Human;
use crate::ui::visible::visible;
use abide_core::turn::cut;
use abide_engine::port::{Confirm, ConfirmQuestion, Confirmation, Later};
use abide_mcp::desk::{Question, Said};
use std::io::BufRead as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The lines of standard input, read when somebody wants one.
pub(in crate::commands) struct Lines(Option<UnboundedReceiver<String>>);

/// The longest line; what is longer is cut.
const LONGEST: usize = 1 << 20;

impl Lines {
    pub(in crate::commands) fn new() -> Self {
        Self(None)
    }

    /// Waits for the next line; there is none at the end.
    pub(in crate::commands) async fn next(&mut self) -> Option<String> {
        self.0.get_or_insert_with(read).recv().await
    }

    /// Throws away what was typed before a question was asked: it is no answer to it.
    pub(in crate::commands) fn forget(&mut self) {
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

/// Something that whoever sits at the terminal is asked or told while the agent works.
pub(in crate::commands) enum Asked {
    /// Whether a call may be made.
    Call { question: ConfirmQuestion, by: String, answer: oneshot::Sender<Confirmation> },
    /// What a run asks.
    Run { question: Question, answer: oneshot::Sender<Said> },
    /// Nothing: how far a run is.
    Progress(String),
}

impl Asked {
    pub(in crate::commands) fn text(&self) -> String {
        match self {
            Self::Call { question, .. } => {
                let arguments = cut(&question.arguments.to_string(), 2_000);
                format!(
                    "\n{}\n  {} {}\nmay it? [y/N] ",
                    visible(&question.why, true),
                    visible(&question.tool, true),
                    visible(&arguments, true)
                )
            }
            Self::Run { question, .. } => {
                let options = visible(&question.options.join(" / "), true).into_owned();
                format!("\n? {}\n  {options} (Enter alone: not now) ", visible(&question.message, true))
            }
            Self::Progress(message) => format!("… {}\n", visible(message, true)),
        }
    }

    pub(in crate::commands) fn is_question(&self) -> bool {
        !matches!(self, Self::Progress(_))
    }

    /// Waits until nobody waits for the answer any more.
    pub(in crate::commands) async fn closed(&mut self) {
        match self {
            Self::Call { answer, .. } => answer.closed().await,
            Self::Run { answer, .. } => answer.closed().await,
            Self::Progress(_) => {}
        }
    }

    /// Takes what was typed; returns the question if that is no answer to it.
    ///
    /// Only a clear yes is one. Nobody waits any more if the time is over, and then it does not matter.
    pub(in crate::commands) fn answer(self, line: Option<&str>) -> Option<Self> {
        let typed = line.map(str::trim);
        match self {
            Self::Call { by, answer, .. } => {
                let said = match typed.map(str::to_ascii_lowercase) {
                    Some(line) if line == "y" || line == "yes" => Confirmation::Yes { by },
                    Some(line) if line.is_empty() || line == "n" || line == "no" => {
                        Confirmation::No { by, why: None }
                    }
                    Some(line) => Confirmation::No { by, why: Some(line) },
                    None => Confirmation::Nobody,
                };
                let _ = answer.send(said);
                None
            }
            Self::Run { question, answer } => {
                let said = match typed {
                    None => Said::NoAnswer("nothing can be typed any more".to_owned()),
                    Some("") => Said::NoAnswer("not now".to_owned()),
                    Some(line) => match chosen(&question.options, line) {
                        Some((option, comment)) => Said::Chosen { option, comment },
                        None => return Some(Self::Run { question, answer }),
                    },
                };
                let _ = answer.send(said);
                None
            }
            Self::Progress(_) => None,
        }
    }
}

/// Returns the option that a line means, and what is said about it: its label, or the beginning of one that fits no other.
pub(in crate::commands) fn chosen(options: &[String], line: &str) -> Option<(String, Option<String>)> {
    let line = line.trim();
    let lower = line.to_lowercase();
    let comment = |rest: &str| Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    // The longest first: one label may begin another.
    let mut sorted: Vec<&String> = options.iter().collect();
    sorted.sort_by_key(|label| std::cmp::Reverse(label.len()));
    for option in sorted {
        if let Some(rest) = lower.strip_prefix(&option.to_lowercase())
            && (rest.is_empty() || rest.starts_with([' ', ':', ',']))
        {
            let rest = line.chars().skip(option.chars().count()).collect::<String>();
            return Some((option.clone(), comment(rest.trim_start_matches([' ', ':', ',']))));
        }
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let meant = match word.to_lowercase().as_str() {
        "" => return None,
        "y" | "yes" => "approve".to_owned(),
        "n" | "no" => "reject".to_owned(),
        word => word.to_owned(),
    };
    let mut fitting = options.iter().filter(|option| option.to_lowercase().starts_with(&meant));
    match (fitting.next(), fitting.next()) {
        (Some(option), None) => Some((option.clone(), comment(rest))),
        _ => None,
    }
}

/// Asks whoever sits at the terminal.
pub(in crate::commands) struct AtTerminal {
    asking: UnboundedSender<Asked>,
    by: String,
}

impl AtTerminal {
    pub(in crate::commands) fn new(asking: UnboundedSender<Asked>, by: String) -> Self {
        Self { asking, by }
    }
}

impl Confirm for AtTerminal {
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation> {
        let (answer, answered) = oneshot::channel();
        let sent = self.asking.send(Asked::Call { question, by: self.by.clone(), answer }).is_ok();
        Box::pin(async move {
            if !sent {
                return Confirmation::Nobody;
            }
            answered.await.unwrap_or(Confirmation::Nobody)
        })
    }
}

impl Human for AtTerminal {
    fn ask(&self, question: Question) -> Later<Said> {
        let (answer, answered) = oneshot::channel();
        let sent = self.asking.send(Asked::Run { question, answer }).is_ok();
        Box::pin(async move {
            if !sent {
                return Said::Unsupported;
            }
            answered.await.unwrap_or_else(|_| Said::NoAnswer("the question was taken back".to_owned()))
        })
    }

    fn progress(&self, message: &str) {
        // Whoever shows it may be gone.
        let _ = self.asking.send(Asked::Progress(message.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_an_option_its_beginning_or_a_plain_yes_with_a_comment() {
        let options = ["Approve".to_owned(), "Approve all".to_owned(), "Reject".to_owned()];
        let said = |line: &str| chosen(&options, line);
        let option = |option: &str, comment: Option<&str>| Some((option.into(), comment.map(Into::into)));
        assert_eq!(said("approve"), option("Approve", None));
        assert_eq!(said("APPROVE ALL"), option("Approve all", None));
        assert_eq!(said("approve all, it is late"), option("Approve all", Some("it is late")));
        assert_eq!(said("reject not on a friday"), option("Reject", Some("not on a friday")));
        assert_eq!(said("r"), option("Reject", None));
        assert_eq!(said("no thanks"), option("Reject", Some("thanks")));
        for none in ["", "a", "maybe", "approved?", "rejectall"] {
            assert_eq!(said(none), None, "{none}");
        }
        let two = ["approve".to_owned(), "reject".to_owned()];
        assert_eq!(chosen(&two, "y"), option("approve", None));
    }
}

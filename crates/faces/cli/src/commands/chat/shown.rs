//! What is shown of a turn: words as data, everything else as talk.

use crate::Failure;
use crate::session::Session;
use crate::ui::json::from_value;
use crate::ui::visible::visible;
use abide_core::model::{Arguments, Piece};
use abide_core::turn::{Decision, TurnEnd, TurnEvent, cut};
use abide_engine::turn::Heard;

/// How much of a tool's arguments is shown.
const SHOWN: usize = 200;

/// What is shown of one turn.
pub(in crate::commands) struct Shown {
    session: String,
    /// Whether what was printed last is in the middle of a line.
    open: bool,
}

impl Shown {
    pub(in crate::commands) fn new(session: String) -> Self {
        Self { session, open: false }
    }

    pub(in crate::commands) fn tell(
        &mut self,
        session: &mut Session<'_>,
        heard: Heard,
    ) -> Result<(), Failure> {
        if session.json {
            return match heard {
                Heard::Happened(event) => session.print(&self.line(&event)),
                _ => Ok(()),
            };
        }
        match heard {
            Heard::Text(text) => {
                // Line ends are the model's; any other control character could play with the terminal.
                let text = text
                    .split('\n')
                    .map(|line| visible(line, true).into_owned())
                    .collect::<Vec<_>>()
                    .join("\n");
                self.open = !text.ends_with('\n');
                session.print(&text)
            }
            Heard::Again { because, .. } => {
                self.close(session)?;
                session.say(&format!("({}; asked again)\n", visible(&because, true)))
            }
            Heard::Calling(call) => {
                self.close(session)?;
                let arguments = match &call.arguments {
                    Arguments::Data(value) => value.to_string(),
                    Arguments::Unreadable(text) => text.clone(),
                };
                let arguments = cut(&arguments, SHOWN).replace('\n', " ");
                session.say(&format!("→ {} {}\n", visible(&call.name, true), visible(&arguments, true)))
            }
            Heard::Happened(TurnEvent::Decided { decision: Decision::Denied { why, .. }, .. }) => {
                self.close(session)?;
                session.say(&format!("✗ {}\n", visible(&why.replace('\n', " "), true)))
            }
            Heard::Happened(TurnEvent::Answered(answered))
                if answered.pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) =>
            {
                self.close(session)
            }
            Heard::Happened(TurnEvent::Held { why }) => {
                self.close(session)?;
                session.say(&format!("✗ it may not stop yet: {}\n", visible(&why.replace('\n', " "), true)))
            }
            Heard::Happened(TurnEvent::Compacted(_)) => {
                session.say("(the conversation was too long, and is summarised)\n")
            }
            Heard::Thought(_) | Heard::Happened(_) => Ok(()),
        }
    }

    /// Says something that is not the agent's, on a line of its own.
    pub(in crate::commands) fn say(&mut self, session: &mut Session<'_>, text: &str) -> Result<(), Failure> {
        self.close(session)?;
        session.say(text)
    }

    /// Says how the turn ended, if it did not end as it should.
    pub(in crate::commands) fn end(
        &mut self,
        session: &mut Session<'_>,
        end: &TurnEnd,
    ) -> Result<(), Failure> {
        self.close(session)?;
        match end {
            TurnEnd::Finished => Ok(()),
            end => session.say(&format!("✗ {}\n", visible(&end.to_string(), true))),
        }
    }

    fn close(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        if std::mem::take(&mut self.open) { session.print("\n") } else { Ok(()) }
    }

    /// Returns an event as one line of JSON.
    fn line(&self, event: &TurnEvent) -> String {
        let data = abide_formats::turn::write(event);
        let data = abide_formats::json::parse(&data).map(|data| from_value(&data)).unwrap_or_default();
        format!(
            "{}\n",
            serde_json::json!({ "session": self.session, "type": event.kind().word(), "data": data })
        )
    }
}

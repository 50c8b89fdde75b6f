//! An eager agent: it tries one thing after another in a single session, and keeps what it was told about each.

use crate::stage::Stage;
use abide_testkit::client::Client;
use abide_testkit::model::{ModelServer, ToolCall, Turn};

/// Something that the agent tries.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// What it is, in a few words.
    pub(crate) name: String,
    call: ToolCall,
    /// What it must be told, word for word in one of these.
    told: Vec<&'static str>,
}

impl Attempt {
    /// Tries a call of which one of these texts must be told.
    pub(crate) fn new(name: impl Into<String>, call: ToolCall, told: &'static [&'static str]) -> Self {
        Self::one_of(name, call, told.to_vec())
    }

    /// The same, of texts that are put together.
    pub(crate) fn one_of(name: impl Into<String>, call: ToolCall, told: Vec<&'static str>) -> Self {
        Self { name: name.into(), call, told }
    }
}

impl<C: Client> Stage<C> {
    /// Lets the agent try everything in one session, one call a turn; returns what was told of each.
    ///
    /// Fails with the name of every attempt that was not answered as it must be.
    pub(crate) async fn tries(&self, attempts: &[Attempt]) -> Vec<String> {
        let mut turns: Vec<Turn> = attempts.iter().map(|attempt| Turn::call(attempt.call.clone())).collect();
        turns.push(Turn::text("I have tried everything"));
        let server = ModelServer::start(turns).unwrap();
        let outcome = self.run(self.launch("try everything", &server)).await;
        let turns = server.turns();
        let offered: Vec<&str> = turns[0].tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(server.surprises(), [""; 0], "offered {offered:?}\n{outcome:#?}");
        let told = turns[1..].iter().map(|turn| {
            turn.new_results().iter().map(|result| result.text.as_str()).collect::<Vec<_>>().join("\n")
        });
        let told: Vec<String> = told.collect();
        let wrong: Vec<String> = attempts
            .iter()
            .zip(&told)
            .filter(|(attempt, told)| !tells_of(told, &attempt.told))
            .map(|(attempt, told)| format!("{} was told {}", attempt.name, shortened(told)))
            .collect();
        assert!(wrong.is_empty(), "offered {offered:?}\n{}", wrong.join("\n"));
        told
    }
}

/// Returns whether a text has one of several in it.
pub(crate) fn tells_of(text: &str, wanted: &[&str]) -> bool {
    wanted.iter().any(|wanted| text.contains(wanted))
}

fn shortened(text: &str) -> String {
    text.chars().take(600).collect::<String>().escape_debug().to_string()
}

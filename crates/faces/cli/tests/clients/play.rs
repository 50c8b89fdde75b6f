//! An agent that plays its part in a run: what it does next may name the run, and a human may act in between.

use crate::attempt::tells_of;
use crate::stage::Stage;
use abide_testkit::client::{Client, Outcome};
use abide_testkit::model::{ModelServer, Request, Role, Script, ToolCall, Turn};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// One thing that the agent does, and what it must be told of it.
pub(crate) struct Beat {
    name: &'static str,
    make: Box<dyn FnMut(&str) -> Turn + Send>,
    told: &'static [&'static str],
}

impl Beat {
    /// Calls a tool.
    pub(crate) fn call(name: &'static str, call: ToolCall, told: &'static [&'static str]) -> Self {
        Self { name, make: Box::new(move |_| Turn::call(call.clone())), told }
    }

    /// Calls a tool with the id of the run.
    pub(crate) fn about(
        name: &'static str,
        mut call: impl FnMut(&str) -> ToolCall + Send + 'static,
        told: &'static [&'static str],
    ) -> Self {
        Self { name, make: Box::new(move |run| Turn::call(call(run))), told }
    }

    /// Says something, and wants to stop with it.
    pub(crate) fn stop(text: &'static str, told: &'static [&'static str]) -> Self {
        Self { name: text, make: Box::new(move |_| Turn::text(text)), told }
    }

    /// Does the same after a human has run abide with these words; `RUN` stands for the run.
    pub(crate) fn after(mut self, mut command: Command, words: &'static [&'static str]) -> Self {
        let mut make = self.make;
        self.make = Box::new(move |run| {
            let words = words.iter().map(|word| if *word == "RUN" { run } else { word });
            let output = command.args(words).output().unwrap();
            assert!(output.status.success(), "{command:?}: {output:#?}");
            make(run)
        });
        self
    }
}

/// What was asked of the model, in the order in which it came.
type Told = Arc<Mutex<Vec<(String, String)>>>;

/// A part in a run that is being played.
pub(crate) struct Play {
    pub(crate) server: ModelServer,
    told: Told,
    expected: Vec<(&'static str, &'static [&'static str])>,
}

impl Play {
    /// Makes a model that plays a part; `run` is the run, when it began in an earlier session.
    pub(crate) fn new(beats: Vec<Beat>, run: Option<String>) -> Self {
        let expected = beats.iter().map(|beat| (beat.name, beat.told)).collect();
        let told: Told = Arc::default();
        let heard = Arc::clone(&told);
        let (mut beats, mut run) = (beats.into_iter(), run.unwrap_or_default());
        let script = Script::function(move |request| {
            let news = news(request);
            if run.is_empty() {
                run = run_of(&news);
            }
            heard.lock().unwrap().push((run.clone(), news));
            beats.next().map_or_else(|| Turn::text("that is all"), |mut beat| (beat.make)(&run))
        });
        Self { server: ModelServer::start(script).unwrap(), told, expected }
    }

    /// Checks what was told of each beat; returns the run.
    pub(crate) fn check(self, outcome: &Outcome) -> String {
        let told = self.told.lock().unwrap();
        let wrong: Vec<String> = self
            .expected
            .iter()
            .enumerate()
            .filter_map(|(number, (name, wanted))| match told.get(number + 1) {
                Some((_, news)) if tells_of(news, wanted) => None,
                Some((_, news)) => {
                    let news: String = news.chars().take(900).collect();
                    Some(format!("{name} was told {}", news.escape_debug()))
                }
                None => Some(format!("{name} was told nothing")),
            })
            .collect();
        assert!(wrong.is_empty(), "{}\n{}\n{}", wrong.join("\n"), outcome.stdout, outcome.stderr);
        // What follows the last beat is the end, and nothing else.
        assert_eq!(told.len(), self.expected.len() + 1, "{told:#?}");
        told.last().map(|(run, _)| run.clone()).unwrap_or_default()
    }
}

impl<C: Client> Stage<C> {
    /// Plays a part in a new session; returns the run and how the session ended.
    pub(crate) async fn plays(&self, prompt: &str, beats: Vec<Beat>) -> (String, Outcome) {
        let play = Play::new(beats, None);
        let outcome = self.run(self.launch(prompt, &play.server)).await;
        (play.check(&outcome), outcome)
    }

    /// Plays a part in a session that was there before.
    pub(crate) async fn plays_on(
        &self,
        session: &str,
        run: &str,
        prompt: &str,
        beats: Vec<Beat>,
    ) -> Arc<Request> {
        let play = Play::new(beats, Some(run.to_owned()));
        let outcome = self.run(self.launch(prompt, &play.server).resuming(session)).await;
        let first = play.server.turns().swap_remove(0);
        play.check(&outcome);
        first
    }
}

/// Returns what a model is told since its last word.
fn news(request: &Request) -> String {
    let said = request.messages.iter().rposition(|message| message.role == Role::Assistant);
    let news = &request.messages[said.map_or(0, |position| position + 1)..];
    let texts = news.iter().flat_map(|message| {
        std::iter::once(message.text.as_str())
            .chain(message.results.iter().map(|result| result.text.as_str()))
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the run that a model was told of.
pub(crate) fn run_in(request: &Request) -> String {
    let results = request.messages.iter().flat_map(|message| &message.results);
    results.map(|result| run_of(&result.text)).find(|run| !run.is_empty()).unwrap_or_default()
}

/// Returns the first id in a text.
fn run_of(text: &str) -> String {
    let mut words = text.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
    let is_id =
        |word: &&str| word.len() == 36 && [8, 13, 18, 23].iter().all(|at| word.as_bytes()[*at] == b'-');
    words.find(is_id).unwrap_or_default().to_owned()
}

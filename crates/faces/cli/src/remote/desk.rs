//! What `abide mcp --server URL` answers: abilities and runs of a server, for the agent of a client.
//!
//! A run at a server holds nobody's session: no hook here knows it, and no step of it is in the agent's hands. So whatever rests on that
//! is refused: an ability that only certain agents may run, since nobody proves who asks; a step that is the session's own, which the
//! server refuses itself; ending a run that the ability does not let an agent end. What is protected on this machine stays protected.

use super::Remote;
use abide_mcp::desk::{
    Caller, Cancellation, Content, Desk, Report, Resource, Start, Subject, Submission, Talk, Unreadable,
};
use abide_sdk::{Abide, Error, Execute, Run, RunStatus, Until};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a call is held while a run goes on; the shortest limit that a client sets by itself is a minute.
const HOLD: Duration = Duration::from_secs(45);

const INSTRUCTIONS: &str = "abide runs abilities: workflows whose steps are enforced. Here they run at a server: `ability_list` shows \
what there is, `ability_run` starts one, `ability_status` waits for what follows. All their steps are done there, and none is yours. \
Approvals are given by a human, never by you.";

/// The desk of a server.
pub(crate) struct RemoteDesk {
    abide: Abide,
    /// The beginning of every command that asks the server.
    typed: String,
    /// The run that was started here last; there is one at a time.
    mine: Mutex<Option<String>>,
}

impl RemoteDesk {
    pub(super) fn new(remote: Remote) -> Self {
        Self { abide: remote.abide, typed: remote.typed, mine: Mutex::default() }
    }

    fn mine(&self) -> MutexGuard<'_, Option<String>> {
        self.mine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a run that was named, or the caller's own.
    fn named(&self, run: Option<String>) -> Option<String> {
        run.or_else(|| self.mine().clone())
    }

    /// Refuses a second run beside one that is not over.
    async fn check_free(&self) -> Result<(), Report> {
        let Some(run) = self.mine().clone() else { return Ok(()) };
        match self.abide.runs().get(&run).await {
            Ok(shown) if !shown.status.is_over() => Err(Report::failure(format!(
                "run {run} of `{}` is {}: one at a time; `ability_status` waits for it",
                shown.ability,
                shown.status.word()
            ))),
            Ok(_) | Err(Error::Problem(_)) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Refuses what only certain agents may run: nothing here proves which agent asks.
    async fn check_open(&self, ability: &str) -> Result<(), Report> {
        let shown = self.abide.abilities().get(ability).await.map_err(|error| refused(&error))?;
        let definition = &shown["definition"];
        let names = ["exclusive_agent", "compatible_agents"];
        match names.into_iter().find(|name| !definition[*name].is_null()) {
            None => Ok(()),
            Some(name) => Err(Report::failure(format!(
                "`{ability}` names its agents (`{name}`), and a server cannot know which agent of this session asks: a human starts it \
                 with `{} run {ability}`",
                self.typed
            ))),
        }
    }

    async fn begin(&self, asked: Start) -> Result<String, Report> {
        self.check_free().await?;
        self.check_open(&asked.ability).await?;
        let mut execute = Execute::new(asked.ability);
        for (name, value) in asked.inputs {
            execute = execute.input(name, value);
        }
        if let Some(text) = asked.input {
            execute = execute.text(text);
        }
        let head = self.abide.abilities().execute(execute).await.map_err(|error| refused(&error))?;
        *self.mine() = Some(head.run.clone());
        Ok(head.run)
    }

    /// Waits for what follows in a run, for as long as a call can be held, and reports it.
    async fn settled(&self, run: &str, until: Until, talk: Option<&dyn Talk>) -> Report {
        let runs = self.abide.runs();
        let cancelled = async {
            match talk {
                Some(talk) => talk.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let seen = tokio::select! {
            seen = runs.wait_for(run, until) => seen,
            () = tokio::time::sleep(HOLD) => runs.get(run).await,
            () = cancelled => runs.get(run).await,
        };
        match seen {
            Ok(shown) => self.report(&shown),
            Err(error) => refused(&error),
        }
    }

    fn report(&self, run: &Run) -> Report {
        let (id, typed) = (&run.run, &self.typed);
        let done =
            run.steps.iter().filter(|step| matches!(step.status.as_str(), "completed" | "skipped")).count();
        let mut text = format!(
            "run {id} of `{}` is {}, {done} of {} steps done",
            run.ability,
            run.status.word(),
            run.steps.len()
        );
        if let Some(error) = &run.error {
            // Writing to a string cannot fail.
            let _ = write!(text, ": {error}");
        }
        text.push_str(".\n");
        for step in &run.steps {
            let note = step.note.as_deref().map(|note| format!(" – {note}")).unwrap_or_default();
            let _ = writeln!(text, "- {}: {}{note}", step.step, step.status);
        }
        let asks = asked(run);
        for (run, what) in &asks {
            let _ = writeln!(
                text,
                "It waits for a human: {what}\nThe user answers with `{typed} approve {run}` or `{typed} reject {run}` in a terminal; \
                 you cannot. Tell them, and stop here: `ability_status` goes on when it is answered."
            );
        }
        match run.status {
            RunStatus::Interrupted => {
                let _ = writeln!(
                    text,
                    "A step was interrupted, and nobody knows how far it came. A human must decide: `{typed} resume {id} --rerun` or \
                     `{typed} resume {id} --fail`."
                );
            }
            RunStatus::Running if asks.is_empty() => {
                text.push_str("The server is still at it; call `ability_status` to wait for what follows.\n");
            }
            _ => {}
        }
        let waits: Vec<Value> =
            asks.iter().map(|(run, what)| json!({ "run": run, "prompt": what })).collect();
        let data = Map::from_iter([
            ("run".to_owned(), json!(id)),
            ("ability".to_owned(), json!(run.ability)),
            ("status".to_owned(), json!(run.status.word())),
            ("error".to_owned(), json!(run.error)),
            ("done".to_owned(), json!(done)),
            ("total".to_owned(), json!(run.steps.len())),
            ("waits_for".to_owned(), waits.into()),
        ]);
        Report { text, data, failed: false }
    }

    /// Ends a run where its ability lets an agent do that.
    async fn end(&self, asked: Cancellation) -> Result<String, Report> {
        let Some(run) = self.named(asked.run) else { return Err(Report::failure(NO_RUN)) };
        let shown = self.abide.runs().get(&run).await.map_err(|error| refused(&error))?;
        let ability = self.abide.abilities().get(&shown.ability).await.map_err(|error| refused(&error))?;
        let level = ability["enforcement"]["level"].as_str().unwrap_or("strict");
        if level != "loose" {
            return Err(Report::failure(format!(
                "`{}` is {level}: to end a run of it is a human's right, with `{} cancel {run}`",
                shown.ability, self.typed
            )));
        }
        let ended = self.abide.runs().cancel(&run, asked.reason.as_deref()).await;
        ended.map(|_| run).map_err(|error| refused(&error))
    }

    async fn listed(&self) -> Result<Report, Error> {
        let listing = self.abide.abilities().listing().await?;
        let (mut text, mut abilities) = (String::new(), Vec::new());
        for row in
            listing["abilities"].as_array().into_iter().flatten().filter(|row| row["status"] == "usable")
        {
            let inputs: Vec<&str> =
                row["inputs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let word = |name: &str| row[name].as_str().unwrap_or_default().trim().to_owned();
            let takes =
                if inputs.is_empty() { String::new() } else { format!(" (inputs: {})", inputs.join(", ")) };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {}: {}{takes}", word("name"), word("description"));
            abilities.push(json!({
                "name": row["name"], "description": row["description"], "inputs": inputs, "steps": row["steps"],
            }));
        }
        if text.is_empty() {
            text.push_str("the server has no ability that can be run");
        }
        Ok(Report { text, data: Map::from_iter([("abilities".to_owned(), abilities.into())]), failed: false })
    }
}

const NO_RUN: &str =
    "no run was started from here; `ability_run` starts one, `ability_list` shows which there are";

/// Returns what a run and those that it calls ask humans, each with the run that is answered.
fn asked(run: &Run) -> Vec<(&str, String)> {
    let mut asks = Vec::new();
    if run.status == RunStatus::AwaitingPlan {
        asks.push((run.run.as_str(), "whether its plan may be carried out".to_owned()));
    }
    asks.extend(run.questions.iter().map(|question| {
        let options: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        (run.run.as_str(), format!("{} ({})", question.prompt, options.join(", ")))
    }));
    asks.extend(run.children.iter().flat_map(asked));
    asks
}

fn refused(error: &Error) -> Report {
    Report::failure(error.to_string())
}

fn unreadable(error: &Error) -> Unreadable {
    match error {
        Error::Problem(_) => Unreadable::NotFound(error.to_string()),
        _ => Unreadable::Failed(error.to_string()),
    }
}

impl Desk for RemoteDesk {
    fn instructions(&self) -> String {
        INSTRUCTIONS.to_owned()
    }

    async fn list(&self, _: &Caller) -> Report {
        self.listed().await.unwrap_or_else(|error| refused(&error))
    }

    async fn run(&self, asked: Start, talk: &dyn Talk) -> Report {
        match self.begin(asked).await {
            Ok(run) => self.settled(&run, Until::Asked, Some(talk)).await,
            Err(report) => report,
        }
    }

    async fn status(&self, run: Option<String>, _: &Caller) -> Report {
        match self.named(run) {
            Some(run) => self.settled(&run, Until::Asked, None).await,
            None => Report { failed: false, ..Report::failure(NO_RUN) },
        }
    }

    async fn submit(&self, asked: Submission, _: &dyn Talk) -> Report {
        Report::failure(format!(
            "step `{}` is not yours: all steps of run {} are done at the server",
            asked.step, asked.run
        ))
    }

    async fn cancel(&self, asked: Cancellation, talk: &dyn Talk) -> Report {
        match self.end(asked).await {
            Ok(run) => self.settled(&run, Until::Over, Some(talk)).await,
            Err(report) => report,
        }
    }

    async fn validate(&self, ability: Option<String>, _: &Caller) -> Report {
        let Some(ability) = ability else {
            return Report::failure("name the ability: a server checks one at a time");
        };
        match self.abide.abilities().validate(&ability).await {
            Ok(problems) => Report {
                text: problems.to_string(),
                data: problems.as_object().cloned().unwrap_or_default(),
                failed: false,
            },
            Err(error) => refused(&error),
        }
    }

    async fn agent(&self, _: Option<String>, _: &Caller) -> Report {
        Report::failure(
            "the agents of this machine are not known at a server: what may be run there is what `ability_list` shows",
        )
    }

    async fn resources(&self, _: &Caller) -> Result<Vec<Resource>, Unreadable> {
        let abilities = self.abide.abilities().list().await.map_err(|error| unreadable(&error))?;
        let usable = abilities.into_iter().filter(|ability| ability.status == "usable");
        Ok(usable
            .map(|ability| Resource {
                subject: Subject::Ability(ability.name),
                description: ability.description,
                mime: "application/json",
            })
            .collect())
    }

    async fn read(&self, subject: Subject, _: &Caller) -> Result<Content, Unreadable> {
        let text = match subject {
            Subject::Ability(name) => {
                let shown = self.abide.abilities().get(&name).await.map_err(|error| unreadable(&error))?;
                format!("{shown:#}")
            }
            Subject::Run(run) => {
                let shown = self.abide.runs().get(&run).await.map_err(|error| unreadable(&error))?;
                self.report(&shown).text
            }
        };
        Ok(Content { text, mime: "application/json" })
    }
}

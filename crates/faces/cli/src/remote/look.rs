//! What a server shows: the same documents as on this machine, and pages made from them.

use super::{Remote, failure};
use crate::args::{
    GivenArguments, LogsArguments, PlanArguments, RunsArguments, ShowArguments, StatusArguments,
};
use crate::commands::{ago, rules};
use crate::runs::{self, SystemClock, Taken};
use crate::session::Session;
use crate::ui::Ink;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::view::graph::Graph;
use abide_engine::port::Clock as _;
use abide_formats::json::to_json;
use abide_sdk::{Execute, LogOptions, Run};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Returns a text of a document.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the rows of a list in a document.
fn rows<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

impl Remote {
    pub(super) async fn list(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let listing = self.abide.abilities().listing().await.map_err(|error| failure(&error))?;
        if session.json {
            session.print_json(&listing)?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new(["", "NAME", "STEPS", "DESCRIPTION", "FILE"]);
        for ability in rows(&listing, "abilities") {
            let (mark, ink) = match text(ability, "status") {
                "usable" => ("✓", None),
                "broken" => ("✗", Some(Ink::Error)),
                _ => ("–", Some(Ink::Warning)),
            };
            let steps = ability["steps"].as_array().map_or(String::new(), |steps| steps.len().to_string());
            let about = text(ability, "description").split_whitespace().collect::<Vec<_>>().join(" ");
            let (name, file) = (text(ability, "name").to_owned(), text(ability, "file").to_owned());
            table.row(ink, [mark.to_owned(), name, steps, about, file]);
        }
        let page = table.render(session.style, (session.surroundings.width)());
        session.print(&page)?;
        Ok(Exit::Done)
    }

    pub(super) async fn show(
        &self,
        session: &mut Session<'_>,
        arguments: &ShowArguments,
    ) -> Result<Exit, Failure> {
        let shown = self.abide.abilities().get(&arguments.name).await.map_err(|error| failure(&error))?;
        let exit = if text(&shown, "status") == "broken" { Exit::Problems } else { Exit::Done };
        if session.json {
            session.print_json(&shown)?;
            return Ok(exit);
        }
        // JSON is YAML: the definition is read as it is from a file.
        let reading = abide_formats::ability::read(&shown["definition"].to_string(), text(&shown, "name"));
        let Some(ability) = reading.ability else {
            return Err(Failure::new(Exit::System, "this version of abide cannot read the ability")
                .help("`--json` shows what the server says"));
        };
        if arguments.yaml {
            session.print(&abide_formats::ability::print(&ability))?;
            return Ok(exit);
        }
        let mut page = String::new();
        let mut line = |label: &str, text: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "{label:<13}{}", visible(text, true));
        };
        line("ability", ability.name.as_str());
        line("description", &ability.description.split_whitespace().collect::<Vec<_>>().join(" "));
        line("file", &format!("{} ({})", text(&shown, "file"), text(&shown, "origin")));
        line("runs in", text(&shown, "root"));
        let level = &shown["enforcement"];
        line("enforcement", &format!("{} ({})", text(level, "level"), text(level, "set_by")));
        for (index, input) in ability.inputs.iter().enumerate() {
            let label = if index == 0 { "inputs" } else { "" };
            line(label, &format!("{}: {}", input.name.as_str(), rules(input)));
        }
        let page = format!("{page}\n{}", Graph::of(&ability).to_text());
        session.print(&page)?;
        Ok(exit)
    }

    /// Reads what an ability of the server is given.
    pub(super) async fn execution(
        &self,
        session: &Session<'_>,
        name: &str,
        given: &GivenArguments,
    ) -> Result<Execute, Failure> {
        let shown = self.abide.abilities().get(name).await.map_err(|error| failure(&error))?;
        let declared = shown["definition"]["inputs"].as_object();
        // An input that says no type takes text.
        let is_text = |input: &Value| matches!(input["type"].as_str(), None | Some("string"));
        let taken: Vec<Taken<'_>> = declared
            .into_iter()
            .flatten()
            .map(|(name, input)| Taken { name, is_text: is_text(input) })
            .collect();
        let inputs = runs::given(session, &given.input, given.inputs.as_deref(), &taken)?;
        let execute = inputs
            .iter()
            .fold(Execute::new(name), |all, (name, value)| all.input(name.clone(), to_json(value)));
        Ok(match &given.text {
            Some(text) => execute.text(text.clone()),
            None => execute,
        })
    }

    pub(super) async fn plan(
        &self,
        session: &mut Session<'_>,
        arguments: &PlanArguments,
    ) -> Result<Exit, Failure> {
        let execution = self.execution(session, &arguments.name, &arguments.given).await?;
        let plan = self.abide.abilities().plan(&execution).await.map_err(|error| failure(&error))?;
        if session.json {
            session.print_json(&plan)?;
        } else {
            session.print(&plan_page(&plan))?;
        }
        Ok(Exit::Done)
    }

    pub(super) async fn runs(
        &self,
        session: &mut Session<'_>,
        arguments: &RunsArguments,
    ) -> Result<Exit, Failure> {
        let found =
            self.abide.rows("/v1/runs").all(arguments.limit).await.map_err(|error| failure(&error))?;
        if session.json {
            session.print_json(&json!({ "runs": found }))?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new(["RUN", "STATUS", "ABILITY", "STARTED", "BY"]);
        let now = SystemClock.now().0;
        for head in &found {
            let started = ago(now - head["created_at"].as_i64().unwrap_or(now));
            let words = ["run", "status", "ability", "by"].map(|name| text(head, name).to_owned());
            let [run, status, ability, by] = words;
            table.row(None, [run, status, ability, started, by]);
        }
        let page = table.render(session.style, (session.surroundings.width)());
        session.print(&page)?;
        Ok(Exit::Done)
    }

    pub(super) async fn status(
        &self,
        session: &mut Session<'_>,
        arguments: &StatusArguments,
    ) -> Result<Exit, Failure> {
        let id = self.find(arguments.run.as_deref(), |_| true).await?;
        if session.json {
            let shown = self.abide.document("/v1/runs/{}", &[&id]).await.map_err(|error| failure(&error))?;
            session.print_json(&shown)?;
            return Ok(Exit::Done);
        }
        let run = self.abide.runs().get(&id).await.map_err(|error| failure(&error))?;
        let mut page = format!(
            "run      {}\nability  {}\nstatus   {}\n",
            visible(&run.run, true),
            visible(&run.ability, true),
            run.status.word()
        );
        if let Some(error) = &run.error {
            let _ = writeln!(page, "error    {}", visible(error, true));
        }
        page.push('\n');
        push_steps(&mut page, &run, 0);
        self.push_questions(&mut page, &run);
        session.print(&page)?;
        Ok(Exit::Done)
    }

    /// Writes what a run and those that it calls ask, and how to answer.
    pub(super) fn push_questions(&self, page: &mut String, run: &Run) {
        let id = visible(&run.run, true);
        if run.status == abide_sdk::RunStatus::AwaitingPlan {
            let _ = writeln!(page, "\n? the plan waits to be approved\n  {} approve {id}", self.typed);
        }
        for question in &run.questions {
            let (step, prompt) = (visible(&question.step, true), visible(&question.prompt, true));
            let _ = writeln!(page, "\n? {step}: {prompt}\n  {} approve {id} {step}", self.typed);
        }
        for child in &run.children {
            self.push_questions(page, child);
        }
    }

    pub(super) async fn logs(
        &self,
        session: &mut Session<'_>,
        arguments: &LogsArguments,
    ) -> Result<Exit, Failure> {
        let id = self.find(arguments.run.as_deref(), |_| true).await?;
        let options = LogOptions { step: arguments.step.clone(), follow: arguments.follow };
        let mut stream = self.abide.runs().logs(&id, &options).await.map_err(|error| failure(&error))?;
        while let Some(bytes) = stream.next().await.map_err(|error| failure(&error))? {
            session.print_bytes(&bytes)?;
        }
        Ok(Exit::Done)
    }
}

/// Writes the steps of a run, and below each one those of the run that it calls.
fn push_steps(page: &mut String, run: &Run, depth: usize) {
    let indent = "  ".repeat(depth);
    for step in &run.steps {
        let note = step.note.as_deref().map(|note| format!("  {}", visible(note, true))).unwrap_or_default();
        let attempts =
            if step.attempts > 1 { format!(" (attempt {})", step.attempts) } else { String::new() };
        let name = visible(&step.step, true);
        let _ = writeln!(page, "{indent}{} {name}{attempts}{note}", sign(&step.status));
        for child in run.children.iter().filter(|child| child.step.as_ref() == Some(&step.step)) {
            push_steps(page, child, depth + 1);
        }
    }
}

/// Returns the sign of a step, by the word of the API.
fn sign(status: &str) -> &'static str {
    use abide_core::view::status::Mark;
    let marks = [
        Mark::Waiting,
        Mark::Running,
        Mark::Asking,
        Mark::Paused,
        Mark::Completed,
        Mark::Failed,
        Mark::Skipped,
        Mark::Cancelled,
        Mark::Lost,
    ];
    let found = marks.into_iter().find(|mark| format!("{mark:?}").to_lowercase() == status);
    found.map_or("·", Mark::sign)
}

/// Returns a plan for people: its steps in order, each with what it would do.
fn plan_page(plan: &Value) -> String {
    let mut page = String::new();
    let mut line = |indent: &str, label: &str, text: &str| {
        for (index, part) in text.trim_end().lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            let _ = writeln!(page, "{indent}{label:<11}{}", visible(part, true));
        }
    };
    line("", "ability", text(plan, "ability"));
    line("", "runs in", text(plan, "root"));
    for (index, (name, value)) in plan["inputs"].as_object().into_iter().flatten().enumerate() {
        line("", if index == 0 { "inputs" } else { "" }, &format!("{name} = {value}"));
    }
    if plan["plan_approval"] == json!(true) {
        line("", "approval", "a human must agree to this plan first");
    }
    for step in rows(plan, "steps") {
        line("", &format!("{}.", step["stage"]), &format!("{}  {}", text(step, "id"), text(step, "type")));
        if let Some(when) = step["when"]["expression"].as_str() {
            line("   ", "when", &format!("{when} ({})", text(&step["when"], "decision")));
        }
        for (name, value) in step["action"].as_object().into_iter().flatten() {
            match value {
                Value::String(value) => line("   ", name, value),
                Value::Object(known) if known.contains_key("value") || known.contains_key("template") => {
                    let either = known.get("value").or_else(|| known.get("template")).unwrap_or(&Value::Null);
                    line("   ", name, &either.as_str().map_or_else(|| either.to_string(), str::to_owned));
                }
                Value::Object(all) if !all.is_empty() => line("   ", name, &value.to_string()),
                Value::Array(all) if !all.is_empty() => line("   ", name, &value.to_string()),
                _ => {}
            }
        }
    }
    page
}

//! `abide detect MESSAGE`: which ability a message suggests, and why.

use crate::args::DetectArguments;
use crate::gate::{compiled, described, detected, told};
use crate::session::Session;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::definition::attachment::DEFAULT_AGENT;
use abide_core::policy::AgentRights;
use abide_core::trigger::{Detection, Reason, Suggestion};
use abide_gate::triggers::TriggerIndex;
use abide_hooks::suggest::suggestion;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read as _;

/// The longest message that is read from standard input; no more of it would be looked at.
const LONGEST: u64 = 1024 * 1024;

pub(crate) fn detect(session: &mut Session<'_>, arguments: &DetectArguments) -> Result<Exit, Failure> {
    let message = match &arguments.message[..] {
        [only] if only == "-" => read()?,
        words => words.join(" "),
    };
    let compiled = compiled(session.surroundings, &session.place);
    let rights = compiled.index.rights(arguments.agent.as_deref());
    let detection = detected(&compiled.triggers, &message);
    let found = Found {
        agent: arguments.agent.as_deref().unwrap_or(DEFAULT_AGENT),
        told: told(&detection, &rights),
        enabled: session.configuration().config.abilities.enabled.as_ref().is_none_or(|flag| flag.value),
        triggers: &compiled.triggers,
        detection: &detection,
        rights: &rights,
    };
    if session.json {
        session.print_json(&found.as_json())?;
    } else {
        session.print(&found.as_text())?;
    }
    Ok(Exit::Done)
}

fn read() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(LONGEST).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::System, format!("cannot read standard input: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What was found out about a message.
struct Found<'a> {
    agent: &'a str,
    /// The ability that the agent is told about.
    told: Option<&'a Suggestion>,
    enabled: bool,
    triggers: &'a TriggerIndex,
    detection: &'a Detection,
    rights: &'a AgentRights,
}

impl Found<'_> {
    fn is_told(&self, suggestion: &Suggestion) -> bool {
        self.told.is_some_and(|told| told == suggestion)
    }

    fn outcome(&self) -> &'static str {
        match self.told {
            Some(_) if self.triggers.start => "start",
            Some(_) => "suggest",
            None => "nothing",
        }
    }

    fn as_json(&self) -> Value {
        let matches: Vec<Value> = self
            .detection
            .suggestions
            .iter()
            .map(|found| {
                json!({
                    "ability": found.ability,
                    "trigger": trigger(&found.reason),
                    "score": found.score,
                    "may_run": self.rights.may_run(&found.ability),
                    "told": self.is_told(found),
                })
            })
            .collect();
        let passed: Vec<Value> = self
            .detection
            .passed_over
            .iter()
            .map(|found| {
                let why = found.mention.to_string();
                json!({ "ability": found.ability, "trigger": trigger(&found.reason), "why": why })
            })
            .collect();
        json!({
            "agent": self.agent,
            "enabled": self.enabled,
            "auto_trigger": self.triggers.start,
            "outcome": self.outcome(),
            "ability": self.told.map(|told| told.ability.as_str()),
            "tells": self.tells(),
            "matches": matches,
            "passed_over": passed,
        })
    }

    /// Returns what the agent is told.
    fn tells(&self) -> Option<String> {
        let told = self.told?;
        Some(suggestion(told, described(self.triggers, &told.ability), self.triggers.start))
    }

    fn as_text(&self) -> String {
        let mut out = String::new();
        if !self.enabled {
            return "abilities are switched off by `abilities.enabled: false`, so nothing is suggested\n"
                .to_owned();
        }
        for found in &self.detection.suggestions {
            let state = if self.is_told(found) {
                if self.triggers.start { "is started".to_owned() } else { "is suggested".to_owned() }
            } else if self.rights.may_run(&found.ability) {
                "is not suggested: another one fits better".to_owned()
            } else {
                format!("is not suggested: the agent `{}` may not run it", self.agent)
            };
            let text = format!("{}  {state}; {} (score {})", found.ability, found.reason, found.score);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", visible(&text, true));
        }
        for found in &self.detection.passed_over {
            let text =
                format!("{}  is not suggested: {}, but {}", found.ability, found.reason, found.mention);
            let _ = writeln!(out, "{}", visible(&text, true));
        }
        match self.tells() {
            Some(text) => {
                out.push_str("\nthe agent is told:\n");
                for line in text.lines() {
                    let _ = writeln!(out, "  {}", visible(line, true));
                }
            }
            None if out.is_empty() => out.push_str("nothing in the message suggests an ability\n"),
            None => {}
        }
        out
    }
}

fn trigger(reason: &Reason) -> Value {
    match reason {
        Reason::Keyword(keyword) => json!({ "keyword": keyword }),
        Reason::Pattern(pattern) => json!({ "pattern": pattern }),
    }
}

//! `abide model`: what can be asked, and whether it answers.

use super::model_mock::mock;
use crate::args::{ModelArguments, ModelCommand};
use crate::models::{self, Named, Server, Survey, Trouble, key_source};
use crate::runs::{SystemClock, block_on};
use crate::session::Session;
use crate::ui::Ink;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::model::{BadModelName, ModelName, Patience, Price, Usage};
use abide_engine::port::{AnswerLimits, Hear, ModelError, ModelEvent, ModelRequest};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn model(session: &mut Session<'_>, arguments: &ModelArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        ModelCommand::List => list(session),
        ModelCommand::Test { model } => test(session, model.as_deref()),
        ModelCommand::Mock(arguments) => mock(session, arguments),
    }
}

/// What is said when no model is set.
const NONE: &str =
    "set `model: provider/model` in the configuration, as in `anthropic/claude-sonnet-4`, or ABIDE_MODEL";

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let survey = models::survey(session);
    if session.json {
        session.print_json(&to_json(&survey))?;
        return Ok(Exit::Done);
    }
    if survey.models.is_empty() {
        session.say(&format!(
            "no model is set, and only agents that abide runs itself need one\n  = {NONE}\n\n"
        ))?;
    } else {
        let mut table = Table::new(["", "MODEL", "USED BY", "STATUS"]);
        for model in &survey.models {
            let (mark, ink) = mark(model.trouble.as_ref());
            let status =
                model.trouble.as_ref().map_or_else(|| "usable".to_owned(), |trouble| trouble.problem.clone());
            table.row(ink, [mark, model.name.to_string(), used_by(&survey, model), status]);
        }
        let text = table.render(session.style, (session.surroundings.width)());
        session.print(&format!("{text}\n"))?;
    }
    let mut table = Table::new(["", "PROVIDER", "FORMAT", "KEY", "ADDRESS"]);
    for server in &survey.servers {
        let (mark, ink) = mark(server.trouble.as_ref());
        let provider = server.provider.as_ref();
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        table.row(
            ink,
            [
                mark,
                server.name.clone(),
                or_none(provider.map(|provider| provider.format.word().to_owned())),
                or_none(provider.map(key_source)),
                or_none(provider.map(|provider| provider.url.clone())),
            ],
        );
    }
    let mut text = table.render(session.style, (session.surroundings.width)());
    for trouble in survey.servers.iter().filter_map(|server| server.trouble.as_ref()) {
        let _ = write!(text, "\n{}\n  = {}\n", visible(&trouble.problem, true), visible(&trouble.help, true));
    }
    session.print(&text)?;
    Ok(Exit::Done)
}

fn mark(trouble: Option<&Trouble>) -> (String, Option<Ink>) {
    match trouble {
        None => ("✓".to_owned(), None),
        Some(_) => ("✗".to_owned(), Some(Ink::Warning)),
    }
}

fn used_by(survey: &Survey, model: &Named) -> String {
    let mut users = model.agents.clone();
    if survey.default.as_ref() == Some(&model.name) {
        users.insert(0, "agents that name none".to_owned());
    }
    if users.is_empty() { "–".to_owned() } else { users.join(", ") }
}

fn to_json(survey: &Survey) -> Value {
    let problem = |trouble: &Option<Trouble>| trouble.as_ref().map(|trouble| trouble.problem.clone());
    let help = |trouble: &Option<Trouble>| trouble.as_ref().map(|trouble| trouble.help.clone());
    let models: Vec<Value> = survey
        .models
        .iter()
        .map(|model| {
            json!({
                "model": model.name.to_string(),
                "provider": model.name.provider().as_str(),
                "default": survey.default.as_ref() == Some(&model.name),
                "agents": model.agents,
                "context_tokens": model.facts.context_tokens,
                "output_tokens": model.facts.output_tokens,
                "price": model.facts.price.map(price_json),
                "usable": model.trouble.is_none(),
                "problem": problem(&model.trouble),
                "help": help(&model.trouble),
            })
        })
        .collect();
    let servers = survey.servers.iter().map(|server: &Server| {
        let provider = server.provider.as_ref();
        json!({
            "provider": server.name,
            "format": provider.map(|provider| provider.format.word()),
            "url": provider.map(|provider| provider.url.as_str()),
            "key": provider.map(key_source),
            "usable": server.trouble.is_none(),
            "problem": problem(&server.trouble),
            "help": help(&server.trouble),
        })
    });
    json!({
        "default": survey.default.as_ref().map(ToString::to_string),
        "models": models,
        "providers": servers.collect::<Vec<Value>>(),
    })
}

/// Writes a price as the configuration does: dollars for a million tokens.
fn price_json(price: Price) -> Value {
    let dollars = |nano: u64| {
        #[expect(clippy::cast_precision_loss, reason = "at most 10^9")]
        let dollars = nano as f64 / 1_000.0;
        dollars
    };
    json!({
        "input": dollars(price.input),
        "output": dollars(price.output),
        "cache_read": dollars(price.cache_read),
        "cache_write": dollars(price.cache_write),
    })
}

fn test(session: &mut Session<'_>, model: Option<&str>) -> Result<Exit, Failure> {
    let name = match model {
        Some(text) => ModelName::parse(text)
            .map_err(|bad| Failure::new(Exit::Usage, bad.to_string()).help(BadModelName::HELP))?,
        None => {
            let default = session.configuration().config.model;
            default
                .map(|model| model.value)
                .ok_or_else(|| Failure::new(Exit::Problems, "no model is set").help(NONE))?
        }
    };
    // What is heard on the way is told afterwards: nobody else writes to the terminal meanwhile.
    let again = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&again);
    let hear: Hear = Arc::new(move |event| {
        if let ModelEvent::Again { because, wait } = event {
            let line = format!("asked again after {wait} ms: {because}\n");
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
        Box::pin(std::future::ready(()))
    });
    let asked = block_on(async {
        let (model, facts) = models::open(session, &name).await?;
        let request = ModelRequest {
            limits: AnswerLimits { tokens: 64, ..AnswerLimits::default() },
            ..ModelRequest::new(
                format!("test/{}", std::process::id()),
                name.model(),
                "Say hello in one word.",
            )
        };
        let request = Arc::new(request);
        let answer =
            abide_engine::model::ask(&model, &SystemClock, &Patience::default(), request, hear).await?;
        Ok((answer, facts))
    })?;
    let again = std::mem::take(&mut *again.lock().unwrap_or_else(PoisonError::into_inner));
    if !session.json {
        session.say(&again.concat())?;
    }
    let (answer, facts) = asked.map_err(|error| failure(&error))?;
    let cost = facts.price.map(|price| price.cost(answer.usage).to_string());
    let text = answer.text();
    if session.json {
        let usage = usage_json(answer.usage);
        session.print_json(
            &json!({ "model": name.to_string(), "text": text, "usage": usage, "cost": cost, "retries": again.len() }),
        )?;
    } else {
        let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
        let Usage { input_tokens, output_tokens, .. } = answer.usage;
        session.print(&format!(
            "{name} answers: {}\n{input_tokens} tokens in, {output_tokens} out{cost}\n",
            visible(text.trim(), true)
        ))?;
    }
    Ok(Exit::Done)
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    })
}

fn failure(error: &ModelError) -> Failure {
    let failure = Failure::new(Exit::Problems, error.to_string());
    match &error.help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

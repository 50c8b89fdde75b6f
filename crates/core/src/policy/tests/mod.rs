//! The gate, as tables that read like its specification.

mod classes;
mod doors;
mod grants;
mod held;
mod levels;
mod open;
mod properties;
mod random;
mod scripts;
mod selves;
mod shown;
mod told;
mod wrapping;

use super::*;
use crate::definition::{Enforcement, Protect, StepType};
use crate::value::Value;

/// A session in `/project`, whose ability `deploy` reserves some calls, and in which no run is active.
fn free() -> Situation {
    let reserved = |ability: &str, pattern: &str| Reserved {
        ability: ability.into(),
        pattern: Protect::parse(pattern).unwrap(),
        root: "/project".into(),
        standing: Standing::Current,
    };
    let guarded = |path: &str, role| Guarded { path: path.to_owned(), role };
    Situation {
        place: Place {
            root: "/project".to_owned(),
            cwd: "/project".to_owned(),
            home: Some("/home/ada".to_owned()),
        },
        session: Session::Free,
        seat: Seat::Main,
        agent: AgentRights::Any { except: vec!["secret".to_owned()] },
        reserved: vec![
            reserved("deploy", "Bash(./deploy.sh *)"),
            reserved("deploy", "Bash(git push *)"),
            reserved("publish", "Write(infra/*)"),
            reserved("publish", "WebFetch(https://registry.example.com/*)"),
            reserved("publish", "mcp__prod__*"),
        ],
        guarded: vec![
            guarded("/project/.abide/abilities/deploy/ability.yaml", Role::Definition),
            guarded("/project/.abide/abilities/deploy/scripts", Role::Script),
            guarded("/home/ada/.local/share/abide", Role::State),
            guarded("/project/.claude/settings.json", Role::Settings),
        ],
        processes: vec![4242],
    }
}

fn step(step_type: StepType, grants: Grants) -> ActiveStep {
    ActiveStep {
        id: "review".to_owned(),
        step_type,
        grants,
        task: "Review the build.".to_owned(),
        waits_for_human: step_type == StepType::Approval,
    }
}

fn only(tools: &[&str]) -> Grants {
    Grants::Only(tools.iter().map(|tool| (*tool).to_owned()).collect())
}

/// The same session with a run of an ability at a step.
fn running(ability: &str, level: Enforcement, step: ActiveStep) -> Situation {
    let active = Active {
        run: "0192f0c1-2345-7abc-8def-0123456789ab".to_owned(),
        ability: ability.to_owned(),
        level,
        step: Some(step),
        done: 1,
        total: 4,
        warned: false,
        worker: false,
    };
    Situation { session: Session::Active(Box::new(active)), ..free() }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn bash(command: &str) -> ToolCall {
    ToolCall::read(Client::ClaudeCode, "Bash", &map(&[("command", text(command))]))
}

fn judge(situation: &Situation, call: &ToolCall) -> Verdict {
    judge_on(situation, call, &NoLinks)
}

/// Every verdict of these tests is given twice: over everything, and over what an index shows for the call.
fn judge_on(situation: &Situation, call: &ToolCall, files: &dyn Files) -> Verdict {
    let found = verdict(situation, call, files);
    let by_index = verdict(&shown::shown(situation, call, files), call, files);
    assert_eq!(by_index, found, "the index hides what counts: {call:#?}");
    found
}

fn is_denied(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Deny { .. })
}

//! From what a client asks to what it is answered: the gate's verdict, put to each moment.

use crate::answer::Answer;
use crate::asked::{Asked, Moment, Use};
use abide_core::definition::StepType;
use abide_core::policy::{
    Active, Client, Files, Grants, OwnTool, Session, Situation, StopVerdict, ToolCall, ToolKind, Verdict,
    kind, stop, verdict,
};
use std::fmt::Write as _;

/// What a hook answers, and what it notes for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// What is to be noted before it is given.
    pub note: Option<Note>,
}

/// What a hook notes for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The agent starts an ability: the server that starts it must learn the session.
    Starts {
        /// The ability.
        ability: String,
    },
    /// The agent was told that the run is not done.
    Warned,
}

impl From<Answer> for Decision {
    fn from(answer: Answer) -> Self {
        Self { answer, note: None }
    }
}

/// Decides what a client is answered.
pub fn decide(client: Client, asked: &Asked, situation: &Situation, files: &dyn Files) -> Decision {
    match &asked.moment {
        Moment::BeforeTool(used) => before(client, used, situation, files),
        Moment::Permission(used) => match judged(client, used, situation, files) {
            Verdict::Deny { why, instead } => Answer::Deny(joined(&why, &instead)).into(),
            // Whether it may be used is the user's to say, as they were about to.
            Verdict::Allow | Verdict::Warn { .. } | Verdict::Ask { .. } => Answer::Silence.into(),
        },
        Moment::AfterTool(used) => match judged(client, used, situation, files) {
            Verdict::Warn { why } => Answer::Tell(why).into(),
            _ => Answer::Silence.into(),
        },
        Moment::Prompt { .. } | Moment::Start { .. } | Moment::Compaction => match &situation.session {
            Session::Free => Answer::Silence.into(),
            Session::Active(active) => Answer::Tell(brief(active)).into(),
            Session::Unreadable { why, .. } => Answer::Tell(format!(
                "abide cannot tell whether this session has a run ({why}), so it may hold back tools. The user can look with `abide doctor`."
            ))
            .into(),
        },
        Moment::Stop { .. } | Moment::SubAgentStop => match stop(situation) {
            StopVerdict::Allow | StopVerdict::Wait { .. } => Answer::Silence.into(),
            StopVerdict::Warn { why } => Decision { answer: Answer::Deny(why), note: Some(Note::Warned) },
            StopVerdict::Refuse { why } => Answer::Deny(why).into(),
        },
        Moment::Other(_) => Answer::Silence.into(),
    }
}

fn before(client: Client, used: &Use, situation: &Situation, files: &dyn Files) -> Decision {
    let call = ToolCall::read(client, &used.tool, &used.arguments);
    match verdict(situation, &call, files) {
        Verdict::Deny { why, instead } => Answer::Deny(joined(&why, &instead)).into(),
        Verdict::Ask { why } => Answer::Ask(why).into(),
        // A warning is told when the tool has been used: before that, only a denial reaches the model everywhere.
        Verdict::Allow | Verdict::Warn { .. } => match (kind(client, &used.tool), call.arguments.ability) {
            (ToolKind::Own(OwnTool::Run), Some(ability)) => {
                Decision { answer: Answer::Silence, note: Some(Note::Starts { ability }) }
            }
            _ => Answer::Silence.into(),
        },
    }
}

fn judged(client: Client, used: &Use, situation: &Situation, files: &dyn Files) -> Verdict {
    verdict(situation, &ToolCall::read(client, &used.tool, &used.arguments), files)
}

fn joined(why: &str, instead: &str) -> String {
    if instead.is_empty() { why.to_owned() } else { format!("{why}\n{instead}") }
}

/// Returns what a model is told about the run that it is in: so that no prompt, restart or condensing loses it.
pub fn brief(active: &Active) -> String {
    let mut text = format!(
        "abide: run {} of the ability `{}` is active, {} of {} steps done.\n",
        active.run, active.ability, active.done, active.total
    );
    let Some(step) = &active.step else {
        text.push_str("No step is yours now; `ability_status` tells how the run is.\n");
        return text;
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Current step: `{}` ({}).", step.id, step.step_type.word());
    match step.step_type {
        _ if step.waits_for_human => {
            text.push_str("It waits for a human, who answers with abide; you cannot, and need not wait.\n");
        }
        StepType::Agent | StepType::Skill => {
            let _ = writeln!(text, "Do this: {}", step.task);
            match &step.grants {
                Grants::Own => {}
                Grants::Only(tools) if tools.is_empty() => text.push_str("Use no tools.\n"),
                Grants::Only(tools) => {
                    let _ = writeln!(text, "Use only: {}.", tools.join(", "));
                }
            }
            text.push_str("When it is done, call `ability_submit` with your result; abide checks it.\n");
        }
        StepType::Script | StepType::Approval | StepType::Workflow => {
            text.push_str("abide does it itself; `ability_status` tells how far it is.\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::definition::Enforcement;
    use abide_core::policy::{ActiveStep, AgentRights, NoLinks, Place, Seat};
    use abide_core::value::Value;

    fn situation(session: Session) -> Situation {
        Situation {
            place: Place { root: "/p".into(), cwd: "/p".into(), home: None },
            session,
            seat: Seat::Main,
            agent: AgentRights::Any { except: Vec::new() },
            reserved: Vec::new(),
            guarded: Vec::new(),
            processes: Vec::new(),
        }
    }

    fn active(level: Enforcement, step_type: StepType) -> Session {
        Session::Active(Box::new(Active {
            run: "r1".into(),
            ability: "deploy".into(),
            level,
            step: Some(ActiveStep {
                id: "review".into(),
                step_type,
                grants: Grants::Only(vec!["Read".into()]),
                task: "Look for problems.".into(),
                waits_for_human: step_type == StepType::Approval,
            }),
            done: 1,
            total: 3,
            warned: false,
        }))
    }

    fn asked(moment: Moment) -> Asked {
        Asked { session: "s".into(), sub_agent: None, agent: None, folder: Some("/p".into()), moment }
    }

    fn uses(tool: &str, key: &str, value: &str) -> Use {
        let arguments = Value::Map(vec![(key.to_owned(), Value::Text(value.to_owned()))]);
        Use { tool: tool.to_owned(), arguments, id: None }
    }

    fn answer(moment: Moment, session: Session) -> Decision {
        decide(Client::ClaudeCode, &asked(moment), &situation(session), &NoLinks)
    }

    #[test]
    fn a_tool_outside_the_step_is_denied_with_what_to_do() {
        let strict = || active(Enforcement::Strict, StepType::Agent);
        let denied = answer(Moment::BeforeTool(uses("Bash", "command", "ls")), strict());
        let Answer::Deny(why) = denied.answer else { panic!("{denied:?}") };
        assert!(why.contains("review") && why.contains("Bash"), "{why}");
        let allowed = answer(Moment::BeforeTool(uses("Read", "file_path", "/p/a.rs")), strict());
        assert_eq!(allowed.answer, Answer::Silence);
        let free = answer(Moment::BeforeTool(uses("Bash", "command", "ls")), Session::Free);
        assert_eq!(free.answer, Answer::Silence);
    }

    #[test]
    fn the_start_of_an_ability_is_noted_and_only_when_it_is_allowed() {
        let run = || Moment::BeforeTool(uses("mcp__abide__ability_run", "ability", "deploy"));
        let noted = answer(run(), Session::Free);
        assert_eq!(noted.note, Some(Note::Starts { ability: "deploy".into() }));
        let second = answer(run(), active(Enforcement::Strict, StepType::Agent));
        assert!(matches!(second.answer, Answer::Deny(_)), "{second:?}");
        assert_eq!(second.note, None);
        let foreign = Moment::BeforeTool(uses("mcp__evil__ability_run", "ability", "deploy"));
        assert_eq!(answer(foreign, Session::Free).note, None);
    }

    #[test]
    fn stopping_is_refused_warned_or_allowed_by_level() {
        let stop = || Moment::Stop { kept: false };
        let strict = answer(stop(), active(Enforcement::Strict, StepType::Agent));
        assert!(matches!(strict.answer, Answer::Deny(_)));
        let normal = answer(stop(), active(Enforcement::Normal, StepType::Agent));
        assert_eq!(normal.note, Some(Note::Warned));
        for free in [Session::Free, active(Enforcement::Strict, StepType::Approval)] {
            assert_eq!(answer(stop(), free).answer, Answer::Silence);
        }
        let unreadable = Session::Unreadable { level: None, why: "the file is damaged".into() };
        assert!(matches!(answer(stop(), unreadable).answer, Answer::Deny(_)));
    }

    #[test]
    fn the_step_is_told_at_every_prompt_start_and_condensing() {
        let moments = [
            Moment::Prompt { text: "hi".into() },
            Moment::Start { source: "compact".into() },
            Moment::Compaction,
        ];
        for moment in moments {
            let told = answer(moment.clone(), active(Enforcement::Strict, StepType::Agent));
            let Answer::Tell(text) = told.answer else { panic!("{told:?}") };
            for part in
                ["r1", "`deploy`", "1 of 3", "`review`", "Look for problems.", "Read", "ability_submit"]
            {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert_eq!(answer(moment, Session::Free).answer, Answer::Silence);
        }
    }
}

//! From what a client asks to what it is answered: the gate's verdict, put to each moment.

use crate::answer::Answer;
use crate::asked::{Asked, Moment, Use};
use abide_core::definition::StepType;
use abide_core::event::VerdictAnswer;
use abide_core::policy::{
    Active, Client, Files, Grants, OwnTool, Session, Situation, StopVerdict, ToolCall, ToolKind, Verdict,
    kind, stop, summary, verdict,
};
use std::fmt::Write as _;

/// What a hook answers, and what it notes for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// What is to be noted before it is given.
    pub note: Option<Note>,
    /// The verdict, when it is not a plain yes: the log is to have it.
    pub given: Option<Given>,
}

/// A verdict that is not a plain yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// How the gate answers.
    pub answer: VerdictAnswer,
    /// The tool, as the client spells it; `stop` for ending a turn.
    pub tool: String,
    /// What kind of thing it does.
    pub kind: &'static str,
    /// What was asked, without anything secret.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What a hook notes for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The agent calls a tool of abide: the server that carries it out must learn the session.
    Calls {
        /// The tool.
        tool: OwnTool,
        /// The ability that the call names.
        ability: Option<String>,
    },
    /// The agent was told that the run is not done.
    Warned,
}

impl From<Answer> for Decision {
    fn from(answer: Answer) -> Self {
        Self { answer, note: None, given: None }
    }
}

/// Decides what a client is answered.
pub fn decide(client: Client, asked: &Asked, situation: &Situation, files: &dyn Files) -> Decision {
    match &asked.moment {
        Moment::BeforeTool(used) => Judged::of(client, used, situation, files).before(used),
        Moment::Permission(used) => {
            let judged = Judged::of(client, used, situation, files);
            match &judged.verdict {
                Verdict::Deny { why, instead } => Decision {
                    answer: Answer::Deny(joined(why, instead)),
                    note: None,
                    given: Some(judged.given(VerdictAnswer::Denied, why)),
                },
                // Whether it may be used is the user's to say, as they were about to.
                Verdict::Allow | Verdict::Warn { .. } | Verdict::Ask { .. } => Answer::Silence.into(),
            }
        }
        // It was noted before the tool was used.
        Moment::AfterTool(used) => match Judged::of(client, used, situation, files).verdict {
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
        Moment::Stop { .. } | Moment::SubAgentStop => {
            let verdict = stop(situation);
            let given = stopped(&verdict, situation);
            match verdict {
                StopVerdict::Allow | StopVerdict::Wait { .. } => Answer::Silence.into(),
                StopVerdict::Warn { why } => {
                    Decision { given, answer: Answer::Deny(why), note: Some(Note::Warned) }
                }
                StopVerdict::Refuse { why } => Decision { given, answer: Answer::Deny(why), note: None },
            }
        }
        Moment::Other(_) => Answer::Silence.into(),
    }
}

/// Returns the verdict about a call before it is made, and what the log is to have of it.
pub fn judged(
    client: Client,
    used: &Use,
    situation: &Situation,
    files: &dyn Files,
) -> (Verdict, Option<Given>) {
    let judged = Judged::of(client, used, situation, files);
    let given = judged.noted();
    (judged.verdict, given)
}

/// Returns what the log is to have of a verdict about stopping, if anything.
pub fn stopped(verdict: &StopVerdict, situation: &Situation) -> Option<Given> {
    match verdict {
        StopVerdict::Allow | StopVerdict::Wait { .. } => None,
        StopVerdict::Warn { .. } => Some(stopping(VerdictAnswer::Warned, situation)),
        StopVerdict::Refuse { .. } => Some(stopping(VerdictAnswer::Denied, situation)),
    }
}

/// A call with the verdict about it.
struct Judged<'a> {
    call: ToolCall,
    verdict: Verdict,
    situation: &'a Situation,
    files: &'a dyn Files,
}

impl<'a> Judged<'a> {
    fn of(client: Client, used: &Use, situation: &'a Situation, files: &'a dyn Files) -> Self {
        let call = ToolCall::read(client, &used.tool, &used.arguments);
        Self { verdict: verdict(situation, &call, files), call, situation, files }
    }

    fn before(self, used: &Use) -> Decision {
        let answer = match &self.verdict {
            Verdict::Deny { why, instead } => Answer::Deny(joined(why, instead)),
            Verdict::Ask { why } => Answer::Ask(why.clone()),
            Verdict::Allow if self.is_granted() => Answer::Grant,
            // A warning is told when the tool has been used: before that, only a denial reaches the model everywhere.
            Verdict::Warn { .. } | Verdict::Allow => Answer::Silence,
        };
        let given = self.noted();
        // Who is asked about a call may say yes.
        let note = if matches!(answer, Answer::Deny(_)) { None } else { calls(used, self.call) };
        Decision { answer, note, given }
    }

    /// Returns whether the call is one that a step grants by name to a session that abide started for it.
    fn is_granted(&self) -> bool {
        self.situation.active().is_some_and(|active| {
            active.worker && matches!(&active.step, Some(step) if matches!(step.grants, Grants::Only(_)))
        })
    }

    fn noted(&self) -> Option<Given> {
        let (answer, why) = match &self.verdict {
            Verdict::Allow => return None,
            Verdict::Warn { why } => (VerdictAnswer::Warned, why),
            Verdict::Ask { why } => (VerdictAnswer::Asked, why),
            Verdict::Deny { why, .. } => (VerdictAnswer::Denied, why),
        };
        Some(self.given(answer, why))
    }

    fn given(&self, answer: VerdictAnswer, why: &str) -> Given {
        Given {
            answer,
            tool: self.call.name.clone(),
            kind: kind(self.call.client, &self.call.name).word(),
            what: summary(self.situation, &self.call, self.files),
            why: why.to_owned(),
        }
    }
}

/// Returns the verdict about ending a turn; its reason repeats the step's task, which the log has already.
fn stopping(answer: VerdictAnswer, situation: &Situation) -> Given {
    let why = match situation.active() {
        Some(active) => format!("{} of {} steps are done", active.done, active.total),
        None => "it cannot be read whether a run is active".to_owned(),
    };
    Given { answer, tool: "stop".to_owned(), kind: "stop", what: String::new(), why }
}

/// Notes the call of a tool of abide; only a start is told from others by the ability that it names.
fn calls(used: &Use, call: ToolCall) -> Option<Note> {
    let ToolKind::Own(tool) = kind(call.client, &used.tool) else { return None };
    let ability = call.arguments.ability.filter(|_| tool == OwnTool::Run);
    Some(Note::Calls { tool, ability })
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
            text.push_str(if active.worker {
                "When it is done, end with your result; abide checks it.\n"
            } else {
                "When it is done, call `ability_submit` with your result; abide checks it.\n"
            });
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
            worker: false,
        }))
    }

    fn asked(moment: Moment) -> Asked {
        Asked {
            session: "s".into(),
            sub_agent: None,
            agent: None,
            folder: Some("/p".into()),
            plugin: None,
            moment,
        }
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
    fn every_verdict_but_a_plain_yes_is_for_the_log() {
        let given = |moment: Moment, session: Session| {
            answer(moment, session).given.map(|given| (given.answer, given.tool, given.kind, given.what))
        };
        let shell = || uses("Bash", "command", "./deploy.sh --token hunter2");
        let strict = || active(Enforcement::Strict, StepType::Agent);
        let expected = |answer| Some((answer, "Bash".to_owned(), "execute", "./deploy.sh".to_owned()));
        assert_eq!(given(Moment::BeforeTool(shell()), strict()), expected(VerdictAnswer::Denied));
        assert_eq!(given(Moment::Permission(shell()), strict()), expected(VerdictAnswer::Denied));
        let loose = active(Enforcement::Loose, StepType::Agent);
        assert_eq!(given(Moment::BeforeTool(shell()), loose.clone()), expected(VerdictAnswer::Warned));
        assert_eq!(given(Moment::AfterTool(shell()), loose), None, "it was noted before");
        let cancel = uses("mcp__abide__ability_cancel", "reason", "no");
        let asked = given(Moment::BeforeTool(cancel), active(Enforcement::Normal, StepType::Agent));
        assert_eq!(asked.map(|given| given.0), Some(VerdictAnswer::Asked));
        let stop = answer(Moment::Stop { kept: false }, strict()).given.unwrap();
        assert_eq!(
            (stop.answer, stop.tool.as_str(), stop.why.as_str()),
            (VerdictAnswer::Denied, "stop", "1 of 3 steps are done")
        );
        for plain in [
            given(Moment::BeforeTool(uses("Read", "file_path", "/p/a")), strict()),
            given(Moment::BeforeTool(shell()), Session::Free),
            given(Moment::Stop { kept: false }, Session::Free),
        ] {
            assert_eq!(plain, None);
        }
    }

    #[test]
    fn the_start_of_an_ability_is_noted_and_only_when_it_is_allowed() {
        let run = || Moment::BeforeTool(uses("mcp__abide__ability_run", "ability", "deploy"));
        let noted = answer(run(), Session::Free);
        assert_eq!(noted.note, Some(Note::Calls { tool: OwnTool::Run, ability: Some("deploy".into()) }));
        let second = answer(run(), active(Enforcement::Strict, StepType::Agent));
        assert!(matches!(second.answer, Answer::Deny(_)), "{second:?}");
        assert_eq!(second.note, None);
        let foreign = Moment::BeforeTool(uses("mcp__evil__ability_run", "ability", "deploy"));
        assert_eq!(answer(foreign, Session::Free).note, None);
    }

    #[test]
    fn what_a_step_grants_is_granted_in_the_session_that_abide_started_for_it() {
        let strict = |worker| {
            let mut session = active(Enforcement::Strict, StepType::Agent);
            if let Session::Active(active) = &mut session {
                active.worker = worker;
            }
            session
        };
        let read = || Moment::BeforeTool(uses("Read", "file_path", "/p/a.rs"));
        assert_eq!(answer(read(), strict(true)).answer, Answer::Grant);
        assert_eq!(answer(read(), strict(false)).answer, Answer::Silence);
        let shell = answer(Moment::BeforeTool(uses("Bash", "command", "ls")), strict(true));
        assert!(matches!(shell.answer, Answer::Deny(_)));
        let Answer::Tell(text) = answer(Moment::Start { source: "startup".into() }, strict(true)).answer
        else {
            panic!("nothing is told")
        };
        assert!(!text.contains("ability_submit"), "{text}");
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

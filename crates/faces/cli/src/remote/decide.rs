//! What a human decides about a run of a server: the key says who they are.

use super::find::is_unfinished;
use super::{Remote, failure};
use crate::args::{AnswerArguments, CancelArguments, ResumeArguments};
use crate::commands::Answer;
use crate::session::Session;
use crate::{Exit, Failure, runs};
use abide_formats::json::to_json;
use abide_sdk::{Decision, Run, RunStatus};

impl Remote {
    pub(super) async fn answer(
        &self,
        session: &mut Session<'_>,
        arguments: &AnswerArguments,
        what: Answer,
    ) -> Result<Exit, Failure> {
        if arguments.by.is_some() {
            return Err(Failure::new(Exit::Usage, "at a server the key says who answers: leave out `--by`"));
        }
        let waits =
            |status| matches!(status, RunStatus::Waiting | RunStatus::AwaitingPlan | RunStatus::Running);
        let id = self.find(arguments.run.as_deref(), waits).await?;
        let run = self.abide.runs().get(&id).await.map_err(|error| failure(&error))?;
        let (asking, step) = asked(&run, arguments.step.as_deref())?;
        let answer = what.value(arguments.answer.as_deref(), step.is_none())?;
        let comment = arguments.comment.as_deref();
        let answered = self.abide.approvals().answer(&asking, step.as_deref(), answer, comment).await;
        let answered = answered.map_err(|error| failure(&error))?;
        session.say(&format!("answered by {}; `{} status {id}` shows the run\n", answered.by, self.typed))?;
        Ok(Exit::Done)
    }

    pub(super) async fn cancel(
        &self,
        session: &mut Session<'_>,
        arguments: &CancelArguments,
    ) -> Result<Exit, Failure> {
        let id = self.find(arguments.run.as_deref(), is_unfinished).await?;
        let cancelled = self.abide.runs().cancel(&id, arguments.reason.as_deref()).await;
        cancelled.map_err(|error| failure(&error))?;
        session.say(&format!("cancelling {id}\n"))?;
        Ok(Exit::Done)
    }

    pub(super) async fn resume(
        &self,
        session: &mut Session<'_>,
        arguments: &ResumeArguments,
    ) -> Result<Exit, Failure> {
        if arguments.detached {
            return Err(Failure::new(Exit::Usage, "a server needs nobody in the background"));
        }
        let id = self.find(arguments.run.as_deref(), is_unfinished).await?;
        let decision = match (arguments.rerun, arguments.fail) {
            (true, _) => Some(Decision::Rerun),
            (_, true) => Some(Decision::Fail),
            _ => None,
        };
        let given = runs::given(session, &arguments.input, None, &[])?;
        let inputs = given.iter().map(|(name, value)| (name.clone(), to_json(value))).collect();
        let known = self.length(&id).await?;
        self.abide.runs().resume(&id, decision, inputs).await.map_err(|error| failure(&error))?;
        self.follow(session, &id, known).await
    }
}

/// Finds what is answered: the step that is named, else the only question of the run and those that it calls; a plan has no step.
fn asked(run: &Run, step: Option<&str>) -> Result<(String, Option<String>), Failure> {
    let mut all = Vec::new();
    collect(run, &mut all);
    let own = run.steps.iter().any(|known| Some(known.step.as_str()) == step);
    let fits: Vec<&(String, Option<String>)> = match step {
        // A step of the run itself is the one that is meant, also to be told why it cannot be answered.
        Some(step) if own => return Ok((run.run.clone(), Some(step.to_owned()))),
        Some(step) => all.iter().filter(|(_, known)| known.as_deref() == Some(step)).collect(),
        None => all.iter().collect(),
    };
    match (&fits[..], step) {
        ([only], _) => Ok((*only).clone()),
        ([], Some(step)) => Ok((run.run.clone(), Some(step.to_owned()))),
        ([], None) => {
            Err(Failure::new(Exit::Refused, format!("run {} does not wait for an answer", run.run)))
        }
        (many, _) => {
            let shown =
                many.iter().map(|(id, step)| format!("{} of {id}", step.as_deref().unwrap_or("the plan")));
            let shown = shown.collect::<Vec<_>>().join(", ");
            Err(Failure::new(Exit::Usage, format!("run {} waits for several answers: {shown}", run.run))
                .help("name the run and the step"))
        }
    }
}

fn collect(run: &Run, all: &mut Vec<(String, Option<String>)>) {
    if run.status == RunStatus::AwaitingPlan {
        all.push((run.run.clone(), None));
    }
    all.extend(run.questions.iter().map(|question| (run.run.clone(), Some(question.step.clone()))));
    for child in &run.children {
        collect(child, all);
    }
}

//! `case.yaml`: what happens in a case, and what must come of it.
#![expect(clippy::disallowed_methods, reason = "a case is read from its folder")]

use super::fields::{Fields, plain};
use crate::runner::{Script, read_script};
use abide_core::value::Value;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of its folder, such as `012-needs-reorder`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it shows, in one sentence.
    pub shows: String,
    /// The inputs that are given.
    pub inputs: Vec<(String, Value)>,
    /// The text that starts the run.
    pub text: String,
    /// Who starts it.
    pub by: String,
    /// Named secrets.
    pub secrets: Vec<(String, String)>,
    /// What agents and skills answer.
    pub agents: Script,
    /// What happens from outside, one after the other.
    pub acts: Vec<Act>,
    /// Whether the lines of the log are compared without their order, because steps run at the same time.
    pub any_order: bool,
    /// What must come of it.
    pub expected: Expected,
}

/// Something that happens to the run from outside.
#[derive(Debug, Clone)]
pub struct Act {
    /// The beginning of a line of the log that must be there before; looked for after the one of the act before.
    pub after: Option<String>,
    /// A file of the project that must be there before.
    pub once: Option<String>,
    /// What happens.
    pub what: What,
    /// Why it must be refused, if it must.
    pub refused: Option<String>,
}

/// What happens to the run.
#[derive(Debug, Clone)]
pub enum What {
    /// Somebody answers a question.
    Answer {
        /// Of which step.
        step: String,
        /// With what.
        with: String,
        /// Who.
        by: String,
        /// Why.
        comment: Option<String>,
    },
    /// Somebody answers the plan.
    Plan {
        /// What.
        approved: bool,
        /// Who.
        by: String,
        /// Why.
        comment: Option<String>,
    },
    /// Somebody cancels the run.
    Cancel {
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// The driver leaves in the middle, and another one takes over.
    Leave,
    /// Somebody decides about a step that the driver left in the middle.
    Resolve {
        /// Which.
        step: String,
        /// `true` to run it again, `false` to count it as failed.
        rerun: bool,
        /// Who.
        by: String,
    },
    /// Somebody changes a file beside the ability.
    Write {
        /// The file, relative to the case.
        file: String,
        /// What it holds now.
        text: String,
    },
}

/// What must come of a case.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// Why the run must not start.
    pub refused: Option<String>,
    /// How the run ends.
    pub status: Option<String>,
    /// Why.
    pub error: Option<String>,
    /// How its steps end.
    pub steps: Vec<(String, StepExpected)>,
    /// Files in the project afterwards, with their text; nothing for one that must not be there.
    pub files: Vec<(String, Option<String>)>,
}

/// How a step must end.
#[derive(Debug, Clone, Default)]
pub struct StepExpected {
    /// In one word.
    pub status: Option<String>,
    /// How many attempts there were.
    pub attempts: Option<i64>,
    /// Its output, without line ends at its end.
    pub output: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Why it failed or was skipped.
    pub error: Option<String>,
}

impl Case {
    /// Reads the case in a folder; the error says what is wrong with it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("case.yaml");
        let wrong = |what: String| format!("{}: {what}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let data = abide_formats::yaml::data(&text).map_err(wrong)?;
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        case(name, folder, &data).map_err(wrong)
    }

    /// Reads all cases below a folder, in the order of their names.
    pub fn all(folder: &Path) -> Result<Vec<Self>, String> {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.join("case.yaml").exists())
            .collect();
        folders.sort_unstable();
        folders.iter().map(|folder| Self::read(folder)).collect()
    }

    /// Returns the name of its ability: the folder's without the number.
    pub fn ability(&self) -> &str {
        self.name.split_once('-').map_or(&self.name, |(_, rule)| rule)
    }
}

fn case(name: String, folder: &Path, data: &Value) -> Result<Case, String> {
    let names = ["shows", "inputs", "text", "by", "secrets", "agents", "do", "order", "expect"];
    let fields = Fields::of(data, "a case", &names)?;
    let secrets = fields.entries("secrets")?;
    Ok(Case {
        name,
        folder: folder.to_path_buf(),
        shows: fields.text("shows")?.ok_or("it does not say what it `shows`")?,
        inputs: fields.entries("inputs")?,
        text: fields.text("text")?.unwrap_or_default(),
        by: fields.text("by")?.unwrap_or_else(|| "ada".to_owned()),
        secrets: secrets.into_iter().map(|(name, value)| (name, plain(&value))).collect(),
        agents: fields.get("agents").map_or_else(|| Ok(Vec::new()), read_script)?,
        acts: fields.list("do")?.iter().map(act).collect::<Result<_, _>>()?,
        any_order: match fields.text("order")?.as_deref() {
            None => false,
            Some("any") => true,
            Some(other) => return Err(format!("`order` is `any` or left out, not `{other}`")),
        },
        expected: expected(fields.get("expect").ok_or("it does not say what to `expect`")?)?,
    })
}

fn act(data: &Value) -> Result<Act, String> {
    let names = ["after", "once", "refused", "answer", "plan", "cancel", "leave", "resolve", "write"];
    let fields = Fields::of(data, "an act", &names)?;
    let by = |fields: &Fields<'_>| Ok::<_, String>(fields.text("by")?.unwrap_or_else(|| "grace".to_owned()));
    let what = if let Some(data) = fields.get("answer") {
        let answer = Fields::of(data, "`answer`", &["step", "with", "by", "comment"])?;
        let step = answer.text("step")?.ok_or("`answer` needs `step`")?;
        let with = answer.text("with")?.ok_or("`answer` needs `with`")?;
        What::Answer { step, with, by: by(&answer)?, comment: answer.text("comment")? }
    } else if let Some(data) = fields.get("plan") {
        let plan = Fields::of(data, "`plan`", &["approved", "by", "comment"])?;
        let approved = plan.flag("approved")?;
        What::Plan { approved, by: by(&plan)?, comment: plan.text("comment")? }
    } else if let Some(data) = fields.get("cancel") {
        let cancel = Fields::of(data, "`cancel`", &["by", "reason"])?;
        What::Cancel { by: by(&cancel)?, reason: cancel.text("reason")? }
    } else if fields.get("leave").is_some() {
        What::Leave
    } else if let Some(data) = fields.get("resolve") {
        let resolve = Fields::of(data, "`resolve`", &["step", "rerun", "by"])?;
        let step = resolve.text("step")?.ok_or("`resolve` needs `step`")?;
        What::Resolve { step, rerun: resolve.flag("rerun")?, by: by(&resolve)? }
    } else if let Some(data) = fields.get("write") {
        let write = Fields::of(data, "`write`", &["file", "text"])?;
        let file = write.text("file")?.ok_or("`write` needs `file`")?;
        What::Write { file, text: write.text("text")?.unwrap_or_default() }
    } else {
        return Err(format!("an act does nothing: {data}"));
    };
    Ok(Act {
        after: fields.text("after")?,
        once: fields.text("once")?,
        what,
        refused: fields.text("refused")?,
    })
}

fn expected(data: &Value) -> Result<Expected, String> {
    let fields = Fields::of(data, "`expect`", &["refused", "status", "error", "steps", "files"])?;
    let file = |(name, value): (String, Value)| match value {
        Value::Null => (name, None),
        value => (name, Some(plain(&value))),
    };
    let expected = Expected {
        refused: fields.text("refused")?,
        status: fields.text("status")?,
        error: fields.text("error")?,
        steps: fields
            .entries("steps")?
            .into_iter()
            .map(|(name, value)| Ok((name, step(&value)?)))
            .collect::<Result<_, String>>()?,
        files: fields.entries("files")?.into_iter().map(file).collect(),
    };
    if expected.refused.is_none() == expected.status.is_none() {
        return Err("`expect` has either `status` or `refused`".to_owned());
    }
    Ok(expected)
}

fn step(data: &Value) -> Result<StepExpected, String> {
    if let Value::Text(status) = data {
        return Ok(StepExpected { status: Some(status.clone()), ..StepExpected::default() });
    }
    let fields = Fields::of(data, "a step", &["status", "attempts", "output", "exit_code", "error"])?;
    Ok(StepExpected {
        status: fields.text("status")?,
        attempts: fields.number("attempts")?,
        output: fields.text("output")?,
        exit_code: fields.number("exit_code")?,
        error: fields.text("error")?,
    })
}

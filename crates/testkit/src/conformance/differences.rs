//! What came of a case, held against what the case says.

use super::case::{Case, StepExpected};
use super::perform::Performed;
use abide_core::event::StepKey;
use abide_core::run::{InstanceState, Phase, Run, StepStatus};
use std::fmt::Write as _;

impl Performed {
    /// Returns the log as the file `expected.log` holds it.
    pub fn log_text(&self, case: &Case) -> String {
        let mut lines: Vec<&str> = self.log.iter().map(String::as_str).collect();
        if case.any_order {
            lines.sort_unstable();
        }
        lines.iter().fold(String::new(), |text, line| text + line + "\n")
    }

    /// Returns everything that is not as the case says, each as a line; `log` is the text of `expected.log`.
    pub fn differences(&self, case: &Case, log: &str) -> Vec<String> {
        let mut found = self.surprises.clone();
        let expected = &case.expected;
        match (&self.run, &expected.refused) {
            (Err(refused), Some(wanted)) => differ(&mut found, "refused", wanted, refused),
            (Err(refused), None) => found.push(format!("it did not start: {refused}")),
            (Ok(_), Some(wanted)) => found.push(format!("it started, and should not: {wanted}")),
            (Ok(run), None) => {
                differ(
                    &mut found,
                    "status",
                    expected.status.as_deref().unwrap_or_default(),
                    run.status().word(),
                );
                let error = match &run.phase {
                    Phase::Finished(_, error) => error.clone().unwrap_or_default(),
                    _ => "it is not over".to_owned(),
                };
                let error = self.stable(run, &error);
                differ(&mut found, "error", expected.error.as_deref().unwrap_or_default(), &error);
                for (step, wanted) in &expected.steps {
                    self.step(&mut found, run, step, wanted);
                }
            }
        }
        for (file, wanted) in &expected.files {
            let here = self.project.read(file);
            let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "(no such file)".to_owned());
            differ(&mut found, &format!("file {file}"), &said(wanted), &said(&here));
        }
        let here = self.log_text(case);
        if here != log {
            found.push(format!("the log is another:\n{}", diff(log, &here)));
        }
        found
    }

    fn stable(&self, run: &Run, text: &str) -> String {
        text.replace(&self.project.root().display().to_string(), "PROJECT").replace(run.id.as_str(), "RUN")
    }

    fn step(&self, found: &mut Vec<String>, run: &Run, step: &str, wanted: &StepExpected) {
        let Some(key) = StepKey::parse(step) else {
            found.push(format!("`{step}` is not a step"));
            return;
        };
        let Some(position) = run.position(key.step.as_str()) else {
            found.push(format!("there is no step `{step}`"));
            return;
        };
        let state = &run.steps[position];
        let (status, result, error, attempts) = if key.item.is_some() {
            let Some(instance) = run.instance(&key) else {
                found.push(format!("there is no `{step}`"));
                return;
            };
            let error = instance.error.clone();
            (of_instance(&instance.state), &instance.result, error, instance.attempt)
        } else {
            let attempts = state.instances.iter().map(|instance| instance.attempt).sum();
            (of_step(&state.status), &state.result, state.note.clone(), attempts)
        };
        if let Some(wanted) = &wanted.status {
            differ(found, &format!("{step}: status"), wanted, status);
        }
        if let Some(wanted) = wanted.attempts {
            differ(found, &format!("{step}: attempts"), &wanted.to_string(), &attempts.to_string());
        }
        if let Some(wanted) = &wanted.output {
            let output = self.stable(run, result.output.text.trim_end_matches('\n'));
            differ(found, &format!("{step}: output"), wanted, &output);
        }
        if let Some(wanted) = wanted.exit_code {
            let code = result.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            differ(found, &format!("{step}: exit code"), &wanted.to_string(), &code);
        }
        if let Some(wanted) = &wanted.error {
            let error = self.stable(run, &error.unwrap_or_default());
            differ(found, &format!("{step}: error"), wanted, &error);
        }
    }
}

fn of_step(status: &StepStatus) -> &'static str {
    status.word()
}

fn of_instance(state: &InstanceState) -> &'static str {
    match state {
        InstanceState::Completed => "completed",
        InstanceState::Failed => "failed",
        InstanceState::Rejected => "rejected",
        InstanceState::Skipped => "skipped",
        InstanceState::Cancelled => "cancelled",
        InstanceState::Lost => "lost",
        InstanceState::Ready | InstanceState::Paused(_) | InstanceState::Asking(_) => "waiting",
        InstanceState::Running { .. } => "running",
    }
}

fn differ(found: &mut Vec<String>, what: &str, wanted: &str, came: &str) {
    if wanted.trim_end() != came.trim_end() {
        found.push(format!("{what}\n      expected: {wanted}\n      came:     {came}"));
    }
}

/// Returns both texts with the lines that only one of them has marked, from the first that differs.
fn diff(wanted: &str, came: &str) -> String {
    let (wanted, came): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), came.lines().collect());
    let same = wanted.iter().zip(&came).take_while(|(one, other)| one == other).count();
    let mut text = String::new();
    for line in &wanted[..same] {
        let _ = writeln!(text, "        {line}");
    }
    for line in &wanted[same..] {
        let _ = writeln!(text, "      - {line}");
    }
    for line in &came[same..] {
        let _ = writeln!(text, "      + {line}");
    }
    text
}

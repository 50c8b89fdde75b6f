//! What an agent gets before its task: the outputs of the steps that it needs, and what its step adds to them.
//!
//! A long text is given as its start and its end with a line between that says where the whole is, so that a step
//! that wrote much leaves room for the others. Start at [`prior`], then [`context`], then [`message`].

use crate::definition::{Step, StepKind};
use crate::run::{Run, StepStatus};
use std::fmt::Write as _;

/// The most characters of one part.
pub const LONGEST_PART: usize = 40_000;
/// The most characters of all parts together, their headings included.
pub const LONGEST: usize = 80_000;

/// More parts are counted and not given.
const MOST_PARTS: usize = 150;
/// The most characters of a heading or of a pointer.
const LONGEST_LINE: usize = 160;
/// What a part takes beside its heading and its text, and what stands around all parts.
const BETWEEN: usize = 8;
const AROUND: usize = 200;
/// The most of what is missing: so many sentences, each so long.
const MOST_MISSING: usize = 50;
const LONGEST_MISSING: usize = 2_000;

/// A text that an agent gets before its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub heading: String,
    /// The text.
    pub text: String,
    /// Whether the text is only the start and the end of a longer one.
    pub cut: bool,
    /// Where the whole is, such as ``the whole: `abide logs RUN STEP` ``.
    pub whole: Option<String>,
}

/// A file of a project, as an agent gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its path, relative to where it was looked for.
    pub path: String,
    /// Its text, or the start and the end of it.
    pub text: String,
    /// Whether the middle was left out.
    pub cut: bool,
}

impl From<FileText> for Part {
    fn from(file: FileText) -> Self {
        let whole = Some(format!("the whole: {}", file.path));
        Self { heading: format!("File: {}", file.path), text: file.text, cut: file.cut, whole }
    }
}

/// Returns the outputs of the steps that a step `needs`, in the order in which it names them.
///
/// A step that was skipped has none. One that failed or was rejected (and the run went on) is said to be that.
pub fn prior(run: &Run, step: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    for need in &run.step(step).needs {
        let Some(position) = run.position(need.as_str()) else { continue };
        let (definition, state) = (run.step(position), &run.steps[position]);
        let how = match state.status {
            StepStatus::Completed => "",
            StepStatus::Failed => ", failed",
            StepStatus::Rejected => ", rejected",
            _ => continue,
        };
        let whole = match &state.result.run {
            Some(child) => format!("the whole: `abide logs {child}`"),
            None => format!("the whole: `abide logs {} {}`", run.id, **need),
        };
        let (text, cut, form) = match &state.result.summary {
            Some(summary) => (summary, true, ", summarized"),
            None => (&state.result.output.text, state.result.output.cut, ""),
        };
        parts.push(Part {
            heading: format!("Step: {} ({}{how}{form})", **need, author(definition)),
            text: text.clone(),
            cut,
            whole: Some(whole),
        });
    }
    parts
}

/// Returns who did a step: the agent, the skill, the ability, or else the type of the step.
fn author(step: &Step) -> &str {
    match &step.kind {
        StepKind::Agent(agent) => agent.agent.as_str(),
        StepKind::Skill(skill) => skill.skill.as_str(),
        StepKind::Workflow(workflow) => workflow.workflow.as_str(),
        StepKind::Script(_) | StepKind::Approval(_) => step.kind.step_type().word(),
    }
}

/// Returns the text that stands before a task; empty when there is nothing to give.
///
/// It has at most [`LONGEST`] characters, and [`LONGEST_PART`] of each part. Short parts stay whole; what is too much
/// is taken from the longest.
pub fn context(prior: &[Part], further: &[Part]) -> String {
    let given = prior.len().min(MOST_PARTS);
    let (prior, prior_left) = prior.split_at(given);
    let (further, further_left) = further.split_at(further.len().min(MOST_PARTS - given));
    let left_out = prior_left.len() + further_left.len();
    let room = room(prior.iter().chain(further));
    let mut out = String::new();
    for (title, parts) in [("Context from prior steps", prior), ("Further context", further)] {
        if parts.is_empty() {
            continue;
        }
        separate(&mut out);
        let _ = write!(out, "## {title}");
        for part in parts {
            separate(&mut out);
            let heading = line(&part.heading);
            let _ = write!(out, "### {heading}\n{}", bounded(part, room));
        }
    }
    if left_out > 0 {
        separate(&mut out);
        let _ = write!(out, "… {left_out} more left out …");
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns what an agent is told: what it gets before its task, the task, and what was missing last time.
pub fn message(context: &str, task: &str, missing: &[String]) -> String {
    let task = task.trim_end();
    let mut out = match context {
        "" => task.to_owned(),
        context => format!("{context}\n\n---\n\n## Your task\n{task}"),
    };
    if !missing.is_empty() {
        out.push_str(
            "\n\n## What is missing\nThe last attempt is not accepted. This was looked for and not found:\n",
        );
        for sentence in missing.iter().take(MOST_MISSING) {
            let sentence = head_and_tail(sentence, LONGEST_MISSING, " … ");
            let _ = write!(out, "\n- {sentence}");
        }
        if let Some(more @ 1..) = missing.len().checked_sub(MOST_MISSING) {
            let _ = write!(out, "\n- and {more} more");
        }
    }
    out
}

/// Begins a new paragraph.
fn separate(out: &mut String) {
    if !out.is_empty() {
        out.truncate(out.trim_end().len());
        out.push_str("\n\n");
    }
}

/// Returns how many characters the text of each part may have, so that all of them fit together.
fn room<'a>(parts: impl Iterator<Item = &'a Part>) -> usize {
    let mut total = LONGEST - AROUND;
    let mut lengths = Vec::new();
    for part in parts {
        total -= line(&part.heading).chars().count() + BETWEEN;
        lengths.push(length(part).min(LONGEST_PART));
    }
    lengths.sort_unstable();
    for (position, length) in lengths.iter().enumerate() {
        let each = total / (lengths.len() - position);
        if *length > each {
            return each;
        }
        total -= length;
    }
    LONGEST_PART
}

/// Returns how many characters a part takes if nothing of it is left out.
fn length(part: &Part) -> usize {
    let pointer = if part.cut { pointer(part).chars().count() } else { 0 };
    part.text.chars().count() + pointer
}

/// Returns the line that stands where something was left out.
fn pointer(part: &Part) -> String {
    match &part.whole {
        Some(whole) => format!("\n… left out; {} …\n", line(whole)),
        None => "\n… left out …\n".to_owned(),
    }
}

/// Returns the text of a part within a bound.
fn bounded(part: &Part, room: usize) -> String {
    let pointer = pointer(part);
    if length(part) > room {
        head_and_tail(&part.text, room, &pointer)
    } else if part.cut {
        format!("{}{pointer}", part.text)
    } else {
        part.text.clone()
    }
}

/// Returns the text, or its start and its end with `between` between them: at most `most` characters in all, as long
/// as that is more than `between` has.
fn head_and_tail(text: &str, most: usize, between: &str) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(between.chars().count());
    let head = kept.div_ceil(2);
    let offset = |characters: usize| text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let (start, end) = (offset(head), offset(count - (kept - head)));
    format!("{}{between}{}", &text[..start], &text[end..])
}

/// Returns a text as one line that is not too long.
fn line(text: &str) -> String {
    let text: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    head_and_tail(&text, LONGEST_LINE, "…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(heading: &str, text: &str) -> Part {
        Part {
            heading: heading.into(),
            text: text.into(),
            cut: false,
            whole: Some("the whole: `abide logs 7 a`".into()),
        }
    }

    fn count(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn what_a_prior_step_found_stands_before_the_task() {
        let context = context(&[part("Step: research (librarian)", "Cats are liquid.")], &[]);
        insta::assert_snapshot!(message(&context, "Create plan based on the research\n", &[]), @r"
        ## Context from prior steps

        ### Step: research (librarian)
        Cats are liquid.

        ---

        ## Your task
        Create plan based on the research
        ");
    }

    #[test]
    fn further_context_follows_and_what_was_missing_comes_last() {
        let prior = [part("Step: a (script)", "one\n"), part("Step: b (reviewer)", "two\n\n")];
        let further = [Part { heading: "Text".into(), text: "three".into(), cut: false, whole: None }];
        let missing = ["`out.txt` does not exist".to_owned()];
        insta::assert_snapshot!(message(&context(&prior, &further), "Do it.", &missing), @r"
        ## Context from prior steps

        ### Step: a (script)
        one

        ### Step: b (reviewer)
        two

        ## Further context

        ### Text
        three

        ---

        ## Your task
        Do it.

        ## What is missing
        The last attempt is not accepted. This was looked for and not found:

        - `out.txt` does not exist
        ");
    }

    #[test]
    fn a_task_without_context_is_told_as_it_stands() {
        assert_eq!(message(&context(&[], &[]), "Say hello", &[]), "Say hello");
    }

    #[test]
    fn forty_thousand_characters_are_whole_and_one_more_is_cut_in_the_middle() {
        let whole = "ä".repeat(LONGEST_PART);
        assert!(context(&[part("Step: a (script)", &whole)], &[]).ends_with(&whole));
        let long = format!("{}{}", "b".repeat(LONGEST_PART), "e");
        let cut = context(&[part("Step: a (script)", &long)], &[]);
        let text = cut.split_once("(script)\n").unwrap().1;
        assert_eq!(count(text), LONGEST_PART);
        assert!(text.starts_with("bbb") && text.ends_with("be"), "both ends are kept");
        assert!(text.contains("b\n… left out; the whole: `abide logs 7 a` …\nb"));
    }

    #[test]
    fn what_is_too_much_is_taken_from_the_longest() {
        let parts = [
            part("one", &"a".repeat(1_000)),
            part("two", &"b".repeat(70_000)),
            part("three", &"c".repeat(40_000)),
        ];
        let text = context(&parts, &[]);
        assert!(count(&text) <= LONGEST && count(&text) > LONGEST - 500, "{}", count(&text));
        let of = |letter: char| text.chars().filter(|found| *found == letter).count();
        assert_eq!(of('a'), 1_000 + text.matches("abide logs 7 a").count() * 2);
        assert!(of('b').abs_diff(of('c')) < 60, "{} {}", of('b'), of('c'));
    }

    #[test]
    fn a_text_that_was_cut_before_says_where_the_whole_is() {
        let short = Part { cut: true, ..part("Step: a (script)", "x") };
        assert!(context(&[short], &[]).ends_with("x\n… left out; the whole: `abide logs 7 a` …"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_context_is_longer_than_it_may_be_and_short_parts_are_whole(
            parts in proptest::collection::vec(("[aä😀\n#]{0,3}", 0_usize..60_000, any::<bool>(), 0_usize..400), 0..12),
            many in prop_oneof![Just(1_usize), Just(1), Just(40)],
        ) {
            let parts: Vec<Part> = parts.iter().cycle().take(parts.len() * many).map(|(unit, times, cut, heading)| Part {
                heading: "h".repeat(*heading),
                text: unit.repeat(*times / unit.chars().count().max(1)),
                cut: *cut,
                whole: cut.then(|| "w".repeat(*heading)),
            }).collect();
            let middle = parts.len() / 2;
            let text = context(&parts[..middle], &parts[middle..]);
            prop_assert!(count(&text) <= LONGEST, "{}", count(&text));
            if parts.len() <= MOST_PARTS {
                let total: usize = parts.iter().map(|part| count(&part.text) + LONGEST_LINE * 2 + 40).sum();
                for part in &parts {
                    if total < LONGEST - AROUND && count(&part.text) <= LONGEST_PART - 2 * LONGEST_LINE {
                        prop_assert!(text.contains(part.text.trim_end()));
                    }
                }
            }
        }

        #[test]
        fn a_cut_keeps_both_ends_and_never_tears_a_character(text in "[aä€😀]{0,80}", most in 5_usize..60) {
            let cut = head_and_tail(&text, most, "<->");
            prop_assert!(count(&cut) <= most.max(count(&text).min(most)));
            if count(&text) <= most {
                prop_assert_eq!(cut, text);
            } else {
                let (start, end) = cut.split_once("<->").unwrap();
                prop_assert!(text.starts_with(start) && text.ends_with(end));
                prop_assert_eq!(count(&cut), most);
            }
        }
    }
}

//! What there is to say about a run that is over ⇄ JSON, so that saying it needs neither the log nor the ability.

use abide_core::run::{RunStatus, Verdicts};
use abide_core::value::Value;
use abide_core::view::status::{Mark, Page, StepLine};

/// The statuses of a run that is over.
const ENDS: [RunStatus; 4] =
    [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled, RunStatus::TimedOut];

/// Writes a page on one line.
pub fn write_page(page: &Page) -> String {
    let text = |text: &str| Value::Text(text.to_owned());
    let maybe = |note: &Option<String>| note.as_deref().map_or(Value::Null, text);
    let Verdicts { until, denied, asked, warned, lost } = page.verdicts;
    let counts = [u64::from(denied), u64::from(asked), u64::from(warned), u64::from(lost), until];
    let line = |line: &StepLine| {
        Value::List(vec![
            text(&line.key),
            text(line.mark.sign()),
            Value::Int(i64::from(line.attempts)),
            maybe(&line.note),
        ])
    };
    Value::List(vec![
        text(&page.ability),
        text(page.status.word()),
        maybe(&page.error),
        Value::List(
            counts.iter().map(|count| Value::Int(i64::try_from(*count).unwrap_or(i64::MAX))).collect(),
        ),
        Value::List(page.lines.iter().map(line).collect()),
    ])
    .to_json()
}

/// Reads a page; nothing if it is none of a run that is over.
pub fn read_page(line: &str) -> Option<Page> {
    let Value::List(parts) = crate::json::parse(line).ok()? else { return None };
    let [Value::Text(ability), Value::Text(status), error, Value::List(counts), Value::List(lines)] =
        &parts[..]
    else {
        return None;
    };
    let [denied, asked, warned, lost, until] = &counts[..] else { return None };
    let lines = lines.iter().map(|line| {
        let Value::List(parts) = line else { return None };
        let [Value::Text(key), Value::Text(sign), attempts, note] = &parts[..] else { return None };
        Some(StepLine {
            key: key.clone(),
            mark: Mark::ALL.into_iter().find(|mark| mark.sign() == sign)?,
            note: maybe(note).ok()?,
            attempts: count(attempts)?,
        })
    });
    Some(Page {
        ability: ability.clone(),
        status: ENDS.into_iter().find(|end| end.word() == status)?,
        error: maybe(error).ok()?,
        verdicts: Verdicts {
            until: count(until)?,
            denied: count(denied)?,
            asked: count(asked)?,
            warned: count(warned)?,
            lost: count(lost)?,
        },
        lines: lines.collect::<Option<_>>()?,
    })
}

fn maybe(value: &Value) -> Result<Option<String>, NoText> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.clone())),
        _ => Err(NoText),
    }
}

/// Something else stands where a text may.
struct NoText;

fn count<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    let Value::Int(count) = value else { return None };
    T::try_from(*count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_a_run_that_goes_on_has_no_page() {
        let line = |key: &str, mark, note: Option<&str>| StepLine {
            key: key.to_owned(),
            mark,
            note: note.map(str::to_owned),
            attempts: 2,
        };
        let mut page = Page {
            ability: "deploy".to_owned(),
            status: RunStatus::Failed,
            error: Some("`a` failed:\n\"no\"".to_owned()),
            verdicts: Verdicts { until: 7, denied: 1, asked: 2, warned: 3, lost: 4 },
            lines: Mark::ALL.into_iter().map(|mark| line("a[é\n]", mark, Some("x\ny"))).collect(),
        };
        page.lines.push(line("b", Mark::Completed, None));
        let text = write_page(&page);
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(read_page(&text), Some(page.clone()));
        for end in 0..text.len() {
            assert_eq!(text.get(..end).and_then(read_page), None);
        }
        page.status = RunStatus::Running;
        assert_eq!(read_page(&write_page(&page)), None);
    }
}

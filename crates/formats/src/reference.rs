//! The reference page: every key of every format, written from the tables that the readers use.
//!
//! Start at [`markdown`]; `docs/reference.md` is its result.

use crate::config::OVERRIDES;
use crate::shape::{
    ABILITY, ABILITY_NAME, ADDRESS, AGENT, BUNDLE, CAPABILITY_ID, CONFIG, FOREIGN_NAME, Key, MODEL,
    MODEL_NAME, Others, REQUIREMENT, Record, SEARCH_ADDRESS, STEP_RECORDS, Shape, TOOL_NAME, VARIABLE_NAME,
    WORD,
};
use abide_core::definition::StepType;
use std::fmt::Write as _;

const HEAD: &str = "\
# Reference

Every key of abide's files. [abilities.md](abilities.md) teaches the format, and
[expressions.md](expressions.md) the templates and conditions in it; this page is for looking things up. It is
generated from the tables that abide reads files by (`cargo xtask generated`), so edit those, not this.

How values are written:

| value | what it is |
|---|---|
| text | a string; numbers and booleans are taken as they are written |
| template | text in which `{{ … }}` is replaced; see [templates](expressions.md#templates) |
| condition | an expression that is true or false; see [expressions](expressions.md#expressions) |
| duration | `500ms`, `30s`, `5m`, `1h30m`, `2d`: always with a unit, large units first |
| regular expression | linear time: no look-around, no back-references; it matches anywhere, so anchor it with `^…$` |
| name | letters, digits, `-` and `_`; starts with a letter or `_`; up to 64 characters |
| ability name | lower-case letters, digits, `-` and `_`, in parts separated by `/`, as in `deploy/production` |
| agent or skill name | letters, digits and `-` `_` `.` `:` `/` `@` `+`; up to 128 characters |
";

/// Returns the page.
pub fn markdown() -> String {
    let mut page = Page { text: HEAD.to_owned(), written: Vec::new() };
    page.part("ability.yaml", &ABILITY);
    page.part("Agent profiles", &AGENT);
    page.part("Capabilities", &BUNDLE);
    page.part("config.yaml", &CONFIG);
    page.overrides();
    page.text
}

struct Page {
    text: String,
    /// The records that have a section.
    written: Vec<&'static str>,
}

impl Page {
    /// Writes a file format: its outermost mapping, then everything inside it.
    fn part(&mut self, heading: &str, record: &'static Record) {
        let _ = write!(self.text, "\n## {heading}\n\n{}\n", record.doc);
        if record.others == Others::Foreign {
            self.text.push_str("Keys that are not listed belong to other tools and are left alone.\n");
        }
        self.table(record.keys());
        self.inside(record);
    }

    /// Writes the sections of the records that the keys of one record lead to.
    fn inside(&mut self, record: &'static Record) {
        let mut found = Vec::new();
        record.keys().for_each(|key| records(key.shape, &mut found));
        for inner in found {
            if self.written.contains(&inner.name) {
                continue;
            }
            if is_step(inner) {
                self.steps();
                continue;
            }
            self.written.push(inner.name);
            let _ = write!(self.text, "\n### {}\n\n{}\n", inner.name, inner.doc);
            self.table(inner.keys());
            self.inside(inner);
        }
    }

    /// Writes the keys of all steps, each group of keys once with the types of steps that have it.
    fn steps(&mut self) {
        let mut groups: Vec<(&'static [Key], Vec<StepType>)> = Vec::new();
        for (step_type, record) in STEP_RECORDS {
            self.written.push(record.name);
            for group in record.groups {
                match groups.iter_mut().find(|(known, _)| std::ptr::eq(*known, *group)) {
                    Some((_, types)) => types.push(step_type),
                    None => groups.push((group, vec![step_type])),
                }
            }
        }
        for (group, types) in groups.iter().filter(|(_, types)| types.len() > 1) {
            if types.len() == STEP_RECORDS.len() {
                self.text.push_str("\n### every step\n\nKeys that every step has.\n");
            } else {
                let words: Vec<&str> = types.iter().map(|step_type| step_type.word()).collect();
                let list = and(&words);
                let _ = write!(self.text, "\n### {list} steps\n\nKeys that {list} steps share.\n");
            }
            self.table(group.iter());
        }
        for (step_type, record) in STEP_RECORDS {
            let _ = write!(self.text, "\n### {}\n\n{}\n", record.name, record.doc);
            let own = groups.iter().filter(|(_, types)| types[..] == [step_type]);
            self.table(own.flat_map(|(group, _)| group.iter()));
        }
        for (_, record) in STEP_RECORDS {
            self.inside(record);
        }
    }

    fn table<'a>(&mut self, keys: impl Iterator<Item = &'a Key>) {
        self.text.push_str("\n| key | value | default | what it does |\n|---|---|---|---|\n");
        for key in keys {
            let default = match (key.required, key.default) {
                (true, _) => "**required**",
                (false, Some(default)) => default,
                (false, None) => "",
            };
            let _ = writeln!(
                self.text,
                "| `{}` | {} | {} | {} |",
                key.name,
                cell(&value(key.shape)),
                cell(default),
                cell(key.doc)
            );
        }
    }

    fn overrides(&mut self) {
        self.text.push_str(
            "\n## Environment variables\n\nEach overrides one key of the configuration. Booleans are `true`, `1`, `false` or `0`; folders are\nseparated by `:`; an empty variable counts as unset.\n\n| variable | key |\n|---|---|\n",
        );
        for entry in OVERRIDES {
            let _ = writeln!(self.text, "| `{}` | `{}` |", entry.variable, entry.key);
        }
    }
}

fn is_step(record: &Record) -> bool {
    STEP_RECORDS.iter().any(|(_, step)| std::ptr::eq(*step, record))
}

/// Collects the records that a value may hold, in order.
fn records(shape: Shape, found: &mut Vec<&'static Record>) {
    match shape {
        Shape::Record(record) => found.push(record),
        Shape::List(item, _) | Shape::OneOrMany(item) | Shape::Map(_, item) => records(*item, found),
        Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| records(*shape, found)),
        Shape::Text
        | Shape::Template
        | Shape::Expression
        | Shape::Duration
        | Shape::Regex
        | Shape::Name(_)
        | Shape::Bool
        | Shape::Int(..)
        | Shape::Number
        | Shape::Amount(_)
        | Shape::Choice(_)
        | Shape::Nothing
        | Shape::Data
        | Shape::Schema => {}
    }
}

/// Says what a value may be.
fn value(shape: Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Template => "template".to_owned(),
        Shape::Expression => "condition".to_owned(),
        Shape::Duration => "duration".to_owned(),
        Shape::Regex => "regular expression".to_owned(),
        Shape::Name(pattern) => name(pattern).to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Int(least, most) => format!("whole number, {least} to {most}"),
        Shape::Number => "number".to_owned(),
        Shape::Amount(most) => format!("number, 0 to {most}"),
        Shape::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" / "),
        Shape::List(item, _) => format!("list of: {}", value(*item)),
        Shape::OneOrMany(item) => format!("{}, or a list of such", value(*item)),
        Shape::Map(key, item) => format!("mapping from {} to: {}", name(key), value(*item)),
        Shape::Record(record) => format!("[{}](#{})", record.name, record.name.replace(' ', "-")),
        Shape::AnyOf(shapes) => or(&shapes.iter().map(|shape| value(*shape)).collect::<Vec<_>>()),
        Shape::Nothing => "nothing".to_owned(),
        Shape::Data => "any value".to_owned(),
        Shape::Schema => "JSON Schema".to_owned(),
    }
}

fn name(pattern: &str) -> &'static str {
    match pattern {
        WORD => "name",
        ABILITY_NAME => "ability name",
        FOREIGN_NAME => "agent or skill name",
        VARIABLE_NAME => "variable name",
        MODEL_NAME => "`provider/model`",
        MODEL => "model",
        CAPABILITY_ID => "capability id",
        REQUIREMENT => "capability id, perhaps with `@version`",
        TOOL_NAME => "tool name",
        ADDRESS => "address",
        SEARCH_ADDRESS => "address with `{query}`",
        _ => "text",
    }
}

fn and(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

fn or(alternatives: &[String]) -> String {
    match alternatives.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{}, or {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Keeps text within its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every record that a format leads to.
    fn all(record: &'static Record, found: &mut Vec<&'static Record>) {
        if found.iter().any(|known| std::ptr::eq(*known, record)) {
            return;
        }
        found.push(record);
        let mut inner = Vec::new();
        record.keys().for_each(|key| records(key.shape, &mut inner));
        for record in inner {
            all(record, found);
        }
    }

    fn every_record() -> Vec<&'static Record> {
        let mut found = Vec::new();
        for record in [&ABILITY, &AGENT, &BUNDLE, &CONFIG] {
            all(record, &mut found);
        }
        found
    }

    /// Returns the rows between a heading and the next one.
    fn rows<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
        let Some((_, section)) = page.split_once(&format!("\n{heading}\n")) else {
            panic!("no section {heading:?}")
        };
        let section = section.split("\n#").next().unwrap_or_default();
        section.lines().filter(|line| line.starts_with("| `")).collect()
    }

    #[test]
    fn every_key_of_every_record_has_its_row() {
        let page = markdown();
        for record in every_record() {
            for key in record.keys() {
                let row = format!("| `{}` | {} |", key.name, cell(&value(key.shape)));
                assert!(page.contains(&row), "{}: {row}", record.name);
            }
        }
    }

    #[test]
    fn every_link_leads_to_one_section() {
        let page = markdown();
        for record in every_record() {
            if ["ability", "agent", "capability", "configuration"].contains(&record.name) {
                continue;
            }
            let heading = format!("\n### {}\n", record.name);
            assert_eq!(page.matches(&heading).count(), 1, "{heading}");
        }
    }

    #[test]
    fn keys_that_steps_share_are_written_once() {
        let page = markdown();
        assert_eq!(rows(&page, "### every step").len(), 6);
        assert_eq!(rows(&page, "### script, agent, skill and workflow steps").len(), 7);
        assert_eq!(rows(&page, "### script, agent and skill steps").len(), 1);
        assert_eq!(rows(&page, "### workflow step").len(), 2);
        assert!(rows(&page, "### script step").iter().any(|row| row.contains("**required**")));
    }
}

//! `SKILL.md`: Markdown whose frontmatter names a skill, read as the clients that share these files read it.
//!
//! Lenient where they are lenient, so that a skill works everywhere or nowhere, with two exceptions that are on purpose:
//! frontmatter in another language (`---js`) is never evaluated, and nothing is dropped or repaired without a word.

mod frontmatter;
mod repair;
mod split;

use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::skill::Skill;
use abide_core::source::Span;
use abide_core::value::Value;
use frontmatter::{Failure, Field, Held};
use split::Split;
use std::borrow::Cow;

/// What came of reading one `SKILL.md`.
#[derive(Debug)]
pub struct Reading {
    /// The skill, if it is one.
    pub skill: Option<Skill>,
    /// Why it is none, or what had to be repaired.
    pub problems: Vec<Diagnostic>,
}

/// Reads the bytes of a `SKILL.md`; what is not UTF-8 is replaced, as every other client does.
pub fn read(bytes: &[u8]) -> Reading {
    let (mut reading, body) = skim(bytes);
    if let Some(skill) = &mut reading.skill {
        skill.body = body.into_owned();
    }
    reading
}

/// Reads the same and leaves the body where it is: the skill has none, and it stands beside it.
pub fn skim(bytes: &[u8]) -> (Reading, Cow<'_, str>) {
    match str::from_utf8(bytes) {
        Ok(text) => {
            let (reading, body) = read_text(text);
            (reading, Cow::Borrowed(body))
        }
        Err(_) => {
            let text = String::from_utf8_lossy(bytes);
            let (mut reading, body) = read_text(&text);
            let body = body.to_owned();
            if reading.skill.is_some() {
                reading.problems.push(
                    Diagnostic::whole_file(Code::SkillRepaired, "bytes that are not UTF-8 were replaced")
                        .help("save the file as UTF-8"),
                );
            }
            (reading, Cow::Owned(body))
        }
    }
}

/// Reads a text; the body is beside what was read.
fn read_text(text: &str) -> (Reading, &str) {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (matter, offset, body) = match split::split(bare) {
        Split::None => return (dropped(crate::frontmatter::missing()), ""),
        Split::Language(language) => {
            let problem = Diagnostic::whole_file(
                Code::NoFrontmatter,
                format!("the frontmatter says that it is `{}`", abide_core::diagnostic::excerpt(language)),
            )
            .help("start the file with `---` alone: abide reads YAML there, and never runs anything");
            return (dropped(problem), "");
        }
        Split::Found { matter, offset, body } => (matter, offset, body),
    };
    let offset = offset + text.len() - bare.len();
    let reading = match frontmatter::parse(matter) {
        Ok(fields) => accept(fields, Vec::new()),
        Err(failure) => match repair::repaired(text) {
            Some(fields) => {
                let problem = syntax(text, offset, &failure, Code::SkillRepaired);
                accept(Some(fields), vec![problem])
            }
            None => dropped(syntax(text, offset, &failure, Code::BadYaml)),
        },
    };
    (reading, body)
}

fn dropped(problem: Diagnostic) -> Reading {
    Reading { skill: None, problems: vec![problem] }
}

fn syntax(text: &str, offset: usize, failure: &Failure, code: Code) -> Diagnostic {
    let at = text.floor_char_boundary((offset + failure.at).min(text.len()));
    let message = match code {
        Code::SkillRepaired => {
            format!("values with colons were read as plain text, because {}", failure.message)
        }
        _ => format!("this is not valid YAML: {}", failure.message),
    };
    Diagnostic::new(code, Span::at(at), message).help("put values with `: ` or special characters in quotes")
}

/// Makes a skill of its fields, if it has a name.
fn accept(fields: Option<Vec<Field>>, mut problems: Vec<Diagnostic>) -> Reading {
    let Some(fields) = fields else {
        return dropped(
            Diagnostic::whole_file(Code::WrongType, "the frontmatter is not a mapping")
                .help("write `name: …` and `description: …` between the fences"),
        );
    };
    let mut name = None;
    let mut description = None;
    let mut others = Vec::with_capacity(fields.len());
    for Field { key, value } in fields {
        match key.as_str() {
            "name" => name = Some(value),
            "description" => description = Some(value),
            _ => match value {
                Held::Text(text) | Held::NoText(text) => others.push((key, Value::Text(text))),
                Held::Other(value) => others.push((key, value)),
                Held::TooMuch => problems.push(Diagnostic::whole_file(
                    Code::SkillRepaired,
                    format!(
                        "`{}` holds more than is kept, and was left out",
                        abide_core::diagnostic::excerpt(&key)
                    ),
                )),
            },
        }
    }
    let wrong = |key: &str, held: &Held| {
        let kind = match held {
            Held::NoText(_) => "a date or bytes",
            Held::Other(value) => value.kind(),
            Held::Text(_) | Held::TooMuch => "more than is kept",
        };
        Diagnostic::whole_file(Code::WrongType, format!("`{key}` is {kind}, not a text"))
            .help(format!("put the value of `{key}` in quotes"))
    };
    let name = match name {
        Some(Held::Text(name)) => name,
        Some(other) => return dropped(wrong("name", &other)),
        None => {
            return dropped(
                Diagnostic::whole_file(Code::MissingKey, "the skill has no `name`")
                    .help("write `name: …` between the fences, best the name of the folder"),
            );
        }
    };
    let description = match description {
        None => None,
        Some(Held::Text(text)) => Some(text),
        Some(other) => return dropped(wrong("description", &other)),
    };
    Reading { skill: Some(Skill { name, description, fields: others, body: String::new() }), problems }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(text: &str) -> Skill {
        read(text.as_bytes()).skill.unwrap_or_else(|| panic!("{:?}", read(text.as_bytes()).problems))
    }

    fn why(text: &str) -> String {
        let reading = read(text.as_bytes());
        assert_eq!(reading.skill, None, "{text}");
        reading.problems[0].message.clone()
    }

    #[test]
    fn a_skill_is_read_as_it_stands() {
        let skill = skill(
            "\u{feff}---\r\nname: a\r\ndescription: >\r\n  one\r\n  two\r\nlicense: MIT\r\n---\r\n\r\nBody\r\n",
        );
        assert_eq!((skill.name.as_str(), skill.description.as_deref()), ("a", Some("one two\n")));
        assert_eq!(skill.fields, [("license".to_owned(), Value::Text("MIT".into()))]);
        assert_eq!(skill.body, "\r\nBody\r\n");
    }

    #[test]
    fn only_what_fails_is_repaired_and_what_parsed_stays() {
        let text = "---\nname: x\ndescription: Use when: always\nmetadata: {k: v}\nlicense: MIT\n---\nb";
        let reading = read(text.as_bytes());
        let repaired = reading.skill.unwrap();
        assert_eq!(repaired.description.as_deref(), Some("Use when: always"));
        assert_eq!(repaired.field("metadata").unwrap().to_string(), "{\"k\":\"v\"}");
        assert_eq!(reading.problems[0].code, Code::SkillRepaired);
        assert_eq!(read(b"---\nname: x\ndescription: see http://x\n---\n").problems, []);
    }

    #[test]
    fn other_languages_are_never_read() {
        for language in ["js", "javascript", "json", "coffee", " js ", "toml"] {
            let text = format!("---{language}\nname: process.exit(1)\n---\nbody");
            assert_eq!(why(&text), format!("the frontmatter says that it is `{}`", language.trim()));
        }
    }

    #[test]
    fn whatever_is_dropped_says_why() {
        for (text, message) in [
            ("", "the file has no frontmatter"),
            ("# Title\n", "the file has no frontmatter"),
            ("\n---\nname: a\n---\n", "the file has no frontmatter"),
            ("----\nname: a\n---\n", "the file has no frontmatter"),
            ("---\n---\nbody", "the skill has no `name`"),
            ("---\nname: 12\n---\n", "`name` is an integer, not a text"),
            ("---\nname: 2024-01-01\n---\n", "`name` is a date or bytes, not a text"),
            ("---\nname: a\ndescription:\n---\n", "`description` is nothing, not a text"),
            ("---\nname: a\ndescription: [x]\n---\n", "`description` is a list, not a text"),
            ("---\n- name: a\n---\n", "the frontmatter is not a mapping"),
            ("---\nname: a\nname: b\n---\n", "this is not valid YAML: the key `name` is given twice"),
            (
                "---\nargument-hint: [a] [b]\nname: a\n---\n",
                "this is not valid YAML: a colon is missing after a key",
            ),
        ] {
            assert_eq!(why(text), message, "{text}");
        }
        assert_eq!(skill("---\nname: a").body, "");
    }

    #[test]
    fn no_file_takes_more_than_its_length_tells() {
        let many = |count: usize, part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<String>();
        let texts = [
            many(50_000, &|index| format!("k{index}:\n")),
            many(50_000, &|index| format!("? k{index}\n")),
            format!("x: [{}]", many(100_000, &|_| "!!str a,".to_owned())),
            format!("x: {{{}}}", many(50_000, &|index| format!("k{index}: v,"))),
            format!("x: a: b\n{}", many(20_000, &|index| format!("k{index}: a: b\n"))),
        ];
        for text in texts {
            let reading = read(format!("---\nname: x\n{text}\n---\n").as_bytes());
            assert_eq!(reading.skill.map(|skill| skill.name).as_deref(), Some("x"));
        }
        // Each of these would hold gigabytes, or take minutes to find out that nothing new comes.
        let long = "y".repeat(1 << 20);
        let keys = many(1_000, &|index| format!("k{index}: v,"));
        let (texts, maps) = ("*x,".repeat(9_000), "*a,".repeat(100_000));
        let repeated = format!("---\nname: x\na: &x {long}\nb: [{texts}]\nc: *x\nd: *x\ne: short\n---\n");
        let reading = read(repeated.as_bytes());
        let left_out: Vec<&str> = reading.problems.iter().map(|problem| problem.message.as_str()).collect();
        let too_much = |key: &str| format!("`{key}` holds more than is kept, and was left out");
        assert_eq!(left_out, ["b", "c", "d"].map(too_much));
        assert_eq!(reading.skill.unwrap().field("e"), Some(&Value::Text("short".into())));
        assert_eq!(
            why(&format!("---\na: &a {{{keys}}}\nb:\n  <<: [{maps}]\n---\n")),
            "this is not valid YAML: merges bring more than is kept"
        );
        assert_eq!(
            why(&format!("---\na: &x {long}\n? [{texts}]\n: v\n---\n")),
            "this is not valid YAML: a key is longer than is kept"
        );
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced_and_said() {
        let reading = read(b"---\nname: a\xff\n---\n");
        assert_eq!(reading.skill.unwrap().name, "a\u{fffd}");
        assert_eq!(reading.problems[0].message, "bytes that are not UTF-8 were replaced");
    }
}

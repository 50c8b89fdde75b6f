//! Skills are read as the library reads them that other clients use: compared over many nasty files.
//!
//! Each file is made from one number, so that a difference can be looked at again by its number.

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A small generator of numbers, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).unwrap()
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const OPENINGS: &[&str] = &[
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "--- \n",
    "---\t\n",
    "----\n",
    "\n---\n",
    "\u{feff}---\n",
    " ---\n",
];
const CLOSINGS: &[&str] = &[
    "\n---\n",
    "\n---\n",
    "\n---\n",
    "\n---\n",
    "\n---",
    "\n----\n",
    "\n---foo\n",
    "\n --- \n",
    "",
    "\n...\n",
    "\n---\r\n",
    "\n\n---\n\n",
];
const BODIES: &[&str] = &["Body\n", "", "\n\nBody $1\n", "---\nmore", "\r\n# Title\r\n"];
const KEYS: &[&str] = &[
    "name",
    "description",
    "license",
    "metadata",
    "allowed-tools",
    "tags",
    "x_y",
    "version",
    "\"name\"",
    "'description'",
    "? name",
    "- name",
    " name",
    "  description",
    "name ",
    "\tname",
    "<<",
    "__proto__",
    "0",
    "é",
    "argument-hint",
];
const PLAIN: &[&str] = &["my-skill", "Does things", "a b", "x", "Use it for this and that"];
const VALUES: &[&str] = &[
    "foo",
    "a: b",
    "Use when: x",
    "\"quoted\"",
    "'single'",
    "\"unclosed",
    "'it''s'",
    "it's",
    "don't: do",
    "[a, b]",
    "[a] [b]",
    "{a: b}",
    "{a: b",
    "> ",
    ">-\n  folded\n  text",
    "|\n  lit\n   more\n\n  x",
    "|-\n  a: b\n",
    ">\n\n  x\n\n y",
    "*alias",
    "&anchor val",
    "!!str 5",
    "!custom x",
    "!!int \"5\"",
    "!!binary aGk=",
    "@at",
    "`tick`",
    "%pct",
    "# comment",
    "foo # comment",
    "foo#notcomment",
    "12",
    "1.5",
    "true",
    "null",
    "~",
    "",
    "2024-01-01",
    "2024-01-01 10:00:00",
    "0x1f",
    "010",
    "1:30",
    "yes",
    "- a\n- b",
    "\n  - a\n  - b",
    "\n- a\n- b",
    "\n  k: v\n  j: w",
    "\n\tk: v",
    "\tfoo",
    "foo\tbar",
    "foo\n  bar",
    "foo\n bar: x",
    "foo\nbar",
    "foo:bar",
    "http://x.y",
    "foo: ",
    "foo :bar",
    "? x",
    "- x",
    "-x",
    "--- x",
    "...",
    "é: ü",
    "\"a\\nb\"",
    "\"\\ud83d\\ude00\"",
    "\"a\\q\"",
    "\"x\\\n  y\"",
    "\u{7}",
    "\u{a0}x",
    "x\u{2028}y",
    "[a, [b, {c: d}]]",
    "{a, b}",
    "[a,,b]",
    "[a,]",
    "[\"x\":y]",
    "{\"x\":y}",
    "{? a : b}",
    "<<",
    "a, b: c",
    "Key: \"v\": w",
    "\"a\": b",
    "\"a\" b",
    "'a' b",
    ">x",
    "|x",
    "|2\n   x",
    "|+\n  x\n\n",
    ">+\n  x\n\n\n",
    "a\n\n  b",
    "\n\n  foo",
    "\n  # c\n  foo",
    "[\n a,\n b\n]",
    "{\n a: 1,\n b: 2}",
    "foo | bar",
    "foo > bar",
    "$1",
    "{{x}}",
    "{{x}} y",
    "\"x\" # c",
    "foo\r",
    "…",
    "中文: 值",
    "1_000",
    "0b11",
    ".inf",
    "-.5",
    "1e3",
    "2024-1-1",
    "\n  ? k\n  : v",
    "&a x\nb: *a",
    "\"tab\\tx\"",
    "'multi\n  line'",
    "\"multi\n\n  line\"",
];
const ODD_LINES: &[&str] = &[
    "",
    "# c",
    "  # c",
    "#",
    "foo",
    "- x",
    "...",
    "\t",
    "  ",
    "a: &a {name: q, z: 1}\n<<: *a",
    "a: &a [*a]",
    "}",
    "]",
    "<<: [{name: m}, {name: n}]",
];
const SPLINTERS: &[&str] = &[
    ":", " ", "\n", "\"", "'", "#", "-", "[", "]", "{", "}", ",", "|", ">", "&", "*", "!", "\t", "%", "@",
    "`", "?", "\\", "~", "é", "\r", "  ", "\0", "\u{85}",
];

/// Makes one file; the higher the mischief, the fewer of them can be read.
fn file(number: u64) -> String {
    let mut numbers = Numbers(number);
    let mischief = numbers.below(4);
    let mut lines: Vec<String> = Vec::new();
    for key in ["name", "description"] {
        if mischief < 2 || numbers.below(4) > 0 {
            let plain = numbers.below(4) > mischief;
            lines.push(format!("{key}: {}", numbers.pick(if plain { PLAIN } else { VALUES })));
        }
    }
    for _ in 0..numbers.below(mischief + 2) {
        let line = format!(
            "{}{}{}",
            numbers.pick(KEYS),
            numbers.pick(&[":", ": ", " : ", ":  "]),
            numbers.pick(VALUES)
        );
        lines.insert(numbers.below(lines.len() + 1), line);
    }
    if numbers.below(8) == 0 {
        lines.insert(numbers.below(lines.len() + 1), numbers.pick(ODD_LINES).to_owned());
    }
    // Half of the files are fenced as they should be.
    let (opening, closing) = match mischief {
        0 | 1 => (OPENINGS[0], CLOSINGS[0]),
        _ => (numbers.pick(OPENINGS), numbers.pick(CLOSINGS)),
    };
    let mut text = format!(
        "{opening}{}{closing}{}",
        lines.join(
            "
"
        ),
        numbers.pick(BODIES)
    );
    if numbers.below(6) == 0 {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if numbers.below(6) < mischief {
        for _ in 0..=numbers.below(3) {
            let at = text.floor_char_boundary(numbers.below(text.len() + 1));
            match numbers.below(2) {
                0 => text.insert_str(at, numbers.pick(SPLINTERS)),
                _ if at < text.len() => drop(text.remove(at)),
                _ => {}
            }
        }
    }
    text
}

/// Returns whether the first line names a language, which abide never reads.
fn names_a_language(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.strip_prefix("---").and_then(|rest| rest.lines().next()).unwrap_or_default();
    !first.starts_with('-') && !first.trim().is_empty()
}

fn elsewhere(texts: &[String]) -> Vec<Value> {
    let folder = std::env::var_os("ABIDE_CLIENTS").expect("`./test clients` says where the packages are");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/skills.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .arg(std::path::Path::new(&folder).join("sdk"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = node.stdin.take().unwrap();
    let asked = json!(texts).to_string();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn skills_are_read_as_gray_matter_reads_them() {
    let texts: Vec<String> = (0..60_000).map(file).collect();
    let theirs = elsewhere(&texts);
    let (mut loaded, mut differences) = (0, Vec::new());
    for (number, (text, their)) in texts.iter().zip(theirs).enumerate() {
        let our = match abide_formats::skill::read(text.as_bytes()).skill {
            Some(skill) => {
                json!({ "name": skill.name, "description": skill.description, "body": skill.body })
            }
            None => Value::Null,
        };
        let wanted = if names_a_language(text) { Value::Null } else { their };
        loaded += usize::from(!our.is_null());
        if our != wanted {
            differences.push(format!("{number}: {text:?}\n  theirs {wanted}\n  ours   {our}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences[..differences.len().min(10)].join("\n")
    );
    // A generator that makes only broken files would show nothing.
    assert!(loaded > 10_000, "only {loaded} could be read");
}

#[test]
fn nothing_that_frontmatter_says_is_run() {
    let marker = tempfile::tempdir().unwrap();
    let owned = marker.path().join("owned");
    for language in ["js", "javascript", "coffee", "json", "toml", "eval"] {
        let text = format!(
            "---{language}\n(require('fs').writeFileSync({:?}, ''), {{ name: 'x' }})\n---\n",
            owned.display().to_string()
        );
        assert!(abide_formats::skill::read(text.as_bytes()).skill.is_none());
    }
    assert!(!owned.exists());
}
